use std::time::Duration;

use loopscope::api::Str;
use loopscope::client::expectations::{
    EXPECTATIONS_TIMEOUT, Expectations, UidTrackingExpectations,
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
        ttl_seconds: u64,
        steps: Vec<Step>,
    },
    PodKeys {
        expect_deletions: Vec<Str>,
        observe: Vec<Str>,
    },
    PodEvent {
        #[allow(dead_code)]
        expect_deletions: Vec<Str>,
        #[allow(dead_code)]
        event: Value,
    },
    Constants {},
}

#[derive(Deserialize)]
#[serde(
    tag = "do",
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
enum Step {
    Set { adds: i64, dels: i64 },
    CreationObserved { times: u32 },
    DeletionObserved { times: u32 },
    AdvanceNanoseconds { by: u64 },
}

pub fn check(case: &Value, expect: &Value) -> Outcome {
    let case: Given = match given(case) {
        Ok(case) => case,
        Err(outcome) => return outcome,
    };
    match case {
        Given::Counters { ttl_seconds, steps } => counters(ttl_seconds, &steps, expect),
        Given::PodKeys {
            expect_deletions,
            observe,
        } => compare(expect, &pod_keys(expect_deletions, &observe)),
        Given::PodEvent { .. } => Outcome::Failed("needs the ReplicaSet handler".into()),
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
        let is_asserted = expect["afterSteps"]
            .get(after_steps.len())
            .is_some_and(|e| !e.is_null());
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
