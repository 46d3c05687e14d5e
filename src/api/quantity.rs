//! Resource quantities: `500m`, `1Gi`, `2e3`. The value is exact down to a billionth, and is
//! printed in its canonical form: no fraction, and the largest suffix of its family that leaves a
//! whole number.
//!
//! Follows `pkg/api/resource/{quantity,suffix}.go` of
//! <https://github.com/kubernetes/apimachinery/tree/release-1.36>. Left out: Kubernetes keeps
//! decimal values of any size, here they stop at 1.7e29; it remembers the text of some values and
//! prints that again (`1.500` stays), here every value is printed canonically; and it drops the
//! suffix of decimal values such as `1000E` when it prints them, here they get an exponent, as in
//! later versions.

mod parse;

use std::cmp::Ordering;
use std::ops::{Add, Neg, Sub};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// One, in the unit in which values are held.
const ONE: i128 = 1_000_000_000;
/// Values with a binary suffix are cut to what 64 bits hold.
const BINARY_MAX: i128 = i64::MAX as i128 * ONE;

const DECIMAL_SUFFIXES: [&str; 10] = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
const BINARY_SUFFIXES: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/// A resource quantity: an exact value, and the family of suffixes in which it is printed. `==`
/// minds the family too; to compare values only, use [`Quantity::compare`].
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
    /// It has no digits where Kubernetes needs some.
    #[error("unable to parse numeric part of quantity")]
    Numeric,
    /// Its suffix is unknown.
    #[error("unable to parse quantity's suffix")]
    Suffix,
}

impl Quantity {
    /// Reads a quantity. What is finer than a billionth is rounded away from zero, so that whoever
    /// asks for some gets some.
    pub fn parse(text: &str) -> Result<Quantity, QuantityError> {
        parse::parse(text)
    }

    /// A whole number of units.
    pub fn from_value(value: i64, format: QuantityFormat) -> Quantity {
        Quantity { nanos: i128::from(value) * ONE, format }
    }

    /// A number of thousandths.
    pub fn from_milli(milli: i64, format: QuantityFormat) -> Quantity {
        Quantity { nanos: i128::from(milli) * (ONE / 1_000), format }
    }

    /// The value in thousandths, rounded away from zero: millicores of a cpu.
    pub fn milli_value(&self) -> i64 {
        rounded_away_from_zero(self.nanos, ONE / 1_000)
    }

    /// The whole value, rounded away from zero: bytes of a memory.
    pub fn value(&self) -> i64 {
        rounded_away_from_zero(self.nanos, ONE)
    }

    /// Whether it is nothing.
    pub fn is_zero(&self) -> bool {
        self.nanos == 0
    }

    /// Which of the two is more, however they are printed (`Quantity.Cmp`).
    pub fn compare(&self, other: &Quantity) -> Ordering {
        self.nanos.cmp(&other.nanos)
    }

    /// Whether the text asked for more than a binary suffix can hold, and was cut.
    pub fn is_capped(&self) -> bool {
        self.format == QuantityFormat::BinarySi && self.nanos.abs() == BINARY_MAX
    }

    /// The family in which this value can be printed without a fraction.
    fn printed_format(&self) -> QuantityFormat {
        let small = self.nanos.unsigned_abs() < 1_024 * ONE.unsigned_abs();
        match self.format {
            QuantityFormat::BinarySi if small || self.nanos % ONE != 0 => QuantityFormat::DecimalSi,
            format => format,
        }
    }

    /// A sum with nothing in it takes the family of what is added first.
    fn format_of_sum(self, other: Quantity) -> QuantityFormat {
        if self.is_zero() { other.format } else { self.format }
    }
}

fn rounded_away_from_zero(nanos: i128, unit: i128) -> i64 {
    let rounded = nanos / unit + if nanos % unit == 0 { 0 } else { nanos.signum() };
    i64::try_from(rounded).unwrap_or(if nanos < 0 { i64::MIN } else { i64::MAX })
}

/// Divides by `factor` while that leaves a whole number, at most `limit` times.
fn without_factors(mut number: i128, factor: i128, limit: usize) -> (i128, usize) {
    let mut times = 0;
    while times < limit && number != 0 && number % factor == 0 {
        number /= factor;
        times += 1;
    }
    (number, times)
}

impl Add for Quantity {
    type Output = Quantity;
    fn add(self, other: Quantity) -> Quantity {
        let nanos = self.nanos.saturating_add(other.nanos);
        Quantity { nanos, format: self.format_of_sum(other) }
    }
}

impl Sub for Quantity {
    type Output = Quantity;
    fn sub(self, other: Quantity) -> Quantity {
        let nanos = self.nanos.saturating_sub(other.nanos);
        Quantity { nanos, format: self.format_of_sum(other) }
    }
}

impl Neg for Quantity {
    type Output = Quantity;
    fn neg(self) -> Quantity {
        Quantity { nanos: self.nanos.saturating_neg(), format: self.format }
    }
}

impl std::fmt::Display for Quantity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.is_zero() {
            return f.write_str("0");
        }
        let format = self.printed_format();
        if format == QuantityFormat::BinarySi {
            let (number, times) = without_factors(self.nanos / ONE, 1_024, 6);
            return write!(f, "{number}{}", BINARY_SUFFIXES.get(times).unwrap_or(&""));
        }
        let (number, times) = without_factors(self.nanos, 1_000, 64);
        match DECIMAL_SUFFIXES.get(times) {
            Some(suffix) if format == QuantityFormat::DecimalSi => write!(f, "{number}{suffix}"),
            _ if times == 3 => write!(f, "{number}"),
            _ => write!(f, "{number}e{}", 3 * times as i64 - 9),
        }
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
            serde_json::Value::Null => return Ok(Quantity::default()),
            _ => return Err(de::Error::custom(QuantityError::Format)),
        };
        Quantity::parse(text.trim()).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn quantity(text: &str) -> Quantity {
        Quantity::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn printed(text: &str) -> String {
        quantity(text).to_string()
    }

    #[test]
    fn a_quantity_is_printed_with_the_largest_suffix_that_leaves_a_whole_number() {
        let table = [
            ("0.5", "500m"),
            ("1024Mi", "1Gi"),
            ("1.5Gi", "1536Mi"),
            ("1000m", "1"),
            ("1025", "1025"),
            ("1000k", "1M"),
            ("0.1", "100m"),
            ("10e3", "10e3"),
            ("1e0", "1"),
            ("0.0005k", "500m"),
            ("-1024Ki", "-1Mi"),
            ("+2", "2"),
            ("00", "0"),
            ("1000E", "1e21"),
            ("7Ei", "7Ei"),
        ];
        for (text, canonical) in table {
            assert_eq!(printed(text), canonical, "{text}");
        }
    }

    #[test]
    fn a_binary_value_below_1024_or_with_a_fraction_is_printed_as_a_decimal() {
        assert_eq!(printed("0.5Ki"), "512");
        assert_eq!(printed("1.0001Ki"), "1024102400u");
        assert_eq!(printed("1023"), "1023");
    }

    #[test]
    fn a_trace_of_a_resource_rounds_up_to_a_billionth() {
        assert_eq!(printed("0.9n"), "1n");
        assert_eq!(printed("1e-30"), "1e-9");
        assert_eq!(printed("-0.9n"), "-1n");
        assert_eq!(printed("0e-30"), "0");
        assert_eq!(printed(&format!("0.{}1", "0".repeat(5_000))), "1n");
    }

    #[test]
    fn too_much_is_cut_and_never_overflows() {
        assert_eq!(quantity("8Ei"), quantity("9999999Ei"));
        assert!(quantity("-8Ei").is_capped() && !quantity("7Ei").is_capped());
        assert_eq!(quantity("9e999999999").nanos, i128::MAX);
        assert_eq!(quantity(&"9".repeat(10_000)).value(), i64::MAX);
        let most = quantity("9e99");
        assert_eq!((most + most).nanos, i128::MAX);
        assert_eq!((-most - most).value(), i64::MIN);
    }

    #[test]
    fn whole_and_thousandth_values_round_away_from_zero() {
        assert_eq!((quantity("1001u").milli_value(), quantity("1001u").value()), (2, 1));
        assert_eq!((quantity("-1001u").milli_value(), quantity("-1001u").value()), (-2, -1));
        assert_eq!(Quantity::from_milli(1_500, QuantityFormat::DecimalSi), quantity("1.5"));
        assert_eq!(Quantity::from_value(1_024, QuantityFormat::BinarySi), quantity("1Ki"));
    }

    #[test]
    fn a_sum_keeps_the_first_family_and_a_sum_of_nothing_takes_the_second() {
        assert_eq!((quantity("1Gi") + quantity("1G")).to_string(), "2073741824");
        assert_eq!((quantity("0") + quantity("1Gi")).to_string(), "1Gi");
        assert_eq!((quantity("2Gi") - quantity("1024Mi")).to_string(), "1Gi");
        assert_eq!(quantity("1Ki").compare(&quantity("1k")), Ordering::Greater);
        assert_eq!(quantity("1000m").compare(&quantity("1")), Ordering::Equal);
    }

    #[test]
    fn a_number_in_yaml_is_a_quantity_too() {
        let read = |json: &str| serde_json::from_str::<Quantity>(json).map(|q| q.to_string());
        assert_eq!(read("0.25").ok().as_deref(), Some("250m"));
        assert_eq!(read("\" 2 \"").ok().as_deref(), Some("2"));
        assert_eq!(read("null").ok().as_deref(), Some("0"));
        assert!(read("[]").is_err() && read("\"1 Gi\"").is_err());
    }

    fn any_quantity() -> impl Strategy<Value = Quantity> {
        use QuantityFormat::*;
        let format = prop_oneof![Just(BinarySi), Just(DecimalSi), Just(DecimalExponent)];
        let nanos = prop_oneof![
            -BINARY_MAX..=BINARY_MAX,
            (-9_999i128..9_999, 0u32..8).prop_map(|(n, exponent)| n * 1_000i128.pow(exponent)),
            (-9_999i128..9_999, 0u32..5)
                .prop_map(|(n, exponent)| n * ONE * 1_024i128.pow(exponent)),
        ];
        (nanos, format).prop_map(|(nanos, format)| Quantity { nanos, format })
    }

    proptest! {
        #[test]
        fn a_printed_quantity_reads_back_as_the_same_value(quantity in any_quantity()) {
            let text = quantity.to_string();
            let back = Quantity::parse(&text).map_err(|e| TestCaseError::fail(e.to_string()))?;
            prop_assert_eq!(back.nanos, quantity.nanos, "{}", text);
            // A binary value without a suffix reads back as a decimal one, which may take a suffix.
            if quantity.format == back.format {
                prop_assert_eq!(back.to_string(), text);
            }
        }

        #[test]
        fn no_text_makes_the_parser_panic(text in "[-+.0-9eEinumkKMGTP ]{0,40}") {
            if let Ok(quantity) = Quantity::parse(&text) {
                let back = Quantity::parse(&quantity.to_string());
                prop_assert_eq!(back.map(|q| q.nanos), Ok(quantity.nanos));
            }
        }
    }
}
