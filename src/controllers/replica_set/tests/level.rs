//! What the level-triggered flavour does beyond the cases of Kubernetes' own tests.

use super::lab::{Flavour, Lab, forbidden, orphan, rest, set_key, three, web};
use crate::api::{Kind, Timestamp};
use crate::apiserver::{ApiError, Reason};
use crate::controllers::replica_set::sync;
use crate::controllers::{Context, Deed, Fact};
use std::time::Duration;

fn level() -> Lab {
    three(Flavour::Level)
}

#[test]
fn a_lost_deleted_is_made_good_at_the_next_pass_whatever_wakes_it() {
    let mut lab = level();
    let pod = lab.own().remove(0);
    lab.delete(&pod, true);
    drop(lab.receive(Kind::Pod));
    lab.settle();
    assert_eq!(lab.own().len(), 2, "nothing wakes it");
    lab.resync();
    rest(&mut lab);
    assert_eq!(lab.own().len(), 3);
    assert_eq!(lab.numbers(), (3, 3, 3, Some(0)));
}

#[test]
fn a_doubled_deleted_changes_nothing() {
    let mut lab = level();
    let pod = lab.own().remove(0);
    lab.delete(&pod, true);
    let change = lab.receive(Kind::Pod).expect("the DELETED");
    lab.tell(change.clone());
    lab.tell(change);
    rest(&mut lab);
    assert_eq!(lab.own().len(), 3);
}

#[test]
fn a_pod_that_is_being_deleted_is_replaced_at_once() {
    let mut lab = level();
    let pod = lab.own().remove(0);
    lab.delete(&pod, false);
    lab.settle();
    assert_eq!(lab.own().len(), 3);
    assert_eq!(lab.numbers(), (3, 2, 2, Some(1)));
}

#[test]
fn a_set_that_is_gone_is_nothing_to_do_about() {
    let lab = Lab::new(Flavour::Level);
    let plan = sync(&set_key(), &lab.context());
    assert_eq!((plan.sees, plan.wants), (Fact::Gone, Fact::Gone));
    assert!(plan.batches.is_empty() && plan.finish.is_none());
}

#[test]
fn unkept_promises_hold_back_pods_but_not_the_status() {
    let mut lab = level();
    let pod = lab.own().remove(0);
    lab.delete(&pod, true);
    lab.receive(Kind::Pod);
    let cx = Context { promises_kept: false, ..lab.context() };
    let plan = sync(&set_key(), &cx);
    assert!(plan.batches.is_empty());
    assert!(plan.finish.is_some());
}

#[test]
fn what_it_did_is_told_in_kubernetes_words() {
    let mut lab = level();
    lab.change_set(|set| set.spec.replicas = Some(2));
    rest(&mut lab);
    lab.change_set(|set| set.spec.replicas = Some(3));
    rest(&mut lab);
    let [deleted, created] = &lab.events[..] else {
        panic!("two events: {:?}", lab.events);
    };
    assert!(deleted.starts_with("SuccessfulDelete Deleted pod: web-"), "{deleted}");
    assert!(created.starts_with("SuccessfulCreate Created pod: web-"), "{created}");
}

#[test]
fn a_refused_creation_stands_in_the_status_until_it_succeeds() {
    let mut lab = level();
    lab.refuse = vec![(Deed::CreatePod, forbidden())];
    lab.change_set(|set| set.spec.replicas = Some(5));
    lab.deliver(Kind::ReplicaSet);
    let ended = lab.pass().expect("a pass");
    assert_eq!(ended.error, Some(forbidden().message));
    let failure = lab.set().status.conditions[0].clone();
    assert_eq!(failure.reason.as_deref(), Some("FailedCreate"));
    assert_eq!(failure.message, Some(forbidden().message.into()));
    assert_eq!(failure.last_transition_time, Some(Timestamp::from(lab.now)));
    lab.refuse.clear();
    rest(&mut lab);
    assert!(lab.set().status.conditions.is_empty());
    assert_eq!(lab.own().len(), 5);
}

#[test]
fn a_refused_deletion_is_told_with_its_error_wrapped() {
    let mut lab = level();
    let error = ApiError::new(Reason::InternalError, "etcd is away");
    lab.refuse = vec![(Deed::DeletePod, error)];
    lab.change_set(|set| set.spec.replicas = Some(2));
    lab.deliver(Kind::ReplicaSet);
    lab.pass();
    let failure = lab.set().status.conditions[0].clone();
    assert_eq!(failure.reason.as_deref(), Some("FailedDelete"));
    assert_eq!(failure.message.as_deref(), Some("unable to delete pods: etcd is away"));
    assert_eq!(lab.events, ["FailedDelete Error deleting: etcd is away"]);
}

#[test]
fn a_namespace_that_is_going_is_no_error() {
    let mut lab = level();
    let why = "pods \"web-x\" is forbidden: unable to create new content in namespace default \
               because it is being terminated";
    lab.refuse = vec![(Deed::CreatePod, ApiError::new(Reason::Forbidden, why))];
    lab.change_set(|set| set.spec.replicas = Some(4));
    lab.deliver(Kind::ReplicaSet);
    assert_eq!(lab.pass().and_then(|ended| ended.error), None);
    assert!(lab.events.is_empty());
    assert!(lab.set().status.conditions.is_empty());
}

#[test]
fn a_failed_adoption_writes_no_status() {
    let mut lab = level();
    lab.create(orphan("web"));
    lab.refuse = vec![(Deed::Adopt, forbidden())];
    while lab.deliver(Kind::Pod) {}
    let before = lab.set().status.clone();
    let ended = lab.pass().expect("a pass");
    assert!(ended.error.is_some());
    assert_eq!(lab.set().status, before);
    assert!(lab.deeds.iter().all(|deed| *deed == Deed::Read), "{:?}", lab.deeds);
}

#[test]
fn a_pod_that_cannot_be_given_up_keeps_no_orphan_from_being_adopted() {
    let mut lab = level();
    let pod = lab.own().remove(0);
    lab.change_pod(&pod, |pod| {
        pod.metadata.labels.insert("app".into(), "other".into());
    });
    lab.create(orphan("web"));
    lab.refuse = vec![(Deed::Release, forbidden())];
    while lab.deliver(Kind::Pod) {}
    let ended = lab.pass().expect("a pass");
    assert_eq!(ended.error, Some(forbidden().message));
    assert_eq!((lab.count(Deed::Adopt), lab.count(Deed::CreatePod)), (1, 0));
}

#[test]
fn it_looks_again_when_the_next_pod_becomes_available() {
    let mut lab = Lab::new(Flavour::Level);
    lab.create(web(1));
    lab.change_set(|set| set.spec.min_ready_seconds = 10);
    rest(&mut lab);
    lab.now += Duration::from_millis(4_500);
    let plan = sync(&set_key(), &lab.context());
    assert_eq!(plan.requeue_after, Some(Duration::from_millis(5_500)));
}

#[test]
fn a_billion_replicas_are_five_hundred_a_pass() {
    let mut lab = Lab::new(Flavour::Level);
    lab.create(web(1_000_000_000));
    lab.deliver(Kind::ReplicaSet);
    assert_eq!(sync(&set_key(), &lab.context()).writes().count(), 500);
}

#[test]
fn a_status_that_can_neither_be_written_nor_read_again_fails_the_pass() {
    let mut lab = level();
    let pod = lab.own().remove(0);
    lab.delete(&pod, false);
    lab.refuse = vec![(Deed::Status, forbidden())];
    lab.deliver(Kind::Pod);
    let ended = lab.pass().expect("a pass");
    assert_eq!(ended.error, Some(forbidden().message));
}
