use serde_json::{Value, json};

use super::*;
use crate::apiserver::{ApiError, Reason};
use crate::controllers::lockstep::Lockstep;
use crate::kernel::Rng;

type Cluster = Lockstep<GarbageCollector>;

fn owner_of(object: &Object, blocks: bool) -> Value {
    let (info, meta) = (object.kind().info(), object.meta());
    json!({"apiVersion": info.api_version, "kind": info.kind, "name": meta.name, "uid": meta.uid,
        "controller": true, "blockOwnerDeletion": blocks})
}

fn dependent(name: &str, owners: &[Value]) -> Value {
    let meta = json!({"name": name, "namespace": "default", "ownerReferences": owners});
    json!({"metadata": meta, "spec": {}})
}

fn key(kind: Kind, name: &str) -> ObjectKey {
    ObjectKey::new(kind, "default", name)
}

fn exists(cluster: &Cluster, kind: Kind, name: &str) -> bool {
    cluster.stored(&key(kind, name)).is_some()
}

/// A Deployment, its ReplicaSet and its pod.
fn chain(cluster: &mut Cluster) {
    let deployment = cluster.create(Kind::Deployment, dependent("web", &[]));
    let owner = [owner_of(&deployment, true)];
    let set = cluster.create(Kind::ReplicaSet, dependent("web-1", &owner));
    cluster.create(Kind::Pod, dependent("web-1-a", &[owner_of(&set, true)]));
}

fn delete_object(cluster: &mut Cluster, kind: Kind, name: &str, propagation: Propagation) {
    let options = DeleteOptions { propagation: Some(propagation), ..DeleteOptions::default() };
    let request = Request::Delete(key(kind, name), options);
    cluster.ask(request).expect("deleted");
}

fn writes(cluster: &Cluster) -> Vec<&str> {
    let requests = cluster.requests.iter().map(|r| r.as_str());
    requests.filter(|r| !r.starts_with("Get")).collect()
}

#[test]
fn objects_whose_owners_exist_wake_nothing() {
    let mut cluster = Cluster::new();
    chain(&mut cluster);
    assert_eq!(cluster.requests, Vec::<String>::new());
}

#[test]
fn in_the_background_owners_go_before_their_dependents() {
    let mut cluster = Cluster::new();
    chain(&mut cluster);
    delete_object(&mut cluster, Kind::Deployment, "web", Propagation::Background);
    assert!(!exists(&cluster, Kind::Pod, "web-1-a"));
    let expected = ["Delete ReplicaSet default/web-1", "Delete Pod default/web-1-a"];
    assert_eq!(writes(&cluster), expected);
}

#[test]
fn in_the_foreground_dependents_go_before_their_owners() {
    let mut cluster = Cluster::new();
    chain(&mut cluster);
    delete_object(&mut cluster, Kind::Deployment, "web", Propagation::Foreground);
    let expected = [
        "Delete ReplicaSet default/web-1",
        "Delete Pod default/web-1-a",
        "Patch ReplicaSet default/web-1",
        "Patch Deployment default/web",
    ];
    assert_eq!(writes(&cluster), expected);
    assert!(!exists(&cluster, Kind::Deployment, "web"));
}

#[test]
fn a_foreground_deletion_waits_for_a_pod_that_is_being_stopped() {
    let mut cluster = Cluster::new();
    let set = cluster.create(Kind::ReplicaSet, dependent("web", &[]));
    let mut pod = dependent("web-a", &[owner_of(&set, true)]);
    pod["spec"]["nodeName"] = json!("node-1");
    cluster.create(Kind::Pod, pod);
    delete_object(&mut cluster, Kind::ReplicaSet, "web", Propagation::Foreground);
    assert!(exists(&cluster, Kind::ReplicaSet, "web"));
    let options = DeleteOptions { grace_period_seconds: Some(0), ..DeleteOptions::default() };
    let stopped = Request::Delete(key(Kind::Pod, "web-a"), options);
    cluster.ask(stopped).expect("deleted");
    assert!(!exists(&cluster, Kind::ReplicaSet, "web"));
}

#[test]
fn a_dependent_that_does_not_block_is_not_waited_for() {
    let mut cluster = Cluster::new();
    let set = cluster.create(Kind::ReplicaSet, dependent("web", &[]));
    let mut pod = dependent("web-a", &[owner_of(&set, false)]);
    pod["spec"]["nodeName"] = json!("node-1");
    cluster.create(Kind::Pod, pod);
    delete_object(&mut cluster, Kind::ReplicaSet, "web", Propagation::Foreground);
    assert!(!exists(&cluster, Kind::ReplicaSet, "web"));
    assert!(exists(&cluster, Kind::Pod, "web-a"), "it is being stopped");
}

#[test]
fn orphans_stay_without_their_owner() {
    let mut cluster = Cluster::new();
    chain(&mut cluster);
    delete_object(&mut cluster, Kind::Deployment, "web", Propagation::Orphan);
    assert!(!exists(&cluster, Kind::Deployment, "web"));
    let set = cluster.stored(&key(Kind::ReplicaSet, "web-1"));
    assert_eq!(*set.expect("a set").meta().owner_references, []);
    assert!(exists(&cluster, Kind::Pod, "web-1-a"));
}

#[test]
fn an_owner_waits_while_a_dependent_cannot_be_orphaned() {
    let mut cluster = Cluster::new();
    chain(&mut cluster);
    cluster.refuse = |request| match request {
        Request::Patch(_, key, _) if key.kind == Kind::ReplicaSet => {
            let why = "the server reported a conflict";
            Some(ApiError::new(Reason::Conflict, why))
        }
        _ => None,
    };
    delete_object(&mut cluster, Kind::Deployment, "web", Propagation::Orphan);
    assert!(exists(&cluster, Kind::Deployment, "web"));
    cluster.refuse = |_| None;
    cluster.advance(Duration::from_secs(2));
    assert!(!exists(&cluster, Kind::Deployment, "web"));
    assert!(exists(&cluster, Kind::ReplicaSet, "web-1"));
}

#[test]
fn a_dependent_with_another_owner_only_loses_its_reference() {
    let mut cluster = Cluster::new();
    let one = cluster.create(Kind::ReplicaSet, dependent("one", &[]));
    let two = cluster.create(Kind::ReplicaSet, dependent("two", &[]));
    let mut owners = [owner_of(&one, false), owner_of(&two, false)];
    owners[1]["controller"] = json!(false);
    cluster.create(Kind::Pod, dependent("pod", &owners));
    delete_object(&mut cluster, Kind::ReplicaSet, "one", Propagation::Background);
    let pod = cluster.stored(&key(Kind::Pod, "pod")).expect("a pod");
    let names: Vec<_> = pod.meta().owner_references.iter().map(|r| &*r.name).collect();
    assert_eq!(names, ["two"]);
}

fn missing_owner() -> Value {
    json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "gone", "uid": "1"})
}

#[test]
fn an_owner_that_was_never_there_is_asked_for_once_and_then_known() {
    let mut cluster = Cluster::new();
    cluster.create(Kind::Pod, dependent("a", &[missing_owner()]));
    cluster.create(Kind::Pod, dependent("b", &[missing_owner()]));
    assert!(!exists(&cluster, Kind::Pod, "a") && !exists(&cluster, Kind::Pod, "b"));
    let asked = cluster.requests.iter().filter(|r| r.contains("default/gone"));
    assert_eq!(asked.count(), 1, "{:?}", cluster.requests);
}

#[test]
fn an_owner_of_the_same_name_but_another_uid_is_no_owner() {
    let mut cluster = Cluster::new();
    cluster.create(Kind::ReplicaSet, dependent("gone", &[]));
    cluster.create(Kind::Pod, dependent("a", &[missing_owner()]));
    assert!(!exists(&cluster, Kind::Pod, "a"));
    assert!(exists(&cluster, Kind::ReplicaSet, "gone"));
}

#[test]
fn an_owner_in_another_namespace_counts_as_absent() {
    let mut cluster = Cluster::new();
    let mut far = dependent("issuer", &[]);
    far["metadata"]["namespace"] = json!("far");
    let secret = cluster.create(Kind::Secret, far);
    cluster.create(Kind::ConfigMap, dependent("ca", &[owner_of(&secret, false)]));
    assert!(!exists(&cluster, Kind::ConfigMap, "ca"));
    let start = "ConfigMap default/ca: OwnerRefInvalidNamespace: ownerRef [v1/Secret, namespace: \
        default, name: issuer, uid: ";
    let event = cluster.events.first().expect("an event");
    assert!(event.starts_with(start), "{event}");
    assert!(event.ends_with("] does not exist in namespace \"default\""), "{event}");
}

#[test]
fn two_that_wait_for_each_other_are_let_go() {
    let mut cluster = Cluster::new();
    let one = cluster.create(Kind::ConfigMap, dependent("one", &[]));
    let two = cluster.create(Kind::ConfigMap, dependent("two", &[owner_of(&one, true)]));
    let back = json!({"metadata": {"ownerReferences": [owner_of(&two, true)]}});
    let request = Request::Patch(crate::apiserver::Part::Main, key(Kind::ConfigMap, "one"), back);
    cluster.ask(request).expect("patched");
    delete_object(&mut cluster, Kind::ConfigMap, "one", Propagation::Foreground);
    cluster.advance(Duration::from_secs(10));
    assert!(!exists(&cluster, Kind::ConfigMap, "one"));
    assert!(!exists(&cluster, Kind::ConfigMap, "two"));
}

#[test]
fn a_collector_that_comes_back_finishes_what_it_finds() {
    let mut cluster = Cluster::new();
    chain(&mut cluster);
    let options =
        DeleteOptions { propagation: Some(Propagation::Background), ..DeleteOptions::default() };
    let request = Request::Delete(key(Kind::Deployment, "web"), options);
    cluster.server.handle(&request, cluster.now).expect("deleted");
    cluster.restart();
    assert!(!exists(&cluster, Kind::ReplicaSet, "web-1"));
    assert!(!exists(&cluster, Kind::Pod, "web-1-a"));
}

#[test]
fn a_collector_that_comes_back_deletes_nothing_that_has_owners() {
    let mut cluster = Cluster::new();
    chain(&mut cluster);
    cluster.restart();
    cluster.advance(Duration::from_secs(60));
    assert_eq!(writes(&cluster), Vec::<&str>::new());
}

/// The law of the graph, under random changes.
#[test]
fn an_object_is_among_the_dependents_of_exactly_those_that_it_names() {
    for seed in 0..60 {
        let mut rng = Rng::stream(seed, "garbage/test");
        let mut graph = Graph::default();
        // A uid is never given twice: what is made again is another object.
        let mut made = [0; 8];
        for _ in 0..80 {
            let slot = rng.below(8) as usize;
            if rng.below(3) == 0 {
                graph.remove(&format!("{slot}.{}", made[slot]));
                made[slot] += 1;
            } else {
                let owners: Vec<_> = (0..rng.below(3)).map(|_| rng.below(8) as usize).collect();
                let owners = owners.into_iter().map(|slot| {
                    let kind = ["Pod", "ConfigMap", "Widget"][slot % 3];
                    json!({"apiVersion": "v1", "kind": kind, "name": slot.to_string(),
                        "uid": format!("{slot}.{}", made[slot])})
                });
                let owners: Vec<_> = owners.collect();
                let mut value = dependent(&slot.to_string(), &owners);
                value["metadata"]["uid"] = json!(format!("{slot}.{}", made[slot]));
                let kind = [Kind::Pod, Kind::ConfigMap][slot % 2];
                let object = Object::from_value(kind, value).expect("an object");
                graph.observe(None, &object);
            }
            assert_law(&graph, seed);
        }
    }
}

fn assert_law(graph: &Graph, seed: u64) {
    for (uid, node) in graph.nodes() {
        for (other, owner) in graph.nodes() {
            let names = node.owners.iter().any(|reference| reference.uid == *other);
            assert_eq!(owner.dependents.contains(uid), names, "seed {seed}: {uid} of {other}");
        }
    }
}
