//! Expectations that a run has still to meet, and what was seen of them so far.

use std::collections::BTreeSet;

use crate::api::Value;
use crate::kernel::Time;
use crate::world::LaneId;

use super::describe::{describe, what};
use super::expect::{check, field_value};
use super::expectation::Expectation;
use super::run::Run;

/// An expectation in words, the lane, and what was seen where it was missed.
pub type Outcome = (String, LaneId, Result<(), String>);

/// An expectation that a lane has still to meet.
pub struct Pending<'a> {
    expectation: &'a Expectation,
    lane: LaneId,
    /// When it is looked at first.
    pub due: Time,
    /// For a window: its end.
    pub until: Option<Time>,
    /// The values that were taken so far.
    seen: BTreeSet<String>,
    /// How many of those in order have come true.
    reached: usize,
    state: State,
    last: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    Met,
    Missed,
}

impl<'a> Pending<'a> {
    /// Each expectation for each lane that it means, in the order in which they are due.
    pub fn all(expectations: &'a [Expectation], run: &Run, end: Time) -> Vec<Pending<'a>> {
        let lanes: Vec<LaneId> = run.lanes().iter().map(|lane| lane.id).collect();
        let each = expectations.iter().flat_map(|expectation| {
            let meant = lanes.iter().filter(|lane| expectation.lanes.includes(**lane));
            meant.map(|lane| Pending::new(expectation, *lane, end))
        });
        let mut all: Vec<Pending> = each.collect();
        all.sort_by_key(|pending| pending.due);
        all
    }

    fn new(expectation: &'a Expectation, lane: LaneId, end: Time) -> Pending<'a> {
        let window = expectation.window();
        let at = window.map(|(from, _)| from).or(expectation.at);
        Pending {
            expectation,
            lane,
            due: at.map_or(end, |at| Time::ZERO + at.0),
            until: window.map(|(_, to)| Time::ZERO + to.0),
            seen: BTreeSet::new(),
            reached: 0,
            state: State::Open,
            last: "not reached".to_string(),
        }
    }

    /// Looks at it, if it is due and open.
    pub fn look(&mut self, run: &Run) {
        let now = run.now();
        let over = self.until.is_some_and(|until| now > until);
        if self.state != State::Open || self.due > now || over {
            return;
        }
        let holds = self.holds(run);
        let is_last = self.until.is_none_or(|until| now == until);
        let throughout = self.expectation.always.is_some();
        match holds {
            Ok(()) if !throughout || is_last => self.state = State::Met,
            Ok(()) => self.last = "the window did not come to its end".to_string(),
            Err(seen) if throughout => {
                self.state = State::Missed;
                self.last = format!("at {:.3} s {seen}", now.as_secs_f64());
            }
            Err(seen) => self.last = seen,
        }
    }

    fn holds(&mut self, run: &Run) -> Result<(), String> {
        check(self.expectation, run, self.lane)?;
        self.in_order(run)?;
        let Some(field) = &self.expectation.field else { return Ok(()) };
        if field.takes.is_empty() && field.changes.is_none() {
            return Ok(());
        }
        if let Some(lane) = run.lane(self.lane) {
            let value = field_value(field, &lane.world).unwrap_or(Value::Null);
            self.seen.insert(value.to_string());
        }
        let taken = |wanted: &Value| self.seen.contains(&wanted.to_string());
        let changed = self.seen.len() > 1;
        match field.takes.iter().all(taken) && field.changes.is_none_or(|is| is == changed) {
            true => Ok(()),
            false => Err(format!("it took {:?}", self.seen)),
        }
    }

    fn in_order(&mut self, run: &Run) -> Result<(), String> {
        while let Some(next) = self.expectation.order.get(self.reached) {
            if let Err(seen) = check(next, run, self.lane) {
                return Err(format!("{} did not come: {seen}", what(next)));
            }
            self.reached += 1;
        }
        Ok(())
    }

    /// Whether it is decided: met, missed, or past its moment or window.
    pub fn is_decided(&self, now: Time, end: Time) -> bool {
        let over = self.until.unwrap_or(self.due).min(end) <= now;
        self.state != State::Open || (over && self.due <= now)
    }

    /// What came of it.
    pub fn outcome(&self) -> Outcome {
        let result = match self.state {
            State::Met => Ok(()),
            State::Open | State::Missed => Err(self.last.clone()),
        };
        (describe(self.expectation), self.lane, result)
    }
}
