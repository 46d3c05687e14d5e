//! Reading a quantity, exactly and without numbers of unbounded size: the decimal point is moved by
//! the exponent, then what stands before and behind it is computed apart.

use super::{BINARY_MAX, ONE, Quantity, QuantityError, QuantityFormat};

/// Where the decimal point goes when a value is turned into billionths.
const NANO_PLACES: i64 = 9;

pub(super) fn parse(text: &str) -> Result<Quantity, QuantityError> {
    if text.is_empty() {
        return Err(QuantityError::Format);
    }
    let negative = text.starts_with('-');
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (whole, rest) = split_digits(unsigned);
    let (fraction, suffix) = rest.strip_prefix('.').map_or(("", rest), split_digits);
    if !has_the_form_of_a_suffix(suffix) {
        return Err(QuantityError::Format);
    }
    let suffix = Suffix::read(suffix).ok_or(QuantityError::Suffix)?;
    if whole.is_empty() && fraction.is_empty() && suffix.needs_digits() {
        return Err(QuantityError::Numeric);
    }
    let digits = [whole, fraction].concat();
    let point = whole.len() as i64 + NANO_PLACES + suffix.ten_to_the;
    let nanos = evaluate(&digits, point, 1 << suffix.two_to_the);
    Ok(finish(nanos, negative, suffix.format))
}

/// What a value with a binary suffix suffers, by its size.
fn finish(nanos: i128, negative: bool, format: QuantityFormat) -> Quantity {
    let binary = format == QuantityFormat::BinarySi;
    let nanos = if binary { nanos.min(BINARY_MAX) } else { nanos };
    let fraction_only = nanos > 0 && nanos < ONE;
    let format = if binary && fraction_only { QuantityFormat::DecimalSi } else { format };
    Quantity { nanos: if negative { -nanos } else { nanos }, format }
}

fn split_digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
}

/// Letters, then perhaps a sign, then perhaps digits.
fn has_the_form_of_a_suffix(suffix: &str) -> bool {
    let rest = suffix.trim_start_matches(|c: char| "eEinumkKMGTP".contains(c));
    let rest = rest.strip_prefix(['+', '-']).unwrap_or(rest);
    rest.bytes().all(|b| b.is_ascii_digit())
}

struct Suffix {
    ten_to_the: i64,
    two_to_the: u32,
    format: QuantityFormat,
}

impl Suffix {
    fn read(text: &str) -> Option<Suffix> {
        let ten = |ten_to_the, format| Some(Suffix { ten_to_the, two_to_the: 0, format });
        let two = |two_to_the| {
            Some(Suffix { ten_to_the: 0, two_to_the, format: QuantityFormat::BinarySi })
        };
        if let Some(place) = super::DECIMAL_SUFFIXES.iter().position(|s| *s == text) {
            return ten(3 * place as i64 - NANO_PLACES, QuantityFormat::DecimalSi);
        }
        if let Some(place) = super::BINARY_SUFFIXES.iter().position(|s| *s == text) {
            return two(10 * place as u32);
        }
        let exponent: i64 = text.strip_prefix(['e', 'E'])?.parse().ok()?;
        // Anything further away is nothing or too much, and so is this.
        ten(exponent.clamp(-1_000_000, 1_000_000), QuantityFormat::DecimalExponent)
    }

    /// Kubernetes takes a suffix alone for zero, except where it has to compute with big numbers.
    fn needs_digits(&self) -> bool {
        self.two_to_the >= 50 || self.ten_to_the < -NANO_PLACES
    }
}

/// The digits with the decimal point at `point`, times `factor`, rounded up; cut where it
/// overflows.
fn evaluate(digits: &str, point: i64, factor: i128) -> i128 {
    let split = point.clamp(0, digits.len() as i64) as usize;
    let (before, behind) = digits.split_at(split);
    let zeros_between = point.saturating_sub(digits.len() as i64).max(0);
    let whole = whole_part(before, zeros_between).saturating_mul(factor);
    whole.saturating_add(fraction_part(behind, (-point).max(0), factor))
}

fn whole_part(digits: &str, zeros: i64) -> i128 {
    let shift =
        |number: i128, digit: u8| number.saturating_mul(10).saturating_add(i128::from(digit));
    let mut number = digits.bytes().fold(0, |number, byte| shift(number, byte - b'0'));
    for _ in 0..zeros {
        if number == 0 || number == i128::MAX {
            break;
        }
        number = shift(number, 0);
    }
    number
}

/// `0.00ddd × factor`, rounded up, with so many zeros behind the point. It works from the last
/// digit to the first, so that no number exceeds ten factors, and keeps in mind whether anything
/// was cut.
fn fraction_part(digits: &str, zeros: i64, factor: i128) -> i128 {
    let (mut part, mut lost) = (0, false);
    for byte in digits.bytes().rev() {
        let sum = part + i128::from(byte - b'0') * factor;
        lost |= sum % 10 != 0;
        part = sum / 10;
    }
    for _ in 0..zeros {
        if part == 0 {
            break;
        }
        lost |= part % 10 != 0;
        part /= 10;
    }
    part + i128::from(lost)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_another_form_says_what_form_it_should_have() {
        for text in [
            "", "1.1.M", "1+1.0M", "0.1mi ", "aoeu", " 1", "1 ", "1,5", "１", "5GB", "1e3.5", "1KI",
        ] {
            assert_eq!(parse(text), Err(QuantityError::Format), "{text:?}");
        }
        assert!(QuantityError::Format.to_string().starts_with("quantities must match the regular"));
    }

    #[test]
    fn an_unknown_suffix_is_called_so() {
        for text in ["1K", "0.1mi", "1i", "-3.01e-", "1e", "1m5", "1e99999999999999999999"] {
            assert_eq!(parse(text), Err(QuantityError::Suffix), "{text:?}");
        }
    }

    #[test]
    fn a_suffix_alone_is_zero_as_in_kubernetes() {
        for text in ["m", "Ki", "+", "-", ".", "e5"] {
            assert_eq!(parse(text).map(|q| q.nanos), Ok(0), "{text:?}");
        }
        assert_eq!(parse("Ei"), Err(QuantityError::Numeric));
    }

    #[test]
    fn a_fraction_of_a_binary_unit_is_exact_and_rounds_up_at_the_end() {
        assert_eq!(parse("0.00000000000000000000000001Ei").map(|q| q.nanos), Ok(12));
        assert_eq!(parse("0.3Ki").map(|q| q.nanos), Ok(307_200_000_000));
    }
}
