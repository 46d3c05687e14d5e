//! Pods that wait for a node: in which order, for how long, and what is said of that.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::api::{Kind, Object, ObjectKey};
use crate::apiserver::{DeleteOptions, Part, Request};
use crate::kernel::Time;

use super::lab::{PLENTY, inflict, run_for};
use super::record::{Cause, Occurrence, PassRecord};
use super::{ControllerId, Options, Verdict, World};

fn create(world: &mut World, kind: Kind, value: Value) {
    let object = Object::from_value(kind, value).expect("an object");
    world.request(&Request::Create(Arc::new(object))).expect("created");
}

fn pod(name: &str, cpu: &str, priority: &str) -> Value {
    let requests = json!({"requests": {"cpu": cpu}});
    let image = "registry.example/web:1";
    let container = json!({"name": "web", "image": image, "resources": requests});
    json!({
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"containers": [container], "priorityClassName": priority},
    })
}

/// One node of four cores, and two classes.
fn cluster(workers: u16) -> World {
    let mut options = Options { nodes: 1, ..Options::default() };
    options.knobs.entry("scheduler".into()).or_default().workers = workers;
    let mut world = World::new(options);
    for (name, value) in [("high", 1_000), ("low", 1)] {
        create(
            &mut world,
            Kind::PriorityClass,
            json!({"metadata": {"name": name}, "value": value}),
        );
    }
    world
}

/// The scheduler's passes that ended since, in the order in which they began.
fn passes(world: &mut World) -> Vec<Arc<PassRecord>> {
    let records = world.take_records().into_iter();
    let mut passes: Vec<_> = records
        .filter_map(|record| match record.what {
            Occurrence::PassEnded(pass) if pass.controller == ControllerId::Scheduler => Some(pass),
            _ => None,
        })
        .collect();
    passes.sort_by_key(|pass| pass.number);
    passes
}

fn node_of(world: &World, name: &str) -> Option<String> {
    let object = world.store().get(&ObjectKey::new(Kind::Pod, "default", name))?;
    object.as_pod()?.spec.node_name.as_deref().map(str::to_owned)
}

fn delete_now(world: &mut World, name: &str) {
    let key = ObjectKey::new(Kind::Pod, "default", name);
    let options = DeleteOptions { grace_period_seconds: Some(0), ..DeleteOptions::default() };
    world.request(&Request::Delete(key, options)).expect("deleted");
}

#[test]
fn of_the_pods_that_wait_the_highest_priority_is_looked_at_first() {
    let mut world = cluster(1);
    run_for(&mut world, 2);
    passes(&mut world);
    for (number, class) in ["low", "low", "low", "high", "high"].into_iter().enumerate() {
        create(&mut world, Kind::Pod, pod(&format!("pod-{number}"), "100m", class));
    }
    run_for(&mut world, 10);
    let order: Vec<String> =
        passes(&mut world).iter().map(|pass| pass.key.name.to_string()).collect();
    let place = |name: &str| order.iter().position(|own| own == name).expect(name);
    // Whoever's event came first is looked at before the others are there.
    let late = |name: &&str| place(name) > 0;
    for high in ["pod-3", "pod-4"] {
        let before = ["pod-0", "pod-1", "pod-2"].iter().filter(|low| place(low) < place(high));
        assert!(before.filter(|low| late(low)).count() <= 1, "{order:?}");
    }
    assert_eq!(order.len(), 5, "each is looked at once: {order:?}");
}

#[test]
fn a_pod_that_something_may_help_is_looked_at_before_its_back_off_if_nothing_else_waits() {
    let mut world = cluster(1);
    create(&mut world, Kind::Pod, pod("first", "3", "low"));
    run_for(&mut world, 10);
    create(&mut world, Kind::Pod, pod("second", "3", "low"));
    let at = world.now();
    assert!(world.run_until(at + Duration::from_millis(300), PLENTY));
    passes(&mut world);
    delete_now(&mut world, "first");
    assert!(world.run_until(at + Duration::from_millis(700), PLENTY));
    assert!(node_of(&world, "second").is_some(), "the back-off of a second is not waited for");
    let looked = passes(&mut world);
    let woken = &looked.first().expect("a pass").woken_by;
    assert!(matches!(woken, Cause::Watch(..)), "{woken:?}");
}

#[test]
fn a_pod_that_fits_nowhere_is_stuck_and_the_scheduler_tries_it_in_vain_every_five_minutes() {
    let mut world = cluster(5);
    create(&mut world, Kind::Pod, pod("big", "64", "low"));
    run_for(&mut world, 20);
    let Verdict::Stuck { in_vain: Some(first), short } = world.verdict() else {
        panic!("{:?}", world.verdict());
    };
    assert_eq!((first, short.len()), (Time::from_secs(330), 1));
    passes(&mut world);
    assert!(world.run_until(first, PLENTY));
    run_for(&mut world, 1);
    let tried = passes(&mut world);
    assert_eq!(tried.iter().map(|pass| &pass.woken_by).collect::<Vec<_>>(), [&Cause::Timer]);
    let Verdict::Stuck { in_vain: Some(next), .. } = world.verdict() else {
        panic!("{:?}", world.verdict());
    };
    assert_eq!(next, Time::from_secs(660), "the first half minute after five more");
}

#[test]
fn where_the_scheduler_missed_that_there_is_room_its_next_look_is_what_is_waited_for() {
    let mut world = cluster(5);
    create(&mut world, Kind::Pod, pod("first", "3", "low"));
    run_for(&mut world, 10);
    create(&mut world, Kind::Pod, pod("second", "3", "low"));
    run_for(&mut world, 10);
    inflict(&mut world, "fault drop to=scheduler kind=Pod type=DELETED");
    delete_now(&mut world, "first");
    run_for(&mut world, 10);
    let Verdict::Waiting { until, what: "scheduler-flush", .. } = world.verdict() else {
        panic!("{:?}", world.verdict());
    };
    assert_eq!(node_of(&world, "second"), None);
    assert!(world.run_until(until, PLENTY));
    run_for(&mut world, 20);
    assert!(node_of(&world, "second").is_some());
    assert_eq!(world.verdict(), Verdict::Converged);
}

#[test]
fn a_pod_that_is_bound_or_deleted_is_not_tried_again_by_the_timer() {
    let mut world = cluster(5);
    create(&mut world, Kind::Pod, pod("big", "64", "low"));
    create(&mut world, Kind::Pod, pod("small", "1", "low"));
    run_for(&mut world, 20);
    delete_now(&mut world, "big");
    run_for(&mut world, 20);
    passes(&mut world);
    assert_eq!(world.verdict(), Verdict::Converged);
    run_for(&mut world, 900);
    assert_eq!(passes(&mut world), []);
}

#[test]
fn a_pod_that_could_not_be_bound_is_tried_again_after_a_second() {
    let mut world = cluster(5);
    run_for(&mut world, 2);
    inflict(&mut world, "fault fail from=scheduler verb=bind kind=Pod with=internal");
    create(&mut world, Kind::Pod, pod("small", "1", "low"));
    run_for(&mut world, 10);
    let tried = passes(&mut world);
    assert_eq!(tried.len(), 2, "{tried:#?}");
    let pause = tried[1].started.since(tried[0].ended.expect("it ended"));
    assert_eq!(pause, Duration::from_secs(1));
    assert!(node_of(&world, "small").is_some());
}

#[test]
fn a_status_of_a_node_that_says_more_wakes_what_lacked_it() {
    let mut world = cluster(5);
    create(&mut world, Kind::Pod, pod("big", "64", "low"));
    run_for(&mut world, 20);
    let node = world.store().list(Kind::Node).next().expect("a node").key();
    let more = json!({"status": {"allocatable": {"cpu": "96"}}});
    world.request(&Request::Patch(Part::Status, node, more)).expect("patched");
    run_for(&mut world, 1);
    assert!(node_of(&world, "big").is_some(), "{:?}", world.verdict());
}
