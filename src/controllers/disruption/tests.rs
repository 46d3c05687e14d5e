use serde_json::json;

use super::*;
use crate::api::{Condition, ConditionStatus, Str};
use crate::client::Cache;
use crate::kernel::Time;

fn budget(spec: Value, status: Value) -> Object {
    let value = json!({
        "metadata": {"name": "web", "namespace": "default", "generation": 1},
        "spec": spec, "status": status,
    });
    Object::from_value(Kind::PodDisruptionBudget, value).unwrap()
}

fn spec(field: &str, value: Value) -> Value {
    json!({field: value, "selector": {"matchLabels": {"app": "web"}}})
}

fn pod(name: &str, ready: bool, owner: Option<&str>) -> Object {
    let mut pod = Pod::default();
    pod.metadata.name = name.into();
    pod.metadata.namespace = "default".into();
    pod.metadata.labels.insert("app".into(), "web".into());
    pod.status.conditions.push(Condition {
        kind: "Ready".into(),
        status: ready.into(),
        ..Condition::default()
    });
    if let Some(owner) = owner {
        let (version, kind) =
            if owner == "job" { ("batch/v1", "Job") } else { ("apps/v1", "ReplicaSet") };
        let reference = json!({
            "apiVersion": version, "kind": kind, "name": owner, "uid": owner, "controller": true,
        });
        pod.metadata.owner_references.push(serde_json::from_value(reference).unwrap());
    }
    Object::Pod(pod)
}

fn set(replicas: i32) -> Object {
    let value = json!({
        "metadata": {"name": "set", "namespace": "default", "uid": "set"},
        "spec": {"replicas": replicas},
    });
    Object::from_value(Kind::ReplicaSet, value).unwrap()
}

/// The plan for the budget in a cache of these objects, and the status that it writes.
fn look(objects: Vec<Object>, now: Time) -> (Plan, Value) {
    let cache = Cache::of(objects);
    let cx = Context { cache: &cache, now, seed: 1, promises_kept: true };
    let key = ObjectKey::new(Kind::PodDisruptionBudget, "default", "web");
    let plan = sync(&key, &cx);
    let after = plan.finish.as_ref().map(|finish| finish.after.to_value());
    (plan, after.map(|value| value["status"].clone()).unwrap_or_default())
}

fn numbers(status: &Value) -> [i64; 4] {
    ["expectedPods", "currentHealthy", "desiredHealthy", "disruptionsAllowed"]
        .map(|field| status[field].as_i64().unwrap())
}

#[test]
fn a_number_that_must_be_available_counts_the_pods_that_are_there() {
    let objects = vec![
        budget(spec("minAvailable", 1.into()), Value::Null),
        pod("a", true, None),
        pod("b", false, None),
    ];
    let (_, status) = look(objects, Time::ZERO);
    assert_eq!(numbers(&status), [2, 1, 1, 0]);
    assert_eq!(status["conditions"][0]["reason"], "InsufficientPods");
    assert_eq!(status["observedGeneration"], 1);
}

#[test]
fn a_share_is_of_what_the_controllers_ask_for() {
    let pods = || [pod("a", true, Some("set")), pod("b", true, Some("set"))];
    let with = |spec: Value, replicas| {
        let mut objects = vec![budget(spec, Value::Null), set(replicas)];
        objects.extend(pods());
        numbers(&look(objects, Time::ZERO).1)
    };
    assert_eq!(with(spec("minAvailable", "50%".into()), 3), [3, 2, 2, 0]);
    assert_eq!(with(spec("maxUnavailable", "50%".into()), 3), [3, 2, 1, 1]);
    assert_eq!(with(spec("maxUnavailable", 5.into()), 3), [3, 2, 0, 2]);
}

#[test]
fn a_budget_about_no_pods_lets_none_go_and_says_so() {
    let (plan, status) =
        look(vec![budget(spec("minAvailable", 0.into()), Value::Null)], Time::ZERO);
    assert_eq!(numbers(&status), [0, 0, 0, 0]);
    assert_eq!(&*plan.events[0].reason, "NoPods");
}

#[test]
fn an_evicted_pod_counts_as_gone_until_it_has_taken_too_long() {
    let at = Timestamp::from(Time::ZERO).to_string();
    let status = json!({"disruptedPods": {"a": at}});
    let objects = || {
        vec![
            budget(spec("minAvailable", 1.into()), status.clone()),
            pod("a", true, None),
            pod("b", true, None),
        ]
    };
    let (plan, after) = look(objects(), Time::from_secs(60));
    assert_eq!(numbers(&after), [2, 1, 1, 0]);
    assert!(plan.requeue_after.is_some());
    let (_, after) = look(objects(), Time::from_secs(121));
    assert_eq!(numbers(&after), [2, 2, 1, 1]);
    assert_eq!(after.get("disruptedPods"), None);
}

#[test]
fn where_the_size_cannot_be_told_nothing_may_go() {
    let objects = vec![
        budget(spec("maxUnavailable", 1.into()), json!({"disruptionsAllowed": 3})),
        pod("a", true, Some("job")),
    ];
    let (plan, status) = look(objects, Time::ZERO);
    let why = "jobs.batch does not implement the scale subresource";
    assert_eq!(plan.error.as_deref(), Some(why));
    assert_eq!(status["disruptionsAllowed"], 0);
    assert_eq!(status["conditions"][0]["reason"], "SyncFailed");
    assert_eq!(status["conditions"][0]["message"], why);
    let status: ConditionStatus =
        serde_json::from_value(status["conditions"][0]["status"].clone()).unwrap();
    assert_eq!(status, ConditionStatus::False);
}

#[test]
fn a_pod_wakes_the_first_budget_that_is_about_it() {
    let cache = Cache::of([budget(spec("minAvailable", 1.into()), Value::Null)]);
    let cx = Context { cache: &cache, now: Time::ZERO, seed: 1, promises_kept: true };
    let mut other = pod("b", true, None);
    other.meta_mut().labels.insert(Str::from("app"), "db".into());
    let woken = |object: Object| {
        let kind = crate::controllers::ChangeKind::Added;
        wakes(&Change { kind, before: None, object: Arc::new(object) }, &cx).keys.len()
    };
    assert_eq!(woken(pod("a", true, None)), 1);
    assert_eq!(woken(other), 0);
}
