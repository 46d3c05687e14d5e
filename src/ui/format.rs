//! Times and names as people read them.

use std::time::Duration;

use crate::kernel::Time;

use super::i18n::tr;

/// `2.10 s`, `1:40.0`.
pub fn clock(at: Time) -> String {
    let seconds = at.as_secs_f64();
    if seconds < 99.995 {
        format!("{seconds:.2} s")
    } else {
        let minutes = (seconds / 60.0).floor();
        format!("{minutes:.0}:{:04.1}", seconds - minutes * 60.0)
    }
}

/// A span in words, rounded to what matters: `40 ms`, `1.5 s`, `5 min`.
pub fn span(span: Duration) -> String {
    let seconds = span.as_secs_f64();
    if seconds < 0.95 {
        tr!(time.millis, n = (seconds * 1e3).round() as i64)
    } else if seconds < 9.95 {
        tr!(time.seconds, n = format!("{seconds:.1}").trim_end_matches(".0").to_string())
    } else if seconds < 119.5 {
        tr!(time.seconds, n = format!("{seconds:.0}"))
    } else {
        tr!(time.minutes, n = format!("{:.0}", seconds / 60.0))
    }
}

/// A name cut down to `limit` characters. The end is what tells pods apart, so it stays.
pub fn short(name: &str, limit: usize) -> String {
    let length = name.chars().count();
    if length <= limit {
        return name.to_owned();
    }
    let keep = limit.saturating_sub(1);
    let tail: String = name.chars().skip(length - keep).collect();
    format!("…{}", tail.trim_start_matches('-'))
}

/// An edge loop's bead carries the change, `DELETED web-5d9-x7k`: shown as `−x7k`.
pub fn bead(label: &str) -> String {
    let (sign, name) = match label.split_once(' ') {
        Some(("ADDED", name)) => ("+", name),
        Some(("MODIFIED", name)) => ("~", name),
        Some(("DELETED", name)) => ("−", name),
        _ => ("", label),
    };
    format!("{sign}{}", short(name, 8))
}
