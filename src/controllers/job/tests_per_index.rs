//! Indexes that fail one by one, and Jobs that are content with some of theirs.

use std::time::Duration;

use serde_json::{Value, json};

use super::handlers::FINALIZER;
use super::indexes::index_of;
use super::tests::{Bench, active, bench, end, pods, reason, settle, status};
use crate::api::{Pod, PodPhase};

fn indexed(completions: i32, more: Value) -> Bench {
    let mut spec = json!({"completionMode": "Indexed", "completions": completions,
        "parallelism": completions});
    for (key, value) in more.as_object().into_iter().flatten() {
        spec[key] = value.clone();
    }
    bench(spec)
}

/// Ends the pod that is active for an index.
fn end_index(bench: &mut Bench, index: i32, phase: PodPhase, code: i32) {
    let pods = active(bench);
    let pod = pods.iter().find(|pod| index_of(pod) == Some(index)).expect("it is active");
    end(bench, pod, phase, code);
    settle(bench);
}

fn fail(bench: &mut Bench, index: i32) {
    end_index(bench, index, PodPhase::Failed, 1);
}

fn succeed(bench: &mut Bench, index: i32) {
    end_index(bench, index, PodPhase::Succeeded, 0);
}

fn indexes(pods: &[Pod]) -> Vec<i32> {
    let mut found: Vec<i32> = pods.iter().filter_map(index_of).collect();
    found.sort_unstable();
    found
}

fn failures(pod: &Pod) -> Option<&str> {
    let text = pod.metadata.annotations.get("batch.kubernetes.io/job-index-failure-count");
    text.map(|text| &**text)
}

#[test]
fn an_index_is_given_up_after_its_own_limit_and_the_others_go_on() {
    let mut bench = indexed(2, json!({"backoffLimitPerIndex": 1}));
    fail(&mut bench, 0);
    assert_eq!(status(&bench).failed_indexes.as_deref(), Some(""));
    assert_eq!(indexes(&active(&bench)), [1], "it waits for its back-off");
    bench.advance(Duration::from_secs(12));
    let again = active(&bench).into_iter().find(|pod| index_of(pod) == Some(0)).expect("again");
    assert_eq!(failures(&again), Some("1"));
    fail(&mut bench, 0);
    assert_eq!(status(&bench).failed_indexes.as_deref(), Some("0"));
    bench.advance(Duration::from_secs(60));
    assert_eq!(indexes(&active(&bench)), [1], "it is not tried again");
    assert_eq!(reason(&bench, "Failed"), None);

    succeed(&mut bench, 1);
    assert_eq!(reason(&bench, "Failed").as_deref(), Some("FailedIndexes"));
    let status = status(&bench);
    assert_eq!((status.completed_indexes.as_str(), status.failed), ("1", 2));
}

#[test]
fn a_failed_pod_is_freed_when_its_successor_carries_the_number_on() {
    let mut bench = indexed(1, json!({"backoffLimitPerIndex": 3}));
    let is_freed = |bench: &Bench| {
        let all = pods(bench);
        let failed = all.iter().filter(|pod| pod.is_finished());
        failed.map(|pod| !pod.metadata.finalizers.iter().any(|f| **f == *FINALIZER)).collect()
    };
    fail(&mut bench, 0);
    let freed: Vec<bool> = is_freed(&bench);
    assert_eq!(freed, [false]);
    bench.advance(Duration::from_secs(15));
    let freed: Vec<bool> = is_freed(&bench);
    assert_eq!(freed, [true]);
    fail(&mut bench, 0);
    bench.advance(Duration::from_secs(15));
    assert!(active(&bench).is_empty(), "the second wait is twenty seconds");
    bench.advance(Duration::from_secs(10));
    assert_eq!(failures(&active(&bench)[0]), Some("2"));
}

#[test]
fn too_many_failed_indexes_end_the_job_and_what_runs_of_it() {
    let more = json!({"backoffLimitPerIndex": 0, "maxFailedIndexes": 1});
    let mut bench = indexed(4, more);
    fail(&mut bench, 0);
    assert_eq!(indexes(&active(&bench)), [1, 2, 3]);
    fail(&mut bench, 2);
    assert!(active(&bench).is_empty());
    assert_eq!(reason(&bench, "FailureTarget").as_deref(), Some("MaxFailedIndexesExceeded"));
    assert_eq!(status(&bench).failed_indexes.as_deref(), Some("0,2"));
}

#[test]
fn a_rule_may_give_an_index_up_at_once() {
    let rules = json!([{"action": "FailIndex",
        "onExitCodes": {"operator": "In", "values": [42]}}]);
    let more = json!({"backoffLimitPerIndex": 5, "podFailurePolicy": {"rules": rules}});
    let mut bench = indexed(2, more);
    end_index(&mut bench, 1, PodPhase::Failed, 42);
    assert_eq!(status(&bench).failed_indexes.as_deref(), Some("1"));
    fail(&mut bench, 0);
    assert_eq!(status(&bench).failed_indexes.as_deref(), Some("1"));
}

#[test]
fn a_success_policy_ends_the_job_when_enough_indexes_have_succeeded() {
    let rules = json!([{"succeededIndexes": "0"}, {"succeededIndexes": "1-3",
        "succeededCount": 2}]);
    let mut bench = indexed(4, json!({"successPolicy": {"rules": rules}}));
    succeed(&mut bench, 3);
    assert_eq!(reason(&bench, "SuccessCriteriaMet"), None);
    succeed(&mut bench, 1);
    assert_eq!(reason(&bench, "SuccessCriteriaMet").as_deref(), Some("SuccessPolicy"));
    let conditions = status(&bench).conditions;
    let met = conditions.iter().find(|c| &*c.kind == "SuccessCriteriaMet").expect("it is met");
    assert_eq!(met.message.as_deref(), Some("Matched rules at index 1"));
    assert!(active(&bench).is_empty(), "the others are stopped");
}
