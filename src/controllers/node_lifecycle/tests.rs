use serde_json::json;

use super::*;
use crate::api::TaintEffect;
use crate::apiserver::{ApiError, DeleteOptions, Reason};
use crate::controllers::lockstep::Lockstep;

type Cluster = Lockstep<NodeLifecycle>;

const NAMES: [&str; 3] = ["node-1", "node-2", "node-3"];

fn key(kind: Kind, namespace: &str, name: &str) -> ObjectKey {
    ObjectKey::new(kind, namespace, name)
}

fn cluster() -> Cluster {
    let mut cluster = Cluster::new();
    for name in NAMES {
        let ready = json!([{"type": "Ready", "status": "True"}]);
        let node = json!({"metadata": {"name": name}, "status": {"conditions": ready}});
        cluster.create(Kind::Node, node);
        let meta = json!({"name": name, "namespace": "kube-node-lease"});
        cluster.create(Kind::Lease, json!({"metadata": meta, "spec": {}}));
    }
    cluster
}

fn pod(cluster: &mut Cluster, name: &str, node: &str, toleration_seconds: Option<i64>) {
    let mut toleration = json!({"operator": "Exists", "effect": "NoExecute"});
    if let Some(seconds) = toleration_seconds {
        toleration["tolerationSeconds"] = json!(seconds);
    }
    let meta = json!({"name": name, "namespace": "default"});
    let spec = json!({"containers": [], "nodeName": node, "tolerations": [toleration]});
    let status = json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]});
    cluster.create(Kind::Pod, json!({"metadata": meta, "spec": spec, "status": status}));
}

/// Lets time pass while these nodes renew their leases every ten seconds.
fn live(cluster: &mut Cluster, alive: &[&str], seconds: u64) {
    for _ in 0..seconds / 10 {
        for name in alive {
            let now = crate::api::Timestamp::from(cluster.now).to_string();
            let renewed = json!({"spec": {"renewTime": now}});
            let lease = key(Kind::Lease, "kube-node-lease", name);
            cluster.ask(Request::Patch(Part::Main, lease, renewed)).expect("renewed");
        }
        cluster.advance(Duration::from_secs(10));
    }
}

fn node<'a>(cluster: &'a Cluster, name: &str) -> &'a Node {
    let object = cluster.stored(&key(Kind::Node, "", name));
    object.and_then(|object| object.as_node()).expect("a node")
}

fn taints(cluster: &Cluster, name: &str) -> Vec<(String, TaintEffect)> {
    let taints = node(cluster, name).spec.taints.iter();
    taints.map(|taint| (taint.key.to_string(), taint.effect)).collect()
}

fn told(cluster: &Cluster, text: &str) -> usize {
    cluster.events.iter().filter(|event| event.contains(text)).count()
}

#[test]
fn nodes_that_renew_their_leases_give_nothing_to_do() {
    let mut cluster = cluster();
    live(&mut cluster, &NAMES, 300);
    assert_eq!(cluster.requests, Vec::<String>::new());
    let registered = "RegisteredNode: Node node-1 event: Registered Node node-1 in Controller";
    assert_eq!(told(&cluster, registered), 1, "{:?}", cluster.events);
}

#[test]
fn a_silent_node_is_written_off_and_tainted() {
    let mut cluster = cluster();
    pod(&mut cluster, "web", "node-3", Some(300));
    live(&mut cluster, &NAMES, 100);
    live(&mut cluster, &NAMES[..2], 40);
    assert_eq!(taints(&cluster, "node-3"), []);
    live(&mut cluster, &NAMES[..2], 20);
    let ready = ready(node(&cluster, "node-3")).expect("a condition");
    assert_eq!(ready.status, ConditionStatus::Unknown);
    assert_eq!(ready.reason.as_deref(), Some("NodeStatusUnknown"));
    assert_eq!(ready.message.as_deref(), Some("Kubelet stopped posting node status."));
    live(&mut cluster, &NAMES[..2], 10);
    let expected = [
        (UNREACHABLE.to_string(), TaintEffect::NoSchedule),
        (UNREACHABLE.to_string(), TaintEffect::NoExecute),
    ];
    assert_eq!(taints(&cluster, "node-3"), expected);
    assert!(node(&cluster, "node-3").spec.taints[1].time_added.is_some());
    assert_eq!(taints(&cluster, "node-1"), []);
    assert_eq!(told(&cluster, "NodeNotReady: Node node-3 status is now: NodeNotReady"), 1);
    assert_eq!(told(&cluster, "Pod default/web: NodeNotReady: Node is not ready"), 1);
    let web = cluster.stored(&key(Kind::Pod, "default", "web"));
    assert!(!web.and_then(|o| o.as_pod()).expect("a pod").is_ready());
}

#[test]
fn the_pods_of_a_dead_node_go_when_their_toleration_is_over() {
    let mut cluster = cluster();
    pod(&mut cluster, "web", "node-3", Some(300));
    pod(&mut cluster, "patient", "node-3", None);
    pod(&mut cluster, "elsewhere", "node-1", Some(300));
    live(&mut cluster, &NAMES[..2], 360);
    let terminating = |cluster: &Cluster, name| {
        let pod = cluster.stored(&key(Kind::Pod, "default", name)).expect("a pod");
        pod.meta().is_terminating()
    };
    assert!(!terminating(&cluster, "web"), "50 s, the next round, 300 s");
    live(&mut cluster, &NAMES[..2], 10);
    assert!(terminating(&cluster, "web"));
    assert!(!terminating(&cluster, "patient") && !terminating(&cluster, "elsewhere"));
    let event = "Pod default/web: TaintManagerEviction: Marking for deletion Pod default/web";
    assert_eq!(told(&cluster, event), 1);
    let web = cluster.stored(&key(Kind::Pod, "default", "web")).expect("a pod");
    let conditions = &web.as_pod().expect("a pod").status.conditions;
    assert!(Condition::holds(conditions, "DisruptionTarget"));
}

#[test]
fn a_node_that_comes_back_loses_its_taints_and_keeps_its_pods() {
    let mut cluster = cluster();
    pod(&mut cluster, "web", "node-3", Some(300));
    live(&mut cluster, &NAMES[..2], 200);
    let beat = json!([{"type": "Ready", "status": "True",
        "lastHeartbeatTime": crate::api::Timestamp::from(cluster.now).to_string()}]);
    let status = json!({"status": {"conditions": beat}});
    let request = Request::Patch(Part::Status, key(Kind::Node, "", "node-3"), status);
    cluster.ask(request).expect("patched");
    live(&mut cluster, &NAMES, 300);
    assert_eq!(taints(&cluster, "node-3"), []);
    let cancelled = "TaintManagerEviction: Cancelling deletion of Pod default/web";
    assert_eq!(told(&cluster, cancelled), 1, "{:?}", cluster.events);
    let web = cluster.stored(&key(Kind::Pod, "default", "web")).expect("a pod");
    assert!(!web.meta().is_terminating());
}

#[test]
fn a_node_whose_kubelet_says_that_it_is_not_ready_is_tainted_so() {
    let mut cluster = cluster();
    live(&mut cluster, &NAMES, 20);
    let status = json!({"status": {"conditions": [{"type": "Ready", "status": "False"}]}});
    let request = Request::Patch(Part::Status, key(Kind::Node, "", "node-2"), status);
    cluster.ask(request).expect("patched");
    live(&mut cluster, &NAMES, 10);
    let expected = [
        (NOT_READY.to_string(), TaintEffect::NoSchedule),
        (NOT_READY.to_string(), TaintEffect::NoExecute),
    ];
    assert_eq!(taints(&cluster, "node-2"), expected);
    // When it falls silent, one taint gives way to the other at once.
    live(&mut cluster, &["node-1", "node-3"], 70);
    assert!(taints(&cluster, "node-2").iter().all(|(key, _)| key == UNREACHABLE));
}

#[test]
fn when_every_node_is_silent_nothing_is_evicted() {
    let mut cluster = cluster();
    pod(&mut cluster, "web", "node-3", Some(300));
    live(&mut cluster, &[], 600);
    for name in NAMES {
        let expected = [(UNREACHABLE.to_string(), TaintEffect::NoSchedule)];
        assert_eq!(taints(&cluster, name), expected, "{name}");
    }
    let web = cluster.stored(&key(Kind::Pod, "default", "web")).expect("a pod");
    assert!(!web.meta().is_terminating());
}

#[test]
fn two_dead_nodes_of_a_zone_are_tainted_ten_seconds_apart() {
    let mut cluster = cluster();
    for name in ["node-4", "node-5"] {
        let ready = json!([{"type": "Ready", "status": "True"}]);
        let node = json!({"metadata": {"name": name}, "status": {"conditions": ready}});
        cluster.create(Kind::Node, node);
    }
    let expelled = |cluster: &Cluster| {
        let nodes = ["node-4", "node-5"].into_iter().map(|name| node(cluster, name));
        nodes.filter(|node| is_expelled(node)).count()
    };
    live(&mut cluster, &NAMES, 60);
    cluster.advance(Duration::from_secs(5));
    assert_eq!(expelled(&cluster), 1);
    cluster.advance(Duration::from_secs(9));
    assert_eq!(expelled(&cluster), 1);
    cluster.advance(Duration::from_secs(1));
    assert_eq!(expelled(&cluster), 2);
}

#[test]
fn a_cordoned_node_gets_its_taint_and_a_tolerated_taint_of_the_user_stays() {
    let mut cluster = cluster();
    let taint = json!([{"key": "gpu", "effect": "NoSchedule"}]);
    let spec = json!({"spec": {"unschedulable": true, "taints": taint}});
    let request = Request::Patch(Part::Main, key(Kind::Node, "", "node-1"), spec);
    cluster.ask(request).expect("patched");
    let keys = |cluster: &Cluster| -> Vec<String> {
        taints(cluster, "node-1").into_iter().map(|(key, _)| key).collect()
    };
    assert_eq!(keys(&cluster), ["gpu", "node.kubernetes.io/unschedulable"]);
    let spec = json!({"spec": {"unschedulable": null}});
    let request = Request::Patch(Part::Main, key(Kind::Node, "", "node-1"), spec);
    cluster.ask(request).expect("patched");
    assert_eq!(keys(&cluster), ["gpu"]);
}

#[test]
fn a_taint_of_the_user_that_is_not_tolerated_expels_at_once() {
    let mut cluster = cluster();
    let meta = json!({"name": "web", "namespace": "default"});
    let spec = json!({"containers": [], "nodeName": "node-1"});
    cluster.create(Kind::Pod, json!({"metadata": meta, "spec": spec}));
    let taint = json!({"spec": {"taints": [{"key": "out", "effect": "NoExecute"}]}});
    let request = Request::Patch(Part::Main, key(Kind::Node, "", "node-1"), taint);
    cluster.ask(request).expect("patched");
    let web = cluster.stored(&key(Kind::Pod, "default", "web")).expect("a pod");
    assert!(web.meta().is_terminating());
}

#[test]
fn pods_that_could_not_be_marked_are_marked_a_round_later() {
    let mut cluster = cluster();
    pod(&mut cluster, "web", "node-3", Some(300));
    cluster.refuse = |request| match request {
        Request::Update(_, object) if object.kind() == Kind::Pod => {
            Some(ApiError::new(Reason::Conflict, "the object has been modified"))
        }
        _ => None,
    };
    live(&mut cluster, &NAMES[..2], 60);
    assert_eq!(told(&cluster, "Node is not ready"), 0);
    cluster.refuse = |_| None;
    live(&mut cluster, &NAMES[..2], 10);
    assert_eq!(told(&cluster, "Node is not ready"), 1);
}

#[test]
fn a_node_that_is_deleted_is_taken_leave_of() {
    let mut cluster = cluster();
    live(&mut cluster, &NAMES, 10);
    let request = Request::Delete(key(Kind::Node, "", "node-3"), DeleteOptions::default());
    cluster.ask(request).expect("deleted");
    live(&mut cluster, &NAMES[..2], 10);
    let event = "RemovingNode: Node node-3 event: Removing Node node-3 from Controller";
    assert_eq!(told(&cluster, event), 1);
}

#[test]
fn the_shortest_toleration_counts() {
    let toleration = |key: &str, seconds| crate::api::Toleration {
        key: Some(key.into()),
        operator: Some("Exists".into()),
        toleration_seconds: seconds,
        ..Default::default()
    };
    let taint = |key| crate::controllers::taints::taint(key, TaintEffect::NoExecute);
    let (a, b) = (taint("a"), taint("b"));
    let stay = |tolerations: &[_], taints: &[&_]| eviction::stay(tolerations, taints);
    let span = |seconds| eviction::Stay::For(Duration::from_secs(seconds));
    let both = [toleration("a", Some(60)), toleration("b", Some(30))];
    assert_eq!(stay(&both, &[&a, &b]), span(30));
    assert_eq!(stay(&both, &[&a]), span(60));
    assert_eq!(stay(&both[..1], &[&a, &b]), span(0));
    assert_eq!(stay(&[toleration("a", None)], &[&a]), eviction::Stay::Ever);
}
