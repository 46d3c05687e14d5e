//! Init containers, sidecars and hooks.

use serde_json::json;

use crate::api::PodPhase;

use super::bench::Bench;

fn main() -> serde_json::Value {
    json!([{"name": "c", "image": "web:1"}])
}

#[test]
fn an_init_container_that_fails_is_restarted_ever_later_and_the_next_one_waits() {
    let mut bench = Bench::new("{}");
    bench.bind(json!({
        "initContainers": [
            {"name": "bad", "image": "init:1", "command": ["sh", "-c", "exit 3"]},
            {"name": "good", "image": "init:2"},
        ],
        "containers": main(),
    }));
    bench.run(40.0);
    // Pulled 2, over 3, again at once, over 4; then 10 and 20 seconds after the end.
    assert_eq!(bench.times_of("Started"), [2.0, 3.0, 14.0, 35.0]);
    let pod = bench.pod().expect("a pod");
    assert_eq!(pod.phase(), PodPhase::Pending);
    let bad = &pod.status.init_container_statuses[0];
    let waiting = bad.state.waiting.as_ref().expect("it waits");
    assert_eq!(waiting.reason.as_deref(), Some("CrashLoopBackOff"));
    let last = bad.last_state.terminated.as_ref().expect("it ended");
    assert_eq!((last.exit_code, bad.restart_count), (3, 3));
    assert!(pod.status.init_container_statuses[1].state.waiting.is_some());
}

#[test]
fn without_restarts_an_init_container_that_fails_takes_its_pod_with_it() {
    let mut bench = Bench::new("init:1: {exitsAfter: 2s, exitCode: 1}");
    bench.bind(json!({
        "restartPolicy": "Never",
        "initContainers": [{"name": "bad", "image": "init:1"}],
        "containers": main(),
    }));
    bench.run(60.0);
    assert_eq!(bench.times_of("Started"), [2.0]);
    assert_eq!(bench.pod().expect("a pod").phase(), PodPhase::Failed);
}

#[test]
fn what_follows_a_sidecar_waits_until_its_startup_probe_has_passed() {
    let mut bench = Bench::new("side:1: {readyAfter: 12s}");
    bench.bind(json!({
        "initContainers": [{
            "name": "side", "image": "side:1", "restartPolicy": "Always",
            "startupProbe": {"tcpSocket": {"port": 80}, "periodSeconds": 5, "failureThreshold": 9},
        }],
        "containers": main(),
    }));
    bench.run(15.0);
    assert_eq!(bench.times_of("Started"), [2.0], "the sidecar runs, and has not come up");
    bench.run(60.0);
    let started = bench.times_of("Started");
    assert!(started[1] >= 17.0, "{started:?}");
    assert!(bench.pod().expect("a pod").is_ready());
}

#[test]
fn sidecars_end_after_the_container_the_last_one_first() {
    let mut bench = Bench::new("{}");
    let side = |name: &str| json!({"name": name, "image": "side:1", "restartPolicy": "Always"});
    bench.bind(json!({"initContainers": [side("one"), side("two")], "containers": main()}));
    bench.run(30.0);
    bench.delete(30);
    bench.run(60.0);
    let killed = bench.events.iter().filter(|(_, reason, _)| reason == "Killing");
    let killed: Vec<(f64, &str)> = killed.map(|(at, _, text)| (*at, text.as_str())).collect();
    let expected = [
        (30.0, "Stopping container c"),
        (31.0, "Stopping container two"),
        (32.0, "Stopping container one"),
    ];
    assert_eq!(killed, expected);
    assert_eq!(bench.states.last(), Some(&(33.0, "gone".into())));
}

#[test]
fn a_pod_whose_container_is_done_is_done_although_its_sidecar_runs() {
    let mut bench = Bench::new("web:1: {exitsAfter: 5s}");
    bench.bind(json!({
        "restartPolicy": "OnFailure",
        "initContainers": [{"name": "side", "image": "side:1", "restartPolicy": "Always"}],
        "containers": main(),
    }));
    bench.run(60.0);
    assert_eq!(bench.message_of("Killing"), "Stopping container side");
    assert_eq!(bench.pod().expect("a pod").phase(), PodPhase::Succeeded);
    assert_eq!(bench.kubelet.running_containers(), 0);
}

#[test]
fn a_hook_takes_its_time_out_of_the_grace_period() {
    for (hook, stops_after, gone) in [
        (json!({"sleep": {"seconds": 5}}), "1s", 26.0),
        (json!({"exec": {"command": ["sh", "-c", "sleep 5"]}}), "1s", 26.0),
        // Of ten seconds five are left, then it is killed.
        (json!({"exec": {"command": ["sleep", "5"]}}), "60s", 30.0),
        // The hook takes all; two seconds are given anyway.
        (json!({"sleep": {"seconds": 60}}), "60s", 32.0),
        (json!({"httpGet": {"path": "/bye", "port": 80}}), "1s", 21.0),
    ] {
        let mut bench = Bench::new(&format!("web:1: {{stopsAfter: {stops_after}}}"));
        bench.bind(json!({"containers": [
            {"name": "c", "image": "web:1", "lifecycle": {"preStop": hook}}]}));
        bench.run(20.0);
        bench.delete(10);
        bench.run(100.0);
        assert_eq!(bench.states.last(), Some(&(gone, "gone".into())), "{hook}");
    }
}

#[test]
fn an_image_that_must_not_be_pulled_is_waited_for() {
    let mut bench = Bench::new("{}");
    let never = json!({"containers": [
        {"name": "c", "image": "web:1", "imagePullPolicy": "Never"}]});
    bench.bind(never);
    bench.run(60.0);
    assert_eq!(bench.states.last(), Some(&(0.0, "ErrImageNeverPull 0/1 0".into())));
    let text = "Container image \"web:1\" is not present with pull policy of Never";
    assert_eq!(bench.message_of("ErrImageNeverPull"), text);
    assert_eq!(bench.reasons(), ["ErrImageNeverPull", "Failed"]);
}

#[test]
fn an_image_that_is_pulled_always_is_pulled_again_at_each_start() {
    let mut bench = Bench::new("web:1: {exitsAfter: 1s, exitCode: 1}");
    bench.bind(json!({"containers": [
        {"name": "c", "image": "web:1", "imagePullPolicy": "Always"}]}));
    bench.run(8.0);
    assert_eq!(bench.times_of("Pulling").len(), bench.times_of("Started").len());
    assert!(bench.times_of("Pulling").len() > 1);
}
