//! Every scenario that ships, played without a page: each expectation is met in each lane.

use std::sync::Arc;
use std::time::Duration;

use loopscope::kernel::Time;
use loopscope::scenario::report::play;
use loopscope::scenario::{Run, Scenario, Shipped, shipped};
use loopscope::view::Session;
use loopscope::world::{LaneId, Occurrence, Verdict};

#[test]
fn every_shipped_scenario_meets_its_expectations_in_each_lane() {
    let mut missed = Vec::new();
    for shipped in shipped() {
        let scenario = shipped.load();
        assert!(!scenario.file.expect.is_empty(), "{} expects nothing", shipped.id);
        let report = play(&scenario, None, None, None);
        if !report.all_met() {
            missed.push(format!("{}\n{}", shipped.id, report.text()));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn every_shipped_scenario_speaks_both_languages() {
    for shipped in shipped() {
        let file = shipped.load().file;
        for text in [&file.title, &file.about, &file.hint] {
            assert!(!text.en.is_empty(), "{}: a text is missing", shipped.id);
            assert!(text.ko.as_ref().is_some_and(|ko| !ko.is_empty()), "{}: no Korean", shipped.id);
        }
    }
}

#[test]
fn what_the_lanes_come_to_does_not_hang_on_one_lucky_seed() {
    let by_chance = |id: &str| id != "rolling-update" && id != "storm"; // one is long, one is large
    for shipped in shipped().iter().filter(|shipped| by_chance(shipped.id)) {
        let scenario = shipped.load();
        for seed in 100..110 {
            let report = play(&scenario, Some(seed), None, None);
            assert!(report.all_met(), "{} with seed {seed}:\n{}", shipped.id, report.text());
        }
    }
}

/// A minute of two controllers that set one number.
fn two_owners() -> Run {
    let scenario = Shipped::find("autoscaler-against-gitops").expect("it ships").load();
    let mut run = Run::new(Arc::new(scenario), 3, Vec::new());
    run.run_until(Time::from_secs(60), u64::MAX);
    run
}

#[test]
fn who_oscillates_is_named_with_what_each_writes_and_how_often() {
    let run = two_owners();
    for lane in [LaneId::Edge, LaneId::Level] {
        let verdict = run.verdict(lane);
        let Verdict::Oscillating { object, field, sides, period, turns } = &verdict else {
            panic!("{lane:?}: {verdict:?}");
        };
        assert_eq!((&*object.name, &**field), ("nginx", "spec.replicas"));
        let mut sides: Vec<_> = sides.iter().map(|(by, value)| (&**by, *value)).collect();
        sides.sort_by_key(|(_, value)| *value);
        let [(git, 1), (autoscaler, 2)] = sides[..] else { panic!("{sides:?}") };
        assert_eq!((git, autoscaler), ("gitops", "hpa"));
        // The autoscaler looks every 15 s; Argo CD heals at once, and then after a longer wait.
        let periods = Duration::from_secs(2)..=Duration::from_secs(40);
        assert!(periods.contains(period) && *turns >= 4, "{period:?}, {turns} turns");
    }
}

/// The scenario's own remedy, which comes later, is a line: the cluster alone does not know of it.
#[test]
fn who_oscillates_goes_on_for_an_hour_with_the_same_values_if_nobody_steps_in() {
    let run = two_owners();
    for lane in [LaneId::Edge, LaneId::Level] {
        let Verdict::Oscillating { object: named, sides, .. } = run.verdict(lane) else {
            panic!("{lane:?}: {:?}", run.verdict(lane));
        };
        let mut world = run.lane(lane).expect("a lane").world.clone();
        world.take_records();
        assert!(world.run_until(world.now() + Duration::from_secs(3_600), u64::MAX));
        let mut turns = [0, 0];
        for record in world.take_records() {
            let Occurrence::Scaled { object, to, by, .. } = record.what else { continue };
            // What the Deployment does to its ReplicaSet follows from that.
            if object == named {
                let side = sides.iter().position(|side| *side == (by.clone(), to));
                turns[side.unwrap_or_else(|| panic!("{by} sets {to}, not {sides:?}"))] += 1;
            }
        }
        // Self-heal waits for five minutes at most, and the autoscaler looks every 15 s.
        let least = 3_600 / (300 + 15);
        assert!(turns.iter().all(|turns| *turns >= least), "{lane:?}: {turns:?}");
    }
}

/// The storm in its level lane, with other numbers in the scenario: requests sent away, the longest
/// queue before the API server, and whether all was done after so many seconds.
fn storm(workers: &str, queue: &str, seconds: u64) -> (u64, u64, bool) {
    let text = Shipped::find("storm").expect("it ships").text;
    let text = text.replace("workers: 1000", workers).replace("queueLength: 200", queue);
    let text = text.replace("count: 2000", "count: 600");
    let mut scenario = Scenario::read("", &text).expect("it is well formed");
    scenario.keep_lane(LaneId::Level);
    let mut run = Run::new(Arc::new(scenario), 7, Vec::new());
    run.run_until(Time::from_secs(seconds), u64::MAX);
    let samples = run.samples(LaneId::Level);
    let longest = samples.iter().map(|sample| sample.waiting).max().unwrap_or(0);
    let refused = samples.last().map_or(0, |sample| sample.refused);
    (refused, longest, run.verdict(LaneId::Level).word() == "converged")
}

#[test]
fn of_a_storm_of_messages_a_bounded_part_is_drawn_and_it_is_said_how_many_each_stands_for() {
    let mut session = Session::open_shipped("storm", None);
    let stage = session.stage(LaneId::Level);
    let under_way = session.run().lane(LaneId::Level).expect("it has one").world.flights().count();
    assert!(under_way > 4_000, "{under_way}");
    assert!(stage.under_way > 4_000, "{} are said to be under way", stage.under_way);
    assert!((300..=700).contains(&stage.flights.len()), "{} are drawn", stage.flights.len());
    let told = stage.flights.len() as u64 * stage.drawn_every;
    assert!(told.abs_diff(under_way as u64) < 1_000, "{told} of {under_way}");
}

#[test]
fn in_a_storm_the_api_server_drowns_or_not_as_the_knobs_are_set() {
    let (refused, longest, done) = storm("workers: 1000", "queueLength: 200", 30);
    assert!(refused > 100 && longest == 200 && done, "{refused} refused, {longest} waited");
    let (refused, longest, done) = storm("workers: 100", "queueLength: 200", 30);
    assert!(refused == 0 && (1..=60).contains(&longest) && done, "{refused}, {longest}");
    let (refused, longest, done) = storm("workers: 1000", "queueLength: 2000", 30);
    assert!(refused == 0 && longest > 300 && done, "{refused}, {longest}");
    // Who is sent away ten times gives up, and its key comes back with the loop's own back-off.
    let (refused, _, _) = storm("workers: 1000", "queueLength: 0", 30);
    assert!(refused > 600, "{refused}");
}
