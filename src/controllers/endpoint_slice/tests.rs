//! The controller beside a real API server, pods being moved by hand.

use serde_json::{Value, json};

use crate::api::{Kind, ObjectKey};
use crate::apiserver::{DeleteOptions, Request};
use crate::controllers::lockstep::{Lockstep, stateless_loop};

stateless_loop!(Controller, crate::controllers::endpoint_slice);

type Bench = Lockstep<Controller>;

fn bench(more: Value) -> Bench {
    let mut bench = Bench::new();
    let mut spec = json!({
        "selector": {"app": "web"},
        "ports": [{"name": "http", "port": 80, "targetPort": "web"}],
    });
    for (field, value) in more.as_object().expect("fields") {
        spec[field] = value.clone();
    }
    let metadata = json!({"name": "web", "namespace": "default"});
    bench.create(Kind::Service, json!({"metadata": metadata, "spec": spec}));
    bench
}

fn add_pod(bench: &mut Bench, name: &str, ready: bool) {
    let ports = json!([{"name": "web", "containerPort": 8080}]);
    let status = if ready { "True" } else { "False" };
    bench.create(
        Kind::Pod,
        json!({
            "metadata": {"name": name, "namespace": "default", "labels": {"app": "web"}},
            "spec": {"nodeName": "node-1", "containers": [{"name": "main", "ports": ports}]},
            "status": {"phase": "Running", "podIP": format!("10.244.1.{}", name.len()),
                "conditions": [{"type": "Ready", "status": status}]},
        }),
    );
}

fn slices(bench: &Bench) -> Vec<Value> {
    bench.server.store().list(Kind::EndpointSlice).map(|slice| slice.to_value()).collect()
}

#[test]
fn a_service_has_one_slice_with_its_pods() {
    let mut bench = bench(json!({}));
    assert_eq!(slices(&bench)[0]["endpoints"], json!([]));
    add_pod(&mut bench, "a", true);
    add_pod(&mut bench, "bb", false);
    let slices = slices(&bench);
    assert_eq!(slices.len(), 1);
    let [a, b] = [&slices[0]["endpoints"][0], &slices[0]["endpoints"][1]];
    assert_eq!(a["conditions"], json!({"ready": true, "serving": true, "terminating": false}));
    assert_eq!(b["conditions"]["ready"], false);
    assert_eq!(slices[0]["ports"], json!([{"name": "http", "port": 8080, "protocol": "TCP"}]));
    assert_eq!(slices[0]["metadata"]["labels"]["kubernetes.io/service-name"], "web");
}

#[test]
fn a_pod_on_its_way_out_serves_but_is_not_ready() {
    let mut bench = bench(json!({}));
    add_pod(&mut bench, "a", true);
    let key = ObjectKey::new(Kind::Pod, "default", "a");
    bench.ask(Request::Delete(key, DeleteOptions::default())).expect("deleted");
    let conditions = slices(&bench)[0]["endpoints"][0]["conditions"].clone();
    assert_eq!(conditions, json!({"ready": false, "serving": true, "terminating": true}));
}

#[test]
fn addresses_that_are_not_ready_are_published_if_it_says_so() {
    let mut bench = bench(json!({"publishNotReadyAddresses": true}));
    add_pod(&mut bench, "a", false);
    assert_eq!(slices(&bench)[0]["endpoints"][0]["conditions"]["ready"], true);
}

#[test]
fn a_service_gets_an_address_and_one_without_selector_gets_no_slice() {
    let bench = bench(json!({"selector": {}}));
    assert!(slices(&bench).is_empty());
    let key = ObjectKey::new(Kind::Service, "default", "web");
    let spec = bench.stored(&key).expect("it").to_value()["spec"].clone();
    assert!(spec["clusterIP"].as_str().is_some_and(|ip| ip.starts_with("10.")), "{spec}");
}
