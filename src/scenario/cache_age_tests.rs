use std::sync::Arc;

use crate::kernel::Time;
use crate::scenario::{In, Run, Shipped};
use crate::world::{ControllerId, LaneId};

/// How many changes the Deployment loop's cache has not heard of, and how old it is, in whole
/// seconds.
fn age(run: &Run, id: ControllerId) -> (u32, u64) {
    let world = &run.lane(LaneId::Level).expect("a lane").world;
    let unheard = world.unheard_by(id);
    (unheard.changes, (unheard.age(world.now()).as_secs_f64()).round() as u64)
}

fn act(run: &mut Run, line: &str) {
    let answers = run.act(line, None, In::Both).expect("there is room for it");
    assert!(answers.iter().all(|(_, answer)| !answer.error), "{answers:?}");
}

fn to(run: &mut Run, seconds: u64) {
    run.run_until(Time::from_secs(seconds), u64::MAX);
}

/// Five seconds in, after this line and a change of the Deployment that asks for nothing.
fn after(fault: &str) -> Run {
    let scenario = Arc::new(Shipped::default_one().load());
    let mut run = Run::new(scenario, 7, Vec::new());
    to(&mut run, 5);
    act(&mut run, fault);
    act(&mut run, "kubectl label deployment web seen=no");
    run
}

#[test]
fn a_change_that_was_lost_on_the_wire_ages_the_cache_until_the_object_is_heard_of_again() {
    let mut run = after("fault drop to=deployment kind=Deployment type=MODIFIED at=wire");
    to(&mut run, 7);
    assert_eq!(age(&run, ControllerId::Deployment), (1, 2));
    act(&mut run, "kubectl label deployment web seen=yes --overwrite");
    to(&mut run, 8);
    assert_eq!(age(&run, ControllerId::Deployment), (0, 0));
}

#[test]
fn a_broken_watch_ages_the_cache_by_what_it_would_have_told() {
    let mut run = after("fault cut deployment for=5s");
    to(&mut run, 7);
    let (changes, seconds) = age(&run, ControllerId::Deployment);
    assert!(changes >= 1 && seconds == 2, "{changes} changes, {seconds} s");
    to(&mut run, 9);
    let sample = run.samples(LaneId::Level).last().expect("it is measured");
    assert!((3..=4).contains(&sample.stale.as_secs()), "{sample:?}");
    to(&mut run, 20);
    assert_eq!(age(&run, ControllerId::Deployment), (0, 0));
}

#[test]
fn a_cache_that_has_heard_of_all_has_no_age() {
    let mut run = after("kubectl get pods");
    to(&mut run, 9);
    assert_eq!(age(&run, ControllerId::ReplicaSet), (0, 0));
}
