//! The controller beside a real API server, pods being moved by hand.

use std::time::Duration;

use serde_json::{Value, json};

use super::handlers::{FINALIZER, Memory};
use super::job_view::JobStatus;
use crate::api::{Condition, Kind, Object, ObjectKey, Pod, PodPhase, Timestamp};
use crate::apiserver::{ApiError, DeleteOptions, Part, Reason, Request};
use crate::controllers::lockstep::Lockstep;

pub(super) type Bench = Lockstep<Memory>;

pub(super) fn key() -> ObjectKey {
    ObjectKey::new(Kind::Job, "default", "sum")
}

pub(super) fn bench(spec: Value) -> Bench {
    let mut bench = Bench::new();
    add(&mut bench, spec);
    bench
}

pub(super) fn add(bench: &mut Bench, mut spec: Value) {
    let containers = json!([{"name": "main", "image": "sum:1"}]);
    spec["template"]["spec"] = json!({"restartPolicy": "Never", "containers": containers});
    bench.create(
        Kind::Job,
        json!({"metadata": {"name": "sum", "namespace": "default"},
        "spec": spec}),
    );
    settle(bench);
}

/// Changes of pods are collected for a second.
pub(super) fn settle(bench: &mut Bench) {
    bench.advance(Duration::from_millis(1100));
}

pub(super) fn pods(bench: &Bench) -> Vec<Pod> {
    let pods = bench.server.store().list(Kind::Pod);
    pods.filter_map(|object| object.as_pod().cloned()).collect()
}

pub(super) fn active(bench: &Bench) -> Vec<Pod> {
    pods(bench).into_iter().filter(Pod::is_active).collect()
}

pub(super) fn end(bench: &mut Bench, pod: &Pod, phase: PodPhase, code: i32) {
    let mut pod = pod.clone();
    pod.metadata.resource_version = 0;
    pod.status.phase = Some(phase);
    let at = Timestamp::from(bench.now).to_string();
    let ended = json!({"exitCode": code, "finishedAt": at});
    let status = json!({"name": "main", "state": {"terminated": ended}, "ready": false,
        "restartCount": 0, "image": "", "imageID": ""});
    pod.status.container_statuses = [serde_json::from_value(status).expect("a status")].into();
    bench.ask(Request::Update(Part::Status, Object::Pod(pod).into())).expect("written");
}

fn fail_all(bench: &mut Bench) {
    for pod in active(bench) {
        end(bench, &pod, PodPhase::Failed, 1);
    }
    settle(bench);
}

pub(super) fn status(bench: &Bench) -> JobStatus {
    JobStatus::of(bench.stored(&key()).and_then(Object::as_generic).expect("the job"))
}

pub(super) fn reason(bench: &Bench, kind: &str) -> Option<String> {
    let status = status(bench);
    let found = Condition::find(&status.conditions, kind)?;
    found.reason.as_ref().map(|reason| reason.to_string())
}

/// What the kubelet does when a pod is told to go.
fn sweep(bench: &mut Bench) {
    for pod in pods(bench).into_iter().filter(|pod| pod.metadata.is_terminating()) {
        let options = DeleteOptions { grace_period_seconds: Some(0), ..Default::default() };
        let key = crate::controllers::owned::key_of(&pod);
        bench.ask(Request::Delete(key, options)).expect("deleted");
    }
    settle(bench);
}

#[test]
fn a_job_ends_well_when_its_pod_does() {
    let mut bench = bench(json!({}));
    assert_eq!((active(&bench).len(), status(&bench).active), (1, 1));
    assert!(active(&bench)[0].metadata.finalizers.iter().any(|f| &**f == FINALIZER));
    let pod = active(&bench).remove(0);
    end(&mut bench, &pod, PodPhase::Succeeded, 0);
    settle(&mut bench);
    let status = status(&bench);
    assert_eq!((status.succeeded, status.active), (1, 0));
    assert_eq!(reason(&bench, "Complete").as_deref(), Some("CompletionsReached"));
    assert_eq!(reason(&bench, "SuccessCriteriaMet").as_deref(), Some("CompletionsReached"));
    assert!(status.completion_time.is_some());
    assert!(pods(&bench)[0].metadata.finalizers.is_empty(), "it was counted");
    assert!(bench.events.last().expect("events").ends_with("Completed: Job completed"));
}

#[test]
fn back_off_limit_three_makes_four_pods_ten_twenty_and_forty_seconds_apart() {
    let mut bench = bench(json!({"backoffLimit": 3}));
    let mut made = vec![bench.now];
    for _ in 0..90 {
        let before = pods(&bench).len();
        if !active(&bench).is_empty() {
            fail_all(&mut bench);
        }
        bench.advance(Duration::from_secs(1));
        if pods(&bench).len() > before {
            made.push(bench.now);
        }
    }
    assert_eq!(pods(&bench).len(), 4);
    let gaps: Vec<u64> =
        made.windows(2).map(|pair| pair[1].since(pair[0]).as_secs() / 10 * 10).collect();
    assert_eq!(gaps, [10, 20, 40]);
    assert_eq!((status(&bench).failed, status(&bench).active), (4, 0));
    assert_eq!(reason(&bench, "Failed").as_deref(), Some("BackoffLimitExceeded"));
    let said = "BackoffLimitExceeded: Job has reached the specified backoff limit";
    assert!(bench.events.iter().any(|event| event.ends_with(said)));
}

#[test]
fn back_off_limit_zero_runs_once() {
    let mut bench = bench(json!({"backoffLimit": 0}));
    fail_all(&mut bench);
    bench.advance(Duration::from_secs(100));
    assert_eq!((pods(&bench).len(), status(&bench).failed), (1, 1));
    assert!(reason(&bench, "Failed").is_some());
}

#[test]
fn what_still_runs_of_a_job_that_fails_goes_and_counts_as_failed() {
    let mut bench = bench(json!({"backoffLimit": 2, "parallelism": 4, "completions": 9}));
    // A pod without a node goes at once.
    let last = active(&bench).remove(3);
    let node = "node-1".into();
    let bind = Request::Bind(crate::controllers::owned::key_of(&last), "".into(), node);
    bench.ask(bind).expect("bound");
    for pod in active(&bench).drain(..3).collect::<Vec<_>>() {
        end(&mut bench, &pod, PodPhase::Failed, 1);
    }
    settle(&mut bench);
    assert_eq!(reason(&bench, "FailureTarget").as_deref(), Some("BackoffLimitExceeded"));
    assert_eq!(reason(&bench, "Failed"), None, "a pod is still on its way out");
    sweep(&mut bench);
    assert_eq!(reason(&bench, "Failed").as_deref(), Some("BackoffLimitExceeded"));
    assert_eq!(status(&bench).failed, 4);
    assert!(active(&bench).is_empty());
}

#[test]
fn each_index_ends_well_once() {
    let spec = json!({"completions": 5, "parallelism": 3, "completionMode": "Indexed"});
    let mut bench = bench(spec);
    let first = active(&bench);
    assert!(first[0].metadata.name.starts_with("sum-0-"));
    for pod in [&first[0], &first[2]] {
        end(&mut bench, pod, PodPhase::Succeeded, 0);
    }
    settle(&mut bench);
    assert_eq!(status(&bench).completed_indexes, "0,2");
    let spec = active(&bench)[0].spec.containers[0].rest["env"].to_string();
    assert!(spec.contains("JOB_COMPLETION_INDEX"), "{spec}");
    for _ in 0..3 {
        for pod in active(&bench) {
            end(&mut bench, &pod, PodPhase::Succeeded, 0);
        }
        settle(&mut bench);
    }
    assert_eq!((status(&bench).completed_indexes.as_str(), status(&bench).succeeded), ("0-4", 5));
    assert_eq!(pods(&bench).len(), 5);
    assert!(reason(&bench, "Complete").is_some());
}

#[test]
fn a_failure_is_counted_once_though_the_controller_dies_in_between() {
    let mut bench = bench(json!({"backoffLimit": 5}));
    bench.refuse = |request| {
        let is_pod = matches!(request, Request::Patch(_, key, _) if key.kind == Kind::Pod);
        is_pod.then(|| ApiError::new(Reason::ServiceUnavailable, "not now"))
    };
    fail_all(&mut bench);
    let status_now = status(&bench);
    assert_eq!((status_now.failed, status_now.uncounted_failed.len()), (0, 1));
    bench.refuse = |_| None;
    bench.restart();
    settle(&mut bench);
    let status_now = status(&bench);
    assert_eq!((status_now.failed, status_now.uncounted_failed.len()), (1, 0));
}

#[test]
fn a_deadline_stops_it() {
    let mut bench = bench(json!({"activeDeadlineSeconds": 30}));
    bench.advance(Duration::from_secs(32));
    sweep(&mut bench);
    assert_eq!(reason(&bench, "Failed").as_deref(), Some("DeadlineExceeded"));
    assert!(active(&bench).is_empty());
}

#[test]
fn a_suspended_job_has_no_pods_and_begins_anew_when_resumed() {
    let mut bench = bench(json!({"suspend": true, "parallelism": 2}));
    assert!(pods(&bench).is_empty());
    assert_eq!(status(&bench).start_time, None);
    assert_eq!(reason(&bench, "Suspended").as_deref(), Some("JobSuspended"));
    bench.advance(Duration::from_secs(60));
    let resume = json!({"spec": {"suspend": false}});
    bench.ask(Request::Patch(Part::Main, key(), resume)).expect("resumed");
    settle(&mut bench);
    assert_eq!(active(&bench).len(), 2);
    assert_eq!(status(&bench).start_time, Some(Timestamp::from(bench.now - SECOND)));
    let suspend = json!({"spec": {"suspend": true}});
    bench.ask(Request::Patch(Part::Main, key(), suspend)).expect("suspended");
    settle(&mut bench);
    assert!(active(&bench).is_empty());
    let said: Vec<&String> = bench
        .events
        .iter()
        .filter(|e| e.contains("Job suspended") || e.contains("Job resumed"))
        .collect();
    assert_eq!(said.len(), 3, "{said:?}");
}

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn a_finished_job_is_deleted_when_its_time_to_live_is_over() {
    let mut bench = bench(json!({"ttlSecondsAfterFinished": 20}));
    let pod = active(&bench).remove(0);
    end(&mut bench, &pod, PodPhase::Succeeded, 0);
    bench.advance(Duration::from_secs(15));
    assert!(bench.stored(&key()).is_some_and(|job| !job.meta().is_terminating()));
    bench.advance(Duration::from_secs(10));
    assert!(bench.stored(&key()).is_none_or(|job| job.meta().is_terminating()));
}

#[test]
fn a_pod_whose_job_is_gone_does_not_wait_to_be_counted() {
    let mut bench = bench(json!({}));
    bench.ask(Request::Delete(key(), DeleteOptions::default())).expect("deleted");
    settle(&mut bench);
    assert!(pods(&bench)[0].metadata.finalizers.is_empty());
}

#[test]
fn a_failure_that_the_policy_ignores_does_not_count() {
    let rule = json!({"action": "Ignore", "onExitCodes": {"operator": "In", "values": [42]}});
    let fail = json!({"action": "FailJob", "onExitCodes": {"operator": "In", "values": [7]}});
    let spec = json!({"backoffLimit": 0, "podFailurePolicy": {"rules": [rule, fail]}});
    let mut bench = bench(spec);
    let pod = active(&bench).remove(0);
    end(&mut bench, &pod, PodPhase::Failed, 42);
    bench.advance(Duration::from_secs(20));
    assert_eq!((status(&bench).failed, active(&bench).len()), (0, 1));
    let pod = active(&bench).remove(0);
    end(&mut bench, &pod, PodPhase::Failed, 7);
    settle(&mut bench);
    assert_eq!(reason(&bench, "Failed").as_deref(), Some("PodFailurePolicy"));
}

#[test]
fn a_refused_creation_does_not_keep_ended_pods_uncounted() {
    let mut bench = bench(json!({"parallelism": 2, "completions": 4}));
    bench.refuse = |request| match request {
        Request::Create(object) if object.kind() == Kind::Pod => {
            Some(ApiError::new(Reason::Forbidden, "exceeded quota: q"))
        }
        _ => None,
    };
    let pod = active(&bench).remove(0);
    end(&mut bench, &pod, PodPhase::Succeeded, 0);
    bench.advance(Duration::from_secs(5));
    assert_eq!((status(&bench).succeeded, status(&bench).active), (1, 1));
    assert!(bench.events.iter().any(|e| e.contains("FailedCreate: Error creating: exceeded")));
}
