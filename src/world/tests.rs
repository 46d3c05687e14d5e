//! A whole cluster at work.

use std::sync::Arc;

use serde_json::json;

use crate::api::{Condition, ConditionStatus, Kind, Object, ObjectKey, Timestamp};
use crate::apiserver::{DeleteOptions, Request};
use crate::kernel::Time;

use super::lab::{cluster, delete_one_pod, inflict, run_for, web};
use super::{ControllerId, Flavour, Options, Stream, Verdict, World};

fn replica_set(replicas: i32) -> Object {
    web(Kind::ReplicaSet, replicas, "registry.example/web:1")
}

fn pods(world: &World) -> Vec<Arc<Object>> {
    world.store().list(Kind::Pod).cloned().collect()
}

#[test]
fn a_replica_set_comes_to_have_its_pods_running_in_both_flavours() {
    for flavour in [Flavour::Level, Flavour::Edge] {
        let world = cluster(flavour, 3);
        assert_eq!(world.shortfalls(), [], "{flavour:?}");
        assert_eq!(world.verdict(), Verdict::Converged, "{flavour:?}");
        let nodes: std::collections::BTreeSet<_> =
            pods(&world).iter().map(|p| p.as_pod().unwrap().spec.node_name.clone()).collect();
        assert_eq!(nodes.len(), 3, "{flavour:?}: one pod on each node");
    }
}

#[test]
fn a_deleted_pod_is_replaced_in_both_flavours() {
    for flavour in [Flavour::Level, Flavour::Edge] {
        let mut world = cluster(flavour, 3);
        delete_one_pod(&mut world);
        run_for(&mut world, 20);
        assert_eq!(world.verdict(), Verdict::Converged, "{flavour:?}");
        assert_eq!(pods(&world).len(), 3);
    }
}

#[test]
fn one_lost_deletion_leaves_edge_stuck_for_ever_and_level_until_its_next_look() {
    let mut edge = cluster(Flavour::Edge, 3);
    inflict(&mut edge, "fault drop to=replicaset kind=Pod type=DELETED");
    delete_one_pod(&mut edge);
    run_for(&mut edge, 3_600);
    assert!(matches!(edge.verdict(), Verdict::Stuck { .. }), "{:?}", edge.verdict());

    let mut level = cluster(Flavour::Level, 3);
    inflict(&mut level, "fault drop to=replicaset kind=Pod type=DELETED");
    delete_one_pod(&mut level);
    run_for(&mut level, 20);
    assert!(matches!(level.verdict(), Verdict::Stuck { .. }), "late, with nothing to wake it");
    inflict(&mut level, "fault resync replicaset");
    run_for(&mut level, 20);
    assert_eq!(level.verdict(), Verdict::Converged);
}

#[test]
fn a_doubled_deletion_makes_edge_create_two_pods() {
    let count = |flavour| {
        let mut world = cluster(flavour, 3);
        inflict(&mut world, "fault duplicate to=replicaset kind=Pod type=DELETED");
        delete_one_pod(&mut world);
        run_for(&mut world, 20);
        pods(&world).len()
    };
    assert_eq!((count(Flavour::Level), count(Flavour::Edge)), (3, 4));
}

#[test]
fn a_controller_that_comes_back_catches_up_if_it_looks_at_the_state() {
    let after = |flavour| {
        let mut world = cluster(flavour, 3);
        inflict(&mut world, "fault kill replicaset");
        delete_one_pod(&mut world);
        run_for(&mut world, 10);
        inflict(&mut world, "fault restart replicaset");
        run_for(&mut world, 30);
        (pods(&world).len(), world.verdict().word())
    };
    assert_eq!(after(Flavour::Level), (3, "converged"));
    assert_eq!(after(Flavour::Edge), (2, "stuck"));
}

#[test]
fn a_cut_watch_resumes_and_nothing_is_lost() {
    for flavour in [Flavour::Level, Flavour::Edge] {
        let mut world = cluster(flavour, 3);
        inflict(&mut world, "fault cut replicaset for=10s");
        delete_one_pod(&mut world);
        run_for(&mut world, 40);
        assert_eq!(world.verdict(), Verdict::Converged, "{flavour:?}");
    }
}

#[test]
fn after_a_compaction_the_watch_lists_again() {
    let mut world = cluster(Flavour::Level, 3);
    inflict(&mut world, "fault cut replicaset for=10s");
    delete_one_pod(&mut world);
    inflict(&mut world, "fault compact");
    run_for(&mut world, 40);
    assert_eq!(world.verdict(), Verdict::Converged);
}

#[test]
fn the_same_world_runs_the_same_way_twice() {
    let hash = || cluster(Flavour::Level, 30).trace_hash();
    assert_eq!(hash(), hash());
}

#[test]
fn a_pod_on_a_machine_without_power_is_not_ready_in_truth() {
    let mut world = cluster(Flavour::Level, 3);
    inflict(&mut world, "fault node node-1 power=off");
    let short = world.shortfalls();
    assert_eq!(short.len(), 1);
    assert_eq!((short[0].want, short[0].have), (3, 2));
    assert_eq!(short[0].object, ObjectKey::new(Kind::ReplicaSet, "default", "web"));
}

fn deployment(replicas: i32, image: &str) -> Object {
    let mut value = replica_set(replicas).to_value();
    value["spec"]["template"]["spec"]["containers"][0]["image"] = image.into();
    Object::from_value(Kind::Deployment, value).unwrap()
}

fn with_deployment(flavour: Flavour) -> World {
    let mut world = World::new(Options { flavour, ..Options::default() });
    let object = deployment(4, "registry.example/web:1");
    world.request(&Request::Create(Arc::new(object))).unwrap();
    run_for(&mut world, 20);
    world
}

fn sizes(world: &World) -> Vec<i32> {
    let sets = world.store().list(Kind::ReplicaSet).filter_map(|set| set.as_replica_set());
    let mut sizes: Vec<i32> = sets.map(|set| set.spec.replicas()).collect();
    sizes.sort_unstable();
    sizes
}

#[test]
fn a_rolling_update_ends_with_all_pods_on_the_new_template_in_both_flavours() {
    for flavour in [Flavour::Level, Flavour::Edge] {
        let mut world = with_deployment(flavour);
        assert_eq!(world.verdict(), Verdict::Converged, "{flavour:?} before");
        let object = deployment(4, "registry.example/web:2");
        world.request(&Request::Update(crate::apiserver::Part::Main, Arc::new(object))).unwrap();
        run_for(&mut world, 60);
        assert_eq!(sizes(&world), [0, 4], "{flavour:?}");
        assert_eq!(world.verdict(), Verdict::Converged, "{flavour:?}");
        let key = ObjectKey::new(Kind::Deployment, "default", "web");
        let status = world.store().get(&key).unwrap().as_deployment().unwrap().status.clone();
        assert_eq!((status.replicas, status.updated_replicas, status.ready_replicas), (4, 4, 4));
    }
}

#[test]
fn deleting_a_deployment_takes_its_sets_and_pods_with_it() {
    for flavour in [Flavour::Level, Flavour::Edge] {
        let mut world = with_deployment(flavour);
        let key = ObjectKey::new(Kind::Deployment, "default", "web");
        world.request(&Request::Delete(key, DeleteOptions::default())).unwrap();
        run_for(&mut world, 60);
        assert_eq!((sizes(&world).len(), pods(&world).len()), (0, 0), "{flavour:?}");
    }
}

#[test]
fn pods_of_a_dead_node_are_replaced_after_the_toleration() {
    let mut world = with_deployment(Flavour::Level);
    inflict(&mut world, "fault node node-1 power=off");
    assert!(matches!(world.verdict(), Verdict::Waiting { .. }), "{:?}", world.verdict());
    run_for(&mut world, 200);
    assert_eq!(pods(&world).iter().filter(|p| p.meta().is_terminating()).count(), 0);
    run_for(&mut world, 250);
    assert_eq!(world.verdict(), Verdict::Converged);
    let ready = pods(&world).iter().filter(|p| p.as_pod().unwrap().is_ready()).count();
    assert_eq!(ready, 4);
}

#[test]
fn a_quiet_watch_learns_every_minute_how_far_the_server_is() {
    let mut world = cluster(Flavour::Level, 3);
    let seen = |world: &World| {
        let of_sets = |s: &&Stream| s.owner == ControllerId::ReplicaSet && s.kind == Kind::Pod;
        world.streams().iter().find(of_sets).map(|stream| stream.reflector.version())
    };
    let before = seen(&world);
    run_for(&mut world, 35);
    assert_eq!(seen(&world), before);
    run_for(&mut world, 10);
    assert!(seen(&world) > before);
}

#[test]
fn an_api_server_that_refuses_is_asked_again_and_not_listed_from_anew() {
    let mut world = cluster(Flavour::Level, 3);
    inflict(&mut world, "fault apiserver down for=20s");
    delete_one_pod(&mut world);
    let calls = world.totals().calls;
    run_for(&mut world, 19);
    assert_eq!(world.totals().calls, calls, "watches are tried, and no list");
    run_for(&mut world, 60);
    assert_eq!(world.verdict(), Verdict::Converged);
}

#[test]
fn a_node_that_comes_back_says_itself_that_it_is_ready() {
    let mut world = cluster(Flavour::Level, 3);
    let ready = |world: &World| {
        let key = ObjectKey::new(Kind::Node, "", "node-1");
        let node = world.store().get(&key).unwrap().as_node().unwrap().clone();
        let ready = Condition::find(&node.status.conditions, "Ready").unwrap().clone();
        (ready.status, ready.last_heartbeat_time.unwrap(), node.spec.taints.len())
    };
    inflict(&mut world, "fault node node-1 network=cut");
    run_for(&mut world, 100);
    assert_eq!(ready(&world), (ConditionStatus::Unknown, Timestamp::EPOCH, 2));
    assert_eq!(pods(&world).iter().filter(|p| p.as_pod().unwrap().is_ready()).count(), 2);
    inflict(&mut world, "fault node node-1 network=restored");
    run_for(&mut world, 90);
    let (status, heard, taints) = ready(&world);
    assert_eq!((status, taints), (ConditionStatus::True, 0));
    assert!(heard.to_time() >= Time::from_secs(120), "{heard}");
    assert_eq!(pods(&world).iter().filter(|p| p.as_pod().unwrap().is_ready()).count(), 3);
    let told = world.store().list(Kind::Event).filter_map(|event| event.as_event());
    let reasons: Vec<_> = told.map(|event| event.reason.to_string()).collect();
    assert!(reasons.contains(&"NodeReady".to_string()), "{reasons:?}");
}

#[test]
fn a_healthy_node_writes_its_status_every_five_minutes_and_nobody_is_busy_with_it() {
    let mut world = cluster(Flavour::Level, 3);
    let version = |world: &World| {
        let nodes = world.store().list(Kind::Node);
        nodes.map(|node| node.meta().resource_version).max()
    };
    let (before, passes) = (version(&world), world.totals().passes);
    run_for(&mut world, 320);
    assert!(version(&world) > before);
    assert_eq!((world.totals().passes, world.activity().flying), (passes, 0));
    assert_eq!(world.verdict(), Verdict::Converged);
}

#[test]
fn what_waits_for_a_successor_comes_after_five_seconds_if_there_is_none() {
    for (flavour, most) in [(Flavour::Level, 3), (Flavour::Edge, 3)] {
        let mut world = cluster(flavour, 3);
        inflict(&mut world, "fault reorder to=replicaset kind=Pod type=DELETED");
        delete_one_pod(&mut world);
        run_for(&mut world, 4);
        assert_eq!(pods(&world).len(), 2, "{flavour:?}: nobody has told it yet");
        run_for(&mut world, 20);
        assert_eq!(pods(&world).len(), most, "{flavour:?}");
        assert_eq!(world.verdict(), Verdict::Converged, "{flavour:?}");
    }
}

#[test]
fn what_waits_for_a_successor_comes_after_it() {
    let mut world = cluster(Flavour::Edge, 3);
    inflict(&mut world, "fault reorder to=replicaset kind=Pod type=DELETED");
    delete_one_pod(&mut world);
    run_for(&mut world, 2);
    assert_eq!(pods(&world).len(), 2);
    delete_one_pod(&mut world);
    run_for(&mut world, 2);
    assert_eq!(pods(&world).len(), 3, "both are told");
}

#[test]
fn a_crash_strikes_the_next_pass_and_no_later_life() {
    let mut world = cluster(Flavour::Level, 3);
    inflict(&mut world, "fault crash replicaset point=beforeWrite");
    inflict(&mut world, "fault crash replicaset point=beforeRead");
    delete_one_pod(&mut world);
    run_for(&mut world, 5);
    let is_alive = |world: &World| world.process(ControllerId::ReplicaSet).is_some_and(|p| p.alive);
    assert!(!is_alive(&world), "of two in a row the last counts");
    inflict(&mut world, "fault crash replicaset point=beforeRead");
    inflict(&mut world, "fault restart replicaset");
    run_for(&mut world, 20);
    assert!(is_alive(&world), "the dead are not struck");
    assert_eq!(world.verdict(), Verdict::Converged);
}

#[test]
fn nothing_is_due_any_more_when_a_namespace_is_gone() {
    let kinds = [Kind::Deployment, Kind::ReplicaSet];
    for (flavour, kind) in [Flavour::Level, Flavour::Edge]
        .into_iter()
        .flat_map(|flavour| kinds.map(|kind| (flavour, kind)))
    {
        let told = format!("{flavour:?}, {kind:?}");
        let mut world = World::new(Options { flavour, seed: 3, ..Options::default() });
        let create = |world: &mut World, kind, value| {
            let object = Object::from_value(kind, value).unwrap();
            world.request(&Request::Create(Arc::new(object))).unwrap();
        };
        create(&mut world, Kind::Namespace, json!({"metadata": {"name": "x"}}));
        let mut web = replica_set(3).to_value();
        web["metadata"]["namespace"] = json!("x");
        create(&mut world, kind, web);
        run_for(&mut world, 30);
        assert_eq!(world.verdict(), Verdict::Converged, "{told}");
        let key = ObjectKey::new(Kind::Namespace, "", "x");
        world.request(&Request::Delete(key.clone(), DeleteOptions::default())).unwrap();
        run_for(&mut world, 60);
        assert!(world.store().get(&key).is_none(), "{told}");
        assert_eq!(world.verdict(), Verdict::Converged, "{told}: {:?}", world.next_event_time());
    }
}
