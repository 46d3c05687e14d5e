//! Plays a scenario to its end without a page, and says what came of it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use crate::api::Value;
use crate::kernel::Time;
use crate::kubectl::Output;
use crate::world::{Lane, LaneId, Verdict};

use super::follow::Follower;
use super::pending::{Outcome, Pending};
use super::run::{Input, Run};
use super::scenario::Scenario;
use super::shell;

/// Moments that a run may compute: a bound against scenarios that never come to rest.
const BUDGET: u64 = 20_000_000;
/// How often a step that goes on printing is looked at.
const LOOKS: Duration = Duration::from_secs(5);
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
    let mut checks: Vec<Outcome> = Vec::new();
    let mut pending = Pending::all(&scenario.file.expect, &run, end);
    let mut steps = Steps::default();
    let mut complete = true;
    while complete {
        steps.follow(&run);
        let due = pending.iter().map(|pending| pending.due).chain(steps.next(&run));
        let next = due.min().unwrap_or(end).min(end);
        let windows = pending.iter().any(|p| p.until.is_some() && p.due <= run.now());
        if windows {
            // Inside a window every moment counts.
            let horizon = pending.iter().filter_map(|p| p.until).filter(|until| *until > run.now());
            let later = pending.iter().filter(|p| p.due > run.now()).map(|p| p.due);
            let stop = horizon.chain(later).chain(steps.next(&run)).min().unwrap_or(end).min(end);
            complete = (0..BUDGET).any(|_| {
                let moved = run.step(stop);
                pending.iter_mut().for_each(|pending| pending.look(&run));
                !moved
            });
        } else {
            complete = run.run_until(next, BUDGET);
            pending.iter_mut().for_each(|pending| pending.look(&run));
        }
        settle(&mut pending, &mut checks, run.now(), end);
        if run.now() >= end {
            break;
        }
    }
    checks.extend(pending.iter().map(Pending::outcome));
    steps.follow(&run);
    checks.extend(answers(&run, &mut steps));
    Report { seed, lanes: lane_reports(&run, checks), complete }
}

/// Steps of the script that go on printing, as `wait` does.
#[derive(Default)]
struct Steps {
    /// How many steps were looked at.
    done: usize,
    /// With the number of their step.
    followers: Vec<(usize, Follower)>,
}

impl Steps {
    /// Begins to follow what was done by now, and goes on with the others.
    fn follow(&mut self, run: &Run) {
        for (_, follower) in &mut self.followers {
            follower.look(run);
        }
        while let Some(input) = run.script().get(self.done).filter(|step| step.at <= run.now()) {
            let meant = run.lanes().iter().filter(|lane| input.lanes.includes(lane.id));
            let enter = |lane: &Lane| {
                let follower = Follower::enter(run, lane.id, &input.line, input.stdin.as_deref())?;
                Some((self.done, follower))
            };
            self.followers.extend(meant.filter_map(enter));
            self.done += 1;
        }
    }

    /// When it is to be looked again: a history keeps what is new, not what is old.
    fn next(&self, run: &Run) -> Option<Time> {
        let step = run.script().get(self.done).map(|step| step.at);
        let open = self.followers.iter().any(|(_, follower)| follower.is_open());
        step.into_iter().chain(open.then(|| run.now() + LOOKS)).min()
    }

    /// What a step has printed, if it is one that goes on.
    fn output(&mut self, run: &Run, number: usize, lane: LaneId) -> Option<Output> {
        let is_it =
            |(step, follower): &&mut (usize, Follower)| *step == number && follower.lane() == lane;
        let (_, follower) = self.followers.iter_mut().find(is_it)?;
        let followed = follower.look(run);
        let mut text = followed.text.to_string();
        if follower.is_waiting() {
            text.push_str("# still waiting at the end of the run\n");
        }
        Some(Output::new(text, followed.error || follower.is_waiting()))
    }
}

/// Takes out what is decided.
fn settle(pending: &mut Vec<Pending>, checks: &mut Vec<Outcome>, now: Time, end: Time) {
    pending.retain(|pending| {
        let decided = pending.is_decided(now, end);
        if decided {
            checks.push(pending.outcome());
        }
        !decided
    });
}

/// Steps of the script that failed without being meant to, did not fail as they should, or did not
/// print what they should.
fn answers(run: &Run, steps: &mut Steps) -> Vec<Outcome> {
    let mut found = Vec::new();
    for (number, input) in run.script().iter().enumerate().filter(|(_, i)| i.at <= run.now()) {
        for lane in run.lanes().iter().filter(|lane| input.lanes.includes(lane.id)) {
            let Some(output) = run.output(true, number, lane.id) else { continue };
            let followed = steps.output(run, number, lane.id);
            let said = answer(input, followed.as_ref().unwrap_or(output));
            found.extend(said.into_iter().map(|(what, result)| (what, lane.id, result)));
        }
    }
    found
}

fn answer(input: &Input, output: &Output) -> Vec<(String, Result<(), String>)> {
    let text = output.text.trim();
    let result = |met: bool| if met { Ok(()) } else { Err(format!("it answers {text:?}")) };
    let mut found = Vec::new();
    match &input.fails {
        Some(words) => {
            let met = output.error && words.missing_in(text).is_none();
            found.push((format!("`{}` is refused with {words}", input.line), result(met)));
        }
        None if output.error => found.push((format!("`{}` succeeds", input.line), result(false))),
        None => {}
    }
    if let Some(words) = &input.prints {
        let met = words.missing_in(text).is_none();
        found.push((format!("`{}` prints {words}", input.line), result(met)));
    }
    found
}

fn lane_reports(run: &Run, checks: Vec<Outcome>) -> Vec<LaneReport> {
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
        expectations.filter_map(|e| e.window().map(|(_, to)| to.0).or(e.at.map(|at| at.0))).max();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_waits_in_vain_or_still_waits_at_the_end_is_missed() {
        let missed = |steps: &str| {
            let text = format!("title: Test\nflavours: [level]\nsteps:\n- {{{steps}}}\n");
            let report =
                play(&Scenario::read("test", &text).expect("a scenario"), None, None, None);
            let found = report.lanes[0].checks.iter().find_map(|(_, result)| result.clone().err());
            found.unwrap_or_default()
        };
        let line = "wait node/node-1 --for=jsonpath='{.spec.unschedulable}'=true";
        let late = missed(&format!("at: 1s, kubectl: \"{line} --timeout=20s\""));
        assert!(late.contains("timed out waiting for the condition on nodes/node-1"), "{late}");
        let open = missed(&format!("at: 1s, kubectl: \"{line} --timeout=1h\""));
        assert!(open.contains("still waiting at the end of the run"), "{open}");
        assert_eq!(missed("at: 1s, kubectl: get nodes -w"), "", "a watch has no end");
        let meant = format!("at: 1s, kubectl: \"{line} --timeout=20s\", fails: timed out");
        assert_eq!(missed(&meant), "");
    }
}
