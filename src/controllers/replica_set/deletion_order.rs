//! Which pods go first when a ReplicaSet shrinks (`ActivePodsWithRanks` in Kubernetes'
//! pkg/controller/controller_utils.go, `getPodsToDelete` in pkg/controller/replicaset).
//!
//! Where Kubernetes leaves the choice to the pods' random uids, it falls here to a hash of the seed
//! and the uid, so that every run of a seed chooses alike. Left out: the metric about the ages.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::api::{Condition, Pod, PodPhase, RestartPolicy, Str, Timestamp};
use crate::kernel::{Time, stable_hash};

/// How the order is made.
#[derive(Clone, Copy, Debug)]
pub struct DeletionOrder {
    /// Times are compared by the order of magnitude of their distance from here
    /// (`LogarithmicScaleDown`); without it, as they are.
    pub now: Option<Time>,
    /// Whether the annotation counts (`PodDeletionCost`).
    pub cost: bool,
    /// For choices among equals.
    pub seed: u64,
}

/// Where a pod stands in the order: the smallest goes first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    has_node: bool,
    phase: u8,
    ready: bool,
    cost: i32,
    rank: Reverse<usize>,
    ready_since: Moment,
    restarts: Reverse<i32>,
    sidecar_restarts: Reverse<i32>,
    created: Moment,
}

/// A time in the order: none before later before earlier.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Moment {
    None,
    At(Reverse<i64>),
    /// The order of magnitude of an age, and what decides between times of one magnitude.
    Aged(i32, u64),
}

/// The annotation by which a user says which pods matter less.
const COST: &str = "controller.kubernetes.io/pod-deletion-cost";

impl DeletionOrder {
    /// The order that Kubernetes 1.36 keeps by default.
    pub fn standard(now: Time, seed: u64) -> DeletionOrder {
        DeletionOrder { now: Some(now), cost: true, seed }
    }

    /// The first `count` of `pods` to go; `related` are the pods from which crowding is counted. If
    /// all go, the order does not matter, and there is none.
    pub fn choose<'a>(&self, pods: Vec<&'a Pod>, related: &[&Pod], count: usize) -> Vec<&'a Pod> {
        if count >= pods.len() {
            return pods;
        }
        let crowd = crowd(related);
        let ranks: Vec<usize> = pods.iter().map(|p| rank(p, &crowd)).collect();
        let places = self.places(&pods, &ranks).into_iter();
        let tied = |(place, pod): (Place, &'a Pod)| (place, self.hash(&pod.metadata.uid), pod);
        let mut placed: Vec<_> = places.zip(pods).map(tied).collect();
        placed.sort_by(|a, b| {
            let (place, hash, pod) = a;
            place
                .cmp(&b.0)
                .then(hash.cmp(&b.1))
                .then_with(|| pod.metadata.name.cmp(&b.2.metadata.name))
        });
        placed.truncate(count);
        placed.into_iter().map(|(_, _, pod)| pod).collect()
    }

    /// The place of each of `pods`, whose ranks (related pods on the same node) are `ranks`.
    ///
    /// Kubernetes lets the smaller uid decide between two different times of one magnitude, but
    /// goes on comparing pods whose times are equal. Taken pod by pod that is no order (it can go
    /// round in a circle), so here the smallest uid of a moment stands for all pods of that moment.
    pub fn places(&self, pods: &[&Pod], ranks: &[usize]) -> Vec<Place> {
        let ready = self.speakers(pods, ready_since);
        let created = self.speakers(pods, |pod| pod.metadata.creation_timestamp);
        let place = |(pod, rank): (&&Pod, &usize)| Place {
            has_node: node(pod).is_some(),
            phase: phase_order(pod.status.phase),
            ready: pod.is_ready(),
            cost: if self.cost { deletion_cost(pod) } else { 0 },
            rank: Reverse(*rank),
            ready_since: self.moment(ready_since(pod), &ready),
            restarts: Reverse(restarts(pod)),
            sidecar_restarts: Reverse(sidecar_restarts(pod)),
            created: self.moment(pod.metadata.creation_timestamp, &created),
        };
        pods.iter().zip(ranks).map(place).collect()
    }

    /// For each time that occurs, the hash that stands for its pods.
    fn speakers(
        &self,
        pods: &[&Pod],
        time: impl Fn(&Pod) -> Option<Timestamp>,
    ) -> BTreeMap<Timestamp, u64> {
        let mut speakers = BTreeMap::new();
        for pod in pods {
            if let Some(at) = time(pod) {
                let hash = self.hash(&pod.metadata.uid);
                let speaker = speakers.entry(at).or_insert(hash);
                *speaker = hash.min(*speaker);
            }
        }
        speakers
    }

    fn moment(&self, at: Option<Timestamp>, speakers: &BTreeMap<Timestamp, u64>) -> Moment {
        match (at, self.now) {
            (None, _) => Moment::None,
            (Some(at), None) => Moment::At(Reverse(at.0)),
            (Some(at), Some(now)) => {
                let speaker = speakers.get(&at).copied().unwrap_or_default();
                Moment::Aged(magnitude(at, now), speaker)
            }
        }
    }

    fn hash(&self, uid: &str) -> u64 {
        stable_hash(self.seed, uid.as_bytes())
    }
}

/// ⌊log₂⌋ of an age in nanoseconds; −1 for what is not past.
fn magnitude(at: Timestamp, now: Time) -> i32 {
    let start = i128::from(Timestamp::EPOCH.0) * 1_000_000_000;
    let age = start + i128::from(now.as_nanos()) - i128::from(at.0) * 1_000_000_000;
    if age > 0 { age.ilog2() as i32 } else { -1 }
}

/// How many active pods there are on each node.
fn crowd(pods: &[&Pod]) -> BTreeMap<Option<Str>, usize> {
    let mut crowd = BTreeMap::new();
    for pod in pods.iter().filter(|pod| pod.is_active()) {
        *crowd.entry(node(pod).cloned()).or_default() += 1;
    }
    crowd
}

fn rank(pod: &Pod, crowd: &BTreeMap<Option<Str>, usize>) -> usize {
    crowd.get(&node(pod).cloned()).copied().unwrap_or_default()
}

fn node(pod: &Pod) -> Option<&Str> {
    pod.spec.node_name.as_ref().filter(|name| !name.is_empty())
}

/// Kubernetes looks the phase up in a table of three; what is not in it counts as Pending.
fn phase_order(phase: Option<PodPhase>) -> u8 {
    match phase {
        Some(PodPhase::Unknown) => 1,
        Some(PodPhase::Running) => 2,
        _ => 0,
    }
}

fn ready_since(pod: &Pod) -> Option<Timestamp> {
    let ready = Condition::find(&pod.status.conditions, "Ready")?;
    ready.last_transition_time.filter(|_| pod.is_ready())
}

/// The annotation's number; what is no plain number counts as absent.
fn deletion_cost(pod: &Pod) -> i32 {
    let Some(text) = pod.metadata.annotations.get(COST) else {
        return 0;
    };
    let plain = text.starts_with(|c: char| c == '-' || ('1'..='9').contains(&c)) || **text == *"0";
    if plain { text.parse().unwrap_or(0) } else { 0 }
}

fn restarts(pod: &Pod) -> i32 {
    let counts = pod.status.container_statuses.iter();
    counts.map(|status| status.restart_count).max().unwrap_or(0)
}

fn sidecar_restarts(pod: &Pod) -> i32 {
    let is_sidecar = |name: &Str| {
        let mut containers = pod.spec.init_containers.iter();
        containers.any(|c| c.name == *name && c.restart_policy == Some(RestartPolicy::Always))
    };
    let statuses = pod.status.init_container_statuses.iter();
    let counts =
        statuses.filter(|status| is_sidecar(&status.name)).map(|status| status.restart_count);
    counts.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::ConditionStatus;

    fn pod(name: &str, uid: &str, ready_since: i64) -> Pod {
        let mut pod = Pod::default();
        pod.metadata.name = name.into();
        pod.metadata.uid = uid.into();
        pod.spec.node_name = Some("node-1".into());
        pod.status.phase = Some(PodPhase::Running);
        pod.status.conditions = [Condition {
            kind: "Ready".into(),
            status: ConditionStatus::True,
            last_transition_time: Some(Timestamp(Timestamp::EPOCH.0 + ready_since)),
            ..Condition::default()
        }]
        .into();
        pod
    }

    fn names(pods: &[&Pod]) -> Vec<Str> {
        pods.iter().map(|p| p.metadata.name.clone()).collect()
    }

    #[test]
    fn among_equals_the_seed_chooses_and_chooses_alike_every_time() {
        let pods: Vec<Pod> = (0..8).map(|i| pod(&format!("p{i}"), &format!("u{i}"), 0)).collect();
        let choose = |seed, order: Vec<&'_ Pod>| {
            let chosen = DeletionOrder::standard(Time::from_secs(9), seed).choose(order, &[], 3);
            names(&chosen)
        };
        let forward: Vec<&Pod> = pods.iter().collect();
        let backward: Vec<&Pod> = pods.iter().rev().collect();
        assert_eq!(choose(1, forward.clone()), choose(1, backward));
        let others =
            (2..20).filter(|seed| choose(*seed, forward.clone()) != choose(1, forward.clone()));
        assert!(others.count() > 10, "most seeds choose others");
    }

    #[test]
    fn times_of_one_magnitude_do_not_make_the_order_go_round_in_a_circle() {
        // a and b became ready together, b restarted; c became ready a second later.
        let (a, mut b, c) = (pod("a", "ua", 0), pod("b", "ub", 0), pod("c", "uc", 1));
        b.status.container_statuses = [Default::default()].into();
        b.status.container_statuses[0].restart_count = 7;
        for seed in 0..50 {
            let order = DeletionOrder::standard(Time::from_secs(1_000), seed);
            let chosen = order.choose(vec![&a, &b, &c], &[], 2);
            let place = |name: &str| names(&chosen).iter().position(|n| &**n == name);
            assert!(place("b").unwrap_or(9) < place("a").unwrap_or(10), "seed {seed}");
        }
    }

    #[test]
    fn a_cost_that_is_no_plain_number_counts_as_absent() {
        for (text, cost) in [("10", 10), ("-3", -3), ("0", 0), ("+4", 0), ("008", 0), ("x", 0)] {
            let mut pod = pod("p", "u", 0);
            pod.metadata.annotations.insert(COST.into(), text.into());
            assert_eq!(deletion_cost(&pod), cost, "{text}");
        }
    }

    #[test]
    fn sidecars_decide_when_the_containers_restarted_alike() {
        let (a, mut b) = (pod("a", "u", 0), pod("b", "u", 0));
        b.spec.init_containers = [Default::default()].into();
        b.spec.init_containers[0].name = "proxy".into();
        b.spec.init_containers[0].restart_policy = Some(RestartPolicy::Always);
        b.status.init_container_statuses = [Default::default()].into();
        b.status.init_container_statuses[0].name = "proxy".into();
        b.status.init_container_statuses[0].restart_count = 1;
        let order = DeletionOrder::standard(Time::from_secs(9), 1);
        assert_eq!(names(&order.choose(vec![&a, &b], &[], 1)), ["b".into()]);
    }
}
