//! YAML as kubectl writes it (sigs.k8s.io/yaml over go-yaml v2): keys sorted, lists not indented,
//! lines never folded; text that a YAML 1.1 reader would take for something else in double quotes,
//! text that is not allowed plain in single ones, several lines as a block.

use crate::api::Value;

/// A value as YAML, with a line end.
pub fn yaml(value: &Value) -> String {
    let mut out = String::new();
    match value {
        Value::Object(fields) if !fields.is_empty() => block(value, 0, &mut out),
        Value::Array(items) if !items.is_empty() => block(value, 0, &mut out),
        _ => {
            scalar(value, 0, &mut out);
            out.push('\n');
        }
    }
    out
}

fn is_block(value: &Value) -> bool {
    match value {
        Value::Object(fields) => !fields.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => false,
    }
}

/// A map or a list that is not empty; the cursor stands at `indent` of its first line.
fn block(value: &Value, indent: usize, out: &mut String) {
    let blanks = " ".repeat(indent);
    match value {
        Value::Object(fields) => {
            for (at, (key, value)) in fields.iter().enumerate() {
                if at > 0 {
                    out.push_str(&blanks);
                }
                text(key, indent, true, out);
                out.push(':');
                match value {
                    Value::Object(_) if is_block(value) => {
                        out.push_str(&format!("\n{blanks}  "));
                        block(value, indent + 2, out);
                    }
                    Value::Array(_) if is_block(value) => {
                        out.push_str(&format!("\n{blanks}"));
                        block(value, indent, out);
                    }
                    _ => {
                        out.push(' ');
                        scalar(value, indent, out);
                        out.push('\n');
                    }
                }
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push_str(&blanks);
                }
                out.push_str("- ");
                if is_block(item) {
                    block(item, indent + 2, out);
                } else {
                    scalar(item, indent, out);
                    out.push('\n');
                }
            }
        }
        other => scalar(other, indent, out),
    }
}

fn scalar(value: &Value, indent: usize, out: &mut String) {
    match value {
        Value::String(words) => text(words, indent, false, out),
        Value::Object(_) => out.push_str("{}"),
        Value::Array(_) => out.push_str("[]"),
        other => out.push_str(&other.to_string()),
    }
}

/// What a text is like, as far as its style depends on it.
#[derive(Default)]
struct Looks {
    plain: bool,
    single: bool,
    literal: bool,
}

fn text(words: &str, indent: usize, is_key: bool, out: &mut String) {
    if means_something_else(words) {
        return double(words, out);
    }
    let looks = looks(words);
    if words.contains('\n') && looks.literal && !is_key {
        return literal(words, indent, out);
    }
    if looks.plain && !words.contains('\n') {
        out.push_str(words);
    } else if looks.single && !words.contains('\n') {
        out.push('\'');
        out.push_str(&words.replace('\'', "''"));
        out.push('\'');
    } else {
        double(words, out);
    }
}

/// What may stand as it is. A reader takes U+2028 and U+2029 for line ends.
fn printable(letter: char) -> bool {
    matches!(letter, ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}')
        && !matches!(letter, '\u{feff}' | '\u{2028}' | '\u{2029}')
        || letter > '\u{ffff}'
}

fn looks(words: &str) -> Looks {
    let mut plain = !(words.starts_with("---") || words.starts_with("..."));
    let (mut single, mut literal) = (true, true);
    let mut before = None;
    let mut letters = words.chars().peekable();
    while let Some(letter) = letters.next() {
        let next = letters.peek().copied();
        let ends = next.is_none_or(|next| next == ' ' || next == '\n');
        match (before, letter) {
            (None, '-' | '?' | ':') if ends => plain = false,
            (None, c) if "#,[]{}&*!|>'\"%@`".contains(c) => plain = false,
            (_, ':') if ends => plain = false,
            (Some(' ' | '\n'), '#') => plain = false,
            // A blank at an end of a line would be lost.
            (None, ' ') => plain = false,
            (_, ' ') if next.is_none() => (plain, literal) = (false, false),
            (_, ' ') if next == Some('\n') => (plain, single, literal) = (false, false, false),
            (Some('\n'), ' ') => (plain, single) = (false, false),
            (_, '\n') => plain = false,
            (_, c) if !printable(c) => (plain, single, literal) = (false, false, false),
            _ => {}
        }
        before = Some(letter);
    }
    Looks { plain, single, literal }
}

fn literal(words: &str, indent: usize, out: &mut String) {
    out.push('|');
    if words.starts_with([' ', '\n']) {
        out.push('2');
    }
    let all_breaks = words.chars().all(|letter| letter == '\n');
    if !words.ends_with('\n') {
        out.push('-');
    } else if words.ends_with("\n\n") || all_breaks {
        out.push('+');
    }
    let blanks = " ".repeat(indent + 2);
    for line in words.strip_suffix('\n').unwrap_or(words).split('\n') {
        out.push('\n');
        if !line.is_empty() {
            out.push_str(&blanks);
            out.push_str(line);
        }
    }
}

fn double(words: &str, out: &mut String) {
    out.push('"');
    for letter in words.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\0' => out.push_str("\\0"),
            '\u{1b}' => out.push_str("\\e"),
            other if printable(other) => out.push(other),
            other if (other as u32) < 0x100 => out.push_str(&format!("\\x{:02X}", other as u32)),
            other => out.push_str(&format!("\\u{:04X}", other as u32)),
        }
    }
    out.push('"');
}

/// Whether a reader of YAML 1.1 would take the plain text for a truth value, a number, a time or
/// nothing at all.
fn means_something_else(words: &str) -> bool {
    const WORDS: [&str; 32] = [
        "", "~", "null", "Null", "NULL", "y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "true",
        "True", "TRUE", "n", "N", "no", "No", "NO", "off", "Off", "OFF", "false", "False", "FALSE",
        ".nan", ".NaN", ".NAN", ".inf", ".Inf",
    ];
    if WORDS.contains(&words) || words == ".INF" {
        return true;
    }
    let unsigned = words.strip_prefix(['-', '+']).unwrap_or(words);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        return true;
    }
    if !unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return false;
    }
    is_number(&unsigned.replace('_', "")) || is_sexagesimal(unsigned) || is_time(words)
}

fn is_number(text: &str) -> bool {
    let digits =
        |text: &str, radix| !text.is_empty() && text.chars().all(|c: char| c.is_digit(radix));
    for (prefix, radix) in [("0x", 16), ("0X", 16), ("0o", 8), ("0O", 8), ("0b", 2), ("0B", 2)] {
        if let Some(rest) = text.strip_prefix(prefix) {
            return digits(rest, radix);
        }
    }
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let exponent = exponent.map(|exponent| exponent.strip_prefix(['-', '+']).unwrap_or(exponent));
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fits = |part: &str| part.chars().all(|c: char| c.is_ascii_digit());
    fits(whole)
        && fits(part)
        && !(whole.is_empty() && part.is_empty())
        && exponent.is_none_or(|exponent| digits(exponent, 10))
}

/// `1:30:00`, a number to the base of 60.
fn is_sexagesimal(text: &str) -> bool {
    let mut parts = text.split(':');
    let first = parts.next().unwrap_or("");
    let (mut count, mut last) = (0, true);
    for part in parts {
        count += 1;
        let whole = part.split('.').next().unwrap_or(part);
        let fits = matches!(whole.as_bytes(), [b'0'..=b'9'] | [b'0'..=b'5', b'0'..=b'9']);
        last = last && fits;
    }
    count > 0 && last && first.chars().all(|c| c.is_ascii_digit() || c == '_')
}

/// `2026-01-01`, with a time of day or without.
fn is_time(text: &str) -> bool {
    let date = text.get(..10).unwrap_or(text);
    let mut parts = date.split(['T', 't', ' ']).next().unwrap_or(date).split('-');
    let mut number = |length: std::ops::RangeInclusive<usize>| {
        parts.next().is_some_and(|part| {
            length.contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit())
        })
    };
    let is_date = number(4..=4) && number(1..=2) && number(1..=2);
    is_date && text.chars().all(|c| c.is_ascii_digit() || "-:.+ TtZ".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn written(text: &str) -> String {
        yaml(&json!({ "a": text })).trim_start_matches("a: ").trim_end_matches('\n').to_string()
    }

    #[test]
    fn what_a_reader_takes_for_a_line_end_is_escaped() {
        assert_eq!(written("a\u{2028}b: c\nd"), "\"a\\u2028b: c\\nd\"");
    }

    #[test]
    fn text_that_would_be_read_as_something_else_stands_in_double_quotes() {
        for text in [
            "yes",
            "y",
            "Off",
            "null",
            "~",
            "",
            "1",
            "1.5",
            "0x10",
            "010",
            "1_000",
            ".5",
            "+1",
            "1e3",
            "1:20",
            "12:30:45",
            "2026-01-01",
            "2026-01-01T00:00:00Z",
            ".inf",
            "0b11",
            "0o7",
        ] {
            assert_eq!(written(text), format!("{text:?}"), "{text}");
        }
        for text in ["oN", "nginx:1.25", "1.2.3", "500m", "10.0.0.1", "=", "<<", "o'k", "a,b"] {
            assert_eq!(written(text), text);
        }
    }

    #[test]
    fn text_that_is_not_allowed_plain_stands_in_single_quotes_or_escaped() {
        for text in ["a: b", "*x", " x", "x #y", "- a", "{a}", "x:", "@a", "?", "-", "--- a", "#x"]
        {
            assert_eq!(written(text), format!("'{text}'"), "{text}");
        }
        assert_eq!(written("'q'"), "'''q'''");
        assert_eq!(written("a\tb"), "\"a\\tb\"");
        assert_eq!(written("a \n b"), "\"a \\n b\"");
    }

    #[test]
    fn several_lines_are_a_block() {
        assert_eq!(yaml(&json!({"a": "x\ny\n"})), "a: |\n  x\n  y\n");
        assert_eq!(yaml(&json!({"a": "x\ny"})), "a: |-\n  x\n  y\n");
        assert_eq!(yaml(&json!({"a": "x\n\n y\n\n"})), "a: |+\n  x\n\n   y\n\n");
    }

    #[test]
    fn maps_and_lists_nest_as_in_kubectl() {
        let value = json!({"a": [{"b": 1, "c": [[1, 2], {}]}, []], "d": {"e": null}, "f": true});
        let wanted = "a:\n- b: 1\n  c:\n  - - 1\n    - 2\n  - {}\n- []\nd:\n  e: null\nf: true\n";
        assert_eq!(yaml(&value), wanted);
    }
}
