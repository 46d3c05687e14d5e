//! Whatever a person does to a session, in whatever order, the moment that is shown is the one that
//! a fresh run with the same inputs comes to; and its link opens as the same. `SEED=n` plays one
//! session again, `SEEDS=n` that many.

use std::time::Duration;

use loopscope::kernel::Time;
use loopscope::scenario::{In, Run, shipped};
use loopscope::view::Session;
use oorandom::Rand64;

const PLENTY: u64 = 10_000_000;
const STEPS: usize = 14;
/// As far as a session goes.
const LATEST: Time = Time::from_secs(150);

const LINES: [&str; 12] = [
    "kubectl delete pod -l app=web --limit=1",
    "kubectl delete pod -l app=web --limit=2 --grace-period=0 --force",
    "kubectl scale deployment web --replicas=5",
    "kubectl scale rs web --replicas=2",
    "kubectl set image deployment/web web=registry.example/web:2",
    "kubectl get pods",
    "fault kill replicaset",
    "fault restart replicaset",
    "fault drop to=replicaset kind=Pod type=DELETED",
    "fault node node-1 power=off",
    "fault resync replicaset",
    "no such line",
];

fn seeds() -> Vec<u64> {
    let read = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    match (read("SEED"), read("SEEDS")) {
        (Some(one), _) => vec![one],
        (_, many) => (0..many.unwrap_or(25)).collect(),
    }
}

fn hashes(run: &Run) -> Vec<u64> {
    run.lanes().iter().map(|lane| lane.world.trace_hash()).collect()
}

/// Does something at random, and says what.
fn act(session: &mut Session, dice: &mut Rand64) -> String {
    match dice.rand_range(0..10) {
        0..=3 => {
            let line = LINES[dice.rand_range(0..LINES.len() as u64) as usize];
            let lanes = [In::Both, In::Edge, In::Level][dice.rand_range(0..3) as usize];
            session.act(line, None, lanes);
            format!("{line} in {lanes:?}")
        }
        4 | 5 => {
            let span = session.end().as_nanos() / 1_000_000 + 6_000;
            let to = Time::from_millis(dice.rand_range(0..span)).min(LATEST);
            session.seek(to);
            format!("seek {to:?}")
        }
        6 => format!("forward {}", session.now() < LATEST && session.step_forward()),
        7 => format!("back {}", session.step_back()),
        8 => format!("undo {}", session.undo()),
        _ => format!("redo {}", session.redo()),
    }
}

fn check(session: &Session, told: &[String]) {
    let seen = session.run();
    let inputs = seen.inputs().to_vec();
    let mut fresh = Run::new(seen.scenario().clone(), seen.seed(), inputs);
    fresh.run_until(seen.now(), PLENTY);
    assert_eq!(hashes(seen), hashes(&fresh), "after {told:#?}");
}

#[test]
fn every_moment_of_a_random_session_is_that_of_a_fresh_run() {
    for seed in seeds() {
        let mut dice = Rand64::new(u128::from(seed) + 1);
        let all = shipped();
        let id = all[dice.rand_range(0..all.len() as u64) as usize].id;
        let mut session = Session::open_shipped(id, Some(seed));
        let mut told = vec![format!("{id}, seed {seed}")];
        for _ in 0..STEPS {
            told.push(act(&mut session, &mut dice));
            check(&session, &told);
        }
    }
}

#[test]
fn the_link_of_a_random_session_opens_as_that_session() {
    for seed in seeds() {
        let mut dice = Rand64::new(u128::from(seed) + 1_000);
        let mut session = Session::open_shipped("lost-event", Some(seed));
        let mut told = vec![format!("seed {seed}")];
        for _ in 0..STEPS {
            told.push(act(&mut session, &mut dice));
        }
        let link = match session.link() {
            Ok(link) => link,
            Err(_) => continue, // offered as a file
        };
        assert!(link.len() <= loopscope::view::LINK_MAX, "{}", link.len());
        let (other, notice) = Session::from_link(&link);
        assert_eq!(notice, None, "{told:#?}");
        let moment = |session: &Session| (session.now(), hashes(session.run()));
        assert_eq!(moment(&other), moment(&session), "{told:#?}");
    }
}

#[test]
fn undoing_all_and_redoing_all_comes_back_to_the_same_end() {
    for seed in seeds() {
        let mut dice = Rand64::new(u128::from(seed) + 2_000);
        let mut session = Session::open_shipped("doubled-event", Some(seed));
        for _ in 0..4 {
            let line = LINES[dice.rand_range(0..LINES.len() as u64) as usize];
            session.act(line, None, In::Both);
            session.seek(session.now() + Duration::from_secs(3));
        }
        let end = session.now();
        let before = (session.run().inputs().to_vec(), hashes(session.run()));
        let mut undone = 0;
        while session.undo() {
            undone += 1;
        }
        assert!(session.run().inputs().is_empty());
        (0..undone).for_each(|_| assert!(session.redo()));
        session.seek(end);
        assert_eq!((session.run().inputs().to_vec(), hashes(session.run())), before, "{seed}");
    }
}
