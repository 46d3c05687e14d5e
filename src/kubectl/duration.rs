//! How kubectl writes a span of time (apimachinery `pkg/util/duration/duration.go`).

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

#[cfg(test)]
mod tests {
    use super::*;

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
