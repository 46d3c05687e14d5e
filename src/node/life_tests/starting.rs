//! From bind to Ready, and what can be in the way of it.

use serde_json::json;

use crate::api::{Object, PodPhase};
use crate::node::Images;

use super::bench::{Bench, states};

#[test]
fn a_pod_that_was_bound_is_ready_three_seconds_later() {
    let mut bench = Bench::new("{}");
    bench.bind(Bench::plain());
    bench.run(600.0);
    let expected = [(0.0, "ContainerCreating 0/1 0"), (3.0, "Running 1/1 0")];
    assert_eq!(states(&bench), expected);
    assert_eq!(bench.reasons(), ["Pulling", "Pulled", "Created", "Started"]);
    assert_eq!((bench.passes, bench.writes), (3, 2));
    let pulled = bench.message_of("Pulled");
    assert!(pulled.starts_with("Successfully pulled image \"web:1\" in 2s (2s including waiting)"));
    let pod = bench.pod().expect("it is there");
    assert!(pod.is_ready());
    assert_eq!(pod.phase(), PodPhase::Running);
    assert_eq!(pod.status.qos_class.as_deref(), Some("BestEffort"));
    assert_eq!(pod.status.pod_ip.as_deref(), Some("10.244.1.2"));
    assert!(bench.agenda.is_empty(), "nothing is due that could change it");
}

#[test]
fn a_second_pod_finds_the_image_there() {
    let mut bench = Bench::new("{}");
    bench.bind(Bench::plain());
    bench.run(10.0);
    bench.vanish(&Bench::key());
    bench.bind(Bench::plain());
    bench.run(20.0);
    let text =
        "Container image \"web:1\" already present on machine and can be accessed by the pod";
    assert_eq!(bench.message_of("Pulled"), text);
    assert_eq!(bench.states.last(), Some(&(11.0, "Running 1/1 0".into())));
    assert_eq!(bench.kubelet.running_containers(), 1);
}

#[test]
fn an_image_that_is_not_found_is_tried_again_ever_later() {
    let mut bench = Bench::new("web:1: {pull: notFound}");
    bench.bind(Bench::plain());
    bench.run(90.0);
    assert_eq!(
        states(&bench),
        [
            (0.0, "ContainerCreating 0/1 0"),
            (1.0, "ErrImagePull 0/1 0"),
            (2.0, "ImagePullBackOff 0/1 0"),
            (12.0, "ErrImagePull 0/1 0"),
            (13.0, "ImagePullBackOff 0/1 0"),
            (33.0, "ErrImagePull 0/1 0"),
            (34.0, "ImagePullBackOff 0/1 0"),
            (74.0, "ErrImagePull 0/1 0"),
            (75.0, "ImagePullBackOff 0/1 0"),
        ]
    );
    assert_eq!(bench.times_of("Pulling"), [0.0, 11.0, 32.0, 73.0]);
    assert_eq!(bench.message_of("BackOff"), "Back-off pulling image \"web:1\"");
    assert_eq!(bench.pod().expect("a pod").phase(), PodPhase::Pending);
    let logs = bench.kubelet.logs(&Bench::key(), None, false);
    let waits =
        "container \"c\" in pod \"web\" is waiting to start: trying and failing to pull image";
    assert_eq!(logs, Err(waits.into()));
}

#[test]
fn an_image_that_appears_is_found_by_the_next_try() {
    let mut bench = Bench::new("web:1: {pull: unreachable}");
    bench.bind(Bench::plain());
    bench.run(8.0);
    bench.images = Images::default();
    bench.run(60.0);
    let running = (18.0, "Running 1/1 0".to_string());
    assert_eq!(bench.states.last(), Some(&running));
}

#[test]
fn init_containers_run_one_after_the_other_and_sidecars_go_on() {
    let mut bench = Bench::new("{}");
    bench.bind(json!({
        "restartPolicy": "Never",
        "initContainers": [
            {"name": "side", "image": "side:1", "restartPolicy": "Always"},
            {"name": "init", "image": "init:1"},
        ],
        "containers": [{"name": "c", "image": "web:1"}],
    }));
    bench.run(60.0);
    // side: pulled 2, started 3; init: pulled 5, over 6; c: pulled 8, started 9.
    assert_eq!(bench.times_of("Started"), [3.0, 5.0, 9.0]);
    assert_eq!(bench.states[0].1, "PodInitializing 0/1 0");
    let pod = bench.pod().expect("a pod");
    assert!(pod.is_ready());
    let inits = &pod.status.init_container_statuses;
    assert!(inits[0].state.running.is_some() && inits[0].ready);
    assert!(inits[1].state.terminated.is_some() && inits[1].ready);

    bench.delete(30);
    bench.run(120.0);
    // The sidecar stops when the container has.
    assert_eq!(bench.times_of("Killing"), [60.0, 61.0]);
    assert_eq!(bench.states.last(), Some(&(62.0, "gone".into())));
}

#[test]
fn a_container_with_a_new_image_is_replaced() {
    let mut bench = Bench::new("{}");
    bench.bind(Bench::plain());
    bench.run(10.0);
    let mut object = Object::clone(bench.cache.get(&Bench::key()).expect("a pod"));
    if let Object::Pod(pod) = &mut object {
        pod.spec.containers[0].image = Some("web:2".into());
    }
    bench.put(object);
    bench.run(60.0);
    let text = "Container c definition changed, will be restarted";
    assert_eq!(bench.message_of("Killing"), text);
    let status = &bench.pod().expect("a pod").status.container_statuses[0];
    assert_eq!((&*status.image, status.restart_count), ("web:2", 1));
}

#[test]
fn a_container_says_a_few_words() {
    let mut bench = Bench::new("{}");
    bench.bind(Bench::plain());
    bench.run(10.0);
    let logs = bench.kubelet.logs(&Bench::key(), Some("c"), false);
    let lines = ["starting web:1", "ready after 0s"].map(String::from);
    assert_eq!(logs, Ok(lines.to_vec()));
    let none = bench.kubelet.logs(&Bench::key(), Some("d"), false);
    assert_eq!(none, Err("container d is not valid for pod web".into()));
}

#[test]
fn two_runs_are_the_same() {
    let run = || {
        let mut bench = Bench::new("web:1: {exitsAfter: 3s, exitCode: 1}");
        bench.bind(Bench::plain());
        bench.run(500.0);
        (bench.events, bench.states, bench.passes)
    };
    assert_eq!(run(), run());
}

#[test]
fn a_name_that_no_image_can_have_is_told_and_waits_for_another() {
    let mut bench = Bench::new("{}");
    bench.bind(json!({"containers": [{"name": "c", "image": "Web:1"}]}));
    bench.run(60.0);
    let expected = [(0.0, "InvalidImageName 0/1 0")];
    assert_eq!(states(&bench), expected);
    assert!(bench.agenda.is_empty());
}
