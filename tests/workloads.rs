//! Laws of Jobs, StatefulSets and DaemonSets over random workloads and faults. A failure names its
//! seed; `SEED=n cargo test --test workloads` runs that one alone, `SEEDS=n` so many.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use loopscope::api::{Kind, Object, ObjectKey};
use loopscope::apiserver::{DeleteOptions, Propagation, Request};
use loopscope::kernel::{Rng, Time};
use loopscope::world::{Fault, Options, Verdict, World};
use serde_json::{Value, json};

mod common;

const PLENTY: u64 = 3_000_000;

fn seeds() -> impl Iterator<Item = u64> {
    common::seeds(300)
}

/// Calls `watch` after every tenth of a second.
fn run(world: &mut World, until: Time, mut watch: impl FnMut(&World)) {
    while world.now() < until {
        let next = (world.now() + Duration::from_millis(100)).min(until);
        assert!(world.run_until(next, PLENTY), "too much happens");
        watch(world);
    }
}

fn create(world: &mut World, kind: Kind, value: Value) {
    let object = Object::from_value(kind, value).expect("an object");
    world.request(&Request::Create(Arc::new(object))).expect("a workload is valid");
}

fn inflict(world: &mut World, line: &str) {
    world.inflict(&Fault::parse_line(line).unwrap_or_else(|error| panic!("{line}: {error:?}")));
}

fn delete_a_pod(world: &mut World, rng: &mut Rng, force: bool) {
    let pods: Vec<ObjectKey> = world.store().list(Kind::Pod).map(|pod| pod.key()).collect();
    if let Some(key) = pods.get(rng.below(8) as usize) {
        let grace_period_seconds = force.then_some(0);
        let options = DeleteOptions { grace_period_seconds, ..DeleteOptions::default() };
        let _ = world.request(&Request::Delete(key.clone(), options));
    }
}

/// A fault on a controller, and now and then the death of a pod.
fn trouble(world: &mut World, rng: &mut Rng, controller: &str) {
    trouble_by(world, rng, controller, true);
}

/// The same, and no pod is deleted by force.
fn trouble_gently(world: &mut World, rng: &mut Rng, controller: &str) {
    trouble_by(world, rng, controller, false);
}

fn trouble_by(world: &mut World, rng: &mut Rng, controller: &str, may_force: bool) {
    let line = match rng.below(8) {
        0 => format!("kill {controller} for=7s"),
        1 => format!("restart {controller}"),
        2 => format!("crash {controller} point=betweenWrites"),
        3 => format!("crash {controller} point=beforeStatus"),
        4 => format!("cut {controller} for=3s"),
        5 => format!("delay to={controller} kind=Pod by=2s count=2"),
        6 => format!("duplicate to={controller} kind=Pod"),
        _ => {
            let force = rng.below(2) == 0;
            return delete_a_pod(world, rng, force && may_force);
        }
    };
    inflict(world, &line);
}

/// An armed crash would still come, also to one that is dead by now: only another death disarms it.
/// And a dead controller does nothing.
fn settle(world: &mut World, controller: &str) {
    for what in ["restart", "kill", "restart"] {
        let line = format!("{what} {controller}");
        world.inflict(&Fault::parse_line(&line).expect("a fault"));
    }
}

fn world(seed: u64, images: &str) -> World {
    let images = serde_yaml::from_str(images).expect("images");
    World::new(Options { seed, images, ..Options::default() })
}

fn template(image: &str, policy: &str) -> Value {
    json!({
        "metadata": {"labels": {"app": "web"}},
        "spec": {"restartPolicy": policy, "containers": [{"name": "main", "image": image}]},
    })
}

fn stateful_set(rng: &mut Rng) -> Value {
    let policy = if rng.below(2) == 0 { "OrderedReady" } else { "Parallel" };
    json!({"metadata": {"name": "web", "namespace": "default"}, "spec": {
        "replicas": 1 + rng.below(4), "podManagementPolicy": policy, "serviceName": "web",
        "selector": {"matchLabels": {"app": "web"}}, "template": template("db:1", "Always"),
    }})
}

/// No ordinal has two pods.
fn one_pod_each(world: &World, seed: u64) {
    let mut live: BTreeMap<String, usize> = BTreeMap::new();
    for pod in world.store().list(Kind::Pod).filter_map(|object| object.as_pod()) {
        let ordinal = pod.metadata.labels.get("apps.kubernetes.io/pod-index");
        *live.entry(ordinal.map_or(String::new(), |o| o.to_string())).or_default() += 1;
    }
    assert!(live.values().all(|count| *count == 1), "seed {seed}: {live:?}");
}

#[test]
fn no_ordinal_of_a_stateful_set_has_two_pods_and_all_is_well_after_the_last_fault() {
    for seed in seeds() {
        let mut rng = Rng::stream(seed, "statefulset");
        let mut world = world(seed, "{}");
        create(&mut world, Kind::StatefulSet, stateful_set(&mut rng));
        for _ in 0..rng.below(6) {
            let until = world.now() + Duration::from_millis(rng.below(12_000));
            run(&mut world, until, |world| one_pod_each(world, seed));
            trouble(&mut world, &mut rng, "statefulset");
        }
        settle(&mut world, "statefulset");
        let end = world.now() + Duration::from_secs(240);
        run(&mut world, end, |world| one_pod_each(world, seed));
        assert_eq!(world.verdict(), Verdict::Converged, "seed {seed}");
    }
}

/// The nodes that are lost now and then.
#[derive(Default)]
struct Nodes {
    off: [bool; 3],
}

impl Nodes {
    /// A machine loses its power or gets it back, a node is cut off or reached again, or the Node
    /// of a machine without power is deleted. (To delete the Node of one that runs is to say that it
    /// does not: its pods are made anew while it runs on, as when they are deleted by force.)
    fn trouble(&mut self, world: &mut World, rng: &mut Rng) {
        let number = rng.below(3) as usize;
        let name = format!("node-{}", number + 1);
        let off = &mut self.off[number];
        match rng.below(5) {
            0 | 1 => {
                *off = !*off;
                let power = if *off { "off" } else { "on" };
                inflict(world, &format!("node {name} power={power}"));
            }
            2 => inflict(world, &format!("node {name} network=cut")),
            3 => inflict(world, &format!("node {name} network=restored")),
            _ if *off => {
                let key = ObjectKey::new(Kind::Node, "", name);
                // It may have been deleted before.
                let _ = world.request(&Request::Delete(key, DeleteOptions::default()));
            }
            _ => delete_a_pod(world, rng, false),
        }
    }

    fn settle(&mut self, world: &mut World) {
        for number in 1..=3 {
            inflict(world, &format!("node node-{number} power=on"));
            inflict(world, &format!("node node-{number} network=restored"));
        }
    }
}

/// No ordinal runs on two machines.
fn one_machine_each(world: &World, seed: u64) {
    let mut running: BTreeMap<String, usize> = BTreeMap::new();
    for key in world.kubelets().iter().flat_map(|kubelet| kubelet.running_pods()) {
        *running.entry(key.name.to_string()).or_default() += 1;
    }
    let now = world.now();
    assert!(running.values().all(|count| *count == 1), "seed {seed} at {now:?}: {running:?}");
}

#[test]
fn no_ordinal_runs_on_two_machines_though_nodes_are_lost_and_all_is_well_when_they_are_back() {
    for seed in seeds().take(100) {
        let mut rng = Rng::stream(seed, "statefulset-nodes");
        let (mut world, mut nodes) = (world(seed, "{}"), Nodes::default());
        create(&mut world, Kind::StatefulSet, stateful_set(&mut rng));
        let watch = |world: &World| {
            one_pod_each(world, seed);
            one_machine_each(world, seed);
        };
        for _ in 0..2 + rng.below(6) {
            let most = [12_000, 400_000][rng.below(2) as usize];
            let until = world.now() + Duration::from_millis(rng.below(most));
            run(&mut world, until, watch);
            match rng.below(3) {
                0 => trouble_gently(&mut world, &mut rng, "statefulset"),
                _ => nodes.trouble(&mut world, &mut rng),
            }
        }
        settle(&mut world, "statefulset");
        nodes.settle(&mut world);
        let end = world.now() + Duration::from_secs(900);
        run(&mut world, end, watch);
        assert_eq!(world.verdict(), Verdict::Converged, "seed {seed}");
        assert_eq!(world.store().list(Kind::Node).count(), 3, "seed {seed}");
    }
}

fn job(rng: &mut Rng) -> Value {
    let mut spec = json!({"backoffLimit": rng.below(4), "parallelism": 1 + rng.below(3),
        "template": template("task:1", "Never")});
    match rng.below(3) {
        0 => {}
        1 => spec["completions"] = (1 + rng.below(5)).into(),
        _ => {
            spec["completions"] = (1 + rng.below(5)).into();
            spec["completionMode"] = "Indexed".into();
        }
    }
    json!({"metadata": {"name": "sum", "namespace": "default"}, "spec": spec})
}

fn end_of(world: &World) -> Option<Value> {
    let job = world.store().list(Kind::Job).next()?.to_value();
    let conditions = job["status"]["conditions"].as_array()?.clone();
    let ends = ["Complete", "Failed"];
    let is_end =
        |c: &Value| ends.contains(&c["type"].as_str().unwrap_or("")) && c["status"] == "True";
    conditions.iter().any(is_end).then(|| job["status"].clone())
}

#[test]
fn a_finished_job_stays_finished_and_every_job_finishes() {
    for seed in seeds() {
        let mut rng = Rng::stream(seed, "job");
        let code = u64::from(rng.below(3) == 0);
        let mut world = world(seed, &format!("task:1: {{exitsAfter: 3s, exitCode: {code}}}"));
        create(&mut world, Kind::Job, job(&mut rng));
        let mut end: Option<Value> = None;
        let mut watch = |world: &World| {
            let now = end_of(world);
            if end.is_some() {
                assert_eq!(end, now, "seed {seed}: it had ended");
            }
            end = now;
        };
        for _ in 0..rng.below(6) {
            let until = world.now() + Duration::from_millis(rng.below(12_000));
            run(&mut world, until, &mut watch);
            trouble(&mut world, &mut rng, "job");
        }
        settle(&mut world, "job");
        let until = world.now() + Duration::from_secs(400);
        run(&mut world, until, &mut watch);
        let end = end.unwrap_or_else(|| panic!("seed {seed}: it never ends"));
        assert_eq!(world.verdict(), Verdict::Converged, "seed {seed}");
        let left = end["uncountedTerminatedPods"].as_object().map_or(0, |map| map.len());
        assert_eq!(left, 0, "seed {seed}: {end}");
        let tracked = world.store().list(Kind::Pod).filter(|pod| !pod.meta().finalizers.is_empty());
        assert_eq!(tracked.count(), 0, "seed {seed}: all were counted");
    }
}

#[test]
fn every_node_has_its_daemon_after_the_last_fault() {
    for seed in seeds().take(100) {
        let mut rng = Rng::stream(seed, "daemonset");
        let mut world = world(seed, "{}");
        let spec = json!({"selector": {"matchLabels": {"app": "web"}},
            "template": template("log:1", "Always")});
        let metadata = json!({"name": "log", "namespace": "default"});
        create(&mut world, Kind::DaemonSet, json!({"metadata": metadata, "spec": spec}));
        for _ in 0..rng.below(6) {
            let until = world.now() + Duration::from_millis(rng.below(12_000));
            run(&mut world, until, |_| ());
            trouble(&mut world, &mut rng, "daemonset");
        }
        settle(&mut world, "daemonset");
        let until = world.now() + Duration::from_secs(400);
        run(&mut world, until, |_| ());
        assert_eq!(world.verdict(), Verdict::Converged, "seed {seed}");
        assert_eq!(world.store().list(Kind::Pod).count(), 3, "seed {seed}");
    }
}

#[test]
fn a_cron_job_that_was_off_for_a_hundred_minutes_goes_on() {
    let mut world = world(1, "task:1: {exitsAfter: 3s}");
    let spec = json!({"schedule": "* * * * *",
        "jobTemplate": {"spec": {"template": template("task:1", "Never")}}});
    let metadata = json!({"name": "minutely", "namespace": "default"});
    create(&mut world, Kind::CronJob, json!({"metadata": metadata, "spec": spec}));
    run(&mut world, Time::from_secs(130), |_| ());
    let fault = format!("kill cronjob for={}s", 60 * 102);
    world.inflict(&Fault::parse_line(&fault).expect("a fault"));
    let jobs = |world: &World| {
        let jobs = world.store().list(Kind::Job);
        jobs.map(|job| job.meta().name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(jobs(&world).len(), 2);
    run(&mut world, Time::from_secs(130 + 60 * 102 + 5), |_| ());
    let events = world.store().list(Kind::Event).filter_map(|event| event.as_event());
    let told = events.filter(|event| &*event.reason == "TooManyMissedTimes").count();
    assert_eq!(told, 1);
    assert_eq!(jobs(&world).len(), 3, "{:?}", jobs(&world));
    run(&mut world, Time::from_secs(130 + 60 * 105), |_| ());
    assert_eq!(jobs(&world).len(), 3, "three that ended well are kept");
    assert!(!world.is_busy(), "waiting for the next minute is upkeep");
    assert_eq!(world.verdict(), Verdict::Converged);
}

/// Ten at a time, ten failures borne: 64 failed pods in 2018, when the queue's retries were counted.
#[test]
fn a_wide_job_does_not_overshoot_its_back_off_limit_by_more_than_its_width() {
    let mut world = world(1, "{}");
    let mut template = template("fail:1", "Never");
    template["spec"]["containers"][0]["command"] = json!(["sh", "-c", "exit 1"]);
    let spec = json!({"backoffLimit": 10, "parallelism": 10, "template": template});
    let metadata = json!({"name": "error", "namespace": "default"});
    create(&mut world, Kind::Job, json!({"metadata": metadata, "spec": spec}));
    run(&mut world, Time::from_secs(1_200), |_| ());
    let end = end_of(&world).expect("it fails");
    let failed = end["failed"].as_i64().unwrap_or(0);
    assert!((11..=20).contains(&failed), "{failed}");
    assert!(end.to_string().contains("Job has reached the specified backoff limit"), "{end}");
}

#[test]
fn what_an_owner_made_goes_with_it() {
    let mut world = world(3, "{}");
    let mut rng = Rng::stream(3, "statefulset");
    create(&mut world, Kind::StatefulSet, stateful_set(&mut rng));
    let job = json!({"metadata": {"name": "sum", "namespace": "default"},
        "spec": {"template": template("task:1", "Never")}});
    create(&mut world, Kind::Job, job);
    let ports = json!([{"port": 80}]);
    let service = json!({"metadata": {"name": "web", "namespace": "default"},
        "spec": {"selector": {"app": "web"}, "ports": ports}});
    create(&mut world, Kind::Service, service);
    run(&mut world, Time::from_secs(60), |_| ());
    let count = |world: &World, kind| world.store().list(kind).count();
    assert_eq!(count(&world, Kind::ControllerRevision), 1);
    assert_eq!(count(&world, Kind::EndpointSlice), 1);
    for (kind, name) in [(Kind::StatefulSet, "web"), (Kind::Job, "sum"), (Kind::Service, "web")] {
        let key = ObjectKey::new(kind, "default", name);
        // As kubectl asks: a Job's own default is to orphan.
        let propagation = Some(Propagation::Background);
        let options = DeleteOptions { propagation, ..DeleteOptions::default() };
        world.request(&Request::Delete(key, options)).expect("deleted");
    }
    run(&mut world, Time::from_secs(180), |_| ());
    for kind in [Kind::Pod, Kind::ControllerRevision, Kind::EndpointSlice, Kind::Job] {
        let left: Vec<String> = world.store().list(kind).map(|o| o.key().to_string()).collect();
        assert!(left.is_empty(), "{left:?}");
    }
    assert_eq!(world.verdict(), Verdict::Converged);
}
