//! What a plain scalar means in YAML 1.1, which kubectl reads (sigs.k8s.io/yaml over go-yaml v2):
//! `no` and `on` are truth values, `0100` is octal, `1_000` is a number. The parser below speaks
//! YAML 1.2 and hands all of these over as text.

use serde_json::Number;

use crate::api::Value;

/// What a plain scalar that YAML 1.2 calls text means in YAML 1.1; nothing if it is text there too.
pub fn plain_text(text: &str) -> Option<Value> {
    match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => return Some(true.into()),
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => return Some(false.into()),
        _ => {}
    }
    if !text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) {
        return None;
    }
    let plain = text.replace('_', "");
    if let Some(number) = octal(&plain) {
        return Some(number.into());
    }
    let with_underscores = plain.len() != text.len();
    if let Some(number) = plain.parse::<i64>().ok().filter(|_| with_underscores) {
        return Some(number.into());
    }
    let decimal = plain.bytes().all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
    decimal.then(|| float(plain.parse().ok()?)).flatten()
}

/// The number that digits behind a leading 0 are.
pub fn octal(text: &str) -> Option<i64> {
    let (sign, digits) = match text.strip_prefix(['-', '+']) {
        Some(digits) if text.starts_with('-') => (-1, digits),
        Some(digits) => (1, digits),
        None => (1, text),
    };
    let rest = digits.strip_prefix('0').filter(|rest| !rest.is_empty())?;
    let rest = rest.bytes().all(|b| b.is_ascii_digit()).then_some(rest)?;
    Some(sign * i64::from_str_radix(rest, 8).ok()?)
}

/// A float as Go writes it into JSON: a whole one without a point. Nothing if it is not finite.
pub fn float(number: f64) -> Option<Value> {
    if number.fract() == 0.0 && number.abs() < 9e15 {
        return Some((number as i64).into());
    }
    Number::from_f64(number).map(Value::Number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn plain_words_and_numbers_mean_what_yaml_1_1_says() {
        for (text, value) in [
            ("no", json!(false)),
            ("On", json!(true)),
            ("y", json!(true)),
            ("0100", json!(64)),
            ("-010", json!(-8)),
            ("08", json!(8)),
            ("1_000", json!(1000)),
            ("1_0.5", json!(10.5)),
        ] {
            assert_eq!(plain_text(text), Some(value), "{text}");
        }
        for text in ["oN", "nginx", "1.2.3", "10.0.0.1", "500m", "1:30", "-", "2001-01-01"] {
            assert_eq!(plain_text(text), None, "{text}");
        }
    }
}
