//! The futures of a run. What people do stands in a tree: each input follows upon the one before
//! it, and acting in the past begins another branch. The branch that was cut off is kept, so that
//! taking the fork back restores it exactly, and so that it can be shown again.
//!
//! Undo goes from an input to the branch that was shown when it was given, which is the input
//! before it or, at a fork, the future that it cut off. Since that was there earlier, undoing ends;
//! redo comes back by the same way.

use std::collections::{BTreeMap, BTreeSet};

use crate::kernel::Time;
use crate::scenario::{INPUTS_MAX, Input};

use super::log::LaneId;
use super::stage::VerdictView;

/// Other futures that are kept; above that the oldest goes.
pub const FUTURES_MAX: usize = 20;
/// Inputs that all branches may have together; above that, too, the oldest future goes.
pub const INPUTS_KEPT_MAX: usize = 2 * INPUTS_MAX;
/// Lines of a future that are told.
pub const LINES_TOLD: usize = 5;

/// The number of an input in the tree. Whatever was given later has a higher one.
pub type Id = u32;

#[derive(Clone, Debug, PartialEq)]
struct Node {
    input: Input,
    parent: Option<Id>,
    /// The end of the branch that was shown when it was given.
    before: Option<Id>,
}

/// How a future stood when it was left.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Left {
    /// How far it was computed.
    pub end: Time,
    /// What each lane had come to then.
    pub outcome: Vec<(LaneId, VerdictView)>,
}

/// Another future, as it is told.
#[derive(Clone, Debug, PartialEq)]
pub struct Future {
    /// By which it is asked for.
    pub id: Id,
    /// Where it leaves the run that is shown.
    pub fork: Time,
    /// What is done in it after that, in order; the first few.
    pub lines: Vec<(Time, String)>,
    /// How many more lines there are.
    pub more: usize,
    /// What it came to, if it was ever seen here.
    pub left: Option<Left>,
}

/// The tree, and which branch is shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Futures {
    nodes: BTreeMap<Id, Node>,
    next: Id,
    shown: Option<Id>,
    /// The ends of branches to come back to, the next one last.
    undone: Vec<Id>,
    left: BTreeMap<Id, Left>,
    dropped: u32,
}

/// An input of the tree for a link: which input it follows upon, and which branch it was given on,
/// both by their places in the list.
#[derive(Clone, Debug, PartialEq)]
pub struct Linked {
    /// What was done.
    pub input: Input,
    /// The place of the one before it.
    pub parent: Option<usize>,
    /// The place of the end of the branch that was shown when it was given.
    pub before: Option<usize>,
}

/// A tree as a list, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Listed {
    /// The inputs.
    pub inputs: Vec<Linked>,
    /// The place of the end of the branch that is shown.
    pub shown: Option<usize>,
    /// The places to come back to by redo.
    pub undone: Vec<usize>,
}

impl Futures {
    /// One branch, as it was done.
    pub fn of(inputs: &[Input]) -> Futures {
        let mut futures = Futures::default();
        for input in inputs {
            let (id, before) = (futures.next, futures.shown);
            futures.nodes.insert(id, Node { input: input.clone(), parent: before, before });
            (futures.next, futures.shown) = (id + 1, Some(id));
        }
        futures
    }

    /// How many inputs the branch that is shown has.
    pub fn shown_len(&self) -> usize {
        self.path(self.shown).len()
    }

    /// The inputs of the branch that is shown.
    pub fn inputs(&self) -> Vec<Input> {
        let inputs = self.path(self.shown).into_iter().filter_map(|id| self.nodes.get(&id));
        inputs.map(|node| node.input.clone()).collect()
    }

    /// From the start to this input.
    fn path(&self, end: Option<Id>) -> Vec<Id> {
        let up = std::iter::successors(end, |id| self.nodes.get(id).and_then(|node| node.parent));
        let mut path: Vec<Id> = up.collect();
        path.reverse();
        path
    }

    /// Something is done after the first `done` inputs of the branch that is shown. What came
    /// after them, and what was undone, stays as another future; `left` says how it stood.
    pub fn note(&mut self, input: Input, done: usize, left: Option<Left>) {
        let path = self.path(self.shown);
        let parent = done.checked_sub(1).and_then(|last| path.get(last).copied());
        if parent != self.shown {
            self.leave(left);
        }
        let id = self.next;
        self.next += 1;
        self.nodes.insert(id, Node { input, parent, before: self.shown });
        self.shown = Some(id);
        self.undone.clear();
        self.prune(FUTURES_MAX);
    }

    fn leave(&mut self, left: Option<Left>) {
        if let (Some(id), Some(left)) = (self.shown, left) {
            self.left.insert(id, left);
        }
    }

    /// Takes the last input back; says when it was given. None: nothing was done.
    pub fn undo(&mut self, left: Left) -> Option<Time> {
        let last = self.shown?;
        let node = self.nodes.get(&last)?;
        // The branch it was given on may have been dropped since.
        let before = node.before.filter(|before| self.nodes.contains_key(before));
        let (to, at) = (before.or(node.parent), node.input.given);
        self.leave(Some(left));
        self.undone.push(last);
        self.shown = to;
        Some(at)
    }

    /// Gives the input that was taken back last again; says when.
    pub fn redo(&mut self, left: Left) -> Option<Time> {
        let again = self.undone.pop()?;
        let at = self.nodes.get(&again)?.input.given;
        self.leave(Some(left));
        self.shown = Some(again);
        Some(at)
    }

    /// Shows another future; says where it leaves the one that was shown. None: there is no such.
    pub fn show(&mut self, id: Id, left: Left) -> Option<Time> {
        self.nodes.get(&id)?;
        let (_, fork) = self.beyond(id, &self.path(self.shown));
        self.leave(Some(left));
        self.undone.clear();
        self.shown = Some(id);
        self.prune(FUTURES_MAX);
        Some(fork)
    }

    /// Shows the start, with nothing done.
    pub fn restart(&mut self, left: Left) {
        self.leave(Some(left));
        self.undone.clear();
        self.shown = None;
        self.prune(FUTURES_MAX);
    }

    /// How far the branch that is shown was computed when it was left last.
    pub fn computed(&self) -> Option<Time> {
        Some(self.left.get(&self.shown?)?.end)
    }

    /// Whether there is something to take back, and to give again.
    pub fn can_undo_redo(&self) -> (bool, bool) {
        (self.shown.is_some(), !self.undone.is_empty())
    }

    /// How many futures were dropped because there were too many.
    pub fn dropped(&self) -> u32 {
        self.dropped
    }

    /// The ends of the branches that are neither shown nor a mere redo away, oldest first.
    fn others(&self) -> Vec<Id> {
        let mut inner: BTreeSet<Id> = self.nodes.values().filter_map(|node| node.parent).collect();
        inner.extend(self.shown);
        inner.extend(&self.undone);
        self.nodes.keys().copied().filter(|id| !inner.contains(id)).collect()
    }

    /// The other futures, newest first.
    pub fn list(&self) -> Vec<Future> {
        let shown = self.path(self.shown);
        let told = self.others().into_iter().rev().map(|id| {
            let (own, fork) = self.beyond(id, &shown);
            let lines = own.iter().take(LINES_TOLD).filter_map(|id| self.nodes.get(id));
            let lines: Vec<(Time, String)> =
                lines.map(|node| (node.input.at, node.input.line.clone())).collect();
            let more = own.len() - lines.len();
            Future { id, fork, lines, more, left: self.left.get(&id).cloned() }
        });
        told.collect()
    }

    /// What a branch has beyond what it shares with the one that is shown, and when the two begin
    /// to differ.
    fn beyond(&self, end: Id, shown: &[Id]) -> (Vec<Id>, Time) {
        let mut own = self.path(Some(end));
        let from = own.iter().zip(shown).take_while(|(a, b)| a == b).count();
        let first = [own.get(from), shown.get(from)].into_iter().flatten();
        let at = first.filter_map(|id| Some(self.nodes.get(id)?.input.given)).min();
        (own.split_off(from), at.unwrap_or_default())
    }

    /// Drops the oldest of the other futures until there are at most so many.
    pub fn prune(&mut self, most: usize) {
        let others = self.others();
        let surplus = others.len().saturating_sub(most);
        for (number, id) in others.into_iter().enumerate() {
            if number >= surplus && self.nodes.len() <= INPUTS_KEPT_MAX {
                break;
            }
            self.drop_branch(id);
            self.dropped += 1;
        }
    }

    /// Drops what cannot be shown without a redo, too.
    pub fn forget_undone(&mut self) {
        self.undone.clear();
        self.prune(0);
    }

    fn drop_branch(&mut self, end: Id) {
        let mut next = Some(end);
        while let Some(id) = next {
            let has_followers = self.nodes.values().any(|node| node.parent == Some(id));
            if has_followers || self.shown == Some(id) || self.undone.contains(&id) {
                return;
            }
            next = self.nodes.remove(&id).and_then(|node| node.parent);
            self.left.remove(&id);
        }
    }

    /// The tree as a list, for a link.
    pub fn listed(&self) -> Listed {
        let places: BTreeMap<Id, usize> =
            self.nodes.keys().enumerate().map(|(place, id)| (*id, place)).collect();
        let place = |id: Option<Id>| id.and_then(|id| places.get(&id).copied());
        let inputs = self.nodes.values().map(|node| Linked {
            input: node.input.clone(),
            parent: place(node.parent),
            before: place(node.before),
        });
        Listed {
            inputs: inputs.collect(),
            shown: place(self.shown),
            undone: self.undone.iter().filter_map(|id| place(Some(*id))).collect(),
        }
    }

    /// The tree that a list describes. None: it describes none.
    pub fn from_list(list: Listed) -> Option<Futures> {
        let mut futures = Futures::default();
        let id = |place: usize| Id::try_from(place).ok();
        let earlier = |place: Option<usize>, than: usize| place.is_none_or(|place| place < than);
        let count = list.inputs.len();
        for (place, linked) in list.inputs.into_iter().enumerate() {
            if !earlier(linked.parent, place) || !earlier(linked.before, place) {
                return None;
            }
            let (parent, before) = (linked.parent.and_then(id), linked.before.and_then(id));
            let since = parent.and_then(|id| futures.nodes.get(&id)).map(|node| node.input.given);
            if since.is_some_and(|since| since > linked.input.given) {
                return None;
            }
            futures.nodes.insert(id(place)?, Node { input: linked.input, parent, before });
        }
        if !earlier(list.shown, count) || !list.undone.iter().all(|place| *place < count) {
            return None;
        }
        futures.next = id(count)?;
        futures.shown = list.shown.and_then(id);
        futures.undone = list.undone.into_iter().filter_map(id).collect();
        futures.prune(FUTURES_MAX);
        futures.dropped = 0;
        Some(futures)
    }
}

#[cfg(test)]
#[path = "futures_tests.rs"]
mod tests;
