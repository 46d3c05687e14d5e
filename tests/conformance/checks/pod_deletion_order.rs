use loopscope::api::{
    Condition, ConditionStatus, ContainerStatus, Pod, PodPhase, Str, StrMap, Timestamp,
};
use loopscope::controllers::replica_set::DeletionOrder;
use loopscope::kernel::Time;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Outcome, compare, given};

#[derive(Deserialize)]
#[serde(
    tag = "check",
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
enum Given {
    Choose {
        pods: Vec<PodGiven>,
        related_pods: Option<Vec<PodGiven>>,
        count: usize,
    },
    Compare {
        a: Box<PodGiven>,
        b: Box<PodGiven>,
        rank_a: usize,
        rank_b: usize,
        #[serde(default)]
        feature_gates: FeatureGates,
    },
    Sort {
        pods: Vec<PodGiven>,
    },
    FilterActive {
        pods: Vec<PodGiven>,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields, default)]
struct FeatureGates {
    logarithmic_scale_down: bool,
    pod_deletion_cost: bool,
}

impl Default for FeatureGates {
    fn default() -> Self {
        FeatureGates { logarithmic_scale_down: true, pod_deletion_cost: true }
    }
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct PodGiven {
    name: Str,
    kind: Str,
    node_name: Str,
    phase: Option<PodPhase>,
    ready: bool,
    ready_seconds_ago: Option<i64>,
    created_seconds_ago: Option<i64>,
    restarts: Vec<i32>,
    annotations: StrMap,
}

impl PodGiven {
    /// The kind goes into the name, where there is no other, to tell the pods apart afterwards.
    fn to_pod(&self) -> Pod {
        let ago = |seconds: i64| Timestamp(now_stamp().0 - seconds);
        let mut pod = Pod::default();
        let name = if self.name.is_empty() { &self.kind } else { &self.name };
        pod.metadata.name = name.clone();
        pod.metadata.annotations = self.annotations.clone();
        pod.metadata.creation_timestamp = self.created_seconds_ago.map(ago);
        pod.spec.node_name = Some(self.node_name.clone());
        pod.status.phase = self.phase;
        if self.ready {
            pod.status.conditions.push(Condition {
                kind: "Ready".into(),
                status: ConditionStatus::True,
                last_transition_time: self.ready_seconds_ago.map(ago),
                ..Condition::default()
            });
        }
        let status = |restart_count: &i32| ContainerStatus {
            restart_count: *restart_count,
            ..ContainerStatus::default()
        };
        pod.status.container_statuses = self.restarts.iter().map(status).collect();
        pod
    }
}

fn now() -> Time {
    Time::from_secs(60)
}

fn now_stamp() -> Timestamp {
    Timestamp::from(now())
}

fn order(gates: &FeatureGates) -> DeletionOrder {
    DeletionOrder {
        now: gates.logarithmic_scale_down.then(now),
        cost: gates.pod_deletion_cost,
        seed: 1,
    }
}

pub fn check(case: &Value, expect: &Value) -> Outcome {
    let case: Given = match given(case) {
        Ok(case) => case,
        Err(outcome) => return outcome,
    };
    match case {
        Given::Choose { pods, related_pods, count } => {
            let pods = to_pods(&pods);
            let related = related_pods.as_deref().map_or_else(|| pods.clone(), to_pods);
            let related: Vec<&Pod> = related.iter().collect();
            let order = DeletionOrder::standard(now(), 1);
            let chosen = order.choose(pods.iter().collect(), &related, count);
            compare(expect, &json!({ "deletedKinds": names(&chosen) }))
        }
        Given::Compare { a, b, rank_a, rank_b, feature_gates } => {
            let (a, b) = (a.to_pod(), b.to_pod());
            let places = order(&feature_gates).places(&[&a, &b], &[rank_a, rank_b]);
            let first = match places[0].cmp(&places[1]) {
                std::cmp::Ordering::Less => json!("a"),
                std::cmp::Ordering::Equal => Value::Null,
                std::cmp::Ordering::Greater => json!("b"),
            };
            compare(expect, &json!({ "tie": first.is_null(), "deletedFirst": first }))
        }
        Given::Sort { pods } => sort(&to_pods(&pods), expect),
        Given::FilterActive { pods } => {
            let pods = to_pods(&pods);
            let active: Vec<&Pod> = pods.iter().filter(|pod| pod.is_active()).collect();
            compare(expect, &json!({ "active": names(&active) }))
        }
    }
}

/// The outcome must be the same for every order of the input: all rotations, both ways round.
fn sort(pods: &[Pod], expect: &Value) -> Outcome {
    for turn in 0..pods.len().max(1) {
        let mut turned: Vec<&Pod> = pods.iter().collect();
        turned.rotate_left(turn);
        for _ in 0..2 {
            turned.reverse();
            let plain = DeletionOrder { now: None, cost: true, seed: 1 };
            let places = plain.places(&turned, &vec![0; turned.len()]);
            let mut placed: Vec<_> = places.into_iter().zip(turned.clone()).collect();
            placed.sort_by(|(a, _), (b, _)| a.cmp(b));
            let sorted: Vec<&Pod> = placed.into_iter().map(|(_, pod)| pod).collect();
            match compare(expect, &json!({ "order": names(&sorted) })) {
                Outcome::Passed => {}
                outcome => return outcome,
            }
        }
    }
    Outcome::Passed
}

fn to_pods(pods: &[PodGiven]) -> Vec<Pod> {
    pods.iter().map(PodGiven::to_pod).collect()
}

fn names(pods: &[&Pod]) -> Vec<Str> {
    pods.iter().map(|pod| pod.metadata.name.clone()).collect()
}
