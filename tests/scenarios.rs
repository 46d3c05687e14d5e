//! Every scenario that ships, played without a page: each expectation is met in each lane.

use loopscope::scenario::report::play;
use loopscope::scenario::shipped;

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
    for shipped in shipped().iter().filter(|shipped| shipped.id != "rolling-update") {
        let scenario = shipped.load();
        for seed in 100..110 {
            let report = play(&scenario, Some(seed), None, None);
            assert!(report.all_met(), "{} with seed {seed}:\n{}", shipped.id, report.text());
        }
    }
}
