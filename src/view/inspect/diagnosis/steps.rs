//! The chain from a text to pods that serve, with how many got past each of its steps.

use crate::api::{Deployment, Generic, Kind, Object, Pod, Str};
use crate::controllers::job::JobStatus;
use crate::world::World;

use super::super::finding::{ChainStep, Finding, Next, Step, StepState, What};
use super::workload::{is_new, sets_of};

/// The chain of an object; empty for kinds that end in no pod, and for what is being deleted.
pub fn of(world: &World, object: &Object, findings: &[Finding]) -> Vec<ChainStep> {
    if object.meta().is_terminating() {
        return Vec::new();
    }
    let counted = match object {
        Object::Deployment(deployment) => of_deployment(world, deployment, findings),
        Object::ReplicaSet(set) => {
            let want = i64::from(set.spec.replicas());
            let seen = set.status.observed_generation >= set.metadata.generation;
            let mut steps = vec![(Step::Apply, 1, 1), (Step::Controller, i64::from(seen), 1)];
            steps.extend(of_pods(world, std::slice::from_ref(&set.metadata.uid), want, true));
            steps
        }
        Object::Pod(pod) => {
            let rank = rank(world, pod);
            let mut steps = vec![(Step::Apply, 1, 1)];
            let rest = RANKS[1..].iter().zip(1..);
            steps.extend(rest.map(|(step, n)| (*step, i64::from(rank >= n), 1)));
            steps
        }
        Object::Generic(generic) => of_generic(world, generic),
        _ => Vec::new(),
    };
    with_states(counted, findings)
}

fn with_states(counted: Vec<(Step, i64, i64)>, findings: &[Finding]) -> Vec<ChainStep> {
    let stopped = findings.iter().any(|finding| finding.next != Next::UnderWay);
    let mut reached = true;
    let told = counted.into_iter().map(|(step, done, of)| {
        let state = match (reached, done >= of) {
            (true, true) => StepState::Done,
            (true, false) if stopped => StepState::Stopped,
            (true, false) => StepState::Here,
            (false, _) => StepState::Ahead,
        };
        reached &= done >= of;
        ChainStep { step, done, of, state }
    });
    told.collect()
}

fn of_deployment(
    world: &World,
    deployment: &Deployment,
    findings: &[Finding],
) -> Vec<(Step, i64, i64)> {
    let want = i64::from(deployment.spec.replicas());
    let seen = !findings.iter().any(|finding| matches!(finding.what, What::Unobserved { .. }));
    let sets = sets_of(world, deployment);
    let new = sets.iter().filter(|set| deployment.spec.paused || is_new(set, deployment));
    let new: Vec<_> = new.filter_map(|object| object.as_replica_set()).collect();
    let asked = new.iter().map(|set| i64::from(set.spec.replicas())).sum();
    let uids: Vec<Str> = new.iter().map(|set| set.metadata.uid.clone()).collect();
    let mut steps = vec![
        (Step::Apply, 1, 1),
        (Step::Controller, i64::from(seen), 1),
        (Step::ReplicaSet, asked, want),
    ];
    steps.extend(of_pods(world, &uids, want, true));
    steps
}

fn of_generic(world: &World, generic: &Generic) -> Vec<(Step, i64, i64)> {
    let uid = &generic.metadata.uid;
    let (want, probes) = match generic.kind {
        Kind::StatefulSet => (generic.spec().long("replicas").unwrap_or(1), true),
        Kind::DaemonSet => (generic.status().long("desiredNumberScheduled").unwrap_or(0), true),
        Kind::Job if JobStatus::of(generic).end().is_none() => {
            let left = generic.spec().long("completions").unwrap_or(1)
                - generic.status().long("succeeded").unwrap_or(0);
            (left.min(generic.spec().long("parallelism").unwrap_or(1)), false)
        }
        _ => return Vec::new(),
    };
    let observed = generic.status().long("observedGeneration");
    let seen = match observed {
        Some(observed) => observed >= generic.metadata.generation,
        None => generic.status().value().is_some(),
    };
    let mut steps = vec![(Step::Apply, 1, 1), (Step::Controller, i64::from(seen), 1)];
    steps.extend(of_pods(world, std::slice::from_ref(uid), want, probes));
    steps
}

const RANKS: [Step; 5] = [Step::Pods, Step::Scheduler, Step::Kubelet, Step::Container, Step::Probe];

/// How many of the pods of these owners got past each step.
fn of_pods(world: &World, owners: &[Str], want: i64, probes: bool) -> Vec<(Step, i64, i64)> {
    let pods = world.store().list(Kind::Pod).filter_map(|object| object.as_pod());
    let own = pods.filter(|pod| {
        pod.is_active() && owners.iter().any(|uid| pod.metadata.is_controlled_by(uid))
    });
    let ranks: Vec<u8> = own.map(|pod| rank(world, pod)).collect();
    let steps = RANKS.iter().zip(0u8..).take(if probes { 5 } else { 4 });
    steps
        .map(|(step, n)| (*step, ranks.iter().filter(|rank| **rank >= n).count() as i64, want))
        .collect()
}

/// How far a pod has come, as a place in `RANKS`.
fn rank(world: &World, pod: &Pod) -> u8 {
    if world.is_truly_ready(pod) {
        return 4;
    }
    let Some(node) = &pod.spec.node_name else { return 0 };
    let number = world.node_number(node).unwrap_or(u16::MAX);
    let kubelet = world.kubelets().get(usize::from(number));
    // What its status says was true when somebody could still say it.
    if !kubelet.is_some_and(|kubelet| kubelet.is_powered()) || !world.is_connected(number) {
        return 1;
    }
    let statuses = &pod.status.container_statuses;
    let all = |holds: fn(&crate::api::ContainerStatus) -> bool| {
        !statuses.is_empty() && statuses.iter().all(holds)
    };
    let started = |status: &crate::api::ContainerStatus| {
        let (now, last) = (&status.state, &status.last_state);
        now.running.is_some() || now.terminated.is_some() || last.terminated.is_some()
    };
    match (all(started), all(|status| status.state.running.is_some())) {
        (true, true) => 3,
        (true, false) => 2,
        _ => 1,
    }
}
