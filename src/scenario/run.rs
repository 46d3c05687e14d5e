//! A run: a scenario, a seed and what a person did, played on the lanes. It can go back to any
//! moment (the nearest checkpoint, and replay from there) and fork in the past. What is not an
//! input is never stored as truth; records of the future are kept only so that a scrubber can show
//! them.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::kernel::Time;
use crate::kubectl::Output;
use crate::world::{Activity, Lane, LaneId, Occurrence, Simulation, Verdict};

use super::expectation::Words;
use super::format::In;
use super::metrics::{Sample, Series};
use super::scenario::Scenario;
use super::shell;

/// Records kept of each lane; a longer run goes on without telling more.
const ENTRIES_MAX: usize = 300_000;
/// Inputs that a run takes.
pub const INPUTS_MAX: usize = 5_000;
/// Steps of the simulation between two checkpoints.
const STEPS_PER_CHECKPOINT: u64 = 1_500;
/// Checkpoints kept; above that every other one goes.
const CHECKPOINTS_MAX: usize = 160;

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

/// Something to tell of a lane.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// When.
    pub at: Time,
    /// What.
    pub what: Told,
}

/// What is told of a lane.
#[derive(Clone, Debug, PartialEq)]
pub enum Told {
    /// Something happened in its world.
    World(Occurrence),
    /// Its verdict changed.
    Verdict(Verdict),
}

/// What is told of one lane: all that was computed, and how much of it lies in the past.
#[derive(Clone, Debug, Default)]
struct Story {
    entries: Vec<Entry>,
    past: usize,
}

impl Story {
    /// Adds an entry; while replaying, it is the one that is there already.
    fn push(&mut self, entry: Entry) {
        if self.past == self.entries.len() && self.past < ENTRIES_MAX {
            self.entries.push(entry);
        }
        self.past = (self.past + 1).min(self.entries.len());
    }
}

#[derive(Clone, Debug)]
struct Checkpoint {
    simulation: Simulation,
    next_script: usize,
    next_input: usize,
    past: Vec<usize>,
    verdicts: Vec<Verdict>,
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
    series: Vec<Series>,
    verdicts: Vec<Verdict>,
    /// What each input answered: by script, its number and the lane.
    outputs: BTreeMap<(bool, usize, LaneId), Output>,
    checkpoints: Vec<Checkpoint>,
    steps_since_checkpoint: u64,
    end: Time,
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
            series: vec![Series::default(); lanes],
            verdicts: vec![Verdict::Converging; lanes],
            outputs: BTreeMap::new(),
            checkpoints: Vec::new(),
            steps_since_checkpoint: 0,
            end: Time::ZERO,
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

    /// How far the run was ever computed since it last forked.
    pub fn end(&self) -> Time {
        self.end
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
        self.steps_since_checkpoint += 1;
        self.listen();
        self.do_what_is_due();
        for (lane, series) in self.simulation.lanes.iter().zip(&mut self.series) {
            series.observe(&lane.world);
        }
        self.end = self.end.max(self.now());
        if self.steps_since_checkpoint >= STEPS_PER_CHECKPOINT {
            self.checkpoint();
        }
        next.is_some()
    }

    /// Runs until `until`, at most `budget` moments. False if the budget ran out first.
    pub fn run_until(&mut self, until: Time, budget: u64) -> bool {
        (0..budget).any(|_| !self.step(until))
    }

    fn do_what_is_due(&mut self) {
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
        self.listen();
    }

    fn perform(&mut self, input: &Input, of_script: bool, number: usize) {
        for lane in self.simulation.lanes.iter_mut().filter(|lane| input.lanes.includes(lane.id)) {
            let output = shell::perform(lane, &input.line, input.stdin.as_deref());
            self.outputs.insert((of_script, number, lane.id), output);
        }
    }

    /// Takes down what happened, and what the lanes have come to.
    fn listen(&mut self) {
        let lanes = self.simulation.lanes.iter_mut().zip(&mut self.stories);
        for ((lane, story), verdict) in lanes.zip(&mut self.verdicts) {
            for record in lane.take_records() {
                story.push(Entry { at: record.at, what: Told::World(record.what) });
            }
            let new = lane.verdict();
            // While it is busy only another kind of verdict is news, not another moment or number.
            let same_kind = std::mem::discriminant(&new) == std::mem::discriminant(verdict);
            if !same_kind || (new != *verdict && !lane.world.is_busy()) {
                let at = lane.world.now();
                story.push(Entry { at, what: Told::Verdict(new.clone()) });
                *verdict = new;
            }
        }
    }

    fn checkpoint(&mut self) {
        self.steps_since_checkpoint = 0;
        let newest = self.checkpoints.last().map(|checkpoint| checkpoint.simulation.now());
        if newest.is_some_and(|newest| newest >= self.now()) {
            return;
        }
        if self.checkpoints.len() >= CHECKPOINTS_MAX {
            let mut number = 0;
            self.checkpoints.retain(|_| {
                number += 1;
                number % 2 == 1
            });
        }
        self.checkpoints.push(Checkpoint {
            simulation: self.simulation.clone(),
            next_script: self.next_script,
            next_input: self.next_input,
            past: self.stories.iter().map(|story| story.past).collect(),
            verdicts: self.verdicts.clone(),
        });
    }

    /// Goes to a moment, back or forth. At most `budget` moments are computed; false if it ran out.
    pub fn seek(&mut self, to: Time, budget: u64) -> bool {
        if to < self.now() {
            self.restore(to);
        }
        self.run_until(to, budget)
    }

    /// Back to the newest checkpoint before `to` (at `to` itself, inputs may have been done
    /// already).
    fn restore(&mut self, to: Time) {
        let before = |checkpoint: &&Checkpoint| checkpoint.simulation.now() < to;
        let Some(checkpoint) =
            self.checkpoints.iter().rev().find(before).or(self.checkpoints.first()).cloned()
        else {
            return;
        };
        self.simulation = checkpoint.simulation;
        (self.next_script, self.next_input) = (checkpoint.next_script, checkpoint.next_input);
        for (story, past) in self.stories.iter_mut().zip(checkpoint.past) {
            story.past = past;
        }
        self.verdicts = checkpoint.verdicts;
        self.steps_since_checkpoint = 0;
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
        if self.inputs.iter().filter(|input| input.given <= given).count() >= INPUTS_MAX {
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
        Some(self.inputs.len() - 1)
    }

    /// What was given later is void; what was put off before now is still to be done.
    fn forget_future(&mut self) {
        let now = self.now();
        self.end = now;
        for story in &mut self.stories {
            story.entries.truncate(story.past);
        }
        self.series.iter_mut().for_each(|series| series.forget_after(now));
        self.inputs.retain(|input| input.given <= now);
        self.due = in_time(&self.inputs);
        self.checkpoints.retain(|checkpoint| checkpoint.simulation.now() <= now);
        let inputs = self.inputs.len();
        self.outputs.retain(|(of_script, number, _), _| *of_script || *number < inputs);
    }

    /// The same run with other inputs, at the moment `at`: undo and redo. Checkpoints that both
    /// share are kept.
    pub fn replace_inputs(&mut self, inputs: Vec<Input>, at: Time, budget: u64) -> bool {
        let same = self.inputs.iter().zip(&inputs).take_while(|(old, new)| old == new).count();
        let changed = self.inputs.iter().skip(same).chain(inputs.iter().skip(same));
        let fork = changed.map(|input| input.at).min().unwrap_or(Time::MAX);
        self.checkpoints.retain(|c| c.simulation.now() < fork || c.simulation.now() == Time::ZERO);
        self.restore(fork.min(self.now()));
        self.inputs.truncate(same);
        self.forget_future();
        self.inputs = inputs;
        self.due = in_time(&self.inputs);
        self.run_until(at, budget)
    }
}

/// The numbers of inputs in the order in which they are done: what was given first goes first.
fn in_time(inputs: &[Input]) -> Vec<usize> {
    let mut due: Vec<usize> = (0..inputs.len()).collect();
    due.sort_by_key(|number| inputs[*number].at);
    due
}
