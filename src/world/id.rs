//! The processes of a cluster.

use std::fmt;

/// A process that runs loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum ControllerId {
    Deployment,
    ReplicaSet,
    Scheduler,
    GarbageCollector,
    NodeLifecycle,
    Disruption,
    ResourceQuota,
    Namespace,
    /// The HorizontalPodAutoscaler controller.
    HorizontalAutoscaler,
    /// The GitOps controller.
    GitOps,
    Job,
    StatefulSet,
    CronJob,
    DaemonSet,
    EndpointSlice,
    /// The second process of the controller of this number in `DOUBLED`: see `election.rs`.
    Standby(u8),
    /// The loops for kinds that users define.
    Operator,
    /// The controller of a custom resource that ships.
    Order,
    /// The kubelet of the node of this number (from 0).
    Kubelet(u16),
}

impl ControllerId {
    /// Those that run from the start, but for the kubelets.
    pub const CENTRAL: [ControllerId; 5] = [
        ControllerId::Deployment,
        ControllerId::ReplicaSet,
        ControllerId::Scheduler,
        ControllerId::GarbageCollector,
        ControllerId::NodeLifecycle,
    ];

    /// Those that start when there is first something for them: see `on_demand.rs`.
    pub const ON_DEMAND: [ControllerId; 12] = [
        ControllerId::Disruption,
        ControllerId::ResourceQuota,
        ControllerId::Namespace,
        ControllerId::Job,
        ControllerId::StatefulSet,
        ControllerId::CronJob,
        ControllerId::DaemonSet,
        ControllerId::EndpointSlice,
        ControllerId::HorizontalAutoscaler,
        ControllerId::GitOps,
        ControllerId::Operator,
        ControllerId::Order,
    ];

    /// Those of which there can be two, with leader election.
    pub const DOUBLED: [ControllerId; 8] = [
        ControllerId::Deployment,
        ControllerId::ReplicaSet,
        ControllerId::Scheduler,
        ControllerId::Job,
        ControllerId::StatefulSet,
        ControllerId::CronJob,
        ControllerId::DaemonSet,
        ControllerId::EndpointSlice,
    ];

    /// The controller that a process runs: itself, but for a second process.
    pub fn role(self) -> ControllerId {
        match self {
            ControllerId::Standby(n) => Self::DOUBLED.get(usize::from(n)).copied().unwrap_or(self),
            id => id,
        }
    }

    /// The second process of a controller, if there can be one.
    pub fn second(self) -> Option<ControllerId> {
        let n = Self::DOUBLED.iter().position(|id| *id == self)?;
        u8::try_from(n).ok().map(ControllerId::Standby)
    }

    /// The names of all but the kubelets.
    pub fn central_names() -> impl Iterator<Item = &'static str> {
        Self::CENTRAL.iter().chain(&Self::ON_DEMAND).map(|id| id.name())
    }

    /// Whether it comes in both flavours.
    pub fn has_flavours(self) -> bool {
        use ControllerId::{Deployment, GitOps, HorizontalAutoscaler, Order, ReplicaSet};
        matches!(self.role(), Deployment | ReplicaSet | HorizontalAutoscaler | GitOps | Order)
    }

    /// Whether it finds all that there is to do by looking at what there is, so that changes need
    /// wake nobody. The others learn from changes what no list tells: what is gone, who waits.
    pub fn can_poll(self) -> bool {
        use ControllerId::{CronJob, DaemonSet, Disruption, EndpointSlice, Job, StatefulSet};
        let looks = matches!(
            self.role(),
            Job | StatefulSet | CronJob | DaemonSet | EndpointSlice | Disruption
        );
        looks || self.has_flavours()
    }

    /// The name of its kind, as faults and the console write it.
    pub fn name(self) -> &'static str {
        match self.role() {
            ControllerId::Deployment => "deployment",
            ControllerId::ReplicaSet => "replicaset",
            ControllerId::Scheduler => "scheduler",
            ControllerId::GarbageCollector => "garbage-collector",
            ControllerId::NodeLifecycle => "node-lifecycle",
            ControllerId::Disruption => "disruption",
            ControllerId::ResourceQuota => "resourcequota",
            ControllerId::Namespace => "namespace",
            ControllerId::HorizontalAutoscaler => "hpa",
            ControllerId::GitOps => "gitops",
            ControllerId::Job => "job",
            ControllerId::StatefulSet => "statefulset",
            ControllerId::CronJob => "cronjob",
            ControllerId::DaemonSet => "daemonset",
            ControllerId::EndpointSlice => "endpointslice",
            // No `role` is a second process.
            ControllerId::Standby(_) => "standby",
            ControllerId::Operator => "operator",
            ControllerId::Order => "order",
            ControllerId::Kubelet(_) => "kubelet",
        }
    }

    /// A number for the trace hash.
    pub fn number(self) -> u64 {
        match self {
            ControllerId::Deployment => 0,
            ControllerId::ReplicaSet => 1,
            ControllerId::Scheduler => 2,
            ControllerId::GarbageCollector => 3,
            ControllerId::NodeLifecycle => 4,
            ControllerId::HorizontalAutoscaler => 1 << 20,
            ControllerId::GitOps => (1 << 20) + 1,
            ControllerId::Kubelet(node) => 5 + u64::from(node),
            // Above all kubelets, whose numbers must not move.
            ControllerId::Disruption => 0x2_0000,
            ControllerId::ResourceQuota => 0x2_0001,
            ControllerId::Namespace => 0x2_0002,
            ControllerId::Job => 0x2_0003,
            ControllerId::StatefulSet => 0x2_0004,
            ControllerId::CronJob => 0x2_0005,
            ControllerId::DaemonSet => 0x2_0006,
            ControllerId::EndpointSlice => 0x2_0007,
            ControllerId::Standby(n) => 0x3_0000 + u64::from(n),
            ControllerId::Operator => 0x2_0008,
            ControllerId::Order => 0x2_0009,
        }
    }

    /// The component that its Events name as their source.
    pub fn component(self) -> &'static str {
        match self.role() {
            ControllerId::Deployment => "deployment-controller",
            ControllerId::ReplicaSet => "replicaset-controller",
            ControllerId::Scheduler => "default-scheduler",
            ControllerId::GarbageCollector => "garbage-collector-controller",
            ControllerId::NodeLifecycle => "node-controller",
            ControllerId::Disruption => "controllermanager",
            ControllerId::ResourceQuota => "resourcequota-controller",
            ControllerId::Namespace => "namespace-controller",
            ControllerId::HorizontalAutoscaler => "horizontal-pod-autoscaler",
            ControllerId::GitOps => "argocd-application-controller",
            ControllerId::Job => "job-controller",
            ControllerId::StatefulSet => "statefulset-controller",
            ControllerId::CronJob => "cronjob-controller",
            ControllerId::DaemonSet => "daemonset-controller",
            ControllerId::EndpointSlice => "endpoint-slice-controller",
            ControllerId::Standby(_) => "standby",
            ControllerId::Operator => "operator",
            ControllerId::Order => "order-controller",
            ControllerId::Kubelet(_) => "kubelet",
        }
    }
}

impl fmt::Display for ControllerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
