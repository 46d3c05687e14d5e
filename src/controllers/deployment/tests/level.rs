//! The level flavour, in sentences.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::super::{Ledger, annotations, on_change, sync, template_hash};
use super::lane::{Act, Flavour, Lane, key, set_image, web};
use crate::api::{Condition, ConditionStatus, Kind, LabelSelector, Object, ReplicaSet};
use crate::apiserver::{ApiError, DeleteOptions, Part, Propagation, Reason, Request};
use crate::client::Cache;
use crate::controllers::{Change, ChangeKind, Context};
use crate::kernel::Time;

fn lane(replicas: i32) -> Lane {
    Lane::with_web(Flavour::Level, replicas)
}

/// A set that nobody controls, with the label that `web` selects.
pub fn orphan(name: &str, image: &str, replicas: i32) -> Request {
    let value = json!({
        "metadata": {"name": name, "namespace": "default", "labels": {"app": "web"}},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "web", "image": image}]},
            },
        },
    });
    let set: ReplicaSet = serde_json::from_value(value).unwrap();
    Request::Create(Arc::new(set.into()))
}

#[test]
fn a_new_deployment_gets_a_set_named_by_its_template_and_tells_of_it() {
    let lane = lane(3);
    let [set] = &lane.sets()[..] else {
        panic!("one set");
    };
    let deployment = lane.deployment();
    let hash = template_hash::hash(&deployment.spec.template, None);
    assert_eq!(&*set.metadata.name, format!("web-{hash}"));
    let label = set.spec.template.metadata.labels.get("pod-template-hash");
    assert_eq!(label.map(|l| &**l), Some(&*hash));
    assert!(set.metadata.is_controlled_by(&deployment.metadata.uid));
    let text = format!("ScalingReplicaSet: Scaled up replica set web-{hash} from 0 to 3");
    assert_eq!(lane.events, [text]);
    let revision = deployment.metadata.annotations.get(annotations::REVISION);
    assert_eq!(revision.map(|r| &**r), Some("1"));
    assert_eq!(deployment.status.available_replicas, 3);
    let progressing = (ConditionStatus::True, "NewReplicaSetAvailable".to_string());
    assert_eq!(lane.progressing(), progressing);
    assert!(lane.errors.is_empty(), "{:?}", lane.errors);
}

#[test]
fn a_rolling_update_never_has_fewer_available_or_more_pods_than_it_may() {
    let mut lane = lane(4);
    lane.edit(|deployment| set_image(deployment, "web:2"));
    lane.settle();
    while let Some(act) = lane.acts().into_iter().next_back() {
        lane.act(&act);
        lane.settle();
        let active = lane.pods().into_iter().filter(|pod| !pod.metadata.is_terminating());
        let (ready, all) =
            active.fold((0, 0), |(ready, all), pod| (ready + i32::from(pod.is_ready()), all + 1));
        assert!(ready >= 3 && all <= 5, "{ready} ready of {all}");
    }
    assert_eq!((lane.size_of("web:1"), lane.size_of("web:2")), (0, 4));
}

#[test]
fn a_broken_image_stops_the_rollout_before_it_takes_too_much() {
    let mut lane = lane(4);
    lane.edit(|deployment| set_image(deployment, "web:broken"));
    lane.converge();
    assert_eq!((lane.size_of("web:1"), lane.size_of("web:broken")), (3, 2));
    assert_eq!(lane.progressing().1, "ReplicaSetUpdated");
    // Nothing moves: when the deadline has passed, the Deployment says so.
    let after = lane.requeue_after.expect("a look at the deadline");
    assert_eq!(after, Duration::from_secs(601));
    lane.now += after;
    lane.wake();
    let failed = (ConditionStatus::False, "ProgressDeadlineExceeded".to_string());
    assert_eq!(lane.progressing(), failed);
    // Going back is still possible.
    lane.edit(|deployment| set_image(deployment, "web:1"));
    lane.converge();
    assert_eq!((lane.size_of("web:1"), lane.size_of("web:broken")), (4, 0));
    assert_eq!(lane.progressing().1, "NewReplicaSetAvailable");
}

#[test]
fn going_back_takes_the_old_set_and_gives_it_the_next_revision() {
    let mut lane = lane(2);
    for image in ["web:2", "web:1"] {
        lane.edit(|deployment| set_image(deployment, image));
        lane.converge();
    }
    assert_eq!(lane.sets().len(), 2);
    let set = lane.set_of("web:1").expect("the first set");
    let says = |name: &str| set.metadata.annotations.get(name).map(|v| v.to_string());
    assert_eq!(says(annotations::REVISION).as_deref(), Some("3"));
    assert_eq!(says(annotations::REVISION_HISTORY).as_deref(), Some("1"));
}

#[test]
fn recreate_waits_until_the_last_old_pod_is_gone() {
    let mut lane = lane(2);
    lane.edit(|deployment| {
        deployment.spec.strategy = serde_json::from_value(json!({"type": "Recreate"})).unwrap();
        set_image(deployment, "web:2");
    });
    loop {
        lane.settle();
        let old = lane.set_of("web:1").expect("the old set").metadata.uid;
        let old_pods = lane.pods().iter().filter(|p| p.metadata.is_controlled_by(&old)).count();
        assert!(old_pods == 0 || lane.set_of("web:2").is_none());
        let Some(act) = lane.acts().into_iter().next() else {
            break;
        };
        lane.act(&act);
    }
    assert_eq!((lane.size_of("web:1"), lane.size_of("web:2")), (0, 2));
}

#[test]
fn a_paused_deployment_scales_but_does_not_roll() {
    let mut lane = lane(2);
    lane.edit(|deployment| {
        deployment.spec.paused = true;
        deployment.spec.replicas = Some(5);
        set_image(deployment, "web:2");
    });
    lane.converge();
    assert_eq!((lane.size_of("web:1"), lane.set_of("web:2").is_none()), (5, true));
    assert_eq!(lane.progressing(), (ConditionStatus::Unknown, "DeploymentPaused".to_string()));
    lane.edit(|deployment| deployment.spec.paused = false);
    lane.converge();
    assert_eq!((lane.size_of("web:1"), lane.size_of("web:2")), (0, 5));
}

#[test]
fn without_history_old_sets_go_when_the_rollout_is_done() {
    let mut lane = lane(2);
    lane.edit(|deployment| {
        deployment.spec.revision_history_limit = Some(0);
        set_image(deployment, "web:2");
    });
    lane.converge();
    assert_eq!(lane.sets().len(), 1);
}

#[test]
fn an_orphan_is_adopted_as_an_old_set_and_released_when_its_label_goes() {
    let mut lane = lane(2);
    lane.ask(orphan("alone", "other:1", 3));
    lane.converge();
    let alone = || key(Kind::ReplicaSet, "alone");
    let stored = |lane: &Lane| {
        let object = lane.server.store().get(&alone()).cloned();
        object.and_then(|o| o.as_replica_set().cloned()).expect("the set")
    };
    let uid = lane.deployment().metadata.uid;
    assert!(stored(&lane).metadata.is_controlled_by(&uid));
    assert_eq!(stored(&lane).spec.replicas(), 0);
    let patch = json!({"metadata": {"labels": {"app": "alone"}}});
    lane.ask(Request::Patch(Part::Main, alone(), patch));
    lane.converge();
    assert!(stored(&lane).metadata.owner_references.is_empty());
}

#[test]
fn a_clash_of_names_is_counted_and_gets_round() {
    let mut lane = Lane::new(Flavour::Level);
    let name = self::lane(2).sets()[0].metadata.name.clone();
    let Request::Create(object) = orphan(&name, "other:1", 0) else {
        unreachable!();
    };
    let mut foreign = Object::clone(&object);
    foreign.meta_mut().labels.clear();
    lane.ask(Request::Create(Arc::new(foreign)));
    lane.ask(Request::Create(Arc::new(web(2, "web:1").into())));
    lane.converge();
    assert_eq!(lane.deployment().status.collision_count, Some(1));
    assert_eq!(lane.deployment().status.available_replicas, 2);
    assert!(!lane.events.iter().any(|event| event.contains("Failed")));
}

#[test]
fn a_set_that_cannot_be_made_is_told_in_status_and_event() {
    let mut lane = Lane::new(Flavour::Level);
    lane.refuse = |request| {
        let is_create = matches!(request, Request::Create(_));
        is_create.then(|| ApiError::new(Reason::Forbidden, "no room"))
    };
    lane.ask(Request::Create(Arc::new(web(1, "web:1").into())));
    let change = lane.inbox.pop_front().expect("the Deployment");
    lane.tell(&change);
    lane.pass_once();
    let status = lane.deployment().status;
    let condition = Condition::find(&status.conditions, "Progressing").expect("Progressing");
    assert_eq!(condition.status, ConditionStatus::False);
    assert_eq!(condition.reason.as_deref(), Some("ReplicaSetCreateError"));
    let hash = template_hash::hash(&lane.deployment().spec.template, None);
    let text = format!("Failed to create new replica set \"web-{hash}\": no room");
    assert_eq!(condition.message.as_deref(), Some(&*text));
    assert_eq!(lane.events, [format!("ReplicaSetCreateError: {text}")]);
    assert_eq!(lane.errors, ["no room"]);
}

#[test]
fn a_dying_deployment_writes_its_status_and_nothing_else() {
    let mut lane = lane(2);
    let options =
        DeleteOptions { propagation: Some(Propagation::Foreground), ..DeleteOptions::default() };
    lane.ask(Request::Delete(key(Kind::Deployment, "web"), options));
    lane.settle();
    let pod = lane.pods()[0].metadata.name.clone();
    lane.act(&Act::Gone(pod));
    lane.converge();
    let set = lane.sets()[0].clone();
    lane.delete_set(&set.metadata.name);
    lane.settle();
    assert!(lane.sets().is_empty());
    assert_eq!(lane.deployment().status.replicas, 0);
}

#[test]
fn nothing_is_written_when_nothing_has_changed() {
    let mut lane = lane(3);
    let revision = lane.server.store().revision();
    for _ in 0..3 {
        lane.wake();
    }
    assert_eq!(lane.server.store().revision(), revision);
}

#[test]
fn without_any_defaults_nothing_breaks() {
    let mut bare = web(1, "web:1");
    bare.metadata.uid = "1".into();
    let spec = &mut bare.spec;
    (spec.replicas, spec.revision_history_limit) = (None, None);
    spec.progress_deadline_seconds = None;
    spec.strategy = Default::default();
    for selector in [bare.spec.selector.clone(), LabelSelector::default()] {
        let is_empty = selector.is_empty();
        bare.spec.selector = selector;
        let cache = Cache::of([bare.clone().into()]);
        let cx = Context { cache: &cache, now: Time::ZERO, seed: 1, promises_kept: true };
        let object = Arc::new(Object::from(bare.clone()));
        let change = Change { kind: ChangeKind::Added, before: None, object };
        let level = sync(&change.key(), &cx);
        let edge = on_change(&change, &cx, &mut Ledger::default());
        for plan in [level, edge] {
            assert_eq!(plan.batches.is_empty(), is_empty);
            assert_eq!(plan.error, None);
        }
    }
}

#[test]
fn a_billion_replicas_overflow_nothing() {
    for flavour in [Flavour::Level, Flavour::Edge] {
        let mut lane = Lane::with_web(flavour, 2);
        lane.edit(|deployment| {
            deployment.spec.replicas = Some(i32::MAX);
            set_image(deployment, "web:2");
        });
        lane.settle();
        lane.edit(|deployment| deployment.spec.replicas = Some(1_000_000_000));
        lane.settle();
        assert!(lane.size_of("web:2") > 0);
    }
}
