//! A run: a scenario, a seed and what a person did, played on the lanes. It can go back to any
//! moment (the nearest checkpoint, and replay from there) and fork in the past. What is not an
//! input is never stored as truth; records of the future are kept only so that a scrubber can show
//! them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::kernel::Time;
use crate::kubectl::Output;
use crate::world::{Activity, Arrival, Fault, Lane, LaneId, Simulation, Totals, Verdict};

use super::checkpoints::{Checkpoint, Checkpoints};
use super::expectation::Words;
use super::format::In;
use super::metrics::{Sample, Series};
use super::scenario::Scenario;
use super::shell;
use super::story::{Entry, Story, Told, Turn};

/// Inputs that a run takes.
pub const INPUTS_MAX: usize = 5_000;

/// Something that somebody does at a moment: a console line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// When.
    pub at: Time,
    /// When it was said: earlier, if it was put off.
    pub given: Time,
    /// In which lanes.
    pub lanes: In,
    /// The line: kubectl, or a fault.
    pub line: String,
    /// What it reads from standard input.
    pub stdin: Option<String>,
    /// Words with which it must be refused (script only).
    pub fails: Option<Words>,
    /// Words that it must print (script only).
    pub prints: Option<Words>,
}

impl Input {
    /// Whether it is a fault: nobody's doing in the cluster, and it writes nothing.
    pub fn is_fault(&self) -> bool {
        Fault::is_line(&self.line)
    }
}

/// How things stood just before somebody did something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Before {
    /// How much was told of the lane.
    pub told: usize,
    /// What the lane had cost.
    pub totals: Totals,
    /// The newest revision of its store.
    pub revision: u64,
}

/// A run.
#[derive(Clone, Debug)]
pub struct Run {
    scenario: Arc<Scenario>,
    seed: u64,
    script: Vec<Input>,
    /// In the order in which they were given.
    inputs: Vec<Input>,
    /// Their numbers in the order in which they are done.
    due: Vec<usize>,
    simulation: Simulation,
    next_script: usize,
    next_input: usize,
    stories: Vec<Story>,
    /// How often an input was given, taken back, or done for the first time.
    turned: u64,
    series: Vec<Series>,
    verdicts: Vec<Verdict>,
    /// How each lane was when its verdict was found: steps and hash. Nothing moves a verdict but
    /// what moves these, or the end of an oscillation.
    judged: Vec<(u64, u64)>,
    /// What each input answered: by script, its number and the lane.
    outputs: BTreeMap<(bool, usize, LaneId), Output>,
    /// How things stood before each input, named in the same way.
    before: BTreeMap<(bool, usize, LaneId), Before>,
    /// What was put off and has failed, and was not asked for yet.
    failed: BTreeSet<usize>,
    /// What each lane had cost at the end.
    latest: Vec<Totals>,
    checkpoints: Checkpoints,
    end: Time,
    /// How often what was computed became void.
    forks: u64,
}

impl Run {
    /// The start of a run.
    pub fn new(scenario: Arc<Scenario>, seed: u64, inputs: Vec<Input>) -> Run {
        let simulation = scenario.simulation(seed);
        let lanes = simulation.lanes.len();
        let script = scenario.script();
        let mut run = Run {
            scenario,
            seed,
            script,
            due: in_time(&inputs),
            inputs,
            simulation,
            next_script: 0,
            next_input: 0,
            stories: vec![Story::default(); lanes],
            turned: 0,
            series: vec![Series::default(); lanes],
            verdicts: vec![Verdict::Converging; lanes],
            judged: vec![(u64::MAX, 0); lanes],
            outputs: BTreeMap::new(),
            before: BTreeMap::new(),
            failed: BTreeSet::new(),
            latest: vec![Totals::default(); lanes],
            checkpoints: Checkpoints::default(),
            end: Time::ZERO,
            forks: 0,
        };
        run.checkpoint();
        run.do_what_is_due();
        run
    }

    /// The scenario.
    pub fn scenario(&self) -> &Arc<Scenario> {
        &self.scenario
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The time.
    pub fn now(&self) -> Time {
        self.simulation.now()
    }

    /// Which course it takes: another number, and what was seen later than now counts no more.
    pub fn course(&self) -> (u64, u64) {
        (self.seed, self.forks)
    }

    /// How far the run was ever computed since it last forked.
    pub fn end(&self) -> Time {
        self.end
    }

    #[cfg(test)]
    pub(super) fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    /// The lanes.
    pub fn lanes(&self) -> &[Lane] {
        &self.simulation.lanes
    }

    /// One lane.
    pub fn lane(&self, id: LaneId) -> Option<&Lane> {
        self.simulation.lane(id)
    }

    /// What the lane has come to.
    pub fn verdict(&self, id: LaneId) -> Verdict {
        self.index(id).map_or_else(Verdict::default, |index| self.verdicts[index].clone())
    }

    /// What is told of a lane up to now.
    pub fn past(&self, id: LaneId) -> &[Entry] {
        self.index(id).map_or(&[], |index| {
            let story = &self.stories[index];
            story.entries.get(..story.past).unwrap_or_default()
        })
    }

    /// What is told of a lane, the computed future included.
    pub fn story(&self, id: LaneId) -> &[Entry] {
        self.index(id).map_or(&[], |index| &self.stories[index].entries)
    }

    /// The watch events that came into the caches of a lane, the computed future included, in order
    /// of their arrival. Those that met a fault are in its story.
    pub fn arrivals(&self, id: LaneId) -> &[Arrival] {
        self.index(id).map_or(&[], |index| &self.stories[index].arrivals)
    }

    /// A number that grows with all that is told anew or no longer told: entries of stories, and
    /// inputs. Going back and forth in what was computed leaves it as it is.
    pub fn told(&self) -> u64 {
        self.turned + self.stories.iter().map(|story| story.changes).sum::<u64>()
    }

    /// The verdicts that a lane came to, the computed future included.
    pub fn turns(&self, id: LaneId) -> impl DoubleEndedIterator<Item = Turn<'_>> {
        let story = self.index(id).map(|index| &self.stories[index]);
        story.into_iter().flat_map(|story| story.turns(usize::MAX))
    }

    /// Since when the present verdict of a lane holds; none if it never came to one.
    pub fn verdict_since(&self, id: LaneId) -> Option<Time> {
        let story = &self.stories[self.index(id)?];
        story.turns(story.past).next_back().map(|(_, at, _)| at)
    }

    /// What was measured of a lane up to now.
    pub fn samples(&self, id: LaneId) -> &[Sample] {
        self.index(id).map_or(&[], |index| self.series[index].until(self.now()))
    }

    /// The scenario's own steps.
    pub fn script(&self) -> &[Input] {
        &self.script
    }

    /// What a person did, the undone apart, in the order in which it was given.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// What a step of the script (true) or a person's input answered in a lane.
    pub fn output(&self, of_script: bool, number: usize, lane: LaneId) -> Option<&Output> {
        self.outputs.get(&(of_script, number, lane))
    }

    /// What the lanes answered to a person's input that was put off, where it failed when its time
    /// had come: nobody was there to read it.
    pub fn failures(&self, number: usize) -> Vec<(LaneId, &Output)> {
        let put_off = self.inputs.get(number).is_some_and(|input| input.given < input.at);
        let lanes = self.simulation.lanes.iter().filter(|_| put_off).filter_map(|lane| {
            let output = self.output(false, number, lane.id)?;
            output.error.then_some((lane.id, output))
        });
        lanes.collect()
    }

    /// The numbers of the inputs that were put off and have failed since this was asked last.
    pub fn take_failed(&mut self) -> BTreeSet<usize> {
        std::mem::take(&mut self.failed)
    }

    /// How things stood in a lane just before that input was given.
    pub fn before(&self, of_script: bool, number: usize, lane: LaneId) -> Option<Before> {
        self.before.get(&(of_script, number, lane)).copied()
    }

    /// What a lane had cost when its verdict changed, at this entry of its story.
    pub fn totals_at(&self, lane: LaneId, entry: usize) -> Option<Totals> {
        self.stories.get(self.index(lane)?)?.totals.get(&entry).copied()
    }

    /// What a lane has cost, as far as it was computed.
    pub fn latest_totals(&self, lane: LaneId) -> Totals {
        self.index(lane).and_then(|index| self.latest.get(index).copied()).unwrap_or_default()
    }

    /// The scenario's steps that were done by now, newest first.
    pub fn steps_done(&self) -> impl ExactSizeIterator<Item = &Input> {
        self.script.iter().take(self.next_script).rev()
    }

    /// What a person has done by now, with its number, newest first; what is put off is not done.
    pub fn inputs_done(&self) -> impl ExactSizeIterator<Item = (usize, &Input)> {
        let done = self.due.iter().take(self.next_input).rev();
        done.map(|number| (*number, &self.inputs[*number]))
    }

    /// What was put off before now and is still to be done, the next one first.
    pub fn inputs_ahead(&self) -> impl Iterator<Item = &Input> {
        let ahead = self.due.iter().skip(self.next_input).map(|number| &self.inputs[*number]);
        ahead.filter(|input| input.given <= self.now())
    }

    /// How many of the inputs were given up to now; those that are put off count.
    pub fn given(&self) -> usize {
        self.inputs.iter().take_while(|input| input.given <= self.now()).count()
    }

    fn index(&self, id: LaneId) -> Option<usize> {
        self.simulation.lanes.iter().position(|lane| lane.id == id)
    }

    /// How busy the lanes are, together.
    pub fn activity(&self) -> Activity {
        let lanes = self.simulation.lanes.iter().map(|lane| lane.world.activity());
        lanes.fold(Activity::default(), |sum, lane| Activity {
            thinking: sum.thinking + lane.thinking,
            flying: sum.flying + lane.flying,
        })
    }

    /// When something happens next: in a lane (upkeep included), by script, or by a person.
    pub fn next_time(&self) -> Option<Time> {
        [
            self.simulation.next_time(),
            self.script.get(self.next_script).map(|input| input.at),
            self.next_of_person(),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// When something happens next that is not mere upkeep.
    pub fn next_event_time(&self) -> Option<Time> {
        let lanes = self.simulation.lanes.iter().filter_map(|lane| lane.world.next_event_time());
        let script = self.script.get(self.next_script).map(|input| input.at);
        let input = self.next_of_person();
        lanes.chain(script).chain(input).min()
    }

    fn next_of_person(&self) -> Option<Time> {
        self.inputs.get(*self.due.get(self.next_input)?).map(|input| input.at)
    }

    /// Goes on to the next moment at which something happens, and does all of it; if that is later
    /// than `until`, goes on to `until`. False: nothing was due.
    pub fn step(&mut self, until: Time) -> bool {
        let next = self.next_time().filter(|next| *next <= until);
        let moment = next.unwrap_or(until).max(self.now());
        self.simulation.run_until(moment, u64::MAX);
        self.listen();
        self.do_what_is_due();
        for (lane, series) in self.simulation.lanes.iter().zip(&mut self.series) {
            series.observe(&lane.world);
        }
        if self.now() >= self.end {
            self.end = self.now();
            self.count();
        }
        if self.checkpoints.is_due(&self.simulation) {
            self.checkpoint();
        }
        next.is_some()
    }

    /// Runs until `until`, at most `budget` moments. False if the budget ran out first.
    pub fn run_until(&mut self, until: Time, budget: u64) -> bool {
        (0..budget).any(|_| !self.step(until))
    }

    fn count(&mut self) {
        for (latest, lane) in self.latest.iter_mut().zip(&self.simulation.lanes) {
            *latest = lane.world.totals();
        }
    }

    fn do_what_is_due(&mut self) {
        self.give_inputs();
        self.listen();
    }

    fn give_inputs(&mut self) {
        let now = self.now();
        while let Some(input) = self.script.get(self.next_script).filter(|i| i.at <= now).cloned() {
            self.perform(&input, true, self.next_script);
            self.next_script += 1;
        }
        while self.next_of_person().is_some_and(|at| at <= now) {
            let number = self.due[self.next_input];
            let input = self.inputs[number].clone();
            self.perform(&input, false, number);
            self.next_input += 1;
        }
    }

    fn perform(&mut self, input: &Input, of_script: bool, number: usize) {
        let lanes = self.simulation.lanes.iter_mut().zip(&self.stories);
        for (lane, story) in lanes.filter(|(lane, _)| input.lanes.includes(lane.id)) {
            let (totals, revision) = (lane.world.totals(), lane.world.store().revision());
            let before = Before { told: story.past, totals, revision };
            // While it is replayed, it is there already.
            self.before.entry((of_script, number, lane.id)).or_insert(before);
            let output = shell::perform(lane, &input.line, input.stdin.as_deref());
            let failed = output.error && input.given < input.at;
            let old = self.outputs.insert((of_script, number, lane.id), output);
            if failed && old.is_none() && !of_script {
                self.failed.insert(number);
            }
            self.turned += u64::from(old.is_none());
        }
    }

    /// Takes down what happened, and what the lanes have come to.
    fn listen(&mut self) {
        let lanes = self.simulation.lanes.iter_mut().zip(&mut self.stories);
        let judged = self.verdicts.iter_mut().zip(&mut self.judged);
        for ((lane, story), (verdict, judged)) in lanes.zip(judged) {
            for record in lane.take_records() {
                story.tell(record);
            }
            let state = (lane.world.steps(), lane.world.trace_hash());
            let is_old = state == *judged && !matches!(verdict, Verdict::Oscillating { .. });
            *judged = state;
            if is_old {
                continue;
            }
            let new = lane.verdict();
            // While it is busy only another kind of verdict is news, not another moment or number.
            let same_kind = std::mem::discriminant(&new) == std::mem::discriminant(verdict);
            if same_kind && matches!(new, Verdict::Oscillating { .. }) {
                // It goes on with other numbers, and each of them is no news.
                *verdict = new;
            } else if !same_kind || (new != *verdict && !lane.world.is_busy()) {
                let at = lane.world.now();
                story.turn(Entry { at, what: Told::Verdict(new.clone()) }, lane.world.totals());
                *verdict = new;
            }
        }
    }

    fn checkpoint(&mut self) {
        self.checkpoints.keep(Checkpoint {
            simulation: self.simulation.clone(),
            next_script: self.next_script,
            next_input: self.next_input,
            past: self.stories.iter().map(|story| (story.past, story.heard)).collect(),
            verdicts: self.verdicts.clone(),
        });
    }

    /// Goes to a moment, back or forth. At most `budget` moments that were never computed before
    /// are; false if it ran out.
    pub fn seek(&mut self, to: Time, budget: u64) -> bool {
        let nearest = self.checkpoints.before(to).map(|nearest| nearest.simulation.now());
        if to < self.now() || nearest.is_some_and(|nearest| nearest > self.now()) {
            self.restore(to);
        }
        self.replay(to.min(self.end));
        self.run_until(to, budget)
    }

    /// Goes on to a moment that was computed before: the worlds take the same steps, and what they
    /// tell is known.
    fn replay(&mut self, to: Time) {
        if to <= self.now() || !self.stories.iter().all(Story::is_whole) {
            return;
        }
        loop {
            let script = self.script.get(self.next_script).map(|input| input.at);
            let input = self.next_of_person();
            let next = script.into_iter().chain(input).min().filter(|at| *at <= to);
            self.simulation.run_until(next.unwrap_or(to).max(self.now()), u64::MAX);
            self.give_inputs();
            if next.is_none() {
                break;
            }
        }
        let lanes = self.simulation.lanes.iter_mut().zip(&mut self.stories);
        for ((lane, story), verdict) in lanes.zip(&mut self.verdicts) {
            lane.take_records();
            *verdict = story.go_to(to);
        }
        self.judged.fill((u64::MAX, 0));
    }

    /// The clusters as they were at a moment that was computed, all of it done. This run stays
    /// where it is.
    pub fn as_it_was(&self, at: Time) -> Option<Simulation> {
        let checkpoint = self.checkpoints.before(at.min(self.end))?;
        let mut simulation = checkpoint.simulation.clone();
        let script = self.script.iter().skip(checkpoint.next_script).map(|input| (input, true));
        let due = self.due.iter().skip(checkpoint.next_input).map(|number| &self.inputs[*number]);
        let mut inputs: Vec<(&Input, bool)> =
            script.chain(due.map(|input| (input, false))).collect();
        // As in `give_inputs`: at one moment the script comes first.
        inputs.sort_by_key(|(input, of_script)| (input.at, !of_script));
        for (input, _) in inputs.into_iter().take_while(|(input, _)| input.at <= at) {
            simulation.run_until(input.at, u64::MAX);
            for lane in simulation.lanes.iter_mut().filter(|lane| input.lanes.includes(lane.id)) {
                shell::perform(lane, &input.line, input.stdin.as_deref());
            }
        }
        simulation.run_until(at, u64::MAX);
        Some(simulation)
    }

    /// Back to the newest checkpoint before `to` (at `to` itself, inputs may have been done
    /// already).
    fn restore(&mut self, to: Time) {
        let Some(checkpoint) = self.checkpoints.before(to).cloned() else { return };
        self.simulation = checkpoint.simulation;
        (self.next_script, self.next_input) = (checkpoint.next_script, checkpoint.next_input);
        for (story, past) in self.stories.iter_mut().zip(checkpoint.past) {
            (story.past, story.heard) = past;
        }
        self.verdicts = checkpoint.verdicts;
        self.judged.fill((u64::MAX, 0));
        if self.now() == Time::ZERO {
            self.do_what_is_due();
        }
    }

    /// Does something now, in these lanes. What was computed of the future is void. Returns what
    /// each lane answered; refuses when there are too many inputs.
    pub fn act(
        &mut self,
        line: &str,
        stdin: Option<&str>,
        lanes: In,
    ) -> Option<Vec<(LaneId, Output)>> {
        let number = self.give(self.now(), line, stdin, lanes)?;
        self.do_what_is_due();
        self.count();
        let answered = self.simulation.lanes.iter().filter_map(|lane| {
            let output = self.outputs.get(&(false, number, lane.id))?;
            Some((lane.id, output.clone()))
        });
        Some(answered.collect())
    }

    /// Says now what is to be done at a later moment. False when there are too many inputs.
    pub fn schedule(&mut self, at: Time, line: &str, stdin: Option<&str>, lanes: In) -> bool {
        self.give(at.max(self.now()), line, stdin, lanes).is_some()
    }

    /// Adds an input; its number.
    fn give(&mut self, at: Time, line: &str, stdin: Option<&str>, lanes: In) -> Option<usize> {
        let given = self.now();
        if self.given() >= INPUTS_MAX {
            return None;
        }
        self.forget_future();
        self.inputs.push(Input {
            at,
            given,
            lanes,
            line: line.to_string(),
            stdin: stdin.map(str::to_string),
            fails: None,
            prints: None,
        });
        self.due = in_time(&self.inputs);
        self.turned += 1;
        Some(self.inputs.len() - 1)
    }

    /// What was given later is void; what was put off before now is still to be done.
    fn forget_future(&mut self) {
        let now = self.now();
        self.forks += u64::from(now < self.end);
        self.end = now;
        self.stories.iter_mut().for_each(Story::forget_future);
        self.count();
        self.series.iter_mut().for_each(|series| series.forget_after(now));
        self.inputs.retain(|input| input.given <= now);
        self.due = in_time(&self.inputs);
        self.checkpoints.retain(|at| at <= now);
        let (inputs, steps) = (&self.inputs, self.next_script);
        let done = |of_script: bool, number: usize| match of_script {
            true => number < steps,
            false => inputs.get(number).is_some_and(|input| input.at <= now),
        };
        self.outputs.retain(|(of_script, number, _), _| done(*of_script, *number));
        self.before.retain(|(of_script, number, _), _| done(*of_script, *number));
        self.failed.retain(|number| done(false, *number));
    }

    /// The same run with other inputs: undo and redo. It goes back to where the two part, if that
    /// has passed, and says when it is; none if nothing is another. Checkpoints that both share are
    /// kept.
    pub fn replace_inputs(&mut self, inputs: Vec<Input>, budget: u64) -> Option<Time> {
        let same = self.inputs.iter().zip(&inputs).take_while(|(old, new)| old == new).count();
        // What is put off may be done after what was given later.
        let changed = self.inputs.iter().skip(same).chain(inputs.iter().skip(same));
        let fork = changed.map(|input| input.at).min()?;
        let back = fork.min(self.now());
        self.checkpoints.retain(|at| at < fork);
        self.forks += 1;
        // Before going back: what is done at the very start is done again there.
        self.inputs.truncate(same);
        self.due = in_time(&self.inputs);
        self.restore(back);
        self.forget_future();
        self.inputs = inputs;
        self.due = in_time(&self.inputs);
        self.turned += 1;
        self.run_until(back, budget);
        Some(fork)
    }
}

/// The numbers of inputs in the order in which they are done: what was given first goes first.
fn in_time(inputs: &[Input]) -> Vec<usize> {
    let mut due: Vec<usize> = (0..inputs.len()).collect();
    due.sort_by_key(|number| inputs[*number].at);
    due
}
