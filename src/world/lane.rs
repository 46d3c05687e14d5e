//! Two clusters under one clock. What happened in a lane is kept here, outside the world, so that a
//! checkpoint of a world is cheap.

use std::collections::VecDeque;
use std::time::Duration;

use crate::api::{ObjectKey, Str};
use crate::kernel::Time;

use super::options::{Flavour, Options};
use super::record::{Occurrence, Record};
use super::verdict::Verdict;
use super::world::World;

/// Which lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LaneId {
    /// The edge-triggered cluster.
    Edge,
    /// The level-triggered cluster.
    Level,
}

impl LaneId {
    /// Its word in a scenario file and in a link.
    pub fn word(self) -> &'static str {
        match self {
            LaneId::Edge => "edge",
            LaneId::Level => "level",
        }
    }

    /// The lane of this word.
    pub fn parse(word: &str) -> Option<LaneId> {
        [LaneId::Edge, LaneId::Level].into_iter().find(|lane| lane.word() == word)
    }

    fn flavour(self) -> Flavour {
        match self {
            LaneId::Edge => Flavour::Edge,
            LaneId::Level => Flavour::Level,
        }
    }
}

/// Turns of one field within this span count as oscillation ...
const OSCILLATION_WINDOW: Duration = Duration::from_secs(120);
/// ... if there are so many of them.
const OSCILLATION_TURNS: usize = 4;

/// Who writes, and what.
type Side = (Str, i32);

/// One cluster of a comparison.
#[derive(Clone, Debug)]
pub struct Lane {
    /// Which.
    pub id: LaneId,
    /// The cluster.
    pub world: World,
    /// Recent changes of `spec.replicas`.
    scalings: VecDeque<Record>,
    /// What they come to, looked at only when they change.
    oscillation: Option<Verdict>,
}

impl Lane {
    /// A lane with a running cluster.
    pub fn new(id: LaneId, options: Options) -> Lane {
        let world = World::new(Options { flavour: id.flavour(), ..options });
        Lane { id, world, scalings: VecDeque::new(), oscillation: None }
    }

    /// What happened since this was last called.
    pub fn take_records(&mut self) -> Vec<Record> {
        let records = self.world.take_records();
        let scaled = |record: &&Record| matches!(record.what, Occurrence::Scaled { .. });
        let before = self.scalings.len();
        self.scalings.extend(records.iter().filter(scaled).cloned());
        let mut changed = self.scalings.len() != before;
        let since = self.world.now() - OSCILLATION_WINDOW;
        while self.scalings.front().is_some_and(|record| record.at < since) {
            self.scalings.pop_front();
            changed = true;
        }
        if changed {
            self.oscillation = self.find_oscillation();
        }
        records
    }

    /// What the lane has come to.
    pub fn verdict(&self) -> Verdict {
        self.oscillation.clone().unwrap_or_else(|| self.world.verdict())
    }

    /// Two writers that set one field to and fro: the object whose last turn is the newest.
    fn find_oscillation(&self) -> Option<Verdict> {
        let mut seen = std::collections::BTreeSet::new();
        let newest_first = self.scalings.iter().rev().filter_map(|record| match &record.what {
            Occurrence::Scaled { object, .. } => Some(object),
            _ => None,
        });
        let mut objects = newest_first.filter(|object| seen.insert((*object).clone()));
        objects.find_map(|object| self.oscillation_of(object))
    }

    fn oscillation_of(&self, object: &ObjectKey) -> Option<Verdict> {
        let own = self.scalings.iter().filter_map(|record| match &record.what {
            Occurrence::Scaled { object: other, from, to, by } if other == object => {
                Some((record.at, *from, (by.clone(), *to)))
            }
            _ => None,
        });
        let own: Vec<(Time, i32, Side)> = own.collect();
        // A turn takes back what another writer did just before.
        let is_turn = |pair: &&[(Time, i32, Side)]| {
            let (_, _, (by_before, to_before)) = &pair[0];
            let (_, from, (by, _)) = &pair[1];
            to_before == from && by_before != by
        };
        let turns: Vec<_> = own.windows(2).filter(is_turn).collect();
        let [(_, _, one), (last, _, other)] = turns.last()? else { return None };
        if turns.len() < OSCILLATION_TURNS {
            return None;
        }
        // Two turns are a round.
        let rest = u32::try_from(turns.len() - 1).unwrap_or(u32::MAX);
        let period = last.since(turns[0][1].0) * 2 / rest;
        Some(Verdict::Oscillating {
            object: object.clone(),
            field: "spec.replicas".into(),
            sides: [one.clone(), other.clone()],
            period,
            turns: turns.len() as u32,
        })
    }
}

/// Lanes under one clock.
#[derive(Clone, Debug)]
pub struct Simulation {
    /// The lanes, edge first.
    pub lanes: Vec<Lane>,
    now: Time,
}

impl Simulation {
    /// Lanes of these flavours, each with its options.
    pub fn new(lanes: &[LaneId], options: impl Fn(LaneId) -> Options) -> Simulation {
        let mut ids = lanes.to_vec();
        ids.sort();
        ids.dedup();
        let lanes = ids.into_iter().map(|id| Lane::new(id, options(id))).collect();
        Simulation { lanes, now: Time::ZERO }
    }

    /// The time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The lane of this name.
    pub fn lane(&self, id: LaneId) -> Option<&Lane> {
        self.lanes.iter().find(|lane| lane.id == id)
    }

    /// The lane of this name, to act on.
    pub fn lane_mut(&mut self, id: LaneId) -> Option<&mut Lane> {
        self.lanes.iter_mut().find(|lane| lane.id == id)
    }

    /// When something is due next in any lane, upkeep included.
    pub fn next_time(&self) -> Option<Time> {
        self.lanes.iter().filter_map(|lane| lane.world.next_time()).min()
    }

    /// Runs all lanes until `until`, at most `budget` steps each; returns how far all of them came.
    pub fn run_until(&mut self, until: Time, budget: u64) -> Time {
        let mut reached = until;
        for lane in &mut self.lanes {
            if !lane.world.run_until(until, budget) {
                reached = reached.min(lane.world.now());
            }
        }
        self.now = self.now.max(reached);
        reached
    }
}
