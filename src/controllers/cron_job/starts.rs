//! Which start is due, and how many were missed (`mostRecentScheduleTime` in
//! pkg/controller/cronjob/utils.go).

use crate::api::{Schedule, Timestamp};

/// More missed starts than this are told.
const MANY: i64 = 100;
/// Moments that are gone through at most.
const STEPS_MAX: usize = 200_000;

/// The start that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// When it was to be.
    pub at: Timestamp,
    /// Whether more than a hundred were missed.
    pub many_missed: bool,
}

/// The most recent moment after `earliest` and up to `now`.
pub fn due(schedule: &Schedule, earliest: Timestamp, now: Timestamp) -> Option<Due> {
    let first = schedule.next(earliest).filter(|first| *first <= now)?;
    let Some(second) = schedule.next(first).filter(|second| *second <= now) else {
        return Some(Due { at: first, many_missed: false });
    };
    let between = second.seconds_since(first).max(1);
    let missed = now.seconds_since(first) / between + 1;
    // A long way is cut short, if there is a moment in what is left of it.
    let near = Timestamp(now.0 - 2 * between);
    let short = schedule.next(near).filter(|at| *at <= now && missed > MANY);
    let mut latest = short.unwrap_or(second);
    for _ in 0..STEPS_MAX {
        match schedule.next(latest).filter(|next| *next <= now) {
            Some(next) => latest = next,
            None => break,
        }
    }
    Some(Due { at: latest, many_missed: missed > MANY })
}

/// `Thu, 01 Jan 2026 00:05:00 +0000`, as Go's RFC1123Z.
pub fn rfc1123(at: Timestamp) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let text = at.to_string();
    let part = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
    let day = DAYS[at.0.div_euclid(86_400).rem_euclid(7) as usize];
    let month = part(5, 7).parse::<usize>().unwrap_or(1).clamp(1, 12);
    let (date, year, time) = (part(8, 10), part(0, 4), part(11, 19));
    format!("{day}, {date} {} {year} {time} +0000", MONTHS[month - 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).expect("a time")
    }

    #[test]
    fn of_many_missed_starts_the_most_recent_is_due() {
        let minutely = Schedule::parse("* * * * *").expect("a schedule");
        let start = at("2026-01-01T00:00:00Z");
        let after = |minutes: i64| due(&minutely, start, Timestamp(start.0 + 60 * minutes + 5));
        assert_eq!(after(0), None);
        assert_eq!(after(1).map(|due| due.at), Some(at("2026-01-01T00:01:00Z")));
        assert_eq!(after(100), Some(Due { at: at("2026-01-01T01:40:00Z"), many_missed: false }));
        assert_eq!(after(101), Some(Due { at: at("2026-01-01T01:41:00Z"), many_missed: true }));
        let weekdays = Schedule::parse("* 9 * * 1-5").expect("a schedule");
        let long = due(&weekdays, start, at("2026-01-04T12:00:00Z")).expect("one is due");
        assert_eq!(long.at, at("2026-01-02T09:59:00Z"));
    }

    #[test]
    fn a_moment_is_written_as_go_writes_it() {
        assert_eq!(rfc1123(at("2026-01-01T00:05:00Z")), "Thu, 01 Jan 2026 00:05:00 +0000");
        assert_eq!(rfc1123(at("2026-12-31T23:59:00Z")), "Thu, 31 Dec 2026 23:59:00 +0000");
    }
}
