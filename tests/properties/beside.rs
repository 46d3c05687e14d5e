//! Loops that work beside the workloads' own: endpoints, quota, namespaces, node life cycle,
//! autoscaler, GitOps. Whatever strikes them, once it is over they come to what is true.

use std::collections::BTreeSet;
use std::time::Duration;

use loopscope::api::{Condition, Kind, ObjectKey};
use loopscope::apiserver::{DeleteOptions, Request};
use loopscope::kernel::{Rng, Time};
use loopscope::world::{Fault, Knobs, Load, Options, World};
use serde_json::{Value, json};

use super::{PLENTY, create, some_seeds, web};

/// Each loop with the kinds of which it hears.
const LOOPS: [(&str, &[&str]); 6] = [
    ("hpa", &["HorizontalPodAutoscaler", "Deployment", "Pod"]),
    ("gitops", &["Application", "Deployment", "ConfigMap"]),
    ("endpointslice", &["Service", "Pod", "EndpointSlice"]),
    ("namespace", &["Namespace"]),
    ("node-lifecycle", &["Node", "Lease", "Pod"]),
    ("resourcequota", &["ResourceQuota", "Pod"]),
];

fn inflict(world: &mut World, line: &str) {
    world.inflict(&Fault::parse_line(line).unwrap_or_else(|error| panic!("{line}: {error}")));
}

fn run_to(world: &mut World, at: Time) {
    assert!(world.run_until(at, PLENTY), "too much happens");
}

/// A load that asks for so many pods.
fn load(at: Time, pods: u64) -> Load {
    let target = ObjectKey::new(Kind::Deployment, "default", "web");
    Load { at, target, metric: "cpu".into(), milli: pods as i64 * 50, total: true }
}

fn config_map(name: &str, text: u64) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name},
        "data": {"a": text.to_string()},
    })
}

/// A cluster in which each of the loops has something to do.
fn cluster(seed: u64) -> World {
    let mut options = Options { seed, load: vec![load(Time::ZERO, 3)], ..Options::default() };
    // What was lost on its way is looked at again.
    let resync_period = Duration::from_secs(60);
    let knobs = Knobs { resync_period, ..Knobs::default() };
    let names = LOOPS.iter().map(|(name, _)| *name).chain(["replicaset", "deployment"]);
    options.knobs = names.map(|name| (name.to_string(), knobs)).collect();
    let mut world = World::new(options);
    let at = |name: &str, namespace: &str| json!({"name": name, "namespace": namespace});
    for name in ["argocd", "old"] {
        create(&mut world, Kind::Namespace, json!({"metadata": {"name": name}}));
    }
    let spec = json!({"hard": {"pods": "40"}});
    create(
        &mut world,
        Kind::ResourceQuota,
        json!({"metadata": at("all", "default"), "spec": spec}),
    );
    create(&mut world, Kind::Deployment, web(2, 1));
    let spec = json!({"selector": {"app": "web"}, "ports": [{"port": 80}]});
    create(&mut world, Kind::Service, json!({"metadata": at("web", "default"), "spec": spec}));
    let spec = json!({
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
        "minReplicas": 1, "maxReplicas": 10,
        "metrics": [{"type": "Resource", "resource": {
            "name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50},
        }}],
    });
    let value = json!({"metadata": at("web", "default"), "spec": spec});
    create(&mut world, Kind::HorizontalPodAutoscaler, value);
    let mut inside = web(2, 1);
    inside["metadata"]["namespace"] = json!("old");
    create(&mut world, Kind::Deployment, inside);
    world.push(vec![config_map("one", 0)]);
    let spec = json!({
        "project": "default", "source": {"repoURL": "r"}, "destination": {},
        "syncPolicy": {"automated": {"prune": true, "selfHeal": true}},
    });
    create(&mut world, Kind::Application, json!({"metadata": at("demo", "argocd"), "spec": spec}));
    world
}

/// A fault on one of the loops.
fn trouble(world: &mut World, rng: &mut Rng) -> String {
    let (who, kinds) = LOOPS[rng.below(6) as usize];
    let kind = kinds[rng.below(kinds.len() as u64) as usize];
    let event = ["ADDED", "MODIFIED", "DELETED"][rng.below(3) as usize];
    let point = ["beforeRead", "beforeWrite", "betweenWrites", "beforeStatus"];
    let point = point[rng.below(4) as usize];
    let count = 1 + rng.below(4);
    let line = match rng.below(9) {
        0 | 1 => format!("drop to={who} kind={kind} type={event} count={count}"),
        2 => format!("duplicate to={who} kind={kind} count={count}"),
        3 => format!("delay to={who} kind={kind} by={}ms", rng.below(9_000)),
        4 => format!("reorder to={who} kind={kind}"),
        5 => format!("kill {who} for={}ms", 1 + rng.below(20_000)),
        6 => format!("crash {who} point={point}"),
        7 => format!("cut {who} for={}ms", 1 + rng.below(20_000)),
        _ => format!("apiserver {} for=5s", ["down", "slow", "throttle"][rng.below(3) as usize]),
    };
    inflict(world, &line);
    line
}

/// Something that gives one of the loops work.
fn act(world: &mut World, rng: &mut Rng) {
    match rng.below(6) {
        0 => {
            let (at, pods) = (world.now(), 1 + rng.below(8));
            world.set_load(load(at, pods));
        }
        1 => _ = world.push(vec![config_map("one", rng.below(3)), config_map("two", 1)]),
        2 => {
            let key = ObjectKey::new(Kind::Namespace, "", "old");
            let _ = world.request(&Request::Delete(key, DeleteOptions::default()));
        }
        3 => inflict(world, "node node-2 power=off"),
        4 => inflict(world, "node node-2 power=on"),
        _ => {
            let pods: Vec<ObjectKey> = world.store().list(Kind::Pod).map(|pod| pod.key()).collect();
            if let Some(key) = pods.get(rng.below(8) as usize) {
                let _ = world.request(&Request::Delete(key.clone(), DeleteOptions::default()));
            }
        }
    }
}

/// All is over: what was armed and has not struck, strikes nobody; and everything runs.
fn settle(world: &mut World) {
    inflict(world, "node node-2 power=on");
    for (who, _) in LOOPS {
        for what in ["restart", "kill", "restart"] {
            inflict(world, &format!("{what} {who}"));
        }
    }
    let key = ObjectKey::new(Kind::Namespace, "", "old");
    let _ = world.request(&Request::Delete(key, DeleteOptions::default()));
    let now = world.now();
    world.set_load(load(now, 4));
    world.push(vec![config_map("two", 2)]);
}

/// The addresses of the ready pods of the Service, and those that its slices call ready.
fn addresses(world: &World) -> (BTreeSet<String>, BTreeSet<String>) {
    let pods = world.store().list(Kind::Pod).filter_map(|pod| pod.as_pod());
    let own = pods.filter(|pod| &*pod.metadata.namespace == "default" && pod.is_ready());
    let truth = own.filter_map(|pod| Some(pod.status.pod_ip.as_ref()?.to_string())).collect();
    let slices = world.store().list(Kind::EndpointSlice).map(|slice| slice.to_value());
    let mut told = BTreeSet::new();
    for slice in slices {
        for endpoint in slice["endpoints"].as_array().into_iter().flatten() {
            if endpoint["conditions"]["ready"] == json!(true) {
                told.extend(endpoint["addresses"][0].as_str().map(str::to_string));
            }
        }
    }
    (truth, told)
}

fn assert_true(world: &World, told: &str) {
    assert_eq!(world.shortfalls(), [], "{told}: {:?}", world.verdict());
    let key = ObjectKey::new(Kind::Deployment, "default", "web");
    let web = world.store().get(&key).and_then(|web| web.as_deployment());
    assert_eq!(web.map(|web| web.spec.replicas()), Some(4), "{told}: hpa");
    let (truth, slices) = addresses(world);
    assert_eq!((truth.len(), &truth), (4, &slices), "{told}: endpoints");
    let maps = world.store().list(Kind::ConfigMap).map(|map| map.to_value());
    let maps: Vec<String> =
        maps.map(|map| format!("{} {}", map["metadata"]["name"], map["data"])).collect();
    assert_eq!(maps, [r#""two" {"a":"2"}"#], "{told}: gitops");
    let left = world.store().all().map(|object| object.key());
    // Events stay: here nobody looks after them.
    let left = left.filter(|key| &*key.namespace == "old" && key.kind != Kind::Event);
    let left: Vec<ObjectKey> = left.collect();
    assert_eq!(left, [], "{told}: namespace");
    let key = ObjectKey::new(Kind::Namespace, "", "old");
    assert!(world.store().get(&key).is_none(), "{told}: namespace");
    let quota = world.store().list(Kind::ResourceQuota).next().expect("it is there").to_value();
    assert_eq!(quota["status"]["used"]["pods"], json!("4"), "{told}: quota");
    for node in world.store().list(Kind::Node).filter_map(|node| node.as_node()) {
        let is_ready = Condition::holds(&node.status.conditions, "Ready");
        assert!(is_ready && node.spec.taints.is_empty(), "{told}: {}", node.metadata.name);
    }
}

#[test]
fn loops_beside_the_workloads_come_to_what_is_true_once_faults_end() {
    for seed in some_seeds() {
        let (mut rng, mut world) = (Rng::stream(seed, "beside"), cluster(seed));
        let mut told = format!("SEED={seed}");
        for _ in 0..4 + rng.below(10) {
            let at = world.now() + Duration::from_millis(rng.below(40_000));
            run_to(&mut world, at);
            if rng.below(2) == 0 {
                act(&mut world, &mut rng);
            } else {
                told += &format!("\n{at:?} {}", trouble(&mut world, &mut rng));
            }
        }
        settle(&mut world);
        let end = world.now() + Duration::from_secs(1_200);
        run_to(&mut world, end);
        assert_true(&world, &told);
    }
}
