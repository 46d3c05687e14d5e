//! Whatever a person does to a session, in whatever order, the moment that is shown is the one that
//! a fresh run with the same inputs comes to; and its link opens as the same. `SEED=n` plays one
//! session again, `SEEDS=n` that many.

use std::time::Duration;

use loopscope::kernel::Time;
use loopscope::scenario::{In, Run, shipped};
use loopscope::view::Session;
use oorandom::Rand64;

mod common;

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

fn hashes(run: &Run) -> Vec<u64> {
    run.lanes().iter().map(|lane| lane.world.trace_hash()).collect()
}

/// Does something at random, and says what.
fn act(session: &mut Session, dice: &mut Rand64) -> String {
    match dice.rand_range(0..13) {
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
        8 | 9 => format!("undo {}", session.undo()),
        10 => {
            let others = session.futures();
            let chosen = dice.rand_range(0..others.len().max(1) as u64) as usize;
            let shown = others.get(chosen).is_some_and(|other| session.show_future(other.id));
            format!("future {chosen} of {} {shown}", others.len())
        }
        11 if dice.rand_range(0..3) == 0 => {
            session.restart();
            "restart".to_string()
        }
        _ => format!("redo {}", session.redo()),
    }
}

/// Any scenario that ships. The storm is large, and its sessions are like all others.
fn open(seed: u64, dice: &mut Rand64) -> (Session, Vec<String>) {
    let all: Vec<_> = shipped().iter().filter(|one| one.id != "storm").collect();
    let id = all[dice.rand_range(0..all.len() as u64) as usize].id;
    (Session::open_shipped(id, Some(seed)), vec![format!("{id}, seed {seed}")])
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
    for seed in common::seeds(25) {
        let mut dice = Rand64::new(u128::from(seed) + 1);
        let (mut session, mut told) = open(seed, &mut dice);
        for _ in 0..STEPS {
            told.push(act(&mut session, &mut dice));
            check(&session, &told);
        }
    }
}

#[test]
fn the_link_of_a_random_session_opens_as_that_session() {
    for seed in common::seeds(25) {
        let mut dice = Rand64::new(u128::from(seed) + 1_000);
        let (mut session, mut told) = open(seed, &mut dice);
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
        assert_eq!(moment(&other), moment(&session), "{told:#?}");
        assert_eq!(branches(&other), branches(&session), "{told:#?}");
        let file = Session::from_json(&session.to_json()).expect("it is a session");
        assert_eq!(moment(&file), moment(&session), "{told:#?}");
        assert_eq!(branches(&file), branches(&session), "{told:#?}");
        if seed % 5 != 0 {
            continue; // each step is a run of its own
        }
        let steps = |mut session: Session| {
            let mut steps = Vec::new();
            while session.undo() {
                steps.push(moment(&session));
            }
            while session.redo() {
                steps.push(moment(&session));
            }
            steps
        };
        assert_eq!(steps(other), steps(session), "undo and redo go the same way, {told:#?}");
    }
}

fn moment(session: &Session) -> (Time, Vec<u64>) {
    (session.now(), hashes(session.run()))
}

/// The other futures, but for what is only known where they were seen.
fn branches(session: &Session) -> Vec<String> {
    let told = session.futures();
    let told = told.iter();
    told.map(|other| format!("{:?} {:?} {}", other.fork, other.lines, other.more)).collect()
}

#[test]
fn undoing_a_fork_restores_the_old_future_exactly_as_far_as_it_was_seen() {
    let mut session = Session::open_shipped("doubled-event", Some(3));
    session.seek(Time::from_secs(12));
    session.act(LINES[0], None, In::Both);
    session.seek(Time::from_secs(40));
    let old = (session.run().inputs().to_vec(), hashes(session.run()), session.marks());
    session.seek(Time::from_secs(11));
    session.act(LINES[3], None, In::Level);
    session.seek(Time::from_secs(30));
    let new = (session.run().inputs().to_vec(), hashes(session.run()));
    assert_eq!(session.futures().len(), 1);
    assert!(session.undo());
    assert_eq!(session.now(), Time::from_secs(11), "where the fork was made");
    assert_eq!(session.end(), Time::from_secs(40), "the old future is computed again");
    session.seek(Time::from_secs(40));
    assert_eq!((session.run().inputs().to_vec(), hashes(session.run()), session.marks()), old);
    assert!(session.redo());
    session.seek(Time::from_secs(30));
    assert_eq!((session.run().inputs().to_vec(), hashes(session.run())), new);
}

#[test]
fn a_link_that_would_be_too_long_leaves_out_the_oldest_futures_and_says_how_many() {
    let mut session = Session::open_shipped("doubled-event", Some(3));
    let mut dice = Rand64::new(5);
    for _ in 0..18 {
        session.seek(Time::from_secs(10));
        // Words that do not pack well.
        let words: Vec<String> = (0..8).map(|_| format!("{:x}", dice.rand_u64())).collect();
        session.act(&format!("fault kill replicaset {}", words.join("")), None, In::Both);
        session.act(&format!("kubectl label rs web w={} --overwrite", words[0]), None, In::Both);
        session.seek(Time::from_secs(9));
        session.act(&format!("kubectl label rs web v={} --overwrite", words[1]), None, In::Both);
    }
    let link = session.link_with_losses().expect("without other futures it is short");
    assert!(link.text.len() <= loopscope::view::LINK_MAX, "{}", link.text.len());
    let (other, notice) = Session::from_link(&link.text);
    assert_eq!(notice, None);
    assert!(link.lost > 0 && other.futures().len() + link.lost == session.futures().len());
    assert_eq!(moment(&other), moment(&session));
    let newest = branches(&session)[..other.futures().len()].to_vec();
    assert_eq!(branches(&other), newest, "the oldest go first");
    let file = Session::from_json(&session.to_json()).expect("it is a session");
    assert_eq!(branches(&file), branches(&session), "a file takes all");
}

#[test]
fn links_of_earlier_versions_open_and_those_of_later_ones_are_told() {
    let (session, notice) = Session::from_link("1/lost-event/7/12000000000");
    assert_eq!((notice, session.now()), (None, Time::from_secs(12)));
    let file = |v: u32| {
        format!(
            "{{\"v\":{v},\"id\":\"lost-event\",\"seed\":7,\"t\":20,\
             \"i\":[[5,\"both\",\"fault kill replicaset\"]]}}"
        )
    };
    let session = Session::from_json(&file(1)).expect("it is of the first version");
    assert_eq!((session.run().inputs().len(), session.can_undo()), (1, true));
    assert!(matches!(Session::from_json(&file(9)), Err(loopscope::view::Notice::Newer)));
}

#[test]
fn undoing_all_and_redoing_all_comes_back_to_the_same_end() {
    for seed in common::seeds(25) {
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
