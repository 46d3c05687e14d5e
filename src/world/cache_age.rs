//! How old a cache is: the oldest change that it should show and has not heard of. That may be
//! under way or held, lost on the wire, or not even sent because the watch is broken.

use std::time::Duration;

use crate::api::{Kind, ObjectKey};
use crate::kernel::Time;

use super::ControllerId;
use super::stream::Stream;
use super::watching::is_upkeep;
use super::world::World;

/// Lost messages of a watch that are remembered.
const LOST_MAX: usize = 256;

/// What a cache has not heard of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unheard {
    /// How many changes.
    pub changes: u32,
    /// When the oldest was made.
    pub since: Option<Time>,
}

impl Unheard {
    fn add(&mut self, changes: usize, since: Option<Time>) {
        self.changes = self.changes.saturating_add(u32::try_from(changes).unwrap_or(u32::MAX));
        self.since = self.since.into_iter().chain(since).min();
    }

    /// How old the cache is by now.
    pub fn age(self, now: Time) -> Duration {
        self.since.map_or(Duration::ZERO, |since| now.since(since))
    }
}

impl Stream {
    /// A message was lost on the wire: the cache does not know what it told.
    pub(super) fn lose(&mut self, object: ObjectKey, sent: Time) {
        if self.lost.len() < LOST_MAX {
            self.lost.push((object, sent));
        }
    }

    /// The object is heard of again, and with it all that was lost of it.
    pub(super) fn hear_of(&mut self, object: &ObjectKey) {
        if !self.lost.is_empty() {
            self.lost.retain(|(lost, _)| lost != object);
        }
    }
}

impl World {
    /// What the cache of a process has not heard of. Leases and Events, of which no loop makes
    /// anything, do not count.
    pub fn unheard_by(&self, id: ControllerId) -> Unheard {
        let process = self.processes.get(&id).filter(|process| process.alive);
        let streams = process.map_or(&[][..], |process| &process.streams);
        let mut unheard = Unheard::default();
        for stream in streams.iter().filter_map(|index| self.streams.get(*index)) {
            if matches!(stream.kind, Kind::Lease | Kind::Event) {
                continue;
            }
            let oldest = stream.flights.front().and_then(|flight| self.flights.get(flight));
            unheard.add(stream.flights.len(), oldest.map(|oldest| oldest.sent));
            self.add_what_was_never_sent(stream, &mut unheard);
        }
        unheard
    }

    /// When the oldest change was made that the cache of some running process has not heard of.
    pub fn oldest_unheard(&self) -> Option<Time> {
        let mut unheard = Unheard { changes: 0, since: self.oldest_flight() };
        for stream in self.streams.iter().filter(|stream| !stream.open || !stream.lost.is_empty()) {
            let alive = self.processes.get(&stream.owner).is_some_and(|process| process.alive);
            if alive && !matches!(stream.kind, Kind::Lease | Kind::Event) {
                self.add_what_was_never_sent(stream, &mut unheard);
            }
        }
        unheard.since
    }

    fn add_what_was_never_sent(&self, stream: &Stream, unheard: &mut Unheard) {
        unheard.add(stream.lost.len(), stream.lost.first().map(|(_, sent)| *sent));
        if stream.open {
            return;
        }
        // Of what is compacted away it only is known that it is older than all that is left.
        let from = stream.revision.max(self.store().compacted());
        let missed = self.store().since(from).into_iter().flatten().filter(|commit| {
            !is_upkeep(commit) && commit.seen_through(|object| stream.selects(object)).is_some()
        });
        let mut missed = missed.map(|commit| commit.at);
        let oldest = missed.next();
        unheard.add(usize::from(oldest.is_some()) + missed.count(), oldest);
    }
}
