//! Where a mistake begins that the parser notices only later: a quote or a bracket that never ends,
//! a line without its colon, a colon without its space.

/// The better place for a failure that the parser's words tell of.
pub fn began(text: &str, words: &str, at: usize) -> Option<usize> {
    opened(text, words, at).or_else(|| no_space(text, words, at))
}

/// What was being read, and since where, the parser says behind a comma: `found unexpected end of
/// stream at line 18 column 1, while scanning a quoted scalar at line 17 column 16`.
fn opened(text: &str, words: &str, at: usize) -> Option<usize> {
    let (what, reading) = words.split_once(", while ")?;
    let never_ends = ["unexpected end of stream", "or ']'", "or '}'", "expected ':'"];
    if !never_ends.iter().any(|end| what.contains(end)) {
        return None;
    }
    let (_, place) = reading.rsplit_once(" at line ")?;
    let (line, column) = place.split_once(" column ")?;
    let line = line.parse::<usize>().ok()?.checked_sub(1)?;
    let column = column.parse::<usize>().ok()?.checked_sub(1)?;
    let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    let row = text.get(start..)?.lines().next()?;
    let behind: usize = row.chars().take(column).map(char::len_utf8).sum();
    Some(start + behind).filter(|begin| *begin < at)
}

/// `replicas:3` is a text, which goes on into the next line until a colon there fits nowhere.
fn no_space(text: &str, words: &str, at: usize) -> Option<usize> {
    if !words.starts_with("mapping values are not allowed") {
        return None;
    }
    let stop = text.get(..at)?.rfind('\n')?;
    let mut start = stop;
    for line in text.get(..stop)?.rsplit('\n') {
        start -= line.len();
        if line.trim().is_empty() {
            start = start.checked_sub(1)?;
            continue;
        }
        let content = line.trim_start().trim_start_matches("- ");
        let (key, rest) = content.split_once(':')?;
        let word =
            !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || "-_./".contains(c));
        let glued = rest.starts_with(|c: char| !c.is_whitespace() && c != '/');
        let alone = !content.contains(": ") && !content.trim_end().ends_with(':');
        let colon = line.len() - content.len() + key.len();
        return (word && glued && alone).then_some(start + colon);
    }
    None
}

#[cfg(test)]
mod tests {
    use crate::manifest::read;

    /// The line of the first problem, and its words.
    fn told(text: &str) -> (u32, String) {
        let reading = read(text);
        let problem = reading.errors().next().expect("a problem");
        (problem.line, problem.message.clone())
    }

    #[test]
    fn a_quote_that_never_ends_is_told_where_it_begins() {
        let (line, words) = told("apiVersion: v1\nkind: \"Pod\nmetadata:\n  name: a\n");
        assert!(words.contains("found unexpected end of stream"), "{words}");
        assert_eq!(line, 2);
    }

    #[test]
    fn a_bracket_that_never_ends_is_told_where_it_begins() {
        let (line, words) = told("apiVersion: v1\nargs: [a,\n  b\nkind: Pod\n");
        assert!(words.contains("did not find expected ',' or ']'"), "{words}");
        assert_eq!(line, 2);
    }

    #[test]
    fn a_line_without_its_colon_is_told_itself() {
        let (line, words) = told("apiVersion: v1\nkind\nmetadata:\n  name: a\n");
        assert!(words.contains("could not find expected ':'"), "{words}");
        assert_eq!(line, 2);
    }

    #[test]
    fn a_colon_without_its_space_is_told_itself() {
        let (line, words) = told("spec:\n  replicas:3\n\n  selector:\n    a: b\n");
        assert!(words.contains("mapping values are not allowed in this context"), "{words}");
        assert_eq!(line, 2);
        let (line, _) = told("spec:\n  image: a: b\n");
        assert_eq!(line, 2);
    }
}
