//! What each thing that was done has cost the control plane: passes, requests and time until the
//! lane had converged again, or until the next thing was done. Read off the whole computed run.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::kernel::Time;
use crate::scenario::{Before, Input, Run, Turn};
use crate::world::{Lane, LaneId, Totals, Verdict};

use super::session::Session;

/// Actions that are told at most, the newest.
const TOLD_MAX: usize = 200;

/// What was done at one moment, and what it cost each lane.
#[derive(Clone, Debug, PartialEq)]
pub struct Cost {
    /// When.
    pub at: Time,
    /// The lines, in order: several if they were given at the same moment.
    pub lines: Vec<String>,
    /// The lanes in which it was done.
    pub lanes: Vec<LaneCost>,
}

/// What it cost one lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneCost {
    /// Which.
    pub lane: LaneId,
    /// Passes.
    pub passes: u64,
    /// Requests that changed nothing.
    pub reads: u64,
    /// Requests that changed something.
    pub writes: u64,
    /// Watch events delivered.
    pub watch_events: u64,
    /// Passes that ended in an error.
    pub retries: u64,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of an action in a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It had converged so much later; the cost is that until then.
    Converged(Duration),
    /// It has come to rest without, and nothing will change that: `stuck`, `oscillating`.
    Never(&'static str),
    /// The next thing was done before it had converged.
    Interrupted,
    /// It has not converged yet, as far as the run was computed.
    Going,
}

/// What was done at one moment: which of the script's steps and of the inputs.
#[derive(Default)]
struct Act<'a> {
    inputs: Vec<(bool, usize, &'a Input)>,
}

impl Session {
    /// What each thing that was done has cost, in order; the computed future included.
    pub fn costs(&self) -> Arc<[Cost]> {
        let lanes = self.run.lanes().iter().map(|lane| self.run.latest_totals(lane.id));
        let of = (self.run.told(), lanes.collect());
        self.known.costs.get(of, || list(&self.run).into())
    }
}

/// What everything that was done has cost, in order.
pub(super) fn list(run: &Run) -> Vec<Cost> {
    let mut acts: BTreeMap<Time, Act<'_>> = BTreeMap::new();
    let end = run.end();
    for (of_script, inputs) in [(true, run.script()), (false, run.inputs())] {
        let given = inputs.iter().enumerate().filter(|(_, input)| input.at <= end);
        for (number, input) in given {
            acts.entry(input.at).or_default().inputs.push((of_script, number, input));
        }
    }
    let acts: Vec<(Time, Act<'_>)> = acts.into_iter().collect();
    let lanes: Vec<(&Lane, Vec<Turn<'_>>)> =
        run.lanes().iter().map(|lane| (lane, run.turns(lane.id).collect())).collect();
    let first = acts.len().saturating_sub(TOLD_MAX);
    let told = acts.iter().enumerate().skip(first).map(|(number, (at, act))| {
        let later = &acts[number + 1..];
        let costs = lanes.iter().filter_map(|(lane, turns)| cost(run, lane.id, act, later, turns));
        let lines = act.inputs.iter().map(|(.., input)| input.line.clone());
        Cost { at: *at, lines: lines.collect(), lanes: costs.collect() }
    });
    told.filter(|cost| !cost.lanes.is_empty()).collect()
}

fn cost(
    run: &Run,
    lane: LaneId,
    act: &Act<'_>,
    later: &[(Time, Act<'_>)],
    turns: &[Turn<'_>],
) -> Option<LaneCost> {
    let before = before(run, lane, act)?;
    let next = later.iter().find_map(|(_, act)| self::before(run, lane, act));
    let until = next.map_or(usize::MAX, |next| next.told);
    let first = turns.partition_point(|(entry, ..)| *entry < before.told);
    let last = turns.partition_point(|(entry, ..)| *entry < until);
    let during = turns.get(first..last)?;
    let was = first.checked_sub(1).and_then(|at| turns.get(at)).map(|(.., verdict)| *verdict);
    let given = act.inputs.first().map_or(Time::ZERO, |(.., input)| input.at);
    let healed = during.iter().find(|(.., verdict)| **verdict == Verdict::Converged);
    let (totals, outcome) = match (healed, next) {
        (Some((entry, at, _)), _) => {
            (run.totals_at(lane, *entry)?, Outcome::Converged(at.since(given)))
        }
        // Nothing moved at all.
        (None, _) if during.is_empty() && was == Some(&Verdict::Converged) => {
            (before.totals, Outcome::Converged(Duration::ZERO))
        }
        (None, Some(next)) => (next.totals, Outcome::Interrupted),
        (None, None) => {
            let verdict = during.last().map(|(.., verdict)| *verdict).or(was);
            (run.latest_totals(lane), verdict.map_or(Outcome::Going, ended))
        }
    };
    Some(difference(lane, before.totals, totals, outcome))
}

/// How things stood before the first of what was done in this lane.
fn before(run: &Run, lane: LaneId, act: &Act<'_>) -> Option<Before> {
    act.inputs.iter().find_map(|(of_script, number, _)| run.before(*of_script, *number, lane))
}

fn ended(verdict: &Verdict) -> Outcome {
    match verdict {
        Verdict::Stuck { .. } | Verdict::Oscillating { .. } => Outcome::Never(verdict.word()),
        _ => Outcome::Going,
    }
}

fn difference(lane: LaneId, from: Totals, to: Totals, outcome: Outcome) -> LaneCost {
    let reads = |totals: Totals| totals.calls.saturating_sub(totals.writes);
    LaneCost {
        lane,
        passes: to.passes.saturating_sub(from.passes),
        reads: reads(to).saturating_sub(reads(from)),
        writes: to.writes.saturating_sub(from.writes),
        watch_events: to.watch_events.saturating_sub(from.watch_events),
        retries: to.retries.saturating_sub(from.retries),
        outcome,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::In;

    const DELETE: &str = "kubectl delete pod -l app=web --limit=1 --grace-period=0 --force";

    const THREE_PODS: &str = "title: three pods\nobjects: |\n  apiVersion: apps/v1\n  \
        kind: Deployment\n  metadata: {name: web}\n  spec:\n    replicas: 3\n    \
        selector: {matchLabels: {app: web}}\n    template:\n      \
        metadata: {labels: {app: web}}\n      \
        spec: {containers: [{name: web, image: \"registry.example/web:1\"}]}\n";

    /// The costs of what a person did.
    fn own(session: &Session) -> Vec<Cost> {
        let inputs = session.run().inputs();
        let ours = |cost: &Cost| inputs.iter().any(|input| cost.lines.contains(&input.line));
        session.costs().iter().filter(|cost| ours(cost)).cloned().collect()
    }

    fn totals(session: &Session, lane: LaneId) -> Totals {
        session.run().lane(lane).expect("there is one").world.totals()
    }

    fn settled() -> Session {
        let scenario = crate::scenario::Scenario::read("", THREE_PODS).expect("it is well formed");
        let mut session = Session::open(scenario, Some(7));
        session.seek(Time::from_secs(20));
        session
    }

    #[test]
    fn healing_a_pod_costs_what_was_counted_until_it_had_converged() {
        let mut session = settled();
        let before = totals(&session, LaneId::Level);
        session.act(DELETE, None, In::Level);
        let given = session.now();
        while !matches!(session.run().verdict(LaneId::Level), Verdict::Converged) {
            let next = session.run().next_time().expect("it goes on");
            session.seek(next);
        }
        let (healed, totals) = (session.now(), totals(&session, LaneId::Level));
        session.seek(given + Duration::from_millis(900));
        let costs = own(&session);
        assert_eq!((costs.len(), costs[0].lanes.len()), (1, 1), "{costs:?}");
        let cost = costs[0].lanes[0];
        assert_eq!(cost.outcome, Outcome::Converged(healed.since(given)));
        assert_eq!(cost.passes, totals.passes - before.passes);
        assert_eq!(cost.writes, totals.writes - before.writes);
        assert!(cost.passes >= 3 && cost.writes >= 2 && cost.watch_events > 3, "{cost:?}");
    }

    #[test]
    fn a_lane_that_was_never_told_never_converges() {
        let mut session = Session::open_shipped("lost-event", None);
        session.seek(Time::from_secs(60));
        let costs = session.costs();
        let last = costs.last().expect("a pod is deleted");
        assert_eq!(last.lines.len(), 2, "the fault and the deletion are of one moment");
        let outcome = |lane| last.lanes.iter().find(|cost| cost.lane == lane).map(|c| c.outcome);
        assert_eq!(outcome(LaneId::Edge), Some(Outcome::Never("stuck")));
        assert!(
            matches!(outcome(LaneId::Level), Some(Outcome::Converged(after)) if after.as_secs() > 5)
        );
    }

    #[test]
    fn what_is_cut_short_by_the_next_action_is_told_so_and_nothing_is_counted_twice() {
        let mut session = settled();
        let before = totals(&session, LaneId::Edge);
        session.act(DELETE, None, In::Edge);
        session.seek(session.now() + Duration::from_millis(50));
        session.act(DELETE, None, In::Edge);
        session.seek(session.now() + Duration::from_secs(9));
        let costs = own(&session);
        assert_eq!(costs.len(), 2);
        assert_eq!(costs[0].lanes[0].outcome, Outcome::Interrupted);
        let writes: u64 = costs.iter().map(|cost| cost.lanes[0].writes).sum();
        let all = totals(&session, LaneId::Edge).writes - before.writes;
        assert!(writes <= all && writes > 0, "{writes} of {all}");
    }

    #[test]
    fn going_back_and_forth_changes_no_cost() {
        let mut session = settled();
        session.act(DELETE, None, In::Both);
        session.seek(Time::from_secs(40));
        let costs = session.costs();
        for seconds in [0, 19, 20, 3, 40] {
            session.seek(Time::from_secs(seconds));
            assert_eq!(session.costs(), costs, "at {seconds} s");
        }
    }

    #[test]
    fn what_moves_nothing_costs_nothing() {
        let mut session = settled();
        session.act("fault drop to=replicaset kind=Pod type=DELETED", None, In::Level);
        let cost = own(&session)[0].lanes[0];
        assert_eq!((cost.passes, cost.outcome), (0, Outcome::Converged(Duration::ZERO)));
    }
}
