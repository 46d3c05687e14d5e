//! The only file that talks to the simulation's session. The world stands in a `StoredValue`, never
//! in a signal: what the page shows of it goes out through the signals below, at most ten times a
//! second while time runs, at once after something was done.

use std::sync::Arc;
use std::time::Duration;

use leptos::prelude::*;

pub use super::stub::{
    Catch, EventRow, Lanes, Notice, Output, Pace, Problem, ScenarioInfo, Session, Text,
};
pub use crate::apiserver::Verb;
use crate::kernel::Time;
pub use crate::view::LaneId;
use crate::view::{Band, Divergence, LogLine, Mark, Stage};

/// Both lanes, in the order in which they stand.
pub const LANES: [LaneId; 2] = [LaneId::Edge, LaneId::Level];

/// Where a lane's things stand in arrays of two.
pub fn index(lane: LaneId) -> usize {
    match lane {
        LaneId::Edge => 0,
        LaneId::Level => 1,
    }
}

/// The moment that is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Clock {
    /// Simulated.
    pub now: Time,
    /// How far the run was computed.
    pub end: Time,
    /// On the paced scale, in milliseconds.
    pub shown: f64,
    /// A wait that is being skipped.
    pub gap: Option<Duration>,
}

/// A line that was run, with what came of it.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Numbered, for drawing.
    pub id: usize,
    /// The line.
    pub line: String,
    /// The answers: one if both lanes gave the same.
    pub answers: Vec<(Option<LaneId>, Output)>,
}

/// The run, and the signals in which the page sees it.
#[derive(Clone, Copy)]
pub struct Run {
    session: StoredValue<Session, LocalStorage>,
    /// What each lane's stage shows.
    pub stages: [RwSignal<Arc<Stage>>; 2],
    /// The time.
    pub clock: RwSignal<Clock>,
    /// Goes up whenever log, marks, texts or what can be undone may have changed.
    pub changed: RwSignal<u64>,
    /// Goes up when something was done that belongs into the link.
    pub done: RwSignal<u64>,
    /// Goes up with each jump in time: nothing that moves belongs to it.
    pub jumps: RwSignal<u64>,
    /// Lines that were run, oldest first.
    pub console: RwSignal<Vec<Entry>>,
    /// The scenario.
    pub scenario: RwSignal<ScenarioInfo>,
}

const CONSOLE_KEPT: usize = 200;

impl Run {
    /// Shows a session.
    pub fn new(session: Session) -> Run {
        let scenario = session.scenario().clone();
        let run = Run {
            session: StoredValue::new_local(session),
            stages: [RwSignal::default(), RwSignal::default()],
            clock: RwSignal::default(),
            changed: RwSignal::new(0),
            done: RwSignal::new(0),
            jumps: RwSignal::new(0),
            console: RwSignal::default(),
            scenario: RwSignal::new(scenario),
        };
        run.publish();
        run
    }

    /// Shows another one.
    pub fn replace(&self, session: Session) {
        self.scenario.set(session.scenario().clone());
        self.session.set_value(session);
        self.console.update(Vec::clear);
        self.jumped();
    }

    /// Opens a scenario.
    pub fn open(&self, id: &str) {
        self.replace(Session::open(id, None));
    }

    fn read<T>(&self, f: impl FnOnce(&Session) -> T) -> T {
        self.session.with_value(f)
    }

    fn write<T>(&self, f: impl FnOnce(&mut Session) -> T) -> T {
        let mut out = None;
        self.session
            .update_value(|session| out = Some(f(session)));
        out.expect("update_value runs its closure")
    }

    /// Moves the display time on by `dt` milliseconds of the viewer's time.
    pub fn advance(&self, dt: f64, pace: Pace, speed: f64) {
        self.write(|session| session.advance(dt, pace, speed));
    }

    /// A lane's stage at this very moment, for the canvas.
    pub fn look(&self, lane: LaneId) -> Arc<Stage> {
        Arc::new(self.read(|session| session.stage(lane)))
    }

    /// The display time, in milliseconds.
    pub fn shown(&self) -> f64 {
        self.read(Session::shown)
    }

    /// Where a moment stands on the display time.
    pub fn shown_of(&self, at: Time) -> f64 {
        self.read(|session| session.shown_of(at))
    }

    /// The moment that stands there.
    pub fn time_of(&self, shown: f64) -> Time {
        self.read(|session| session.time_of(shown))
    }

    /// Gives out what the lanes and the clock show now.
    pub fn publish(&self) {
        for lane in LANES {
            let signal = self.stages[index(lane)];
            let stage = self.read(|session| session.stage(lane));
            if signal.with_untracked(|old| old.version != stage.version) {
                signal.set(Arc::new(stage));
            }
        }
        let clock = self.read(|session| Clock {
            now: session.now(),
            end: session.end(),
            shown: session.shown(),
            gap: session.gap(),
        });
        if self.clock.get_untracked() != clock {
            self.clock.set(clock);
        }
        self.changed.update(|n| *n += 1);
    }

    fn jumped(&self) {
        self.jumps.update(|n| *n += 1);
        self.done.update(|n| *n += 1);
        self.publish();
    }

    /// To the end of the next pass, or to the start of the one before.
    pub fn step(&self, forward: bool) {
        self.write(|session| session.step_pass(forward));
        self.jumped();
    }

    /// To a moment.
    pub fn seek(&self, at: Time) {
        self.write(|session| session.seek(at));
        self.jumped();
    }

    /// From the start, as it was at first.
    pub fn restart(&self) {
        self.write(Session::restart);
        self.jumped();
    }

    /// From the start with other dice.
    pub fn reseed(&self, seed: u64) {
        self.write(|session| session.reseed(seed));
        self.jumped();
    }

    /// Takes back what was done last.
    pub fn undo(&self) -> bool {
        let done = self.write(Session::undo);
        self.jumped();
        done
    }

    /// Does it again.
    pub fn redo(&self) -> bool {
        let done = self.write(Session::redo);
        self.jumped();
        done
    }

    /// Whether there is something to take back, and to do again.
    pub fn can_undo_redo(&self) -> (bool, bool) {
        self.read(|session| (session.can_undo(), session.can_redo()))
    }

    /// Runs a console line and keeps what came of it.
    pub fn act(&self, line: &str, lanes: Lanes) -> Vec<(Option<LaneId>, Output)> {
        let answers = self.write(|session| session.act(line, None, lanes));
        self.keep(line, answers)
    }

    /// Applies a manifest.
    pub fn apply(&self, yaml: &str, lanes: Lanes) -> Vec<(Option<LaneId>, Output)> {
        let answers = self.write(|session| session.apply(yaml, lanes));
        self.keep("kubectl apply -f -", answers)
    }

    fn keep(&self, line: &str, answers: Vec<(LaneId, Output)>) -> Vec<(Option<LaneId>, Output)> {
        let answers = merge(answers);
        self.console.update(|entries| {
            let id = entries.last().map_or(0, |entry| entry.id + 1);
            entries.push(Entry {
                id,
                line: line.to_owned(),
                answers: answers.clone(),
            });
            let surplus = entries.len().saturating_sub(CONSOLE_KEPT);
            entries.drain(..surplus);
        });
        self.done.update(|n| *n += 1);
        self.publish();
        answers
    }

    /// Catches a message in flight.
    pub fn catch(&self, lane: LaneId, flight: u64, how: Catch) {
        self.write(|session| session.catch(lane, flight, how));
        self.done.update(|n| *n += 1);
        self.publish();
    }

    /// What is wrong with a manifest, and where.
    pub fn check(&self, yaml: &str) -> Vec<Problem> {
        self.read(|session| session.check(yaml))
    }

    /// What was last applied.
    pub fn desired_text(&self) -> String {
        self.read(Session::desired_text)
    }

    /// The newest lines of the log, newest last.
    pub fn log(&self, limit: usize) -> Vec<LogLine> {
        self.read(|session| session.log(limit))
    }

    /// The scrubber's bands and marks.
    pub fn track(&self) -> (Vec<Band>, Vec<Mark>) {
        self.read(|session| (session.bands(), session.marks()))
    }

    /// The first differing decision.
    pub fn divergence(&self) -> Option<Divergence> {
        self.read(Session::divergence)
    }

    /// A lane's Kubernetes Events.
    pub fn events(&self, lane: LaneId) -> Vec<EventRow> {
        self.read(|session| session.events(lane))
    }

    /// The link of the run, without its `#`; `None` if it is too long for one.
    pub fn link(&self) -> Option<String> {
        self.read(|session| session.link().ok())
    }

    /// The run as a file, for when it is too long for a link.
    pub fn to_file(&self) -> String {
        self.read(Session::to_file)
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.read(Session::seed)
    }

    /// A lane's trace hash, by which two runs are told to be the same.
    pub fn trace_hash(&self, lane: LaneId) -> u64 {
        self.read(|session| session.trace_hash(lane))
    }

    /// The lanes that this run has.
    pub fn lanes(&self) -> Vec<LaneId> {
        self.read(|session| session.lanes().to_vec())
    }
}

/// Two equal answers are told once.
fn merge(answers: Vec<(LaneId, Output)>) -> Vec<(Option<LaneId>, Output)> {
    if let [(_, a), (_, b)] = answers.as_slice()
        && a.text == b.text
        && a.error == b.error
    {
        return vec![(None, a.clone())];
    }
    answers
        .into_iter()
        .map(|(lane, output)| (Some(lane), output))
        .collect()
}

/// What is said of a link that could not be followed.
pub fn notice(_notice: &Notice) -> String {
    super::i18n::tr!(link.malformed).to_owned()
}
