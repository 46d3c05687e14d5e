//! A lane's story, looked up by what the diagram asks for. It is made anew for each diagram, so
//! only the newest part of a long story is read.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::api::ObjectKey;
use crate::apiserver::WatchEventType;
use crate::kernel::Time;
use crate::scenario::{Entry, Input, Run, Told};
use crate::view::passes::{doer_of, put_back_by};
use crate::world::{Arrival, Cause, ControllerId, Lane, LaneId, Occurrence, PassRecord, Trip};

use super::ItemId;

/// Entries read: around the moment that is shown.
const ENTRIES_BEFORE: usize = 20_000;
const ENTRIES_AFTER: usize = 5_000;

/// A watch event that met a fault.
pub struct Struck<'a> {
    /// Whose event.
    pub to: ControllerId,
    /// What it tells.
    pub event: WatchEventType,
    /// Of which object.
    pub object: &'a ObjectKey,
    /// The fault's verb.
    pub how: &'static str,
    /// Its way, as it would have been.
    pub trip: Trip,
    /// Whether it was struck on the wire.
    pub on_wire: bool,
    /// When it was struck.
    pub at: Time,
}

/// What is known of a lane.
pub struct Book<'a> {
    /// The lane.
    pub lane: &'a Lane,
    /// The run.
    pub run: &'a Run,
    entries: &'a [Entry],
    /// All watch events that arrived without a fault, in order of their arrival.
    pub arrivals: &'a [Arrival],
    /// Passes by number.
    pub passes: BTreeMap<u64, &'a Arc<PassRecord>>,
    /// Passes by the watch event that woke them: of which loop, and its revision.
    woken: BTreeMap<(ControllerId, u64), u64>,
    /// Who made a revision: the pass, and which of its requests.
    writers: BTreeMap<u64, (u64, usize)>,
    /// Struck messages, by their place in the story.
    pub struck: BTreeMap<usize, Struck<'a>>,
    /// Processes that died (false) or started (true), by their place in the story.
    pub lives: BTreeMap<usize, (Time, ControllerId, bool)>,
}

impl<'a> Book<'a> {
    /// Reads a lane's story around the present moment.
    pub fn of(run: &'a Run, lane: &'a Lane) -> Book<'a> {
        let past = run.past(lane.id).len();
        let story = run.story(lane.id);
        let from = past.saturating_sub(ENTRIES_BEFORE);
        let to = past.saturating_add(ENTRIES_AFTER).min(story.len());
        let entries = story.get(from..to).unwrap_or_default();
        let mut book = Book {
            lane,
            run,
            entries,
            arrivals: run.arrivals(lane.id),
            woken: BTreeMap::new(),
            passes: BTreeMap::new(),
            writers: BTreeMap::new(),
            struck: BTreeMap::new(),
            lives: BTreeMap::new(),
        };
        entries.iter().enumerate().for_each(|(place, entry)| book.note(from + place, entry));
        book
    }

    fn note(&mut self, place: usize, entry: &'a Entry) {
        match &entry.what {
            Told::World(Occurrence::PassEnded(pass)) => {
                self.passes.insert(pass.number, pass);
                if let Cause::Watch(_, _, trip) = &pass.woken_by {
                    self.woken.entry((pass.controller, trip.revision)).or_insert(pass.number);
                }
                for (index, act) in pass.acts.iter().enumerate() {
                    if let Ok(revision) = act.outcome
                        && pass.wrote.contains(&revision)
                    {
                        self.writers.entry(revision).or_insert((pass.number, index));
                    }
                }
                // Of more requests than are remembered one by one.
                for revision in &pass.wrote {
                    let last = pass.acts.len().saturating_sub(1);
                    self.writers.entry(*revision).or_insert((pass.number, last));
                }
            }
            Told::World(Occurrence::Struck { to, event, object, how, trip, on_wire }) => {
                let (to, event, trip, on_wire) = (*to, *event, *trip, *on_wire);
                let struck = Struck { to, event, object, how, trip, on_wire, at: entry.at };
                self.struck.insert(place, struck);
            }
            Told::World(Occurrence::Killed(id)) => {
                self.lives.insert(place, (entry.at, *id, false));
            }
            Told::World(Occurrence::Started(id)) => {
                self.lives.insert(place, (entry.at, *id, true));
            }
            _ => {}
        }
    }

    /// The pass that the watch event of a revision woke in a loop, if it woke one.
    pub fn woken(&self, id: ControllerId, revision: u64) -> Option<u64> {
        self.woken.get(&(id, revision)).copied()
    }

    /// Which lane.
    pub fn id(&self) -> LaneId {
        self.lane.id
    }

    /// An input by whether it is the scenario's, and its number.
    pub fn input(&self, of_script: bool, number: usize) -> Option<&'a Input> {
        let inputs = if of_script { self.run.script() } else { self.run.inputs() };
        inputs.get(number)
    }

    /// The inputs of this lane with their identity, as far as the run was computed.
    pub fn inputs(&self) -> impl Iterator<Item = (ItemId, &'a Input)> + '_ {
        let numbered = |of_script: bool, inputs: &'a [Input]| {
            let inputs = inputs.iter().enumerate();
            inputs.map(move |(number, input)| (ItemId::Input(of_script, number), input))
        };
        let all = numbered(true, self.run.script()).chain(numbered(false, self.run.inputs()));
        let end = self.run.end();
        all.filter(move |(_, input)| input.at <= end && input.lanes.includes(self.lane.id))
    }

    /// What made a revision that a watch event told of: a request, or what somebody did just then.
    pub fn behind_write(&self, revision: u64, sent: Time) -> Option<ItemId> {
        if let Some((pass, act)) = self.writers.get(&revision) {
            return Some(ItemId::Request(*pass, *act));
        }
        let doer = doer_of(self.run, self.lane.id, sent, revision)?;
        Some(ItemId::Input(doer.of_script, doer.number))
    }

    /// The fault that struck a message.
    pub fn behind_struck(&self, struck: &Struck) -> Option<ItemId> {
        let name = struck.to.name();
        let set = |(_, input): &(ItemId, &Input)| {
            let mut words = input.line.split_whitespace();
            let verb = words.nth(1).unwrap_or_default();
            let to = words.find_map(|word| word.strip_prefix("to=")).unwrap_or(name);
            let meant = to.split('/').next() == Some(name);
            input.at <= struck.at && input.is_fault() && verb == struck.how && meant
        };
        self.inputs().filter(set).max_by_key(|(_, input)| input.at).map(|(id, _)| id)
    }

    /// The fault or console line by which a process died or started, if it was one.
    pub fn behind_life(&self, at: Time) -> Option<ItemId> {
        self.inputs().filter(|(_, input)| input.at == at).last().map(|(id, _)| id)
    }

    /// What a pass came from, the nearest first: one thing, but for a pass that looked again by
    /// itself. That one came from all that its loop had not been told in time.
    pub fn behind_pass(&self, pass: &PassRecord) -> Vec<ItemId> {
        let woken = match &pass.woken_by {
            Cause::Watch(..) => return vec![ItemId::Waking(pass.number)],
            Cause::List => self.start_of(pass).map(ItemId::Life),
            Cause::Retry | Cause::Timer => {
                put_back_by(self.entries, pass).map(|earlier| ItemId::Pass(earlier.number))
            }
            Cause::Resync | Cause::Poll => None,
        };
        let mut behind: Vec<ItemId> = woken.into_iter().collect();
        if !pass.does.is_empty() && !matches!(pass.woken_by, Cause::Retry) {
            let lost = self.untold(pass.controller, pass.started);
            behind.extend(lost.into_iter().map(ItemId::Struck));
        }
        behind
    }

    fn start_of(&self, pass: &PassRecord) -> Option<usize> {
        let mut starts = self.lives.iter().rev();
        let own =
            starts.find(|(_, (at, id, up))| *up && *id == pass.controller && *at <= pass.started);
        own.map(|(place, _)| *place)
    }

    /// Messages that were lost to a loop by a moment, since it last acted on its own; the newest
    /// `UNTOLD_MAX`.
    pub fn untold(&self, id: ControllerId, by: Time) -> Vec<usize> {
        const UNTOLD_MAX: usize = 8;
        let alone = |pass: &&&Arc<PassRecord>| {
            pass.controller == id
                && pass.started < by
                && !pass.does.is_empty()
                && matches!(pass.woken_by, Cause::Resync | Cause::List)
        };
        let since = self.passes.values().filter(alone).map(|pass| pass.started).max();
        let lost = self.struck.iter().rev().filter(|(_, struck)| {
            struck.to == id
                && struck.how == "drop"
                && struck.at < by
                && since.is_none_or(|since| struck.at >= since)
        });
        let mut places: Vec<usize> = lost.map(|(place, _)| *place).take(UNTOLD_MAX).collect();
        places.reverse();
        places
    }
}
