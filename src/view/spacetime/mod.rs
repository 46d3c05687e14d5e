//! A run as a space-time diagram: a column for each component, time downwards, messages as arrows,
//! passes as bars, what a person and the faults did as dots. Here it is data; `layout` lays it out,
//! and the page draws it.
//!
//! Of the watch events it has those that woke a pass and those that met a fault: a change fans out
//! to every loop that watches, and most of it changes nothing. The others come with them if they
//! are asked for, those around the moment that is shown.

mod book;
mod build;
mod choose;
pub mod layout;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use crate::api::{ObjectKey, Str};
use crate::apiserver::{Verb, WatchEventType};
use crate::kernel::Time;
use crate::scenario::Run;
use crate::world::LaneId;

use super::log::Divergence;
use super::stage::{LoopId, PassView};

/// Passes of one lane that a diagram has at most.
pub const PASSES_MAX: usize = 80;
/// Watch events that woke none of the passes drawn, of one lane, that a diagram has at most.
pub const EVENTS_MAX: usize = 240;
/// Objects that are offered to follow at most.
const OBJECTS_MAX: usize = 100;

/// What is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    /// What is of interest.
    pub focus: Focus,
    /// Of this lane only.
    pub lane: Option<LaneId>,
    /// Not older than this before the moment that is shown.
    pub within: Option<Duration>,
    /// Also passes that found nothing to do.
    pub idle: bool,
    /// Also watch events that woke none of the passes drawn (of all, or of one object).
    pub every_event: bool,
}

impl Ask {
    /// Whether something of this lane is drawn.
    fn draws(&self, lane: LaneId) -> bool {
        // A pass is in one lane, whichever was asked for.
        let only = match &self.focus {
            Focus::Pass(of, _) => Some(*of),
            _ => self.lane,
        };
        only.is_none_or(|only| only == lane)
    }
}

/// What is of interest.
#[derive(Clone, Debug, PartialEq)]
pub enum Focus {
    /// All that happened.
    Everything,
    /// What led to the pass of this number in this lane.
    Pass(LaneId, u64),
    /// What led to the differing decision of this place in the list, in both lanes.
    Divergence(usize),
    /// What has to do with this object.
    Object(ObjectKey),
}

/// The diagram.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diagram {
    /// The lanes, side by side on one time axis.
    pub lanes: Vec<LaneId>,
    /// The columns of each lane.
    pub columns: Vec<Place>,
    /// What is drawn, in order of time.
    pub items: Vec<Item>,
    /// The differing decisions among it: when, and their place in the list.
    pub divergences: Vec<(Time, usize)>,
    /// Passes that would belong here too and were left out.
    pub left_out: usize,
    /// Watch events that would, too.
    pub events_left_out: usize,
}

/// What a column stands for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// Whoever acts from outside: a person, the scenario, a fault.
    People,
    /// The API server.
    Server,
    /// A loop.
    Loop(LoopId),
    /// The kubelet of a node.
    Kubelet(Str),
}

/// What tells items of one lane apart, in every diagram of the same run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ItemId {
    /// An input: whether of the scenario, and its number.
    Input(bool, usize),
    /// The watch event that woke this pass.
    Waking(u64),
    /// Another watch event, by its place among all that arrived.
    Arrival(usize),
    /// A message that met a fault, by its place in the story.
    Struck(usize),
    /// A process died or started, by its place in the story.
    Life(usize),
    /// A pass.
    Pass(u64),
    /// A request of this pass, or some of a kind: the first of them.
    Request(u64, usize),
}

/// Something drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// Which.
    pub id: ItemId,
    /// In which lane.
    pub lane: LaneId,
    /// What.
    pub what: What,
    /// Where it begins: the column (its place in `Diagram::columns`) and when.
    pub from: (usize, Time),
    /// Where it ends.
    pub to: (usize, Time),
    /// Items that it came from, the nearest first (their places in `Diagram::items`).
    pub causes: Vec<usize>,
}

/// What an item is.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// A console line of somebody, or of the scenario.
    Did {
        /// The line.
        line: Str,
        /// Whether the scenario did it.
        of_script: bool,
    },
    /// A fault was set.
    Fault {
        /// Its console line.
        line: Str,
    },
    /// A watch event.
    Watch {
        /// What it tells.
        event: WatchEventType,
        /// Of which object.
        object: ObjectKey,
        /// Of which revision.
        revision: u64,
        /// What became of it.
        end: End,
    },
    /// A pass of a loop.
    Pass(LoopId, Box<PassView>),
    /// Requests of one pass that are alike.
    Request {
        /// What was asked.
        verb: Verb,
        /// Of which object; of some, the first.
        object: ObjectKey,
        /// How many.
        count: u32,
        /// The revision that came of it, or the refusal.
        outcome: Result<u64, (u16, Arc<str>)>,
    },
    /// A process died.
    Died(LoopId),
    /// A process started.
    Started(LoopId),
}

/// What becomes of a watch event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It arrived.
    Heard,
    /// It woke a pass that found nothing to do and is not drawn.
    WokeIdle,
    /// Its loop had no use for it, or it fell together with what waited in the queue already.
    Unheeded,
    /// It arrived late.
    Late,
    /// It arrived twice.
    Doubled,
    /// It arrived after its successor.
    Overtaken,
    /// It was struck, and has not woken anybody yet.
    Held,
    /// It was lost at the door of its loop: only the cache knows.
    LostAtDoor,
    /// It was lost on the wire: not even the cache knows.
    LostOnWire,
}

impl End {
    /// Whether the loop never hears of it.
    pub fn is_lost(self) -> bool {
        matches!(self, End::LostAtDoor | End::LostOnWire)
    }

    /// Whether it changed nothing that is drawn.
    pub fn is_quiet(self) -> bool {
        matches!(self, End::WokeIdle | End::Unheeded)
    }
}

impl Diagram {
    /// The item of this lane and identity.
    pub fn find(&self, lane: LaneId, id: ItemId) -> Option<usize> {
        self.items.iter().position(|item| item.lane == lane && item.id == id)
    }

    /// Items that came from this one.
    pub fn effects(&self, index: usize) -> impl Iterator<Item = usize> + '_ {
        let after = self.items.iter().enumerate();
        after.filter(move |(_, item)| item.causes.contains(&index)).map(|(at, _)| at)
    }

    /// Its nearest cause and its first effect; before and after it in its own lane.
    pub fn step(&self, index: usize, step: Step) -> Option<usize> {
        let item = self.items.get(index)?;
        let same = |at: &usize| self.items.get(*at).is_some_and(|other| other.lane == item.lane);
        match step {
            Step::Cause => item.causes.first().copied(),
            Step::Effect => self.effects(index).next(),
            Step::Before => (0..index).rev().find(same),
            Step::After => (index + 1..self.items.len()).find(same),
        }
    }

    /// The items of the other lanes and of this one that are the causes of an item, and theirs.
    pub fn chain(&self, index: usize) -> Vec<usize> {
        let mut chain = vec![index];
        let mut next = 0;
        while let Some(item) = chain.get(next).and_then(|at| self.items.get(*at)) {
            let more: Vec<usize> =
                item.causes.iter().copied().filter(|cause| !chain.contains(cause)).collect();
            chain.extend(more);
            next += 1;
        }
        chain
    }
}

/// A step from one item to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// To what it came from.
    Cause,
    /// To what came of it.
    Effect,
    /// To the one before it in time.
    Before,
    /// To the one after it.
    After,
}

/// The diagram of what was asked for, as far as the run was computed.
pub fn diagram(run: &Run, divergences: &[Divergence], ask: &Ask) -> Diagram {
    let drawn = run.lanes().iter().filter(|lane| ask.draws(lane.id));
    let books: Vec<book::Book> = drawn.map(|lane| book::Book::of(run, lane)).collect();
    let chosen = choose::choose(run, &books, divergences, ask);
    build::build(&books, divergences, &chosen)
}

/// Objects that passes were about, to be followed one by one.
pub fn objects(run: &Run) -> Vec<ObjectKey> {
    const ENTRIES_MAX: usize = 20_000;
    let newest = |lane: &crate::world::Lane| run.story(lane.id).iter().rev().take(ENTRIES_MAX);
    let passes = run.lanes().iter().flat_map(newest);
    let mut keys = std::collections::BTreeSet::new();
    for pass in passes.filter_map(super::passes::ended) {
        if keys.len() >= OBJECTS_MAX {
            break;
        }
        keys.insert(&pass.key);
    }
    keys.into_iter().cloned().collect()
}
