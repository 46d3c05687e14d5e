//! What is told of a lane: what happened in its world and the verdicts it came to, those of the
//! computed future included.

use std::collections::BTreeMap;

use crate::kernel::Time;
use crate::world::{Arrival, Occurrence, Record, Totals, Verdict};

/// Records kept of each lane; a longer run goes on without telling more.
const ENTRIES_MAX: usize = 300_000;

/// Watch events kept of each lane, apart from the rest: there are many, and only the diagram asks.
const ARRIVALS_MAX: usize = 100_000;

/// Something to tell of a lane.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// When.
    pub at: Time,
    /// What.
    pub what: Told,
}

/// What is told of a lane.
#[derive(Clone, Debug, PartialEq)]
pub enum Told {
    /// Something happened in its world.
    World(Occurrence),
    /// Its verdict changed.
    Verdict(Verdict),
}

/// A verdict that a lane came to: the number of its entry in the story, when, and which.
pub type Turn<'a> = (usize, Time, &'a Verdict);

/// What is told of one lane: all that was computed, and how much of it lies in the past.
#[derive(Clone, Debug, Default)]
pub(super) struct Story {
    /// All of it.
    pub(super) entries: Vec<Entry>,
    /// How many of them have happened by now.
    pub(super) past: usize,
    /// The watch events that arrived, oldest first.
    pub(super) arrivals: Vec<Arrival>,
    /// How many of them have arrived by now.
    pub(super) heard: usize,
    /// What the lane had cost when its verdict changed, by the number of that entry.
    pub(super) totals: BTreeMap<usize, Totals>,
    /// How often it became another one.
    pub(super) changes: u64,
}

impl Story {
    /// Adds an entry; while replaying, it is the one that is there already.
    pub(super) fn push(&mut self, entry: Entry) {
        if self.past == self.entries.len() && self.past < ENTRIES_MAX {
            self.entries.push(entry);
            self.changes += 1;
        }
        self.past = (self.past + 1).min(self.entries.len());
    }

    /// Adds what happened in the world.
    pub(super) fn tell(&mut self, record: Record) {
        match record.what {
            Occurrence::Arrived(arrival) => self.hear(arrival),
            what => self.push(Entry { at: record.at, what: Told::World(what) }),
        }
    }

    fn hear(&mut self, arrival: Arrival) {
        if self.heard == self.arrivals.len() && self.heard < ARRIVALS_MAX {
            self.arrivals.push(arrival);
        }
        self.heard = (self.heard + 1).min(self.arrivals.len());
    }

    /// Adds a verdict, and what the lane has cost until then.
    pub(super) fn turn(&mut self, entry: Entry, totals: Totals) {
        self.totals.insert(self.past, totals);
        self.push(entry);
    }

    /// Takes what happened up to `now` for past, and finds the verdict of then.
    pub(super) fn go_to(&mut self, now: Time) -> Verdict {
        self.past = self.entries.partition_point(|entry| entry.at <= now);
        self.heard = self.arrivals.partition_point(|arrival| arrival.trip.arrived <= now);
        self.turns(self.past).next_back().map_or_else(Verdict::default, |(.., it)| it.clone())
    }

    /// The verdicts among its first entries. A long story is not walked for them.
    pub(super) fn turns(&self, until: usize) -> impl DoubleEndedIterator<Item = Turn<'_>> {
        let numbers = self.totals.range(..until).map(|(number, _)| *number);
        numbers.filter_map(|number| match self.entries.get(number)? {
            Entry { at, what: Told::Verdict(verdict) } => Some((number, *at, verdict)),
            _ => None,
        })
    }

    /// Whether all that happened is told: then the past need not be listened to again.
    pub(super) fn is_whole(&self) -> bool {
        self.entries.len() < ENTRIES_MAX
    }

    pub(super) fn forget_future(&mut self) {
        self.entries.truncate(self.past);
        self.arrivals.truncate(self.heard);
        self.changes += 1;
        self.totals.split_off(&self.past);
    }
}
