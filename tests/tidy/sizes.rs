//! How long lines, functions and files may be.

use super::source::{Source, item_length};

const COLUMNS_MAX: usize = 100;
const FUNCTION_LINES_MAX: usize = 70;
const FILE_LINES_MAX: usize = 600;

/// Lines, functions and the file itself that are too long.
pub fn too_long(source: &Source) -> Vec<String> {
    let mut problems = long_lines(source);
    problems.extend(long_functions(source));
    let lines = source.text.lines().count();
    if lines > FILE_LINES_MAX {
        problems.push(format!("{}: {lines} lines, at most {FILE_LINES_MAX}", source.path));
    }
    problems
}

fn long_lines(source: &Source) -> Vec<String> {
    let lines = source.text.lines().enumerate();
    // An address cannot be broken.
    let long =
        lines.filter(|(_, line)| line.chars().count() > COLUMNS_MAX && !line.contains("://"));
    long.map(|(at, line)| {
        let columns = line.chars().count();
        format!("{}:{}: {columns} columns, at most {COLUMNS_MAX}", source.path, at + 1)
    })
    .collect()
}

fn long_functions(source: &Source) -> Vec<String> {
    let mut problems = Vec::new();
    let mut at = 0;
    for (number, line) in source.code.split_inclusive('\n').enumerate() {
        if let Some(name) = function_name(line) {
            let rest = &source.code[at..];
            let lines = rest[..item_length(rest)].lines().count();
            if lines > FUNCTION_LINES_MAX {
                let place = format!("{}:{}", source.path, number + 1);
                problems.push(format!(
                    "{place}: {name} has {lines} lines, at most {FUNCTION_LINES_MAX}"
                ));
            }
        }
        at += line.len();
    }
    problems
}

/// The name of the function whose item starts on this line of formatted code.
fn function_name(line: &str) -> Option<&str> {
    const BEFORE: &[&str] = &["pub", "const", "async", "unsafe", "extern"];
    let (before, after) = line.trim_start().split_once("fn ")?;
    let item =
        before.split_whitespace().all(|word| BEFORE.contains(&word) || word.starts_with("pub("));
    item.then(|| after.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or(after))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(lines: usize) -> String {
        format!("pub fn long(\n    a: [u8; 2],\n) {{\n{}}}\n", "    f();\n".repeat(lines - 4))
    }

    #[test]
    fn a_function_of_seventy_lines_is_fine_and_one_more_is_not() {
        assert_eq!(too_long(&Source::new("src/api/x.rs", &function(70))).len(), 0);
        assert_eq!(too_long(&Source::new("src/api/x.rs", &function(71))).len(), 1);
    }

    #[test]
    fn a_long_line_is_told_unless_it_holds_an_address() {
        let line = "x".repeat(101);
        assert_eq!(too_long(&Source::new("src/api/x.rs", &line)).len(), 1);
        assert_eq!(too_long(&Source::new("src/api/x.rs", &format!("// https://{line}"))).len(), 0);
    }

    #[test]
    fn a_long_file_is_told() {
        assert_eq!(too_long(&Source::new("src/api/x.rs", &"\n".repeat(601))).len(), 1);
    }
}
