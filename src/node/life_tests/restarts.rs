//! Containers that end, and status writes that fail.

use crate::api::{Object, PodPhase};

use super::bench::{Bench, states};

#[test]
fn a_container_that_crashes_is_restarted_at_once_and_then_ever_later() {
    let mut bench = Bench::new("web:1: {exitsAfter: 3s, exitCode: 1, readyAfter: 0s}");
    bench.bind(Bench::plain());
    bench.run(100.0);
    // The first start, one at once, and then after 10, 20 and 40 s; each runs for 3 s.
    assert_eq!(bench.times_of("Started"), [2.0, 5.0, 18.0, 41.0, 84.0]);
    let expected = [
        (0.0, "ContainerCreating 0/1 0"),
        (2.0, "Running 1/1 0"),
        (5.0, "Running 1/1 1"),
        (8.0, "Error 0/1 1"),
        (9.0, "CrashLoopBackOff 0/1 1"),
        (18.0, "Running 1/1 2"),
        (21.0, "Error 0/1 2"),
        (22.0, "CrashLoopBackOff 0/1 2"),
        (41.0, "Running 1/1 3"),
        (44.0, "Error 0/1 3"),
        (45.0, "CrashLoopBackOff 0/1 3"),
        (84.0, "Running 1/1 4"),
        (87.0, "Error 0/1 4"),
        (88.0, "CrashLoopBackOff 0/1 4"),
    ];
    assert_eq!(states(&bench), expected);
    let text = "Back-off restarting failed container c in pod web_default(uid-0)";
    assert_eq!(bench.message_of("BackOff"), text);
    assert_eq!(bench.pod().expect("a pod").phase(), PodPhase::Running);
}

#[test]
fn a_container_that_ran_for_more_than_ten_minutes_is_restarted_at_once() {
    let mut bench = Bench::new("web:1: {exitsAfter: 601s, exitCode: 1, readyAfter: 0s}");
    bench.bind(Bench::plain());
    bench.run(2000.0);
    assert_eq!(bench.times_of("Started"), [2.0, 603.0, 1204.0, 1805.0]);
    assert!(bench.times_of("BackOff").is_empty());
}

#[test]
fn a_pod_that_is_not_restarted_fails_or_succeeds() {
    for (code, phase, word) in
        [(0, PodPhase::Succeeded, "Completed"), (3, PodPhase::Failed, "Error")]
    {
        let images = format!("web:1: {{exitsAfter: 3s, exitCode: {code}}}");
        let mut bench = Bench::new(&images);
        let mut spec = Bench::plain();
        spec["restartPolicy"] = "Never".into();
        bench.bind(spec);
        bench.run(60.0);
        assert_eq!(bench.pod().expect("a pod").phase(), phase);
        let last = (6.0, format!("{word} 0/1 0"));
        assert_eq!(bench.states.last(), Some(&last));
        assert!(bench.agenda.is_empty());
    }
}

#[test]
fn a_write_that_failed_is_made_again_by_the_next_pass() {
    let mut bench = Bench::new("{}");
    bench.bind(Bench::plain());
    bench.run(2.5);
    bench.is_down = true;
    bench.run(10.0);
    assert!(!bench.pod().expect("a pod").is_ready());
    bench.is_down = false;
    bench.wake(vec![Bench::key()]);
    bench.run(11.0);
    assert!(bench.pod().expect("a pod").is_ready());

    bench.delete(30);
    bench.run(11.5);
    bench.is_down = true;
    bench.run(20.0);
    bench.is_down = false;
    bench.wake(vec![Bench::key()]);
    bench.run(21.0);
    assert!(bench.pod().is_none());
}

#[test]
fn a_foreign_status_write_is_put_right() {
    let mut bench = Bench::new("{}");
    bench.bind(Bench::plain());
    bench.run(10.0);
    let mut object = Object::clone(bench.cache.get(&Bench::key()).expect("a pod"));
    if let Object::Pod(pod) = &mut object {
        for condition in &mut pod.status.conditions {
            condition.status = false.into();
        }
    }
    bench.put(object);
    bench.run(11.0);
    assert!(bench.pod().expect("a pod").is_ready());
}
