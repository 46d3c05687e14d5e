//! A verdict is a claim about the future. Here it is put to the proof: from the moment of the claim the
//! cluster runs on for an hour with nobody touching it.

use std::collections::BTreeSet;
use std::time::Duration;

use loopscope::api::Kind;
use loopscope::kernel::{Rng, Time};
use loopscope::world::{Fault, Flavour, Knobs, Verdict, World};

use super::{Action, PLENTY, Workload, act, faults, seeds, workload};

const HOUR: Duration = Duration::from_secs(3_600);

/// What a verdict makes a claim about: which pods there are, and what is missing.
fn standing(world: &World) -> (BTreeSet<String>, String) {
    let pods = world.store().list(Kind::Pod).map(|pod| pod.meta().uid.to_string()).collect();
    (pods, format!("{:?}", world.shortfalls()))
}

/// How often each verdict was put to the proof.
#[derive(Debug, Default)]
struct Proofs {
    converged: u32,
    stuck: u32,
    waiting: u32,
}

impl Proofs {
    /// Fails if the verdict of this moment does not come true.
    fn prove(&mut self, world: &World, told: &str) {
        let verdict = world.verdict();
        let (claim, until) = match &verdict {
            Verdict::Converged => (&mut self.converged, world.now() + HOUR),
            Verdict::Stuck { .. } => (&mut self.stuck, world.now() + HOUR),
            // Up to the moment that it names; what comes then may change everything.
            Verdict::Waiting { until, .. } => (&mut self.waiting, *until - Duration::from_nanos(1)),
            Verdict::Converging | Verdict::Oscillating { .. } => return,
        };
        *claim += 1;
        let before = standing(world);
        let mut later = world.clone();
        assert!(later.run_until(until, PLENTY), "{told}: too much happens");
        assert_eq!(before, standing(&later), "{told}: {verdict:?} at {:?}", world.now());
    }
}

/// Plays a workload under faults, and puts the verdict to the proof after each thing that happens
/// and at some moments after the last.
fn play_and_prove(
    workload: &Workload,
    faults: &[(Time, Fault)],
    rng: &mut Rng,
    told: &str,
) -> Proofs {
    let mut moments: Vec<Time> = workload.actions.iter().map(|(at, _)| *at).collect();
    moments.extend(faults.iter().map(|(at, _)| *at));
    let last = moments.iter().max().copied().unwrap_or_default();
    moments.extend((0..6).map(|_| last + Duration::from_millis(rng.below(400_000))));
    moments.sort();
    let (mut proofs, mut world) = (Proofs::default(), World::new(workload.options.clone()));
    for (number, moment) in moments.iter().enumerate() {
        assert!(world.run_until(*moment, PLENTY), "{told}: too much happens");
        // Just before something is done, all that was done before has had the most time to settle.
        if number == 0 || moments[number - 1] != *moment {
            proofs.prove(&world, told);
        }
        let actions = workload.actions.iter().filter(|(at, _)| at == moment);
        actions.for_each(|(_, action)| act(&mut world, action));
        let faults = faults.iter().filter(|(at, _)| at == moment);
        faults.for_each(|(_, fault)| world.inflict(fault));
    }
    proofs
}

/// After all is quiet a pod is deleted and nobody is told.
fn lose_a_deletion(workload: &mut Workload, faults: &mut Vec<(Time, Fault)>) {
    let drop = Fault::parse_line("drop to=replicaset kind=Pod type=DELETED").expect("a fault");
    let (at, pause) = (workload.end, Duration::from_secs(1));
    faults.push((at, drop));
    workload.actions.push((at + pause, Action::DeletePod { nth: 0, force: false }));
}

#[test]
fn what_a_verdict_says_of_the_next_hour_comes_true() {
    let mut all = Proofs::default();
    for seed in seeds().take(20) {
        for flavour in [Flavour::Edge, Flavour::Level] {
            let told = format!("SEED={seed}, {flavour:?}");
            let (mut workload, mut faults) = (workload(seed, flavour), faults(seed));
            if seed % 2 == 0 {
                lose_a_deletion(&mut workload, &mut faults);
            }
            if seed % 3 == 0 {
                // There is something to wait for.
                let resync_period = Duration::from_secs(300);
                let knobs = Knobs { resync_period, ..Knobs::default() };
                workload.options.knobs.insert("replicaset".to_string(), knobs);
            }
            let mut rng = Rng::stream(seed, "proofs");
            let proofs = play_and_prove(&workload, &faults, &mut rng, &told);
            all.converged += proofs.converged;
            all.stuck += proofs.stuck;
            all.waiting += proofs.waiting;
        }
    }
    println!("put to the proof: {all:?}");
    let whole = std::env::var("SEED").is_err();
    let enough = all.converged > 100 && all.stuck > 20 && all.waiting > 0;
    assert!(!whole || enough, "too few verdicts were put to the proof: {all:?}");
}
