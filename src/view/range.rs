//! A stretch of the run between two points, A and B: playing stops at its end, or begins again at
//! its start. And the speeds at which a run is shown.

use std::time::Duration;

use crate::kernel::Time;
use crate::scenario::schedule::LATEST;

/// The speeds, on a logarithmic scale.
pub const SPEEDS: [f64; 10] = [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0];

/// The place on the scale that is nearest to a speed.
pub fn step_of(speed: f64) -> usize {
    let off = |at: usize| (SPEEDS[at].ln() - speed.max(1e-9).ln()).abs();
    (0..SPEEDS.len()).min_by(|a, b| off(*a).total_cmp(&off(*b))).unwrap_or(3)
}

/// The next speed on the scale that is faster, or slower.
pub fn next_speed(speed: f64, faster: bool) -> f64 {
    let found = match faster {
        true => SPEEDS.into_iter().find(|step| *step > speed),
        false => SPEEDS.into_iter().rev().find(|step| *step < speed),
    };
    found.unwrap_or(speed)
}

/// A speed as an address gives it; none if it is no number or none that can be played.
pub fn parse_speed(text: &str) -> Option<f64> {
    let speed: f64 = text.trim().trim_end_matches(['x', '×']).parse().ok()?;
    (SPEEDS[0]..=SPEEDS[SPEEDS.len() - 1]).contains(&speed).then_some(speed)
}

/// A moment as an address gives it: `12s`, `1m30s`, `250ms`, or seconds, `12.5`.
pub fn parse_moment(text: &str) -> Option<Time> {
    let text = text.trim();
    let span = match text.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok()?,
        Err(_) => humantime::parse_duration(text).ok()?,
    };
    (span <= LATEST.since(Time::ZERO)).then_some(Time::ZERO + span)
}

/// A stretch of the run. Either end may be open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Range {
    /// A: where it begins.
    pub from: Option<Time>,
    /// B: where it ends.
    pub to: Option<Time>,
    /// Whether playing goes on from A when it has come to B.
    pub repeats: bool,
}

/// What playing does at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It goes on.
    On,
    /// It stops, at this moment.
    Stop(Time),
    /// It goes on from there.
    Back(Time),
}

impl Range {
    /// From one point to another, whichever way round they are given.
    pub fn between(a: Time, b: Time) -> Range {
        let (from, to) = (Some(a.min(b)), Some(a.max(b)));
        Range { from, to, repeats: from != to }.sane()
    }

    /// With A at that moment, or without A if it is there already. Whoever sets both wants to see
    /// the stretch again and again.
    pub fn with_from(self, at: Time) -> Range {
        let from = (self.from != Some(at)).then_some(at);
        let to = self.to.filter(|to| from.is_none_or(|from| from < *to));
        Range { from, to, repeats: self.repeats || from.is_some() && to.is_some() }.sane()
    }

    /// The same for B.
    pub fn with_to(self, at: Time) -> Range {
        let to = (self.to != Some(at) && at > Time::ZERO).then_some(at);
        let from = self.from.filter(|from| to.is_none_or(|to| *from < to));
        Range { from, to, repeats: self.repeats || from.is_some() && to.is_some() }.sane()
    }

    /// A dragged to a moment before B.
    pub fn moved_from(self, at: Time) -> Range {
        let last = self.to.map_or(Time::MAX, |to| to - Duration::from_millis(1));
        Range { from: Some(at.min(last)), ..self }
    }

    /// B dragged to a moment after A.
    pub fn moved_to(self, at: Time) -> Range {
        let first = self.from.unwrap_or_default() + Duration::from_millis(1);
        Range { to: Some(at.max(first)), ..self }
    }

    /// Without an end there is nothing to repeat; a stretch without length is none.
    pub fn sane(self) -> Range {
        let to = self.to.filter(|to| self.from.unwrap_or_default() < *to);
        Range { to, repeats: self.repeats && to.is_some(), ..self }
    }

    /// Whether neither end is set.
    pub fn is_empty(self) -> bool {
        self.from.is_none() && self.to.is_none()
    }

    /// What playing does, having come from `before` to `now`. Who stands behind B plays on.
    pub fn turn(self, before: Time, now: Time) -> Turn {
        match self.to {
            Some(to) if before < to && now >= to => match self.repeats {
                true => Turn::Back(self.from.unwrap_or_default()),
                false => Turn::Stop(to),
            },
            _ => Turn::On,
        }
    }

    /// Where playing begins: at A, for who stands at B or behind it.
    pub fn start(self, now: Time) -> Time {
        match self.to {
            Some(to) if self.repeats && now >= to => self.from.unwrap_or_default(),
            _ => now,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn s(seconds: u64) -> Time {
        Time::from_secs(seconds)
    }

    #[test]
    fn playing_between_two_points_begins_again_at_the_first() {
        let range = Range::default().with_from(s(10)).with_to(s(20));
        assert!(range.repeats);
        assert_eq!(range.turn(s(19), s(21)), Turn::Back(s(10)));
        assert_eq!(range.turn(s(12), s(13)), Turn::On);
        assert_eq!(range.turn(s(20), s(25)), Turn::On, "who went behind B on purpose stays there");
        assert_eq!(range.start(s(30)), s(10));
    }

    #[test]
    fn without_repeating_it_stops_at_the_second_point() {
        let range = Range { from: Some(s(10)), to: Some(s(20)), repeats: false };
        assert_eq!(range.turn(s(19), s(21)), Turn::Stop(s(20)));
        assert_eq!(range.start(s(30)), s(30));
    }

    #[test]
    fn a_point_that_is_set_again_is_cleared_and_one_on_the_wrong_side_clears_the_other() {
        let range = Range::between(s(20), s(10));
        assert_eq!((range.from, range.to), (Some(s(10)), Some(s(20))));
        assert_eq!(range.with_to(s(20)), Range { from: Some(s(10)), ..Range::default() });
        assert_eq!(range.with_from(s(25)), Range { from: Some(s(25)), ..Range::default() });
        assert_eq!(
            range.with_to(s(5)),
            Range { to: Some(s(5)), repeats: true, ..Range::default() }
        );
        assert_eq!(Range::between(s(5), s(5)).to, None);
        // Dragged, they push against each other and neither is lost.
        assert!(range.moved_from(s(99)).from < range.to && range.moved_to(s(1)).to > range.from);
    }

    #[test]
    fn moments_and_speeds_are_read_or_refused() {
        for (text, expected) in [
            ("12", Some(12_000)),
            ("1.5", Some(1_500)),
            ("1m30s", Some(90_000)),
            ("250ms", Some(250)),
            ("-1", None),
            ("NaN", None),
            ("2h", None),
            ("soon", None),
        ] {
            assert_eq!(parse_moment(text), expected.map(Time::from_millis), "{text}");
        }
        for (text, expected) in
            [("0.1", Some(0.1)), ("100×", Some(100.0)), ("0", None), ("1e9", None)]
        {
            assert_eq!(parse_speed(text), expected, "{text}");
        }
    }

    #[test]
    fn the_scale_of_speeds_is_walked_step_by_step() {
        let mut speed = SPEEDS[0];
        for step in SPEEDS.into_iter().skip(1) {
            speed = next_speed(speed, true);
            assert_eq!((speed, SPEEDS[step_of(speed)]), (step, step));
        }
        assert_eq!(next_speed(100.0, true), 100.0);
        assert_eq!((next_speed(3.0, true), next_speed(3.0, false)), (5.0, 2.0));
        assert_eq!(step_of(3.5), 5);
    }
}
