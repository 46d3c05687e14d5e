//! The lives of pods on one node, on a virtual clock, against an API server of a few lines.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use crate::api::{Kind, Object, ObjectKey, Pod, PodPhase, Timestamp, Value};
use crate::apiserver::{ApiError, Part, Reason, Request, Response};
use crate::client::Cache;
use crate::controllers::{Change, ChangeKind, Context};
use crate::kernel::{Agenda, Time};

use super::{Images, Kubelet, Timer};

/// A node, the objects, and what happened.
struct Bench {
    kubelet: Kubelet,
    images: Images,
    cache: Cache,
    now: Time,
    agenda: Agenda<Timer>,
    queue: VecDeque<ObjectKey>,
    queued: BTreeSet<ObjectKey>,
    events: Vec<(f64, String, String)>,
    /// STATUS as kubectl would show it, whenever it changed.
    states: Vec<(f64, String)>,
    passes: usize,
    writes: usize,
    last_version: u64,
    /// The API server refuses everything.
    is_down: bool,
}

fn at(seconds: f64) -> Time {
    Time::ZERO + Duration::from_secs_f64(seconds)
}

impl Bench {
    fn new(images: &str) -> Bench {
        Bench {
            kubelet: Kubelet::new("node-1"),
            images: serde_yaml::from_str(images).expect("images"),
            cache: Cache::default(),
            now: Time::ZERO,
            agenda: Agenda::default(),
            queue: VecDeque::new(),
            queued: BTreeSet::new(),
            events: Vec::new(),
            states: Vec::new(),
            passes: 0,
            writes: 0,
            last_version: 0,
            is_down: false,
        }
    }

    fn key() -> ObjectKey {
        ObjectKey::new(Kind::Pod, "default", "web")
    }

    /// Binds a pod called `web` to the node.
    fn bind(&mut self, spec: Value) {
        let uid = format!("uid-{}", self.last_version);
        let mut value = json!({
            "metadata": {"name": "web", "namespace": "default", "uid": uid},
            "spec": {"nodeName": "node-1"},
            "status": {"phase": "Pending", "qosClass": "BestEffort"},
        });
        for (key, field) in spec.as_object().expect("a spec") {
            value["spec"][key] = field.clone();
        }
        let pod: Pod = serde_json::from_value(value).expect("a pod");
        self.put(Object::Pod(pod));
    }

    fn plain() -> Value {
        json!({"containers": [{"name": "c", "image": "web:1"}]})
    }

    fn put(&mut self, mut object: Object) -> Arc<Object> {
        self.last_version += 1;
        object.meta_mut().resource_version = self.last_version;
        let object = Arc::new(object);
        let before = self.cache.put(object.clone());
        let kind = match before {
            None => ChangeKind::Added,
            Some(_) => ChangeKind::Updated,
        };
        self.see(kind, before, object.clone());
        object
    }

    fn vanish(&mut self, key: &ObjectKey) -> Option<Arc<Object>> {
        let object = self.cache.remove(key)?;
        self.see(ChangeKind::Deleted, Some(object.clone()), object.clone());
        Some(object)
    }

    fn see(&mut self, kind: ChangeKind, before: Option<Arc<Object>>, object: Arc<Object>) {
        let change = Change {
            kind,
            before,
            object,
        };
        let woken = self.kubelet.wakes(&change);
        self.wake(woken.keys);
    }

    fn wake(&mut self, keys: Vec<ObjectKey>) {
        for key in keys {
            if self.queued.insert(key.clone()) {
                self.queue.push_back(key);
            }
        }
    }

    /// Marks the pod as being deleted, as the API server does.
    fn delete(&mut self, grace: i64) {
        let mut object = Object::clone(self.cache.get(&Self::key()).expect("a pod"));
        let meta = object.meta_mut();
        meta.deletion_timestamp = Some(Timestamp::from(self.now + Duration::from_secs(30)));
        meta.deletion_grace_period_seconds = Some(grace);
        self.put(object);
    }

    fn pod(&self) -> Option<&Pod> {
        self.cache.pod(&Self::key())
    }

    fn run(&mut self, until: f64) {
        loop {
            while let Some(key) = self.queue.pop_front() {
                self.queued.remove(&key);
                self.pass(&key);
            }
            let due = self.agenda.next_time().filter(|due| *due <= at(until));
            let (Some(due), Some(entry)) = (due, due.and_then(|_| self.agenda.take())) else {
                break;
            };
            self.now = due;
            let fired = self.kubelet.on_timer(&entry.what, self.now);
            self.expect(fired.timers);
            self.wake(fired.keys);
        }
        self.now = at(until);
    }

    fn expect(&mut self, timers: Vec<(Duration, Timer)>) {
        for (span, timer) in timers {
            self.agenda.put(self.now + span, timer);
        }
    }

    fn pass(&mut self, key: &ObjectKey) {
        self.passes += 1;
        let cx = Context {
            cache: &self.cache,
            now: self.now,
            seed: 1,
            promises_kept: true,
        };
        let (plan, timers) = self.kubelet.sync(key, &cx, &self.images);
        self.expect(timers);
        for note in plan.events {
            let reason = note.reason.to_string();
            self.events
                .push((self.now.as_secs_f64(), reason, note.message));
        }
        for intent in plan.batches.into_iter().flatten() {
            let response = self.serve(&intent.request);
            self.kubelet.answered(key, &response);
            if response.is_err_and(|error| !(intent.tolerates)(&error)) {
                break;
            }
        }
        self.note_state();
    }

    fn serve(&mut self, request: &Request) -> Response {
        if self.is_down {
            return Err(ApiError::new(Reason::ServiceUnavailable, "down"));
        }
        self.writes += 1;
        let key = request.key();
        let stored = self.cache.get(&key).cloned();
        let missing = || ApiError::not_found(Kind::Pod, &key.name);
        let stored = stored.ok_or_else(missing)?;
        match request {
            Request::Update(Part::Status, object) => {
                assert_eq!(object.meta().uid, stored.meta().uid);
                let mut next = Object::clone(&stored);
                if let (Object::Pod(next), Some(pod)) = (&mut next, object.as_pod()) {
                    next.status = pod.status.clone();
                }
                Ok(self.put(next))
            }
            Request::Delete(key, options) => {
                assert_eq!(options.grace_period_seconds, Some(0));
                self.vanish(key).ok_or_else(missing)
            }
            other => panic!("the kubelet does not send {other:?}"),
        }
    }

    fn note_state(&mut self) {
        let state = self.pod().map_or("gone".to_string(), shown);
        if self.states.last().is_none_or(|(_, last)| *last != state) {
            self.states.push((self.now.as_secs_f64(), state));
        }
    }

    fn reasons(&self) -> Vec<&str> {
        self.events
            .iter()
            .map(|(_, reason, _)| reason.as_str())
            .collect()
    }

    fn times_of(&self, reason: &str) -> Vec<f64> {
        let of = self.events.iter().filter(|(_, other, _)| other == reason);
        of.map(|(time, _, _)| *time).collect()
    }

    fn message_of(&self, reason: &str) -> &str {
        let mut of = self.events.iter().filter(|(_, other, _)| other == reason);
        of.next_back().map_or("", |(_, _, message)| message)
    }
}

/// What kubectl's columns STATUS and READY come from.
fn shown(pod: &Pod) -> String {
    let statuses = &pod.status.container_statuses;
    let first = statuses.first();
    let word = first.and_then(|status| {
        let waiting = status.state.waiting.as_ref().and_then(|w| w.reason.clone());
        let ended = status
            .state
            .terminated
            .as_ref()
            .and_then(|t| t.reason.clone());
        waiting.or(ended)
    });
    let phase = format!("{:?}", pod.phase());
    let word = word.map_or(phase, |word| word.to_string());
    let ready = statuses.iter().filter(|status| status.ready).count();
    let restarts: i32 = statuses.iter().map(|status| status.restart_count).sum();
    format!("{word} {ready}/{} {restarts}", statuses.len())
}

fn states(bench: &Bench) -> Vec<(f64, &str)> {
    bench.states.iter().map(|(t, s)| (*t, s.as_str())).collect()
}

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
    assert_eq!(pod.status.rest["qosClass"], "BestEffort");
    assert_eq!(pod.status.rest["podIP"], "10.244.1.2");
    assert!(
        bench.agenda.is_empty(),
        "nothing is due that could change it"
    );
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
    assert_eq!(
        bench.message_of("BackOff"),
        "Back-off pulling image \"web:1\""
    );
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
    for (code, phase, word) in [
        (0, PodPhase::Succeeded, "Completed"),
        (3, PodPhase::Failed, "Error"),
    ] {
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
fn a_deleted_pod_stops_says_how_and_goes() {
    let mut bench = Bench::new("{}");
    bench.bind(Bench::plain());
    bench.run(10.0);
    bench.writes = 0;
    bench.delete(30);
    bench.run(60.0);
    let expected = [
        (0.0, "ContainerCreating 0/1 0"),
        (3.0, "Running 1/1 0"),
        (11.0, "gone"),
    ];
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
    assert_eq!(
        bench.reasons().iter().filter(|r| **r == "Killing").count(),
        1
    );
}

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

#[test]
fn with_a_readiness_probe_a_container_runs_before_it_is_ready() {
    let mut bench = Bench::new("web:1: {readyAfter: 12s}");
    bench.bind(json!({"containers": [{
        "name": "c", "image": "web:1",
        "readinessProbe": {"httpGet": {"path": "/ok", "port": 80}, "periodSeconds": 5},
    }]}));
    bench.run(600.0);
    let expected = [
        (0.0, "ContainerCreating 0/1 0"),
        (2.0, "Running 0/1 0"),
        (17.0, "Running 1/1 0"),
    ];
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
fn faults_hit_one_container() {
    let mut bench = Bench::new("{}");
    bench.bind(Bench::plain());
    bench.run(10.0);
    let keys = bench
        .kubelet
        .crash_container(&Bench::key(), None, bench.now, true);
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
