//! Controllers that start when there is first something for them. A run without such objects has no
//! trace of them, and stays as it was to the last hash. In a real cluster they always run, and find
//! nothing.
//!
//! One starts just before the first object of its kind is written, so that it hears of that one as
//! of any other; what was there before, it has in its cache. The same holds for kinds that are
//! watched from their first object on.

use std::sync::Arc;
use std::time::Duration;

use crate::api::custom::Served;
use crate::api::{Kind, Object, custom};
use crate::apiserver::custom::{kind_of, served};
use crate::apiserver::{Commit, Request};
use crate::controllers::operator::Operator;
use crate::controllers::order::object::is_order;
use crate::controllers::scheduler::inter_pod::selects_namespaces;
use crate::controllers::scheduler::pending::{FIRST_BACK_OFF, LAST_BACK_OFF};
use crate::kernel::Rng;

use super::ControllerId;
use super::mind::Mind;
use super::options::Knobs;
use super::stream::Stream;
use super::world::World;

/// How often the quota controller counts everything again.
const QUOTA_RESYNC: Duration = Duration::from_secs(300);

/// Controllers, each with the kind whose first object calls it.
const CALLED: [(Kind, ControllerId); 9] = [
    (Kind::PodDisruptionBudget, ControllerId::Disruption),
    (Kind::ResourceQuota, ControllerId::ResourceQuota),
    (Kind::HorizontalPodAutoscaler, ControllerId::HorizontalAutoscaler),
    (Kind::Application, ControllerId::GitOps),
    (Kind::Job, ControllerId::Job),
    (Kind::StatefulSet, ControllerId::StatefulSet),
    (Kind::CronJob, ControllerId::CronJob),
    (Kind::DaemonSet, ControllerId::DaemonSet),
    (Kind::Service, ControllerId::EndpointSlice),
];

/// Whether the garbage collector watches a kind from its first object on: all that may own or be
/// owned, but for what it watches from the start. Events and leases come and go by themselves.
fn is_collected_later(kind: Kind) -> bool {
    kind.info().namespaced
        && !matches!(kind, Kind::Event | Kind::Lease)
        && !Mind::kinds(ControllerId::GarbageCollector).contains(&kind)
}

/// A controller's process, and its second one.
fn both(id: ControllerId) -> impl Iterator<Item = ControllerId> {
    [Some(id), id.second()].into_iter().flatten()
}

/// The knobs of a controller where a scenario leaves them alone.
pub(super) fn knobs(id: ControllerId, mut knobs: Knobs) -> Knobs {
    if id == ControllerId::ResourceQuota && knobs.resync_period.is_zero() {
        knobs.resync_period = QUOTA_RESYNC;
    }
    let usual = Knobs::default();
    let (base, max) = (&mut knobs.backoff_base, &mut knobs.backoff_max);
    if id == ControllerId::Scheduler && (*base, *max) == (usual.backoff_base, usual.backoff_max) {
        // `podErrorBackoffQ`: what failed for another reason than for want of a node.
        (*base, *max) = (FIRST_BACK_OFF, LAST_BACK_OFF);
    }
    knobs
}

impl World {
    /// Starts whom a request is about to give work.
    pub(super) fn start_on_demand(&mut self, request: &Request) {
        if !request.is_write() {
            return;
        }
        let kind = request.kind();
        // A namespace is of interest when it goes.
        if kind == Kind::Namespace && matches!(request, Request::Delete(..)) {
            self.call(ControllerId::Namespace);
        }
        let called = CALLED.iter().filter(|(own, _)| *own == kind);
        called.for_each(|(_, id)| self.call(*id));
        // Preemption asks them; runs without any stay as they were.
        if kind == Kind::PodDisruptionBudget {
            both(ControllerId::Scheduler).for_each(|id| _ = self.watch_more(id, kind));
        }
        // So does affinity that asks for namespaces by their labels.
        if let Request::Create(object) = request
            && object.as_pod().is_some_and(|pod| selects_namespaces(&pod.spec))
        {
            for id in both(ControllerId::Scheduler) {
                let stream = self.watch_more(id, Kind::Namespace);
                let alive = self.process(id).is_some_and(|process| process.alive);
                stream.into_iter().filter(|_| alive).for_each(|index| self.take_first_list(index));
            }
        }
        if is_collected_later(kind) {
            self.watch_more(ControllerId::GarbageCollector, kind);
        }
    }

    /// A second process watches what the first has come to watch.
    pub(super) fn watch_alike(&mut self, first: ControllerId, second: ControllerId) {
        let of = |id| move |stream: &&Stream| stream.owner == id;
        let kinds: Vec<Kind> = self.streams.iter().filter(of(first)).map(|s| s.kind).collect();
        kinds.into_iter().for_each(|kind| _ = self.watch_more(second, kind));
    }

    /// Starts the controller of this name, before there is anything to do for it.
    pub(super) fn call_by_name(&mut self, name: &str) {
        let named = ControllerId::ON_DEMAND.into_iter().filter(|id| id.name() == name);
        named.for_each(|id| self.call(id));
    }

    fn call(&mut self, id: ControllerId) {
        if self.processes.contains_key(&id) {
            return;
        }
        self.add_process(id);
        let specs = &self.options.operators;
        if let Some(process) = self.processes.get_mut(&id)
            && id == ControllerId::Operator
        {
            process.mind = Mind::Operator(Box::new(Operator::new(specs)));
        }
        if matches!(id, ControllerId::Namespace | ControllerId::ResourceQuota) {
            self.watch_all_defined(id);
        }
        if id == ControllerId::HorizontalAutoscaler {
            self.start_metrics();
        }
    }

    /// Watches the kinds that these commits define.
    pub(super) fn note_definitions(&mut self, commits: &[Commit]) {
        let defines = |commit: &&Commit| commit.object().kind() == Kind::CustomResourceDefinition;
        if !commits.iter().any(|commit| defines(&commit)) {
            return;
        }
        self.served = served(self.api.store().list(Kind::CustomResourceDefinition));
        for commit in commits.iter().filter(defines) {
            commit.after.iter().for_each(|object| self.watch_defined(object));
        }
    }

    /// A kind that was just defined: those that look at everything watch it too.
    fn watch_defined(&mut self, definition: &Object) {
        let Some(kind) = definition.as_generic().and_then(kind_of) else { return };
        for id in
            [ControllerId::GarbageCollector, ControllerId::Namespace, ControllerId::ResourceQuota]
        {
            self.watch_more(id, kind);
        }
        if self.options.operators.iter().any(|spec| *spec.kind == *kind.info().kind) {
            self.call(ControllerId::Operator);
            self.watch_more(ControllerId::Operator, kind);
        }
        if is_order(kind) {
            self.call(ControllerId::Order);
            self.watch_more(ControllerId::Order, kind);
        }
    }

    fn watch_all_defined(&mut self, id: ControllerId) {
        let kinds: Vec<Kind> = self.served.iter().map(|served| served.kind).collect();
        for kind in kinds {
            let stream = self.watch_more(id, kind);
            stream.into_iter().for_each(|index| self.take_first_list(index));
        }
    }

    /// Opens one watch more, if there is none yet; its number.
    fn watch_more(&mut self, id: ControllerId, kind: Kind) -> Option<usize> {
        let known = |stream: &Stream| stream.owner == id && stream.kind == kind;
        if self.streams.iter().any(known) {
            return None;
        }
        let name = format!("watch/{}/{}/{}", id.name(), kind.info().kind, kind.group());
        let rng = Rng::stream(self.options.seed, &name);
        let index = self.streams.len();
        let process = self.processes.get_mut(&id)?;
        process.streams.push(index);
        let (alive, order) = (process.alive, process.knobs.informer_queue);
        let revision = self.api.store().revision();
        self.stream_index.note(index, kind, None);
        self.streams.push(Stream::new((id, kind, None), revision, alive, order, rng));
        Some(index)
    }

    /// The kinds that users defined here.
    pub fn served(&self) -> Arc<[Served]> {
        self.served.clone()
    }

    /// Does a step while owners of defined kinds are known by their names.
    pub(super) fn knowing_defined(&mut self, act: impl FnOnce(&mut World)) {
        if self.served.is_empty() {
            return act(self);
        }
        let kinds = self.served.clone();
        custom::serving(kinds, || act(self));
    }
}
