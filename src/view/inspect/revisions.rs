//! What became of an object, revision by revision, as far back as the store remembers: who wrote,
//! and which fields changed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::api::{Object, ObjectKey, Str};
use crate::apiserver::Commit;
use crate::kernel::Time;
use crate::scenario::Run;
use crate::view::LoopId;
use crate::view::build::loop_id;
use crate::view::passes::{doer_of, ended};
use crate::world::{ControllerId, LaneId, PassRecord, World};

use super::fields::{Since, leaves};

/// Revisions of one object that are looked at.
pub const REVISIONS_MAX: usize = 120;
/// Changed fields of one revision that are told.
const CHANGES_MAX: usize = 24;

/// A revision of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Revision {
    /// Its number.
    pub revision: u64,
    /// When it was stored.
    pub at: Time,
    /// Who wrote it.
    pub writer: Writer,
    /// Whether the object came, changed or went.
    pub kind: RevisionKind,
    /// The fields that changed, by path.
    pub changes: Vec<FieldChange>,
    /// How many more there are.
    pub more: usize,
}

/// What a revision did to the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RevisionKind {
    /// It was created.
    Created,
    /// It changed.
    Changed,
    /// It was removed.
    Removed,
}

/// Who wrote a revision.
#[derive(Clone, Debug, PartialEq)]
pub enum Writer {
    /// A pass of a loop.
    Pass {
        /// Which loop.
        id: LoopId,
        /// The node, if it is a kubelet.
        node: Option<Str>,
        /// The pass.
        number: u64,
    },
    /// A console line.
    Line {
        /// The line.
        line: Str,
        /// Whether the scenario gave it.
        of_script: bool,
    },
    /// A component, in a pass that is not told.
    Component(Str),
}

/// A field that a revision changed.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldChange {
    /// Where.
    pub path: Str,
    /// Its value before; none if it was not there.
    pub old: Option<Str>,
    /// Its value after; none if it is gone.
    pub new: Option<Str>,
}

/// The revisions of an object, newest first, and since when each field has its value.
pub fn of(run: &Run, lane: LaneId, key: &ObjectKey) -> (Vec<Revision>, Since) {
    let Some(world) = run.lane(lane).map(|lane| &lane.world) else { return Default::default() };
    let mut since = Since::new();
    let uid = newest_uid(world, key);
    let is_of = |commit: &&Commit| {
        let object = commit.object();
        object.meta().uid == uid && object.kind() == key.kind
    };
    let commits: Vec<&Commit> =
        world.store().newest_first().filter(is_of).take(REVISIONS_MAX).collect();
    let writers = writers(run, world, lane, &commits);
    let mut later: Option<BTreeMap<String, String>> = None;
    let mut told = Vec::new();
    for commit in commits {
        let after = later.take().unwrap_or_else(|| leaves_of(commit.after.as_ref()));
        let before = leaves_of(commit.before.as_ref());
        let (changes, more) = changes(&before, &after);
        for path in after.keys().filter(|path| before.get(*path) != after.get(*path)) {
            since.entry(path.clone()).or_insert((commit.revision, commit.at));
        }
        let writer = match writers.get(&commit.revision) {
            Some(writer) => writer.clone(),
            None => Writer::Component(commit.by.clone()),
        };
        let kind = match (&commit.before, &commit.after) {
            (None, _) => RevisionKind::Created,
            (_, None) => RevisionKind::Removed,
            _ => RevisionKind::Changed,
        };
        let (revision, at) = (commit.revision, commit.at);
        told.push(Revision { revision, at, writer, kind, changes, more });
        later = Some(before);
    }
    (told, since)
}

/// Of what was known before, the revisions that lie in the computed future.
pub fn later(run: &Run, known: &[Revision]) -> Vec<Revision> {
    let ahead = |revision: &&Revision| revision.at > run.now() && revision.at <= run.end();
    known.iter().filter(ahead).cloned().collect()
}

/// The object that has this key, or had it last.
pub fn last_known(world: &World, key: &ObjectKey) -> Option<Arc<Object>> {
    let there = world.store().get(key).cloned();
    there.or_else(|| {
        let mut commits = world.store().newest_first().map(Commit::object);
        commits.find(|object| object.key() == *key).cloned()
    })
}

fn newest_uid(world: &World, key: &ObjectKey) -> Str {
    last_known(world, key).map_or_else(|| "".into(), |object| object.meta().uid.clone())
}

fn leaves_of(object: Option<&Arc<Object>>) -> BTreeMap<String, String> {
    object.map(|object| leaves(object)).unwrap_or_default()
}

fn changes(
    before: &BTreeMap<String, String>,
    after: &BTreeMap<String, String>,
) -> (Vec<FieldChange>, usize) {
    let text = |value: Option<&String>| value.map(|text| Str::from(text.as_str()));
    let mut changed: Vec<FieldChange> = Vec::new();
    // What somebody made out of nothing is told by its fields as they are, not one by one.
    if before.is_empty() || after.is_empty() {
        return (changed, 0);
    }
    let paths = before.keys().chain(after.keys().filter(|path| !before.contains_key(*path)));
    for path in paths.filter(|path| before.get(*path) != after.get(*path)) {
        let (old, new) = (text(before.get(path)), text(after.get(path)));
        changed.push(FieldChange { path: path.as_str().into(), old, new });
    }
    // What is wanted stands before what is reported of it.
    changed.sort_by_key(|change| change.path.starts_with("status"));
    let more = changed.len().saturating_sub(CHANGES_MAX);
    changed.truncate(CHANGES_MAX);
    (changed, more)
}

/// The passes and lines behind these commits, by revision.
fn writers(run: &Run, world: &World, lane: LaneId, commits: &[&Commit]) -> BTreeMap<u64, Writer> {
    let mut found = BTreeMap::new();
    let by_hand = |commit: &&&Commit| commit.by.starts_with("kubectl");
    for commit in commits.iter().filter(by_hand) {
        if let Some(doer) = doer_of(run, lane, commit.at, commit.revision) {
            let (line, of_script) = (doer.input.line.as_str().into(), doer.of_script);
            found.insert(commit.revision, Writer::Line { line, of_script });
        }
    }
    let Some(oldest) = commits.last().map(|commit| commit.at) else { return found };
    let asked: BTreeSet<u64> = commits.iter().map(|commit| commit.revision).collect();
    // A pass ends after what it wrote, so the story is read from its end.
    for entry in run.story(lane).iter().rev().take_while(|entry| entry.at >= oldest) {
        let Some(pass) = ended(entry) else { continue };
        for revision in pass.wrote.iter().filter(|revision| asked.contains(revision)) {
            // A write that changed nothing answers with an older revision: the first counts.
            found.insert(*revision, writer(world, pass));
        }
    }
    found
}

fn writer(world: &World, pass: &PassRecord) -> Writer {
    let node = match pass.controller {
        ControllerId::Kubelet(node) => Some(world.node_name(node)),
        _ => None,
    };
    Writer::Pass { id: loop_id(pass.controller), node, number: pass.number }
}
