//! Plays a scenario to its end without a page, and says what came of it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use crate::api::Value;
use crate::kernel::Time;
use crate::world::{LaneId, Verdict};

use super::expect;
use super::format::Expectation;
use super::run::Run;
use super::scenario::Scenario;
use super::shell;

/// Moments that a run may compute: a bound against scenarios that never come to rest.
const BUDGET: u64 = 20_000_000;
/// How long a scenario without expectations goes on after its last step.
const REST: Duration = Duration::from_secs(60);

/// What came of a scenario.
#[derive(Clone, Debug)]
pub struct Report {
    /// The seed.
    pub seed: u64,
    /// One for each lane.
    pub lanes: Vec<LaneReport>,
    /// Whether the run came to its end within the budget.
    pub complete: bool,
}

/// What came of a scenario in one lane.
#[derive(Clone, Debug)]
pub struct LaneReport {
    /// Which.
    pub lane: LaneId,
    /// What it came to.
    pub verdict: Verdict,
    /// When the run ended.
    pub at: Time,
    /// Passes, requests, requests that changed something.
    pub totals: (u64, u64, u64),
    /// `kubectl get all`.
    pub objects: String,
    /// The hash of all that happened.
    pub hash: u64,
    /// Each expectation in words, and what was seen where it was missed.
    pub checks: Vec<(String, Result<(), String>)>,
}

/// An expectation that a lane has still to meet.
struct Pending<'a> {
    expectation: &'a Expectation,
    lane: LaneId,
    due: Time,
    /// For a window: its end, and the values that were taken so far.
    until: Option<Time>,
    seen: BTreeSet<String>,
    met: bool,
    last: String,
}

/// Plays a scenario: all lanes, or only those named, to `until` or to its last expectation.
pub fn play(
    scenario: &Scenario,
    seed: Option<u64>,
    only: Option<LaneId>,
    until: Option<Duration>,
) -> Report {
    let mut scenario = scenario.clone();
    if let Some(only) = only {
        scenario.keep_lane(only);
    }
    let end = Time::ZERO + until.unwrap_or_else(|| length(&scenario));
    let seed = seed.unwrap_or_else(|| scenario.seed());
    let mut run = Run::new(Arc::new(scenario.clone()), seed, Vec::new());
    let mut checks: Vec<(String, LaneId, Result<(), String>)> = Vec::new();
    let mut pending = pending(&scenario, &run, end);
    pending.sort_by_key(|pending| pending.due);
    let mut complete = true;
    while complete {
        let next = pending.iter().map(|pending| pending.due).min().unwrap_or(end).min(end);
        let windows = pending.iter().any(|p| p.until.is_some() && p.due <= run.now());
        if windows {
            // Inside a window every moment counts.
            let horizon = pending.iter().filter_map(|p| p.until).max().unwrap_or(end).min(end);
            let later = pending.iter().filter(|p| p.due > run.now()).map(|p| p.due).min();
            complete = (0..BUDGET).any(|count| {
                let stop = later.unwrap_or(horizon).min(horizon);
                let moved = run.step(stop);
                look(&mut pending, &run);
                !moved || count + 1 == BUDGET
            });
        } else {
            complete = run.run_until(next, BUDGET);
            look(&mut pending, &run);
        }
        settle(&mut pending, &mut checks, run.now(), end);
        if run.now() >= end {
            break;
        }
    }
    for pending in pending {
        checks.push((expect::describe(pending.expectation), pending.lane, result(&pending)));
    }
    checks.extend(refusals(&run));
    Report { seed, lanes: lane_reports(&run, checks), complete }
}

fn pending<'a>(scenario: &'a Scenario, run: &Run, end: Time) -> Vec<Pending<'a>> {
    let lanes: Vec<LaneId> = run.lanes().iter().map(|lane| lane.id).collect();
    let expectations = scenario.file.expect.iter();
    expectations
        .flat_map(|expectation| {
            let meant = lanes.iter().filter(|lane| expectation.lanes.includes(**lane));
            meant.map(|lane| Pending {
                expectation,
                lane: *lane,
                due: expect::due(expectation, end),
                until: expectation.within.map(|(_, to)| Time::ZERO + to.0),
                seen: BTreeSet::new(),
                met: false,
                last: "not reached".to_string(),
            })
        })
        .collect()
}

/// Looks at all expectations that are due now.
fn look(pending: &mut [Pending], run: &Run) {
    for pending in pending.iter_mut().filter(|p| p.due <= run.now() && !p.met) {
        if pending.until.is_some_and(|until| run.now() > until) {
            continue;
        }
        let Some(lane) = run.lane(pending.lane) else { continue };
        match &pending.expectation.field {
            Some(field) if !field.takes.is_empty() => {
                if let Ok(value) = expect::field_value(field, &lane.world) {
                    pending.seen.insert(value.to_string());
                }
                let taken = |wanted: &&Value| pending.seen.contains(&wanted.to_string());
                pending.met = field.takes.iter().filter(taken).count() == field.takes.len();
                pending.last = format!("it took {:?}", pending.seen);
            }
            _ => {
                let verdict = run.verdict(pending.lane);
                let result = expect::check(pending.expectation, lane, verdict.word());
                pending.met = result.is_ok();
                pending.last = result.err().unwrap_or_default();
            }
        }
    }
}

/// Takes out what is decided: met, or past its moment or window.
fn settle(
    pending: &mut Vec<Pending>,
    checks: &mut Vec<(String, LaneId, Result<(), String>)>,
    now: Time,
    end: Time,
) {
    pending.retain(|pending| {
        let over = pending.until.unwrap_or(pending.due).min(end) <= now;
        if pending.met || (over && pending.due <= now) {
            let text = expect::describe(pending.expectation);
            checks.push((text, pending.lane, result(pending)));
            return false;
        }
        true
    });
}

fn result(pending: &Pending) -> Result<(), String> {
    if pending.met { Ok(()) } else { Err(pending.last.clone()) }
}

/// Steps of the script that failed without being meant to, or did not fail as they should.
fn refusals(run: &Run) -> Vec<(String, LaneId, Result<(), String>)> {
    let mut found = Vec::new();
    for (number, input) in run.script().iter().enumerate().filter(|(_, i)| i.at <= run.now()) {
        for lane in run.lanes().iter().filter(|lane| input.lanes.includes(lane.id)) {
            let Some(output) = run.output(true, number, lane.id) else { continue };
            let text = output.text.trim();
            let (what, result) = match &input.fails {
                Some(words) => (
                    format!("`{}` is refused with {words:?}", input.line),
                    if output.error && text.contains(words.as_str()) {
                        Ok(())
                    } else {
                        Err(format!("it answers {text:?}"))
                    },
                ),
                None if output.error => {
                    (format!("`{}` succeeds", input.line), Err(format!("it answers {text:?}")))
                }
                None => continue,
            };
            found.push((what, lane.id, result));
        }
    }
    found
}

fn lane_reports(run: &Run, checks: Vec<(String, LaneId, Result<(), String>)>) -> Vec<LaneReport> {
    let lanes = run.lanes().iter();
    lanes
        .map(|lane| {
            let totals = lane.world.totals();
            let own = checks.iter().filter(|(_, id, _)| *id == lane.id);
            LaneReport {
                lane: lane.id,
                verdict: run.verdict(lane.id),
                at: run.now(),
                totals: (totals.passes, totals.calls, totals.writes),
                objects: shell::perform(&mut lane.clone(), "get all", None).text,
                hash: lane.world.trace_hash(),
                checks: own.map(|(text, _, result)| (text.clone(), result.clone())).collect(),
            }
        })
        .collect()
}

/// How long a scenario runs if nobody says: to its last expectation, or a minute past its last
/// step.
fn length(scenario: &Scenario) -> Duration {
    let expectations = scenario.file.expect.iter();
    let last =
        expectations.filter_map(|e| e.within.map(|(_, to)| to.0).or(e.at.map(|at| at.0))).max();
    let steps = scenario.file.steps.iter().map(|step| step.at.0).max().unwrap_or_default();
    last.unwrap_or(steps + REST).max(steps)
}

impl Report {
    /// Whether every expectation was met in every lane.
    pub fn all_met(&self) -> bool {
        self.complete && self.lanes.iter().all(|lane| lane.checks.iter().all(|(_, r)| r.is_ok()))
    }

    /// As a person reads it.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for lane in &self.lanes {
            let (passes, calls, writes) = lane.totals;
            text += &format!(
                "== {} (seed {}): {} at {:.3} s · {passes} passes · {calls} API calls · \
                 {writes} writes · hash {:016x}\n",
                lane.lane.word(),
                self.seed,
                lane.verdict.word(),
                lane.at.as_secs_f64(),
                lane.hash
            );
            text += &lane.objects;
            if !lane.objects.ends_with('\n') {
                text.push('\n');
            }
            for (what, result) in &lane.checks {
                text += &match result {
                    Ok(()) => format!("met     {what}\n"),
                    Err(seen) => format!("MISSED  {what}: {seen}\n"),
                };
            }
        }
        if !self.complete {
            text += "The run did not come to its end: too much happened.\n";
        }
        text
    }

    /// As a program reads it.
    pub fn json(&self) -> Value {
        let lanes = self.lanes.iter().map(|lane| {
            let checks = lane.checks.iter().map(|(what, result)| {
                json!({"what": what, "met": result.is_ok(), "seen": result.clone().err()})
            });
            json!({
                "lane": lane.lane.word(),
                "verdict": lane.verdict.word(),
                "seconds": lane.at.as_secs_f64(),
                "passes": lane.totals.0,
                "apiCalls": lane.totals.1,
                "writes": lane.totals.2,
                "hash": format!("{:016x}", lane.hash),
                "expectations": checks.collect::<Vec<_>>(),
            })
        });
        json!({"seed": self.seed, "complete": self.complete, "lanes": lanes.collect::<Vec<_>>()})
    }
}
