use std::time::Duration;

use serde_json::{Value, json};

use super::tests::picture;
use super::*;
use crate::api::Timestamp;
use crate::apiserver::{ApiError, DeleteOptions, Part, Reason};
use crate::controllers::lockstep::Lockstep;
use crate::kernel::Rng;

const HIGH: &str = "system-cluster-critical";

fn cluster_of(nodes: &[(&str, &str)]) -> Lockstep<Scheduler> {
    let mut cluster = Lockstep::new();
    for (name, cpu) in nodes {
        let room = json!({"cpu": cpu, "memory": "8Gi", "pods": "110"});
        let node = json!({"metadata": {"name": name}, "status": {"allocatable": room}});
        cluster.create(Kind::Node, node);
    }
    for (name, value, policy) in [("low", 10, "Never"), ("mid", 100, "PreemptLowerPriority")] {
        let class = json!({"metadata": {"name": name}, "value": value, "preemptionPolicy": policy});
        cluster.create(Kind::PriorityClass, class);
    }
    cluster
}

fn pod(name: &str, cpu: &str, class: &str) -> Value {
    let resources = json!({"requests": {"cpu": cpu}});
    let container = json!({"name": "main", "image": "web:1", "resources": resources});
    let mut spec = json!({"containers": [container]});
    if !class.is_empty() {
        spec["priorityClassName"] = class.into();
    }
    let labels = json!({"app": name});
    json!({"metadata": {"name": name, "namespace": "default", "labels": labels}, "spec": spec})
}

/// A pod that is on its node already, and runs since so many seconds after the start.
fn placed(cluster: &mut Lockstep<Scheduler>, pod: Value, node: &str, started: i64) {
    let mut pod = pod;
    pod["spec"]["nodeName"] = node.into();
    let at = Timestamp(Timestamp::EPOCH.0 + started);
    pod["status"] = json!({"phase": "Running", "startTime": at});
    cluster.create(Kind::Pod, pod);
}

fn key(name: &str) -> ObjectKey {
    ObjectKey::new(Kind::Pod, "default", name)
}

fn stored<'a>(cluster: &'a Lockstep<Scheduler>, name: &str) -> &'a Pod {
    cluster.stored(&key(name)).and_then(|o| o.as_pod()).expect("a pod")
}

/// The pods that are being deleted.
fn going(cluster: &Lockstep<Scheduler>) -> Vec<String> {
    let pods = cluster.server.store().list(Kind::Pod).map(|object| object.meta());
    pods.filter(|meta| meta.is_terminating()).map(|meta| meta.name.to_string()).collect()
}

fn end(cluster: &mut Lockstep<Scheduler>, name: &str) {
    let options = DeleteOptions { grace_period_seconds: Some(0), ..DeleteOptions::default() };
    cluster.ask(Request::Delete(key(name), options)).expect("deleted");
}

fn last_event<'a>(cluster: &'a Lockstep<Scheduler>, reason: &str) -> &'a str {
    let with = |event: &&String| event.contains(&format!(": {reason}: "));
    cluster.events.iter().rev().find(with).map(String::as_str).unwrap_or_default()
}

#[test]
fn a_pod_of_a_higher_priority_makes_one_of_a_lower_go_and_takes_its_place() {
    let mut cluster = cluster_of(&[("node-1", "1")]);
    placed(&mut cluster, pod("small", "800m", ""), "node-1", 0);
    cluster.create(Kind::Pod, pod("big", "900m", HIGH));
    assert_eq!(going(&cluster), ["small"]);
    let failed = "Pod default/big: FailedScheduling: 0/1 nodes are available: 1 Insufficient cpu.";
    assert_eq!(last_event(&cluster, "FailedScheduling"), failed);
    let uid = stored(&cluster, "big").metadata.uid.clone();
    let told = format!("Pod default/small: Preempted: Preempted by pod {uid} on node node-1");
    assert_eq!(last_event(&cluster, "Preempted"), told);
    let conditions = &stored(&cluster, "small").status.conditions;
    let why = conditions.iter().find(|c| &*c.kind == "DisruptionTarget").expect("a condition");
    assert_eq!(why.reason.as_deref(), Some("PreemptionByScheduler"));
    let expected = "default-scheduler: preempting to accommodate a higher priority pod";
    assert_eq!(why.message.as_deref(), Some(expected));
    assert_eq!(nominated_node(stored(&cluster, "big")).as_deref(), Some("node-1"));

    cluster.advance(Duration::from_secs(20));
    end(&mut cluster, "small");
    assert_eq!(stored(&cluster, "big").spec.node_name.as_deref(), Some("node-1"));
    assert_eq!(nominated_node(stored(&cluster, "big")), None, "the binding clears it");
}

#[test]
fn the_promise_does_not_wait_for_the_victims_to_be_asked() {
    let mut cluster = cluster_of(&[("node-1", "1")]);
    placed(&mut cluster, pod("small", "800m", ""), "node-1", 0);
    cluster.requests.clear();
    cluster.create(Kind::Pod, pod("big", "900m", HIGH));
    let told: Vec<&str> = cluster.requests.iter().map(String::as_str).collect();
    let (big, small) = ("Patch Pod default/big", "Patch Pod default/small");
    assert_eq!(told, [big, small, "Delete Pod default/small"]);
}

#[test]
fn equals_and_pods_that_must_not_preempt_wait() {
    let mut cluster = cluster_of(&[("node-1", "1")]);
    placed(&mut cluster, pod("small", "800m", ""), "node-1", 0);
    cluster.create(Kind::Pod, pod("equal", "800m", ""));
    let none = "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, \
        preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.";
    assert!(cluster.events[0].ends_with(none), "{:?}", cluster.events);
    cluster.create(Kind::Pod, pod("polite", "800m", "low"));
    let never = "preemption: not eligible due to preemptionPolicy=Never.";
    assert!(cluster.events[1].ends_with(never), "{:?}", cluster.events);
    assert!(going(&cluster).is_empty());
}

#[test]
fn where_nobodys_going_would_help_each_node_says_why() {
    let mut cluster = cluster_of(&[("node-1", "1"), ("node-2", "4")]);
    placed(&mut cluster, pod("rock", "3500m", HIGH), "node-2", 0);
    placed(&mut cluster, pod("sand", "500m", ""), "node-2", 0);
    cluster.create(Kind::Pod, pod("big", "2", "mid"));
    let expected = "0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, \
        preemption: 0/2 nodes are available: 1 Insufficient cpu, 1 Preemption is not helpful for \
        scheduling.";
    assert!(cluster.events[0].ends_with(expected), "{:?}", cluster.events);
    assert!(going(&cluster).is_empty());
}

#[test]
fn only_as_many_go_as_must_and_the_least_important_first() {
    let mut cluster = cluster_of(&[("node-1", "1")]);
    placed(&mut cluster, pod("mid", "300m", "mid"), "node-1", 30);
    placed(&mut cluster, pod("old", "300m", "low"), "node-1", 10);
    placed(&mut cluster, pod("young", "300m", "low"), "node-1", 20);
    cluster.create(Kind::Pod, pod("big", "400m", HIGH));
    assert_eq!(going(&cluster), ["young"]);
}

#[test]
fn a_protected_pod_is_spared_as_long_as_another_can_go() {
    let mut cluster = cluster_of(&[("node-1", "1")]);
    let budget = json!({"metadata": {"name": "keep", "namespace": "default"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "kept"}}},
        "status": {"disruptionsAllowed": 0, "expectedPods": 1, "currentHealthy": 1,
            "desiredHealthy": 1}});
    cluster.create(Kind::PodDisruptionBudget, budget);
    placed(&mut cluster, pod("kept", "500m", ""), "node-1", 20);
    placed(&mut cluster, pod("other", "500m", "mid"), "node-1", 10);
    cluster.create(Kind::Pod, pod("big", "500m", HIGH));
    assert_eq!(going(&cluster), ["other"]);
}

#[test]
fn the_node_whose_victims_matter_least_is_chosen() {
    /// Pods by node with class and start, and the node that is to be chosen.
    type Case = (&'static str, &'static [(&'static str, &'static str, &'static str, i64)]);
    let cases: [Case; 4] = [
        ("node-2", &[("node-1", "1", "mid", 0), ("node-2", "1", "low", 0)]),
        (
            "node-1",
            &[("node-1", "1", "low", 0), ("node-2", "500m", "low", 0), ("node-2", "500m", "", 0)],
        ),
        ("node-2", &[("node-1", "500m", "", 0), ("node-1", "500m", "", 0), ("node-2", "1", "", 0)]),
        ("node-1", &[("node-1", "1", "", 20), ("node-2", "1", "", 10)]),
    ];
    for (expected, pods) in cases {
        let mut cluster = cluster_of(&[("node-1", "1"), ("node-2", "1")]);
        for (number, (node, cpu, class, started)) in pods.iter().enumerate() {
            placed(&mut cluster, pod(&format!("pod-{number}"), cpu, class), node, *started);
        }
        cluster.create(Kind::Pod, pod("big", "1", HIGH));
        let chosen = nominated_node(stored(&cluster, "big"));
        assert_eq!(chosen.as_deref(), Some(expected), "{pods:?}");
    }
}

#[test]
fn a_node_where_a_budget_would_be_broken_is_chosen_last() {
    let mut cluster = cluster_of(&[("node-1", "1"), ("node-2", "1")]);
    let budget = json!({"metadata": {"name": "keep", "namespace": "default"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "kept"}}},
        "status": {"disruptionsAllowed": 0, "expectedPods": 1, "currentHealthy": 1,
            "desiredHealthy": 1}});
    cluster.create(Kind::PodDisruptionBudget, budget);
    placed(&mut cluster, pod("kept", "1", ""), "node-1", 0);
    placed(&mut cluster, pod("other", "1", "mid"), "node-2", 0);
    cluster.create(Kind::Pod, pod("big", "1", HIGH));
    assert_eq!(going(&cluster), ["other"]);
}

#[test]
fn the_promised_room_is_kept_from_pods_of_no_higher_priority() {
    let mut cluster = cluster_of(&[("node-1", "1")]);
    placed(&mut cluster, pod("small", "800m", ""), "node-1", 0);
    cluster.create(Kind::Pod, pod("big", "800m", "mid"));
    cluster.advance(Duration::from_secs(20));
    cluster.controller.pending.forget(&key("big"));
    end(&mut cluster, "small");
    cluster.create(Kind::Pod, pod("late", "800m", ""));
    assert_eq!(stored(&cluster, "late").spec.node_name, None);
    cluster.restart();
    assert_eq!(stored(&cluster, "big").spec.node_name.as_deref(), Some("node-1"));
}

#[test]
fn a_pod_that_waits_for_its_victims_makes_no_more_pods_go() {
    let mut cluster = cluster_of(&[("node-1", "1"), ("node-2", "1")]);
    placed(&mut cluster, pod("small", "800m", ""), "node-1", 0);
    placed(&mut cluster, pod("other", "800m", "low"), "node-2", 0);
    cluster.create(Kind::Pod, pod("big", "800m", HIGH));
    assert_eq!(going(&cluster), ["small"]);
    cluster.advance(Duration::from_secs(400));
    assert_eq!(going(&cluster), ["small"]);
    let waits = "preemption: not eligible due to a terminating pod on the nominated node.";
    assert!(last_event(&cluster, "FailedScheduling").ends_with(waits), "{:?}", cluster.events);
    assert_eq!(nominated_node(stored(&cluster, "big")).as_deref(), Some("node-1"));
}

#[test]
fn a_promise_outlasts_a_binding_that_failed() {
    let mut cluster = cluster_of(&[("node-1", "1")]);
    placed(&mut cluster, pod("small", "800m", ""), "node-1", 0);
    cluster.create(Kind::Pod, pod("big", "800m", "mid"));
    cluster.advance(Duration::from_secs(20));
    cluster.refuse = |request| {
        let bind = matches!(request, Request::Bind(..));
        bind.then(|| ApiError::new(Reason::InternalError, "etcd is away"))
    };
    end(&mut cluster, "small");
    cluster.create(Kind::Pod, pod("late", "800m", ""));
    cluster.refuse = |_| None;
    cluster.advance(Duration::from_secs(30));
    assert_eq!(stored(&cluster, "big").spec.node_name.as_deref(), Some("node-1"));
    assert_eq!(stored(&cluster, "late").spec.node_name, None);
}

#[test]
fn a_still_higher_pod_takes_the_promise_away() {
    let mut cluster = cluster_of(&[("node-1", "1")]);
    placed(&mut cluster, pod("small", "800m", ""), "node-1", 0);
    cluster.create(Kind::Pod, pod("middle", "800m", "mid"));
    assert_eq!(nominated_node(stored(&cluster, "middle")).as_deref(), Some("node-1"));
    cluster.create(Kind::Pod, pod("big", "800m", HIGH));
    assert_eq!(nominated_node(stored(&cluster, "middle")), None);
    assert_eq!(nominated_node(stored(&cluster, "big")).as_deref(), Some("node-1"));
    cluster.advance(Duration::from_secs(20));
    end(&mut cluster, "small");
    assert_eq!(stored(&cluster, "big").spec.node_name.as_deref(), Some("node-1"));
    assert_eq!(stored(&cluster, "middle").spec.node_name, None);
}

#[test]
fn a_victim_that_could_not_be_marked_is_tried_again() {
    let mut cluster = cluster_of(&[("node-1", "1")]);
    placed(&mut cluster, pod("small", "800m", ""), "node-1", 0);
    cluster.refuse = |request| {
        let mark = matches!(request, Request::PatchWith(patch) if patch.part == Part::Status);
        mark.then(|| ApiError::new(Reason::InternalError, "etcd is away"))
    };
    cluster.create(Kind::Pod, pod("big", "900m", HIGH));
    assert!(going(&cluster).is_empty());
    cluster.refuse = |_| None;
    cluster.advance(Duration::from_secs(2));
    assert_eq!(going(&cluster), ["small"]);
}

/// The law that lets the dry run work on the picture itself: all that it takes away in thought it
/// brings back; and nobody goes for the sake of an equal.
#[test]
fn what_is_tried_in_thought_leaves_the_picture_as_it_was() {
    let mut preempted = 0;
    for seed in 0..30 {
        let mut rng = Rng::stream(seed, "preemption/test");
        let mut cluster = cluster_of(&[("node-1", "2"), ("node-2", "2"), ("node-3", "2")]);
        for step in 0..50 {
            let told = format!("seed {seed}, step {step}");
            let class = ["", "low", "mid", HIGH][rng.below(4) as usize];
            let cpu = format!("{}m", 300 + 100 * rng.below(13));
            match rng.below(5) {
                0..=2 => {
                    let new = pod(&format!("pod-{}", rng.below(14)), &cpu, class);
                    let object = Object::from_value(Kind::Pod, new).expect("a pod");
                    let _ = cluster.ask(Request::Create(object.into()));
                }
                3 => going(&cluster).iter().take(1).for_each(|name| end(&mut cluster, name)),
                _ => cluster.advance(Duration::from_secs(rng.below(15))),
            }
            let fresh = Cluster::of(&cluster.cache);
            assert_eq!(picture(&cluster.controller.cluster), picture(&fresh), "{told}");
            let pods = cluster.server.store().list(Kind::Pod).filter_map(|object| object.as_pod());
            let pods: Vec<&Pod> = pods.collect();
            let highest = pods.iter().map(|pod| priority_of(pod)).max().unwrap_or(0);
            let victims = pods.iter().filter(|pod| victims::is_going_for_another(pod));
            for victim in victims {
                preempted += 1;
                assert!(priority_of(victim) < highest, "{told}: {}", victim.metadata.name);
            }
        }
    }
    assert!(preempted > 100, "only {preempted} were seen going");
}
