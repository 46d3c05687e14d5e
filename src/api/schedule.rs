//! A schedule of five fields, as a CronJob has it: minute, hour, day of the month, month, day of
//! the week; in UTC, or as the clocks of a time zone show it. What falls into the hour that is left
//! out in spring does not happen; what falls into the hour that comes twice in autumn does so
//! twice.
//!
//! Follows the syntax of <https://pkg.go.dev/github.com/robfig/cron/v3> (`ParseStandard`): lists,
//! ranges, steps, names of months and days, `@hourly` and its like. If both days are restricted,
//! either of them suffices. Left out: `@every`.

use super::{TimeZone, Timestamp};

/// The moments at which something shall happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    weekdays: u64,
    /// Whether days of the month, or of the week, are not restricted.
    any_day: bool,
    any_weekday: bool,
    zone: TimeZone,
}

struct Field {
    low: u32,
    high: u32,
    names: &'static [&'static str],
}

const MONTHS: &[&str] =
    &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS: &[&str] = &["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

const FIELDS: [Field; 5] = [
    Field { low: 0, high: 59, names: &[] },
    Field { low: 0, high: 23, names: &[] },
    Field { low: 1, high: 31, names: &[] },
    Field { low: 1, high: 12, names: MONTHS },
    Field { low: 0, high: 6, names: DAYS },
];

const MINUTE: i64 = 60;
const DAY: i64 = 86_400;
/// Years that are looked ahead for a moment (29 February may be eight years away).
const YEARS_AHEAD: i64 = 9;
/// Changes of clocks that are looked beyond.
const CHANGES_AHEAD: i64 = 2 * YEARS_AHEAD;

impl Schedule {
    /// Reads the text.
    pub fn parse(text: &str) -> Result<Schedule, String> {
        let text = match text.trim() {
            "@yearly" | "@annually" => "0 0 1 1 *",
            "@monthly" => "0 0 1 * *",
            "@weekly" => "0 0 * * 0",
            "@daily" | "@midnight" => "0 0 * * *",
            "@hourly" => "0 * * * *",
            other if other.starts_with('@') => {
                return Err(format!("unrecognized descriptor: {other}"));
            }
            other => other,
        };
        let parts: Vec<&str> = text.split_whitespace().collect();
        if parts.len() != FIELDS.len() {
            let found = parts.len();
            return Err(format!("expected exactly 5 fields, found {found}: [{text}]"));
        }
        let mut sets = [(0, false); 5];
        for ((part, field), set) in parts.iter().zip(&FIELDS).zip(&mut sets) {
            *set = field.parse(part)?;
        }
        let [minutes, hours, days, months, weekdays] = sets;
        Ok(Schedule {
            minutes: minutes.0,
            hours: hours.0,
            days: days.0,
            months: months.0,
            weekdays: weekdays.0,
            any_day: days.1,
            any_weekday: weekdays.1,
            zone: TimeZone::UTC,
        })
    }

    /// The same, by the clocks of a time zone.
    pub fn in_zone(self, zone: TimeZone) -> Schedule {
        Schedule { zone, ..self }
    }

    /// The first moment after `after`; nothing if there is none within some years.
    pub fn next(&self, after: Timestamp) -> Option<Timestamp> {
        let (mut after, mut since) = (after.0, after);
        for _ in 0..CHANGES_AHEAD {
            let offset = self.zone.offset_at(since);
            let found = self.next_on_clock(Timestamp(after + offset));
            let found = found.map(|at| Timestamp(at.0 - offset));
            match self.zone.next_change(since) {
                // The clocks are put forward or back before that.
                Some(change) if found.is_none_or(|found| found >= change) => {
                    (after, since) = (change.0 - 1, change);
                }
                _ => return found,
            }
        }
        None
    }

    /// The first moment that a clock shows after `after`.
    fn next_on_clock(&self, after: Timestamp) -> Option<Timestamp> {
        let start = (after.0.div_euclid(MINUTE) + 1) * MINUTE;
        let first_day = start.div_euclid(DAY);
        let last_day = first_day + YEARS_AHEAD * 366;
        for day in (first_day..=last_day).filter(|day| self.has_day(*day)) {
            let from = (start - day * DAY).max(0) / MINUTE;
            let minute = (from..24 * 60).find(|minute| self.has_minute(*minute));
            if let Some(minute) = minute {
                return Some(Timestamp(day * DAY + minute * MINUTE));
            }
        }
        None
    }

    fn has_minute(&self, minute: i64) -> bool {
        holds(self.hours, minute / 60) && holds(self.minutes, minute % 60)
    }

    fn has_day(&self, day: i64) -> bool {
        let (month, of_month) = month_and_day(day);
        // 1 January 1970 was a Thursday.
        let weekday = holds(self.weekdays, (day + 4).rem_euclid(7));
        let of_month = holds(self.days, of_month);
        let fits = if self.any_day || self.any_weekday {
            of_month && weekday
        } else {
            of_month || weekday
        };
        fits && holds(self.months, month)
    }
}

fn holds(set: u64, number: i64) -> bool {
    u32::try_from(number).is_ok_and(|number| number < 64 && set >> number & 1 == 1)
}

impl Field {
    /// The numbers as bits, and whether it was a star.
    fn parse(&self, text: &str) -> Result<(u64, bool), String> {
        let (mut set, mut any) = (0, false);
        for part in text.split(',') {
            let (range, step) = match part.split_once('/') {
                None => (part, None),
                Some((range, step)) => (range, Some(self.number(step)?)),
            };
            let (low, high) = match range.split_once('-') {
                _ if matches!(range, "*" | "?") => {
                    any |= step.is_none_or(|step| step == 1);
                    (self.low, self.high)
                }
                Some((low, high)) => (self.number(low)?, self.number(high)?),
                None if step.is_some() => (self.number(range)?, self.high),
                None => (self.number(range)?, self.number(range)?),
            };
            let step = step.unwrap_or(1);
            if low < self.low {
                let least = self.low;
                return Err(format!("beginning of range ({low}) below minimum ({least}): {part}"));
            }
            if high > self.high {
                let most = self.high;
                return Err(format!("end of range ({high}) above maximum ({most}): {part}"));
            }
            if low > high {
                return Err(format!(
                    "beginning of range ({low}) beyond end of range ({high}): {part}"
                ));
            }
            if step == 0 {
                return Err(format!("step of range should be a positive number: {part}"));
            }
            (low..=high).step_by(step as usize).for_each(|number| set |= 1 << number);
        }
        Ok((set, any))
    }

    fn number(&self, text: &str) -> Result<u32, String> {
        let lower = text.to_ascii_lowercase();
        if let Some(at) = self.names.iter().position(|name| *name == lower) {
            return Ok(at as u32 + self.low);
        }
        text.parse().map_err(|_| format!("failed to parse int from {text}"))
    }
}

/// Month and day of the month of a day since 1970 (the days from 1 March 0000 fall into cycles of
/// 400 years).
fn month_and_day(day: i64) -> (i64, i64) {
    let shifted = day + 719_468;
    let of_cycle = shifted.rem_euclid(146_097);
    let year = (of_cycle - of_cycle / 1_460 + of_cycle / 36_524 - of_cycle / 146_096) / 365;
    let of_year = of_cycle - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    (if month < 10 { month + 3 } else { month - 9 }, of_month)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(schedule: &str, after: &str) -> String {
        let after = Timestamp::parse(after).expect("a time");
        let schedule = Schedule::parse(schedule).expect(schedule);
        schedule.next(after).map_or("never".into(), |at| at.to_string())
    }

    #[test]
    fn clocks_that_are_put_forward_leave_out_and_those_put_back_repeat() {
        let next = |zone: &str, schedule: &str, after: &str| {
            let zone = TimeZone::named(zone).expect(zone);
            let schedule = Schedule::parse(schedule).expect(schedule).in_zone(zone);
            let after = Timestamp::parse(after).expect("a time");
            schedule.next(after).map_or("never".into(), |at| at.to_string())
        };
        let seoul = next("Asia/Seoul", "0 9 * * *", "2026-01-01T00:00:00Z");
        assert_eq!(seoul, "2026-01-02T00:00:00Z");
        let berlin = |schedule, after| next("Europe/Berlin", schedule, after);
        assert_eq!(berlin("0 6 * * *", "2026-03-28T05:00:00Z"), "2026-03-29T04:00:00Z");
        assert_eq!(berlin("30 2 * * *", "2026-03-28T01:30:00Z"), "2026-03-30T00:30:00Z");
        assert_eq!(berlin("30 2 * * *", "2026-10-24T23:00:00Z"), "2026-10-25T00:30:00Z");
        assert_eq!(berlin("30 2 * * *", "2026-10-25T00:30:00Z"), "2026-10-25T01:30:00Z");
        assert_eq!(berlin("59 23 31 2 *", "2026-10-25T00:30:00Z"), "never");
    }

    #[test]
    fn the_next_moment_is_found() {
        let new_year = "2026-01-01T00:00:00Z";
        for (schedule, wanted) in [
            ("* * * * *", "2026-01-01T00:01:00Z"),
            ("*/15 * * * *", "2026-01-01T00:15:00Z"),
            ("@hourly", "2026-01-01T01:00:00Z"),
            ("30 3 * * mon", "2026-01-05T03:30:00Z"),
            ("0 0 29 feb *", "2028-02-29T00:00:00Z"),
            ("0 12 13 * FRI", "2026-01-02T12:00:00Z"),
            ("0 9-17/4 * * 1-5", "2026-01-01T09:00:00Z"),
            ("59 23 31 2 *", "never"),
        ] {
            assert_eq!(next(schedule, new_year), wanted, "{schedule}");
        }
        assert_eq!(next("0 0 1 3 *", "2024-02-28T23:59:59Z"), "2024-03-01T00:00:00Z");
    }

    #[test]
    fn a_mistake_is_named() {
        for (schedule, why) in [
            ("* * * *", "expected exactly 5 fields, found 4: [* * * *]"),
            ("60 * * * *", "end of range (60) above maximum (59): 60"),
            ("5-3 * * * *", "beginning of range (5) beyond end of range (3): 5-3"),
            ("x * * * *", "failed to parse int from x"),
            ("*/0 * * * *", "step of range should be a positive number: */0"),
        ] {
            assert_eq!(Schedule::parse(schedule), Err(why.into()), "{schedule}");
        }
    }
}
