use std::time::Duration;

use serde_json::{Value, json};

use super::resources::{DEFAULT_MEMORY, Usage};
use super::*;
use crate::apiserver::{ApiError, DeleteOptions, Part, Reason};
use crate::client::Cache;
use crate::controllers::lockstep::Lockstep;
use crate::kernel::Rng;

fn node(name: &str, cpu: &str) -> Value {
    let room = json!({"cpu": cpu, "memory": "8Gi", "pods": "110"});
    json!({"metadata": {"name": name}, "status": {"allocatable": room}})
}

fn pod(name: &str, cpu: &str) -> Value {
    let resources = json!({"requests": {"cpu": cpu}});
    let spec = json!({"containers": [{"name": "main", "image": "web:1", "resources": resources}]});
    json!({"metadata": {"name": name, "namespace": "default"}, "spec": spec})
}

fn owned(name: &str, cpu: &str) -> Value {
    let mut pod = pod(name, cpu);
    pod["metadata"]["ownerReferences"] = json!([{"apiVersion": "apps/v1", "kind": "ReplicaSet",
        "name": "web", "uid": "web-uid", "controller": true}]);
    pod
}

fn key(name: &str) -> ObjectKey {
    ObjectKey::new(Kind::Pod, "default", name)
}

fn cluster_of(nodes: &[(&str, &str)]) -> Lockstep<Scheduler> {
    let mut cluster = Lockstep::new();
    for (name, cpu) in nodes {
        cluster.create(Kind::Node, node(name, cpu));
    }
    cluster
}

fn node_of(cluster: &Lockstep<Scheduler>, name: &str) -> Option<String> {
    let pod = cluster.stored(&key(name)).and_then(|o| o.as_pod())?;
    pod.spec.node_name.as_deref().map(str::to_string)
}

const THREE: [(&str, &str); 3] = [("node-1", "4"), ("node-2", "4"), ("node-3", "4")];

#[test]
fn the_pods_of_one_owner_spread_evenly_over_the_nodes() {
    let mut cluster = cluster_of(&THREE);
    let names: Vec<String> = (0..9).map(|i| format!("web-{i}")).collect();
    for name in &names {
        cluster.create(Kind::Pod, owned(name, "100m"));
    }
    for node in ["node-1", "node-2", "node-3"] {
        let here = names.iter().filter(|n| node_of(&cluster, n).as_deref() == Some(node));
        assert_eq!(here.count(), 3, "{node}");
    }
    let first = "Pod default/web-0: Scheduled: Successfully assigned default/web-0 to node-";
    assert!(cluster.events[0].starts_with(first), "{:?}", cluster.events);
}

#[test]
fn a_pod_that_fits_nowhere_waits_for_a_change_that_may_help() {
    let mut cluster = cluster_of(&[("node-1", "1")]);
    cluster.create(Kind::Pod, pod("big", "2"));
    let expected = "Pod default/big: FailedScheduling: 0/1 nodes are available: 1 Insufficient \
        cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 \
        Preemption is not helpful for scheduling.";
    assert_eq!(cluster.events, [expected]);
    let stored = cluster.stored(&key("big")).and_then(|o| o.as_pod()).expect("a pod");
    let condition = &stored.status.conditions[0];
    assert_eq!(condition.status, ConditionStatus::False);
    assert_eq!(condition.reason.as_deref(), Some("Unschedulable"));

    cluster.create(Kind::Node, node("node-2", "4"));
    assert_eq!(node_of(&cluster, "big"), None, "it still has to wait for its back-off");
    cluster.advance(Duration::from_secs(1));
    assert_eq!(node_of(&cluster, "big").as_deref(), Some("node-2"));
}

#[test]
fn a_pod_that_goes_makes_room_for_one_that_waits() {
    let mut cluster = cluster_of(&[("node-1", "1")]);
    cluster.create(Kind::Pod, pod("first", "800m"));
    cluster.create(Kind::Pod, pod("second", "800m"));
    assert_eq!(node_of(&cluster, "second"), None);
    cluster.advance(Duration::from_secs(20));
    let options = DeleteOptions { grace_period_seconds: Some(0), ..DeleteOptions::default() };
    cluster.ask(Request::Delete(key("first"), options)).expect("deleted");
    assert_eq!(node_of(&cluster, "second").as_deref(), Some("node-1"));
}

#[test]
fn a_node_that_was_tainted_or_cordoned_says_so() {
    let mut cluster: Lockstep<Scheduler> = Lockstep::new();
    let mut tainted = node("node-1", "4");
    tainted["spec"]["taints"] = json!([{"key": "gpu", "effect": "NoSchedule"}]);
    cluster.create(Kind::Node, tainted);
    let mut cordoned = node("node-2", "4");
    cordoned["spec"]["unschedulable"] = json!(true);
    cluster.create(Kind::Node, cordoned);
    cluster.create(Kind::Pod, pod("web", "1"));
    let expected = "0/2 nodes are available: 1 node(s) had untolerated taint(s), 1 node(s) were \
        unschedulable. no new claims to deallocate, preemption: 0/2 nodes are available: 2 \
        Preemption is not helpful for \
        scheduling.";
    assert!(cluster.events[0].ends_with(expected), "{:?}", cluster.events);
}

#[test]
fn a_cluster_without_nodes_has_none_available() {
    let mut cluster: Lockstep<Scheduler> = Lockstep::new();
    cluster.create(Kind::Pod, pod("web", "1"));
    assert!(cluster.events[0].ends_with(": no nodes available to schedule pods"));
}

#[test]
fn a_pod_whose_binding_failed_is_not_counted_where_it_was_assumed() {
    let mut cluster = cluster_of(&[("node-1", "1")]);
    cluster.refuse = |request| {
        let bind = matches!(request, Request::Bind(..));
        bind.then(|| ApiError::new(Reason::InternalError, "etcdserver: request timed out"))
    };
    cluster.create(Kind::Pod, pod("web", "800m"));
    let expected = "Pod default/web: FailedScheduling: running Bind plugin \"DefaultBinder\": \
        etcdserver: request timed out";
    assert_eq!(cluster.events, [expected]);
    cluster.refuse = |_| None;
    cluster.advance(Duration::from_secs(1));
    assert_eq!(node_of(&cluster, "web").as_deref(), Some("node-1"));
}

#[test]
fn a_pod_counts_on_its_node_before_the_cache_shows_it_there() {
    let mut cluster = cluster_of(&[("node-1", "1"), ("node-2", "1")]);
    let mut cache = cluster.cache.clone();
    for name in ["a", "b", "c"] {
        let mut object = Object::from_value(Kind::Pod, pod(name, "800m")).expect("a pod");
        object.meta_mut().uid = name.into();
        cache.put(object.into());
    }
    let cx = Context { cache: &cache, now: Time::ZERO, seed: 1, promises_kept: true };
    let mut target = |name| {
        let plan = cluster.controller.sync(&key(name), &cx);
        let requests: Vec<_> = plan.batches.concat().into_iter().map(|i| i.request).collect();
        match &requests[..] {
            [Request::Bind(_, _, node)] => Some(node.clone()),
            _ => None,
        }
    };
    let (first, second, third) = (target("a"), target("b"), target("c"));
    assert!(first.is_some() && second.is_some() && first != second);
    assert_eq!(third, None);
    assert_eq!(target("a"), None, "it is assumed to be on its node");
}

#[test]
fn equal_nodes_are_chosen_by_the_seed_and_the_pod() {
    let mut cluster = Cluster::of(&Cache::of((0..8).map(|i| {
        Object::from_value(Kind::Node, node(&format!("node-{i}"), "4")).expect("a node")
    })));
    let mut chosen = |seed, uid: &str| {
        let mut pod = Pod::default();
        pod.metadata.uid = uid.into();
        choose(&mut cluster, &Nominees::default(), &Incoming::of(&pod), seed).expect("a node").node
    };
    assert_eq!(chosen(1, "a"), chosen(1, "a"));
    let all: std::collections::BTreeSet<_> = (0..40).map(|i| chosen(1, &i.to_string())).collect();
    assert_eq!(all.len(), 8);
}

#[test]
fn after_a_restart_the_picture_is_the_same() {
    let mut cluster = cluster_of(&THREE);
    for i in 0..5 {
        cluster.create(Kind::Pod, owned(&format!("web-{i}"), "300m"));
    }
    let before = picture(&cluster.controller.cluster);
    cluster.restart();
    assert_eq!(picture(&cluster.controller.cluster), before);
}

#[test]
fn a_lost_deletion_is_made_good_when_a_pod_finds_no_node() {
    let mut cluster = cluster_of(&[("node-1", "1")]);
    cluster.create(Kind::Pod, pod("first", "800m"));
    let gone = DeleteOptions { grace_period_seconds: Some(0), ..DeleteOptions::default() };
    let request = Request::Delete(key("first"), gone);
    cluster.server.handle(&request, cluster.now).expect("deleted");
    cluster.lose_changes();
    cluster.create(Kind::Pod, pod("second", "800m"));
    assert_eq!(node_of(&cluster, "second"), None);
    cluster.advance(Duration::from_secs(300));
    assert_eq!(node_of(&cluster, "second"), None);
    cluster.advance(Duration::from_secs(5));
    assert_eq!(node_of(&cluster, "second").as_deref(), Some("node-1"));
}

#[test]
fn a_pod_that_waits_for_company_is_looked_at_when_one_on_a_node_is_called_otherwise() {
    let mut cluster = cluster_of(&[("node-1", "1")]);
    let mut host = node("node-1", "1");
    host["metadata"]["labels"] = json!({"kubernetes.io/hostname": "node-1"});
    cluster
        .ask(Request::Patch(Part::Main, ObjectKey::new(Kind::Node, "", "node-1"), host))
        .unwrap();
    cluster.create(Kind::Pod, pod("first", "100m"));
    let term = json!({"topologyKey": "kubernetes.io/hostname",
        "labelSelector": {"matchLabels": {"app": "tea"}}});
    let mut fond = pod("fond", "100m");
    fond["spec"]["affinity"]["podAffinity"] =
        json!({"requiredDuringSchedulingIgnoredDuringExecution": [term]});
    cluster.create(Kind::Pod, fond);
    cluster.advance(Duration::from_secs(20));
    assert_eq!(node_of(&cluster, "fond"), None);
    let labels = json!({"metadata": {"labels": {"app": "tea"}}});
    cluster.ask(Request::Patch(Part::Main, key("first"), labels)).expect("patched");
    assert_eq!(node_of(&cluster, "fond").as_deref(), Some("node-1"));
}

pub(super) type Picture = Vec<(Str, i64, i64, i64, Vec<(Str, u32)>)>;

pub(super) fn picture(cluster: &Cluster) -> Picture {
    let owner: Str = "web-uid".into();
    let groups: Vec<_> = cluster.groups(&"default".into(), Some(&owner)).collect();
    let infos = cluster.nodes().iter().enumerate();
    infos
        .map(|(place, info)| {
            let counts = groups.iter().map(|(g, counts)| (g.owner.clone(), counts[place]));
            (
                info.name.clone(),
                info.pods,
                info.requested.cpu_milli,
                info.scored_memory,
                counts.collect(),
            )
        })
        .collect()
}

/// The law that makes a decision cheap: what changes add up to is what a fresh look shows.
#[test]
fn what_changes_add_up_to_is_what_a_fresh_look_shows() {
    for seed in 0..40 {
        let mut rng = Rng::stream(seed, "scheduler/test");
        let mut cluster = cluster_of(&THREE);
        for step in 0..60 {
            let name = format!("web-{}", rng.below(8));
            match rng.below(5) {
                0 | 1 => {
                    let object = Object::from_value(Kind::Pod, owned(&name, "500m"));
                    let _ = cluster.ask(Request::Create(object.expect("a pod").into()));
                }
                2 => {
                    let grace = [None, Some(0)][rng.below(2) as usize];
                    let options =
                        DeleteOptions { grace_period_seconds: grace, ..DeleteOptions::default() };
                    let _ = cluster.ask(Request::Delete(key(&name), options));
                }
                3 => {
                    let ended = json!({"status": {"phase": "Failed"}});
                    let _ = cluster.ask(Request::Patch(Part::Status, key(&name), ended));
                }
                _ => cluster.advance(Duration::from_secs(rng.below(20))),
            }
            let fresh = Cluster::of(&cluster.cache);
            let own = &cluster.controller.cluster;
            assert_eq!(picture(own), picture(&fresh), "seed {seed}, step {step}");
            // What its own pods take, so that it knows the scores from its last decision.
            let scored_memory = DEFAULT_MEMORY;
            let usage = Usage { scored_cpu_milli: 500, scored_memory, ..Usage::default() };
            let places: Vec<usize> = (0..fresh.nodes().len()).collect();
            let scores = |cluster: &Cluster| cluster.clone().least_allocated(&places, &usage);
            assert_eq!(scores(own), scores(&fresh), "seed {seed}, step {step}");
        }
    }
}
