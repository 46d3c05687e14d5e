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
    Job,
    StatefulSet,
    CronJob,
    DaemonSet,
    EndpointSlice,
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

    /// The name of its kind, as faults and the console write it.
    pub fn name(self) -> &'static str {
        match self {
            ControllerId::Deployment => "deployment",
            ControllerId::ReplicaSet => "replicaset",
            ControllerId::Scheduler => "scheduler",
            ControllerId::GarbageCollector => "garbage-collector",
            ControllerId::NodeLifecycle => "node-lifecycle",
            ControllerId::Job => "job",
            ControllerId::StatefulSet => "statefulset",
            ControllerId::CronJob => "cronjob",
            ControllerId::DaemonSet => "daemonset",
            ControllerId::EndpointSlice => "endpointslice",
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
            ControllerId::Kubelet(node) => 5 + u64::from(node),
            // Behind all kubelets, whose numbers must not move.
            ControllerId::Job => 100_000,
            ControllerId::StatefulSet => 100_001,
            ControllerId::CronJob => 100_002,
            ControllerId::DaemonSet => 100_003,
            ControllerId::EndpointSlice => 100_004,
        }
    }

    /// The component that its Events name as their source.
    pub fn component(self) -> &'static str {
        match self {
            ControllerId::Deployment => "deployment-controller",
            ControllerId::ReplicaSet => "replicaset-controller",
            ControllerId::Scheduler => "default-scheduler",
            ControllerId::GarbageCollector => "garbage-collector-controller",
            ControllerId::NodeLifecycle => "node-controller",
            ControllerId::Job => "job-controller",
            ControllerId::StatefulSet => "statefulset-controller",
            ControllerId::CronJob => "cronjob-controller",
            ControllerId::DaemonSet => "daemonset-controller",
            ControllerId::EndpointSlice => "endpoint-slice-controller",
            ControllerId::Kubelet(_) => "kubelet",
        }
    }
}

impl fmt::Display for ControllerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
