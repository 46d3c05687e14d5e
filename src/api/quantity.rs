//! Resource quantities: `500m`, `1Gi`.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A resource quantity: an exact value, and the family of suffixes in which it is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quantity {
    /// The value times 10⁹.
    pub nanos: i128,
    /// How it is printed.
    pub format: QuantityFormat,
}

/// The family of suffixes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QuantityFormat {
    /// Ki, Mi, Gi ...
    BinarySi,
    /// m, k, M ...
    #[default]
    DecimalSi,
    /// e3, e6 ...
    DecimalExponent,
}

/// Why a text is no quantity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuantityError {
    /// It has another form.
    #[error(
        "quantities must match the regular expression \
         '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
    )]
    Format,
    /// Its suffix is unknown.
    #[error("unable to parse quantity's suffix")]
    Suffix,
}

impl Quantity {
    /// Reads a quantity.
    pub fn parse(text: &str) -> Result<Quantity, QuantityError> {
        let split = text.find(|c: char| !(c.is_ascii_digit() || "+-.".contains(c)));
        let (number, suffix) = text.split_at(split.unwrap_or(text.len()));
        let (scale, format) = match suffix {
            "" => (1_000_000_000, QuantityFormat::DecimalSi),
            "m" => (1_000_000, QuantityFormat::DecimalSi),
            "k" => (1_000_000_000_000, QuantityFormat::DecimalSi),
            "M" => (1_000_000_000_000_000, QuantityFormat::DecimalSi),
            "G" => (1_000_000_000_000_000_000, QuantityFormat::DecimalSi),
            "Ki" => (1_000_000_000 << 10, QuantityFormat::BinarySi),
            "Mi" => (1_000_000_000 << 20, QuantityFormat::BinarySi),
            "Gi" => (1_000_000_000 << 30, QuantityFormat::BinarySi),
            _ => return Err(QuantityError::Suffix),
        };
        let whole: i128 = number.parse().map_err(|_| QuantityError::Format)?;
        Ok(Quantity {
            nanos: whole * scale,
            format,
        })
    }

    /// The value in thousandths, rounded up: millicores of a cpu.
    pub fn milli_value(&self) -> i64 {
        i64::try_from(-(-self.nanos).div_euclid(1_000_000)).unwrap_or(i64::MAX)
    }

    /// The whole value, rounded up: bytes of a memory.
    pub fn value(&self) -> i64 {
        i64::try_from(-(-self.nanos).div_euclid(1_000_000_000)).unwrap_or(i64::MAX)
    }
}

impl std::fmt::Display for Quantity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}m", self.milli_value())
    }
}

impl Serialize for Quantity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = match serde_json::Value::deserialize(deserializer)? {
            serde_json::Value::String(text) => text,
            serde_json::Value::Number(number) => number.to_string(),
            _ => return Err(de::Error::custom(QuantityError::Format)),
        };
        Quantity::parse(&text).map_err(de::Error::custom)
    }
}
