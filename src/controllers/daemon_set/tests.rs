//! The controller beside a real API server, pods being moved by hand.

use serde_json::{Value, json};

use super::nodes::target;
use crate::api::{Kind, Object, ObjectKey, Pod, PodPhase};
use crate::apiserver::{DeleteOptions, Part, Request};
use crate::controllers::lockstep::{Lockstep, stateless_loop};
use crate::controllers::owned::key_of;

stateless_loop!(Controller, crate::controllers::daemon_set);

type Bench = Lockstep<Controller>;

fn key() -> ObjectKey {
    ObjectKey::new(Kind::DaemonSet, "default", "log")
}

fn template(image: &str) -> Value {
    let containers = json!([{"name": "main", "image": image}]);
    json!({"metadata": {"labels": {"app": "log"}}, "spec": {"containers": containers}})
}

fn bench(more: Value) -> Bench {
    let mut bench = Bench::new();
    for node in ["node-1", "node-2", "node-3"] {
        bench.create(Kind::Node, json!({"metadata": {"name": node, "labels": {"name": node}}}));
    }
    let mut spec =
        json!({"selector": {"matchLabels": {"app": "log"}}, "template": template("log:1")});
    for (field, value) in more.as_object().expect("fields") {
        spec[field] = value.clone();
    }
    let metadata = json!({"name": "log", "namespace": "default"});
    bench.create(Kind::DaemonSet, json!({"metadata": metadata, "spec": spec}));
    bench
}

fn pods(bench: &Bench) -> Vec<Pod> {
    let pods = bench.server.store().list(Kind::Pod);
    pods.filter_map(|object| object.as_pod().cloned()).collect()
}

fn nodes(bench: &Bench) -> Vec<String> {
    let targets = pods(bench).into_iter().filter_map(|pod| target(&pod));
    let mut nodes: Vec<String> = targets.map(|node| node.to_string()).collect();
    nodes.sort();
    nodes
}

/// What scheduler and kubelet do, one pod at a time; at most so many steps.
fn run(bench: &mut Bench, steps: usize) {
    for _ in 0..steps {
        let pods = pods(bench);
        let next = pods.iter().find(|pod| pod.metadata.is_terminating() || !pod.is_ready());
        let Some(pod) = next else { return };
        if pod.metadata.is_terminating() {
            let options = DeleteOptions { grace_period_seconds: Some(0), ..Default::default() };
            bench.ask(Request::Delete(key_of(pod), options)).expect("deleted");
            continue;
        }
        let node = target(pod).expect("a node");
        let _ = bench.ask(Request::Bind(key_of(pod), "".into(), node));
        let mut pod = pod.clone();
        pod.metadata.resource_version = 0;
        pod.status.phase = Some(PodPhase::Running);
        let ready = json!([{"type": "Ready", "status": "True"}]);
        pod.status.conditions = serde_json::from_value(ready).expect("conditions");
        bench.ask(Request::Update(Part::Status, Object::Pod(pod).into())).expect("written");
    }
}

fn status(bench: &Bench, field: &str) -> i64 {
    let value = bench.stored(&key()).expect("the set").to_value();
    value["status"][field].as_i64().unwrap_or(0)
}

fn images(bench: &Bench) -> Vec<String> {
    let image = |pod: Pod| pod.spec.containers[0].image.clone().unwrap_or_default().to_string();
    let mut images: Vec<String> = pods(bench).into_iter().map(image).collect();
    images.sort();
    images
}

fn set_image(bench: &mut Bench, image: &str) {
    let patch = json!({"spec": {"template": template(image)}});
    bench.ask(Request::Patch(Part::Main, key(), patch)).expect("patched");
}

#[test]
fn each_node_that_fits_has_one_pod() {
    let mut bench = bench(json!({}));
    assert_eq!(nodes(&bench), ["node-1", "node-2", "node-3"]);
    run(&mut bench, 100);
    let numbers = ["desiredNumberScheduled", "numberReady", "updatedNumberScheduled"];
    assert_eq!(numbers.map(|field| status(&bench, field)), [3, 3, 3]);
    bench.create(Kind::Node, json!({"metadata": {"name": "node-4"}}));
    assert_eq!(pods(&bench).len(), 4);
}

#[test]
fn a_node_selector_and_taints_decide_where() {
    let mut template = template("log:1");
    template["spec"]["nodeSelector"] = json!({"name": "node-2"});
    let mut bench = bench(json!({"template": template}));
    assert_eq!(nodes(&bench), ["node-2"]);
    run(&mut bench, 100);
    let patch = json!({"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}});
    let node = ObjectKey::new(Kind::Node, "", "node-2");
    bench.ask(Request::Patch(Part::Main, node.clone(), patch)).expect("tainted");
    assert_eq!((pods(&bench).len(), status(&bench, "numberMisscheduled")), (1, 1));
    let patch = json!({"spec": {"taints": [{"key": "a", "effect": "NoExecute"}]}});
    bench.ask(Request::Patch(Part::Main, node, patch)).expect("tainted");
    run(&mut bench, 100);
    assert!(pods(&bench).is_empty());
}

#[test]
fn a_cordoned_node_keeps_its_daemon() {
    let bench = bench(json!({}));
    let tolerations = &pods(&bench)[0].spec.tolerations;
    assert!(tolerations.iter().any(|t| {
        t.key.as_deref() == Some("node.kubernetes.io/unschedulable")
            && t.toleration_seconds.is_none()
    }));
}

#[test]
fn an_update_goes_one_node_at_a_time() {
    let mut bench = bench(json!({}));
    run(&mut bench, 100);
    set_image(&mut bench, "log:2");
    let going = pods(&bench).iter().filter(|pod| pod.metadata.is_terminating()).count();
    assert_eq!(going, 1);
    run(&mut bench, 2);
    assert_eq!(images(&bench), ["log:1", "log:1", "log:2"]);
    run(&mut bench, 100);
    assert_eq!(images(&bench), ["log:2", "log:2", "log:2"]);
    assert_eq!(status(&bench, "updatedNumberScheduled"), 3);
}

#[test]
fn with_surge_the_new_pod_is_ready_before_the_old_one_goes() {
    let rolling = json!({"maxSurge": 1, "maxUnavailable": 0});
    let strategy = json!({"type": "RollingUpdate", "rollingUpdate": rolling});
    let mut bench = bench(json!({"updateStrategy": strategy}));
    run(&mut bench, 100);
    set_image(&mut bench, "log:2");
    assert_eq!(images(&bench), ["log:1", "log:1", "log:1", "log:2"]);
    let going = |bench: &Bench| pods(bench).iter().filter(|p| p.metadata.is_terminating()).count();
    assert_eq!(going(&bench), 0);
    run(&mut bench, 1);
    assert_eq!(going(&bench), 1);
    run(&mut bench, 100);
    assert_eq!(images(&bench), ["log:2", "log:2", "log:2"]);
}

#[test]
fn on_delete_waits_for_somebody_to_delete() {
    let mut bench = bench(json!({"updateStrategy": {"type": "OnDelete"}}));
    run(&mut bench, 100);
    set_image(&mut bench, "log:2");
    assert_eq!(images(&bench), ["log:1", "log:1", "log:1"]);
    let key = key_of(&pods(&bench)[0]);
    bench.ask(Request::Delete(key, DeleteOptions::default())).expect("deleted");
    run(&mut bench, 100);
    assert_eq!(images(&bench), ["log:1", "log:1", "log:2"]);
}
