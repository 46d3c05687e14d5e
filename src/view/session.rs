//! What the page holds: a run, the moment that is shown, and what a person can do with them. No web
//! types; the page is a thin shell around it.

use std::sync::Arc;
use std::time::Duration;

use crate::api::{ObjectKey, custom};
use crate::controllers::Fact;
use crate::kernel::Time;
use crate::kubectl::{Completion, Output};
use crate::manifest::{self, Problem};
use crate::scenario::{In, Input, Run, Sample, Scenario, Shipped, Told, schedule};
use crate::world::{Activity, Fault, LaneId, Occurrence, Verdict, World};

use super::build;
use super::divergence;
use super::follow::Followers;
use super::futures::{Futures, Left};
use super::known::Readings;
use super::log::{Band, Divergence, LogLine, Mark};
use super::pacing::{Curve, Gap};
use super::passes::{self, PassFilter, PassRow, Reason};
use super::places::Memory;
use super::spacetime::{self, Ask, Diagram};
use super::stage::Stage;
use super::story;

/// How simulated time is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pace {
    /// Every pass is given time to be seen, and waiting is shortened.
    #[default]
    Paced,
    /// One to one.
    Real,
}

const TOO_MANY: &str = "error: this run has as many inputs as it takes; start again\n";
/// Moments that a search for the next pass may compute.
const SEARCH_BUDGET: u64 = 60_000;
/// How far ahead a search for the next pass looks.
const SEARCH_SPAN: Duration = Duration::from_secs(3_600);
/// Moments that a jump in time may compute.
pub(super) const SEEK_BUDGET: u64 = 4_000_000;

/// A run as it is looked at.
pub struct Session {
    pub(super) run: Run,
    pub(super) curve: Curve,
    pub(super) memories: Vec<(LaneId, Memory)>,
    /// What a person did, with the futures that were left for another.
    pub(super) futures: Futures,
    /// What was read off the run.
    pub(super) known: Readings,
    /// Text in the editor that was not applied; it travels in the link.
    pub(super) draft: Option<String>,
    /// Lines of the console that go on printing.
    pub(super) followers: Followers,
}

impl Session {
    /// Opens a scenario at the moment where it begins to be interesting.
    pub fn open(scenario: Scenario, seed: Option<u64>) -> Session {
        let seed = seed.unwrap_or_else(|| scenario.seed());
        let start = scenario.start();
        let mut session = Self::at_start(Arc::new(scenario), seed, Futures::default());
        session.seek(start);
        session
    }

    /// The scenario of this id, or the default one.
    pub fn open_shipped(id: &str, seed: Option<u64>) -> Session {
        let shipped = Shipped::find(id).unwrap_or_else(Shipped::default_one);
        Self::open(shipped.load(), seed)
    }

    pub(super) fn at_start(scenario: Arc<Scenario>, seed: u64, futures: Futures) -> Session {
        let run = Run::new(scenario, seed, futures.inputs());
        let memories = run.lanes().iter().map(|lane| (lane.id, Memory::default())).collect();
        Session {
            run,
            curve: Curve::default(),
            memories,
            futures,
            known: Readings::default(),
            draft: None,
            followers: Followers::default(),
        }
    }

    /// The scenario.
    pub fn scenario(&self) -> &Scenario {
        self.run.scenario()
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.run.seed()
    }

    /// The lanes.
    pub fn lanes(&self) -> Vec<LaneId> {
        self.run.lanes().iter().map(|lane| lane.id).collect()
    }

    /// What is wrong with a manifest, and where, for the clusters as they are.
    pub fn problems(&self, yaml: &str) -> Vec<Problem> {
        let lane = self.run.lanes().first();
        let kinds = lane.map_or_else(|| Arc::new([]) as _, |lane| lane.world.served());
        custom::serving(kinds, || manifest::read(yaml).problems)
    }

    /// The run, to look at.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// The simulated time that is shown.
    pub fn now(&self) -> Time {
        self.run.now()
    }

    /// How far the run was computed.
    pub fn end(&self) -> Time {
        self.run.end().max(self.now())
    }

    // ---- time ----

    /// Shown milliseconds since the start: the clock of all animation.
    pub fn shown(&self) -> f64 {
        self.curve.shown_of(self.now())
    }

    /// When a simulated moment is shown. Both lanes by the same curve.
    pub fn shown_of(&self, at: Time) -> f64 {
        self.curve.shown_of(at)
    }

    /// Which simulated moment is shown then.
    pub fn time_of(&self, shown: f64) -> Time {
        self.curve.time_of(shown)
    }

    /// The length of the wait that is being skipped, if one is.
    pub fn gap(&self) -> Option<Duration> {
        self.curve.gap_at(self.now())
    }

    /// The waits that were shortened.
    pub fn gaps(&self) -> &[Gap] {
        self.curve.gaps()
    }

    /// Goes on by so many shown milliseconds, computing at most `budget` moments. False: it did not
    /// come that far.
    pub fn advance(&mut self, shown_ms: f64, pace: Pace, budget: u64) -> bool {
        match pace {
            Pace::Real => {
                let until = self.now() + Duration::from_secs_f64(shown_ms.max(0.0) / 1e3);
                self.run_mapped(budget, |session| (session.now() < until).then_some(until))
            }
            Pace::Paced => {
                let shown = self.shown() + shown_ms.max(0.0);
                self.run_mapped(budget, |session| session.target_of(shown))
            }
        }
    }

    /// The simulated time that a shown time stands for, as far as can be told before the next thing
    /// happens; none once it is reached.
    fn target_of(&self, shown: f64) -> Option<Time> {
        let now = self.now();
        if now < self.curve.end() {
            let target = self.curve.time_of(shown).min(self.curve.end());
            return (target > now).then_some(target);
        }
        let left = shown - self.curve.shown_end();
        if left <= 1e-6 {
            return None;
        }
        let (activity, wakes) = self.pulse();
        let far = now + SEARCH_SPAN;
        let rate = self.curve.stretch(far, activity, wakes) / (SEARCH_SPAN.as_secs_f64() * 1e3);
        let ahead = Duration::from_secs_f64((left / rate.max(1e-9) / 1e3).min(3_600.0));
        Some(now + ahead.max(Duration::from_nanos(100)))
    }

    /// How busy the lanes are and, if nothing moves, when something will.
    fn pulse(&self) -> (Activity, Option<Time>) {
        let activity = self.run.activity();
        let idle = activity == Activity::default();
        (activity, if idle { self.next_turn() } else { None })
    }

    /// When something will happen that may change what is seen: mere upkeep does not, unless a lane
    /// waits for it, as for the resync that will show it what it has missed.
    fn next_turn(&self) -> Option<Time> {
        let waits = self.run.lanes().iter().filter_map(|lane| match self.run.verdict(lane.id) {
            Verdict::Waiting { until, .. } if until < Time::MAX => Some(until),
            _ => None,
        });
        self.run.next_event_time().into_iter().chain(waits).min()
    }

    /// Runs moment by moment towards a target that may move, mapping what it passes.
    pub(super) fn run_mapped(
        &mut self,
        budget: u64,
        target: impl Fn(&Session) -> Option<Time>,
    ) -> bool {
        for _ in 0..budget {
            let Some(until) = target(self) else { return true };
            self.step_mapped(until);
        }
        target(self).is_none()
    }

    /// Goes on to the next moment at which something happens, at most to `until`.
    fn step_mapped(&mut self, until: Time) -> bool {
        let (activity, wakes) = self.pulse();
        let passes = self.pass_count();
        let happened = self.run.step(until);
        if self.now() > self.curve.end() {
            self.curve.extend(self.now(), activity, wakes);
            (passes..self.pass_count()).for_each(|_| self.curve.note_pass());
        }
        happened
    }

    fn pass_count(&self) -> u64 {
        self.run.lanes().iter().map(|lane| lane.world.totals().passes).sum()
    }

    /// Goes to a moment, back or forth.
    pub fn seek(&mut self, to: Time) {
        if to < self.now() {
            self.run.seek(to, SEEK_BUDGET);
            self.memories.iter_mut().for_each(|(_, memory)| memory.jump());
        }
        // What was computed and mapped before is only replayed.
        let known = to.min(self.run.end()).min(self.curve.end());
        if known > self.now() {
            self.run.seek(known, SEEK_BUDGET);
        }
        self.run_mapped(SEEK_BUDGET, |session| (session.now() < to).then_some(to));
    }

    /// Goes on to the end of the next pass in any lane. False: nothing will ever happen.
    pub fn step_forward(&mut self) -> bool {
        let until = self.now() + SEARCH_SPAN;
        let told = self.told();
        for _ in 0..SEARCH_BUDGET {
            if self.now() >= until || self.next_turn().is_none() && self.is_quiet() {
                return false;
            }
            self.step_mapped(until);
            if self.has_ended_pass(&told) {
                return true;
            }
        }
        false
    }

    fn is_quiet(&self) -> bool {
        self.run.activity() == Activity::default()
    }

    /// How much is told of each lane up to now.
    fn told(&self) -> Vec<usize> {
        self.run.lanes().iter().map(|lane| self.run.past(lane.id).len()).collect()
    }

    /// Whether a pass has ended since so much was told.
    fn has_ended_pass(&self, told: &[usize]) -> bool {
        let mut lanes = self.run.lanes().iter().zip(told);
        lanes.any(|(lane, told)| {
            let new = self.run.past(lane.id).get(*told..).unwrap_or_default();
            story::pass_ends(new).next().is_some()
        })
    }

    /// Goes back to the end of the pass before. False: there is none; it is at the start now.
    pub fn step_back(&mut self) -> bool {
        let now = self.now();
        let ends =
            self.run.lanes().iter().filter_map(|lane| {
                story::pass_ends(self.run.past(lane.id)).rev().find(|at| *at < now)
            });
        let to = ends.max();
        self.seek(to.unwrap_or(Time::ZERO));
        to.is_some()
    }

    /// The same scenario under another seed, from where it opens.
    pub fn reseed(&mut self, seed: u64) {
        let scenario = self.run.scenario().clone();
        let draft = self.draft.take();
        let mut followers = std::mem::take(&mut self.followers);
        followers.forget_told();
        let start = scenario.start();
        *self = Self::at_start(scenario, seed, Futures::default());
        (self.draft, self.followers) = (draft, followers);
        self.seek(start);
    }

    // ---- doing ----

    /// Does a console line now: kubectl, or a fault. What only reads is answered and leaves no
    /// trace; all else is an input, forks the run if it lies in the past, and can be undone.
    ///
    /// `at 12s LINE` and `in 5s LINE` put a line off.
    pub fn act(&mut self, line: &str, stdin: Option<&str>, lanes: In) -> Vec<(LaneId, Output)> {
        match schedule::read(line, self.now()) {
            Ok(None) => {}
            Ok(Some((at, line))) => return self.put_off(at, line, stdin, lanes),
            Err(text) => return self.say(lanes, &Output::new(format!("error: {text}\n"), true)),
        }
        if let Some(answers) = self.read_only(line, stdin, lanes) {
            return answers;
        }
        let (now, given, left) = (self.now(), self.run.given(), self.left());
        let Some(answers) = self.run.act(line, stdin, lanes) else {
            return vec![(self.lanes()[0], Output::new(TOO_MANY.to_string(), true))];
        };
        self.note(now, given, left);
        answers
    }

    fn put_off(
        &mut self,
        at: Time,
        line: &str,
        stdin: Option<&str>,
        lanes: In,
    ) -> Vec<(LaneId, Output)> {
        let (now, given, left) = (self.now(), self.run.given(), self.left());
        if !self.run.schedule(at, line, stdin, lanes) {
            return self.say(lanes, &Output::new(TOO_MANY.to_string(), true));
        }
        self.note(now, given, left);
        let text = format!("{} {line}\n", schedule::moment(at));
        self.say(lanes, &Output::new(text, false))
    }

    /// Lines that were put off and have failed since this was asked last, with what the lanes
    /// answered. Going back and forth does not fail them again.
    pub fn take_failed(&mut self) -> Vec<(String, Vec<(LaneId, Output)>)> {
        let numbers = self.run.take_failed();
        let told = numbers.into_iter().filter_map(|number| {
            let input = self.run.inputs().get(number)?;
            let answers = self.run.failures(number).into_iter();
            Some((input.line.clone(), answers.map(|(lane, said)| (lane, said.clone())).collect()))
        });
        told.collect()
    }

    /// Takes down in the tree what was given now, after the first `given` inputs.
    fn note(&mut self, now: Time, given: usize, left: Left) {
        self.curve.truncate(now);
        if let Some(input) = self.run.inputs().last() {
            self.futures.note(input.clone(), given, Some(left));
        }
    }

    /// The same answer in all lanes that are meant.
    fn say(&self, lanes: In, output: &Output) -> Vec<(LaneId, Output)> {
        let meant = self.lanes().into_iter().filter(|lane| lanes.includes(*lane));
        meant.map(|lane| (lane, output.clone())).collect()
    }

    /// What may stand at the cursor, a byte of a console line, by what is in the first lane.
    pub fn completions(&self, line: &str, cursor: usize) -> Vec<Completion> {
        let lane = self.run.lanes().first();
        lane.map_or(Vec::new(), |lane| crate::scenario::completions(lane, line, cursor))
    }

    /// The answers, if the line changes nothing in any lane.
    fn read_only(
        &self,
        line: &str,
        stdin: Option<&str>,
        lanes: In,
    ) -> Option<Vec<(LaneId, Output)>> {
        if Fault::is_line(line) {
            return None;
        }
        let mut answers = Vec::new();
        for lane in self.run.lanes().iter().filter(|lane| lanes.includes(lane.id)) {
            let mut copy = lane.clone();
            // What lies outside of the cluster, as the repository and the load, has no revision.
            let state = |world: &World| (world.store().revision(), world.trace_hash());
            answers.push((lane.id, crate::scenario::perform(&mut copy, line, stdin)));
            if state(&copy.world) != state(&lane.world) {
                return None;
            }
        }
        Some(answers)
    }

    /// Applies a manifest now.
    pub fn apply(&mut self, manifest: &str, lanes: In) -> Vec<(LaneId, Output)> {
        self.act("apply -f -", Some(manifest), lanes)
    }

    /// What the editor opens with: the manifest that was applied last, or the text that was not
    /// applied yet.
    pub fn desired_text(&self) -> String {
        if let Some(draft) = &self.draft {
            return draft.clone();
        }
        let now = self.now();
        let applied = |input: &&Input| {
            let line = input.line.trim_start_matches("kubectl ");
            input.at <= now && line.starts_with("apply") && input.stdin.is_some()
        };
        let last = self.run.inputs().iter().filter(applied).max_by_key(|input| input.at);
        let last = last.or_else(|| self.run.script().iter().rev().find(applied));
        last.and_then(|input| input.stdin.clone())
            .unwrap_or_else(|| self.scenario().file.objects.clone())
    }

    /// Keeps a text that was not applied (or forgets it): it travels in the link.
    pub fn set_draft(&mut self, draft: Option<String>) {
        self.draft = draft;
    }

    // ---- seeing ----

    /// What the stage of a lane shows now.
    pub fn stage(&mut self, id: LaneId) -> Stage {
        let Some(lane) = self.run.lane(id) else { return Stage::default() };
        let verdict = match self.run.verdict(id) {
            // The story keeps it until the outcome is clear; the stage shows what is going on.
            Verdict::Waiting { .. } if lane.world.is_busy() => Verdict::Converging,
            verdict => verdict,
        };
        let since = self.run.verdict_since(id).unwrap_or(Time::ZERO);
        let memory = self.memories.iter_mut().find(|(of, _)| *of == id);
        memory
            .map_or_else(Stage::default, |(_, memory)| build::stage(lane, &verdict, since, memory))
    }

    /// The stages of both lanes, edge first, made anew only when they may look different.
    pub fn stages(&mut self) -> [Arc<Stage>; 2] {
        let version = self.version();
        self.known.stages.find(&version).unwrap_or_else(|| {
            let stages = [LaneId::Edge, LaneId::Level].map(|lane| Arc::new(self.stage(lane)));
            self.known.stages.keep(version, stages.clone());
            stages
        })
    }

    /// A number that changes whenever a stage may look different.
    fn version(&self) -> u64 {
        let lanes = self.run.lanes().iter();
        lanes.fold(self.run.inputs().len() as u64, |sum, lane| {
            sum.rotate_left(7) ^ lane.world.trace_hash()
        })
    }

    /// The newest lines of the log, newest last.
    pub fn log(&self, limit: usize) -> Arc<[LogLine]> {
        let divergences = self.divergences();
        let state = story::log_state(&self.run, &divergences, limit);
        self.known.log.get(state, || story::log(&self.run, &divergences, limit).into())
    }

    /// The passes that fit: `before` up to now, `after` of the computed future; oldest first.
    pub fn passes(&self, filter: PassFilter, before: usize, after: usize) -> Vec<PassRow> {
        passes::list(&self.run, filter, before, after)
    }

    /// A pass by its number in its lane.
    pub fn pass(&self, lane: LaneId, number: u64) -> Option<PassRow> {
        passes::find(&self.run, lane, number)
    }

    /// What a pass would have seen in the API server itself.
    pub fn truth(&self, lane: LaneId, number: u64) -> Option<Fact> {
        passes::truth(&self.run, lane, number)
    }

    /// What led to a pass, the nearest cause first.
    pub fn why(&self, lane: LaneId, number: u64) -> Vec<Reason> {
        passes::why(&self.run, lane, number)
    }

    /// The passes that what a pass wrote has woken, oldest first.
    pub fn led_to(&self, lane: LaneId, number: u64) -> Vec<PassRow> {
        passes::led_to(&self.run, lane, number)
    }

    /// What was measured of a lane up to now, oldest first.
    pub fn samples(&self, lane: LaneId) -> &[Sample] {
        self.run.samples(lane)
    }

    /// The marks of the whole run, the computed future included.
    pub fn marks(&self) -> Arc<[Mark]> {
        self.known.marks.get(self.run.told(), || {
            let mut forks: Vec<Time> = self.futures().iter().map(|future| future.fork).collect();
            forks.sort();
            forks.dedup();
            story::marks(&self.run, &self.divergences(), &forks).into()
        })
    }

    /// Stretches of the whole run in which a lane's verdict stayed the same.
    pub fn bands(&self) -> Vec<Band> {
        story::bands(&self.run)
    }

    /// The decisions in which the lanes differ as far as the run was computed, oldest first.
    pub fn divergences(&self) -> Arc<[Divergence]> {
        self.known.divergences.get(self.run.told(), || divergence::all(&self.run).into())
    }

    /// The run, or what led to something in it, as a space-time diagram.
    pub fn diagram(&self, ask: &Ask) -> Diagram {
        spacetime::diagram(&self.run, &self.divergences(), ask)
    }

    /// Objects that a diagram can follow.
    pub fn diagram_objects(&self) -> Vec<ObjectKey> {
        spacetime::objects(&self.run)
    }

    /// The hash of all that happened in a lane.
    pub fn trace_hash(&self, id: LaneId) -> u64 {
        self.run.lane(id).map_or(0, |lane| lane.world.trace_hash())
    }

    /// Whether any record of this kind is in the past of a lane; for tests.
    pub fn has_happened(&self, id: LaneId, what: impl Fn(&Occurrence) -> bool) -> bool {
        self.run.past(id).iter().any(|entry| match &entry.what {
            Told::World(occurrence) => what(occurrence),
            Told::Verdict(_) => false,
        })
    }
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
