//! Faults of node, process and container.

use super::bench::Bench;

#[test]
fn a_node_that_comes_back_restarts_its_pods_and_buries_those_that_were_deleted() {
    let mut bench = Bench::new("{}");
    bench.bind(Bench::plain());
    bench.run(10.0);
    bench.kubelet.power_off();
    bench.run(100.0);
    assert!(bench.pod().expect("nobody wrote").is_ready());
    bench.kubelet.power_on(bench.now);
    bench.wake(bench.kubelet.known_pods());
    bench.run(200.0);
    let pod = bench.pod().expect("it is there");
    let status = &pod.status.container_statuses[0];
    assert_eq!(status.restart_count, 1);
    let before = status.last_state.terminated.as_ref().expect("it died");
    assert_eq!(before.exit_code, 255);
    assert!(pod.is_ready());
    assert_eq!(bench.states.last(), Some(&(101.0, "Running 1/1 1".into())));
    assert!(bench.reasons().contains(&"SandboxChanged"));

    bench.kubelet.power_off();
    bench.delete(30);
    bench.run(300.0);
    assert!(bench.pod().is_some(), "a dead node's pod stays Terminating");
    bench.kubelet.power_on(bench.now);
    bench.wake(bench.kubelet.known_pods());
    bench.run(310.0);
    assert!(bench.pod().is_none());
    assert!(bench.kubelet.known_pods().is_empty());
}

#[test]
fn containers_outlive_the_kubelets_process() {
    let mut bench = Bench::new("web:1: {exitsAfter: 20s, exitCode: 1, readyAfter: 0s}");
    bench.bind(Bench::plain());
    bench.run(10.0);
    bench.kubelet.restart();
    bench.wake(bench.kubelet.known_pods());
    bench.run(11.0);
    assert_eq!(bench.kubelet.running_containers(), 1);
    assert_eq!(bench.times_of("Started"), [2.0]);
    bench.run(30.0);
    assert_eq!(bench.times_of("Started"), [2.0, 22.0]);
}

#[test]
fn faults_hit_one_container() {
    let mut bench = Bench::new("{}");
    bench.bind(Bench::plain());
    bench.run(10.0);
    let keys = bench.kubelet.crash_container(&Bench::key(), None, bench.now, true);
    bench.wake(keys);
    bench.run(20.0);
    let status = &bench.pod().expect("a pod").status.container_statuses[0];
    let before = status.last_state.terminated.as_ref().expect("it died");
    assert_eq!(before.reason.as_deref(), Some("OOMKilled"));
    assert_eq!((before.exit_code, status.restart_count), (137, 1));

    let keys = bench.kubelet.set_ready_override(&Bench::key(), Some(false));
    bench.wake(keys);
    bench.run(21.0);
    assert!(!bench.pod().expect("a pod").is_ready());
    let keys = bench.kubelet.set_ready_override(&Bench::key(), None);
    bench.wake(keys);
    bench.run(22.0);
    assert!(bench.pod().expect("a pod").is_ready());
}
