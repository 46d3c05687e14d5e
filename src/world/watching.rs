//! From the store to the loop: publishing commits to streams, delivering them into caches, and
//! handing changes to loops at the door. Here an event can be lost, and where it is lost decides
//! who notices.

use std::sync::Arc;
use std::time::Duration;

use crate::api::{Kind, Object};
use crate::apiserver::{ApiError, Commit, Reason, WatchEvent};
use crate::client::reflector::{AfterWatch, ListPage, Listing};
use crate::controllers::{Change, Context, Woken, promises};
use crate::kernel::Time;

use super::ControllerId;
use super::heartbeat::is_heartbeat;
use super::options::Flavour;
use super::process::{EdgeItem, Process};
use super::record::{Arrival, Cause, Occurrence, Trip};
use super::step::{BOOKMARK, Step};
use super::stream::{Fate, Flight, Stream};
use super::world::World;

/// How long a change waits for its successor at most.
const SUCCESSOR: Duration = Duration::from_secs(5);

impl World {
    /// Sends all commits that were not sent yet down the open streams.
    pub(super) fn publish(&mut self) {
        let commits: Vec<Commit> = match self.api.store().since(self.published) {
            Ok(commits) => commits.cloned().collect(),
            Err(_) => Vec::new(),
        };
        self.published = self.api.store().revision();
        self.note_definitions(&commits);
        for commit in &commits {
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
            self.send(index, event, is_upkeep(commit));
        }
    }

    pub(super) fn send(&mut self, index: usize, event: WatchEvent, background: bool) {
        let (low, high) = self.options.network.watch;
        let slow = self.faults.slowness();
        let stream = &mut self.streams[index];
        let latency = stream.rng.span(low, high) * slow;
        // An ordered stream: nothing overtakes.
        let arrives = (self.now + latency).max(stream.last_arrival + Duration::from_micros(1));
        stream.last_arrival = arrives;
        let id = self.next_message;
        self.next_message += 1;
        let stands = self.stands_still(index);
        let stream = &mut self.streams[index];
        stream.flights.push_back(id);
        let owner = stream.owner;
        let (fate, late) = self.faults.strike(owner, &event);
        let (stream, sent) = (index, self.now);
        let trip = Trip { revision: event.revision, sent, arrived: arrives };
        self.tell_struck(owner, &event, fate, trip);
        self.flying += usize::from(!background);
        self.flights.insert(id, Flight { stream, event, sent, arrives, fate, late, background });
        self.put(arrives, Step::Deliver(id, background));
        if stands || fate == Fate::HeldOnWire {
            self.stand_still(index);
        }
    }

    pub(super) fn tell_struck(
        &mut self,
        to: ControllerId,
        event: &WatchEvent,
        fate: Fate,
        trip: Trip,
    ) {
        let how = match fate {
            Fate::Intact => return,
            Fate::DroppedAtDoor | Fate::DroppedOnWire => "drop",
            Fate::DelayedAtDoor(_) | Fate::DelayedOnWire => "delay",
            Fate::DoubledAtDoor | Fate::DoubledOnWire => "duplicate",
            Fate::Swapped => "reorder",
            Fate::HeldAtDoor | Fate::HeldOnWire => "hold",
        };
        let object = event.object.key();
        let on_wire =
            matches!(fate, Fate::DroppedOnWire | Fate::DelayedOnWire | Fate::DoubledOnWire);
        self.tell(Occurrence::Struck { to, event: event.kind, object, how, trip, on_wire });
    }

    /// A watch event arrives at its process.
    pub(super) fn deliver(&mut self, id: u64) {
        // It is gone if its stream broke.
        let Some(flight) = self.flights.get_mut(&id) else { return };
        let (index, background) = (flight.stream, flight.background);
        if flight.arrives == Time::MAX {
            // It stands, and is put on the agenda again when it is let go.
            return;
        }
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
        stream.reflector.saw(flight.event.revision);
        let owner = stream.owner;
        self.totals.watch_events += u64::from(!background);
        self.receive(owner, id, &flight);
    }

    fn receive(&mut self, owner: ControllerId, number: u64, flight: &Flight) {
        let stream = &mut self.streams[flight.stream];
        if flight.fate == Fate::DroppedOnWire {
            stream.lose(flight.key(), flight.sent);
            return;
        }
        stream.hear_of(&flight.key());
        if flight.fate == Fate::Intact && !flight.background {
            let (event, object) = (flight.event.kind, flight.key());
            let (revision, sent, arrived) = (flight.event.revision, flight.sent, self.now);
            let trip = Trip { revision, sent, arrived };
            self.tell(Occurrence::Arrived(Arrival { to: owner, event, object, trip }));
        }
        let times = if flight.fate == Fate::DoubledOnWire { 2 } else { 1 };
        for _ in 0..times {
            let Some(process) = self.processes.get_mut(&owner) else { return };
            let (event, informer) = (&flight.event, &mut self.streams[flight.stream].informer);
            informer.watched(event.kind, event.object.clone(), &process.cache);
            let (revision, sent, arrived) = (event.revision, flight.sent, self.now);
            for change in informer.drain(&mut process.cache) {
                let trip = Trip { revision, sent, arrived };
                let cause = Cause::Watch(event.kind, event.object.key(), trip);
                let holds = flight.fate == Fate::HeldAtDoor;
                if !holds || !self.hold_at_door(number, flight, &change, &cause) {
                    self.at_the_door(owner, change, cause, flight.fate);
                }
            }
        }
    }

    fn at_the_door(&mut self, owner: ControllerId, change: Change, cause: Cause, fate: Fate) {
        match fate {
            Fate::DroppedAtDoor => {}
            Fate::DelayedAtDoor(by) => {
                let epoch = self.processes.get(&owner).map_or(0, |process| process.epoch);
                self.put(self.now + by, Step::Door(owner, epoch, Box::new((change, cause))));
            }
            Fate::DoubledAtDoor => {
                self.hand_over(owner, change.clone(), cause.clone());
                self.hand_over(owner, change, cause);
            }
            Fate::Swapped => {
                let until = self.now + SUCCESSOR;
                if let Some(process) = self.processes.get_mut(&owner) {
                    process.held_back.push((until, change, cause));
                    let epoch = process.epoch;
                    self.put(until, Step::HeldBack(owner, epoch));
                }
            }
            _ => {
                self.hand_over(owner, change, cause);
                self.let_through(owner, Time::MAX);
            }
        }
    }

    /// Hands over what was held back for a successor and not beyond this moment.
    pub(super) fn let_through(&mut self, owner: ControllerId, moment: Time) {
        let Some(process) = self.processes.get_mut(&owner) else { return };
        if process.held_back.is_empty() {
            return;
        }
        let all = std::mem::take(&mut process.held_back);
        let (due, left) = all.into_iter().partition(|(until, ..)| *until <= moment);
        process.held_back = left;
        let due: Vec<(Time, Change, Cause)> = due;
        for (_, change, cause) in due {
            self.hand_over(owner, change, cause);
        }
    }

    /// Hands a change to a loop: level takes a key from it, edge takes it as it is.
    pub(super) fn hand_over(&mut self, id: ControllerId, change: Change, mut cause: Cause) {
        let (now, seed) = (self.now, self.options.seed);
        if let Cause::Watch(_, _, trip) = &mut cause {
            trip.arrived = now;
        }
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
            let mut woken = woken.unwrap_or_default();
            if process.is_deaf_to(&cause) {
                (woken.keys, woken.later) = Default::default();
            }
            wake(process, woken, &cause, now);
        }
        self.announce(id);
        self.pump(id);
    }

    /// The first list of all: it fills the cache without waking the loop, but for what its memory
    /// must know.
    pub(super) fn take_first_list(&mut self, index: usize) {
        let (now, seed) = (self.now, self.options.seed);
        let stream = &mut self.streams[index];
        let objects = self.api.store().list(stream.kind).filter(|o| stream.selects(o));
        let objects = objects.cloned().collect();
        let Some(process) = self.processes.get_mut(&stream.owner) else { return };
        stream.informer.listed(objects, &process.cache);
        for change in stream.informer.drain(&mut process.cache) {
            let cx = Context { cache: &process.cache, now, seed, promises_kept: true };
            if process.flavour == Flavour::Level {
                process.mind.wakes(&change, &cx);
            }
        }
    }

    /// A watch that has been told everything learns how far the server is, so that it can resume
    /// from there. That takes no time, and one that has something under way is left out.
    pub(super) fn send_bookmarks(&mut self) {
        self.put(self.now + BOOKMARK, Step::Bookmarks);
        let revision = self.api.store().revision();
        let open = |stream: &&mut Stream| stream.open && !stream.listing;
        for stream in self.streams.iter_mut().filter(open) {
            if stream.flights.is_empty() {
                stream.revision = revision;
                stream.reflector.saw(revision);
            }
        }
    }

    /// Breaks a stream: what was under way is lost, and it resumes from what had arrived.
    pub(super) fn break_stream(&mut self, index: usize) {
        let stream = &mut self.streams[index];
        stream.open = false;
        stream.revision = stream.reflector.version();
        for flight in std::mem::take(&mut stream.flights) {
            let flight = self.flights.remove(&flight);
            let flew = |flight: Flight| !flight.background && flight.arrives != Time::MAX;
            self.flying -= usize::from(flight.is_some_and(flew));
        }
    }

    /// Breaks all streams of a process. The reflectors try to open their watches again at once.
    pub(super) fn break_streams(&mut self, id: ControllerId) {
        let epoch = self.processes.get(&id).map_or(0, |process| process.epoch);
        for index in self.streams_owned_by(id) {
            // One that is not open is tried already, or waits for its list.
            let tries = self.streams[index].open && !self.streams[index].listing;
            self.break_stream(index);
            if tries {
                self.put(self.now, Step::Reopen(index, epoch));
            }
        }
    }

    /// A reflector tries to open its watch again.
    pub(super) fn reopen(&mut self, index: usize, epoch: u32) {
        let owner = self.streams[index].owner;
        if self.is_stale(owner, epoch) || self.streams[index].open {
            return;
        }
        if let Some(error) = self.refusal(owner) {
            return self.watch_failed(index, epoch, &error);
        }
        let missed = self.api.store().since(self.streams[index].revision);
        match missed.map(|commits| commits.cloned().collect::<Vec<Commit>>()) {
            Ok(commits) => {
                self.streams[index].open = true;
                commits.iter().for_each(|commit| self.offer(index, commit));
            }
            // 410.
            Err(error) => self.watch_failed(index, epoch, &error),
        }
    }

    fn watch_failed(&mut self, index: usize, epoch: u32, error: &ApiError) {
        let now = self.now;
        let stream = &mut self.streams[index];
        match stream.reflector.watch_failed(error, now, &mut stream.rng) {
            AfterWatch::Rewatch(wait) => self.put(now + wait, Step::Reopen(index, epoch)),
            AfterWatch::Relist(wait) => self.list_after(index, wait),
        }
    }

    /// Asks for a list; the watch opens from its revision.
    pub(super) fn list(&mut self, index: usize) {
        self.list_after(index, Duration::ZERO);
    }

    fn list_after(&mut self, index: usize, wait: Duration) {
        let stream = &mut self.streams[index];
        stream.listing = true;
        stream.reflector.begin_list();
        self.ask_for_list(index, wait);
    }

    fn ask_for_list(&mut self, index: usize, wait: Duration) {
        let owner = self.streams[index].owner;
        let epoch = self.processes.get(&owner).map_or(0, |process| process.epoch);
        let latency = self.latency(owner);
        self.put(self.now + wait + latency, Step::List(index, epoch));
    }

    pub(super) fn list_at_server(&mut self, index: usize, epoch: u32) {
        let owner = self.streams[index].owner;
        if self.is_stale(owner, epoch) {
            return;
        }
        self.totals.calls += 1;
        if let Some(error) = self.refusal(owner).or_else(|| self.is_ahead(index)) {
            return self.list_failed(index, &error);
        }
        let arrives = self.now + self.latency(owner);
        let stream = &mut self.streams[index];
        let store = self.api.store();
        let objects = store.list(stream.kind).filter(|o| stream.selects(o)).cloned().collect();
        stream.revision = store.revision();
        stream.open = true;
        stream.last_arrival = stream.last_arrival.max(arrives);
        let revision = stream.revision;
        self.put(arrives, Step::Listed(index, epoch, objects, revision));
    }

    /// The server has not come to the version that a list asks for.
    fn is_ahead(&self, index: usize) -> Option<ApiError> {
        let wanted = self.streams[index].reflector.asked()?.version?;
        let current = self.api.store().revision();
        let text = format!("Too large resource version: {wanted}, current: {current}");
        (wanted > current).then(|| ApiError::new(Reason::Timeout, text))
    }

    fn list_failed(&mut self, index: usize, error: &ApiError) {
        let now = self.now;
        let stream = &mut self.streams[index];
        match stream.reflector.list_answered(Err(error), now, &mut stream.rng) {
            Listing::Ask(_) => self.ask_for_list(index, Duration::ZERO),
            Listing::Failed(wait) => self.list_after(index, wait),
            Listing::Done(_) => {}
        }
    }

    /// A list replaces what the cache holds of its kind; each difference is a change, as an
    /// informer makes it.
    pub(super) fn listed(
        &mut self,
        index: usize,
        epoch: u32,
        objects: Vec<Arc<Object>>,
        version: u64,
    ) {
        let (owner, now) = (self.streams[index].owner, self.now);
        if self.is_stale(owner, epoch) {
            return;
        }
        let stream = &mut self.streams[index];
        let page = ListPage { version, items: objects, continues: None };
        let listing = stream.reflector.list_answered(Ok(page), now, &mut stream.rng);
        let Listing::Done(objects) = listing else { return };
        let Some(process) = self.processes.get_mut(&owner) else { return };
        stream.listing = false;
        stream.lost.clear();
        let starts = !stream.informer.has_synced();
        stream.informer.listed(objects, &process.cache);
        // Handlers run beside the informer: the cache has the whole list when they look.
        let changes = stream.informer.drain(&mut process.cache);
        if starts {
            process.unsynced = process.unsynced.saturating_sub(1);
        }
        let broke = !stream.open;
        let has_all = starts && process.unsynced == 0;
        let from_now = process.flavour == Flavour::Edge && starts && !process.knobs.relist_on_start;
        if !from_now {
            changes.into_iter().for_each(|change| self.hand_over(owner, change, Cause::List));
        }
        if starts && let ControllerId::Kubelet(node) = owner {
            // What was deleted while nobody listened is in no list: the node itself knows of it.
            let known = self.kubelets.get(usize::from(node)).map(|kubelet| kubelet.known_pods());
            self.wake_kubelet(node, known.unwrap_or_default());
        }
        if has_all {
            self.schedule_poll(owner, Duration::ZERO);
        }
        if broke {
            self.streams[index].revision = version;
            self.put(now, Step::Reopen(index, epoch));
        }
        self.pump(owner);
    }

    pub(super) fn resync(&mut self, id: ControllerId) {
        self.schedule_resync(id);
        self.replay_cache(id);
    }

    /// Replays the cache into the queue (resync is not relist: nothing is asked of the server).
    pub(super) fn replay_cache(&mut self, id: ControllerId) {
        self.replay_as(id, &Cause::Resync);
    }

    pub(super) fn replay_as(&mut self, id: ControllerId, cause: &Cause) {
        let mut changes = Vec::new();
        for index in self.streams_owned_by(id) {
            let Some(process) = self.processes.get_mut(&id) else { return };
            let informer = &mut self.streams[index].informer;
            informer.resync(&process.cache);
            changes.extend(informer.drain(&mut process.cache));
        }
        changes.into_iter().for_each(|change| self.hand_over(id, change, cause.clone()));
    }

    /// Sets the moment of the next resync of a process that runs: one that starts sets its own.
    pub(super) fn schedule_resync(&mut self, id: ControllerId) {
        let Some(process) = self.processes.get(&id).filter(|process| process.alive) else { return };
        let (period, epoch) = (process.knobs.resync_period, process.epoch);
        if !period.is_zero() {
            self.put(self.now + period, Step::Resync(id, epoch));
        }
    }

    fn is_stale(&self, id: ControllerId, epoch: u32) -> bool {
        self.processes.get(&id).is_none_or(|p| p.epoch != epoch || !p.alive)
    }
}

/// Whether a change is a mere sign of life: a lease, or a node that says again what it said.
pub(super) fn is_upkeep(commit: &Commit) -> bool {
    match (commit.before.as_deref(), commit.after.as_deref()) {
        (Some(Object::Node(before)), Some(Object::Node(after))) => is_heartbeat(before, after),
        _ => matches!(commit.object().kind(), Kind::Lease | Kind::Event),
    }
}

/// What an event handler's verdict does to a level-triggered loop's queue.
pub(super) fn wake(process: &mut Process, woken: Woken, cause: &Cause, now: Time) {
    promises::observe(&woken, &mut process.expectations);
    for key in woken.keys {
        process.enqueue(key, cause, now);
    }
    // Between a change and the scheduler's next look lies a back-off, and no more.
    let is_back_off = process.mind.as_scheduler().is_some();
    let cause = if is_back_off { cause } else { &Cause::Timer };
    for (key, after) in woken.later {
        process.enqueue_later(key, after, cause.clone(), now);
    }
}
