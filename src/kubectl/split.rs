//! A line into words, as a shell would.

use super::errors::UsageError;

/// The longest line that is read, in bytes.
const MAX_BYTES: usize = 64 * 1024;

/// The words of a line. Quotes and backslashes work as in a shell; `$(...)` is kept as it is, since
/// here it chooses a pod.
pub fn split(line: &str) -> Result<Vec<String>, UsageError> {
    if line.len() > MAX_BYTES {
        return Err(UsageError::plain("the line is too long"));
    }
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (Some('\''), _) => word.get_or_insert_default().push(letter),
            (_, '\\') => {
                // Within double quotes a shell keeps a backslash before an ordinary letter.
                let next = letters.next();
                let special = |c: char| quote.is_none() || matches!(c, '"' | '\\' | '$' | '`');
                let word = word.get_or_insert_default();
                match next {
                    Some(next) if special(next) => word.push(next),
                    Some(next) => word.extend(['\\', next]),
                    None => word.push('\\'),
                }
            }
            (Some(_), _) => word.get_or_insert_default().push(letter),
            (None, '"' | '\'') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, '$') if letters.peek() == Some(&'(') => {
                let word = word.get_or_insert_default();
                word.push('$');
                let mut open = 0;
                for inner in letters.by_ref() {
                    word.push(inner);
                    match inner {
                        '(' => open += 1,
                        ')' => open -= 1,
                        _ => {}
                    }
                    if open == 0 {
                        break;
                    }
                }
            }
            (None, _) if letter.is_whitespace() => words.extend(word.take()),
            (None, _) => word.get_or_insert_default().push(letter),
        }
    }
    if quote.is_some() {
        return Err(UsageError::plain("a quote is not closed"));
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        split(line).unwrap()
    }

    #[test]
    fn quotes_keep_words_together() {
        assert_eq!(words("a  'b c' \"d \\\" e\" f\\ g ''"), ["a", "b c", "d \" e", "f g", ""]);
        assert_eq!(words(r#"-p '{"spec":{"replicas":3}}'"#), ["-p", r#"{"spec":{"replicas":3}}"#]);
        assert_eq!(words("pod/$(app in (a, b))[0] x"), ["pod/$(app in (a, b))[0]", "x"]);
        assert!(split("a 'b").is_err());
    }
}
