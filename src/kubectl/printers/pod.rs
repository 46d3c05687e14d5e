//! Pods (`printPod`): STATUS is the reason of the first container that has one, and more.

use crate::api::{
    Condition, ContainerState, ContainerStatus, Pod, PodPhase, RestartPolicy, Timestamp, Value,
};
use crate::kubectl::duration::age;

pub const COLUMNS: &[&str] = &["NAME", "READY", "STATUS", "RESTARTS", "AGE"];
pub const WIDE: &[&str] = &["IP", "NODE", "NOMINATED NODE", "READINESS GATES"];

/// What the columns need to know.
struct Summary {
    reason: String,
    ready: usize,
    total: usize,
    restarts: Restarts,
}

/// Restarts, and when the last one was.
#[derive(Clone, Copy, Default)]
struct Restarts {
    count: i32,
    last: Option<Timestamp>,
}

impl Restarts {
    fn add(&mut self, status: &ContainerStatus) {
        self.count = self.count.saturating_add(status.restart_count);
        let ended = status.last_state.terminated.as_ref().and_then(|ended| ended.finished_at);
        self.last = self.last.max(ended);
    }
}

pub fn row(pod: &Pod, now: Timestamp, wide: bool) -> Vec<String> {
    let summary = summary(pod);
    let restarts = match summary.restarts {
        Restarts { count, last: Some(last) } if count > 0 => {
            format!("{count} ({} ago)", age(Some(last), now))
        }
        Restarts { count, .. } => count.to_string(),
    };
    let mut row = vec![
        pod.metadata.name.to_string(),
        format!("{}/{}", summary.ready, summary.total),
        summary.reason,
        restarts,
        age(pod.metadata.creation_timestamp, now),
    ];
    if wide {
        let status = &pod.status;
        let first = status.pod_ips.first().map(|first| &first.ip).or(status.pod_ip.as_ref());
        let nominated = status.rest.get("nominatedNodeName").and_then(Value::as_str);
        row.push(super::or_none(first.map_or("", |ip| ip)));
        row.push(super::or_none(pod.spec.node_name.as_deref().unwrap_or("")));
        row.push(super::or_none(nominated.unwrap_or("")));
        row.push(gates(pod));
    }
    row
}

/// The STATUS cell.
pub fn status(pod: &Pod) -> String {
    summary(pod).reason
}

fn gates(pod: &Pod) -> String {
    let list = pod.spec.rest.get("readinessGates").and_then(Value::as_array);
    let Some(gates) = list.filter(|gates| !gates.is_empty()) else {
        return "<none>".into();
    };
    let holds = |gate: &&Value| {
        let kind = gate.get("conditionType").and_then(Value::as_str).unwrap_or("");
        Condition::holds(&pod.status.conditions, kind)
    };
    format!("{}/{}", gates.iter().filter(holds).count(), gates.len())
}

fn summary(pod: &Pod) -> Summary {
    let phase = match pod.status.phase {
        None => "",
        Some(PodPhase::Pending) => "Pending",
        Some(PodPhase::Running) => "Running",
        Some(PodPhase::Succeeded) => "Succeeded",
        Some(PodPhase::Failed) => "Failed",
        Some(PodPhase::Unknown) => "Unknown",
    };
    let reason = pod.status.reason.as_deref().filter(|reason| !reason.is_empty());
    let gated = Condition::find(&pod.status.conditions, "PodScheduled")
        .is_some_and(|condition| condition.reason.as_deref() == Some("SchedulingGated"));
    let sidecars = pod.spec.init_containers.iter().filter(|c| is_sidecar(c.restart_policy));
    let mut summary = Summary {
        reason: if gated { "SchedulingGated" } else { reason.unwrap_or(phase) }.into(),
        ready: 0,
        total: pod.spec.containers.len() + sidecars.count(),
        restarts: Restarts::default(),
    };
    let mut of_sidecars = Restarts::default();
    let initializing = initialization(pod, &mut summary, &mut of_sidecars);
    if !initializing || Condition::holds(&pod.status.conditions, "Initialized") {
        summary.restarts = of_sidecars;
        containers(pod, &mut summary);
    }
    if pod.metadata.is_terminating() {
        let ended = matches!(pod.status.phase, Some(PodPhase::Succeeded | PodPhase::Failed));
        if pod.status.reason.as_deref() == Some("NodeLost") {
            summary.reason = "Unknown".into();
        } else if !ended {
            summary.reason = "Terminating".into();
        }
    }
    summary
}

fn is_sidecar(policy: Option<RestartPolicy>) -> bool {
    policy == Some(RestartPolicy::Always)
}

/// Init containers. Whether they are still at it.
fn initialization(pod: &Pod, summary: &mut Summary, of_sidecars: &mut Restarts) -> bool {
    let statuses = &pod.status.init_container_statuses;
    for (index, status) in statuses.iter().enumerate() {
        let spec = pod.spec.init_containers.iter().find(|spec| spec.name == status.name);
        let sidecar = spec.is_some_and(|spec| is_sidecar(spec.restart_policy));
        summary.restarts.add(status);
        if sidecar {
            of_sidecars.add(status);
        }
        let ended = status.state.terminated.as_ref();
        if ended.is_some_and(|ended| ended.exit_code == 0) {
            continue;
        }
        if sidecar && status.started == Some(true) {
            summary.ready += usize::from(status.ready);
            continue;
        }
        let waiting = status.state.waiting.as_ref().and_then(|waiting| waiting.reason.as_deref());
        let waits = waiting.filter(|reason| !matches!(*reason, "" | "PodInitializing"));
        summary.reason = if ended.is_some() {
            format!("Init:{}", ended_reason(&status.state))
        } else if let Some(reason) = waits {
            format!("Init:{reason}")
        } else {
            format!("Init:{index}/{}", pod.spec.init_containers.len())
        };
        return true;
    }
    false
}

/// Why a container ended: its reason, or its signal, or its exit code.
fn ended_reason(state: &ContainerState) -> String {
    let Some(ended) = &state.terminated else {
        return String::new();
    };
    let signal = ended.rest.get("signal").and_then(Value::as_i64).unwrap_or(0);
    match ended.reason.as_deref() {
        Some(reason) if !reason.is_empty() => reason.into(),
        _ if signal != 0 => format!("Signal:{signal}"),
        _ => format!("ExitCode:{}", ended.exit_code),
    }
}

fn containers(pod: &Pod, summary: &mut Summary) {
    let mut running = false;
    let mut failed: Option<String> = None;
    for status in pod.status.container_statuses.iter().rev() {
        summary.restarts.add(status);
        let waiting = status.state.waiting.as_ref().and_then(|waiting| waiting.reason.as_deref());
        if let Some(reason) = waiting.filter(|reason| !reason.is_empty()) {
            summary.reason = reason.into();
        } else if let Some(ended) = &status.state.terminated {
            summary.reason = ended_reason(&status.state);
            if ended.exit_code != 0 {
                failed = Some(summary.reason.clone());
            }
        } else if status.ready && status.state.running.is_some() {
            running = true;
            summary.ready += 1;
        }
    }
    if summary.reason == "Completed" {
        // Since 1.36 a failure is not hidden behind another container's success, except in a pod
        // that is ready all the same.
        if running && Condition::holds(&pod.status.conditions, "Ready") {
            summary.reason = "Running".into();
        } else if let Some(reason) = failed {
            summary.reason = reason;
        } else if running {
            summary.reason = "NotReady".into();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn status_of(ready: &str) -> String {
        let state = |state: Value| json!({"name": "c", "ready": true, "state": state});
        let pod: Pod = serde_json::from_value(json!({"status": {
            "phase": "Running",
            "conditions": [{"type": "Ready", "status": ready}],
            "containerStatuses": [
                state(json!({"terminated": {"reason": "Completed", "exitCode": 0}})),
                state(json!({"terminated": {"reason": "Error", "exitCode": 1}})),
                state(json!({"running": {}})),
            ],
        }}))
        .expect("a pod");
        status(&pod)
    }

    #[test]
    fn a_failure_shows_behind_a_success_unless_the_pod_is_ready() {
        assert_eq!(status_of("True"), "Running");
        assert_eq!(status_of("False"), "Error");
    }
}
