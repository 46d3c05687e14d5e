//! Going from one future of a session to another: undo, redo, and what was left.

use std::sync::Arc;

use crate::kernel::Time;

use super::build;
use super::futures::{Future, Left};
use super::known::Readings;
use super::session::{SEEK_BUDGET, Session};

/// Moments that are computed at once of a future that comes back, so that its marks and verdicts
/// stand on the scrubber again.
const AHEAD_BUDGET: u64 = 100_000;

impl Session {
    /// Takes the last input back, and shows the moment at which it was given. If it had cut off
    /// another future, that one is there again.
    pub fn undo(&mut self) -> bool {
        let left = self.left();
        let at = self.futures.undo(left);
        at.map(|at| self.follow(at)).is_some()
    }

    /// Gives the input that was taken back last again.
    pub fn redo(&mut self) -> bool {
        let left = self.left();
        let at = self.futures.redo(left);
        at.map(|at| self.follow(at)).is_some()
    }

    /// Shows another future, where it leaves this one. False: there is no such.
    pub fn show_future(&mut self, id: super::futures::Id) -> bool {
        let left = self.left();
        let fork = self.futures.show(id, left);
        fork.map(|at| self.follow(at)).is_some()
    }

    /// Back to where the scenario opens, with nothing done. What was done is another future.
    pub fn restart(&mut self) {
        let left = self.left();
        self.futures.restart(left);
        self.follow(self.scenario().start());
    }

    /// The other futures, newest first.
    pub fn futures(&self) -> Arc<[Future]> {
        self.known.futures.get(self.run.told(), || self.futures.list().into())
    }

    /// How many futures were dropped because there were too many.
    pub fn futures_dropped(&self) -> u32 {
        self.futures.dropped()
    }

    /// Whether there is something to take back.
    pub fn can_undo(&self) -> bool {
        self.futures.can_undo_redo().0
    }

    /// Whether there is something to give again.
    pub fn can_redo(&self) -> bool {
        self.futures.can_undo_redo().1
    }

    /// How the future that is shown stands.
    pub(super) fn left(&self) -> Left {
        let lanes = self.run.lanes().iter().map(|lane| {
            let last = self.run.turns(lane.id).next_back();
            let (since, verdict) = last.map(|(_, at, it)| (at, it.clone())).unwrap_or_default();
            (lane.id, build::verdict_view(&verdict, since))
        });
        Left { end: self.run.end(), outcome: lanes.collect() }
    }

    /// Makes the run follow the branch that is shown now, and goes to a moment of it.
    fn follow(&mut self, at: Time) {
        if let Some(fork) = self.run.replace_inputs(self.futures.inputs(), SEEK_BUDGET) {
            if fork < self.curve.end() {
                self.curve.truncate(fork);
            }
            self.memories.iter_mut().for_each(|(_, memory)| memory.jump());
        }
        self.seek(at);
        if let Some(end) = self.futures.computed().filter(|end| *end > self.run.end()) {
            self.run_mapped(AHEAD_BUDGET, |session| (session.now() < end).then_some(end));
            self.seek(at);
        }
        // Another branch may be shown without a word that is new.
        self.known = Readings::default();
        // What failed in it was told when it was seen first.
        self.run.take_failed();
    }
}
