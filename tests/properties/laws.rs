//! What must hold at every moment, or once and for all: bounds of a rollout, budgets, ownership.
//! Two hundred random runs each, unless `SEED` or `SEEDS` says otherwise.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use loopscope::api::{Condition, Deployment, Kind, ObjectKey, ReplicaSet};
use loopscope::apiserver::{DeleteOptions, Part, Propagation, Request};
use loopscope::kernel::{Rng, Time};
use loopscope::world::{ControllerId, Fault, Flavour, Options, Verdict, World};
use serde_json::{Value, json};

use super::{PLENTY, create, faults, play, seeds, template, workload};

fn some_seeds() -> impl Iterator<Item = u64> {
    seeds().take(200)
}

fn new_world(seed: u64) -> World {
    World::new(Options { seed, ..Options::default() })
}

/// Runs until `until` and calls `watch` whenever something was written.
fn run(world: &mut World, until: Time, mut watch: impl FnMut(&World)) {
    let mut seen = 0;
    let ended = (0..PLENTY).any(|_| {
        let moved = world.step(until);
        if world.store().revision() != seen {
            seen = world.store().revision();
            watch(world);
        }
        !moved
    });
    assert!(ended, "too much happens");
}

fn after(world: &World, milliseconds: u64) -> Time {
    world.now() + Duration::from_millis(milliseconds)
}

fn inflict(world: &mut World, line: &str) {
    world.inflict(&Fault::parse_line(line).unwrap_or_else(|error| panic!("{line}: {error}")));
}

fn web() -> ObjectKey {
    ObjectKey::new(Kind::Deployment, "default", "web")
}

fn deployment(replicas: i64, more: Value) -> Value {
    let mut spec = json!({
        "replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template(1),
    });
    for (key, value) in more.as_object().into_iter().flatten() {
        spec[key] = value.clone();
    }
    json!({"metadata": {"name": "web", "namespace": "default"}, "spec": spec})
}

fn set_image(world: &mut World, image: u64) {
    let patch = json!({"spec": {"template": template(image)}});
    world.request(&Request::Patch(Part::Main, web(), patch)).expect("it is there");
}

fn the_deployment(world: &World) -> Option<Deployment> {
    world.store().get(&web())?.as_deployment().cloned()
}

fn sets(world: &World) -> Vec<ReplicaSet> {
    let sets = world.store().list(Kind::ReplicaSet);
    sets.filter_map(|set| set.as_replica_set().cloned()).collect()
}

/// Each pod with its node and what it has come to.
fn pods(world: &World) -> Vec<String> {
    let pods = world.store().list(Kind::Pod).filter_map(|pod| pod.as_pod());
    pods.map(|pod| {
        let node = pod.spec.node_name.clone().unwrap_or_default();
        let (phase, ready) = (&pod.status.phase, pod.is_ready());
        format!("{} on {node}: {phase:?}, ready {ready}", pod.metadata.name)
    })
    .collect()
}

/// Pods that count as available: ready, and neither ended nor on their way out.
fn available(world: &World) -> i64 {
    let pods = world.store().list(Kind::Pod).filter_map(|pod| pod.as_pod());
    pods.filter(|pod| pod.is_active() && pod.is_ready()).count() as i64
}

/// A bound as a number or in per cent, with what it comes to; surge is rounded up, the other down.
fn bound(rng: &mut Rng, replicas: i64, up: bool) -> (Value, i64) {
    if rng.below(2) == 0 {
        let number = rng.below(4) as i64;
        return (number.into(), number);
    }
    let per_cent = [0, 20, 25, 34, 50, 100][rng.below(6) as usize];
    let hundreds = replicas * per_cent + if up { 99 } else { 0 };
    (format!("{per_cent}%").into(), hundreds / 100)
}

/// How far a rolling update may go.
struct Bounds {
    replicas: i64,
    /// So many more than that.
    more: i64,
    /// So many of them may be missing.
    fewer: i64,
    told: String,
}

impl Bounds {
    /// Random ones, and a cluster in which a Deployment with them is well.
    fn draw(seed: u64, stream: &str) -> Option<(Bounds, World, Rng)> {
        let mut rng = Rng::stream(seed, stream);
        let replicas = 1 + rng.below(8) as i64;
        let (surge, more) = bound(&mut rng, replicas, true);
        let (unavailable, fewer) = bound(&mut rng, replicas, false);
        // Both nothing as numbers is not valid; as percentages one pod may be missing.
        let written_zero = |value: &Value| *value == json!(0) || *value == json!("0%");
        if written_zero(&surge) && written_zero(&unavailable) {
            return None;
        }
        let fewer = if more == 0 && fewer == 0 { 1 } else { fewer.min(replicas) };
        let rolling = json!({"maxSurge": surge, "maxUnavailable": unavailable});
        let told = format!("SEED={seed}: {replicas} replicas, {rolling}");
        let strategy = json!({"type": "RollingUpdate", "rollingUpdate": rolling});
        let mut world = new_world(seed);
        let value = deployment(replicas, json!({"strategy": strategy}));
        create(&mut world, Kind::Deployment, value);
        run(&mut world, Time::from_secs(30), |_| ());
        assert_eq!(world.verdict(), Verdict::Converged, "{told}");
        Some((Bounds { replicas, more, fewer, told }, world, rng))
    }

    /// Fails if they are broken, but for so many pods that a fault has taken. Above, the sets'
    /// sizes count and not their pods: one that was made smaller may still have to delete.
    fn hold(&self, world: &World, taken: usize) {
        let (told, now) = (&self.told, world.now());
        let wanted: i64 = sets(world).iter().map(|set| i64::from(set.spec.replicas())).sum();
        let most = self.replicas + self.more;
        assert!(wanted <= most, "{told}: {wanted} at {now:?} {:?}", outcome(world).0);
        let (have, least) = (available(world), self.replicas - self.fewer - taken as i64);
        assert!(have >= least, "{told}: {have} left at {now:?}, {taken} were taken");
    }
}

/// Notes pods on a node that is off, without its kubelet, or taken for dead: for these the
/// Deployment is not to blame.
fn note_taken(world: &World, taken: &mut BTreeSet<String>) {
    for pod in world.store().list(Kind::Pod).filter_map(|pod| pod.as_pod()) {
        let Some(name) = &pod.spec.node_name else { continue };
        let key = ObjectKey::new(Kind::Node, "", name.clone());
        let node = world.store().get(&key).and_then(|node| node.as_node());
        let is_well = node.is_some_and(|node| Condition::holds(&node.status.conditions, "Ready"));
        let runs = (0..).zip(world.kubelets()).any(|(number, kubelet)| {
            let process = world.process(ControllerId::Kubelet(number));
            kubelet.node_name() == name && kubelet.is_powered() && process.is_some_and(|p| p.alive)
        });
        if !is_well || !runs {
            taken.insert(pod.metadata.uid.to_string());
        }
    }
}

#[test]
fn a_rolling_update_stays_within_its_bounds() {
    for seed in some_seeds() {
        let Some((bounds, mut world, mut rng)) = Bounds::draw(seed, "bounds") else { continue };
        let watch = |world: &World| bounds.hold(world, 0);
        // One at a time: a controller that has not yet seen its own last write makes the next set
        // by an old count, so an update in the midst of another one may go beyond for a moment.
        for image in 2..3 + rng.below(3) {
            set_image(&mut world, image);
            let until = after(&world, 120_000);
            run(&mut world, until, watch);
        }
        assert_eq!(world.verdict(), Verdict::Converged, "{}", bounds.told);
    }
}

#[test]
fn faults_break_no_bound_of_a_rolling_update_but_by_taking_pods() {
    for seed in some_seeds() {
        let Some((bounds, mut world, _)) = Bounds::draw(seed, "bounds-under-faults") else {
            continue;
        };
        set_image(&mut world, 2);
        let (start, mut taken) = (world.now(), BTreeSet::new());
        let mut watch = |world: &World| {
            note_taken(world, &mut taken);
            bounds.hold(world, taken.len());
        };
        let mut faults = faults(seed);
        faults.sort_by_key(|(at, _)| *at);
        for (at, fault) in &faults {
            run(&mut world, start + at.elapsed(), &mut watch);
            world.inflict(fault);
            watch(&world);
        }
        let until = after(&world, 600_000);
        run(&mut world, until, &mut watch);
    }
}

#[test]
fn evictions_never_break_a_budget() {
    for seed in some_seeds() {
        let mut rng = Rng::stream(seed, "budget");
        let replicas = 2 + rng.below(5) as i64;
        let least = 1 + rng.below(replicas as u64) as i64;
        let budget = match rng.below(2) {
            0 => json!({"minAvailable": least}),
            _ => json!({"maxUnavailable": replicas - least}),
        };
        let told = format!("SEED={seed}: {replicas} replicas, {budget}");
        let mut world = new_world(seed);
        create(&mut world, Kind::Deployment, deployment(replicas, json!({})));
        let mut spec = budget;
        spec["selector"] = json!({"matchLabels": {"app": "web"}});
        let metadata = json!({"name": "web", "namespace": "default"});
        let value = json!({"metadata": metadata, "spec": spec});
        create(&mut world, Kind::PodDisruptionBudget, value);
        run(&mut world, Time::from_secs(20), |_| ());
        let watch = |world: &World| {
            let have = available(world);
            assert!(have >= least, "{told}: {have} left at {:?}", world.now());
        };
        let mut gone = 0;
        for _ in 0..5 + rng.below(25) {
            let until = after(&world, rng.below(2_500));
            run(&mut world, until, watch);
            if rng.below(6) == 0 {
                let faults =
                    ["kill disruption for=2s", "restart disruption", "cut disruption for=3s"];
                inflict(&mut world, faults[rng.below(3) as usize]);
            }
            let pods: Vec<ObjectKey> = world.store().list(Kind::Pod).map(|pod| pod.key()).collect();
            let key = pods[rng.below(pods.len() as u64) as usize].clone();
            let asked = Request::Evict(key, DeleteOptions::default());
            gone += u32::from(world.request(&asked).is_ok());
            watch(&world);
        }
        assert!(gone > 0 || least == replicas, "{told}: nobody was let go");
        // What the disruption controller still expects to go, it forgets after two minutes.
        let until = after(&world, 400_000);
        run(&mut world, until, watch);
        assert_eq!(world.verdict(), Verdict::Converged, "{told}");
    }
}

/// Something that happens to the garbage collector while it works.
fn trouble_collector(world: &mut World, rng: &mut Rng) {
    let line = match rng.below(5) {
        0 => "kill garbage-collector for=5s",
        1 => "restart garbage-collector",
        2 => "cut garbage-collector for=5s",
        3 => "apiserver throttle for=3s",
        _ => return,
    };
    inflict(world, line);
}

#[test]
fn dependents_go_with_their_owner_or_stay_without_one_as_asked() {
    for seed in some_seeds() {
        let mut rng = Rng::stream(seed, "owners");
        let replicas = 1 + rng.below(4) as i64;
        let kind = [Kind::Deployment, Kind::ReplicaSet, Kind::StatefulSet][rng.below(3) as usize];
        let propagation = [Propagation::Background, Propagation::Foreground, Propagation::Orphan]
            [rng.below(3) as usize];
        let told = format!("SEED={seed}: {kind:?} of {replicas}, {propagation:?}");
        let mut world = new_world(seed);
        create(&mut world, kind, deployment(replicas, json!({})));
        // In the midst of its beginnings, or when all is quiet.
        run(
            &mut world,
            Time::from_millis([rng.below(4_000), 30_000][rng.below(2) as usize]),
            |_| (),
        );
        let key = ObjectKey::new(kind, "default", "web");
        let owner = world.store().get(&key).expect("it is there").meta().uid.clone();
        let options = DeleteOptions { propagation: Some(propagation), ..DeleteOptions::default() };
        world.request(&Request::Delete(key.clone(), options)).expect("it is there");
        for _ in 0..rng.below(4) {
            let until = after(&world, rng.below(4_000));
            run(&mut world, until, |_| ());
            trouble_collector(&mut world, &mut rng);
        }
        let until = after(&world, 240_000);
        run(&mut world, until, |_| ());
        assert!(world.store().get(&key).is_none(), "{told}: it is still there");
        let owned = world.store().all().filter(|object| {
            object.meta().owner_references.iter().any(|reference| reference.uid == owner)
        });
        let owned: Vec<String> = owned.map(|object| object.key().to_string()).collect();
        assert!(owned.is_empty(), "{told}: {owned:?}");
        let pods = world.store().list(Kind::Pod).count() as i64;
        match propagation {
            // Deleted in its first moments, it may not have made all of them.
            Propagation::Orphan => assert!(pods <= replicas, "{told}: {pods} pods"),
            _ => assert_eq!((pods, sets(&world).len()), (0, 0), "{told}"),
        }
    }
}

/// Sets by name: their size and revision.
type Sizes = BTreeMap<String, (i32, String)>;

/// What a rollout has come to: its sets with their sizes, and what the status says of it.
fn outcome(world: &World) -> (Sizes, Option<(String, String)>) {
    let revision = "deployment.kubernetes.io/revision";
    let sizes = sets(world).into_iter().map(|set| {
        let number = set.metadata.annotations.get(revision).map(|n| n.to_string());
        (set.metadata.name.to_string(), (set.spec.replicas(), number.unwrap_or_default()))
    });
    let status = the_deployment(world).map(|web| web.status).unwrap_or_default();
    let progressing = Condition::find(&status.conditions, "Progressing");
    let word = progressing
        .map(|c| (format!("{:?}", c.status), c.reason.clone().unwrap_or_default().to_string()));
    (sizes.collect(), word)
}

#[test]
fn a_finished_rollout_stays_finished() {
    for seed in some_seeds() {
        let mut rng = Rng::stream(seed, "finished");
        let mut world = new_world(seed);
        let seconds = json!({"progressDeadlineSeconds": 20});
        create(&mut world, Kind::Deployment, deployment(1 + rng.below(5) as i64, seconds));
        run(&mut world, Time::from_secs(30), |_| ());
        for image in 2..2 + rng.below(3) {
            set_image(&mut world, image);
            let until = after(&world, 60_000);
            run(&mut world, until, |_| ());
        }
        let finished = outcome(&world);
        let word = Some(("True".to_string(), "NewReplicaSetAvailable".to_string()));
        assert_eq!(finished.1, word, "SEED={seed}");
        let watch = |world: &World| {
            assert_eq!(outcome(world), finished, "SEED={seed} at {:?}", world.now());
        };
        for _ in 0..1 + rng.below(8) {
            let until = after(&world, rng.below(30_000));
            run(&mut world, until, watch);
            let who = ["deployment", "replicaset"][rng.below(2) as usize];
            match rng.below(6) {
                0 => inflict(&mut world, &format!("restart {who}")),
                1 => inflict(&mut world, &format!("kill {who} for=5s")),
                2 => inflict(&mut world, &format!("cut {who} for=5s")),
                3 => inflict(&mut world, &format!("resync {who}")),
                4 => inflict(&mut world, &format!("duplicate to={who} kind=Pod count=3")),
                _ => {
                    let first = world.store().list(Kind::Pod).next().map(|pod| pod.key());
                    let options = DeleteOptions::default();
                    if let Some(key) = first {
                        world.request(&Request::Delete(key, options)).expect("it is there");
                    }
                }
            }
        }
        let until = after(&world, 120_000);
        run(&mut world, until, watch);
        assert_eq!(world.verdict(), Verdict::Converged, "SEED={seed}");
    }
}

#[test]
fn without_a_resync_level_converges_after_the_last_fault_or_says_what_it_waits_for() {
    for seed in some_seeds() {
        let mut workload = workload(seed, Flavour::Level);
        workload.end += Duration::from_secs(1_203);
        // An event that is lost may leave a loop in ignorance for ever: that is the honest limit of
        // level-triggered without a resync, and `lost-on-the-wire` shows it.
        let mut faults = faults(seed);
        faults.retain(|(_, fault)| !fault.to_string().starts_with("fault drop"));
        let world = play(&workload, &faults);
        let told: Vec<String> = faults.iter().map(|(at, f)| format!("{at:?} {f}")).collect();
        let told = format!("SEED={seed}: {:#?}\n{told:#?}", workload.actions);
        match world.verdict() {
            Verdict::Converged => assert_eq!(world.shortfalls(), [], "{told}"),
            Verdict::Waiting { until, .. } => assert!(until > world.now(), "{told}"),
            other => panic!("{other:?} {:?} {:?}, {told}", outcome(&world), pods(&world)),
        }
    }
}
