use std::sync::Arc;
use std::time::Duration;

use loopscope::api::{Kind, Object, OwnerReference, Pod, ReplicaSet, Str, Timestamp};
use loopscope::client::Cache;
use loopscope::client::expectations::{
    EXPECTATIONS_TIMEOUT, Expectations, UidTrackingExpectations,
};
use loopscope::controllers::{Change, ChangeKind, Context, promises, replica_set};
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
    Counters { ttl_seconds: u64, steps: Vec<Step> },
    PodKeys { expect_deletions: Vec<Str>, observe: Vec<Str> },
    PodEvent { expect_deletions: Vec<Str>, event: PodEvent },
    Constants {},
}

#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
enum Step {
    Set { adds: i64, dels: i64 },
    CreationObserved { times: u32 },
    DeletionObserved { times: u32 },
    AdvanceNanoseconds { by: u64 },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PodEvent {
    #[serde(rename = "type")]
    kind: EventKind,
    pod: Str,
    #[serde(default)]
    deletion_timestamp_set_before: bool,
    #[serde(default)]
    deletion_timestamp_set: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum EventKind {
    Added,
    Modified,
    Deleted,
}

pub fn check(case: &Value, expect: &Value) -> Outcome {
    let case: Given = match given(case) {
        Ok(case) => case,
        Err(outcome) => return outcome,
    };
    match case {
        Given::Counters { ttl_seconds, steps } => counters(ttl_seconds, &steps, expect),
        Given::PodKeys { expect_deletions, observe } => {
            compare(expect, &pod_keys(expect_deletions, &observe))
        }
        Given::PodEvent { expect_deletions, event } => {
            compare(expect, &pod_event(expect_deletions, &event))
        }
        Given::Constants {} => {
            let seconds = EXPECTATIONS_TIMEOUT.as_secs();
            compare(expect, &json!({ "expectationsTimeoutSeconds": seconds }))
        }
    }
}

fn key() -> Str {
    "default/rc".into()
}

fn counters(ttl_seconds: u64, steps: &[Step], expect: &Value) -> Outcome {
    let key = key();
    let mut expectations = Expectations::with_timeout(Duration::from_secs(ttl_seconds));
    let mut now = Time::ZERO;
    let mut after_steps = Vec::new();
    for step in steps {
        match step {
            Step::Set { adds, dels } => expectations.set(&key, *adds, *dels, now),
            Step::CreationObserved { times } => {
                (0..*times).for_each(|_| expectations.creation_observed(&key));
            }
            Step::DeletionObserved { times } => {
                (0..*times).for_each(|_| expectations.deletion_observed(&key));
            }
            Step::AdvanceNanoseconds { by } => now += Duration::from_nanos(*by),
        }
        // In this list null means that nothing is asserted.
        let is_asserted = expect["afterSteps"].get(after_steps.len()).is_some_and(|e| !e.is_null());
        let expected = expectations.get(&key);
        after_steps.push(if is_asserted {
            json!({
                "adds": expected.map(|e| e.adds),
                "dels": expected.map(|e| e.dels),
                "satisfied": expectations.satisfied(&key, now),
            })
        } else {
            Value::Null
        });
    }
    compare(expect, &json!({ "afterSteps": after_steps }))
}

fn pod_keys(expected: Vec<Str>, observed: &[Str]) -> Value {
    let key = key();
    let mut expectations = UidTrackingExpectations::default();
    expectations.expect_deletions(&key, expected, Time::ZERO);
    let before = expectations.satisfied(&key, Time::ZERO);
    for pod in observed {
        expectations.deletion_observed(&key, pod);
    }
    let after = expectations.satisfied(&key, Time::ZERO);
    expectations.delete(&key);
    json!({
        "satisfiedBefore": before,
        "satisfiedAfter": after,
        "trackedKeysAfterDelete": expectations.expected_deletions(&key),
    })
}

/// The event reaches the handler of the ReplicaSet controller that owns the pod.
fn pod_event(expected: Vec<Str>, event: &PodEvent) -> Value {
    let mut set = ReplicaSet::default();
    set.metadata.namespace = "default".into();
    set.metadata.name = "foo".into();
    set.metadata.uid = "set-uid".into();
    let owner = OwnerReference::controller_of(Kind::ReplicaSet, &set.metadata);
    let (namespace, name) = event.pod.split_once('/').unwrap_or(("default", &event.pod));
    let pod = |version: u64, terminating: bool| {
        let mut pod = Pod::default();
        pod.metadata.namespace = namespace.into();
        pod.metadata.name = name.into();
        pod.metadata.resource_version = version;
        pod.metadata.owner_references = [owner.clone()].into();
        pod.metadata.deletion_timestamp = terminating.then(Timestamp::default);
        Arc::new(Object::from(pod))
    };
    let cache = Cache::of([Object::from(set.clone())]);
    let cx = Context { cache: &cache, now: Time::ZERO, seed: 1, promises_kept: false };
    let before = Some(pod(1, event.deletion_timestamp_set_before));
    let (kind, before) = match event.kind {
        EventKind::Added => (ChangeKind::Added, None),
        EventKind::Modified => (ChangeKind::Updated, before),
        EventKind::Deleted => (ChangeKind::Deleted, before),
    };
    let object = pod(2, event.deletion_timestamp_set);
    let set_key = Object::from(set).key();
    let key = promises::expectations_key(&set_key);
    let mut expectations = UidTrackingExpectations::default();
    expectations.expect_deletions(&key, expected, Time::ZERO);
    let woken = replica_set::wakes(&Change { kind, before, object }, &cx);
    promises::observe(&woken, &mut expectations);
    let open = expectations.get(&key);
    json!({
        "fulfilled": open.is_none_or(|open| open.is_fulfilled()),
        "enqueued": woken.keys.contains(&set_key),
    })
}
