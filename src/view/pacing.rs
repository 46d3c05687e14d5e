//! Pacing: how simulated time becomes shown time. A control plane works in bursts of milliseconds
//! and then waits for seconds; shown one to one, a person sees nothing and then waits. The curve
//! runs slow while a loop thinks, less slow while messages fly, one to one while nothing moves, and
//! shortens a longer wait to a marked gap. Both lanes are mapped by the same curve.

use std::time::Duration;

use crate::kernel::Time;
use crate::world::{Activity, THINK};

/// Shown milliseconds that a pass takes from taking its key to its first request.
const PASS_SHOWN_MS: f64 = 660.0;
/// Shown milliseconds per simulated millisecond while messages fly: 36 ms of flight in 450 ms.
const FLIGHT_RATE: f64 = 12.5;
/// A wait longer than this ...
const WAIT_MAX_MS: f64 = 1_500.0;
/// ... is shown as a gap of this length.
const GAP_SHOWN_MS: f64 = 600.0;
/// Passes in one shown second above which all is shown faster.
const PASSES_PER_SECOND: f64 = 12.0;

/// A wait that was shortened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gap {
    /// From.
    pub from: Time,
    /// To.
    pub to: Time,
}

/// The mapping from simulated to shown time: a rising line through knots.
#[derive(Clone, Debug)]
pub struct Curve {
    /// (simulated time, shown milliseconds), both rising.
    knots: Vec<(Time, f64)>,
    gaps: Vec<Gap>,
    /// Shown times of the latest passes, for density.
    recent: std::collections::VecDeque<f64>,
}

impl Default for Curve {
    fn default() -> Self {
        Curve { knots: vec![(Time::ZERO, 0.0)], gaps: Vec::new(), recent: Default::default() }
    }
}

impl Curve {
    /// The last simulated time that is mapped.
    pub fn end(&self) -> Time {
        self.knots.last().map_or(Time::ZERO, |knot| knot.0)
    }

    /// The shown time of the last simulated time that is mapped.
    pub fn shown_end(&self) -> f64 {
        self.knots.last().map_or(0.0, |knot| knot.1)
    }

    /// How many shown milliseconds `to` would lie after the end, if the activity stays like this
    /// and nothing but upkeep happens before `wakes`.
    pub fn stretch(&self, to: Time, activity: Activity, wakes: Option<Time>) -> f64 {
        let span_ms = to.since(self.end()).as_secs_f64() * 1e3;
        span_ms * self.rate(activity, wakes)
    }

    /// Maps on up to `to`.
    pub fn extend(&mut self, to: Time, activity: Activity, wakes: Option<Time>) {
        if to <= self.end() {
            return;
        }
        let from = self.end();
        let shown = self.shown_end() + self.stretch(to, activity, wakes);
        if is_idle(activity) && wakes.is_some_and(|wakes| is_gap(self.idle_since(from), wakes)) {
            self.note_gap(from, to);
        }
        self.knots.push((to, shown));
    }

    /// Notes that a pass began at the end of the curve.
    pub fn note_pass(&mut self) {
        let now = self.shown_end();
        self.recent.push_back(now);
        while self.recent.front().is_some_and(|at| now - at > 1_000.0) || self.recent.len() > 500 {
            self.recent.pop_front();
        }
    }

    fn rate(&self, activity: Activity, wakes: Option<Time>) -> f64 {
        let crowd = (PASSES_PER_SECOND / (self.recent.len().max(1) as f64)).min(1.0);
        if activity.thinking > 0 {
            return PASS_SHOWN_MS / (THINK.as_secs_f64() * 1e3) * crowd;
        }
        if activity.flying > 0 {
            return FLIGHT_RATE * crowd;
        }
        let from = self.idle_since(self.end());
        match wakes {
            Some(wakes) if is_gap(from, wakes) => {
                GAP_SHOWN_MS / (wakes.since(from).as_secs_f64() * 1e3)
            }
            _ => 1.0,
        }
    }

    /// When the present wait began: upkeep in its middle does not begin another.
    fn idle_since(&self, from: Time) -> Time {
        match self.gaps.last() {
            Some(gap) if gap.to == from => gap.from,
            _ => from,
        }
    }

    fn note_gap(&mut self, from: Time, to: Time) {
        match self.gaps.last_mut() {
            Some(gap) if gap.to == from => gap.to = to,
            _ => self.gaps.push(Gap { from, to }),
        }
    }

    /// The shown time of a simulated one; beyond the end, as fast as at the end.
    pub fn shown_of(&self, at: Time) -> f64 {
        let after = self.knots.partition_point(|knot| knot.0 < at);
        let after = after.clamp(1, self.knots.len().max(2) - 1);
        let (Some(low), Some(high)) = (self.knots.get(after - 1), self.knots.get(after)) else {
            return at.as_secs_f64() * 1e3;
        };
        let span = high.0.since(low.0).as_secs_f64();
        let slope = if span > 0.0 { (high.1 - low.1) / span } else { 0.0 };
        if at >= low.0 { low.1 + at.since(low.0).as_secs_f64() * slope } else { low.1 }
    }

    /// The simulated time of a shown one, within what is mapped.
    pub fn time_of(&self, shown: f64) -> Time {
        let after = self.knots.partition_point(|knot| knot.1 < shown);
        let (Some(high), Some(low)) =
            (self.knots.get(after), self.knots.get(after.wrapping_sub(1)))
        else {
            return if after == 0 { Time::ZERO } else { self.end() };
        };
        let share = if high.1 > low.1 { (shown - low.1) / (high.1 - low.1) } else { 1.0 };
        low.0 + high.0.since(low.0).mul_f64(share.clamp(0.0, 1.0))
    }

    /// The waits that were shortened.
    pub fn gaps(&self) -> &[Gap] {
        &self.gaps
    }

    /// The gap that lies around a simulated time, with its whole length.
    pub fn gap_at(&self, at: Time) -> Option<Duration> {
        let gap = self.gaps.iter().rev().find(|gap| gap.from <= at && at < gap.to)?;
        Some(gap.to.since(gap.from))
    }

    /// Forgets what lies after `at`.
    pub fn truncate(&mut self, at: Time) {
        let shown = self.shown_of(at);
        self.knots.retain(|knot| knot.0 < at);
        self.knots.push((at, shown));
        self.gaps.retain(|gap| gap.from < at);
        if let Some(gap) = self.gaps.last_mut() {
            gap.to = gap.to.min(at);
        }
        self.recent.clear();
    }
}

fn is_idle(activity: Activity) -> bool {
    activity.thinking == 0 && activity.flying == 0
}

fn is_gap(from: Time, wakes: Time) -> bool {
    wakes.since(from).as_secs_f64() * 1e3 > WAIT_MAX_MS
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDLE: Activity = Activity { thinking: 0, flying: 0 };
    const FLYING: Activity = Activity { thinking: 0, flying: 1 };
    const THINKING: Activity = Activity { thinking: 1, flying: 0 };

    #[test]
    fn a_pass_is_given_time_to_be_seen() {
        let mut curve = Curve::default();
        curve.extend(Time::ZERO + THINK, THINKING, None);
        assert!((curve.shown_end() - PASS_SHOWN_MS).abs() < 1e-6);
    }

    #[test]
    fn a_long_wait_becomes_a_gap_even_if_upkeep_interrupts_it() {
        let mut curve = Curve::default();
        let wakes = Some(Time::from_secs(12));
        curve.extend(Time::from_secs(5), IDLE, wakes);
        curve.extend(Time::from_secs(12), IDLE, wakes);
        assert!((curve.shown_end() - GAP_SHOWN_MS).abs() < 1.0, "{}", curve.shown_end());
        assert_eq!(curve.gap_at(Time::from_secs(6)), Some(Duration::from_secs(12)));
        assert_eq!(curve.gap_at(Time::from_secs(12)), None);
    }

    #[test]
    fn a_short_wait_is_shown_as_it_is() {
        let mut curve = Curve::default();
        curve.extend(Time::from_secs(1), IDLE, Some(Time::from_secs(1)));
        assert!((curve.shown_end() - 1_000.0).abs() < 1e-6);
    }

    #[test]
    fn shown_and_simulated_time_are_each_others_inverse() {
        let mut curve = Curve::default();
        curve.extend(Time::from_millis(40), FLYING, None);
        curve.extend(Time::from_millis(46), THINKING, None);
        curve.extend(Time::from_secs(9), IDLE, Some(Time::from_secs(9)));
        for ms in [1, 20, 41, 45, 100, 5_000] {
            let at = Time::from_millis(ms);
            let back = curve.time_of(curve.shown_of(at));
            assert!(back.as_secs_f64() - at.as_secs_f64() < 1e-6, "{ms} ms came back as {back:?}");
        }
    }

    #[test]
    fn a_crowd_of_passes_is_shown_faster() {
        let mut curve = Curve::default();
        let alone = curve.stretch(Time::from_millis(6), THINKING, None);
        (0..48).for_each(|_| curve.note_pass());
        assert!((curve.stretch(Time::from_millis(6), THINKING, None) - alone / 4.0).abs() < 1e-6);
    }
}
