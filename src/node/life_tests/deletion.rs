//! How pods go.

use super::bench::{Bench, states};

#[test]
fn a_deleted_pod_stops_says_how_and_goes() {
    let mut bench = Bench::new("{}");
    bench.bind(Bench::plain());
    bench.run(10.0);
    bench.writes = 0;
    bench.delete(30);
    bench.run(60.0);
    let expected = [(0.0, "ContainerCreating 0/1 0"), (3.0, "Running 1/1 0"), (11.0, "gone")];
    assert_eq!(states(&bench), expected);
    assert_eq!(bench.message_of("Killing"), "Stopping container c");
    // The last status, and the delete.
    assert_eq!(bench.writes, 2);
    assert_eq!(bench.kubelet.running_containers(), 0);
    assert!(bench.kubelet.known_pods().is_empty());
    assert!(bench.agenda.is_empty());
}

#[test]
fn a_container_that_does_not_stop_is_killed_when_the_grace_period_is_over() {
    let mut bench = Bench::new("web:1: {stopsAfter: 100s}");
    bench.bind(Bench::plain());
    bench.run(10.0);
    bench.delete(30);
    bench.run(20.0);
    assert!(bench.pod().is_some());
    // Somebody is in a hurry: a shorter period replaces the longer one.
    bench.delete(5);
    bench.run(60.0);
    assert_eq!(bench.states.last(), Some(&(25.0, "gone".into())));
}

#[test]
fn a_pod_that_never_ran_is_deleted_at_once() {
    let mut bench = Bench::new("web:1: {pull: notFound}");
    bench.bind(Bench::plain());
    bench.run(5.0);
    bench.delete(30);
    bench.run(60.0);
    assert_eq!(bench.states.last(), Some(&(5.0, "gone".into())));
    assert!(bench.kubelet.known_pods().is_empty());
}

#[test]
fn a_pod_deleted_by_force_is_gone_while_its_container_still_stops() {
    let mut bench = Bench::new("web:1: {stopsAfter: 10s}");
    bench.bind(Bench::plain());
    bench.run(10.0);
    bench.vanish(&Bench::key());
    bench.bind(Bench::plain());
    bench.run(12.0);
    // The new one of the same name has nothing to do with the old one.
    assert_eq!(bench.kubelet.running_containers(), 2);
    bench.run(60.0);
    assert_eq!(bench.kubelet.running_containers(), 1);
    let pod = bench.pod().expect("the new one");
    assert_eq!(pod.status.container_statuses[0].restart_count, 0);
    assert!(pod.is_ready());
    assert_eq!(bench.reasons().iter().filter(|r| **r == "Killing").count(), 1);
}
