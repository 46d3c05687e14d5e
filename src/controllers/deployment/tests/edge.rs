//! The edge flavour, in sentences: what it does about what it is told, and what becomes of it
//! when it is not told.

use std::sync::Arc;

use serde_json::json;

use super::super::{Ledger, annotations};
use super::lane::{Act, Flavour, Lane, key, set_image, web};
use super::level::orphan;
use crate::api::{ConditionStatus, Kind, Object};
use crate::apiserver::{Part, Request};
use crate::controllers::{Change, ChangeKind};

fn lane(replicas: i32) -> Lane {
    Lane::with_web(Flavour::Edge, replicas)
}

/// The flavour dies, and comes back to a list of everything.
fn restart_from_a_list(lane: &mut Lane) {
    lane.ledger = Ledger::default();
    lane.inbox.clear();
    let objects: Vec<Arc<Object>> = lane.server.store().all().cloned().collect();
    for object in objects {
        lane.inbox.push_back(Change { kind: ChangeKind::Added, before: None, object });
    }
    lane.settle();
}

#[test]
fn it_makes_rolls_and_tells_like_the_level_flavour() {
    let mut lane = lane(3);
    assert_eq!(lane.progressing(), (ConditionStatus::True, "NewReplicaSetAvailable".to_string()));
    lane.edit(|deployment| set_image(deployment, "web:2"));
    lane.converge();
    assert_eq!((lane.size_of("web:1"), lane.size_of("web:2")), (0, 3));
    assert!(lane.events.iter().any(|event| event.contains("Scaled down replica set web-")));
    assert!(lane.errors.is_empty(), "{:?}", lane.errors);
}

#[test]
fn a_resync_makes_no_difference_and_so_does_nothing() {
    let mut lane = lane(3);
    let revision = lane.server.store().revision();
    let objects: Vec<Arc<Object>> = lane.server.store().all().cloned().collect();
    for object in objects {
        let before = Some(object.clone());
        lane.tell(&Change { kind: ChangeKind::Updated, before, object });
    }
    assert_eq!(lane.server.store().revision(), revision);
}

#[test]
fn it_writes_without_a_version_so_that_nobody_else_can_be_faster() {
    let mut lane = lane(2);
    lane.edit(|deployment| deployment.spec.replicas = Some(4));
    // Meanwhile somebody else annotates both objects.
    let note = json!({"metadata": {"annotations": {"note": "x"}}});
    let set = lane.sets()[0].metadata.name.clone();
    lane.ask(Request::Patch(Part::Main, key(Kind::ReplicaSet, &set), note.clone()));
    lane.ask(Request::Patch(Part::Main, key(Kind::Deployment, "web"), note));
    lane.converge();
    assert!(lane.errors.is_empty(), "{:?}", lane.errors);
    assert_eq!(lane.deployment().status.available_replicas, 4);
    // And it takes nothing back that it was not told of.
    let noted = lane.deployment().metadata.annotations.get("note").cloned();
    assert_eq!(noted.as_deref(), Some("x"));
}

#[test]
fn a_lost_availability_leaves_the_rollout_stuck_for_ever() {
    for (flavour, heals) in [(Flavour::Level, true), (Flavour::Edge, false)] {
        let mut lane = Lane::with_web(flavour, 1);
        lane.edit(|deployment| set_image(deployment, "web:2"));
        lane.settle();
        // The new pod becomes available; nobody hears of it.
        while let Some(act) = lane.acts().into_iter().next() {
            lane.act(&act);
            let available = |set: crate::api::ReplicaSet| set.status.available_replicas == 1;
            if lane.set_of("web:2").is_some_and(available) {
                lane.inbox.clear();
            }
            lane.settle();
        }
        assert_eq!((lane.size_of("web:1"), lane.size_of("web:2")), (1, 1));
        lane.wake();
        lane.converge();
        assert_eq!(lane.size_of("web:1"), if heals { 0 } else { 1 }, "{flavour:?}");
        if !heals {
            // Its numbers stay one short whatever it is told later.
            lane.edit(|deployment| deployment.spec.replicas = Some(2));
            lane.converge();
            assert_ne!(lane.deployment().status.available_replicas, 3);
        }
    }
}

#[test]
fn an_availability_that_is_told_twice_counts_twice() {
    let mut lane = lane(1);
    lane.edit(|deployment| set_image(deployment, "web:2"));
    lane.settle();
    while let Some(act) = lane.acts().into_iter().next() {
        lane.act(&act);
        let twice: Vec<Change> = lane.inbox.iter().cloned().collect();
        lane.settle();
        let is_news = |change: &&Change| {
            let available = |object: &Object| {
                object.as_replica_set().map_or(0, |set| set.status.available_replicas)
            };
            let before = change.before.as_deref().map_or(0, available);
            available(&change.object) > before
        };
        if let Some(change) = twice.iter().find(is_news) {
            lane.tell(change);
        }
    }
    assert_eq!(lane.deployment().status.available_replicas, 2);
    assert_eq!(lane.pods().len(), 1);
}

#[test]
fn a_lost_edit_is_never_made_up_for_by_later_ones() {
    let mut lane = lane(2);
    lane.edit(|deployment| set_image(deployment, "web:2"));
    lane.inbox.clear();
    lane.edit(|deployment| deployment.spec.replicas = Some(3));
    lane.converge();
    assert!(lane.set_of("web:2").is_none());
    assert_eq!(lane.size_of("web:1"), 3);
}

#[test]
fn a_set_deleted_by_somebody_else_is_made_again() {
    let mut lane = lane(2);
    let name = lane.sets()[0].metadata.name.clone();
    lane.delete_set(&name);
    lane.converge();
    assert_eq!(lane.sets().len(), 1);
    assert_eq!(lane.deployment().status.available_replicas, 2);
}

#[test]
fn a_lost_deletion_is_never_noticed() {
    let mut lane = lane(2);
    let name = lane.sets()[0].metadata.name.clone();
    lane.delete_set(&name);
    lane.inbox.clear();
    lane.wake();
    lane.converge();
    assert!(lane.sets().is_empty());
    assert_eq!(lane.deployment().status.available_replicas, 2);
}

#[test]
fn a_size_set_by_somebody_else_is_put_back_and_its_own_is_not_news() {
    let mut lane = lane(3);
    let name = lane.sets()[0].metadata.name.clone();
    let patch = json!({"spec": {"replicas": 7}});
    lane.ask(Request::Patch(Part::Main, key(Kind::ReplicaSet, &name), patch));
    lane.converge();
    assert_eq!(lane.size_of("web:1"), 3);
}

#[test]
fn restarted_from_a_list_it_makes_the_set_again_and_is_told_that_it_is_there() {
    let mut lane = lane(3);
    lane.events.clear();
    restart_from_a_list(&mut lane);
    // Its create was answered with AlreadyExists, which it takes for done; then the list tells it
    // of the set and its numbers, and all is as before.
    assert!(lane.errors.is_empty(), "{:?}", lane.errors);
    assert!(lane.events.is_empty(), "{:?}", lane.events);
    assert_eq!(lane.sets().len(), 1);
    assert_eq!(lane.deployment().status.available_replicas, 3);
    lane.edit(|deployment| set_image(deployment, "web:2"));
    lane.converge();
    assert_eq!((lane.size_of("web:1"), lane.size_of("web:2")), (0, 3));
}

#[test]
fn restarted_from_now_it_begins_with_what_is_stored() {
    let mut lane = lane(3);
    lane.edit(|deployment| set_image(deployment, "web:2"));
    lane.settle();
    lane.ledger = Ledger::default();
    lane.converge();
    assert_eq!((lane.size_of("web:1"), lane.size_of("web:2")), (0, 3));
    let deployment = lane.deployment();
    assert_eq!(deployment.status.available_replicas, 3);
    let revision = deployment.metadata.annotations.get(annotations::REVISION);
    assert_eq!(revision.map(|r| &**r), Some("2"));
}

#[test]
fn what_changes_while_it_is_down_it_never_hears_of() {
    let mut lane = lane(2);
    lane.edit(|deployment| deployment.spec.replicas = Some(4));
    lane.inbox.clear();
    lane.ledger = Ledger::default();
    let pod = lane.pods()[0].metadata.name.clone();
    lane.act(&Act::Gone(pod));
    lane.converge();
    assert_eq!(lane.size_of("web:1"), 2);
    // Nor of a template, unless it is edited again.
    lane.edit(|deployment| set_image(deployment, "web:2"));
    lane.inbox.clear();
    lane.ledger = Ledger::default();
    let pod = lane.pods()[0].metadata.name.clone();
    lane.act(&Act::Gone(pod));
    lane.converge();
    assert!(lane.set_of("web:2").is_none());
    let status = lane.deployment().status;
    assert!(status.observed_generation < lane.deployment().metadata.generation);
    lane.edit(|deployment| set_image(deployment, "web:3"));
    lane.converge();
    assert_eq!((lane.size_of("web:1"), lane.size_of("web:3")), (0, 2));
}

#[test]
fn orphans_are_adopted_whenever_they_come() {
    // One is there before the Deployment, one comes later.
    let mut lane = Lane::new(Flavour::Edge);
    lane.ask(orphan("early", "other:1", 1));
    lane.converge();
    lane.ask(Request::Create(Arc::new(web(2, "web:1").into())));
    lane.converge();
    lane.ask(orphan("late", "other:2", 1));
    lane.converge();
    let uid = lane.deployment().metadata.uid;
    assert_eq!(lane.sets().len(), 3);
    assert!(lane.sets().iter().all(|set| set.metadata.is_controlled_by(&uid)));
    assert_eq!((lane.size_of("other:1"), lane.size_of("other:2")), (0, 0));
    assert_eq!(lane.deployment().status.available_replicas, 2);
}

#[test]
fn the_deadline_has_one_timer_and_needs_no_change() {
    let mut lane = lane(4);
    lane.edit(|deployment| set_image(deployment, "web:broken"));
    lane.converge();
    assert_eq!((lane.size_of("web:1"), lane.size_of("web:broken")), (3, 2));
    let after = lane.requeue_after.take().expect("a timer");
    lane.now += after;
    lane.wake();
    let failed = (ConditionStatus::False, "ProgressDeadlineExceeded".to_string());
    assert_eq!(lane.progressing(), failed);
    assert_eq!(lane.requeue_after, None);
}
