//! Probes.

use serde_json::json;

use super::bench::{Bench, states};

#[test]
fn with_a_readiness_probe_a_container_runs_before_it_is_ready() {
    let mut bench = Bench::new("web:1: {readyAfter: 12s}");
    bench.bind(json!({"containers": [{
        "name": "c", "image": "web:1",
        "readinessProbe": {"httpGet": {"path": "/ok", "port": 80}, "periodSeconds": 5},
    }]}));
    bench.run(600.0);
    let expected =
        [(0.0, "ContainerCreating 0/1 0"), (2.0, "Running 0/1 0"), (17.0, "Running 1/1 0")];
    assert_eq!(states(&bench), expected);
    assert_eq!(bench.times_of("Unhealthy"), [2.0, 7.0, 12.0]);
    let text = "Readiness probe failed: Get \"http://10.244.1.2:80/ok\": \
                dial tcp 10.244.1.2:80: connect: connection refused";
    assert_eq!(bench.message_of("Unhealthy"), text);
    assert!(bench.agenda.is_empty(), "a content prober asks no more");
}

#[test]
fn a_liveness_probe_restarts_what_takes_too_long() {
    let mut bench = Bench::new("web:1: {readyAfter: 60s}");
    let probe = json!({"tcpSocket": {"port": 80}});
    bench.bind(json!({"containers": [{
        "name": "c", "image": "web:1", "livenessProbe": probe, "readinessProbe": probe,
    }]}));
    bench.run(24.0);
    let text = "Container c failed liveness probe, will be restarted";
    assert_eq!(bench.message_of("Killing"), text);
    assert_eq!(bench.times_of("Started"), [2.0, 23.0]);
    let pod = bench.pod().expect("a pod");
    assert_eq!(pod.status.container_statuses[0].restart_count, 1);
}

#[test]
fn a_startup_probe_keeps_the_others_back() {
    let mut bench = Bench::new("web:1: {readyAfter: 25s}");
    let probe = json!({"tcpSocket": {"port": 80}});
    bench.bind(json!({"containers": [{
        "name": "c", "image": "web:1", "livenessProbe": probe, "readinessProbe": probe,
        "startupProbe": {"tcpSocket": {"port": 80}, "failureThreshold": 30},
    }]}));
    bench.run(600.0);
    assert_eq!(bench.states.last(), Some(&(32.0, "Running 1/1 0".into())));
    let startup = |(_, reason, text): &&(f64, String, String)| {
        reason == "Unhealthy" && text.starts_with("Startup probe failed")
    };
    assert_eq!(bench.events.iter().filter(startup).count(), 3);
    assert_eq!(bench.times_of("Unhealthy").len(), 3);
}

#[test]
fn a_probe_of_a_port_that_the_container_does_not_have_is_an_error_again_and_again() {
    let mut bench = Bench::new("web:1: {readyAfter: 0s}");
    bench.bind(json!({"containers": [{
        "name": "c", "image": "web:1",
        "readinessProbe": {"httpGet": {"path": "/ok", "port": "http"}, "periodSeconds": 5},
    }]}));
    bench.run(20.0);
    assert_eq!(bench.states.last(), Some(&(2.0, "Running 0/1 0".into())));
    assert_eq!(bench.times_of("Unhealthy"), [2.0, 7.0, 12.0, 17.0]);
    let text = "Readiness probe errored and resulted in unknown state: \
                strconv.Atoi: parsing \"http\": invalid syntax";
    assert_eq!(bench.message_of("Unhealthy"), text);
}
