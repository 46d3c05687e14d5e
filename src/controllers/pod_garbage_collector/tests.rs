use serde_json::{Value, json};

use super::*;
use crate::controllers::lockstep::Lockstep;
use crate::controllers::node_lifecycle::NodeLifecycle;

type Cluster = Lockstep<NodeLifecycle>;

const UNREADY: &str = "False";

fn pod(more: Value) -> Pod {
    let mut value = json!({
        "metadata": {"name": "web", "namespace": "default"}, "spec": {"containers": []},
    });
    for (path, field) in more.as_object().expect("fields") {
        let (part, name) = path.split_once('.').expect("part.name");
        value[part][name] = field.clone();
    }
    let object = Object::from_value(Kind::Pod, value).expect("a pod");
    object.as_pod().expect("a pod").clone()
}

fn node(ready: &str, taints: Value) -> Node {
    let conditions = json!([{"type": "Ready", "status": ready}]);
    let value = json!({
        "metadata": {"name": "node-1"}, "spec": {"taints": taints},
        "status": {"conditions": conditions},
    });
    let object = Object::from_value(Kind::Node, value).expect("a node");
    object.as_node().expect("a node").clone()
}

#[test]
fn a_pod_is_lost_if_nobody_will_finish_it() {
    let on_node = json!({"spec.nodeName": "node-1"});
    let going = json!({
        "spec.nodeName": "node-1", "metadata.deletionTimestamp": "1970-01-01T00:00:30Z",
    });
    let nowhere = json!({"metadata.deletionTimestamp": "1970-01-01T00:00:30Z"});
    let held = json!({
        "metadata.deletionTimestamp": "1970-01-01T00:00:30Z", "spec.nodeName": "node-1",
        "metadata.deletionGracePeriodSeconds": 0, "metadata.finalizers": ["a/b"],
        "status.phase": "Failed",
    });
    let out = json!([{"key": OUT_OF_SERVICE, "value": "nodeshutdown", "effect": "NoExecute"}]);
    let well = || Some(node("True", json!([])));
    for (what, fields, node, why) in [
        ("it runs", &on_node, well(), None),
        ("its node is gone", &on_node, None, Some(Lost::Orphaned)),
        ("it is being deleted too", &going, None, Some(Lost::Orphaned)),
        ("its kubelet will stop it", &going, well(), None),
        ("its kubelet may come back", &going, Some(node(UNREADY, json!([]))), None),
        ("taken for dead", &going, Some(node(UNREADY, out.clone())), Some(Lost::OutOfService)),
        ("taken for dead, and ready", &going, Some(node("True", out.clone())), None),
        ("nobody deletes it", &on_node, Some(node(UNREADY, out.clone())), None),
        ("it waits for a node", &json!({}), None, None),
        ("it shall go and has no node", &nowhere, None, Some(Lost::Unscheduled)),
        ("only a finalizer keeps it", &held, None, None),
    ] {
        assert_eq!(lost(&pod(fields.clone()), node.as_ref()), why, "{what}");
    }
}

fn key(kind: Kind, name: &str) -> ObjectKey {
    let namespace = if kind == Kind::Pod { "default" } else { "" };
    ObjectKey::new(kind, namespace, name)
}

fn add_node(cluster: &mut Cluster, name: &str) {
    let conditions = json!([{"type": "Ready", "status": "True"}]);
    let node = json!({"metadata": {"name": name}, "status": {"conditions": conditions}});
    cluster.create(Kind::Node, node);
}

/// Two nodes, and a pod that runs on each.
fn cluster() -> Cluster {
    let mut cluster = Cluster::new();
    for (node, pod) in [("node-1", "one"), ("node-2", "two")] {
        add_node(&mut cluster, node);
        let spec = json!({"containers": [], "nodeName": node});
        let meta = json!({"name": pod, "namespace": "default"});
        let status = json!({"phase": "Running"});
        cluster.create(Kind::Pod, json!({"metadata": meta, "spec": spec, "status": status}));
    }
    // A round has just been.
    advance(&mut cluster, 26);
    cluster
}

fn advance(cluster: &mut Cluster, seconds: u64) {
    cluster.advance(Duration::from_secs(seconds));
}

fn delete(cluster: &mut Cluster, key: ObjectKey) {
    cluster.ask(Request::Delete(key, DeleteOptions::default())).expect("it is there");
}

fn has(cluster: &Cluster, pod: &str) -> bool {
    cluster.stored(&key(Kind::Pod, pod)).is_some()
}

/// How often it was asked for something.
fn asked(cluster: &Cluster) -> usize {
    cluster.requests.iter().filter(|request| request.starts_with("Get")).count()
}

#[test]
fn the_pods_of_a_deleted_node_go_forty_seconds_after_it_was_missed() {
    let mut cluster = cluster();
    delete(&mut cluster, key(Kind::Node, "node-1"));
    // Missed in the round at 45 s.
    advance(&mut cluster, 58);
    assert_eq!((has(&cluster, "one"), has(&cluster, "two")), (true, true));
    assert_eq!(asked(&cluster), 0, "{:?}", cluster.requests);
    advance(&mut cluster, 2);
    assert_eq!((has(&cluster, "one"), has(&cluster, "two")), (false, true));
    assert_eq!(asked(&cluster), 1, "{:?}", cluster.requests);
    let history = cluster.server.store().since(0).expect("history");
    let last = history.filter_map(|commit| commit.before.clone()).last().expect("a deletion");
    let last = last.as_pod().expect("a pod");
    let condition = Condition::find(&last.status.conditions, "DisruptionTarget").expect("marked");
    assert_eq!(last.status.phase, Some(PodPhase::Failed));
    assert_eq!(condition.reason.as_deref(), Some("DeletionByPodGC"));
    assert_eq!(condition.message.as_deref(), Some("PodGC: node no longer exists"));
}

#[test]
fn a_node_that_comes_back_in_time_keeps_its_pods_and_counts_anew_when_it_goes_again() {
    let mut cluster = cluster();
    delete(&mut cluster, key(Kind::Node, "node-1"));
    advance(&mut cluster, 50);
    add_node(&mut cluster, "node-1");
    advance(&mut cluster, 30);
    delete(&mut cluster, key(Kind::Node, "node-1"));
    advance(&mut cluster, 50);
    assert!(has(&cluster, "one"));
    advance(&mut cluster, 20);
    assert!(!has(&cluster, "one"));
}

#[test]
fn a_node_of_which_only_the_cache_knows_nothing_keeps_its_pods() {
    let mut cluster = cluster();
    delete(&mut cluster, key(Kind::Node, "node-1"));
    let node = json!({"metadata": {"name": "node-1"}});
    let node = Object::from_value(Kind::Node, node).expect("a node");
    let request = Request::Create(Arc::new(node));
    cluster.server.handle(&request, cluster.now).expect("created");
    let (cache, now) = (cluster.cache.clone(), cluster.now);
    let mut collector = PodGarbageCollector::default();
    let later = |seconds| now + Duration::from_secs(seconds);
    let cx = |now| Context { cache: &cache, now, seed: 1, promises_kept: true };
    assert_eq!(collector.round(&cx(now)), []);
    assert_eq!(collector.round(&cx(later(20))), []);
    assert_eq!(collector.round(&cx(later(40))), [key(Kind::Node, "node-1")]);
    let question = collector.question(&"node-1".into(), later(40)).expect("it asks").request;
    let answer = cluster.server.handle(&question, later(40));
    assert!(answer.is_ok());
    assert_eq!(collector.answered(&question, &answer), []);
    let one = cache.get(&key(Kind::Pod, "one")).expect("a pod");
    assert!(collector.sync(one, &cx(later(40))).is_none());
}

#[test]
fn a_pod_that_ended_is_deleted_as_it_is() {
    let done = pod(json!({"spec.nodeName": "node-1", "status.phase": "Succeeded"}));
    let plan = collect(&done, Lost::Orphaned, key(Kind::Pod, "web"), Timestamp::EPOCH);
    let writes: Vec<_> = plan.writes().collect();
    assert_eq!(writes, [(Deed::DeletePod, key(Kind::Pod, "web"))]);
}

#[test]
fn as_long_as_all_nodes_exist_nobody_is_asked_anything() {
    let mut cluster = cluster();
    advance(&mut cluster, 600);
    assert_eq!(asked(&cluster), 0, "{:?}", cluster.requests);
    assert_eq!((has(&cluster, "one"), has(&cluster, "two")), (true, true));
}
