//! Whether a kubelet takes a pod that is new to it (`pkg/kubelet/lifecycle/predicate.go`): the
//! scheduler has asked the same, but a pod that names its node itself has met no scheduler. One
//! that is rejected is Failed for good; who made it may make another.
//!
//! Left out: node affinity and taints (a kubelet here does not look at its Node), the topology, cpu
//! and memory managers.

use std::sync::LazyLock;

use crate::api::{Pod, PodPhase, PodStatus, Timestamp};
use crate::controllers::scheduler::ports::HostPort;
use crate::controllers::scheduler::resources::{Resources, Usage};
use crate::kernel::Time;

use super::registration::node_object;

/// Why a pod is rejected: in one word, and in a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub reason: String,
    pub message: String,
}

/// What a node here has for pods.
static ALLOCATABLE: LazyLock<Resources> =
    LazyLock::new(|| Resources::of(&node_object("", "", Time::ZERO).status.allocatable));

/// Whether a pod fits whatever those of the node take, however many of so many still count: it asks
/// for nothing but a place, as most do, and there are more places than pods.
pub(super) fn needs_no_look(pod: &Usage, others: usize) -> bool {
    let request = &pod.request;
    let amounts = [request.cpu_milli, request.memory, request.ephemeral_storage];
    let asks = amounts.iter().chain(request.others.values()).any(|amount| *amount > 0);
    let has_place = i64::try_from(others).is_ok_and(|others| others < ALLOCATABLE.pods);
    !asks && pod.ports.is_empty() && has_place
}

/// Whether a pod fits beside those that the node has.
pub(super) fn admit<'a>(
    pod: &Usage,
    others: impl Iterator<Item = &'a Usage>,
) -> Result<(), Refusal> {
    let (mut used, mut ports) = (Resources::default(), Vec::new());
    for other in others {
        used.add(&other.request);
        used.pods += 1;
        ports.extend(&other.ports);
    }
    let mut wanted = pod.request.clone();
    wanted.pods = 1;
    let names = ["pods", "cpu", "memory", "ephemeral-storage"].map(str::to_string);
    let others = wanted.others.keys().map(ToString::to_string);
    for name in names.into_iter().chain(others) {
        // Nodes here have no limit of storage.
        if name == "ephemeral-storage" && ALLOCATABLE.amount(&name) == 0 {
            continue;
        }
        let numbers = [&wanted, &used, &*ALLOCATABLE].map(|amounts| amounts.amount(&name));
        let [wanted, used, has] = numbers;
        if wanted > 0 && wanted > has.saturating_sub(used) {
            return Err(out_of(&name, numbers));
        }
    }
    let taken = |port: &HostPort| ports.iter().any(|other: &&HostPort| other.conflicts(port));
    match pod.ports.iter().any(taken) {
        true => Err(Refusal {
            reason: "NodePorts".into(),
            message: "Predicate NodePorts failed".into(),
        }),
        false => Ok(()),
    }
}

fn out_of(name: &str, [wanted, used, has]: [i64; 3]) -> Refusal {
    Refusal {
        reason: format!("OutOf{name}"),
        message: format!(
            "Node didn't have enough resource: {name}, requested: {wanted}, used: {used}, \
             capacity: {has}"
        ),
    }
}

/// The pod as it is once it was rejected.
pub(super) fn rejected(pod: &Pod, refusal: &Refusal, now: Time) -> PodStatus {
    let mut status = pod.status.clone();
    status.phase = Some(PodPhase::Failed);
    status.reason = Some(refusal.reason.as_str().into());
    status.message = Some(format!("Pod was rejected: {}", refusal.message).into());
    status.start_time = status.start_time.or(Some(Timestamp::from(now)));
    status
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pod(cpu: &str, port: u16) -> Usage {
        let ports = if port > 0 { json!([{"hostPort": port}]) } else { json!([]) };
        let requests = json!({"requests": {"cpu": cpu}});
        let container = json!({"name": "c", "ports": ports, "resources": requests});
        let spec = json!({"containers": [container]});
        Usage::of(&serde_json::from_value(spec).expect("a pod spec"))
    }

    #[test]
    fn a_pod_that_asks_for_more_than_is_left_is_rejected_with_the_numbers() {
        let there = [pod("3", 0)];
        assert_eq!(admit(&pod("1", 0), there.iter()), Ok(()));
        let refusal = admit(&pod("2", 0), there.iter()).expect_err("too much");
        assert_eq!(refusal.reason, "OutOfcpu");
        let numbers = "cpu, requested: 2000, used: 3000, capacity: 4000";
        assert!(refusal.message.ends_with(numbers), "{}", refusal.message);
    }

    #[test]
    fn a_pod_that_asks_for_a_place_alone_is_taken_without_a_look_while_there_are_places() {
        let places = usize::try_from(ALLOCATABLE.pods).expect("a number of pods");
        assert!(needs_no_look(&pod("0", 0), places - 1));
        assert_eq!(admit(&pod("0", 0), vec![pod("0", 0); places - 1].iter()), Ok(()));
        for (pod, others) in [(pod("0", 0), places), (pod("1m", 0), 0), (pod("0", 80), 0)] {
            assert!(!needs_no_look(&pod, others));
        }
    }

    #[test]
    fn a_port_of_the_machine_is_given_once() {
        let refusal = admit(&pod("0", 80), [pod("0", 80)].iter()).expect_err("it is taken");
        assert_eq!(refusal.message, "Predicate NodePorts failed");
        assert_eq!(admit(&pod("0", 80), [pod("0", 81)].iter()), Ok(()));
    }
}
