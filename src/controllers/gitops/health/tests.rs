use super::*;
use crate::api::custom;
use serde_json::json;

fn word(kind: Kind, value: Value) -> Option<(&'static str, String)> {
    let object = Object::from_value(kind, value).expect("an object");
    health(&object).map(|(health, message)| (health.word(), message))
}

fn is(kind: Kind, value: Value) -> &'static str {
    word(kind, value).expect("a kind that is checked").0
}

fn running(annotations: Value) -> Value {
    let ready = json!([{"type": "Ready", "status": "True"}]);
    json!({
        "metadata": {"name": "p", "annotations": annotations},
        "spec": {"containers": [], "restartPolicy": "Never"},
        "status": {"phase": "Running", "conditions": ready},
    })
}

#[test]
fn a_hook_that_runs_is_on_its_way_whatever_its_restart_policy_may_be_ignored() {
    let with = |hook: &str, kinds: &str| {
        is(Kind::Pod, running(json!({IGNORE_RESTART_POLICY: "true", hook: kinds})))
    };
    assert_eq!(with("x", ""), "Healthy");
    assert_eq!(with(HOOK, "PostSync"), "Progressing");
    assert_eq!(with(HOOK, "Skip"), "Healthy");
    assert_eq!(with(HELM_HOOK, "pre-install"), "Progressing");
    assert_eq!(with(HELM_HOOK, "crd-install"), "Healthy");
}

#[test]
fn where_the_restart_policy_is_ignored_a_pod_is_as_well_as_one_that_is_to_stay() {
    let mut pod = running(json!({IGNORE_RESTART_POLICY: "true"}));
    pod["status"]["conditions"][0]["status"] = json!("False");
    assert_eq!(is(Kind::Pod, pod.clone()), "Progressing");
    let ended = json!({"terminated": {"exitCode": 1}});
    pod["status"]["containerStatuses"] =
        json!([{"name": "c", "image": "x", "ready": false, "lastState": ended}]);
    assert_eq!(is(Kind::Pod, pod), "Degraded");
}

#[test]
fn a_hook_that_waits_for_its_phase_to_end_is_not_yet_pending_deletion() {
    let with = |finalizers: Value| {
        let mut pod = running(json!({}));
        pod["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        pod["metadata"]["finalizers"] = finalizers;
        word(Kind::Pod, pod).expect("a pod is checked").1
    };
    assert_eq!(with(json!(["other"])), "Pending deletion");
    assert_eq!(with(json!([HOOK_FINALIZER])), "");
}

#[test]
fn an_autoscaler_is_degraded_for_the_reasons_that_are_listed() {
    let with = |reason: &str| {
        let condition = json!({"type": "ScalingActive", "status": "False", "reason": reason});
        is(Kind::HorizontalPodAutoscaler, json!({"status": {"conditions": [condition]}}))
    };
    assert_eq!(with("FailedComputeMetricsReplicas"), "Degraded");
    assert_eq!(with("FailedGetPodsMetric"), "Degraded");
    assert_eq!(with("FailedGetContainerResourceMetric"), "Progressing");
}

#[test]
fn a_stateful_set_that_rolls_is_done_by_the_count_of_new_pods() {
    let with = |strategy: Value, updated: i64| {
        let value = json!({
            "metadata": {"generation": 1},
            "spec": {"replicas": 3, "updateStrategy": strategy},
            "status": {"observedGeneration": 1, "readyReplicas": 3, "updatedReplicas": updated,
                "currentRevision": "a", "updateRevision": "b"},
        });
        word(Kind::StatefulSet, value).expect("a StatefulSet is checked")
    };
    let rolling = |partition: i64| {
        let rolling = json!({"partition": partition});
        json!({"type": "RollingUpdate", "rollingUpdate": rolling})
    };
    let done = "partitioned roll out complete: 3 new pods have been updated...";
    assert_eq!(with(rolling(0), 3), ("Healthy", done.into()));
    let waits = "Waiting for partitioned roll out to finish: \
        2 out of 3 new pods have been updated...";
    assert_eq!(with(rolling(0), 2), ("Progressing", waits.into()));
    assert_eq!(with(rolling(1), 2).0, "Healthy");
    assert_eq!(with(json!({"type": "RollingUpdate", "rollingUpdate": {}}), 0).0, "Healthy");
    assert_eq!(with(json!({"type": "RollingUpdate"}), 3).0, "Progressing");
}

#[test]
fn a_job_says_what_its_last_condition_says() {
    let with = |conditions: Value| {
        word(Kind::Job, json!({"status": {"conditions": conditions}})).expect("a Job is checked")
    };
    let complete = json!({"type": "Complete", "status": "True", "message": "done"});
    let resumed = json!({"type": "Suspended", "status": "False", "message": "resumed"});
    let failed = json!({"type": "Failed", "status": "True", "message": "why"});
    assert_eq!(with(json!([complete, resumed])), ("Healthy", "resumed".into()));
    assert_eq!(with(json!([resumed, complete])), ("Healthy", "done".into()));
    assert_eq!(with(json!([failed, complete])), ("Degraded", "why".into()));
    assert_eq!(with(json!([])).0, "Progressing");
}

#[test]
fn of_the_kinds_that_others_define_two_are_known() {
    let kind = |api: &str, kind: &str, plural: &str| {
        custom::intern(api, kind, plural, true).expect("a kind")
    };
    let workflow = kind("argoproj.io/v1alpha1", "Workflow", "workflows");
    assert_eq!(is(workflow, json!({"status": {"phase": "Error"}})), "Degraded");
    assert_eq!(is(workflow, json!({})), "Progressing");
    let service = kind("apiregistration.k8s.io/v1", "APIService", "apiservices");
    let available = |status: &str| {
        let condition =
            json!({"type": "Available", "status": status, "reason": "R", "message": "m"});
        word(service, json!({"status": {"conditions": [condition]}})).expect("it is checked")
    };
    assert_eq!(available("True"), ("Healthy", "R: m".into()));
    assert_eq!(available("False").0, "Progressing");
    let other = kind("serving.knative.dev/v1", "Service", "services");
    assert_eq!(word(other, json!({})), None);
}
