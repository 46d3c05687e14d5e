//! The controller beside a real API server, pods being moved by hand.

use std::time::Duration;

use serde_json::{Value, json};

use super::set_view::SetStatus;
use crate::api::{Kind, Object, ObjectKey, Pod, PodPhase, Str, Timestamp};
use crate::apiserver::{DeleteOptions, Part, Request};
use crate::controllers::lockstep::{Lockstep, stateless_loop};
use crate::controllers::owned::{REVISION_LABEL, key_of};

stateless_loop!(Controller, crate::controllers::stateful_set);

type Bench = Lockstep<Controller>;

fn key() -> ObjectKey {
    ObjectKey::new(Kind::StatefulSet, "default", "web")
}

fn bench(more: Value) -> Bench {
    let mut bench = Bench::new();
    let mut spec = json!({
        "serviceName": "web",
        "replicas": 3,
        "selector": {"matchLabels": {"app": "web"}},
        "template": template("db:1"),
    });
    for (field, value) in more.as_object().expect("fields") {
        spec[field] = value.clone();
    }
    let metadata = json!({"name": "web", "namespace": "default"});
    bench.create(Kind::StatefulSet, json!({"metadata": metadata, "spec": spec}));
    bench
}

fn template(image: &str) -> Value {
    let containers = json!([{"name": "main", "image": image}]);
    json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": containers}})
}

fn set_image(bench: &mut Bench, image: &str) {
    let patch = json!({"spec": {"template": template(image)}});
    bench.ask(Request::Patch(Part::Main, key(), patch)).expect("patched");
}

fn scale(bench: &mut Bench, replicas: i32) {
    let patch = json!({"spec": {"replicas": replicas}});
    bench.ask(Request::Patch(Part::Scale, key(), patch)).expect("scaled");
}

fn pods(bench: &Bench) -> Vec<Pod> {
    let pods = bench.server.store().list(Kind::Pod);
    pods.filter_map(|object| object.as_pod().cloned()).collect()
}

fn names(bench: &Bench) -> Vec<Str> {
    pods(bench).into_iter().map(|pod| pod.metadata.name).collect()
}

fn make_ready(bench: &mut Bench, pod: &Pod) {
    // A pod without a node would go at once when it is deleted.
    let _ = bench.ask(Request::Bind(key_of(pod), "".into(), "node-1".into()));
    let mut pod = pod.clone();
    pod.metadata.resource_version = 0;
    pod.status.phase = Some(PodPhase::Running);
    let ready = json!([{"type": "Ready", "status": "True"}]);
    pod.status.conditions = serde_json::from_value(ready).expect("conditions");
    bench.ask(Request::Update(Part::Status, Object::Pod(pod).into())).expect("written");
}

/// What the kubelet does: pods with a good image get ready, those that shall go do.
fn run(bench: &mut Bench) {
    for _ in 0..50 {
        let pods = pods(bench);
        let next = pods.iter().find(|pod| {
            let bad = pod.spec.containers[0].image.as_deref() == Some("db:bad");
            pod.metadata.is_terminating() || (!pod.is_ready() && !bad)
        });
        match next {
            Some(pod) if pod.metadata.is_terminating() => {
                let grace_period_seconds = Some(0);
                let options = DeleteOptions { grace_period_seconds, ..Default::default() };
                bench.ask(Request::Delete(key_of(pod), options)).expect("deleted");
            }
            Some(pod) => make_ready(bench, &pod.clone()),
            None => return,
        }
    }
    panic!("it never comes to rest");
}

fn status(bench: &Bench) -> SetStatus {
    SetStatus::of(bench.stored(&key()).and_then(Object::as_generic).expect("the set"))
}

fn images(bench: &Bench) -> Vec<String> {
    let pods = pods(bench).into_iter();
    let image = |pod: Pod| pod.spec.containers[0].image.clone().unwrap_or_default().to_string();
    pods.map(image).collect()
}

#[test]
fn each_pod_waits_until_the_one_before_it_is_ready() {
    let mut bench = bench(json!({}));
    assert_eq!(names(&bench), ["web-0".into()]);
    let first = pods(&bench).remove(0);
    make_ready(&mut bench, &first);
    assert_eq!(names(&bench), ["web-0".into(), "web-1".into()]);
    run(&mut bench);
    let status = status(&bench);
    assert_eq!((status.replicas, status.ready, status.current, status.updated), (3, 3, 3, 3));
    assert_eq!(status.current_revision, status.update_revision);
    let pod = &pods(&bench)[2];
    assert_eq!(pod.metadata.labels[REVISION_LABEL], status.update_revision);
    assert_eq!(&*pod.metadata.labels["apps.kubernetes.io/pod-index"], "2");
    assert_eq!(pod.spec.rest["subdomain"], "web");
    assert!(
        bench.events[0]
            .ends_with("SuccessfulCreate: create Pod web-0 in StatefulSet web successful")
    );
}

#[test]
fn parallel_makes_all_at_once_and_ordinals_may_start_elsewhere() {
    let more = json!({"podManagementPolicy": "Parallel", "ordinals": {"start": 5}});
    let bench = bench(more);
    assert_eq!(names(&bench), ["web-5".into(), "web-6".into(), "web-7".into()]);
}

#[test]
fn the_highest_ordinal_goes_first_one_at_a_time() {
    let mut bench = bench(json!({}));
    run(&mut bench);
    scale(&mut bench, 1);
    let going: Vec<Str> = pods(&bench)
        .into_iter()
        .filter(|pod| pod.metadata.is_terminating())
        .map(|pod| pod.metadata.name)
        .collect();
    assert_eq!(going, ["web-2".into()]);
    run(&mut bench);
    assert_eq!(names(&bench), ["web-0".into()]);
}

#[test]
fn an_update_goes_from_the_last_to_the_first_and_the_revision_follows() {
    let mut bench = bench(json!({}));
    run(&mut bench);
    let before = status(&bench).current_revision;
    set_image(&mut bench, "db:2");
    let now = status(&bench);
    assert_eq!((now.current_revision.clone(), now.current), (before.clone(), 2));
    assert_ne!(now.update_revision, before);
    run(&mut bench);
    let now = status(&bench);
    assert_eq!(images(&bench), ["db:2", "db:2", "db:2"]);
    assert_eq!((&now.current_revision, now.current), (&now.update_revision, 3));
}

#[test]
fn a_partition_keeps_the_pods_before_it_as_they_are() {
    let rolling = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 2}});
    let mut bench = bench(json!({"updateStrategy": rolling}));
    run(&mut bench);
    set_image(&mut bench, "db:2");
    run(&mut bench);
    assert_eq!(images(&bench), ["db:1", "db:1", "db:2"]);
    let now = status(&bench);
    assert_eq!((now.current, now.updated), (2, 1));
    // A pod before the partition that goes comes back as it was.
    bench.ask(Request::Delete(key_of(&pods(&bench)[0]), DeleteOptions::default())).expect("gone");
    run(&mut bench);
    assert_eq!(images(&bench), ["db:1", "db:1", "db:2"]);
}

#[test]
fn on_delete_leaves_the_update_to_whoever_deletes() {
    let mut bench = bench(json!({"updateStrategy": {"type": "OnDelete"}}));
    run(&mut bench);
    set_image(&mut bench, "db:2");
    run(&mut bench);
    assert_eq!(images(&bench), ["db:1", "db:1", "db:1"]);
    bench.ask(Request::Delete(key_of(&pods(&bench)[1]), DeleteOptions::default())).expect("gone");
    run(&mut bench);
    assert_eq!(images(&bench), ["db:1", "db:2", "db:1"]);
}

#[test]
fn taking_a_bad_image_back_does_not_repair_the_pod_that_has_it() {
    let mut bench = bench(json!({}));
    run(&mut bench);
    set_image(&mut bench, "db:bad");
    run(&mut bench);
    assert_eq!(images(&bench), ["db:1", "db:1", "db:bad"]);
    set_image(&mut bench, "db:1");
    run(&mut bench);
    assert_eq!(images(&bench), ["db:1", "db:1", "db:bad"], "it waits for the broken pod");
    let now = status(&bench);
    assert_eq!(now.current_revision, now.update_revision, "the template is the old one again");
    assert_ne!(pods(&bench)[2].metadata.labels[REVISION_LABEL], now.update_revision);
    bench.ask(Request::Delete(key_of(&pods(&bench)[2]), DeleteOptions::default())).expect("gone");
    run(&mut bench);
    assert_eq!(images(&bench), ["db:1", "db:1", "db:1"]);
}

#[test]
fn in_parallel_it_recovers_by_itself() {
    let mut bench = bench(json!({"podManagementPolicy": "Parallel"}));
    run(&mut bench);
    set_image(&mut bench, "db:bad");
    run(&mut bench);
    set_image(&mut bench, "db:1");
    run(&mut bench);
    assert_eq!(images(&bench), ["db:1", "db:1", "db:1"]);
}

#[test]
fn a_name_that_is_still_taken_is_waited_for() {
    let mut bench = bench(json!({}));
    run(&mut bench);
    bench.ask(Request::Delete(key_of(&pods(&bench)[2]), DeleteOptions::default())).expect("gone");
    assert_eq!(pods(&bench).len(), 3, "the pod is on its way out, and nobody takes its name");
    run(&mut bench);
    assert_eq!((pods(&bench).len(), status(&bench).ready), (3, 3));
}

#[test]
fn claims_are_made_before_the_pod_and_stay() {
    let claim = json!({"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}}}});
    let mut bench = bench(json!({"volumeClaimTemplates": [claim], "replicas": 2}));
    run(&mut bench);
    scale(&mut bench, 0);
    run(&mut bench);
    let claims = bench.server.store().list(Kind::PersistentVolumeClaim);
    let names: Vec<Str> = claims.map(|claim| claim.meta().name.clone()).collect();
    assert_eq!(names, ["data-web-0".into(), "data-web-1".into()]);
}

#[test]
fn old_revisions_are_kept_up_to_the_limit() {
    let mut bench = bench(json!({"revisionHistoryLimit": 1}));
    run(&mut bench);
    for image in ["db:2", "db:3", "db:4", "db:3"] {
        set_image(&mut bench, image);
        run(&mut bench);
    }
    let revisions = bench.server.store().list(Kind::ControllerRevision);
    let numbers: Vec<Value> = revisions
        .filter_map(|found| found.as_generic().map(|found| found.rest["revision"].clone()))
        .collect();
    assert_eq!(numbers.len(), 2, "{numbers:?}");
    assert!(numbers.contains(&json!(5)), "going back is a new number: {numbers:?}");
}

#[test]
fn the_next_pod_waits_until_the_one_before_it_was_ready_for_long_enough() {
    let mut bench = bench(json!({"minReadySeconds": 10}));
    let first = pods(&bench).remove(0);
    make_ready_since_now(&mut bench, &first);
    assert_eq!((names(&bench).len(), status(&bench).available), (1, 0));
    bench.advance(Duration::from_secs(9));
    assert_eq!(names(&bench).len(), 1);
    bench.advance(Duration::from_secs(2));
    assert_eq!((names(&bench).len(), status(&bench).available), (2, 1));
}

fn make_ready_since_now(bench: &mut Bench, pod: &Pod) {
    let mut pod = pod.clone();
    pod.metadata.resource_version = 0;
    pod.status.phase = Some(PodPhase::Running);
    let now = Timestamp::from(bench.now);
    let ready = json!([{"type": "Ready", "status": "True", "lastTransitionTime": now}]);
    pod.status.conditions = serde_json::from_value(ready).expect("conditions");
    bench.ask(Request::Update(Part::Status, Object::Pod(pod).into())).expect("written");
}
