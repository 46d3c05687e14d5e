//! What the edge-triggered flavour does with what it is told, and what it cannot do.

use super::lab::{Flavour, Lab, forbidden, make_ready, orphan, rest, set_key, three, web};
use crate::api::{Kind, ObjectKey, PodPhase};
use crate::controllers::replica_set::{Ledger, on_change, on_resume};
use crate::controllers::{Change, ChangeKind, Deed, Fact, Plan, Step};

fn edge() -> Lab {
    three(Flavour::Edge)
}

/// Deletes a pod by force and takes the DELETED from the wire.
fn deleted(lab: &mut Lab) -> Change {
    let pod = lab.pods(|_| true).remove(0);
    lab.delete(&pod, true);
    lab.receive(Kind::Pod).expect("the DELETED")
}

fn decide(lab: &mut Lab, change: &Change) -> Plan {
    let mut ledger = std::mem::take(&mut lab.ledger);
    let plan = on_change(change, &lab.context(), &mut ledger);
    lab.ledger = ledger;
    plan
}

/// The controller starts again, with an empty ledger and nothing queued.
fn restart(lab: &mut Lab) {
    lab.ledger = Ledger::default();
    lab.changes.clear();
    lab.timers.clear();
}

#[test]
fn a_deleted_pod_is_answered_by_one_new_pod() {
    let mut lab = edge();
    let change = deleted(&mut lab);
    let plan = decide(&mut lab, &change);
    assert_eq!(
        (plan.sees.clone(), plan.wants.clone()),
        (Fact::Word("DELETED".into()), Fact::Count(3))
    );
    lab.run(set_key(), plan);
    rest(&mut lab);
    assert_eq!(lab.own().len(), 3);
    assert_eq!(lab.numbers(), (3, 3, 3, Some(0)));
}

#[test]
fn a_lost_deleted_leaves_it_one_pod_short_for_ever() {
    let mut lab = edge();
    drop(deleted(&mut lab));
    rest(&mut lab);
    lab.resync();
    rest(&mut lab);
    assert_eq!(lab.own().len(), 2);
    assert_eq!(lab.numbers().0, 3, "and its status still says three");
    let change = deleted(&mut lab);
    lab.tell(change);
    rest(&mut lab);
    assert_eq!(lab.own().len(), 2, "the next one is made up for, the lost one is not");
}

#[test]
fn a_doubled_deleted_makes_two_pods_and_the_surplus_stays() {
    let mut lab = edge();
    let change = deleted(&mut lab);
    lab.tell(change.clone());
    lab.tell(change);
    rest(&mut lab);
    assert_eq!(lab.own().len(), 4);
    let change = deleted(&mut lab);
    lab.tell(change);
    rest(&mut lab);
    assert_eq!(lab.own().len(), 4);
}

#[test]
fn a_doubled_change_of_replicas_is_made_twice() {
    let mut lab = edge();
    lab.change_set(|set| set.spec.replicas = Some(5));
    let change = lab.receive(Kind::ReplicaSet).expect("the MODIFIED");
    lab.tell(change.clone());
    lab.tell(change);
    rest(&mut lab);
    assert_eq!(lab.own().len(), 7);
}

#[test]
fn its_own_deletions_are_not_answered() {
    let mut lab = edge();
    lab.change_set(|set| set.spec.replicas = Some(1));
    rest(&mut lab);
    assert_eq!(lab.own().len(), 1);
    assert_eq!(lab.count(Deed::DeletePod), 2);
    assert_eq!(lab.count(Deed::CreatePod), 0);
    assert_eq!(lab.numbers(), (1, 1, 1, Some(0)));
}

#[test]
fn a_graceful_deletion_is_answered_when_the_pod_is_gone_and_not_before() {
    let mut lab = edge();
    let pod = lab.own().remove(0);
    lab.delete(&pod, false);
    lab.settle();
    assert_eq!(lab.count(Deed::CreatePod), 0);
    assert_eq!(lab.numbers(), (2, 2, 2, Some(1)), "the status follows at once");
    lab.change_pod(&pod, |pod| pod.status.phase = Some(PodPhase::Succeeded));
    lab.settle();
    assert_eq!(lab.count(Deed::CreatePod), 0);
    rest(&mut lab);
    assert_eq!(lab.count(Deed::CreatePod), 1);
    assert_eq!(lab.own().len(), 3);
}

#[test]
fn a_failed_pod_is_answered_once_in_its_life() {
    let mut lab = edge();
    let pod = lab.own().remove(0);
    lab.change_pod(&pod, |pod| pod.status.phase = Some(PodPhase::Failed));
    rest(&mut lab);
    assert_eq!(lab.count(Deed::CreatePod), 1);
    lab.delete(&pod, true);
    rest(&mut lab);
    assert_eq!(lab.count(Deed::CreatePod), 1);
    assert_eq!(lab.own().len(), 3);
}

#[test]
fn nothing_is_made_for_a_set_that_is_being_deleted_or_gone() {
    let mut lab = edge();
    lab.change_set(|set| set.metadata.deletion_timestamp = Some(Default::default()));
    rest(&mut lab);
    let change = deleted(&mut lab);
    lab.tell(change);
    rest(&mut lab);
    lab.remove(&set_key());
    lab.settle();
    let change = deleted(&mut lab);
    lab.tell(change);
    rest(&mut lab);
    assert_eq!(lab.pods(|_| true).len(), 1);
    assert_eq!(lab.count(Deed::CreatePod), 0);
}

#[test]
fn an_orphan_is_adopted_and_one_pod_too_many_deleted() {
    let mut lab = edge();
    lab.create(orphan("web"));
    rest(&mut lab);
    assert_eq!(lab.count(Deed::Adopt), 1);
    assert_eq!(lab.count(Deed::DeletePod), 1);
    assert_eq!(lab.own().len(), 3);
    assert_eq!(lab.numbers(), (3, 3, 3, Some(0)));
}

#[test]
fn orphans_that_were_there_first_are_taken_before_pods_are_made() {
    let mut lab = Lab::new(Flavour::Edge);
    for _ in 0..2 {
        lab.create(orphan("web"));
    }
    lab.create(orphan("other"));
    lab.settle();
    lab.create(web(3));
    rest(&mut lab);
    assert_eq!((lab.count(Deed::Adopt), lab.count(Deed::CreatePod)), (2, 1));
    assert_eq!(lab.own().len(), 3);
}

#[test]
fn a_pod_that_stops_matching_is_given_up_and_made_up_for() {
    let mut lab = edge();
    let pod = lab.own().remove(0);
    lab.change_pod(&pod, |pod| {
        pod.metadata.labels.insert("app".into(), "other".into());
    });
    rest(&mut lab);
    assert_eq!((lab.count(Deed::Release), lab.count(Deed::CreatePod)), (1, 1));
    assert_eq!(lab.own().len(), 3);
    assert!(lab.store[&pod].meta().owner_references.is_empty());
}

#[test]
fn a_resync_tells_it_nothing() {
    let mut lab = edge();
    let lost = lab.own().remove(0);
    lab.delete(&lost, true);
    lab.receive(Kind::Pod);
    lab.resync();
    while let Some(change) = lab.changes.pop_front() {
        let plan = decide(&mut lab, &change);
        assert!(plan.batches.is_empty() && plan.finish.is_none(), "{change:?}");
    }
}

#[test]
fn a_restart_from_a_list_makes_everything_twice() {
    let mut lab = edge();
    restart(&mut lab);
    for kind in [Kind::Pod, Kind::ReplicaSet] {
        let known: Vec<_> = lab.cache.all(kind).cloned().collect();
        for object in known {
            let kind = ChangeKind::Added;
            lab.tell(Change { kind, before: None, object });
        }
    }
    rest(&mut lab);
    assert_eq!(lab.own().len(), 6);
    assert_eq!(lab.numbers().0, 6, "and it knows of all of them");
}

#[test]
fn a_restart_from_now_believes_the_stored_status_and_goes_on() {
    let mut lab = edge();
    restart(&mut lab);
    let change = deleted(&mut lab);
    lab.tell(change);
    rest(&mut lab);
    assert_eq!(lab.own().len(), 3);
    assert_eq!(lab.numbers(), (3, 3, 3, Some(0)));
}

#[test]
fn what_happens_while_it_is_down_is_never_made_good() {
    let mut lab = edge();
    drop(deleted(&mut lab));
    restart(&mut lab);
    lab.change_set(|set| set.spec.replicas = Some(4));
    rest(&mut lab);
    assert_eq!(lab.own().len(), 3, "one more than two, though four are wanted");
}

#[test]
fn deletions_that_it_asked_for_before_a_restart_are_answered_after_it() {
    let mut lab = edge();
    lab.change_set(|set| set.spec.replicas = Some(1));
    while lab.changes.is_empty() {
        lab.deliver(Kind::ReplicaSet);
    }
    lab.pass();
    restart(&mut lab);
    rest(&mut lab);
    assert_eq!(lab.own().len(), 3, "it has forgotten that the deletions were its own");
}

#[test]
fn a_scale_down_before_the_pods_were_seen_waits_for_them() {
    let mut lab = Lab::new(Flavour::Edge);
    lab.create(web(3));
    lab.deliver(Kind::ReplicaSet);
    lab.pass();
    lab.change_set(|set| set.spec.replicas = Some(1));
    while lab.deliver(Kind::ReplicaSet) {}
    while lab.pass().is_some() {}
    assert_eq!(lab.count(Deed::DeletePod), 0, "no pod is in its cache yet");
    rest(&mut lab);
    assert_eq!(lab.own().len(), 1);
    assert_eq!(lab.numbers(), (1, 1, 1, Some(0)));
}

#[test]
fn more_than_one_plan_can_carry_is_made_bit_by_bit() {
    let mut lab = Lab::new(Flavour::Edge);
    lab.create(web(1_200));
    lab.deliver(Kind::ReplicaSet);
    lab.pass();
    assert_eq!(lab.count(Deed::CreatePod), 500);
    lab.settle();
    assert_eq!(lab.own().len(), 1_200);
    lab.change_set(|set| set.spec.replicas = Some(0));
    rest(&mut lab);
    assert_eq!(lab.own().len(), 0);
}

#[test]
fn a_billion_replicas_are_a_debt_and_not_a_list() {
    let mut lab = Lab::new(Flavour::Edge);
    lab.create(web(1_000_000_000));
    let change = lab.receive(Kind::ReplicaSet).expect("the ADDED");
    let plan = decide(&mut lab, &change);
    assert_eq!(plan.writes().count(), 500);
}

#[test]
fn its_status_write_asks_for_no_version_and_says_what_it_wrote_before() {
    let mut lab = edge();
    let pod = lab.own().remove(0);
    let now = lab.now;
    lab.change_pod(&pod, |pod| make_ready(pod, false, now));
    let unready = lab.receive(Kind::Pod).expect("a change");
    let plan = decide(&mut lab, &unready);
    let finish = plan.finish.clone().expect("a status");
    assert_eq!(finish.after.meta().resource_version, 0);
    lab.run(set_key(), plan);
    assert_eq!(lab.numbers().1, 2);
    // The cache does not show that write yet, and the pod is ready again.
    lab.change_pod(&pod, |pod| make_ready(pod, true, now));
    let ready = lab.receive(Kind::Pod).expect("a change");
    let plan = decide(&mut lab, &ready);
    lab.run(set_key(), plan);
    assert_eq!(lab.numbers().1, 3);
}

#[test]
fn a_plan_tried_again_writes_the_present_status_and_not_its_old_one() {
    let mut lab = edge();
    let pods = lab.own();
    let now = lab.now;
    let unready = |lab: &mut Lab, index: usize| {
        lab.change_pod(&pods[index], |pod| make_ready(pod, false, now));
        let change = lab.receive(Kind::Pod).expect("a change");
        decide(lab, &change)
    };
    let first = unready(&mut lab, 0);
    lab.refuse = vec![(Deed::Status, forbidden())];
    assert!(lab.run(set_key(), first.clone()).error.is_some());
    lab.refuse.clear();
    let second = unready(&mut lab, 1);
    lab.run(set_key(), second);
    assert_eq!(lab.numbers().1, 1);
    let mut ledger = std::mem::take(&mut lab.ledger);
    let again = on_resume(&set_key(), first, &lab.context(), &mut ledger);
    lab.ledger = ledger;
    lab.run(set_key(), again);
    assert_eq!(lab.numbers().1, 1);
}

#[test]
fn a_refused_creation_is_told_and_stands_in_the_status_until_it_succeeds() {
    let mut lab = edge();
    lab.refuse = vec![(Deed::CreatePod, forbidden())];
    lab.change_set(|set| set.spec.replicas = Some(5));
    let change = lab.receive(Kind::ReplicaSet).expect("the MODIFIED");
    let plan = decide(&mut lab, &change);
    let ended = lab.run(set_key(), plan.clone());
    assert_eq!(ended.error, Some(forbidden().message));
    assert_eq!(lab.events, [format!("FailedCreate Error creating: {}", forbidden().message)]);
    let conditions = lab.set().status.conditions.clone();
    assert_eq!(conditions[0].reason.as_deref(), Some("FailedCreate"));
    // The runtime tries the same requests again.
    lab.refuse.clear();
    lab.run(set_key(), plan);
    rest(&mut lab);
    assert!(lab.set().status.conditions.is_empty());
    assert_eq!(lab.own().len(), 5);
}

#[test]
fn another_set_of_the_same_name_is_a_new_set() {
    let mut lab = edge();
    lab.remove(&set_key());
    lab.create(web(2));
    let gone = lab.receive(Kind::ReplicaSet).expect("the DELETED");
    let come = lab.receive(Kind::ReplicaSet).expect("the ADDED");
    // As a relist tells it that saw only the outcome.
    let told = Change { kind: ChangeKind::Updated, before: Some(gone.object), object: come.object };
    let plan = decide(&mut lab, &told);
    let made = plan.writes().filter(|(deed, _)| *deed == Deed::CreatePod);
    assert_eq!(made.count(), 2);
}

#[test]
fn a_pod_handed_from_one_set_to_another_writes_both_statuses() {
    let mut lab = edge();
    let mut other = web(1);
    other.meta_mut().name = "other".into();
    if let crate::api::Object::ReplicaSet(set) = &mut other {
        let app: crate::api::StrMap = [("app".into(), "other".into())].into();
        set.spec.selector.match_labels = app.clone();
        set.spec.template.metadata.labels = app;
    }
    let other = lab.create(other);
    rest(&mut lab);
    let pod = lab.own().remove(0);
    lab.change_pod(&pod, |pod| {
        pod.metadata.labels.insert("app".into(), "other".into());
        let owner = &mut pod.metadata.owner_references[0];
        (owner.name, owner.uid) = ("other".into(), other.meta().uid.clone());
    });
    let change = lab.receive(Kind::Pod).expect("the MODIFIED");
    let plan = decide(&mut lab, &change);
    lab.run(set_key(), plan);
    rest(&mut lab);
    assert_eq!(lab.numbers(), (3, 3, 3, Some(0)));
    let key = ObjectKey::new(Kind::ReplicaSet, "default", "other");
    let status = &lab.store[&key].as_replica_set().expect("a set").status;
    assert_eq!((status.replicas, status.ready_replicas), (1, 1));
}

#[test]
fn a_pass_that_is_cut_short_has_sent_only_its_first_batches() {
    let mut lab = edge();
    lab.change_set(|set| set.spec.replicas = Some(10));
    let change = lab.receive(Kind::ReplicaSet).expect("the MODIFIED");
    let plan = decide(&mut lab, &change);
    let sizes: Vec<usize> = plan.batches.iter().map(Vec::len).collect();
    assert_eq!(sizes, [1, 2, 4]);
    let mut run = crate::controllers::PassRun::new(plan);
    assert!(matches!(run.next(lab.now), Step::Send(first) if first.len() == 1));
}
