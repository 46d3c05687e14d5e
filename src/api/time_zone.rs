//! Time zones of CronJobs: a small table in place of the IANA database
//! (<https://www.iana.org/time-zones>), with the rules that hold since 2007. Left out: all zones
//! that are not in it, and what the clocks did before.

use super::Timestamp;

const HOUR: i64 = 3_600;
const DAY: i64 = 86_400;

/// When clocks are put forward by an hour, and back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    Never,
    /// From the last Sunday of March to that of October, everywhere at 01:00 UTC.
    Europe,
    /// From the second Sunday of March to the first of November, at 02:00 on the clock.
    America,
}

use Rule::{America, Europe, Never};

/// What a clock shows somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeZone {
    /// Seconds ahead of UTC, in winter.
    standard: i64,
    rule: Rule,
}

/// Names with their minutes ahead of UTC.
const ZONES: &[(&str, i64, Rule)] = &[
    ("UTC", 0, Never),
    ("Etc/UTC", 0, Never),
    ("GMT", 0, Never),
    ("Asia/Seoul", 540, Never),
    ("Asia/Tokyo", 540, Never),
    ("Asia/Shanghai", 480, Never),
    ("Asia/Hong_Kong", 480, Never),
    ("Asia/Taipei", 480, Never),
    ("Asia/Singapore", 480, Never),
    ("Asia/Manila", 480, Never),
    ("Asia/Bangkok", 420, Never),
    ("Asia/Jakarta", 420, Never),
    ("Asia/Ho_Chi_Minh", 420, Never),
    ("Asia/Kolkata", 330, Never),
    ("Asia/Dubai", 240, Never),
    ("Europe/Istanbul", 180, Never),
    ("Europe/Moscow", 180, Never),
    ("Africa/Nairobi", 180, Never),
    ("Africa/Johannesburg", 120, Never),
    ("Africa/Lagos", 60, Never),
    ("Australia/Brisbane", 600, Never),
    ("America/Sao_Paulo", -180, Never),
    ("America/Bogota", -300, Never),
    ("America/Mexico_City", -360, Never),
    ("America/Phoenix", -420, Never),
    ("Pacific/Honolulu", -600, Never),
    ("Europe/London", 0, Europe),
    ("Europe/Dublin", 0, Europe),
    ("Europe/Lisbon", 0, Europe),
    ("Europe/Amsterdam", 60, Europe),
    ("Europe/Berlin", 60, Europe),
    ("Europe/Madrid", 60, Europe),
    ("Europe/Paris", 60, Europe),
    ("Europe/Prague", 60, Europe),
    ("Europe/Rome", 60, Europe),
    ("Europe/Stockholm", 60, Europe),
    ("Europe/Vienna", 60, Europe),
    ("Europe/Warsaw", 60, Europe),
    ("Europe/Zurich", 60, Europe),
    ("Europe/Athens", 120, Europe),
    ("Europe/Helsinki", 120, Europe),
    ("America/Halifax", -240, America),
    ("America/New_York", -300, America),
    ("America/Toronto", -300, America),
    ("America/Chicago", -360, America),
    ("America/Denver", -420, America),
    ("America/Los_Angeles", -480, America),
    ("America/Anchorage", -540, America),
];

impl TimeZone {
    /// UTC.
    pub const UTC: TimeZone = TimeZone { standard: 0, rule: Never };

    /// The zone of this name, if it is known here.
    pub fn named(name: &str) -> Option<TimeZone> {
        let found = ZONES.iter().find(|(known, ..)| *known == name)?;
        Some(TimeZone { standard: found.1 * 60, rule: found.2 })
    }

    /// Seconds ahead of UTC at this moment.
    pub fn offset_at(self, at: Timestamp) -> i64 {
        let Some((forward, back)) = self.changes(year_of(at.0 + self.standard)) else {
            return self.standard;
        };
        let in_summer = (forward..back).contains(&at.0);
        self.standard + if in_summer { HOUR } else { 0 }
    }

    /// When the clocks are put forward or back next.
    pub fn next_change(self, after: Timestamp) -> Option<Timestamp> {
        let year = year_of(after.0 + self.standard);
        let both = [year, year + 1].into_iter().filter_map(|year| self.changes(year));
        let all = both.flat_map(|(forward, back)| [forward, back]);
        all.filter(|change| *change > after.0).min().map(Timestamp)
    }

    /// `2026-01-01T09:05:00+09:00`, as Go's RFC3339.
    pub fn format(self, at: Timestamp) -> String {
        let offset = self.offset_at(at);
        if offset == 0 {
            return at.to_string();
        }
        let local = Timestamp(at.0 + offset).to_string();
        let minutes = offset.abs() / 60;
        let sign = if offset < 0 { '-' } else { '+' };
        let clock = local.trim_end_matches('Z');
        format!("{clock}{sign}{:02}:{:02}", minutes / 60, minutes % 60)
    }

    /// When the clocks are put forward and back in a year, in seconds since 1970.
    fn changes(self, year: i64) -> Option<(i64, i64)> {
        // The first days of March and November, and the end of October.
        let (march, november) =
            (new_year(year) + 59 + leap(year), new_year(year) + 304 + leap(year));
        match self.rule {
            Never => None,
            Europe => {
                let (spring, autumn) = (sunday_until(march + 30), sunday_until(november - 1));
                Some((spring * DAY + HOUR, autumn * DAY + HOUR))
            }
            America => {
                let (spring, autumn) = (sunday_until(march + 13), sunday_until(november + 6));
                let (forward, back) = (2 * HOUR - self.standard, HOUR - self.standard);
                Some((spring * DAY + forward, autumn * DAY + back))
            }
        }
    }
}

/// The last Sunday up to a day since 1970, which began on a Thursday.
fn sunday_until(day: i64) -> i64 {
    day - (day + 4).rem_euclid(7)
}

fn leap(year: i64) -> i64 {
    i64::from(year % 4 == 0 && (year % 100 != 0 || year % 400 == 0))
}

/// The first day of a year, since 1970.
fn new_year(year: i64) -> i64 {
    let leaps = |year: i64| (year - 1) / 4 - (year - 1) / 100 + (year - 1) / 400;
    365 * (year - 1970) + leaps(year) - leaps(1970)
}

fn year_of(seconds: i64) -> i64 {
    let day = seconds.div_euclid(DAY);
    let mut year = 1970 + day.max(0) / 366;
    while new_year(year + 1) <= day {
        year += 1;
    }
    year
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(zone: &str, at: &str) -> String {
        let zone = TimeZone::named(zone).expect("it is known");
        zone.format(Timestamp::parse(at).expect("a time"))
    }

    #[test]
    fn clocks_show_what_they_show_there() {
        for (zone, at, expected) in [
            ("UTC", "2026-07-01T00:00:00Z", "2026-07-01T00:00:00Z"),
            ("Asia/Seoul", "2026-01-01T00:05:00Z", "2026-01-01T09:05:00+09:00"),
            ("Asia/Kolkata", "2025-12-31T20:00:00Z", "2026-01-01T01:30:00+05:30"),
            ("Europe/Berlin", "2026-03-29T00:59:59Z", "2026-03-29T01:59:59+01:00"),
            ("Europe/Berlin", "2026-03-29T01:00:00Z", "2026-03-29T03:00:00+02:00"),
            ("Europe/Berlin", "2026-10-25T01:00:00Z", "2026-10-25T02:00:00+01:00"),
            ("America/New_York", "2026-03-08T06:59:59Z", "2026-03-08T01:59:59-05:00"),
            ("America/New_York", "2026-03-08T07:00:00Z", "2026-03-08T03:00:00-04:00"),
            ("America/New_York", "2024-11-03T06:00:00Z", "2024-11-03T01:00:00-05:00"),
            ("America/Los_Angeles", "2028-02-29T12:00:00Z", "2028-02-29T04:00:00-08:00"),
        ] {
            assert_eq!(shown(zone, at), expected, "{zone}");
        }
        assert_eq!(TimeZone::named("Mars/Olympus"), None);
    }
}
