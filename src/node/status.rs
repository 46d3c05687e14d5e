//! The status of a pod, made of what the runtime has.
//!
//! Follows `generateAPIPodStatus` and `convertToAPIContainerStatuses`
//! (`pkg/kubelet/kubelet_pods.go`), `UpdatePodStatus` (`pkg/kubelet/prober/prober_manager.go`) and
//! `TerminatePod` (`pkg/kubelet/status/status_manager.go`). One difference: there a reason such as
//! CrashLoopBackOff is found by one sync and reported by the next; here the same pass reports it.

use crate::api::{
    Condition, ContainerState, ContainerStateRunning, ContainerStateTerminated,
    ContainerStateWaiting, ContainerStatus, Pod, PodIp, PodPhase, PodStatus, SharedList, Str,
    Timestamp, Value,
};
use crate::kernel::Time;

use super::container::{ContainerRecord, Ended, Role, spec_of};
use super::pod_conditions as conditions;
use super::pod_phase::{self, Statuses};
use super::pod_record::PodRecord;
use super::probe::{ProbeKind, ProbeResult};

/// How far a pod has come when its status is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Its containers are started and restarted.
    Active,
    /// No container will be started again.
    Ending,
    /// All of them have stopped, and nothing will change any more.
    Ended,
}

/// The status that the pod has now, if it is another than `known`, the status up to now.
pub(super) fn changed(
    record: &PodRecord,
    pod: &Pod,
    known: &PodStatus,
    host_ip: &Str,
    stage: Stage,
    now: Time,
) -> Option<PodStatus> {
    let statuses = |list: &[ContainerRecord], is_init: bool| -> SharedList<ContainerStatus> {
        let pairs = list.iter().enumerate();
        let one = |(index, c)| container_status(record, pod, c, index, is_init, stage);
        pairs.map(one).collect()
    };
    let mut status = PodStatus {
        init_container_statuses: statuses(&record.init, true),
        container_statuses: statuses(&record.main, false),
        start_time: known.start_time.or(record.start_time),
        ..PodStatus::default()
    };
    let phase = phase_of(record, pod, &mut status, known, stage);
    status.phase = Some(phase);
    if known.phase == status.phase {
        status.reason = known.reason.clone();
        status.message = known.message.clone();
    }
    status.conditions = conditions_of(record, pod, &status, known, phase, now);
    // The rest is taken over only if there is something to write: most passes change nothing.
    if is_same(&status, known) && has_addresses(known, host_ip, record.ip()) {
        return None;
    }
    let PodStatus { qos_class, host_ip: host, host_ips, pod_ip, pod_ips, rest, .. } = known.clone();
    let kept = PodStatus { qos_class, host_ip: host, host_ips, pod_ip, pod_ips, rest, ..status };
    Some(with_addresses(kept, host_ip, record.ip()))
}

fn is_same(status: &PodStatus, known: &PodStatus) -> bool {
    status.phase == known.phase
        && status.reason == known.reason
        && status.message == known.message
        && status.start_time == known.start_time
        && status.conditions == known.conditions
        && status.container_statuses == known.container_statuses
        && status.init_container_statuses == known.init_container_statuses
}

fn phase_of(
    record: &PodRecord,
    pod: &Pod,
    status: &mut PodStatus,
    known: &PodStatus,
    stage: Stage,
) -> PodPhase {
    // Nothing leads out of the two last phases.
    if let Some(last @ (PodPhase::Succeeded | PodPhase::Failed)) = known.phase {
        return last;
    }
    let has_initialized = record.has_initialized();
    if stage == Stage::Ended && (has_initialized || record.init.is_empty()) {
        status.container_statuses.iter_mut().for_each(call_it_terminated);
    }
    let statuses =
        Statuses { init: &status.init_container_statuses, main: &status.container_statuses };
    let is_terminal = stage != Stage::Active;
    let phase = pod_phase::phase(&pod.spec, statuses, is_terminal, has_initialized);
    match (stage, phase) {
        (Stage::Ended, PodPhase::Succeeded) => PodPhase::Succeeded,
        (Stage::Ended, _) => PodPhase::Failed,
        _ => phase,
    }
}

/// A container of which nothing is known when its pod is over counts as failed.
fn call_it_terminated(status: &mut ContainerStatus) {
    if status.state.terminated.is_some() {
        return;
    }
    let unknown = ContainerStateTerminated {
        exit_code: 137,
        reason: Some("ContainerStatusUnknown".into()),
        message: Some("The container could not be located when the pod was terminated".into()),
        ..ContainerStateTerminated::default()
    };
    status.state = ContainerState { terminated: Some(unknown), ..ContainerState::default() };
}

fn container_status(
    record: &PodRecord,
    pod: &Pod,
    container: &ContainerRecord,
    index: usize,
    is_init: bool,
    stage: Stage,
) -> ContainerStatus {
    use super::pod_actions::Slot;
    let slot = if is_init { Slot::Init(index) } else { Slot::Main(index) };
    let spec = spec_of(&pod.spec, slot);
    let image = spec.and_then(|spec| spec.image.clone());
    let has_init = !record.init.is_empty();
    let (state, last_state) = states(container, has_init, stage);
    let is_running = container.is_running();
    let started = is_running && container.probers.has_started();
    let mut status = ContainerStatus {
        name: container.name.clone(),
        ready: is_ready(record, container, spec, started),
        restart_count: container.restart_count,
        image: image.unwrap_or_default(),
        image_id: "".into(),
        started: Some(started),
        state,
        last_state,
        ..ContainerStatus::default()
    };
    if let Some(run) = &container.run {
        status.image = run.image.clone();
        status.image_id = run.image_id.clone();
        let id = Value::from(&*run.container_id);
        status.rest.insert("containerID".into(), id);
    }
    status
}

fn is_ready(
    record: &PodRecord,
    container: &ContainerRecord,
    spec: Option<&crate::api::Container>,
    started: bool,
) -> bool {
    if container.role == Role::Init {
        return container.ended().is_some_and(|ended| ended.exit_code == 0);
    }
    let probed = spec.is_some_and(|spec| spec.readiness_probe.is_some());
    let result = container.probers.result(ProbeKind::Readiness);
    let by_probe = !probed || result == Some(ProbeResult::Success);
    started && record.ready_override.unwrap_or(by_probe)
}

/// What it does now, and how it ended before.
fn states(
    container: &ContainerRecord,
    has_init: bool,
    stage: Stage,
) -> (ContainerState, ContainerState) {
    let previous = container.previous.as_ref().map(terminated);
    if let Some(run) = container.running() {
        let running = ContainerStateRunning { started_at: Some(Timestamp::from(run.started_at)) };
        let state = ContainerState { running: Some(running), ..ContainerState::default() };
        return (state, previous.unwrap_or_default());
    }
    // What is in the way of a start says nothing once there will be none.
    let reason = container.waiting.as_ref().filter(|_| stage == Stage::Active);
    match (container.ended(), reason) {
        (Some(ended), None) => (terminated(ended), previous.unwrap_or_default()),
        (Some(ended), Some(reason)) => (waiting(Some(reason), has_init), terminated(ended)),
        (None, reason) => (waiting(reason, has_init), previous.unwrap_or_default()),
    }
}

fn waiting(reason: Option<&(Str, Str)>, has_init: bool) -> ContainerState {
    let default = if has_init { "PodInitializing" } else { "ContainerCreating" };
    let waiting = match reason {
        Some((reason, message)) => {
            ContainerStateWaiting { reason: Some(reason.clone()), message: Some(message.clone()) }
        }
        None => ContainerStateWaiting { reason: Some(default.into()), message: None },
    };
    ContainerState { waiting: Some(waiting), ..ContainerState::default() }
}

fn terminated(ended: &Ended) -> ContainerState {
    let id = Value::from(&*ended.container_id);
    let terminated = ContainerStateTerminated {
        exit_code: ended.exit_code,
        reason: Some(ended.reason.into()),
        message: None,
        started_at: Some(Timestamp::from(ended.started_at)),
        finished_at: Some(Timestamp::from(ended.finished_at)),
        rest: [("containerID".to_string(), id)].into(),
    };
    ContainerState { terminated: Some(terminated), ..ContainerState::default() }
}

fn conditions_of(
    record: &PodRecord,
    pod: &Pod,
    status: &PodStatus,
    known: &PodStatus,
    phase: PodPhase,
    now: Time,
) -> SharedList<Condition> {
    let foreign = pod.status.conditions.iter();
    let foreign = foreign.filter(|c| !conditions::is_by_kubelet(&c.kind));
    let mut all: Vec<Condition> = foreign.cloned().collect();
    let statuses =
        Statuses { init: &status.init_container_statuses, main: &status.container_statuses };
    let ready = conditions::ready(&pod.spec, &all, Some(statuses), phase);
    let own = [
        conditions::ready_to_start_containers(record.sandbox_stands()),
        conditions::initialized(&pod.spec, Some(statuses), phase),
        ready,
        conditions::containers_ready(&pod.spec, Some(statuses), phase),
        conditions::scheduled(),
    ];
    all.reserve_exact(own.len());
    for mut condition in own {
        let before = Condition::find(&known.conditions, &condition.kind);
        let same = before.filter(|before| before.status == condition.status);
        let since = same.and_then(|before| before.last_transition_time);
        condition.last_transition_time = Some(since.unwrap_or(Timestamp::from(now)));
        // What was said before in the same words shares them.
        let again = before.filter(|before| **before == condition).cloned();
        all.push(again.unwrap_or(condition));
    }
    all.into()
}

fn has_addresses(status: &PodStatus, host_ip: &Str, pod_ip: Option<&Str>) -> bool {
    status.host_ip.as_ref() == Some(host_ip)
        && pod_ip.is_none_or(|ip| status.pod_ip.as_ref() == Some(ip))
}

fn with_addresses(mut status: PodStatus, host_ip: &Str, pod_ip: Option<&Str>) -> PodStatus {
    if has_addresses(&status, host_ip, pod_ip) {
        return status;
    }
    let alone = |ip: &Str| SharedList::from([PodIp { ip: ip.clone() }]);
    (status.host_ip, status.host_ips) = (Some(host_ip.clone()), alone(host_ip));
    if let Some(pod_ip) = pod_ip {
        (status.pod_ip, status.pod_ips) = (Some(pod_ip.clone()), alone(pod_ip));
    }
    status
}
