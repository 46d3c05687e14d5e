//! Faults by hand: what is put off, held, put into another order or turned, as a session does it,
//! takes it back and carries it in its link. `SEED=n` and `SEEDS=n` as in `properties.rs`.

use std::time::Duration;

use loopscope::kernel::{Rng, Time};
use loopscope::scenario::{In, Scenario};
use loopscope::view::{Fate, Happening, LaneId, Manner, MarkKind, Session, VerdictView};
use loopscope::world::{ControllerId, Occurrence, Verdict};

mod common;

const DELETE: &str = "kubectl delete pod -l app=web --limit=1 --grace-period=0 --force";

const WEB: &str = "title: by hand
objects: |
  apiVersion: apps/v1
  kind: Deployment
  metadata: {name: web}
  spec:
    replicas: 3
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {containers: [{name: web, image: registry.example/web:1}]}
";

/// Three pods of a Deployment that run, in both lanes.
fn session() -> Session {
    let scenario = Scenario::read("", WEB).expect("it is well-formed");
    let mut session = Session::open(scenario, Some(7));
    session.seek(Time::from_secs(20));
    session
}

fn run(session: &mut Session, line: &str) {
    for (lane, output) in session.act(line, None, In::Both) {
        assert!(!output.error, "{lane:?}: {line}: {}", output.text);
    }
}

fn go(session: &mut Session, seconds: u64) {
    let to = session.now() + Duration::from_secs(seconds);
    session.seek(to);
}

fn lines(session: &Session) -> Vec<&str> {
    session.run().inputs().iter().map(|input| input.line.as_str()).collect()
}

/// What is told of lines that were put off and failed: in which lane, and in which words.
fn failed(session: &Session) -> Vec<(Option<LaneId>, String)> {
    let log = session.log(500);
    let told = log.iter().filter_map(|line| match &line.what {
        Happening::Failed(text) => Some((line.lane, text.to_string())),
        _ => None,
    });
    told.collect()
}

fn hashes(session: &Session) -> Vec<u64> {
    session.lanes().into_iter().map(|lane| session.trace_hash(lane)).collect()
}

fn was_killed(session: &Session) -> bool {
    let killed = |what: &Occurrence| matches!(what, Occurrence::Killed(ControllerId::ReplicaSet));
    session.has_happened(LaneId::Level, killed)
}

#[test]
fn what_is_put_off_is_on_the_timeline_before_it_happens_and_happens_then() {
    let mut session = session();
    run(&mut session, "in 5s fault kill replicaset");
    let due = Time::from_secs(25);
    assert!(session.marks().iter().any(|mark| mark.at == due && mark.what == MarkKind::Fault));
    let log = session.log(20);
    let last = log.last().expect("there is a log");
    assert_eq!((last.at, &last.what), (due, &Happening::PutOff("fault kill replicaset".into())));
    go(&mut session, 4);
    assert!(!was_killed(&session));
    go(&mut session, 2);
    assert!(was_killed(&session));
    let put_off = |what: &Happening| matches!(what, Happening::PutOff(_));
    assert!(!session.log(500).iter().any(|line| put_off(&line.what)), "it is no longer ahead");
}

#[test]
fn a_line_that_was_put_off_and_fails_is_told_when_its_time_has_come() {
    let mut session = session();
    run(&mut session, "in 5s kubectl scale deployment nobody --replicas=2");
    assert!(session.marks().iter().any(|mark| mark.what == MarkKind::You));
    go(&mut session, 4);
    assert!(session.take_failed().is_empty() && failed(&session).is_empty());
    go(&mut session, 2);
    let told = session.take_failed();
    let [(line, answers)] = told.as_slice() else { panic!("{told:?}") };
    assert_eq!(line, "kubectl scale deployment nobody --replicas=2");
    assert!(answers.len() == 2 && answers.iter().all(|(_, said)| said.error), "{answers:?}");
    let due = Time::from_secs(25);
    let marks = session.marks();
    let there: Vec<MarkKind> =
        marks.iter().filter(|mark| mark.at == due).map(|mark| mark.what).collect();
    assert!(there.contains(&MarkKind::Failed) && !there.contains(&MarkKind::You), "{there:?}");
    let log = failed(&session);
    assert!(log.len() == 1 && log[0].0.is_none() && log[0].1.contains("not found"), "{log:?}");
    // Once: neither when it is seen again nor in a link that has come past it.
    session.seek(Time::from_secs(21));
    assert!(failed(&session).is_empty());
    go(&mut session, 9);
    assert!(session.take_failed().is_empty() && failed(&session).len() == 1);
    let (mut other, notice) = Session::from_link(&session.link().expect("it is short"));
    assert!(notice.is_none() && other.take_failed().is_empty());
    assert_eq!(failed(&other), log);
}

#[test]
fn what_fails_in_one_lane_is_told_of_that_lane() {
    let mut session = session();
    session.act("kubectl delete deployment web --cascade=orphan", None, In::Edge);
    run(&mut session, "in 5s kubectl scale deployment web --replicas=2");
    go(&mut session, 6);
    let log = failed(&session);
    assert!(log.len() == 1 && log[0].0 == Some(LaneId::Edge), "{log:?}");
}

#[test]
fn what_was_put_off_stays_when_something_else_is_done_before_it() {
    let mut session = session();
    run(&mut session, "at 30s fault kill replicaset");
    go(&mut session, 2);
    run(&mut session, DELETE);
    assert_eq!(lines(&session), ["fault kill replicaset", DELETE]);
    go(&mut session, 10);
    assert!(was_killed(&session));
    // Undo takes back what was said last, then what was put off, and shows where it was said.
    assert!(session.undo());
    assert_eq!((session.now(), lines(&session)), {
        (Time::from_secs(22), vec!["fault kill replicaset"])
    });
    assert!(session.undo());
    assert_eq!(session.now(), Time::from_secs(20));
    assert!(lines(&session).is_empty() && !session.can_undo());
    go(&mut session, 20);
    assert!(!was_killed(&session));
    assert!(session.redo());
    go(&mut session, 20);
    assert!(was_killed(&session));
}

#[test]
fn acting_before_something_was_put_off_forgets_it() {
    let mut session = session();
    run(&mut session, "in 30s fault kill replicaset");
    session.seek(Time::from_secs(15));
    run(&mut session, DELETE);
    assert_eq!(lines(&session), [DELETE]);
}

#[test]
fn a_wrong_moment_or_line_is_refused_and_nothing_is_put_off() {
    let mut session = session();
    for line in ["at 3s fault kill replicaset", "in 5s fault explode", "in x kubectl get pods"] {
        let answers = session.act(line, None, In::Edge);
        assert!(answers.iter().all(|(lane, output)| *lane == LaneId::Edge && output.error));
        assert_eq!(answers.len(), 1, "{line}");
    }
    assert!(lines(&session).is_empty());
}

#[test]
fn a_link_carries_what_was_put_off_what_is_held_and_the_knobs() {
    let mut session = session();
    run(&mut session, "knob replicaset flavour=level-polling poll=7s");
    run(&mut session, "fault hold to=deployment kind=ReplicaSet at=wire");
    run(&mut session, "in 9s fault node node-1 power=off");
    run(&mut session, DELETE);
    go(&mut session, 3);
    let link = session.link().expect("it is short");
    let (mut other, notice) = Session::from_link(&link);
    assert_eq!(notice, None);
    assert_eq!(other.run().inputs(), session.run().inputs());
    assert_eq!(hashes(&other), hashes(&session));
    go(&mut session, 15);
    go(&mut other, 15);
    assert_eq!(hashes(&other), hashes(&session));
    assert_eq!(other.link(), session.link());
}

#[test]
fn a_link_of_the_form_before_there_was_anything_to_put_off_opens() {
    let text = r#"{"v":1,"id":"doubled-event","seed":7,"t":20000000000,
                   "i":[[9000000000,"both","fault kill replicaset",null]]}"#;
    let session = Session::from_json(text).expect("it is well-formed");
    let input = &session.run().inputs()[0];
    assert_eq!((input.at, input.given), (Time::from_secs(9), Time::from_secs(9)));
    // One that was given after it is done is taken as given then.
    let text = text.replace(",null]", ",null,99000000000]");
    let session = Session::from_json(&text).expect("it is well-formed");
    assert_eq!(session.run().inputs()[0].given, Time::from_secs(9));
}

/// Watch events on their way to the ReplicaSet loop of a lane.
fn flights(session: &mut Session, lane: LaneId) -> Vec<(u64, String, Fate)> {
    let stage = session.stage(lane);
    let to_loop = stage.flights.iter().filter(|flight| {
        flight.lane_loop == loopscope::view::LoopId::ReplicaSet
            && matches!(flight.what, loopscope::view::FlightKind::Watch(_))
    });
    to_loop.map(|flight| (flight.id, flight.object.name.to_string(), flight.fate)).collect()
}

#[test]
fn a_message_is_held_and_released_by_hand_and_undo_takes_both_back() {
    let mut session = session();
    run(&mut session, DELETE);
    let (id, ..) = flights(&mut session, LaneId::Level)[0].clone();
    assert!(session.catch(LaneId::Level, id, "hold at=wire"));
    go(&mut session, 30);
    let held = flights(&mut session, LaneId::Level);
    assert_eq!((held[0].0, held[0].2), (id, Fate::HeldOnWire));
    let verdict = session.stage(LaneId::Level).verdict;
    let waits = matches!(&verdict, VerdictView::Waiting { what, .. } if &**what == "release");
    assert!(waits, "{verdict:?}");
    assert_eq!(session.run().verdict(LaneId::Edge), Verdict::Converged, "only one lane");
    assert!(session.catch(LaneId::Level, id, "release"));
    go(&mut session, 20);
    assert_eq!(session.run().verdict(LaneId::Level), Verdict::Converged);
    assert!(session.undo());
    assert_eq!(flights(&mut session, LaneId::Level)[0].2, Fate::HeldOnWire);
    assert!(session.undo());
    assert_eq!(flights(&mut session, LaneId::Level)[0].2, Fate::Intact);
}

#[test]
fn a_message_is_put_before_its_neighbour() {
    let order = |swap: bool| {
        let mut session = session();
        run(&mut session, "kubectl delete pod -l app=web --grace-period=0 --force");
        let under_way = flights(&mut session, LaneId::Edge);
        assert_eq!(under_way.len(), 3, "{under_way:?}");
        let (first, second) = (under_way[0].0, under_way[1].0);
        assert!(!session.has_neighbour(LaneId::Edge, first));
        assert!(!session.catch(LaneId::Edge, first, "before"), "nothing is in front of it");
        if swap {
            assert!(session.has_neighbour(LaneId::Edge, second));
            assert!(session.catch(LaneId::Edge, second, "before"));
        }
        go(&mut session, 20);
        let passes = session.run().past(LaneId::Edge).iter().filter_map(|entry| {
            let loopscope::scenario::Told::World(Occurrence::PassEnded(pass)) = &entry.what else {
                return None;
            };
            let its =
                pass.controller == ControllerId::ReplicaSet && pass.started > Time::from_secs(20);
            match &pass.woken_by {
                loopscope::view::Cause::Watch(event, key, _)
                    if its && event.word() == "DELETED" =>
                {
                    Some(key.name.to_string())
                }
                _ => None,
            }
        });
        let names: Vec<String> = under_way.iter().map(|(_, name, _)| name.clone()).collect();
        (names, passes.collect::<Vec<_>>())
    };
    let (names, told) = order(false);
    assert_eq!(told, names);
    let (names, told) = order(true);
    assert_eq!(told, [&names[1], &names[0], &names[2]].map(String::clone));
}

#[test]
fn a_lane_says_which_of_its_loops_are_triggered_otherwise_until_it_is_undone() {
    let mut session = session();
    let others = |session: &mut Session, lane| session.stage(lane).others;
    assert_eq!(others(&mut session, LaneId::Edge), []);
    session.act("knob deployment flavour=level", None, In::Edge);
    let deployment = loopscope::view::LoopId::Deployment;
    assert_eq!(others(&mut session, LaneId::Edge), [(deployment, Manner::Level)]);
    assert_eq!(others(&mut session, LaneId::Level), []);
    session.undo();
    assert_eq!(others(&mut session, LaneId::Edge), []);
}

/// Knobs turned, events held and machinery hurt at random; in the end all is let go and level.
fn hands(rng: &mut Rng) -> Vec<String> {
    let mut lines = Vec::new();
    for _ in 0..2 + rng.below(6) {
        let at = 20 + rng.below(40);
        let who = ["replicaset", "deployment"][rng.below(2) as usize];
        let what = match rng.below(9) {
            0..=2 => {
                let manner = Manner::ALL[rng.below(5) as usize].word();
                format!("knob {who} flavour={manner}")
            }
            3 => format!("knob {who} workers={} dedup={}", 1 + rng.below(3), rng.below(2) == 0),
            4 => {
                format!("knob {who} backoffBase={}ms qps={}", 1 + rng.below(900), 1 + rng.below(9))
            }
            5 => {
                let place = ["door", "wire"][rng.below(2) as usize];
                format!("fault hold to={who} kind=Pod at={place} count={}", 1 + rng.below(3))
            }
            6 => "fault release".to_string(),
            7 => format!("fault drop to={who} kind=Pod count={}", 1 + rng.below(2)),
            _ => DELETE.to_string(),
        };
        lines.push(format!("at {at}s {what}"));
    }
    for who in ["replicaset", "deployment"] {
        lines.push(format!("at 70s knob {who} flavour=level resync=60s expectations=true"));
        lines.push(format!("at 71s fault release to={who}"));
    }
    lines
}

#[test]
fn whatever_was_turned_and_held_a_loop_that_is_level_again_converges() {
    for seed in common::seeds(25) {
        let mut session = session();
        let told = hands(&mut Rng::stream(seed, "hands"));
        told.iter().for_each(|line| run(&mut session, line));
        // Expectations of an event that was lost expire after five minutes.
        session.seek(Time::from_secs(560));
        for lane in session.lanes() {
            let world = &session.run().lane(lane).expect("it is there").world;
            assert_eq!(world.shortfalls(), [], "{lane:?}, SEED={seed}: {told:#?}");
            assert_eq!(world.held().count(), 0, "{lane:?}, SEED={seed}: {told:#?}");
        }
    }
}
