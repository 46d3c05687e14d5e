//! The files under `src/`, as text and as code without comments and strings.

use std::fs;
use std::path::{Path, PathBuf};

/// One Rust file.
pub struct Source {
    /// From the top of the repository: `src/api/pod.rs`.
    pub path: String,
    /// As it stands.
    pub text: String,
    /// Of the same length in lines, with comments and the contents of literals blanked.
    pub code: String,
    /// Compiled for tests only.
    pub for_tests: bool,
}

impl Source {
    /// Takes a text for the file at `path`.
    pub fn new(path: &str, text: &str) -> Self {
        let (path, text) = (path.to_owned(), text.to_owned());
        let code = code_of(&text);
        Self { path, text, code, for_tests: false }
    }

    /// The folder or file right under `src/`: `api`. None for `lib.rs` and `main.rs`.
    pub fn room(&self) -> Option<&str> {
        let inner = self.path.strip_prefix("src/")?;
        match inner.split_once('/') {
            Some((room, _)) => Some(room),
            None => inner.strip_suffix(".rs").filter(|name| !matches!(*name, "lib" | "main")),
        }
    }

    /// How many modules deep the file is: 1 for `src/api/mod.rs`, 2 for `src/api/pod.rs`.
    pub fn depth(&self) -> usize {
        let path = self.path.trim_start_matches("src/").trim_end_matches("/mod.rs");
        path.split('/').count()
    }

    /// The code without what is compiled for tests only.
    pub fn shipped(&self) -> String {
        if self.for_tests { String::new() } else { without_tests(&self.code) }
    }
}

/// All files under `src/`, in order of their paths.
pub fn all() -> Vec<Source> {
    let top = top();
    let files = files(&top.join("src"), &|_| true).into_iter().filter(|path| is_rust(path));
    let read = |path: PathBuf| {
        let name = path.strip_prefix(&top).expect("lies under the top").display().to_string();
        Source::new(&name, &fs::read_to_string(&path).expect("is readable text"))
    };
    let mut sources: Vec<Source> = files.map(read).collect();
    let modules: Vec<String> = sources.iter().flat_map(test_modules).collect();
    for source in &mut sources {
        let inside = |module: &String| {
            let rest = source.path.strip_prefix(module.as_str());
            rest.is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
        };
        source.for_tests = modules.iter().any(inside);
    }
    sources
}

/// Where the modules lie that this file declares for tests only: `src/node/life_tests`.
fn test_modules(source: &Source) -> Vec<String> {
    let folder = source.path.trim_end_matches(".rs").trim_end_matches("/mod");
    let folder = folder.trim_end_matches("/lib");
    let declared = source.code.split("#[cfg(test)]").skip(1).filter_map(|item| {
        let name = item.trim_start().trim_start_matches("pub ").strip_prefix("mod ")?;
        let (name, _) = name.split_once(';')?;
        (!name.contains('{')).then(|| format!("{folder}/{name}"))
    });
    declared.collect()
}

/// The folder of the repository.
pub fn top() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Every file under `folder`, sorted; `enter` says which entries to look into.
pub fn files(folder: &Path, enter: &dyn Fn(&Path) -> bool) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("is a readable folder") {
        let path = entry.expect("is a readable entry").path();
        match (enter(&path), path.is_dir()) {
            (false, _) => {}
            (true, true) => found.extend(files(&path, enter)),
            (true, false) => found.push(path),
        }
    }
    found.sort();
    found
}

fn is_rust(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "rs")
}

/// Blanks comments and the contents of strings and characters; newlines stay.
fn code_of(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let after_name = code.ends_with(is_name);
        let blank = blank_length(rest, after_name);
        let length = blank.unwrap_or(next.len_utf8());
        let piece = &rest[..length];
        match blank {
            Some(_) => code.extend(piece.chars().map(|c| if c == '\n' { c } else { ' ' })),
            None => code.push_str(piece),
        }
        rest = &rest[length..];
    }
    code
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// How many bytes at the start of `text` are a comment or a literal.
fn blank_length(text: &str, after_name: bool) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    if text.starts_with("/*") {
        return Some(block_comment(text));
    }
    if text.starts_with('"') {
        return Some(escaped(text, '"'));
    }
    if let Some(inner) = text.strip_prefix('\'') {
        // 'a' and '\n' are characters, 'a on its own is a lifetime.
        let mut inner = inner.chars();
        let (first, second) = (inner.next()?, inner.next()?);
        return (first == '\\' || second == '\'').then(|| escaped(text, '\''));
    }
    if !after_name {
        let hashes = text.strip_prefix('b').unwrap_or(text).strip_prefix('r')?;
        let count = hashes.len() - hashes.trim_start_matches('#').len();
        if hashes[count..].starts_with('"') {
            let open = text.find('"').unwrap_or(0) + 1;
            let close = format!("\"{}", "#".repeat(count));
            return Some(
                text[open..].find(&close).map_or(text.len(), |at| open + at + close.len()),
            );
        }
    }
    None
}

/// Up to the next `quote` that no backslash stands before.
fn escaped(text: &str, quote: char) -> usize {
    let mut skip = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if skip => skip = false,
            '\\' => skip = true,
            c if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn block_comment(text: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// Blanks each item marked `#[cfg(test)]`.
fn without_tests(code: &str) -> String {
    let mut kept = String::new();
    let mut rest = code;
    while let Some(start) = rest.find("#[cfg(test)]") {
        kept.push_str(&rest[..start]);
        let end = start + item_length(&rest[start..]);
        kept.extend(rest[start..end].chars().filter(|c| *c == '\n'));
        rest = &rest[end..];
    }
    kept + rest
}

/// Up to the end of the item at the start of `code`: its `;`, or the brace that closes its first.
pub fn item_length(code: &str) -> usize {
    let (mut braces, mut brackets) = (0, 0);
    for (at, c) in code.char_indices() {
        match c {
            '(' | '[' => brackets += 1,
            ')' | ']' => brackets -= 1,
            '{' => braces += 1,
            '}' => braces -= 1,
            _ => {}
        }
        let ends = (c == '}' && braces == 0) || (c == ';' && braces == 0 && brackets == 0);
        if ends {
            return at + 1;
        }
    }
    code.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_blanked_and_lines_stay() {
        let text = "a // b\n/* c /* d */ e */ f \"g\\\"h\" 'i' '\\'' r#\"j\"k\"# <'l>\n";
        let code = code_of(text);
        assert_eq!(code.split_whitespace().collect::<Vec<_>>(), ["a", "f", "<'l>"]);
        assert_eq!(code.lines().count(), 2);
    }

    #[test]
    fn test_code_is_not_shipped() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() { { } }\n}\nfn c() {}\n";
        let source = Source::new("src/api/x.rs", text);
        assert_eq!(source.shipped().lines().count(), 6);
        assert!(!source.shipped().contains('b') && source.shipped().contains("fn c"));
    }

    #[test]
    fn a_module_declared_for_tests_is_found_where_it_lies() {
        let text = "#[cfg(test)]\nmod lab;\n#[cfg(test)]\nmod tests { fn f() {} }\nmod pod;\n";
        assert_eq!(test_modules(&Source::new("src/node/mod.rs", text)), ["src/node/lab"]);
        assert_eq!(test_modules(&Source::new("src/node/x.rs", text)), ["src/node/x/lab"]);
    }

    #[test]
    fn rooms_and_depths_come_from_the_path() {
        let of =
            |path| (Source::new(path, "").room().map(str::to_owned), Source::new(path, "").depth());
        assert_eq!(of("src/api/mod.rs"), (Some("api".into()), 1));
        assert_eq!(of("src/api/pod.rs"), (Some("api".into()), 2));
        assert_eq!(of("src/main.rs").0, None);
    }
}
