//! Which pods count: ready, not ready in time, without a sample, or out of the question
//! (`groupPods` of `replica_calculator.go`), and what each asks for.

use std::collections::{BTreeMap, BTreeSet};

use crate::api::{Condition, ConditionStatus, Pod, PodPhase, RestartPolicy, Str, Timestamp};

use super::readings::Samples;

/// Seconds after a pod's start in which a cpu sample counts only if it was measured while the pod
/// was ready (`--horizontal-pod-autoscaler-cpu-initialization-period`).
pub const CPU_INITIALIZATION_SECONDS: i64 = 300;
/// Seconds after a pod's start in which turning unready does not mean that it was ever ready
/// (`--horizontal-pod-autoscaler-initial-readiness-delay`).
pub const INITIAL_READINESS_SECONDS: i64 = 30;

/// How long a pod may take to come up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartUp {
    /// Seconds in which its cpu samples are looked at closely.
    pub cpu_initialization: i64,
    /// Seconds in which it may turn unready for the first time.
    pub initial_readiness: i64,
}

impl Default for StartUp {
    fn default() -> Self {
        StartUp {
            cpu_initialization: CPU_INITIALIZATION_SECONDS,
            initial_readiness: INITIAL_READINESS_SECONDS,
        }
    }
}

/// Pods, sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Groups {
    /// How many count.
    pub ready: usize,
    /// Pending, or not ready in time: their samples are not used.
    pub unready: BTreeSet<Str>,
    /// Without a sample.
    pub missing: BTreeSet<Str>,
    /// Failed or being deleted.
    pub ignored: BTreeSet<Str>,
}

/// Sorts pods by whether their samples can be used.
pub fn group(
    pods: &[&Pod],
    samples: &Samples,
    resource: &str,
    start_up: StartUp,
    now: Timestamp,
) -> Groups {
    let mut groups = Groups::default();
    for pod in pods {
        let name = pod.metadata.name.clone();
        if pod.metadata.is_terminating() || pod.phase() == PodPhase::Failed {
            groups.ignored.insert(name);
        } else if pod.phase() == PodPhase::Pending {
            groups.unready.insert(name);
        } else if let Some(sample) = samples.get(&name) {
            let measured_until = (sample.timestamp, sample.window);
            if resource == "cpu" && is_unready(pod, measured_until, start_up, now) {
                groups.unready.insert(name);
            } else {
                groups.ready += 1;
            }
        } else {
            groups.missing.insert(name);
        }
    }
    groups
}

fn is_unready(
    pod: &Pod,
    (timestamp, window): (Timestamp, i64),
    start_up: StartUp,
    now: Timestamp,
) -> bool {
    let condition = Condition::find(&pod.status.conditions, "Ready");
    let (Some(condition), Some(started)) = (condition, pod.status.start_time) else {
        return true;
    };
    let is_false = condition.status == ConditionStatus::False;
    let turned = condition.last_transition_time.unwrap_or_default();
    if started.0.saturating_add(start_up.cpu_initialization) > now.0 {
        // The sample reaches back to before it was ready, or it is not.
        is_false || timestamp.0 < turned.0.saturating_add(window)
    } else {
        // It has never been ready.
        is_false && started.0.saturating_add(start_up.initial_readiness) > turned.0
    }
}

/// What each pod asks for of a resource, in thousandths: all its containers, sidecars included, or
/// one of them (`calculatePodRequests`).
pub fn requests(
    pods: &[&Pod],
    container: Option<&str>,
    resource: &str,
) -> Result<BTreeMap<Str, i64>, String> {
    let mut requests = BTreeMap::new();
    for pod in pods {
        let sidecars = pod.spec.init_containers.iter();
        let sidecars = sidecars.filter(|c| c.restart_policy == Some(RestartPolicy::Always));
        let wanted = |name: &str| container.is_none_or(|container| container == name);
        let mut sum = 0i64;
        for c in pod.spec.containers.iter().chain(sidecars).filter(|c| wanted(&c.name)) {
            let Some(request) = c.resources.requests.get(resource) else {
                let pod = &pod.metadata.name;
                let name = &c.name;
                return Err(format!(
                    "missing request for {resource} in container {name} of Pod {pod}"
                ));
            };
            sum = sum.saturating_add(request.milli_value());
        }
        requests.insert(pod.metadata.name.clone(), sum);
    }
    Ok(requests)
}
