//! Spans of time as Go prints them (`time.Duration.String`): the kubelet's messages carry such
//! texts.

use std::time::Duration;

/// `2m40s`, `1.5s`, `250ms`, `0s`.
pub fn text(span: Duration) -> String {
    let nanos = span.as_nanos();
    match nanos {
        0 => "0s".into(),
        1..1_000 => format!("{nanos}ns"),
        1_000..1_000_000 => format!("{}µs", decimal(nanos, 1_000)),
        1_000_000..1_000_000_000 => format!("{}ms", decimal(nanos, 1_000_000)),
        _ => with_hours(nanos),
    }
}

fn with_hours(nanos: u128) -> String {
    const MINUTE: u128 = 60_000_000_000;
    let seconds = decimal(nanos % MINUTE, 1_000_000_000);
    let minutes = nanos / MINUTE;
    match (minutes / 60, minutes % 60) {
        (0, 0) => format!("{seconds}s"),
        (0, minutes) => format!("{minutes}m{seconds}s"),
        (hours, minutes) => format!("{hours}h{minutes}m{seconds}s"),
    }
}

/// `nanos` in units of `unit`, without trailing zeros.
fn decimal(nanos: u128, unit: u128) -> String {
    let (whole, part) = (nanos / unit, nanos % unit);
    if part == 0 {
        return whole.to_string();
    }
    let width = unit.ilog10() as usize;
    let digits = format!("{part:0width$}");
    format!("{whole}.{}", digits.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_printed_as_go_prints_them() {
        let table = [
            (0, "0s"),
            (250, "250ms"),
            (1_500, "1.5s"),
            (2_000, "2s"),
            (10_000, "10s"),
            (80_000, "1m20s"),
            (300_000, "5m0s"),
            (3_661_050, "1h1m1.05s"),
        ];
        for (millis, expected) in table {
            assert_eq!(text(Duration::from_millis(millis)), expected);
        }
        assert_eq!(text(Duration::from_nanos(1_500)), "1.5µs");
    }
}
