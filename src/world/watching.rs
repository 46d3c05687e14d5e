//! From the store to the loop: publishing commits to streams, delivering them into caches, and
//! handing changes to loops at the door. Here an event can be lost, and where it is lost decides
//! who notices.

use std::sync::Arc;
use std::time::Duration;

use crate::api::{Kind, Object};
use crate::apiserver::{Commit, WatchEvent, WatchEventType};
use crate::controllers::{Change, ChangeKind, Context, Woken, promises};

use super::ControllerId;
use super::options::Flavour;
use super::process::{EdgeItem, Process};
use super::record::{Cause, Occurrence};
use super::step::Step;
use super::stream::{Fate, Flight};
use super::world::World;

/// How long a reflector waits before it opens a broken watch again (its first back-off).
const REOPEN: Duration = Duration::from_millis(800);

impl World {
    /// Sends all commits that were not sent yet down the open streams.
    pub(super) fn publish(&mut self) {
        let commits: Vec<Commit> = match self.api.store().since(self.published) {
            Ok(commits) => commits.cloned().collect(),
            Err(_) => Vec::new(),
        };
        self.published = self.api.store().revision();
        for commit in &commits {
            self.call_latecomers(commit);
            for index in self.stream_index.of(commit) {
                self.offer(index, commit);
            }
        }
    }

    fn offer(&mut self, index: usize, commit: &Commit) {
        let stream = &self.streams[index];
        if !stream.open || stream.revision >= commit.revision {
            return;
        }
        let event = commit.seen_through(|object| stream.selects(object));
        self.streams[index].revision = commit.revision;
        if let Some(event) = event {
            self.send(index, event);
        }
    }

    fn send(&mut self, index: usize, event: WatchEvent) {
        let (low, high) = self.options.network.watch;
        let slow = self.faults.slowness();
        let stream = &mut self.streams[index];
        let latency = stream.rng.span(low, high) * slow;
        // An ordered stream: nothing overtakes.
        let arrives = (self.now + latency).max(stream.last_arrival + Duration::from_micros(1));
        stream.last_arrival = arrives;
        let id = self.next_message;
        self.next_message += 1;
        stream.flights.push_back(id);
        let (owner, kind) = (stream.owner, stream.kind);
        let background = matches!(kind, Kind::Lease | Kind::Event);
        let (fate, late) = self.faults.strike(owner, &event);
        self.tell_struck(owner, &event, fate);
        let (stream, sent) = (index, self.now);
        self.flying += usize::from(!background);
        self.flights.insert(id, Flight { stream, event, sent, arrives, fate, late, background });
        self.put(arrives, Step::Deliver(id, background));
    }

    pub(super) fn tell_struck(&mut self, to: ControllerId, event: &WatchEvent, fate: Fate) {
        let how = match fate {
            Fate::Intact => return,
            Fate::DroppedAtDoor | Fate::DroppedOnWire => "drop",
            Fate::DelayedAtDoor(_) | Fate::DelayedOnWire => "delay",
            Fate::DoubledAtDoor | Fate::DoubledOnWire => "duplicate",
            Fate::Swapped => "reorder",
        };
        let object = event.object.key();
        self.tell(Occurrence::Struck { to, event: event.kind, object, how });
    }

    /// A watch event arrives at its process.
    pub(super) fn deliver(&mut self, id: u64) {
        // It is gone if its stream broke.
        let Some(flight) = self.flights.get_mut(&id) else { return };
        let (index, background) = (flight.stream, flight.background);
        if !flight.late.is_zero() {
            flight.arrives = self.now + std::mem::take(&mut flight.late);
            let arrives = flight.arrives;
            self.put(arrives, Step::Deliver(id, background));
            return;
        }
        let stream = &mut self.streams[index];
        if let Some(first) = stream.flights.front().copied()
            && first != id
        {
            // Something before it on the stream is late, so it is late too.
            let after = self.flights.get(&first).map_or(self.now, |first| first.arrives);
            let arrives = after.max(self.now) + Duration::from_micros(1);
            self.put(arrives, Step::Deliver(id, background));
            return;
        }
        stream.flights.pop_front();
        let Some(flight) = self.flights.remove(&id) else { return };
        self.flying -= usize::from(!background);
        stream.delivered = flight.event.revision;
        let owner = stream.owner;
        self.totals.watch_events += u64::from(!background);
        self.receive(owner, &flight);
    }

    fn receive(&mut self, owner: ControllerId, flight: &Flight) {
        if flight.fate == Fate::DroppedOnWire {
            return;
        }
        let times = if flight.fate == Fate::DoubledOnWire { 2 } else { 1 };
        for _ in 0..times {
            let Some(process) = self.processes.get_mut(&owner) else { return };
            let change = take_into_cache(process, &flight.event);
            let cause = Cause::Watch(flight.event.kind, flight.event.object.key());
            self.at_the_door(owner, change, cause, flight.fate);
        }
    }

    fn at_the_door(&mut self, owner: ControllerId, change: Change, cause: Cause, fate: Fate) {
        match fate {
            Fate::DroppedAtDoor => {}
            Fate::DelayedAtDoor(by) => {
                let epoch = self.processes.get(&owner).map_or(0, |process| process.epoch);
                self.put(self.now + by, Step::Door(owner, epoch, Box::new(change), cause));
            }
            Fate::DoubledAtDoor => {
                self.hand_over(owner, change.clone(), cause.clone());
                self.hand_over(owner, change, cause);
            }
            Fate::Swapped => {
                if let Some(process) = self.processes.get_mut(&owner) {
                    process.held_back.push((change, cause));
                }
            }
            _ => {
                self.hand_over(owner, change, cause);
                let held = self.processes.get_mut(&owner).map(|p| std::mem::take(&mut p.held_back));
                for (change, cause) in held.unwrap_or_default() {
                    self.hand_over(owner, change, cause);
                }
            }
        }
    }

    /// Hands a change to a loop: level takes a key from it, edge takes it as it is.
    pub(super) fn hand_over(&mut self, id: ControllerId, change: Change, cause: Cause) {
        let (now, seed) = (self.now, self.options.seed);
        let Some(process) = self.processes.get_mut(&id) else { return };
        if process.flavour == Flavour::Edge {
            process.changes.push_back(EdgeItem::Change(change, cause));
        } else {
            let woken = match id {
                ControllerId::Kubelet(node) => {
                    self.kubelets.get(usize::from(node)).map(|kubelet| kubelet.wakes(&change))
                }
                _ => {
                    let cache = &process.cache;
                    let cx = Context { cache, now, seed, promises_kept: true };
                    Some(process.mind.wakes(&change, &cx))
                }
            };
            wake(process, woken.unwrap_or_default(), &cause, now);
        }
        self.announce(id);
        self.pump(id);
    }

    /// Fills a cache with an object without waking the loop, but for what its memory must know.
    pub(super) fn take_listed(&mut self, id: ControllerId, object: Arc<Object>) {
        let (now, seed) = (self.now, self.options.seed);
        let Some(process) = self.processes.get_mut(&id) else { return };
        let before = process.cache.put(object.clone());
        let change = Change { kind: ChangeKind::Added, before, object };
        let cx = Context { cache: &process.cache, now, seed, promises_kept: true };
        if process.flavour == Flavour::Level {
            process.mind.wakes(&change, &cx);
        }
    }

    /// Breaks a stream: what was under way is lost, and it resumes from what had arrived.
    pub(super) fn break_stream(&mut self, index: usize) {
        let stream = &mut self.streams[index];
        stream.open = false;
        stream.revision = stream.delivered;
        for flight in std::mem::take(&mut stream.flights) {
            if self.flights.remove(&flight).is_some_and(|flight| !flight.background) {
                self.flying -= 1;
            }
        }
    }

    /// Breaks all streams of a process, and lets them open again after the reflector's back-off.
    pub(super) fn break_streams(&mut self, id: ControllerId) {
        let epoch = self.processes.get(&id).map_or(0, |process| process.epoch);
        let of_process = |(_, stream): &(usize, &super::stream::Stream)| stream.owner == id;
        let indexes: Vec<usize> =
            self.streams.iter().enumerate().filter(of_process).map(|(index, _)| index).collect();
        for index in indexes {
            self.break_stream(index);
            self.put(self.now + REOPEN, Step::Reopen(index, epoch));
        }
    }

    /// A reflector tries to open its watch again.
    pub(super) fn reopen(&mut self, index: usize, epoch: u32) {
        let owner = self.streams[index].owner;
        if self.is_stale(owner, epoch) || self.streams[index].open {
            return;
        }
        if self.faults.server_is_down() || self.is_cut_off(owner) {
            self.put(self.now + REOPEN, Step::Reopen(index, epoch));
            return;
        }
        let missed = self.api.store().since(self.streams[index].revision);
        match missed.map(|commits| commits.cloned().collect::<Vec<Commit>>()) {
            Ok(commits) => {
                self.streams[index].open = true;
                commits.iter().for_each(|commit| self.offer(index, commit));
            }
            // 410: list again.
            Err(_) => self.list(index),
        }
    }

    /// Asks for a list; the watch opens from its revision.
    pub(super) fn list(&mut self, index: usize) {
        let owner = self.streams[index].owner;
        let epoch = self.processes.get(&owner).map_or(0, |process| process.epoch);
        let latency = self.latency(owner);
        self.put(self.now + latency, Step::List(index, epoch));
    }

    pub(super) fn list_at_server(&mut self, index: usize, epoch: u32) {
        let owner = self.streams[index].owner;
        if self.is_stale(owner, epoch) {
            return;
        }
        if self.faults.server_is_down() || self.is_cut_off(owner) {
            self.put(self.now + REOPEN, Step::List(index, epoch));
            return;
        }
        let arrives = self.now + self.latency(owner);
        self.totals.calls += 1;
        let stream = &mut self.streams[index];
        let store = self.api.store();
        let objects = store.list(stream.kind).filter(|o| stream.selects(o)).cloned().collect();
        stream.revision = store.revision();
        stream.delivered = stream.revision;
        stream.open = true;
        stream.last_arrival = stream.last_arrival.max(arrives);
        let revision = stream.revision;
        self.put(arrives, Step::Listed(index, epoch, objects, revision));
    }

    /// A list replaces what the cache holds of its kind; each difference is a change, as an
    /// informer makes it.
    pub(super) fn listed(
        &mut self,
        index: usize,
        epoch: u32,
        objects: Vec<Arc<Object>>,
        _revision: u64,
    ) {
        let (owner, kind) = (self.streams[index].owner, self.streams[index].kind);
        if self.is_stale(owner, epoch) {
            return;
        }
        let Some(process) = self.processes.get_mut(&owner) else { return };
        let listed: std::collections::BTreeSet<_> = objects.iter().map(|o| o.key()).collect();
        let gone: Vec<_> =
            process.cache.all(kind).filter(|o| !listed.contains(&o.key())).cloned().collect();
        let mut changes = Vec::new();
        for object in gone {
            process.cache.remove(&object.key());
            let kind = ChangeKind::DeletedFinalStateUnknown;
            changes.push(Change { kind, before: Some(object.clone()), object });
        }
        for object in objects {
            let before = process.cache.put(object.clone());
            let kind = if before.is_some() { ChangeKind::Updated } else { ChangeKind::Added };
            changes.push(Change { kind, before, object });
        }
        let starts = process.unsynced > 0;
        process.unsynced = process.unsynced.saturating_sub(1);
        let from_now = process.flavour == Flavour::Edge && starts && !process.knobs.relist_on_start;
        if !from_now {
            changes.into_iter().for_each(|change| self.hand_over(owner, change, Cause::List));
        }
        if starts && let ControllerId::Kubelet(node) = owner {
            // What was deleted while nobody listened is in no list: the node itself knows of it.
            let known = self.kubelets.get(usize::from(node)).map(|kubelet| kubelet.known_pods());
            self.wake_kubelet(node, known.unwrap_or_default());
        }
        self.pump(owner);
    }

    pub(super) fn resync(&mut self, id: ControllerId) {
        self.schedule_resync(id);
        self.replay_cache(id);
    }

    /// Replays the cache into the queue (resync is not relist: nothing is asked of the server).
    pub(super) fn replay_cache(&mut self, id: ControllerId) {
        let Some(process) = self.processes.get(&id) else { return };
        let objects: Vec<Arc<Object>> = super::mind::Mind::kinds(id)
            .iter()
            .flat_map(|kind| process.cache.all(*kind).cloned())
            .collect();
        for object in objects {
            let before = Some(object.clone());
            let change = Change { kind: ChangeKind::Updated, before, object };
            self.hand_over(id, change, Cause::Resync);
        }
    }

    pub(super) fn schedule_resync(&mut self, id: ControllerId) {
        let Some(process) = self.processes.get(&id) else { return };
        let (period, epoch) = (process.knobs.resync_period, process.epoch);
        if !period.is_zero() {
            self.put(self.now + period, Step::Resync(id, epoch));
        }
    }

    fn is_stale(&self, id: ControllerId, epoch: u32) -> bool {
        self.processes.get(&id).is_none_or(|p| p.epoch != epoch || !p.alive)
    }
}

fn take_into_cache(process: &mut Process, event: &WatchEvent) -> Change {
    let object = event.object.clone();
    if event.kind == WatchEventType::Deleted {
        let before = process.cache.remove(&object.key());
        return Change { kind: ChangeKind::Deleted, before, object };
    }
    let before = process.cache.put(object.clone());
    let kind = if before.is_some() { ChangeKind::Updated } else { ChangeKind::Added };
    Change { kind, before, object }
}

/// What an event handler's verdict does to a level-triggered loop's queue.
pub(super) fn wake(process: &mut Process, woken: Woken, cause: &Cause, now: crate::kernel::Time) {
    promises::observe(&woken, &mut process.expectations);
    for key in woken.keys {
        process.enqueue(key, cause);
    }
    for (key, after) in woken.later {
        process.enqueue_later(key, after, Cause::Timer, now);
    }
}
