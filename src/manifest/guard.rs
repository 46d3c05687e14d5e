//! What is refused before any parser sees it, so that no text can take long or much memory.
//!
//! libyaml looks at every open bracket again for each token, so ten thousand of them already take a
//! second: nesting is counted here first, by a rough count that forgets quotes and comments. A text
//! that is refused wrongly for it would have to leave hundreds of brackets open in its prose.

/// The longest text that is read, in bytes: what Kubernetes allows a ConfigMap to hold.
pub const MAX_BYTES: usize = 1 << 20;
/// The deepest nesting that a document may have. (kubectl stops at 10,000.)
pub const MAX_DEPTH: usize = 100;
/// How many brackets the rough count lets stand open.
const MAX_OPEN: usize = 256;
/// How many `%` lines may precede a document; libyaml compares each with each.
const MAX_DIRECTIVES: usize = 64;

/// Where and why a text is refused.
#[derive(Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The byte.
    pub at: usize,
    /// In Kubernetes' or kubectl's words.
    pub message: String,
}

/// Whether `text` is too much to be read.
pub fn check(text: &str) -> Result<(), Refusal> {
    too_long(text)?;
    control_character(text)?;
    too_deep(text)
}

fn too_long(text: &str) -> Result<(), Refusal> {
    if text.len() <= MAX_BYTES {
        return Ok(());
    }
    Err(Refusal {
        at: start_of_long_value(text),
        message: format!("[]: Too long: may not be more than {MAX_BYTES} bytes"),
    })
}

/// The line that probably makes the text so long: the last one, before the limit, that is indented
/// like the text's keys and not like the lines of one long value.
fn start_of_long_value(text: &str) -> usize {
    let mut limit = MAX_BYTES;
    while !text.is_char_boundary(limit) {
        limit -= 1;
    }
    let mut at = 0;
    let mut found = 0;
    for line in text.get(..limit).unwrap_or("").split_inclusive('\n') {
        let content = line.trim_end();
        let opens = content.ends_with(['|', '>', '-', '+']) && content.contains(": ");
        if opens || line.len() > MAX_BYTES / 2 {
            found = at;
        }
        at += line.len();
    }
    found
}

/// libyaml's reader refuses these, without a place.
fn control_character(text: &str) -> Result<(), Refusal> {
    let allowed = |c: char| {
        matches!(c, '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{a0}'..) && c != '\u{feff}'
    };
    let refused = |c: char| !allowed(c) || matches!(c, '\u{fffe}' | '\u{ffff}');
    match text.find(refused) {
        None => Ok(()),
        Some(at) => Err(Refusal {
            at,
            message: "error converting YAML to JSON: yaml: control characters are not allowed"
                .into(),
        }),
    }
}

fn too_deep(text: &str) -> Result<(), Refusal> {
    let deep = |at| {
        let message =
            format!("error converting YAML to JSON: yaml: exceeded max depth of {MAX_DEPTH}");
        Err(Refusal { at, message })
    };
    let mut open = 0usize;
    let mut directives = 0usize;
    let mut at = 0;
    for line in text.split_inclusive(['\n', '\r']) {
        directives += usize::from(line.starts_with('%'));
        if dashes(line) > MAX_OPEN || directives > MAX_DIRECTIVES {
            return deep(at);
        }
        for (index, byte) in line.bytes().enumerate() {
            match byte {
                b'[' | b'{' => open += 1,
                b']' | b'}' => open = open.saturating_sub(1),
                _ => {}
            }
            if open > MAX_OPEN {
                return deep(at + index);
            }
        }
        at += line.len();
    }
    Ok(())
}

/// How many sequences or complex keys a line opens: `- - - x`.
fn dashes(line: &str) -> usize {
    let opens = |c: char| matches!(c, '-' | '?' | ':');
    let mut count = 0;
    for word in line.split([' ', '\t']).filter(|word| !word.is_empty()) {
        if word.chars().count() != 1 || !word.starts_with(opens) {
            break;
        }
        count += 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_thousand_brackets_are_refused_where_they_become_too_many() {
        let text = format!("a: b\nx: {}", "[".repeat(100_000));
        let refusal = check(&text).unwrap_err();
        assert_eq!(refusal.at, 8 + MAX_OPEN);
        assert!(refusal.message.contains("max depth"));
        let text = format!("x:\n{}a", "- ".repeat(100_000));
        assert_eq!(check(&text).unwrap_err().at, 3);
    }

    #[test]
    fn brackets_that_close_again_are_no_depth() {
        assert_eq!(check(&"- [a, {b: c}]\n".repeat(10_000)), Ok(()));
    }

    #[test]
    fn a_nul_byte_is_found() {
        assert_eq!(check("a: b\nc: \0").unwrap_err().at, 8);
    }

    #[test]
    fn a_long_text_is_refused_at_the_value_that_makes_it_long() {
        let text = format!("kind: ConfigMap\ndata:\n  a: |\n{}", "    x\n".repeat(300_000));
        let refusal = check(&text).unwrap_err();
        assert_eq!(refusal.at, 22);
        assert!(refusal.message.contains("1048576"));
    }
}
