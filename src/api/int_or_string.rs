//! `intstr.IntOrString`: a number, or a percentage as text.
//!
//! Follows `pkg/util/intstr/intstr.go` of
//! <https://github.com/kubernetes/apimachinery/tree/release-1.36>.
//! Results that do not fit 32 bits are cut to the nearest that do; Kubernetes lets them wrap.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Str;

/// A number, or text that should be a percentage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum IntOrString {
    /// A number of pods.
    Int(i32),
    /// Such as `25%`.
    String(Str),
}

/// Why a value cannot be scaled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScaleError {
    /// There is no value.
    #[error("nil value for IntOrString")]
    Missing,
    /// The text is no percentage.
    #[error("invalid value for IntOrString: invalid type: string is not a percentage")]
    NotAPercentage,
    /// What stands before the `%` is no whole number of 64 bits.
    #[error("invalid value for IntOrString: invalid value {text:?}: {reason}")]
    NotANumber {
        /// The whole text.
        text: Str,
        /// Why its number cannot be read.
        reason: String,
    },
}

impl IntOrString {
    /// Turns free text into a number if it is one of 32 bits, and keeps it as text otherwise.
    pub fn from_text(text: &str) -> IntOrString {
        text.parse().map_or_else(|_| IntOrString::String(text.into()), IntOrString::Int)
    }

    /// The number, and whether it is a percentage.
    pub fn parse(&self) -> Result<(i32, bool), ScaleError> {
        self.number_and_sign().map(|(number, is_percent)| (cut(number.into()), is_percent))
    }

    /// The number of `total` that this means.
    pub fn scaled(&self, total: i32, round_up: bool) -> Result<i32, ScaleError> {
        let (number, is_percent) = self.number_and_sign()?;
        if !is_percent {
            return Ok(cut(number.into()));
        }
        let hundredths = i128::from(number) * i128::from(total);
        let rounded =
            if round_up { -(-hundredths).div_euclid(100) } else { hundredths.div_euclid(100) };
        Ok(cut(rounded))
    }

    /// As [`IntOrString::scaled`], for a field that may be left out.
    pub fn scaled_or_missing(
        value: Option<&IntOrString>,
        total: i32,
        round_up: bool,
    ) -> Result<i32, ScaleError> {
        value.ok_or(ScaleError::Missing)?.scaled(total, round_up)
    }

    fn number_and_sign(&self) -> Result<(i64, bool), ScaleError> {
        let text = match self {
            IntOrString::Int(number) => return Ok((i64::from(*number), false)),
            IntOrString::String(text) => text,
        };
        let digits = text.strip_suffix('%').ok_or(ScaleError::NotAPercentage)?;
        let number = digits.parse::<i64>().map_err(|error| ScaleError::NotANumber {
            text: text.clone(),
            reason: reason_in_go(digits, &error),
        })?;
        Ok((number, true))
    }
}

fn cut(number: i128) -> i32 {
    i32::try_from(number).unwrap_or(if number < 0 { i32::MIN } else { i32::MAX })
}

/// How `strconv.Atoi` words it: people search for that text.
fn reason_in_go(digits: &str, error: &std::num::ParseIntError) -> String {
    use std::num::IntErrorKind::{NegOverflow, PosOverflow};
    let why = match error.kind() {
        PosOverflow | NegOverflow => "value out of range",
        _ => "invalid syntax",
    };
    format!("strconv.Atoi: parsing {digits:?}: {why}")
}

impl fmt::Display for IntOrString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IntOrString::Int(number) => write!(f, "{number}"),
            IntOrString::String(text) => f.write_str(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> IntOrString {
        IntOrString::String(text.into())
    }

    #[test]
    fn a_percentage_of_a_total_rounds_the_way_it_is_told() {
        assert_eq!(text("25%").scaled(10, true), Ok(3));
        assert_eq!(text("25%").scaled(10, false), Ok(2));
        assert_eq!(text("-25%").scaled(10, true), Ok(-2));
        assert_eq!(text("-25%").scaled(10, false), Ok(-3));
        assert_eq!(IntOrString::Int(7).scaled(0, true), Ok(7));
    }

    #[test]
    fn a_huge_percentage_is_cut_and_does_not_overflow() {
        assert_eq!(text("9223372036854775807%").scaled(i32::MAX, true), Ok(i32::MAX));
        assert_eq!(text("9223372036854775807%").scaled(i32::MIN, true), Ok(i32::MIN));
        assert_eq!(text("3000000000%").parse(), Ok((i32::MAX, true)));
        assert_eq!(text("3000000000%").scaled(1, true), Ok(30_000_000));
    }

    #[test]
    fn what_cannot_be_scaled_says_why_in_kubernetes_words() {
        let why = |value: &str| text(value).scaled(1, true).unwrap_err().to_string();
        assert_eq!(
            why("10"),
            "invalid value for IntOrString: invalid type: string is not a percentage"
        );
        assert_eq!(
            why("a%"),
            "invalid value for IntOrString: invalid value \"a%\": \
             strconv.Atoi: parsing \"a\": invalid syntax"
        );
        assert!(why("99999999999999999999%").ends_with("value out of range"));
        let missing = IntOrString::scaled_or_missing(None, 1, true);
        assert_eq!(missing, Err(ScaleError::Missing));
    }

    #[test]
    fn json_keeps_numbers_and_text_apart() {
        let read = |json: &str| serde_json::from_str::<IntOrString>(json).ok();
        assert_eq!(read("3"), Some(IntOrString::Int(3)));
        assert_eq!(read("\"3\""), Some(text("3")));
        assert_eq!(read("1.5"), None);
        assert_eq!(read("2147483648"), None);
        assert_eq!(IntOrString::from_text("-3"), IntOrString::Int(-3));
        assert_eq!(IntOrString::from_text("3 ").to_string(), "3 ");
    }
}
