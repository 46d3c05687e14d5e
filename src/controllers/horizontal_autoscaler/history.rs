//! What the controller remembers of one autoscaler: its past wishes, and the changes that it made.
//! An expired entry gives its place to the next one, so both lists are as long as a window.

use std::time::Duration;

use crate::kernel::Time;

use super::behavior::{Behavior, Changes};

/// Entries kept of each list; more would need a window with more passes than one in 15 s.
const ENTRIES_MAX: usize = 1_000;

/// A change of the size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScaleEvent {
    /// By how much, as a positive number.
    pub change: i32,
    /// When.
    pub at: Time,
    /// Older than the longest period of the policies.
    pub outdated: bool,
}

/// A wish, before stabilization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recommendation {
    /// So many replicas.
    pub replicas: i32,
    /// When.
    pub at: Time,
}

/// What is remembered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// Past wishes.
    pub recommendations: Vec<Recommendation>,
    /// Changes up.
    pub ups: Vec<ScaleEvent>,
    /// Changes down.
    pub downs: Vec<ScaleEvent>,
    /// Whether it was begun; it may be empty and yet not new.
    pub begun: bool,
}

/// The sum of the changes strictly younger than `seconds` (`getReplicasChangePerPeriod`).
pub fn change_within(events: &[ScaleEvent], seconds: i64, now: Time) -> i32 {
    let young = events.iter().filter(|event| is_younger(event.at, seconds, now));
    young.fold(0, |sum, event| sum.saturating_add(event.change))
}

/// Before the start of the run there is no time, so that spans are compared, not moments.
fn is_younger(at: Time, seconds: i64, now: Time) -> bool {
    now.since(at) < span(seconds)
}

fn is_older(at: Time, seconds: i64, now: Time) -> bool {
    now.since(at) > span(seconds)
}

fn span(seconds: i64) -> Duration {
    Duration::from_secs(u64::try_from(seconds).unwrap_or(0))
}

impl History {
    /// The size at which the autoscaler was first seen counts as its first wish.
    pub fn begin(&mut self, current: i32, now: Time) {
        if !std::mem::replace(&mut self.begun, true) {
            self.recommendations.push(Recommendation { replicas: current, at: now });
        }
    }

    /// Without `spec.behavior`: the largest wish of the window (`stabilizeRecommendation`).
    pub fn stabilize(&mut self, wish: i32, window: i64, now: Time) -> i32 {
        let mut largest = wish;
        let mut expired = None;
        for (index, past) in self.recommendations.iter().enumerate() {
            if is_older(past.at, window, now) {
                expired = Some(index);
            } else {
                largest = largest.max(past.replicas);
            }
        }
        self.remember(wish, expired, now);
        largest
    }

    /// With `spec.behavior`: the present size, raised to the smallest wish of the up window, then
    /// cut to the largest of the down window (`stabilizeRecommendationWithBehaviors`).
    pub fn stabilize_both(
        &mut self,
        (current, wish): (i32, i32),
        (up, down): (i64, i64),
        now: Time,
    ) -> i32 {
        let (mut smallest, mut largest) = (wish, wish);
        let mut expired = None;
        for (index, past) in self.recommendations.iter().enumerate() {
            if is_younger(past.at, up, now) {
                smallest = smallest.min(past.replicas);
            }
            if is_younger(past.at, down, now) {
                largest = largest.max(past.replicas);
            }
            if is_older(past.at, up, now) && is_older(past.at, down, now) {
                expired = Some(index);
            }
        }
        self.remember(wish, expired, now);
        current.max(smallest).min(largest)
    }

    fn remember(&mut self, replicas: i32, expired: Option<usize>, now: Time) {
        let new = Recommendation { replicas, at: now };
        match expired.and_then(|index| self.recommendations.get_mut(index)) {
            Some(slot) => *slot = new,
            None => keep(&mut self.recommendations, new),
        }
    }

    /// Notes a change of the size that went through (`storeScaleEvent`). Without `spec.behavior`
    /// nobody asks.
    pub fn scaled(&mut self, behavior: Option<&Behavior>, from: i32, to: i32, now: Time) {
        let Some(behavior) = behavior else { return };
        let (events, rules) = match to > from {
            true => (&mut self.ups, &behavior.up),
            false => (&mut self.downs, &behavior.down),
        };
        store(events, rules.longest_period(), from.abs_diff(to), now);
    }

    /// The changes, to count by.
    pub fn changes(&self) -> Changes<'_> {
        Changes { ups: &self.ups, downs: &self.downs }
    }
}

/// Adds a change in the place of one that no policy asks for any more.
pub fn store(events: &mut Vec<ScaleEvent>, longest_period: i64, change: u32, now: Time) {
    let mut expired = None;
    for (index, event) in events.iter_mut().enumerate() {
        event.outdated |= is_older(event.at, longest_period, now);
        if event.outdated {
            expired = Some(index);
        }
    }
    let change = i32::try_from(change).unwrap_or(i32::MAX);
    let new = ScaleEvent { change, at: now, outdated: false };
    match expired.and_then(|index| events.get_mut(index)) {
        Some(slot) => *slot = new,
        None => keep(events, new),
    }
}

fn keep<T>(list: &mut Vec<T>, new: T) {
    if list.len() >= ENTRIES_MAX {
        list.remove(0);
    }
    list.push(new);
}
