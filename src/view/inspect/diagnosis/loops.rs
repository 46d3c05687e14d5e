//! How a loop stands towards an object: why it does nothing about it, or when it will.

use crate::api::{Kind, Object, ObjectKey};
use crate::apiserver::WatchEventType;
use crate::kernel::Time;
use crate::scenario::{Entry, Told};
use crate::world::{Cause, ControllerId, EdgeItem, Flavour, Occurrence, Process, World};

use super::super::finding::LoopState;
use super::Walk;
use super::requests::passes;

/// A watch event that was dropped, on its way to whom and about what.
pub(super) struct Lost<'a> {
    at: Time,
    to: ControllerId,
    event: WatchEventType,
    object: &'a ObjectKey,
}

impl Walk<'_> {
    /// How a loop stands towards an object.
    pub(super) fn state_of(&self, role: ControllerId, key: &ObjectKey) -> LoopState {
        let world = self.world();
        if world.faults().server_is_down() {
            return LoopState::ServerDown;
        }
        let mut processes = world.processes().filter(|process| process.id.role() == role);
        let Some(process) = processes.find(|process| process.alive) else { return LoopState::Down };
        if let Some(until) = world.faults().paused_until(process.id, world.now()) {
            return LoopState::PausedUntil(until);
        }
        if let Some(state) = waits(world, process, key) {
            return state;
        }
        if is_cut(world, process) {
            return LoopState::Cut;
        }
        if let Some(state) = self.lost(process, key) {
            return state;
        }
        match counts(world, process, key) {
            (sees, truth) if sees != truth => LoopState::Believes { sees, truth },
            _ => LoopState::Untold,
        }
    }

    /// The newest event about it that never woke the loop. A level-triggered loop has made up for
    /// that with its next pass over the object.
    fn lost(&self, process: &Process, key: &ObjectKey) -> Option<LoopState> {
        // The story is long, and a walk asks for each of many pods.
        let lost = self.lost.get_or_init(|| all_lost(self.run.past(self.lane.id)));
        let role = process.id.role();
        let found = lost.iter().find(|lost| lost.to.role() == role && is_of(lost.object, key))?;
        let at = found.at;
        let looked_since = process.flavour == Flavour::Level
            && passes(self.run, self.lane.id, role, key).any(|pass| pass.started > at);
        let (event, object) = (found.event, found.object.clone());
        (!looked_since).then_some(LoopState::EventLost { event, object, at })
    }
}

/// The watch events that were dropped, newest first.
fn all_lost(past: &[Entry]) -> Vec<Lost<'_>> {
    let told = past.iter().rev().filter_map(|entry| match &entry.what {
        Told::World(Occurrence::Struck { to, event, object, how: "drop", .. }) => {
            Some(Lost { at: entry.at, to: *to, event: *event, object })
        }
        _ => None,
    });
    told.collect()
}

/// Pods in the loop's own count, and in truth: all of them for a loop that remembers, those of
/// this owner for one that looks into its cache.
fn counts(world: &World, process: &Process, key: &ObjectKey) -> (i64, i64) {
    let active = |object: &Object| object.as_pod().is_some_and(|pod| pod.is_active());
    let pods = || world.store().list(Kind::Pod).filter(|object| active(object));
    match process.believed_pods() {
        Some(sees) => (sees, pods().count() as i64),
        None => {
            let cached = process.cache.all(Kind::Pod).filter(|o| active(o) && concerns(o, key));
            (cached.count() as i64, pods().filter(|o| concerns(o, key)).count() as i64)
        }
    }
}

/// What of it is at work, queued, due or on its way.
fn waits(world: &World, process: &Process, key: &ObjectKey) -> Option<LoopState> {
    if process.active.values().any(|pass| pass.record.key == *key && !pass.silent) {
        return Some(LoopState::AtWork);
    }
    let (queued, due) = match process.flavour {
        Flavour::Edge => edge_items(process, key),
        Flavour::Level => {
            let back_off = process.later_causes.get(key) == Some(&Cause::Retry);
            let due = process.queue.due(key).map(|at| (at, back_off));
            (process.queue.iter().any(|(queued, _)| queued == key), due)
        }
    };
    if queued {
        return Some(LoopState::Queued);
    }
    if let Some((at, back_off)) = due
        && (back_off || !matches!(process.id.role(), ControllerId::Deployment))
    {
        return Some(LoopState::Due { at, back_off });
    }
    let flights = world.flights().filter(|(_, flight)| {
        let owner = world.streams().get(flight.stream).map(|stream| stream.owner);
        owner == Some(process.id) && concerns(&flight.event.object, key)
    });
    flights.map(|(_, flight)| flight.arrives).min().map(LoopState::OnItsWay)
}

fn edge_items(process: &Process, key: &ObjectKey) -> (bool, Option<(Time, bool)>) {
    let about = |item: &EdgeItem| match item {
        EdgeItem::Change(change, _) => concerns(&change.object, key),
        EdgeItem::Resume(of, _) | EdgeItem::Timer(of) => of == key,
    };
    let queued = process.changes.iter().any(about);
    let later = process.later.iter().filter(|(_, item)| about(item));
    let due = later.map(|(at, item)| (*at, matches!(item, EdgeItem::Resume(..))));
    (queued, due.min())
}

/// Whether a change of `object` is about the object of this key: itself, or one that it owns.
fn concerns(object: &Object, key: &ObjectKey) -> bool {
    let owner = object.meta().controller();
    object.key() == *key
        || owner.is_some_and(|owner| owner.name == key.name && *owner.kind == *key.kind.info().kind)
}

fn is_cut(world: &World, process: &Process) -> bool {
    let broken = |stream: &usize| {
        world.streams().get(*stream).is_some_and(|stream| !stream.open && !stream.listing)
    };
    world.faults().is_cut(process.id, world.now()) || process.streams.iter().any(broken)
}

/// Whether an object that may be gone was this one's: its name was made from the other's.
fn is_of(object: &ObjectKey, key: &ObjectKey) -> bool {
    let made_from = object.name.strip_prefix(&*key.name).is_some_and(|rest| rest.starts_with('-'));
    object == key || object.namespace == key.namespace && made_from
}
