//! Watch events that somebody holds, until they are let go. On the wire the whole watch stands
//! still behind the one that is held, since nothing overtakes; at the door the cache has heard of
//! it and the loop has not. A held event is gone with what it waits in: with the watch when that
//! breaks (it resumes before the event, and brings it again), with the process when that dies.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::api::{Kind, Str};
use crate::apiserver::{WatchEvent, WatchEventType};
use crate::controllers::Change;
use crate::kernel::Time;

use super::ControllerId;
use super::fault::{FaultError, Fields, How, Target, Trap, error};
use super::record::Cause;
use super::step::Step;
use super::stream::{Fate, Flight};
use super::world::World;

/// Events that a watch keeps for one that does not read on; with one more it is closed.
const WATCH_BUFFER: usize = 1_000;
/// Changes that are held at the doors of a cluster; what comes then passes.
const HELD_MAX: usize = 1_000;

/// What is let go: all that is held, or what fits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Release {
    /// On its way to whom.
    pub to: Option<Target>,
    /// Of which kind of object.
    pub kind: Option<Kind>,
    /// Which type of watch event.
    pub event: Option<WatchEventType>,
    /// Of the object of this name.
    pub name: Option<Str>,
}

/// A change that waits at the door of a loop.
#[derive(Clone, Debug)]
pub(super) struct HeldChange {
    pub(super) flight: Flight,
    changes: Vec<(Change, Cause)>,
}

/// Changes held at the doors, by the number of their message.
pub(super) type HeldChanges = BTreeMap<u64, HeldChange>;

impl Release {
    pub(super) fn read(fields: &mut Fields) -> Result<Release, FaultError> {
        for key in ["at", "count"] {
            if fields.0.contains_key(key) {
                let text = format!("{key}: a release lets go all that fits, wherever it is held");
                return error(Some(key), text);
            }
        }
        let names_one = fields.0.contains_key("to") || fields.0.contains_key("controller");
        if !names_one {
            // A trap is read for somebody.
            fields.0.insert("to".into(), "replicaset".into());
        }
        let Trap { to, kind, event, name, .. } = Trap::read(How::Hold, fields)?;
        Ok(Release { to: names_one.then_some(to), kind, event, name })
    }

    fn fits(&self, event: &WatchEvent) -> bool {
        self.kind.is_none_or(|kind| event.object.kind() == kind)
            && self.event.is_none_or(|kind| event.kind == kind)
            && self.name.as_ref().is_none_or(|name| event.object.meta().name == *name)
    }

    fn fits_trap(&self, trap: &Trap) -> bool {
        trap.how == How::Hold
            && (self.kind.is_none() || self.kind == trap.kind)
            && (self.event.is_none() || self.event == trap.event)
            && (self.name.is_none() || self.name == trap.name)
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("release")?;
        if let Some(to) = &self.to {
            write!(f, " to={to}")?;
        }
        if let Some(kind) = self.kind {
            write!(f, " kind={}", kind.info().kind)?;
        }
        if let Some(event) = self.event {
            write!(f, " type={}", event.word())?;
        }
        match &self.name {
            Some(name) => write!(f, " name={name}"),
            None => Ok(()),
        }
    }
}

impl World {
    /// Messages that are held, with their numbers: those on the wire, and those at a door.
    pub fn held(&self) -> impl Iterator<Item = (u64, &Flight)> + '_ {
        let on_wire = self.flights.iter().filter(|(_, flight)| flight.fate == Fate::HeldOnWire);
        on_wire.chain(self.held_changes.iter().map(|(id, held)| (*id, &held.flight)))
    }

    /// Whether a message waits at a door: its cache has heard of it.
    pub fn held_at_doors(&self) -> impl Iterator<Item = (u64, &Flight)> + '_ {
        self.held_changes.iter().map(|(id, held)| (*id, &held.flight))
    }

    /// Whether the newest message of a watch stands: then so does what comes after it.
    pub(super) fn stands_still(&self, stream: usize) -> bool {
        let newest = self.streams[stream].flights.back().and_then(|id| self.flights.get(id));
        newest.is_some_and(|newest| newest.arrives == Time::MAX)
    }

    /// A message is held where it is, and all that follows it on its watch waits behind it.
    pub(super) fn stand_still(&mut self, stream: usize) {
        let numbers: Vec<u64> = self.streams[stream].flights.iter().copied().collect();
        let held =
            |id: &u64| self.flights.get(id).is_some_and(|flight| flight.fate == Fate::HeldOnWire);
        let Some(first) = numbers.iter().position(held) else { return };
        for id in &numbers[first..] {
            let Some(flight) = self.flights.get_mut(id) else { continue };
            if flight.arrives != Time::MAX {
                flight.arrives = Time::MAX;
                self.flying -= usize::from(!flight.background);
            }
        }
        if numbers.len() > WATCH_BUFFER {
            let owner = self.streams[stream].owner;
            let epoch = self.processes.get(&owner).map_or(0, |process| process.epoch);
            self.break_stream(stream);
            self.put(self.now, Step::Reopen(stream, epoch));
        }
    }

    /// Keeps the changes of a message at the door of its loop. False: there are too many.
    pub(super) fn hold_at_door(
        &mut self,
        number: u64,
        flight: &Flight,
        change: &Change,
        cause: &Cause,
    ) -> bool {
        if self.held_changes.len() >= HELD_MAX {
            return false;
        }
        let flight = Flight { arrives: Time::MAX, ..flight.clone() };
        let held = HeldChange { flight, changes: Vec::new() };
        let held = self.held_changes.entry(number).or_insert(held);
        held.changes.push((change.clone(), cause.clone()));
        true
    }

    /// Lets go what fits, and disarms what was to hold more of it.
    pub(super) fn release(&mut self, what: &Release) {
        let ids = what.to.as_ref().map(|to| self.targets(to));
        let meant = |id: ControllerId| ids.as_ref().is_none_or(|ids| ids.contains(&id));
        self.faults.disarm(|trap, id| meant(id) && what.fits_trap(trap));
        let owner = |flight: &Flight| self.streams[flight.stream].owner;
        let fits = |flight: &Flight| meant(owner(flight)) && what.fits(&flight.event);
        let found: Vec<u64> =
            self.held().filter(|(_, flight)| fits(flight)).map(|(number, _)| number).collect();
        for number in found {
            if let Some(held) = self.held_changes.remove(&number) {
                let owner = self.streams[held.flight.stream].owner;
                for (change, cause) in held.changes {
                    self.hand_over(owner, change, cause);
                }
            } else if let Some(flight) = self.flights.get_mut(&number) {
                flight.fate = Fate::Intact;
                let stream = flight.stream;
                self.move_on(stream);
            }
        }
    }

    /// What stands in a watch moves on, up to the next one that is held.
    fn move_on(&mut self, stream: usize) {
        let numbers: Vec<u64> = self.streams[stream].flights.iter().copied().collect();
        let mut arrives = self.now;
        for id in numbers {
            let Some(flight) = self.flights.get_mut(&id) else { continue };
            if flight.fate == Fate::HeldOnWire {
                break;
            }
            if flight.arrives != Time::MAX {
                continue;
            }
            flight.arrives = arrives;
            let background = flight.background;
            self.flying += usize::from(!background);
            self.put(arrives, Step::Deliver(id, background));
            self.streams[stream].last_arrival = arrives;
            arrives += Duration::from_micros(1);
        }
    }

    /// A process has died, and what waited at its door with it.
    pub(super) fn forget_held(&mut self, id: ControllerId) {
        let streams = &self.streams;
        self.held_changes.retain(|_, held| streams[held.flight.stream].owner != id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Object;
    use crate::apiserver::Request;
    use crate::world::lab::{cluster, delete_one_pod, inflict, run_for};
    use crate::world::{Fault, Flavour, Options, Verdict};
    use serde_json::json;
    use std::sync::Arc;

    /// Three pods ran, one was deleted, and what would tell the loop of it is held.
    fn holding(flavour: Flavour, place: &str) -> World {
        let mut world = cluster(flavour, 3);
        inflict(&mut world, &format!("hold to=replicaset kind=Pod type=DELETED at={place}"));
        delete_one_pod(&mut world);
        run_for(&mut world, 30);
        world
    }

    fn pods(world: &World) -> usize {
        world.store().list(Kind::Pod).count()
    }

    #[test]
    fn a_held_event_stands_until_it_is_released_in_both_flavours_and_places() {
        for flavour in [Flavour::Edge, Flavour::Level] {
            for place in ["door", "wire"] {
                let mut world = holding(flavour, place);
                assert_eq!((pods(&world), world.held().count()), (2, 1), "{flavour:?} {place}");
                let waits = matches!(&world.verdict(), Verdict::Waiting { what: "release", .. });
                assert!(waits, "{flavour:?} {place}: {:?}", world.verdict());
                assert_eq!(world.activity().flying, 0, "what stands does not fly");
                inflict(&mut world, "release to=replicaset");
                run_for(&mut world, 20);
                assert_eq!((pods(&world), world.held().count()), (3, 0), "{flavour:?} {place}");
                assert_eq!(world.verdict(), Verdict::Converged, "{flavour:?} {place}");
            }
        }
    }

    #[test]
    fn on_the_wire_all_that_follows_waits_too_and_keeps_its_order() {
        let mut world = holding(Flavour::Level, "wire");
        delete_one_pod(&mut world);
        run_for(&mut world, 5);
        assert_eq!(pods(&world), 1, "the second deletion is behind the first");
        let standing = world.flights().filter(|(_, flight)| flight.arrives == Time::MAX);
        let revisions: Vec<u64> = standing.map(|(_, flight)| flight.event.revision).collect();
        assert!(revisions.len() >= 2 && revisions.is_sorted(), "{revisions:?}");
        inflict(&mut world, "release");
        run_for(&mut world, 20);
        assert_eq!(world.verdict(), Verdict::Converged);
    }

    #[test]
    fn at_the_door_the_others_pass_and_the_cache_has_heard_of_it() {
        let mut world = holding(Flavour::Level, "door");
        let cache = &world.process(ControllerId::ReplicaSet).unwrap().cache;
        assert_eq!(cache.all(Kind::Pod).count(), 2);
        delete_one_pod(&mut world);
        run_for(&mut world, 20);
        // The other deletion woke it, and it saw both.
        assert_eq!(pods(&world), 3);
        // All is well, and yet something is to come.
        assert!(matches!(world.verdict(), Verdict::Waiting { what: "release", .. }));
    }

    #[test]
    fn a_held_event_is_gone_with_its_watch_or_with_its_process() {
        for (place, line) in [
            ("wire", "cut replicaset for=1s"),
            ("wire", "restart replicaset"),
            ("door", "restart replicaset"),
        ] {
            let mut world = holding(Flavour::Level, place);
            inflict(&mut world, line);
            run_for(&mut world, 60);
            assert_eq!(world.held().count(), 0, "{place}, {line}");
            assert_eq!(world.verdict(), Verdict::Converged, "{place}, {line}");
        }
    }

    #[test]
    fn a_release_disarms_what_has_caught_nothing_yet() {
        let mut world = World::new(Options::default());
        inflict(&mut world, "hold to=replicaset kind=Pod count=5");
        inflict(&mut world, "release to=replicaset kind=ReplicaSet");
        assert_eq!(world.faults().traps_for(ControllerId::ReplicaSet).count(), 1);
        inflict(&mut world, "release to=replicaset");
        assert_eq!(world.faults().traps_for(ControllerId::ReplicaSet).count(), 0);
    }

    #[test]
    fn a_release_says_what_it_cannot_choose_by() {
        for (line, key) in [("release at=wire", "at"), ("release to=replicaset count=2", "count")] {
            let error = Fault::parse_line(line).unwrap_err();
            assert_eq!(error.key.as_deref(), Some(key), "{line}: {error}");
        }
    }

    #[test]
    fn a_watch_that_is_held_for_long_is_closed_and_opened_again() {
        let mut world = holding(Flavour::Level, "wire");
        for n in 0..WATCH_BUFFER + 5 {
            let pod = json!({
                "metadata": {"name": format!("p{n}"), "namespace": "default"},
                "spec": {"nodeName": "none", "containers": [{"name": "a", "image": "a:1"}]},
            });
            let pod = Object::from_value(Kind::Pod, pod).unwrap();
            world.request(&Request::Create(Arc::new(pod))).unwrap();
        }
        run_for(&mut world, 5);
        assert_eq!(world.held().count(), 0);
        assert_eq!(
            world.process(ControllerId::ReplicaSet).unwrap().cache.all(Kind::Pod).count(),
            { world.store().list(Kind::Pod).count() }
        );
    }
}
