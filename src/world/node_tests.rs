//! Nodes that are deleted: what becomes of their pods, and of the kubelet that has lost its Node.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::json;

use crate::api::{Condition, Kind, Object, ObjectKey, Pod};
use crate::apiserver::{DeleteOptions, Request};

use super::lab::{cluster, inflict, run_for};
use super::{Flavour, Options, Verdict, World};

fn node_1() -> ObjectKey {
    ObjectKey::new(Kind::Node, "", "node-1")
}

fn delete(world: &mut World, key: ObjectKey) {
    world.request(&Request::Delete(key, DeleteOptions::default())).expect("it is there");
}

fn pods(world: &World) -> impl Iterator<Item = &Pod> {
    world.store().list(Kind::Pod).filter_map(|object| object.as_pod())
}

/// How many pods name each node.
fn spread(world: &World) -> BTreeMap<String, usize> {
    let mut spread = BTreeMap::new();
    for pod in pods(world) {
        let node = pod.spec.node_name.as_deref().unwrap_or("none");
        *spread.entry(node.to_string()).or_default() += 1;
    }
    spread
}

fn is_ready(world: &World) -> Option<bool> {
    let node = world.store().get(&node_1())?.as_node()?;
    Some(Condition::holds(&node.status.conditions, "Ready"))
}

fn runs_on_node_1(world: &World) -> usize {
    world.kubelets()[0].running_containers()
}

#[test]
fn the_pods_of_a_deleted_node_run_on_until_they_are_collected_and_replaced() {
    for flavour in [Flavour::Level, Flavour::Edge] {
        let mut world = cluster(flavour, 3);
        delete(&mut world, node_1());
        run_for(&mut world, 30);
        assert_eq!((runs_on_node_1(&world), spread(&world)["node-1"]), (1, 1), "{flavour:?}");
        let Verdict::Waiting { until, what: "pod-gc", .. } = world.verdict() else {
            panic!("{flavour:?}: {:?}", world.verdict());
        };
        assert!(world.run_until(until, 1_000_000));
        assert_eq!(spread(&world)["node-1"], 1, "{flavour:?}: asked for at this moment");
        run_for(&mut world, 20);
        assert_eq!(runs_on_node_1(&world), 0, "{flavour:?}");
        assert_eq!(pods(&world).count(), 3, "{flavour:?}");
        assert!(!spread(&world).contains_key("node-1"), "{flavour:?}");
        assert_eq!(world.verdict(), Verdict::Converged, "{flavour:?}");
    }
}

#[test]
fn a_kubelet_makes_its_node_known_when_it_starts_and_not_again_while_it_runs() {
    for start in [
        &["fault restart kubelet/node-1"][..],
        &["fault node node-1 power=off", "fault node node-1 power=on"],
    ] {
        let mut world = cluster(Flavour::Level, 3);
        delete(&mut world, node_1());
        run_for(&mut world, 600);
        assert_eq!(is_ready(&world), None, "{start:?}");
        start.iter().for_each(|line| inflict(&mut world, line));
        run_for(&mut world, 1);
        assert_eq!(is_ready(&world), Some(true), "{start:?}");
        let mut one = json!({
            "metadata": {"name": "here", "namespace": "default"},
            "spec": {"containers": [{"name": "c", "image": "registry.example/web:1"}]},
        });
        one["spec"]["nodeSelector"] = json!({"kubernetes.io/hostname": "node-1"});
        let one = Object::from_value(Kind::Pod, one).expect("a pod");
        world.request(&Request::Create(Arc::new(one))).expect("created");
        run_for(&mut world, 20);
        assert_eq!(runs_on_node_1(&world), 1, "{start:?}");
        assert_eq!(world.verdict(), Verdict::Converged, "{start:?}");
    }
}

#[test]
fn a_kubelet_that_starts_while_the_api_server_is_down_makes_its_node_known_later() {
    let mut world = cluster(Flavour::Level, 3);
    delete(&mut world, node_1());
    inflict(&mut world, "fault apiserver down for=30s");
    inflict(&mut world, "fault restart kubelet/node-1");
    run_for(&mut world, 29);
    assert_eq!(is_ready(&world), None);
    run_for(&mut world, 60);
    assert_eq!(is_ready(&world), Some(true));
    assert_eq!((spread(&world)["node-1"], runs_on_node_1(&world)), (1, 1), "it was back in time");
    assert_eq!(world.verdict(), Verdict::Converged);
}

#[test]
fn a_dead_machine_whose_node_was_deleted_comes_back_empty() {
    let mut world = cluster(Flavour::Level, 3);
    inflict(&mut world, "fault node node-1 power=off");
    run_for(&mut world, 400);
    assert_eq!(spread(&world)["node-1"], 1, "Terminating, and nobody can say that it has stopped");
    delete(&mut world, node_1());
    run_for(&mut world, 90);
    assert!(!spread(&world).contains_key("node-1"));
    assert_eq!(world.verdict(), Verdict::Converged);
    inflict(&mut world, "fault node node-1 power=on");
    run_for(&mut world, 30);
    assert_eq!((is_ready(&world), runs_on_node_1(&world)), (Some(true), 0));
    assert_eq!(world.verdict(), Verdict::Converged);
}

#[test]
fn a_node_that_was_cut_off_and_deleted_stops_the_pods_it_has_lost_when_it_hears_of_it() {
    let mut world = cluster(Flavour::Level, 3);
    inflict(&mut world, "fault node node-1 network=cut");
    delete(&mut world, node_1());
    run_for(&mut world, 120);
    assert_eq!((runs_on_node_1(&world), pods(&world).count()), (1, 3), "one too many runs");
    inflict(&mut world, "fault node node-1 network=restored");
    run_for(&mut world, 90);
    assert_eq!((runs_on_node_1(&world), is_ready(&world)), (0, None));
    assert_eq!(world.verdict(), Verdict::Converged);
}

#[test]
fn a_stateful_set_replaces_a_pod_of_a_deleted_node_once_it_is_collected() {
    let mut world = World::new(Options::default());
    let value = json!({
        "metadata": {"name": "db", "namespace": "default"},
        "spec": {
            "replicas": 3, "serviceName": "db", "selector": {"matchLabels": {"app": "db"}},
            "template": {
                "metadata": {"labels": {"app": "db"}},
                "spec": {"containers": [{"name": "db", "image": "registry.example/db:1"}]},
            },
        },
    });
    let set = Object::from_value(Kind::StatefulSet, value).expect("a set");
    world.request(&Request::Create(Arc::new(set))).expect("created");
    run_for(&mut world, 60);
    assert_eq!(world.verdict(), Verdict::Converged);
    let on_node_1 = |pod: &&Pod| pod.spec.node_name.as_deref() == Some("node-1");
    let lost = pods(&world).find(on_node_1).expect("one on each").metadata.clone();
    inflict(&mut world, "fault node node-1 power=off");
    run_for(&mut world, 1_000);
    let uid = |world: &World| {
        let named = pods(world).find(|pod| pod.metadata.name == lost.name);
        named.map(|pod| pod.metadata.uid.clone())
    };
    assert_eq!(uid(&world), Some(lost.uid.clone()), "Terminating: no two pods of one name");
    delete(&mut world, node_1());
    run_for(&mut world, 30);
    assert_eq!(uid(&world), Some(lost.uid.clone()));
    run_for(&mut world, 60);
    assert!(uid(&world).is_some_and(|uid| uid != lost.uid));
    assert_eq!(world.verdict(), Verdict::Converged);
}

#[test]
fn without_the_node_lifecycle_controller_nobody_collects_pods() {
    let mut world = cluster(Flavour::Level, 3);
    inflict(&mut world, "fault kill node-lifecycle");
    delete(&mut world, node_1());
    run_for(&mut world, 300);
    assert_eq!(spread(&world)["node-1"], 1);
    inflict(&mut world, "fault restart node-lifecycle");
    run_for(&mut world, 39);
    assert_eq!(spread(&world)["node-1"], 1, "the quarantine begins anew");
    run_for(&mut world, 51);
    assert!(!spread(&world).contains_key("node-1"));
    assert_eq!(world.verdict(), Verdict::Converged);
}
