//! How kubectl writes a span of time (apimachinery `pkg/util/duration/duration.go`).

use std::time::Duration;

use crate::api::Timestamp;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const YEAR: i64 = 365 * DAY;

/// `HumanDuration`: two or three figures. Seconds; negative: the future.
pub fn human_duration(seconds: i64) -> String {
    let two = |big: i64, unit: &str, small: i64, rest: &str| match small {
        0 => format!("{big}{unit}"),
        _ => format!("{big}{unit}{small}{rest}"),
    };
    match seconds {
        // Clocks differ a little, so that a second in the future is now.
        ..=-2 => "<invalid>".into(),
        -1 => "0s".into(),
        0..120 => format!("{seconds}s"),
        120..600 => two(seconds / MINUTE, "m", seconds % MINUTE, "s"),
        _ if seconds < 3 * HOUR => format!("{}m", seconds / MINUTE),
        _ if seconds < 8 * HOUR => two(seconds / HOUR, "h", seconds / MINUTE % 60, "m"),
        _ if seconds < 2 * DAY => format!("{}h", seconds / HOUR),
        _ if seconds < 8 * DAY => two(seconds / DAY, "d", seconds / HOUR % 24, "h"),
        _ if seconds < 2 * YEAR => format!("{}d", seconds / DAY),
        _ if seconds < 8 * YEAR => two(seconds / YEAR, "y", seconds / DAY % 365, "d"),
        _ => format!("{}y", seconds / YEAR),
    }
}

/// `ShortHumanDuration`: one figure.
pub fn short_human_duration(seconds: i64) -> String {
    match seconds {
        ..=-2 => "<invalid>".into(),
        -1 => "0s".into(),
        0..MINUTE => format!("{seconds}s"),
        _ if seconds < HOUR => format!("{}m", seconds / MINUTE),
        _ if seconds < DAY => format!("{}h", seconds / HOUR),
        _ if seconds < YEAR => format!("{}d", seconds / DAY),
        _ => format!("{}y", seconds / YEAR),
    }
}

/// The time since a moment, for a column.
pub fn age(since: Option<Timestamp>, now: Timestamp) -> String {
    match since {
        None => "<unknown>".into(),
        Some(since) => human_duration(now.seconds_since(since)),
    }
}

/// Reads a span as Go does (`time.ParseDuration`): numbers with their units, `1h30m`, `1.5m`. The
/// error is Go's.
pub fn parse(text: &str) -> Result<Duration, String> {
    let invalid = || format!("time: invalid duration {text:?}");
    let mut rest = text.strip_prefix('+').unwrap_or(text);
    if rest == "0" {
        return Ok(Duration::ZERO);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut nanos: u128 = 0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, behind) = rest.split_at(end);
        let end = behind.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(behind.len());
        let (unit, behind) = behind.split_at(end);
        if number.is_empty() || number == "." || number.matches('.').count() > 1 {
            return Err(invalid());
        }
        let length: u128 = match unit {
            "" => return Err(format!("time: missing unit in duration {text:?}")),
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            unit => return Err(format!("time: unknown unit {unit:?} in duration {text:?}")),
        };
        let (whole, part) = number.split_once('.').unwrap_or((number, ""));
        // Nobody writes more figures than a span has nanoseconds.
        if whole.len() > 18 || part.len() > 18 {
            return Err(invalid());
        }
        let figures = |text: &str| text.parse::<u128>().unwrap_or(0);
        let scale = 10u128.pow(part.len() as u32);
        nanos += figures(whole) * length + figures(part) * length / scale;
        rest = behind;
    }
    match u64::try_from(nanos) {
        Ok(nanos) if i64::try_from(nanos).is_ok() => Ok(Duration::from_nanos(nanos)),
        _ => Err(invalid()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_read_as_go_reads_it() {
        for (text, millis) in
            [("0", 0), ("1.5m", 90_000), ("1h30m", 5_400_000), (".5s", 500), ("1m0.25s", 60_250)]
        {
            assert_eq!(parse(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for (text, why) in [
            ("", "invalid duration \"\""),
            ("5", "missing unit in duration \"5\""),
            ("5min", "unknown unit \"min\" in duration \"5min\""),
            ("1.2.3s", "invalid duration \"1.2.3s\""),
            ("h", "invalid duration \"h\""),
            ("9999999999h", "invalid duration \"9999999999h\""),
        ] {
            assert_eq!(parse(text), Err(format!("time: {why}")));
        }
    }

    #[test]
    fn a_span_is_cut_to_two_units_that_matter() {
        for (seconds, text) in [
            (-5, "<invalid>"),
            (-1, "0s"),
            (119, "119s"),
            (190, "3m10s"),
            (600, "10m"),
            (70 * 60, "70m"),
            (3 * HOUR + 60, "3h1m"),
            (49 * HOUR, "2d1h"),
            (8 * DAY, "8d"),
            (2 * YEAR + DAY, "2y1d"),
            (9 * YEAR, "9y"),
        ] {
            assert_eq!(human_duration(seconds), text);
        }
    }
}
