//! Laws over random workloads and faults. A failure names its seed; `SEED=n cargo test --test
//! properties` runs that one alone, `SEEDS=n` so many.

use std::sync::Arc;
use std::time::Duration;

use loopscope::api::{Kind, Object, ObjectKey};
use loopscope::apiserver::{DeleteOptions, Part, Request};
use loopscope::kernel::{Rng, Time};
use loopscope::world::{Fault, Flavour, Load, Options, Verdict, World};
use serde_json::json;

mod common;

#[path = "properties/beside.rs"]
mod beside;
#[path = "properties/laws.rs"]
mod laws;
#[path = "properties/orders.rs"]
mod orders;
#[path = "properties/verdicts.rs"]
mod verdicts;

const PLENTY: u64 = 3_000_000;

fn seeds() -> impl Iterator<Item = u64> {
    common::seeds(1_000)
}

/// Something that a person does to the desired state.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)] // a handful of them a run
enum Action {
    Apply(Object),
    DeletePod { nth: u64, force: bool },
}

/// A random workload: what is done, and when.
#[derive(Clone, Debug)]
struct Workload {
    options: Options,
    actions: Vec<(Time, Action)>,
    end: Time,
}

fn template(image: u64) -> serde_json::Value {
    json!({
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "web", "image": format!("registry.example/web:{image}")}]},
    })
}

fn workload(seed: u64, flavour: Flavour) -> Workload {
    let mut rng = Rng::stream(seed, "workload");
    let is_deployment = rng.below(3) > 0;
    let kind = if is_deployment { Kind::Deployment } else { Kind::ReplicaSet };
    let (mut replicas, mut image) = (rng.below(6), 1);
    let strategy = match rng.below(4) {
        0 => json!({"type": "Recreate"}),
        1 => {
            json!({"rollingUpdate": {"maxSurge": 1 + rng.below(3), "maxUnavailable": rng.below(3)}})
        }
        2 => json!({"rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "50%"}}),
        _ => json!({}),
    };
    let object = |replicas: u64, image: u64| {
        let mut spec = json!({
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "template": template(image),
        });
        if is_deployment {
            spec["strategy"] = strategy.clone();
        }
        let value = json!({"metadata": {"name": "web", "namespace": "default"}, "spec": spec});
        Object::from_value(kind, value).expect("a workload is well-formed")
    };
    let mut at = Time::ZERO;
    let mut actions = vec![(at, Action::Apply(object(replicas, image)))];
    for _ in 0..rng.below(7) {
        // Some on the heels of each other, some after all is quiet.
        at += Duration::from_millis(match rng.below(3) {
            0 => 1 + rng.below(80),
            1 => rng.below(4_000),
            _ => 20_000,
        });
        let action = match rng.below(6) {
            0 | 1 => {
                replicas = rng.below(8);
                Action::Apply(object(replicas, image))
            }
            2 if is_deployment => {
                image = 1 + rng.below(3);
                Action::Apply(object(replicas, image))
            }
            3 if is_deployment => {
                (replicas, image) = (rng.below(8), 1 + rng.below(3));
                Action::Apply(object(replicas, image))
            }
            _ => Action::DeletePod { nth: rng.below(8), force: rng.below(2) == 0 },
        };
        actions.push((at, action));
    }
    let options = Options { seed, flavour, ..Options::default() };
    Workload { options, actions, end: at + Duration::from_secs(240) }
}

fn act(world: &mut World, action: &Action) {
    match action {
        Action::Apply(object) => {
            let key = object.key();
            let request = if world.store().get(&key).is_some() {
                Request::Update(Part::Main, Arc::new(object.clone()))
            } else {
                Request::Create(Arc::new(object.clone()))
            };
            world.request(&request).expect("a workload is valid");
        }
        Action::DeletePod { nth, force } => {
            let pods: Vec<ObjectKey> = world.store().list(Kind::Pod).map(|pod| pod.key()).collect();
            if let Some(key) = pods.get(*nth as usize) {
                let grace_period_seconds = force.then_some(0);
                let options = DeleteOptions { grace_period_seconds, ..DeleteOptions::default() };
                world.request(&Request::Delete(key.clone(), options)).expect("the pod is there");
            }
        }
    }
}

fn play(workload: &Workload, faults: &[(Time, Fault)]) -> World {
    let mut world = World::new(workload.options.clone());
    let mut steps: Vec<(Time, Result<&Action, &Fault>)> = Vec::new();
    steps.extend(workload.actions.iter().map(|(at, action)| (*at, Ok(action))));
    steps.extend(faults.iter().map(|(at, fault)| (*at, Err(fault))));
    steps.sort_by_key(|(at, _)| *at);
    for (at, step) in steps {
        assert!(world.run_until(at, PLENTY), "too much happens");
        match step {
            Ok(action) => act(&mut world, action),
            Err(fault) => world.inflict(fault),
        }
    }
    assert!(world.run_until(workload.end, PLENTY), "too much happens");
    world
}

/// What both flavours must agree on: sizes, pods and status numbers of every set and Deployment.
fn state(world: &World) -> Vec<String> {
    let counts = world.pods_by_owner();
    let mut lines: Vec<String> = Vec::new();
    for object in world.store().all() {
        match &**object {
            Object::ReplicaSet(set) => {
                let pods = counts.get(&set.metadata.uid).copied().unwrap_or_default();
                let image = &set.spec.template.spec.containers[0].image;
                let status = &set.status;
                // An old set without pods is history too: of two edits on the heels of each other,
                // level may have seen only the second.
                if set.spec.replicas() == 0 && set.metadata.controller().is_some() {
                    assert_eq!((pods.active, status.replicas), (0, 0), "{image:?}");
                    continue;
                }
                lines.push(format!(
                    "set of {image:?}: {} wanted, {pods:?}, status {}/{}/{}",
                    set.spec.replicas(),
                    status.replicas,
                    status.ready_replicas,
                    status.available_replicas
                ));
            }
            Object::Deployment(deployment) => {
                let s = &deployment.status;
                let mut conditions: Vec<_> =
                    s.conditions.iter().map(|c| (c.kind.clone(), c.status)).collect();
                // One that turns goes to the end of the list: their order is their history.
                conditions.sort();
                lines.push(format!(
                    "deployment: {}/{}/{}/{} {conditions:?}",
                    s.replicas, s.updated_replicas, s.ready_replicas, s.available_replicas
                ));
            }
            _ => {}
        }
    }
    lines.sort();
    lines
}

#[test]
fn without_faults_both_flavours_converge_to_the_same_state() {
    for seed in seeds() {
        let level = play(&workload(seed, Flavour::Level), &[]);
        let edge = play(&workload(seed, Flavour::Edge), &[]);
        let actions = &workload(seed, Flavour::Level).actions;
        assert_eq!(level.verdict(), Verdict::Converged, "level, SEED={seed}: {actions:#?}");
        assert_eq!(edge.verdict(), Verdict::Converged, "edge, SEED={seed}: {actions:#?}");
        assert_eq!(state(&level), state(&edge), "SEED={seed}: {actions:#?}");
    }
}

/// Whom they strike; what serves other kinds is struck in `beside`.
const WHO: [&str; 7] = [
    "replicaset",
    "deployment",
    "scheduler",
    "kubelet/node-1",
    "kubelet",
    "garbage-collector",
    "node-lifecycle",
];

/// Faults that end: lost, late, doubled and swapped events at the door, dead processes, crash
/// points, cut watches, compaction, an API server in trouble, dying containers.
fn faults(seed: u64) -> Vec<(Time, Fault)> {
    let mut rng = Rng::stream(seed, "faults");
    let mut faults = Vec::new();
    for _ in 0..1 + rng.below(6) {
        let at = Time::from_millis(rng.below(40_000));
        let who = WHO[rng.below(WHO.len() as u64) as usize];
        let kind = ["Pod", "ReplicaSet", "Deployment"][rng.below(3) as usize];
        let event = ["ADDED", "MODIFIED", "DELETED"][rng.below(3) as usize];
        let line = match rng.below(11) {
            0 | 1 => format!("drop to={who} kind={kind} type={event} count={}", 1 + rng.below(4)),
            2 => format!("duplicate to={who} kind={kind} count={}", 1 + rng.below(3)),
            3 => format!("delay to={who} kind={kind} by={}ms", rng.below(9_000)),
            4 => format!("reorder to={who} kind={kind}"),
            5 => format!("kill {who} for={}ms", 1 + rng.below(20_000)),
            6 => {
                let point = ["beforeRead", "beforeWrite", "betweenWrites", "beforeStatus"];
                let line = format!("crash {who} point={}", point[rng.below(4) as usize]);
                faults.push((at + Duration::from_secs(30), format!("restart {who}")));
                line
            }
            7 => format!("cut {who} for={}ms", 1 + rng.below(20_000)),
            8 => "compact".to_string(),
            9 => {
                let how = ["down", "slow", "throttle"][rng.below(3) as usize];
                format!("apiserver {how} for={}ms", 1 + rng.below(10_000))
            }
            _ => format!("node node-2 power={}", if rng.below(2) == 0 { "off" } else { "on" }),
        };
        faults.push((at, line));
    }
    // All machinery runs again in the end.
    faults.push((Time::from_secs(75), "node node-2 power=on".to_string()));
    let read = |(at, line): (Time, String)| (at, Fault::parse_line(&line).expect(&line));
    faults.into_iter().map(read).collect()
}

#[test]
fn level_converges_once_faults_end() {
    for seed in seeds() {
        let mut workload = workload(seed, Flavour::Level);
        // Expectations of a lost event expire after five minutes; a resync then shows what is
        // missing.
        let resync_period = Duration::from_secs(60);
        for name in [
            "replicaset",
            "deployment",
            "scheduler",
            "kubelet",
            "garbage-collector",
            "node-lifecycle",
        ] {
            let knobs = loopscope::world::Knobs { resync_period, ..Default::default() };
            workload.options.knobs.insert(name.to_string(), knobs);
        }
        workload.end += Duration::from_secs(1_203);
        let faults = faults(seed);
        let world = play(&workload, &faults);
        let told: Vec<String> =
            faults.iter().map(|(at, fault)| format!("{at:?} {fault}")).collect();
        assert_eq!(
            world.shortfalls(),
            [],
            "{:?}, SEED={seed}: {:#?}\n{told:#?}",
            world.verdict(),
            workload.actions
        );
    }
}

#[test]
fn nothing_that_faults_do_to_edge_makes_it_panic_or_run_away() {
    for seed in seeds() {
        let world = play(&workload(seed, Flavour::Edge), &faults(seed));
        let pods = world.store().list(Kind::Pod).count();
        assert!(pods < 200, "SEED={seed}: {pods} pods");
    }
}

/// Runs whose worlds live for a quarter of an hour are fewer.
fn some_seeds() -> impl Iterator<Item = u64> {
    seeds().take(150)
}

fn create(world: &mut World, kind: Kind, value: serde_json::Value) {
    let object = Object::from_value(kind, value).expect("well-formed");
    world.request(&Request::Create(Arc::new(object))).expect("valid");
}

fn web(replicas: u64, image: u64) -> serde_json::Value {
    let mut template = template(image);
    template["spec"]["containers"][0]["resources"] = json!({"requests": {"cpu": "100m"}});
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "replicas": replicas, "selector": {"matchLabels": {"app": "web"}},
            "template": template,
        },
    })
}

/// A load that all pods share, set a few times to a multiple of what one pod should use, so that
/// there is one right size; and an autoscaler with a random behavior.
fn autoscaled(seed: u64, flavour: Flavour) -> (World, u64) {
    let mut rng = Rng::stream(seed, "autoscaled");
    let target = ObjectKey::new(Kind::Deployment, "default", "web");
    let (mut load, mut at, mut pods) = (Vec::new(), Time::ZERO, 1 + rng.below(8));
    for _ in 0..1 + rng.below(4) {
        let (target, metric, milli) = (target.clone(), "cpu".into(), pods as i64 * 50);
        load.push(Load { at, target, metric, milli, total: true });
        at += Duration::from_secs(20 + rng.below(200));
        pods = 1 + rng.below(8);
    }
    let pods = load.last().map_or(1, |load| load.milli as u64 / 50);
    let mut world = World::new(Options { seed, flavour, load, ..Options::default() });
    create(&mut world, Kind::Deployment, web(1 + rng.below(9), 1));
    let mut spec = json!({
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
        "minReplicas": 1, "maxReplicas": 10,
        "metrics": [{"type": "Resource", "resource": {
            "name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50},
        }}],
    });
    if rng.below(2) == 0 {
        let policy = json!({"type": "Pods", "value": 1 + rng.below(3), "periodSeconds": 30});
        let window = rng.below(120);
        spec["behavior"] = json!({
            "scaleUp": {"policies": [policy], "stabilizationWindowSeconds": window / 4},
            "scaleDown": {"policies": [policy], "stabilizationWindowSeconds": window},
        });
    }
    let metadata = json!({"name": "web", "namespace": "default"});
    let value = json!({"metadata": metadata, "spec": spec});
    create(&mut world, Kind::HorizontalPodAutoscaler, value);
    assert!(world.run_until(at + Duration::from_secs(900), PLENTY), "too much happens");
    (world, pods)
}

#[test]
fn without_faults_both_flavours_of_the_autoscaler_come_to_the_right_size() {
    for seed in some_seeds() {
        for flavour in [Flavour::Level, Flavour::Edge] {
            let (world, pods) = autoscaled(seed, flavour);
            let key = ObjectKey::new(Kind::Deployment, "default", "web");
            let web = world.store().get(&key).expect("it is there");
            let size = web.as_deployment().map_or(0, |web| web.spec.replicas());
            assert_eq!(size, pods as i32, "{flavour:?}, SEED={seed}");
            assert_eq!(world.shortfalls(), [], "{flavour:?}, SEED={seed}");
        }
    }
}

/// Pushes and changes by hand, under an Application that prunes and heals.
fn synced(seed: u64, flavour: Flavour) -> World {
    let mut rng = Rng::stream(seed, "synced");
    let mut world = World::new(Options { seed, flavour, ..Options::default() });
    let mut at = Time::ZERO;
    let content = |rng: &mut Rng| {
        let map = |name: u64, text: u64| {
            json!({
                "apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": format!("map-{name}")}, "data": {"a": text.to_string()},
            })
        };
        let mut content = vec![web(rng.below(5), 1 + rng.below(3))];
        for name in 0..3 {
            if rng.below(2) == 0 {
                content.push(map(name, rng.below(3)));
            }
        }
        content
    };
    world.push(content(&mut rng));
    let value = json!({"metadata": {"name": "demo", "namespace": "argocd"}, "spec": {
        "project": "default", "source": {"repoURL": "r"}, "destination": {},
        "syncPolicy": {"automated": {"prune": true, "selfHeal": true}},
    }});
    create(&mut world, Kind::Namespace, json!({"metadata": {"name": "argocd"}}));
    create(&mut world, Kind::Application, value);
    for _ in 0..rng.below(6) {
        at += Duration::from_millis(match rng.below(3) {
            0 => 1 + rng.below(300),
            1 => rng.below(10_000),
            _ => 200_000,
        });
        assert!(world.run_until(at, PLENTY), "too much happens");
        let maps: Vec<ObjectKey> =
            world.store().list(Kind::ConfigMap).map(|object| object.key()).collect();
        // All is drawn, whatever there is in this lane.
        let (choice, pushed, replicas) = (rng.below(3), content(&mut rng), rng.below(5));
        match (choice, maps.first()) {
            (0, _) => _ = world.push(pushed),
            (1, Some(key)) => {
                let request = Request::Delete(key.clone(), DeleteOptions::default());
                world.request(&request).expect("it is there");
            }
            _ => {
                let key = ObjectKey::new(Kind::Deployment, "default", "web");
                let patch = json!({"spec": {"replicas": replicas}});
                // It may not be there yet.
                let _ = world.request(&Request::Patch(Part::Scale, key, patch));
            }
        }
    }
    assert!(world.run_until(at + Duration::from_secs(1_200), PLENTY), "too much happens");
    world
}

#[test]
fn without_faults_both_flavours_of_gitops_come_to_the_same_objects() {
    let objects = |world: &World| {
        let maps = world.store().list(Kind::ConfigMap).map(|map| {
            let data = map.as_generic().and_then(|map| map.rest.get("data")).cloned();
            format!("{} {data:?}", map.meta().name)
        });
        let maps: Vec<String> = maps.collect();
        (maps, state(world))
    };
    for seed in some_seeds() {
        let (level, edge) = (synced(seed, Flavour::Level), synced(seed, Flavour::Edge));
        assert_eq!(level.shortfalls(), [], "level, SEED={seed}");
        assert_eq!(edge.shortfalls(), [], "edge, SEED={seed}");
        assert_eq!(objects(&level), objects(&edge), "SEED={seed}");
    }
}
