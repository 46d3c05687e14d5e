//! Pods and what is in them.

use serde::{Deserialize, Serialize};

use super::{
    Condition, ObjectMeta, Quantity, Rest, SharedList, Str, StrMap, TaintEffect, Timestamp,
    is_default,
};
use std::collections::BTreeMap;

/// `v1.Pod`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Pod {
    /// Name, labels, owner.
    pub metadata: ObjectMeta,
    /// What shall run.
    pub spec: PodSpec,
    /// What runs, as the kubelet saw it.
    #[serde(skip_serializing_if = "is_default")]
    pub status: PodStatus,
}

/// `v1.PodTemplateSpec`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PodTemplateSpec {
    /// Labels and annotations of the pods to come.
    pub metadata: ObjectMeta,
    /// Their spec.
    pub spec: PodSpec,
}

/// `v1.PodSpec`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodSpec {
    /// Run one after the other, before the others; those with restartPolicy Always are sidecars.
    #[serde(skip_serializing_if = "SharedList::is_empty")]
    pub init_containers: SharedList<Container>,
    /// Run together.
    pub containers: SharedList<Container>,
    /// Where it runs; set by the scheduler, or by hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_name: Option<Str>,
    /// Labels that the node must have.
    #[serde(skip_serializing_if = "StrMap::is_empty")]
    pub node_selector: StrMap,
    /// Taints that it bears.
    #[serde(skip_serializing_if = "SharedList::is_empty")]
    pub tolerations: SharedList<Toleration>,
    /// Always when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart_policy: Option<RestartPolicy>,
    /// Seconds between the wish to stop and the kill; 30 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub termination_grace_period_seconds: Option<i64>,
    /// Its rank, which follows from its class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<i64>,
    /// Whether it may make others go: PreemptLowerPriority or Never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preemption_policy: Option<Str>,
    /// Affinity, volumes and the rest.
    #[serde(flatten)]
    pub rest: Rest,
}

/// `v1.Container`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Container {
    /// Unique in the pod.
    pub name: Str,
    /// Image, tag included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<Str>,
    /// Always, IfNotPresent or Never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_pull_policy: Option<Str>,
    /// Requests and limits.
    #[serde(skip_serializing_if = "is_default")]
    pub resources: ResourceRequirements,
    /// Is it of use yet?
    #[serde(skip_serializing_if = "Option::is_none")]
    pub readiness_probe: Option<Probe>,
    /// Does it still work?
    #[serde(skip_serializing_if = "Option::is_none")]
    pub liveness_probe: Option<Probe>,
    /// Has it come up?
    #[serde(skip_serializing_if = "Option::is_none")]
    pub startup_probe: Option<Probe>,
    /// A container's own policy; on an init container, Always makes a sidecar.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart_policy: Option<RestartPolicy>,
    /// Command, ports, env and the rest.
    #[serde(flatten)]
    pub rest: Rest,
}

/// `v1.ResourceRequirements`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ResourceRequirements {
    /// What the scheduler reserves.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub requests: BTreeMap<Str, Quantity>,
    /// What the container may use.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub limits: BTreeMap<Str, Quantity>,
    /// Claims.
    #[serde(flatten)]
    pub rest: Rest,
}

/// `v1.Probe`. What is asked (httpGet, exec, ...) is kept in `rest`; the image's behaviour answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Probe {
    /// Seconds before the first probe; 0 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_delay_seconds: Option<i32>,
    /// Seconds between probes; 10 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period_seconds: Option<i32>,
    /// 1 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<i32>,
    /// Successes in a row that count; 1 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub success_threshold: Option<i32>,
    /// Failures in a row that count; 3 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_threshold: Option<i32>,
    /// The question itself.
    #[serde(flatten)]
    pub rest: Rest,
}

/// `v1.Toleration`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Toleration {
    /// The taint's key; absent: any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<Str>,
    /// `Equal` when absent, or `Exists`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operator: Option<Str>,
    /// The taint's value, for `Equal`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Str>,
    /// Absent: any effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<TaintEffect>,
    /// For NoExecute: how long it is borne; absent: for ever.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub toleration_seconds: Option<i64>,
}

/// When a container is started again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RestartPolicy {
    /// Whenever it ends.
    #[default]
    Always,
    /// When it failed.
    OnFailure,
    /// Not at all.
    Never,
}

/// `v1.PodStatus`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodStatus {
    /// Where in its life the pod stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<PodPhase>,
    /// PodScheduled, Initialized, ContainersReady, Ready, ...
    #[serde(skip_serializing_if = "SharedList::is_empty")]
    pub conditions: SharedList<Condition>,
    /// Why, in one word, such as `Evicted`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Str>,
    /// Why, in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Str>,
    /// When the kubelet took it on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_time: Option<Timestamp>,
    /// One for each init container.
    #[serde(skip_serializing_if = "SharedList::is_empty")]
    pub init_container_statuses: SharedList<ContainerStatus>,
    /// One for each container.
    #[serde(skip_serializing_if = "SharedList::is_empty")]
    pub container_statuses: SharedList<ContainerStatus>,
    /// The class of its resources: `Guaranteed`, `Burstable` or `BestEffort`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qos_class: Option<Str>,
    /// The address of its node.
    #[serde(rename = "hostIP", skip_serializing_if = "Option::is_none")]
    pub host_ip: Option<Str>,
    /// The same as a list.
    #[serde(rename = "hostIPs", skip_serializing_if = "SharedList::is_empty")]
    pub host_ips: SharedList<PodIp>,
    /// Its own address.
    #[serde(rename = "podIP", skip_serializing_if = "Option::is_none")]
    pub pod_ip: Option<Str>,
    /// The same as a list.
    #[serde(rename = "podIPs", skip_serializing_if = "SharedList::is_empty")]
    pub pod_ips: SharedList<PodIp>,
    /// The rest.
    #[serde(flatten)]
    pub rest: Rest,
}

/// `v1.PodIP` and `v1.HostIP`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PodIp {
    /// The address.
    pub ip: Str,
}

/// Where in its life a pod stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum PodPhase {
    /// Accepted; not all containers have run.
    Pending,
    /// On a node; at least one container runs, starts or restarts.
    Running,
    /// All containers ended well and stay so.
    Succeeded,
    /// All containers ended, one badly, and stay so.
    Failed,
    /// The node does not answer.
    Unknown,
}

/// `v1.ContainerStatus`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ContainerStatus {
    /// The container's name.
    pub name: Str,
    /// What it does now.
    pub state: ContainerState,
    /// How it ended last.
    #[serde(skip_serializing_if = "is_default")]
    pub last_state: ContainerState,
    /// Whether it passes its readiness probe.
    pub ready: bool,
    /// How often it was started again.
    pub restart_count: i32,
    /// The image that runs.
    pub image: Str,
    /// Its digest.
    #[serde(rename = "imageID")]
    pub image_id: Str,
    /// Whether it passed its startup probe.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started: Option<bool>,
    /// Container id and the rest.
    #[serde(flatten)]
    pub rest: Rest,
}

/// `v1.ContainerState`: at most one of three is set; none counts as waiting.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ContainerState {
    /// It has not started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting: Option<ContainerStateWaiting>,
    /// It runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub running: Option<ContainerStateRunning>,
    /// It ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terminated: Option<ContainerStateTerminated>,
}

/// `v1.ContainerStateWaiting`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ContainerStateWaiting {
    /// Such as `ContainerCreating`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Str>,
    /// A sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Str>,
}

/// `v1.ContainerStateRunning`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ContainerStateRunning {
    /// Since when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
}

/// `v1.ContainerStateTerminated`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ContainerStateTerminated {
    /// 0 is success.
    pub exit_code: i32,
    /// Such as `Completed`, `Error`, `OOMKilled`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Str>,
    /// A sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Str>,
    /// When it began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Timestamp>,
    /// Signal, container id.
    #[serde(flatten)]
    pub rest: Rest,
}

impl Pod {
    /// Whether its Ready condition is True.
    pub fn is_ready(&self) -> bool {
        Condition::holds(&self.status.conditions, "Ready")
    }

    /// The phase; a pod that says nothing yet is Pending.
    pub fn phase(&self) -> PodPhase {
        self.status.phase.unwrap_or(PodPhase::Pending)
    }

    /// Whether it still counts for its controller: neither ended nor being deleted
    /// (`controller.IsPodActive`).
    pub fn is_active(&self) -> bool {
        !self.is_finished() && !self.metadata.is_terminating()
    }

    /// Whether it ended for good.
    pub fn is_finished(&self) -> bool {
        matches!(self.status.phase, Some(PodPhase::Succeeded | PodPhase::Failed))
    }

    /// Whether it is ready, and was for `min_ready_seconds` (`podutil.IsPodAvailable`).
    pub fn is_available(&self, min_ready_seconds: i32, now: Timestamp) -> bool {
        let Some(ready) = Condition::find(&self.status.conditions, "Ready") else {
            return false;
        };
        if ready.status != super::ConditionStatus::True {
            return false;
        }
        let lasted = |since: Timestamp| now.seconds_since(since) >= i64::from(min_ready_seconds);
        min_ready_seconds == 0 || ready.last_transition_time.is_some_and(lasted)
    }
}
