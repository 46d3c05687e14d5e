//! The faults in force: traps for watch events, and spans in which somebody suffers. A trap counts
//! what it matched in its own lane; nothing is tossed per message, so both lanes have the same
//! weather.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::api::{Kind, ObjectKey};
use crate::apiserver::{Request, WatchEvent};
use crate::kernel::Time;

use super::ControllerId;
use super::fault::{ContainerTrouble, Fault, How, ServerTrouble, Target, Trap};
use super::record::Trip;
use super::request_trap::RequestTrap;
use super::step::Step;
use super::stream::{Fate, Flight};
use super::world::World;

/// The faults in force.
#[derive(Clone, Debug, Default)]
pub struct ActiveFaults {
    traps: Vec<(Trap, Option<ControllerId>)>,
    requests: Vec<(RequestTrap, ControllerId)>,
    server: BTreeMap<ServerTrouble, Time>,
    cuts: BTreeMap<ControllerId, Time>,
    paused: BTreeMap<ControllerId, Time>,
    ends: BTreeMap<u64, Ending>,
    next: u64,
}

/// What to do when a fault ends.
#[derive(Clone, Debug)]
enum Ending {
    Start(ControllerId),
    Nothing,
}

impl ActiveFaults {
    /// How many times as long everything takes.
    pub fn slowness(&self) -> u32 {
        if self.server.contains_key(&ServerTrouble::Slow) { 20 } else { 1 }
    }

    /// Whether the API server answers nobody.
    pub fn server_is_down(&self) -> bool {
        self.server.contains_key(&ServerTrouble::Down)
    }

    /// Whether the API server refuses with 429.
    pub fn throttles(&self, _now: Time) -> bool {
        self.server.contains_key(&ServerTrouble::Throttle)
    }

    /// What the API server suffers.
    pub fn server_trouble(&self) -> Option<ServerTrouble> {
        self.server.keys().next().copied()
    }

    /// Whether the watches of a process are held broken.
    pub fn is_cut(&self, id: ControllerId, now: Time) -> bool {
        self.cuts.get(&id).is_some_and(|until| now < *until)
    }

    /// Until when a process is paused.
    pub fn paused_until(&self, id: ControllerId, now: Time) -> Option<Time> {
        self.paused.get(&id).copied().filter(|until| now < *until)
    }

    pub(super) fn nobody_is_paused(&self) -> bool {
        self.paused.is_empty()
    }

    /// A process has died: what comes in its place is not paused.
    pub(super) fn wake(&mut self, id: ControllerId) {
        self.paused.remove(&id);
    }

    /// The traps that wait for events on their way to a process.
    pub fn traps_for(&self, id: ControllerId) -> impl Iterator<Item = &Trap> + '_ {
        self.traps.iter().filter(move |(_, to)| *to == Some(id)).map(|(trap, _)| trap)
    }

    /// Takes back traps.
    pub(super) fn disarm(&mut self, which: impl Fn(&Trap, ControllerId) -> bool) {
        self.traps.retain(|(trap, id)| id.is_none_or(|id| !which(trap, id)));
    }

    /// What becomes of an event that now leaves for `to`, and by how much it is late on the wire.
    pub(super) fn strike(&mut self, to: ControllerId, event: &WatchEvent) -> (Fate, Duration) {
        let matching =
            |(trap, id): &&mut (Trap, Option<ControllerId>)| *id == Some(to) && trap.matches(event);
        let Some((trap, _)) = self.traps.iter_mut().find(matching) else {
            return (Fate::Intact, Duration::ZERO);
        };
        trap.count -= 1;
        let fate = trap.fate();
        self.traps.retain(|(trap, _)| trap.count > 0);
        fate
    }

    /// How a request of a process is refused, and whether it is carried out all the same.
    pub(super) fn refuse(&mut self, from: ControllerId, request: &Request) -> Option<RequestTrap> {
        let caught =
            |(trap, id): &&mut (RequestTrap, ControllerId)| *id == from && trap.matches(request);
        let (trap, _) = self.requests.iter_mut().find(caught)?;
        trap.count = trap.count.saturating_sub(1);
        let found = trap.clone();
        self.requests.retain(|(trap, _)| trap.count > 0);
        Some(found)
    }

    fn lasting(&mut self, ending: Ending) -> u64 {
        self.next += 1;
        self.ends.insert(self.next, ending);
        self.next
    }
}

impl Trap {
    fn matches(&self, event: &WatchEvent) -> bool {
        self.kind.is_none_or(|kind| event.object.kind() == kind)
            && self.event.is_none_or(|kind| event.kind == kind)
            && self.name.as_ref().is_none_or(|name| event.object.meta().name == *name)
    }

    /// What it does to a message.
    pub fn fate(&self) -> (Fate, Duration) {
        match (self.how, self.on_wire) {
            (How::Drop, false) => (Fate::DroppedAtDoor, Duration::ZERO),
            (How::Drop, true) => (Fate::DroppedOnWire, Duration::ZERO),
            (How::Delay(by), false) => (Fate::DelayedAtDoor(by), Duration::ZERO),
            (How::Delay(by), true) => (Fate::DelayedOnWire, by),
            (How::Duplicate, false) => (Fate::DoubledAtDoor, Duration::ZERO),
            (How::Duplicate, true) => (Fate::DoubledOnWire, Duration::ZERO),
            (How::Hold, false) => (Fate::HeldAtDoor, Duration::ZERO),
            (How::Hold, true) => (Fate::HeldOnWire, Duration::ZERO),
            (How::Reorder, _) => (Fate::Swapped, Duration::ZERO),
        }
    }
}

impl World {
    /// Does something to the machinery.
    pub fn inflict(&mut self, fault: &Fault) {
        self.hash.text(&fault.to_string());
        fault.target().iter().for_each(|target| self.call_by_name(&target.name));
        match fault {
            Fault::Kill(target, lasts) => {
                for id in self.targets(target) {
                    self.kill(id);
                    if let Some(lasts) = lasts {
                        let end = self.faults.lasting(Ending::Start(id));
                        self.put(self.now + *lasts, Step::FaultEnds(end));
                    }
                }
            }
            Fault::Restart(target) => {
                for id in self.targets(target) {
                    self.kill(id);
                    self.start(id);
                }
            }
            Fault::Crash(target, point) => {
                for id in self.targets(target) {
                    if let Some(process) = self.processes.get_mut(&id).filter(|p| p.alive) {
                        process.crash_at = Some(*point);
                    }
                }
            }
            Fault::Message(trap) => self.set_trap(trap),
            Fault::Release(what) => self.release(what),
            Fault::Request(trap) => {
                for id in self.targets(&trap.from) {
                    self.faults.requests.push((trap.clone(), id));
                }
            }
            Fault::Cut(target, lasts) => {
                for id in self.targets(target) {
                    self.cut(id, *lasts);
                }
            }
            Fault::Resync(target) => {
                for id in self.targets(target) {
                    self.replay(id);
                }
            }
            Fault::Leader(target, paused) => {
                for id in self.targets(target) {
                    self.double(id);
                    if let Some(lasts) = paused {
                        self.pause(id, *lasts);
                    }
                }
            }
            Fault::Knob(target, change) => self.turn_knobs(target, change),
            Fault::Compact => self.api.compact(),
            Fault::ApiServer(trouble, lasts) => self.trouble_server(*trouble, *lasts),
            Fault::Power(node, on) => {
                if let Some(node) = self.node_number(node) {
                    self.power(node, *on);
                }
            }
            Fault::Network(node, up) => {
                if let Some(node) = self.node_number(node) {
                    self.connect(node, *up);
                }
            }
            Fault::Container(pod, trouble) => self.trouble_container(pod, *trouble),
        }
    }

    /// Does something to a container of a pod (`namespace/name`, or a name in `default`).
    fn trouble_container(&mut self, pod: &str, trouble: ContainerTrouble) {
        let (namespace, name) = pod.split_once('/').unwrap_or(("default", pod));
        let key = ObjectKey::new(Kind::Pod, namespace, name);
        let node = self.store().get(&key).and_then(|pod| pod.as_pod()?.spec.node_name.clone());
        let Some(node) = node.and_then(|node| self.node_number(&node)) else { return };
        let now = self.now;
        let Some(kubelet) = self.kubelets.get_mut(usize::from(node)) else { return };
        let keys = match trouble {
            ContainerTrouble::Crash => kubelet.crash_container(&key, None, now, false),
            ContainerTrouble::OomKill => kubelet.crash_container(&key, None, now, true),
            ContainerTrouble::Unready => kubelet.set_ready_override(&key, Some(false)),
            ContainerTrouble::Ready => kubelet.set_ready_override(&key, None),
        };
        self.wake_kubelet(node, keys);
    }

    /// All processes that a target names, those that wait to lead included.
    pub(super) fn named(&self, target: &Target) -> Vec<ControllerId> {
        let is_named = |id: &&ControllerId| {
            id.name() == &*target.name
                && target.node.as_ref().is_none_or(|node| match id {
                    ControllerId::Kubelet(number) => self.node_name(*number) == *node,
                    _ => false,
                })
        };
        self.processes.keys().filter(is_named).copied().collect()
    }

    /// The processes that a target means: of two of a controller, those that act; if none does,
    /// both.
    pub fn targets(&self, target: &Target) -> Vec<ControllerId> {
        let mut ids = self.named(target);
        let leads = |id: &ControllerId| self.candidates.iter().any(|c| c.id == *id && c.leads);
        if ids.iter().any(leads) {
            ids.retain(leads);
        }
        ids
    }

    /// Sets a trap for each process that it names. Messages already under way are caught first.
    fn set_trap(&mut self, trap: &Trap) {
        for id in self.targets(&trap.to) {
            let mut trap = trap.clone();
            let under_way: Vec<u64> = self
                .flights
                .iter()
                .filter(|(_, flight)| {
                    self.streams[flight.stream].owner == id
                        && flight.fate == Fate::Intact
                        && trap.matches(&flight.event)
                })
                .map(|(number, _)| number)
                .take(trap.count as usize)
                .collect();
            for number in under_way {
                trap.count -= 1;
                self.strike_flight(number, &trap);
            }
            if trap.count > 0 {
                self.faults.traps.push((trap, Some(id)));
            }
        }
    }

    /// Strikes one message under way. False if it is not there any more, or already struck.
    pub fn strike_flight(&mut self, number: u64, trap: &Trap) -> bool {
        let Some(flight) = self.flights.get_mut(&number) else { return false };
        if flight.fate != Fate::Intact {
            return false;
        }
        (flight.fate, flight.late) = trap.fate();
        let Flight { event, fate, stream, sent, arrives, .. } = flight.clone();
        let owner = self.streams[stream].owner;
        let trip = Trip { revision: event.revision, sent, arrived: arrives };
        self.tell_struck(owner, &event, fate, trip);
        if fate == Fate::HeldOnWire {
            self.stand_still(stream);
        }
        true
    }

    /// Stops a process for a while, as a full machine or a long collection of garbage does. It
    /// keeps its memory, and goes on where it was.
    fn pause(&mut self, id: ControllerId, lasts: Duration) {
        let until = self.now + lasts;
        self.faults.paused.insert(id, until);
        let end = self.faults.lasting(Ending::Nothing);
        self.put(until, Step::FaultEnds(end));
    }

    fn cut(&mut self, id: ControllerId, lasts: Duration) {
        self.faults.cuts.insert(id, self.now + lasts);
        self.break_streams(id);
    }

    fn replay(&mut self, id: ControllerId) {
        let period = self.processes.get(&id).map(|process| process.knobs.resync_period);
        if self.processes.get(&id).is_some_and(|process| process.alive) && period.is_some() {
            self.replay_cache(id);
        }
    }

    fn trouble_server(&mut self, trouble: ServerTrouble, lasts: Duration) {
        let until = self.now + lasts;
        self.faults.server.insert(trouble, until);
        let end = self.faults.lasting(Ending::Nothing);
        self.put(until, Step::FaultEnds(end));
        if trouble == ServerTrouble::Down {
            let all: Vec<ControllerId> = self.processes.keys().copied().collect();
            all.into_iter().for_each(|id| self.break_streams(id));
        }
    }

    pub(super) fn fault_ends(&mut self, number: u64) {
        let now = self.now;
        self.faults.server.retain(|_, until| *until > now);
        self.faults.cuts.retain(|_, until| *until > now);
        self.faults.paused.retain(|_, until| *until > now);
        match self.faults.ends.remove(&number) {
            Some(Ending::Start(id)) => self.start(id),
            Some(Ending::Nothing) | None => {}
        }
    }
}
