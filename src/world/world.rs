//! A cluster: an API server, the processes that watch it, the machines they run on, and the network
//! between them. `World::step` takes the next entry off the agenda and carries it out; nothing else
//! moves time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use crate::api::custom::Served;
use crate::api::{Kind, Object, Str};
use crate::apiserver::managed_fields::manager_of;
use crate::apiserver::{ApiServer, Request, Response, Store};
use crate::controllers::{Context, Woken};
use crate::kernel::{Agenda, Rng, Time, TraceHash};
use crate::node::Kubelet;
use crate::node::registration::{lease_object, node_object};

use super::ControllerId;
use super::active_faults::ActiveFaults;
use super::election::Candidate;
use super::flights::Flights;
use super::git::Repository;
use super::held::HeldChanges;
use super::metrics::MetricsServer;
use super::mind::Mind;
use super::options::Options;
use super::process::Process;
use super::processes::Processes;
use super::provider::Provider;
use super::record::{Cause, Occurrence, Record};
use super::requests::RequestInFlight;
use super::server_limit::Seats;
use super::step::{BOOKMARK, HEARTBEAT, MONITOR, Step};
use super::stream::{Flight, Stream, StreamIndex};
use super::watching::wake;

/// One cluster.
#[derive(Clone, Debug)]
pub struct World {
    pub(super) options: Arc<Options>,
    pub(super) now: Time,
    pub(super) agenda: Agenda<Step>,
    /// Entries of the agenda that are not mere upkeep.
    pub(super) foreground: u64,
    pub(super) api: ApiServer,
    pub(super) processes: Processes,
    pub(super) kubelets: Vec<Kubelet>,
    /// Whether each node reaches the API server.
    pub(super) connected: Vec<bool>,
    pub(super) streams: Vec<Stream>,
    pub(super) stream_index: StreamIndex,
    pub(super) flights: Flights,
    /// How many of them are shown.
    pub(super) flying: usize,
    pub(super) requests: BTreeMap<u64, RequestInFlight>,
    pub(super) next_message: u64,
    pub(super) next_pass: u64,
    pub(super) faults: ActiveFaults,
    pub(super) hash: TraceHash,
    pub(super) records: Vec<Record>,
    pub(super) totals: Totals,
    /// Entries of the agenda that were carried out.
    steps: u64,
    /// Which passes are thinking right now: the page slows down for them.
    pub(super) thinking: BTreeSet<u64>,
    /// Revision up to which commits were sent to the watches.
    pub(super) published: u64,
    /// The kinds that users defined here.
    pub(super) served: Arc<[Served]>,
    pub(super) metrics: MetricsServer,
    pub(super) repository: Repository,
    pub(super) provider: Provider,
    /// What is held at the doors of loops.
    pub(super) held_changes: HeldChanges,
    /// The API server's seats, if they are counted.
    pub(super) seats: Option<Seats>,
    /// Processes that compete for a lease.
    pub(super) candidates: Vec<Candidate>,
}

/// Totals since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Passes.
    pub passes: u64,
    /// Requests.
    pub calls: u64,
    /// Requests that changed something.
    pub writes: u64,
    /// Watch events delivered.
    pub watch_events: u64,
    /// Passes that ended in an error and come back.
    pub retries: u64,
}

/// How busy a world is, for pacing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// Passes that are thinking.
    pub thinking: usize,
    /// Messages under way.
    pub flying: usize,
}

impl World {
    /// A running cluster with its nodes, and nothing else. All caches agree with the store.
    pub fn new(options: Options) -> World {
        let seed = options.seed;
        let mut world = World {
            now: Time::ZERO,
            agenda: Agenda::default(),
            foreground: 0,
            api: ApiServer::new(seed).with_built_in_objects(),
            processes: Processes::default(),
            kubelets: Vec::new(),
            connected: Vec::new(),
            streams: Vec::new(),
            stream_index: StreamIndex::default(),
            flights: Flights::default(),
            flying: 0,
            requests: BTreeMap::new(),
            next_message: 0,
            next_pass: 0,
            faults: ActiveFaults::default(),
            hash: TraceHash::default(),
            records: Vec::new(),
            totals: Totals::default(),
            steps: 0,
            thinking: BTreeSet::new(),
            published: 0,
            served: Arc::new([]),
            metrics: MetricsServer::new(options.load.clone()),
            repository: Repository::default(),
            provider: Provider::default(),
            held_changes: HeldChanges::new(),
            seats: options.server_limit.map(Seats::new),
            candidates: Vec::new(),
            options: Arc::new(options),
        };
        let nodes = world.options.nodes;
        (0..nodes).for_each(|node| world.add_node(node));
        world.published = world.api.store().revision();
        ControllerId::CENTRAL.into_iter().for_each(|id| world.add_process(id));
        (0..nodes).for_each(|node| world.add_process(ControllerId::Kubelet(node)));
        world.put(Time::ZERO + MONITOR, Step::Monitor(0));
        world.put(Time::ZERO + BOOKMARK, Step::Bookmarks);
        world
    }

    fn add_node(&mut self, node: u16) {
        let name: Str = format!("node-{}", node + 1).into();
        let mut kubelet = Kubelet::new(name.clone());
        let object = node_object(&name, kubelet.node_ip(), self.now);
        let lease = lease_object(&name, self.now);
        for object in [Object::Node(object), Object::Lease(lease)] {
            // An empty store takes its first objects.
            let _ = self.api.handle(&Request::Create(Arc::new(object)), self.now);
        }
        kubelet.note_registration();
        self.kubelets.push(kubelet);
        self.connected.push(true);
        // Spread over the period, as in a real cluster.
        let first = HEARTBEAT.mul_f64(f64::from(node + 1) / f64::from(self.options.nodes.max(1)));
        self.put(Time::ZERO + first, Step::Heartbeat(node));
    }

    pub(super) fn add_process(&mut self, id: ControllerId) {
        if self.make_process(id) {
            self.begin_synced(id);
        }
    }

    /// A second process of a controller: it does nothing until it leads.
    pub(super) fn add_standby(&mut self, id: ControllerId) {
        self.make_process(id);
        let streams = self.streams_owned_by(id);
        streams.into_iter().for_each(|index| self.break_stream(index));
    }

    /// Whether it is to run.
    fn make_process(&mut self, id: ControllerId) -> bool {
        let knobs = self.options.knobs.get(id.name()).copied().unwrap_or_default();
        let knobs = super::on_demand::knobs(id, knobs);
        // A second process is as the first one is by now.
        let knobs = self.processes.get(&id.role()).map_or(knobs, |first| first.knobs);
        let flavour = self.flavour_of(id, &knobs);
        let name = match id {
            ControllerId::Kubelet(node) => format!("kubelet/{}", self.node_name(node)),
            ControllerId::Standby(_) => format!("{}/2", id.name()),
            _ => id.name().to_string(),
        };
        let rng = Rng::stream(self.options.seed, &format!("latency/{name}"));
        let mut process = Process::new(id, flavour, knobs, Mind::of(id), rng);
        if let ControllerId::Kubelet(_) = id {
            // A kubelet has a worker for every pod.
            process.knobs.workers = 110;
        }
        let enabled = process.knobs.enabled;
        let first = self.streams.len();
        process.streams = (first..first + Mind::kinds(id).len()).collect();
        self.processes.insert(process);
        for kind in Mind::kinds(id) {
            let node = match id {
                ControllerId::Kubelet(node) => Some(self.node_name(node)),
                _ => None,
            };
            let rng = Rng::stream(self.options.seed, &format!("watch/{name}/{}", kind.info().kind));
            self.stream_index.note(self.streams.len(), *kind, node.as_ref());
            let revision = self.api.store().revision();
            let whose = (id, *kind, node);
            self.streams.push(Stream::new(whose, revision, enabled, knobs.informer_queue, rng));
        }
        enabled
    }

    /// The first start of all: the cache is filled at once and nothing counts as new but what a
    /// controller must know of (nodes).
    fn begin_synced(&mut self, id: ControllerId) {
        if let Some(process) = self.processes.get_mut(&id) {
            process.alive = true;
        }
        self.streams_owned_by(id).into_iter().for_each(|index| self.take_first_list(index));
        self.schedule_resync(id);
        let poll = self.processes.get(&id).map_or(Duration::ZERO, |process| process.knobs.poll);
        self.schedule_poll(id, poll);
    }

    /// The time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The API server, to read from.
    pub fn api(&self) -> &ApiServer {
        &self.api
    }

    /// What is stored: the truth.
    pub fn store(&self) -> &Store {
        self.api.store()
    }

    /// The options that it was built with.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The hash of all that happened.
    pub fn trace_hash(&self) -> u64 {
        self.hash.digest()
    }

    /// Totals since the start of the run.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// How many steps it has taken since the start: the work that it was to compute it.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// How busy it is at this moment.
    pub fn activity(&self) -> Activity {
        Activity { thinking: self.thinking.len(), flying: self.flying + self.requests.len() }
    }

    /// Whether anything is under way or due that is not mere upkeep.
    pub fn is_busy(&self) -> bool {
        self.foreground > 0
    }

    /// When the next entry of the agenda is due, upkeep included.
    pub fn next_time(&self) -> Option<Time> {
        self.agenda.next_time()
    }

    /// When something is due next that is not mere upkeep. It looks at the whole agenda.
    pub fn next_event_time(&self) -> Option<Time> {
        let due = self.agenda.iter().filter(|entry| !entry.what.is_background());
        due.map(|entry| entry.at).min()
    }

    /// What happened since this was last called.
    pub fn take_records(&mut self) -> Vec<Record> {
        // As many are to be expected as there were.
        let next = Vec::with_capacity(self.records.len());
        std::mem::replace(&mut self.records, next)
    }

    /// The processes, by id.
    pub fn processes(&self) -> impl Iterator<Item = &Process> + '_ {
        self.processes.values()
    }

    /// One process.
    pub fn process(&self, id: ControllerId) -> Option<&Process> {
        self.processes.get(&id)
    }

    /// The machines, by number.
    pub fn kubelets(&self) -> &[Kubelet] {
        &self.kubelets
    }

    /// Whether a node reaches the API server.
    pub fn is_connected(&self, node: u16) -> bool {
        self.connected.get(usize::from(node)).copied().unwrap_or(false)
    }

    /// Watch events under way, with their numbers.
    pub fn flights(&self) -> impl Iterator<Item = (u64, &Flight)> + '_ {
        self.flights.iter()
    }

    /// When the oldest of them that is shown left.
    pub fn oldest_flight(&self) -> Option<Time> {
        self.flights.oldest()
    }

    /// Requests and answers under way, with their numbers.
    pub fn requests(&self) -> impl Iterator<Item = (u64, &RequestInFlight)> + '_ {
        self.requests.iter().map(|(id, request)| (*id, request))
    }

    /// The watches, by number.
    pub fn streams(&self) -> &[Stream] {
        &self.streams
    }

    /// The faults in force.
    pub fn faults(&self) -> &ActiveFaults {
        &self.faults
    }

    /// The name of a node.
    pub fn node_name(&self, node: u16) -> Str {
        match self.kubelets.get(usize::from(node)) {
            Some(kubelet) => kubelet.node_name().clone(),
            None => format!("node-{}", node + 1).into(),
        }
    }

    /// The number of the node of this name. Names are numbered, so none needs to be looked for.
    pub fn node_number(&self, name: &str) -> Option<u16> {
        let number = name.strip_prefix("node-")?.parse::<u16>().ok()?.checked_sub(1)?;
        let kubelet = self.kubelets.get(usize::from(number))?;
        (**kubelet.node_name() == *name).then_some(number)
    }

    pub(super) fn put(&mut self, at: Time, step: Step) {
        self.foreground += u64::from(!step.is_background());
        self.agenda.put(at, step);
    }

    pub(super) fn tell(&mut self, what: Occurrence) {
        self.records.push(Record { at: self.now, what });
    }

    /// Carries out the next entry of the agenda, if it is due by `until`. False if there is none.
    pub fn step(&mut self, until: Time) -> bool {
        if self.agenda.next_time().is_none_or(|at| at > until) {
            self.now = self.now.max(until);
            return false;
        }
        let Some(entry) = self.agenda.take() else { return false };
        self.foreground -= u64::from(!entry.what.is_background());
        self.now = entry.at;
        self.steps += 1;
        self.knowing_defined(|world| world.carry_out(entry.what));
        true
    }

    /// Runs until `until`; at most `budget` steps. False if the budget ran out first.
    pub fn run_until(&mut self, until: Time, budget: u64) -> bool {
        (0..budget).any(|_| !self.step(until))
    }

    fn carry_out(&mut self, step: Step) {
        self.hash.number(self.now.as_nanos());
        self.hash.number(step.tag());
        if let Some((id, epoch)) = step.meant_for()
            && self.processes.get(&id).is_none_or(|process| process.epoch != epoch)
        {
            return;
        }
        if let Some(until) = self.put_off(&step) {
            return self.put(until, step);
        }
        match step {
            Step::Deliver(flight, _) => self.deliver(flight),
            Step::Door(id, _, held) => {
                let (change, cause) = *held;
                self.hand_over(id, change, cause);
            }
            Step::HeldBack(id, _) => self.let_through(id, self.now),
            Step::Decided(id, _, pass, _) => self.decided(id, pass),
            Step::Arrive(request, _) => self.request_arrives(request),
            Step::Answer(request, response, _) => self.answer_arrives(request, &response),
            Step::Due(id, ..) => self.queue_due(id),
            Step::List(stream, epoch) => self.list_at_server(stream, epoch),
            Step::Listed(stream, epoch, objects, revision) => {
                self.listed(stream, epoch, objects, revision);
            }
            Step::Reopen(stream, epoch) => self.reopen(stream, epoch),
            Step::Kubelet(node, timer) => self.kubelet_timer(node, &timer),
            Step::Resync(id, _) => self.resync(id),
            Step::Poll(id, _) => self.poll(id),
            Step::Flush(id, _) => self.flush(id),
            Step::Heartbeat(node) => self.heartbeat(node),
            Step::Bookmarks => self.send_bookmarks(),
            Step::Monitor(epoch) => self.monitor(epoch),
            Step::FaultEnds(fault) => self.fault_ends(fault),
            Step::Scrape => self.scrape(),
            Step::Elect(id) => self.elect(id),
            Step::Settle(payment) => self.settle(payment),
        }
    }

    fn monitor(&mut self, epoch: u32) {
        self.put(self.now + MONITOR, Step::Monitor(epoch));
        self.monitor_nodes();
    }

    /// The node controller looks at all nodes.
    fn monitor_nodes(&mut self) {
        let (now, seed) = (self.now, self.options.seed);
        let id = ControllerId::NodeLifecycle;
        let Some(process) = self.processes.get_mut(&id).filter(|p| p.alive && p.unsynced == 0)
        else {
            return;
        };
        let cx = Context { cache: &process.cache, now, seed, promises_kept: true };
        let Mind::NodeLifecycle(lifecycle) = &mut process.mind else { return };
        let keys = lifecycle.monitor(&cx);
        self.wake_keys(id, Woken { keys, ..Woken::default() });
    }

    /// Puts keys into the queue of a level-triggered loop, as its timers and answers do.
    pub(super) fn wake_keys(&mut self, id: ControllerId, woken: Woken) {
        if woken == Woken::default() {
            return;
        }
        let now = self.now;
        if let Some(process) = self.processes.get_mut(&id) {
            wake(process, woken, &Cause::Timer, now);
        }
        self.announce(id);
        self.pump(id);
    }

    /// Carries out a request at the API server and publishes what it changed.
    pub(super) fn handle(&mut self, request: &Request, by: &str) -> Response {
        self.handle_as(request, by, manager_of(by))
    }

    fn handle_as(&mut self, request: &Request, by: &str, manager: &str) -> Response {
        self.start_on_demand(request);
        let before = self.replicas_before(request);
        self.api.stamp(self.now, by);
        let response = self.api.handle_as(request, manager, self.now);
        if let Ok(object) = &response {
            self.hash.text(by);
            self.hash.number(object.meta().resource_version);
            self.note_scaling(object, before, by);
        }
        self.publish();
        response
    }

    fn replicas_before(&self, request: &Request) -> Option<i32> {
        let scales = matches!(request.kind(), Kind::Deployment | Kind::ReplicaSet);
        if scales { replicas_of(self.api.store().get(&request.key())) } else { None }
    }

    fn note_scaling(&mut self, object: &Arc<Object>, before: Option<i32>, by: &str) {
        if let (Some(from), Some(to)) = (before, replicas_of(Some(object)))
            && from != to
        {
            let by = by.into();
            self.tell(Occurrence::Scaled { object: object.key(), from, to, by });
        }
    }

    /// What a person does with kubectl: it takes effect at once.
    pub fn request(&mut self, request: &Request) -> Response {
        self.handle(request, "kubectl")
    }

    /// The same, under the name of a field manager.
    pub fn request_as(&mut self, request: &Request, manager: &str) -> Response {
        self.handle_as(request, "kubectl", manager)
    }

    /// What a request would answer. Nothing is changed.
    pub fn dry_run(&self, request: &Request) -> Response {
        self.dry_run_as(request, "")
    }

    /// The same, under the name of a field manager.
    pub fn dry_run_as(&self, request: &Request, manager: &str) -> Response {
        self.api.clone().handle_as(request, manager, self.now)
    }

    /// Time that a message takes one way, drawn from the process's own stream.
    pub(super) fn latency(&mut self, id: ControllerId) -> Duration {
        let (low, high) = self.options.network.request;
        let slow = self.faults.slowness();
        match self.processes.get_mut(&id) {
            Some(process) => process.rng.span(low, high) * slow,
            None => low,
        }
    }
}

fn replicas_of(object: Option<&Arc<Object>>) -> Option<i32> {
    match object.map(|o| &**o) {
        Some(Object::Deployment(deployment)) => Some(deployment.spec.replicas()),
        Some(Object::ReplicaSet(set)) => Some(set.spec.replicas()),
        _ => None,
    }
}
