use loopscope::api::{
    Condition, ConditionStatus, Pod, PodPhase, ReplicaSet, ReplicaSetSpec, ReplicaSetStatus, Str,
    StrMap, Timestamp,
};
use loopscope::controllers::replica_set::status::{
    Tally, failure_reason, remove_condition, report_failure, set_condition,
};
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
    Counters {
        spec: ReplicaSetSpec,
        pods: Vec<PodGiven>,
    },
    Conditions {
        spec: ReplicaSetSpec,
        pod_count: i32,
        manage_replicas_error: Option<String>,
        conditions: Vec<Condition>,
    },
    SetCondition {
        conditions: Vec<Condition>,
        set: Condition,
    },
    RemoveCondition {
        conditions: Vec<Condition>,
        remove: String,
    },
    Available {
        ready: bool,
        ready_since_seconds: i64,
        min_ready_seconds: i32,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PodGiven {
    name: Str,
    #[serde(default)]
    labels: StrMap,
    phase: PodPhase,
    #[serde(default)]
    conditions: Vec<Condition>,
}

fn now() -> Time {
    Time::from_secs(100_000)
}

pub fn check(case: &Value, expect: &Value) -> Outcome {
    let case: Given = match given(case) {
        Ok(case) => case,
        Err(outcome) => return outcome,
    };
    match case {
        Given::Counters { spec, pods } => counters(spec, pods, expect),
        Given::Conditions { spec, pod_count, manage_replicas_error, mut conditions } => {
            let reason = failure_reason(pod_count, spec.replicas());
            report_failure(&mut conditions, reason, manage_replicas_error.as_deref(), now());
            compare(expect, &json!({ "conditions": conditions }))
        }
        Given::SetCondition { mut conditions, set } => {
            set_condition(&mut conditions, set);
            compare(expect, &json!({ "conditions": conditions }))
        }
        Given::RemoveCondition { mut conditions, remove } => {
            remove_condition(&mut conditions, &remove);
            compare(expect, &json!({ "conditions": conditions }))
        }
        Given::Available { ready, ready_since_seconds, min_ready_seconds } => {
            let now = Timestamp::from(now());
            let mut pod = Pod::default();
            pod.status.conditions.push(Condition {
                kind: "Ready".into(),
                status: ConditionStatus::from(ready),
                last_transition_time: Some(Timestamp(now.0 - ready_since_seconds)),
                ..Condition::default()
            });
            let available = pod.is_available(min_ready_seconds, now);
            compare(expect, &json!({ "available": available }))
        }
    }
}

fn counters(spec: ReplicaSetSpec, pods: Vec<PodGiven>, expect: &Value) -> Outcome {
    let set = ReplicaSet { spec, ..ReplicaSet::default() };
    let pod = |given: PodGiven| {
        let mut pod = Pod::default();
        pod.metadata.name = given.name;
        pod.metadata.labels = given.labels;
        pod.status.phase = Some(given.phase);
        pod.status.conditions = given.conditions.into();
        pod
    };
    let pods: Vec<Pod> = pods.into_iter().map(pod).collect();
    let mut status = ReplicaSetStatus::default();
    Tally::count(&set, &pods, 0, Timestamp::from(now())).put(&mut status);
    let status = json!({
        "replicas": status.replicas,
        "fullyLabeledReplicas": status.fully_labeled_replicas,
        "readyReplicas": status.ready_replicas,
        "availableReplicas": status.available_replicas,
        "terminatingReplicas": status.terminating_replicas,
        "observedGeneration": status.observed_generation,
    });
    compare(expect, &json!({ "status": status }))
}
