//! The conditions of a pod that the kubelet sets.
//!
//! Follows `pkg/kubelet/status/generate.go`. Times are added where the conditions are put into a
//! status. Left out: `observedGeneration`, and the conditions for resizing.

use std::sync::LazyLock;

use crate::api::{Condition, ConditionStatus, PodPhase, PodSpec, Str, Value};

use super::pod_phase::Statuses;
use super::restart_policy::is_sidecar;

/// Whether the kubelet sets the condition of this type (`PodConditionByKubelet`).
pub fn is_by_kubelet(kind: &str) -> bool {
    matches!(
        kind,
        "PodScheduled"
            | "Ready"
            | "Initialized"
            | "ContainersReady"
            | "PodReadyToStartContainers"
            | "PodResizePending"
            | "PodResizeInProgress"
    )
}

fn condition(kind: &str, holds: bool, reason: &str, message: String) -> Condition {
    let text = |text: &str| (!text.is_empty()).then(|| Str::from(text));
    Condition {
        kind: shared(kind),
        status: ConditionStatus::from(holds),
        reason: text(reason),
        message: text(&message),
        ..Condition::default()
    }
}

/// The words that stand in every pod are there once.
fn shared(kind: &str) -> Str {
    static KINDS: LazyLock<[Str; 5]> = LazyLock::new(|| {
        ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"]
            .map(Str::from)
    });
    KINDS.iter().find(|known| ***known == *kind).cloned().unwrap_or_else(|| kind.into())
}

fn holds(kind: &str) -> Condition {
    condition(kind, true, "", String::new())
}

/// `ContainersReady`. Without statuses nothing is known.
pub fn containers_ready(spec: &PodSpec, statuses: Option<Statuses>, phase: PodPhase) -> Condition {
    ready_as("ContainersReady", spec, statuses, phase)
}

fn ready_as(kind: &str, spec: &PodSpec, statuses: Option<Statuses>, phase: PodPhase) -> Condition {
    let Some(statuses) = statuses else {
        return condition(kind, false, "UnknownContainerStatuses", String::new());
    };
    let sidecars = spec.init_containers.iter().filter(|c| is_sidecar(c));
    let (mut unknown, mut unready) = (Vec::new(), Vec::new());
    for container in sidecars.chain(&spec.containers) {
        match statuses.find(&container.name) {
            None => unknown.push(&*container.name),
            Some(status) if !status.ready => unready.push(&*container.name),
            Some(_) => {}
        }
    }
    if phase == PodPhase::Succeeded && unknown.is_empty() {
        return condition(kind, false, "PodCompleted", String::new());
    }
    if phase == PodPhase::Failed {
        return condition(kind, false, "PodFailed", String::new());
    }
    let message = complaint(&[("unknown", &unknown), ("unready", &unready)]);
    match message.is_empty() {
        true => holds(kind),
        false => condition(kind, false, "ContainersNotReady", message),
    }
}

fn complaint(lists: &[(&str, &[&str])]) -> String {
    let lists = lists.iter().filter(|(_, names)| !names.is_empty());
    let texts: Vec<String> = lists
        .map(|(how, names)| format!("containers with {how} status: [{}]", names.join(" ")))
        .collect();
    texts.join(", ")
}

/// `Ready`: all containers are, and every readiness gate is open. `conditions` are those of the pod
/// that are not the kubelet's.
pub fn ready(
    spec: &PodSpec,
    conditions: &[Condition],
    statuses: Option<Statuses>,
    phase: PodPhase,
) -> Condition {
    let containers = ready_as("Ready", spec, statuses, phase);
    if containers.status != ConditionStatus::True {
        return containers;
    }
    let closed: Vec<String> =
        readiness_gates(spec).filter_map(|gate| closed_gate(gate, conditions)).collect();
    match closed.is_empty() {
        true => containers,
        false => condition("Ready", false, "ReadinessGatesNotReady", closed.join(", ")),
    }
}

fn readiness_gates(spec: &PodSpec) -> impl Iterator<Item = &str> {
    let gates = spec.rest.get("readinessGates").and_then(Value::as_array);
    let gates = gates.into_iter().flatten();
    gates.filter_map(|gate| gate.get("conditionType").and_then(Value::as_str))
}

fn closed_gate(gate: &str, conditions: &[Condition]) -> Option<String> {
    let Some(found) = Condition::find(conditions, gate) else {
        return Some(format!(
            "corresponding condition of pod readiness gate {gate:?} does not exist."
        ));
    };
    (found.status != ConditionStatus::True).then(|| {
        format!("the status of pod readiness gate {gate:?} is not \"True\", but {:?}", found.status)
    })
}

/// `Initialized`: all init containers are over, or (sidecars) have come up.
pub fn initialized(spec: &PodSpec, statuses: Option<Statuses>, phase: PodPhase) -> Condition {
    const KIND: &str = "Initialized";
    if statuses.is_none() && !spec.init_containers.is_empty() {
        return condition(KIND, false, "UnknownContainerStatuses", String::new());
    }
    let statuses = statuses.unwrap_or_default();
    let (mut unknown, mut incomplete) = (Vec::new(), Vec::new());
    for container in &spec.init_containers {
        match statuses.find(&container.name) {
            None => unknown.push(&*container.name),
            Some(status) => {
                let over = match is_sidecar(container) {
                    true => status.started == Some(true),
                    false => status.ready,
                };
                if !over {
                    incomplete.push(&*container.name);
                }
            }
        }
    }
    if phase == PodPhase::Succeeded && unknown.is_empty() {
        return condition(KIND, true, "PodCompleted", String::new());
    }
    // Sidecars that are being restarted do not undo it.
    if statuses.any_main_started(spec) {
        return holds(KIND);
    }
    let message = complaint(&[("unknown", &unknown), ("incomplete", &incomplete)]);
    match message.is_empty() {
        true => holds(KIND),
        false => condition(KIND, false, "ContainersNotInitialized", message),
    }
}

/// `PodReadyToStartContainers`: its sandbox stands, with an address.
pub fn ready_to_start_containers(sandbox_stands: bool) -> Condition {
    condition("PodReadyToStartContainers", sandbox_stands, "", String::new())
}

/// `PodScheduled`: a kubelet would not have the pod otherwise.
pub fn scheduled() -> Condition {
    holds("PodScheduled")
}
