//! One object of one lane at the moment that is shown: what is wanted beside what is reported,
//! whose each field is, what changed in each revision, conditions and Events in kubectl's words,
//! and, if it is not as it should be, where in the chain it stopped.

mod choose;
mod diagnosis;
mod family;
mod fields;
mod finding;
#[cfg(test)]
mod finding_tests;
mod notes;
mod revisions;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::api::{Object, ObjectKey, custom};
use crate::kernel::Time;
use crate::scenario::Run;
use crate::world::LaneId;

pub use choose::{choices, counterpart, first, short_of};
pub use family::{Member, MemberKind};
pub use fields::{FieldRow, Line, Owner, ROWS_MAX};
pub use finding::{
    ChainStep, ConditionRow, EventNote, Evidence, Finding, LoopState, Next, Refuser, Step,
    StepState, What, Why,
};
pub use revisions::{FieldChange, REVISIONS_MAX, Revision, RevisionKind, Writer};

/// What changes with every moment: how the object stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// Which object.
    pub key: ObjectKey,
    /// Whether it is there at this moment; if not, the rest tells of it as it was last.
    pub there: bool,
    /// Whether it is being deleted.
    pub terminating: bool,
    /// Its resourceVersion.
    pub revision: u64,
    /// When it was created.
    pub created: Option<Time>,
    /// The chain, from the text to a pod that serves.
    pub steps: Vec<ChainStep>,
    /// What keeps it from being as it should be.
    pub findings: Vec<Finding>,
    /// Whose it is, what is its own, and where it runs.
    pub family: Vec<Member>,
    /// Members that were left out.
    pub family_more: usize,
    /// Its conditions.
    pub conditions: Vec<ConditionRow>,
    /// The Events about it, oldest first.
    pub events: Vec<EventNote>,
}

/// What changes with the object only.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// What is wanted, and what is reported, line by line.
    pub lines: Vec<Line>,
    /// Rows that were left out.
    pub more: usize,
    /// Its revisions, newest first.
    pub revisions: Vec<Revision>,
}

/// How an object stands; none if nothing is known of it.
pub fn standing(run: &Run, lane: LaneId, key: &ObjectKey) -> Option<Standing> {
    let world = &run.lane(lane)?.world;
    let object = revisions::last_known(world, key)?;
    let there = world.store().get(key).is_some();
    let (findings, steps) = diagnosis::of(run, lane, key);
    let (family, family_more) = custom::serving(world.served(), || family::of(world, &object));
    Some(Standing {
        key: key.clone(),
        there,
        terminating: object.meta().is_terminating(),
        revision: object.meta().resource_version,
        created: created(&object),
        steps,
        findings,
        family,
        family_more,
        conditions: notes::condition_rows(&object),
        events: notes::events(world, &object),
    })
}

/// The fields and revisions of an object; none if nothing is known of it. Of what was `known`
/// before a step back in time, the revisions that the run has computed and not taken back stay.
pub fn record(run: &Run, lane: LaneId, key: &ObjectKey, known: Option<&Record>) -> Option<Record> {
    let world = &run.lane(lane)?.world;
    let object = revisions::last_known(world, key)?;
    let (mut revisions, since) = revisions::of(run, lane, key);
    let known = known.map_or(&[] as &[_], |known| &known.revisions);
    revisions.splice(0..0, revisions::later(run, known));
    let (lines, more) = fields::lines(&object, &since);
    Some(Record { lines, more, revisions })
}

/// Why an object is not as it should be.
pub fn findings(run: &Run, lane: LaneId, key: &ObjectKey) -> Vec<Finding> {
    diagnosis::of(run, lane, key).0
}

fn created(object: &Arc<Object>) -> Option<Time> {
    object.meta().creation_timestamp.map(|at| at.to_time())
}
