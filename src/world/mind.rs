//! Which controller a process runs, and what it remembers. The one place where loops are told apart
//! by name: a new controller is a line in each match.

use crate::api::{Kind, ObjectKey, Str};
use crate::apiserver::{Request, Response};
use crate::client::work_queue::Rank;
use crate::controllers::garbage_collector::GarbageCollector;
use crate::controllers::gitops::{self, GitOps};
use crate::controllers::horizontal_autoscaler::HorizontalAutoscaler;
use crate::controllers::node_lifecycle::NodeLifecycle;
use crate::controllers::operator::Operator;
use crate::controllers::order::{self, Orders};
use crate::controllers::scheduler::Scheduler;
use crate::controllers::{
    Change, Context, Plan, Woken, cron_job, daemon_set, deployment, disruption, endpoint_slice,
    job, namespace, replica_set, resource_quota, stateful_set,
};
use crate::kernel::Time;

use super::ControllerId;

/// Kinds that the garbage collector watches: what owns, and what is owned.
const COLLECTED: &[Kind] = &[
    Kind::Deployment,
    Kind::ReplicaSet,
    Kind::Pod,
    Kind::StatefulSet,
    Kind::DaemonSet,
    Kind::Job,
    Kind::CronJob,
    Kind::Service,
    Kind::ConfigMap,
    Kind::Secret,
    Kind::ServiceAccount,
    Kind::PersistentVolumeClaim,
];

/// Kinds that the autoscaler watches: itself, what it scales, the pods, and what the metrics server
/// tells of.
const AUTOSCALED: &[Kind] = &[
    Kind::HorizontalPodAutoscaler,
    Kind::Deployment,
    Kind::ReplicaSet,
    Kind::StatefulSet,
    Kind::Pod,
    Kind::PodMetrics,
];

/// Kinds that the GitOps controller watches: Applications, what they may hold, and pushes.
const GITOPS: &[Kind] = &gitops::WATCHED;
/// A level-triggered controller with no memory of its own.
#[derive(Debug)]
pub struct Plain {
    id: ControllerId,
    kinds: &'static [Kind],
    wakes: fn(&Change, &Context<'_>) -> Woken,
    sync: fn(&ObjectKey, &Context<'_>) -> Plan,
}

const PLAIN: &[Plain] = &[
    Plain {
        id: ControllerId::Disruption,
        kinds: disruption::KINDS,
        wakes: disruption::wakes,
        sync: disruption::sync,
    },
    Plain {
        id: ControllerId::ResourceQuota,
        kinds: resource_quota::KINDS,
        wakes: resource_quota::wakes,
        sync: resource_quota::sync,
    },
    Plain {
        id: ControllerId::Namespace,
        kinds: namespace::KINDS,
        wakes: namespace::wakes,
        sync: namespace::sync,
    },
    Plain {
        id: ControllerId::StatefulSet,
        kinds: &[
            Kind::StatefulSet,
            Kind::Pod,
            Kind::ControllerRevision,
            Kind::PersistentVolumeClaim,
        ],
        wakes: stateful_set::wakes,
        sync: stateful_set::sync,
    },
    Plain {
        id: ControllerId::CronJob,
        kinds: &[Kind::CronJob, Kind::Job],
        wakes: cron_job::wakes,
        sync: cron_job::sync,
    },
    Plain {
        id: ControllerId::DaemonSet,
        kinds: &[Kind::DaemonSet, Kind::Pod, Kind::ControllerRevision, Kind::Node],
        wakes: daemon_set::wakes,
        sync: daemon_set::sync,
    },
    Plain {
        id: ControllerId::EndpointSlice,
        kinds: &[Kind::Service, Kind::EndpointSlice, Kind::Pod],
        wakes: endpoint_slice::wakes,
        sync: endpoint_slice::sync,
    },
];

fn plain(id: ControllerId) -> Option<&'static Plain> {
    PLAIN.iter().find(|plain| plain.id == id)
}

/// A controller's own memory.
#[derive(Clone, Debug)]
pub enum Mind {
    /// Edge: what it was told and did. Level remembers nothing.
    Deployment(deployment::Ledger),
    /// Edge: what it was told and did. Level remembers nothing.
    ReplicaSet(replica_set::Ledger),
    /// What is free on each node.
    Scheduler(Box<Scheduler>),
    /// Who owns whom.
    GarbageCollector(Box<GarbageCollector>),
    /// When each node was last heard of.
    NodeLifecycle(Box<NodeLifecycle>),
    /// Past wishes and changes; edge: also what it was told.
    HorizontalAutoscaler(Box<HorizontalAutoscaler>),
    /// The revision that it goes by; edge: also what it owes.
    GitOps(Box<GitOps>),
    /// Back-offs, and pods that were counted.
    Job(Box<job::Memory>),
    /// Level-triggered; what it is for.
    Operator(Box<Operator>),
    /// The answer that it has just been given.
    Order(Box<Orders>),
    /// Level-triggered, and remembers nothing.
    Plain(&'static Plain),
    /// The kubelet's containers belong to its machine, not to the process: see `World::kubelets`.
    Kubelet,
}

impl Mind {
    /// The empty mind of a controller.
    pub fn of(id: ControllerId) -> Mind {
        match id.role() {
            ControllerId::Deployment => Mind::Deployment(deployment::Ledger::default()),
            ControllerId::ReplicaSet => Mind::ReplicaSet(replica_set::Ledger::default()),
            ControllerId::Scheduler => Mind::Scheduler(Box::default()),
            ControllerId::GarbageCollector => Mind::GarbageCollector(Box::default()),
            ControllerId::NodeLifecycle => Mind::NodeLifecycle(Box::default()),
            ControllerId::HorizontalAutoscaler => Mind::HorizontalAutoscaler(Box::default()),
            ControllerId::GitOps => Mind::GitOps(Box::default()),
            ControllerId::Job => Mind::Job(Box::default()),
            ControllerId::Operator => Mind::Operator(Box::default()),
            ControllerId::Order => Mind::Order(Box::default()),
            ControllerId::Kubelet(_) => Mind::Kubelet,
            other => plain(other).map_or(Mind::Kubelet, Mind::Plain),
        }
    }

    /// What is left after a restart: nothing.
    pub fn reborn(&self) -> Mind {
        match self {
            Mind::Deployment(_) => Mind::of(ControllerId::Deployment),
            Mind::ReplicaSet(_) => Mind::of(ControllerId::ReplicaSet),
            Mind::Scheduler(_) => Mind::of(ControllerId::Scheduler),
            Mind::GarbageCollector(_) => Mind::of(ControllerId::GarbageCollector),
            Mind::NodeLifecycle(_) => Mind::of(ControllerId::NodeLifecycle),
            Mind::HorizontalAutoscaler(_) => Mind::of(ControllerId::HorizontalAutoscaler),
            Mind::GitOps(_) => Mind::of(ControllerId::GitOps),
            Mind::Job(_) => Mind::of(ControllerId::Job),
            Mind::Operator(operator) => Mind::Operator(operator.clone()),
            Mind::Order(_) => Mind::of(ControllerId::Order),
            Mind::Plain(plain) => Mind::Plain(plain),
            Mind::Kubelet => Mind::Kubelet,
        }
    }

    /// The kinds that a controller watches.
    pub fn kinds(id: ControllerId) -> &'static [Kind] {
        match id.role() {
            ControllerId::Deployment => &[Kind::Deployment, Kind::ReplicaSet, Kind::Pod],
            ControllerId::ReplicaSet => &[Kind::ReplicaSet, Kind::Pod],
            ControllerId::Scheduler => &[Kind::Node, Kind::Pod],
            ControllerId::GarbageCollector => COLLECTED,
            ControllerId::NodeLifecycle => &[Kind::Node, Kind::Lease, Kind::Pod],
            ControllerId::HorizontalAutoscaler => AUTOSCALED,
            ControllerId::GitOps => GITOPS,
            ControllerId::Kubelet(_) | ControllerId::Operator => &[Kind::Pod],
            ControllerId::Job => &[Kind::Job, Kind::Pod],
            ControllerId::Order => order::KINDS,
            other => plain(other).map_or(&[], |plain| plain.kinds),
        }
    }

    /// Level: which keys a change wakes.
    pub fn wakes(&mut self, change: &Change, cx: &Context) -> Woken {
        match self {
            Mind::Deployment(_) => deployment::wakes(change, cx),
            Mind::ReplicaSet(_) => replica_set::wakes(change, cx),
            Mind::Scheduler(scheduler) => scheduler.wakes(change, cx),
            Mind::GarbageCollector(collector) => collector.wakes(change, cx),
            Mind::NodeLifecycle(lifecycle) => lifecycle.wakes(change, cx),
            Mind::HorizontalAutoscaler(autoscaler) => autoscaler.wakes(change),
            Mind::GitOps(gitops) => gitops.wakes(change),
            Mind::Job(memory) => memory.wakes(change, cx),
            Mind::Operator(operator) => operator.wakes(change),
            Mind::Order(orders) => orders.wakes(change),
            Mind::Plain(plain) => (plain.wakes)(change, cx),
            Mind::Kubelet => Woken { keys: vec![change.key()], ..Woken::default() },
        }
    }

    /// Level: where a key stands among those that wait.
    pub fn rank(&self, key: &ObjectKey, cx: &Context) -> Rank {
        match self {
            Mind::Scheduler(scheduler) => scheduler.rank(key, cx),
            _ => Rank::default(),
        }
    }

    /// The memory of the scheduler.
    pub fn as_scheduler(&self) -> Option<&Scheduler> {
        match self {
            Mind::Scheduler(scheduler) => Some(scheduler),
            _ => None,
        }
    }

    /// When the pods of a node that does not exist will be deleted, if this controller does that.
    pub fn collects_at(&self, node: &Str, now: Time) -> Option<Time> {
        match self {
            Mind::NodeLifecycle(lifecycle) => Some(lifecycle.collects_at(node, now)),
            _ => None,
        }
    }

    /// Level: keys that have waited for too long for a change.
    pub fn monitor(&mut self, cx: &Context) -> Vec<ObjectKey> {
        match self {
            Mind::Scheduler(scheduler) => scheduler.monitor(cx),
            _ => Vec::new(),
        }
    }

    /// Level: one pass for a key.
    pub fn sync(&mut self, key: &ObjectKey, cx: &Context) -> Plan {
        match self {
            Mind::Deployment(_) => deployment::sync(key, cx),
            Mind::ReplicaSet(_) => replica_set::sync(key, cx),
            Mind::Scheduler(scheduler) => scheduler.sync(key, cx),
            Mind::GarbageCollector(collector) => collector.sync(key, cx),
            Mind::NodeLifecycle(lifecycle) => lifecycle.sync(key, cx),
            Mind::HorizontalAutoscaler(autoscaler) => autoscaler.sync(key, cx),
            Mind::GitOps(gitops) => gitops.sync(key, cx),
            Mind::Job(memory) => memory.sync(key, cx),
            Mind::Operator(operator) => operator.sync(key, cx),
            Mind::Order(orders) => orders.sync(key, cx),
            Mind::Plain(plain) => (plain.sync)(key, cx),
            Mind::Kubelet => Plan::default(),
        }
    }

    /// What became of a request of a pass for `key`.
    pub fn answered(
        &mut self,
        key: &ObjectKey,
        request: &Request,
        response: &Response,
        now: Time,
    ) -> Woken {
        match self {
            Mind::Scheduler(scheduler) => scheduler.answered(key, request, response),
            Mind::GarbageCollector(collector) => collector.answered(key, request, response),
            Mind::NodeLifecycle(lifecycle) => lifecycle.answered(key, request, response),
            Mind::HorizontalAutoscaler(autoscaler) => {
                autoscaler.answered(key, request, response);
                Woken::default()
            }
            Mind::GitOps(gitops) => {
                gitops.answered(key, request, response, now);
                Woken::default()
            }
            Mind::Job(memory) => memory.answered(key, request, response),
            Mind::Order(orders) => {
                orders.answered(key, request, response);
                Woken::default()
            }
            _ => Woken::default(),
        }
    }

    /// Edge: one pass for a change.
    pub fn on_change(&mut self, change: &Change, cx: &Context) -> Plan {
        match self {
            Mind::Deployment(ledger) => deployment::on_change(change, cx, ledger),
            Mind::ReplicaSet(ledger) => replica_set::on_change(change, cx, ledger),
            Mind::HorizontalAutoscaler(autoscaler) => autoscaler.on_change(change, cx),
            Mind::GitOps(gitops) => gitops.on_change(change, cx),
            Mind::Order(orders) => orders.on_change(change, cx),
            _ => Plan::default(),
        }
    }

    /// Edge: what is left of a plan, to be tried again.
    pub fn on_resume(&mut self, key: &ObjectKey, plan: Plan, cx: &Context) -> Plan {
        match self {
            Mind::Deployment(ledger) => deployment::on_resume(key, plan, ledger),
            Mind::ReplicaSet(ledger) => replica_set::on_resume(key, plan, cx, ledger),
            Mind::HorizontalAutoscaler(autoscaler) => autoscaler.on_resume(plan, cx),
            Mind::GitOps(gitops) => gitops.on_resume(plan, cx),
            Mind::Order(orders) => orders.on_resume(plan, cx),
            _ => plan,
        }
    }

    /// Edge: one pass for a timer that an earlier plan asked for (`requeue_after`).
    pub fn on_timer(&mut self, key: &ObjectKey, cx: &Context) -> Plan {
        match self {
            Mind::Deployment(ledger) => deployment::on_timer(key, cx, ledger),
            Mind::ReplicaSet(ledger) => replica_set::on_timer(key, cx, ledger),
            Mind::HorizontalAutoscaler(autoscaler) => autoscaler.on_timer(key, cx),
            Mind::GitOps(gitops) => gitops.on_timer(key, cx),
            _ => Plan::default(),
        }
    }

    /// Edge: the reads of a pass are answered.
    pub fn go_on(&mut self, key: &ObjectKey, cx: &Context) -> Plan {
        match self {
            Mind::GitOps(gitops) => gitops.go_on(key, cx),
            Mind::Order(orders) => orders.go_on(key, cx),
            _ => Plan::default(),
        }
    }

    /// Edge: the object that a pass for a change is about, if it is neither the changed one nor its
    /// owner.
    pub fn concerns(&self, change: &Change) -> Option<ObjectKey> {
        match self {
            Mind::HorizontalAutoscaler(autoscaler) => autoscaler.concerns(change),
            Mind::GitOps(gitops) => gitops.concerns(change),
            Mind::Order(orders) => orders.concerns(change),
            _ => None,
        }
    }
}
