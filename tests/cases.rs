//! Kinds of real bug reports as scenarios of our own: what the reports say of a real cluster must
//! come true here, in each lane that an expectation names, and under another seed too.

use std::path::PathBuf;

use loopscope::scenario::Scenario;
use loopscope::scenario::report::play;

/// Threads come from many; the number in front of a name is the report's.
const REPORTS: [u32; 34] = [
    1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15, 17, 18, 19, 21, 22, 23, 25, 26, 27, 29, 30, 31, 33,
    34, 35, 37, 38, 39, 41, 42, 43, 45,
];

fn cases() -> Vec<(String, Scenario)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let files = std::fs::read_dir(&folder).expect("the folder of cases");
    let mut paths: Vec<PathBuf> = files.flatten().map(|file| file.path()).collect();
    paths.sort();
    let read = |path: PathBuf| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).expect("a text");
        let scenario =
            Scenario::read(&name, &text).unwrap_or_else(|error| panic!("{name}: {error}"));
        (name, scenario)
    };
    paths.into_iter().map(read).collect()
}

fn number(name: &str) -> Option<u32> {
    name.split('-').next()?.parse().ok()
}

fn missed(seed: impl Fn(&Scenario) -> u64) -> Vec<String> {
    let mut missed = Vec::new();
    for (name, scenario) in cases() {
        let report = play(&scenario, Some(seed(&scenario)), None, None);
        if !report.all_met() {
            missed.push(format!("{name}\n{}", report.text()));
        }
    }
    missed
}

#[test]
fn what_the_reports_say_comes_true() {
    let missed = missed(Scenario::seed);
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn it_does_not_hang_on_one_lucky_seed() {
    let missed = missed(|scenario| scenario.seed() + 1_000);
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn every_report_has_a_case() {
    let names: Vec<String> = cases().into_iter().map(|(name, _)| name).collect();
    for report in REPORTS {
        assert!(names.iter().any(|name| number(name) == Some(report)), "report {report}");
    }
    for (name, scenario) in cases() {
        assert!(!scenario.file.expect.is_empty(), "{name} expects nothing");
    }
}
