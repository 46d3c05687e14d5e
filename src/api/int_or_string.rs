//! `intstr.IntOrString`: a number, or a percentage as text.

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
    /// The text is no percentage.
    #[error("invalid value for IntOrString: invalid type: string is not a percentage")]
    NotAPercentage,
}

impl IntOrString {
    /// The number, and whether it is a percentage.
    pub fn parse(&self) -> Result<(i32, bool), ScaleError> {
        match self {
            IntOrString::Int(number) => Ok((*number, false)),
            IntOrString::String(text) => {
                let digits = text.strip_suffix('%').ok_or(ScaleError::NotAPercentage)?;
                digits
                    .parse()
                    .map(|n| (n, true))
                    .map_err(|_| ScaleError::NotAPercentage)
            }
        }
    }

    /// The number of `total` that this means.
    pub fn scaled(&self, total: i32, round_up: bool) -> Result<i32, ScaleError> {
        let (number, is_percent) = self.parse()?;
        if !is_percent {
            return Ok(number);
        }
        let hundredths = i64::from(number) * i64::from(total);
        let scaled = if round_up {
            -(-hundredths).div_euclid(100)
        } else {
            hundredths.div_euclid(100)
        };
        Ok(i32::try_from(scaled).unwrap_or(i32::MAX))
    }
}
