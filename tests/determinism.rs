//! The same scenario, seed and inputs give the same run: twice, after going back, and in the
//! browser (`tests/e2e` reads the same constants off the page).

use std::sync::Arc;
use std::time::Duration;

use loopscope::kernel::Time;
use loopscope::scenario::{In, Run, Scenario, shipped};
use loopscope::view::Session;
use loopscope::world::LaneId;

const PLENTY: u64 = 10_000_000;

fn run(id: &str) -> Run {
    let shipped = shipped().iter().find(|shipped| shipped.id == id).expect(id);
    let scenario = Arc::new(shipped.load());
    let seed = scenario.seed();
    Run::new(scenario, seed, Vec::new())
}

fn hashes(run: &Run) -> Vec<u64> {
    run.lanes().iter().map(|lane| lane.world.trace_hash()).collect()
}

fn stores(run: &Run) -> Vec<String> {
    let text = |object: &Arc<loopscope::api::Object>| object.to_value().to_string();
    let lanes = run.lanes().iter();
    lanes.map(|lane| lane.world.store().all().map(text).collect::<Vec<_>>().join("\n")).collect()
}

/// The constants that the browser must arrive at too: `tests/determinism.json`.
fn constants() -> serde_json::Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/determinism.json");
    serde_json::from_str(&std::fs::read_to_string(path).expect(path)).expect("it is JSON")
}

#[test]
fn every_scenario_has_the_hashes_that_the_browser_has_too() {
    let constants = constants();
    let seconds = constants["seconds"].as_u64().expect("seconds");
    let (mut got, mut seeds) = (serde_json::Map::new(), serde_json::Map::new());
    for shipped in shipped() {
        let mut run = run(shipped.id);
        run.run_until(Time::from_secs(seconds), PLENTY);
        let texts: Vec<String> = hashes(&run).iter().map(|hash| format!("{hash:016x}")).collect();
        got.insert(shipped.id.to_string(), texts.into());
        seeds.insert(shipped.id.to_string(), run.seed().into());
    }
    let got = serde_json::json!({"seconds": seconds, "seeds": seeds, "hashes": got});
    assert_eq!(constants, got, "if the runs were meant to change, this is the new file:\n{got}");
}

#[test]
fn a_run_is_the_same_twice_and_in_steps_of_any_size() {
    for shipped in shipped() {
        let mut whole = run(shipped.id);
        whole.run_until(Time::from_secs(90), PLENTY);
        let mut pieces = run(shipped.id);
        for step in 1..=900 {
            pieces.run_until(Time::from_millis(step * 100), PLENTY);
        }
        assert_eq!(hashes(&whole), hashes(&pieces), "{}", shipped.id);
        assert_eq!(stores(&whole), stores(&pieces), "{}", shipped.id);
    }
}

#[test]
fn going_back_is_a_fresh_run_to_that_time() {
    for shipped in shipped() {
        // Two thousand objects make a second as long as a minute elsewhere.
        let (end, moments): (u64, &[u64]) = match shipped.id {
            "storm" => (8, &[6, 1, 4]),
            _ => (120, &[61, 7, 33, 10, 95, 0, 20]),
        };
        let mut travelled = run(shipped.id);
        travelled.run_until(Time::from_secs(end), PLENTY);
        for &seconds in moments {
            travelled.seek(Time::from_secs(seconds), PLENTY);
            let mut fresh = run(shipped.id);
            fresh.run_until(Time::from_secs(seconds), PLENTY);
            assert_eq!(hashes(&travelled), hashes(&fresh), "{} at {seconds} s", shipped.id);
            for lane in [LaneId::Edge, LaneId::Level] {
                assert_eq!(travelled.past(lane), fresh.past(lane), "{} at {seconds} s", shipped.id);
                assert_eq!(travelled.verdict(lane), fresh.verdict(lane));
            }
        }
    }
}

#[test]
fn acting_in_the_past_leaves_what_came_before_alone_and_undo_takes_it_back_exactly() {
    let mut session = Session::open_shipped("lost-event", None);
    session.seek(Time::from_secs(50));
    let (before, end) = (session.trace_hash(LaneId::Level), session.now());
    session.seek(Time::from_secs(20));
    let past = session.run().past(LaneId::Level).to_vec();
    session.act("scale deployment web --replicas=5", None, In::Both);
    assert_eq!(&session.run().past(LaneId::Level)[..past.len()], past.as_slice());
    session.seek(end);
    assert_ne!(session.trace_hash(LaneId::Level), before);
    assert!(session.undo());
    session.seek(end);
    assert_eq!(session.trace_hash(LaneId::Level), before);
    assert!(session.redo());
    session.seek(end);
    assert_ne!(session.trace_hash(LaneId::Level), before);
}

#[test]
fn a_link_opens_as_the_session_that_made_it() {
    let mut session = Session::open_shipped("lost-event", Some(11));
    session.act("scale deployment web --replicas=5", None, In::Both);
    session.seek(session.now() + Duration::from_secs(3));
    session.act("fault kill replicaset", None, In::Edge);
    session.seek(session.now() + Duration::from_secs(9));
    let link = session.link().expect("it is short");
    assert!(link.len() < 2_000, "{}", link.len());
    let (other, notice) = Session::from_link(&link);
    assert_eq!(notice, None);
    assert_eq!(other.now(), session.now());
    for lane in [LaneId::Edge, LaneId::Level] {
        assert_eq!(other.trace_hash(lane), session.trace_hash(lane));
    }
}

#[test]
fn a_bad_link_opens_the_default_scenario_with_a_notice() {
    for link in [
        "nonsense",
        "1/nowhere/1/5",
        "9/lost-event/1/1",
        "1z/%%%",
        "1z/AAAA",
        "1/lost-event/x/1",
        "#1z/",
    ] {
        let (session, notice) = Session::from_link(link);
        assert!(notice.is_some(), "{link}");
        assert_eq!(session.scenario().id, "lost-event", "{link}");
    }
    assert_eq!(Session::from_link("").1, None);
}

#[test]
fn a_scenario_of_ones_own_travels_in_the_link() {
    let text = "title: mine\nobjects: |\n  apiVersion: v1\n  kind: Pod\n  metadata: {name: a}\n  \
                spec: {containers: [{name: a, image: \"a:1\"}]}\n";
    let session = Session::open(Scenario::read("", text).expect(text), None);
    let (other, notice) = Session::from_link(&session.link().expect("it is short"));
    assert_eq!((notice, other.scenario().file.title.en.as_str()), (None, "mine"));
}
