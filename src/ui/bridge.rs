//! The only file that talks to the simulation's session. The world stands in a `StoredValue`, never
//! in a signal: what the page shows of it goes out through the signals below, at most ten times a
//! second while time runs, at once after something was done.

use std::sync::Arc;

use leptos::prelude::*;

use crate::api::{Kind, Object, ObjectKey};
pub use crate::apiserver::Verb;
use crate::controllers::Fact;
use crate::kernel::Time;
use crate::kubectl::extend;
pub use crate::kubectl::{Next, Output};
pub use crate::manifest::{Hint, Problem, Severity};
pub use crate::scenario::{In as Lanes, Sample, Text};
use crate::view::inspect::{self, Record, Standing};
use crate::view::spacetime::{Ask, Diagram};
pub use crate::view::{LaneId, Link, Notice, Pace};
use crate::view::{PassFilter, PassRow, Reason, Session, Stage};

use super::follow::{Follows, merge};
pub use super::given_out::{Clock, Entry, EventRow, Failed, ScenarioInfo, Story, scenarios};
use super::prepared::first_session;

/// Both lanes, in the order in which they stand.
pub const LANES: [LaneId; 2] = [LaneId::Edge, LaneId::Level];
/// Moments that one frame may compute: the rest comes with the next one.
const FRAME_BUDGET: u64 = 4_000;
const CONSOLE_KEPT: usize = 200;
/// While time runs, the story is told with every so many changes of the stage.
const STORY_EVERY: u64 = 3;

/// Where a lane's things stand in arrays of two.
pub fn index(lane: LaneId) -> usize {
    match lane {
        LaneId::Edge => 0,
        LaneId::Level => 1,
    }
}

fn only_lane(session: &Session) -> Option<LaneId> {
    match session.lanes().as_slice() {
        [only] => Some(*only),
        _ => None,
    }
}

/// How far behind the end of the run, on the display time, what is put off is marked at most.
const AHEAD_MS: f64 = 2_500.0;

/// The run, and the signals in which the page sees it.
#[derive(Clone, Copy)]
pub struct Run {
    session: StoredValue<Session, LocalStorage>,
    /// What each lane's stage shows.
    pub stages: [RwSignal<Arc<Stage>>; 2],
    /// The time.
    pub clock: RwSignal<Clock>,
    /// What is told of the run.
    pub story: RwSignal<Arc<Story>>,
    /// Goes up whenever anything may have changed.
    pub changed: RwSignal<u64>,
    /// Goes up when something was done that belongs into the link.
    pub done: RwSignal<u64>,
    /// Goes up with each jump in time: nothing that moves belongs to it.
    pub jumps: RwSignal<u64>,
    /// Whether the last of them was but a pass forward.
    went_on: StoredValue<bool>,
    /// Up to which jump what is shown has been seen.
    seen: RwSignal<u64>,
    /// Lines that were run, oldest first.
    pub console: RwSignal<Vec<Entry>>,
    /// What was put off and has just failed.
    pub failed: RwSignal<Vec<Failed>>,
    /// The last line that one of them went on to print.
    pub printed: RwSignal<(Option<LaneId>, String)>,
    /// The scenario.
    pub scenario: RwSignal<ScenarioInfo>,
    /// The pass that is looked at closely: its lane and number in this run.
    pub picked: RwSignal<Option<(LaneId, u64)>>,
    /// The only lane, if the scenario has but one.
    pub only: RwSignal<Option<LaneId>>,
}

/// The session that an address asks for; a scenario by name if it holds no link.
pub fn session(link: &str, scenario: Option<&str>) -> (Session, Option<Notice>) {
    match scenario {
        Some(id) if link.is_empty() => (Session::open_shipped(id, None), None),
        None if link.is_empty() => (first_session(), None),
        _ => Session::from_link(link),
    }
}

impl Run {
    /// Shows a session.
    pub fn new(session: Session) -> Run {
        let (scenario, only) = (ScenarioInfo::of(session.scenario()), only_lane(&session));
        let run = Run {
            session: StoredValue::new_local(session),
            stages: [RwSignal::default(), RwSignal::default()],
            clock: RwSignal::default(),
            story: RwSignal::default(),
            changed: RwSignal::new(0),
            done: RwSignal::new(0),
            jumps: RwSignal::new(0),
            went_on: StoredValue::new(false),
            seen: RwSignal::new(u64::MAX),
            console: RwSignal::default(),
            failed: RwSignal::default(),
            printed: RwSignal::default(),
            scenario: RwSignal::new(scenario),
            picked: RwSignal::new(None),
            only: RwSignal::new(only),
        };
        run.show();
        run.tell();
        run.look_at_jump();
        run
    }

    /// Shows another one.
    pub fn replace(&self, session: Session) {
        self.scenario.set(ScenarioInfo::of(session.scenario()));
        self.only.set(only_lane(&session));
        self.picked.set(None);
        self.session.set_value(session);
        self.console.update(Vec::clear);
        self.jumped();
    }

    /// Opens a scenario.
    pub fn open(&self, id: &str) {
        self.replace(Session::open_shipped(id, None));
    }

    fn read<T>(&self, f: impl FnOnce(&Session) -> T) -> T {
        self.session.with_value(f)
    }

    pub(super) fn write<T>(&self, f: impl FnOnce(&mut Session) -> T) -> T {
        let mut guard = self.session.write_value();
        f(&mut guard)
    }

    /// Moves the display time on by `dt` milliseconds of display.
    pub fn advance(&self, dt: f64, pace: Pace) {
        self.write(|session| session.advance(dt, pace, FRAME_BUDGET));
    }

    /// A lane's stage at this very moment, for the canvas.
    pub fn look(&self, lane: LaneId) -> Arc<Stage> {
        self.write(Session::stages)[index(lane)].clone()
    }

    /// The display time, in milliseconds.
    pub fn shown(&self) -> f64 {
        self.read(Session::shown)
    }

    /// Where a moment stands on the display time.
    pub fn shown_of(&self, at: Time) -> f64 {
        self.read(|session| session.shown_of(at))
    }

    /// The same for a moment that may lie ahead: waiting for it is shortened.
    pub fn place_of(&self, at: Time) -> f64 {
        let end = self.read(|session| session.end());
        let ahead = (at.since(end).as_secs_f64() * 1e3).min(AHEAD_MS);
        self.shown_of(at.min(end)) + ahead
    }

    /// The moment that stands there.
    pub fn time_of(&self, shown: f64) -> Time {
        self.read(|session| session.time_of(shown))
    }

    /// Gives out what the lanes and the clock show now, and every so often what is told of the run.
    pub fn publish(&self) {
        self.show();
        if self.changed.get_untracked().is_multiple_of(STORY_EVERY) {
            self.tell();
        }
    }

    fn show(&self) {
        for lane in LANES {
            let signal = self.stages[index(lane)];
            let stage = self.look(lane);
            if signal.with_untracked(|old| !Arc::ptr_eq(old, &stage)) {
                signal.set(stage);
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
        self.print_on();
        let failed = self.write(Session::take_failed);
        if !failed.is_empty() {
            let told = failed.into_iter().map(|(line, answers)| (line, merge(answers)));
            self.failed.set(told.collect());
        }
        self.changed.update(|n| *n += 1);
    }

    /// Gives out what is told of the run.
    fn tell(&self) {
        let story = self.read(Story::of);
        self.story.set(Arc::new(story));
    }

    /// Something was done.
    fn settled(&self) {
        self.done.update(|n| *n += 1);
        self.show();
        self.tell();
    }

    fn jumped(&self) {
        self.went_on.set_value(false);
        self.jumps.update(|n| *n += 1);
        self.settled();
        self.look_at_jump();
    }

    /// A jump has been seen when a frame after it was drawn.
    fn look_at_jump(&self) {
        let (jump, seen) = (self.jumps.get_untracked(), self.seen);
        request_animation_frame(move || {
            request_animation_frame(move || {
                seen.try_set(jump);
            });
        });
    }

    /// Whether time has just jumped, or the run was just opened. What can wait does until it has
    /// not, so that whoever drags time to and fro sees the stage follow.
    pub fn has_jumped(&self) -> bool {
        self.jumps.get() != self.seen.get()
    }

    /// The same, without asking to be told when it changes: what comes and goes now was there, or
    /// gone, all along, and neither grows in nor shrinks away. What is made in such a moment has
    /// the class `settled`, for an animation that is only held back would start when it is over.
    pub fn is_quiet(&self) -> bool {
        self.jumps.get_untracked() != self.seen.get_untracked()
    }

    /// To the end of the next pass, or of the one before.
    pub fn step(&self, forward: bool) {
        self.write(|session| if forward { session.step_forward() } else { session.step_back() });
        self.jumped();
        self.went_on.set_value(forward);
    }

    /// Whether the last jump was but a pass forward: what came with it is news.
    pub fn went_on(&self) -> bool {
        self.went_on.get_value()
    }

    /// To a moment.
    pub fn seek(&self, at: Time) {
        self.write(|session| session.seek(at));
        self.jumped();
    }

    /// From the start, as it was at first.
    pub fn restart(&self) {
        self.picked.set(None);
        self.write(Session::restart);
        self.jumped();
    }

    /// From the start with other dice.
    pub fn reseed(&self, seed: u64) {
        self.picked.set(None);
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

    /// Shows another future, from where it leaves this one.
    pub fn show_future(&self, id: u32) -> bool {
        self.picked.set(None);
        let shown = self.write(|session| session.show_future(id));
        self.jumped();
        shown
    }

    /// The simulated time, without asking the signals.
    pub fn now(&self) -> Time {
        self.read(Session::now)
    }

    /// Whether there is something to take back, and to do again.
    pub fn can_undo_redo(&self) -> (bool, bool) {
        self.read(|session| (session.can_undo(), session.can_redo()))
    }

    /// Runs a console line and keeps what came of it.
    pub fn act(&self, line: &str, lanes: Lanes) -> Vec<(Option<LaneId>, Output)> {
        self.act_with(line, None, lanes)
    }

    /// The same for a line that reads a text, as `apply -f -` does.
    pub fn act_with(
        &self,
        line: &str,
        stdin: Option<&str>,
        lanes: Lanes,
    ) -> Vec<(Option<LaneId>, Output)> {
        let answers = self.write(|session| session.act(line, stdin, lanes));
        let number = self.write(|session| session.follow_line(line, stdin, lanes));
        self.keep(line, answers, number.map(Follows::new))
    }

    /// The line up to the cursor with what is sure to come, and what may come, where that is more
    /// than one thing.
    pub fn complete(&self, before: &str) -> Option<(String, Vec<String>)> {
        let found = self.read(|session| session.completions(before, before.len()));
        if found.is_empty() {
            return None;
        }
        let line = extend(before, &found);
        let names = match found.len() {
            1 => Vec::new(),
            _ => found.into_iter().map(|completion| completion.text).collect(),
        };
        Some((line, names))
    }

    /// Applies a manifest.
    pub fn apply(&self, yaml: &str, lanes: Lanes) -> Vec<(Option<LaneId>, Output)> {
        let answers = self.write(|session| session.apply(yaml, lanes));
        self.keep("kubectl apply -f -", answers, None)
    }

    fn keep(
        &self,
        line: &str,
        answers: Vec<(LaneId, Output)>,
        follows: Option<Follows>,
    ) -> Vec<(Option<LaneId>, Output)> {
        let answers = merge(answers);
        self.console.update(|entries| {
            let id = entries.last().map_or(0, |entry| entry.id + 1);
            let (line, at) = (line.to_owned(), self.now());
            entries.push(Entry { id, at, line, answers: answers.clone(), follows });
            let surplus = entries.len().saturating_sub(CONSOLE_KEPT);
            entries.drain(..surplus);
        });
        self.settled();
        answers
    }

    /// Whether a message has one in front of it on its way to the same loop.
    pub fn has_neighbour(&self, lane: LaneId, flight: u64) -> bool {
        self.read(|session| session.has_neighbour(lane, flight))
    }

    /// Catches a message in flight: `drop`, `drop at=wire`, `delay by=5s`, `duplicate`, `hold`.
    pub fn catch(&self, lane: LaneId, flight: u64, how: &str) -> bool {
        let caught = self.write(|session| session.catch(lane, flight, how));
        self.settled();
        caught
    }

    /// What was last applied.
    pub fn applied_text(&self) -> String {
        self.write(|session| {
            session.set_draft(None);
            session.desired_text()
        })
    }

    /// The text that came unapplied with a link.
    pub fn draft_from_link(&self) -> Option<String> {
        self.write(|session| {
            let text = session.desired_text();
            session.set_draft(None);
            (session.desired_text() != text).then_some(text)
        })
    }

    /// The link of the run, without its `#`, with a text that was not applied; if that makes it too
    /// long, without it.
    pub fn link(&self, draft: Option<String>) -> Option<Link> {
        self.write(|session| {
            session.set_draft(draft);
            let whole = session.link_with_losses().ok();
            session.set_draft(None);
            whole.or_else(|| session.link_with_losses().ok())
        })
    }

    /// The run as a file, for when it is too long for a link.
    pub fn to_file(self) -> String {
        self.read(Session::to_json)
    }

    /// A lane's Kubernetes Events, oldest first.
    pub fn events(&self, lane: LaneId) -> Vec<EventRow> {
        let mut rows: Vec<EventRow> = self.read(|session| {
            let lane = session.run().lane(lane);
            let objects = lane.into_iter().flat_map(|lane| lane.world.store().list(Kind::Event));
            objects
                .filter_map(|object| match &**object {
                    Object::Event(event) => Some(EventRow::of(event)),
                    _ => None,
                })
                .collect()
        });
        rows.sort_by_key(|row| row.at);
        rows
    }

    /// The passes that fit: `before` up to now, `after` of the computed future; oldest first.
    pub fn passes(&self, filter: PassFilter, before: usize, after: usize) -> Vec<PassRow> {
        self.read(|session| session.passes(filter, before, after))
    }

    /// A pass by its number in its lane.
    pub fn pass(&self, lane: LaneId, number: u64) -> Option<PassRow> {
        self.read(|session| session.pass(lane, number))
    }

    /// What a pass would have seen in the API server itself.
    pub fn truth(&self, lane: LaneId, number: u64) -> Option<Fact> {
        self.read(|session| session.truth(lane, number))
    }

    /// What led to a pass, the nearest cause first.
    pub fn why(&self, lane: LaneId, number: u64) -> Vec<Reason> {
        self.read(|session| session.why(lane, number))
    }

    /// The passes that what a pass wrote has woken.
    pub fn led_to(&self, lane: LaneId, number: u64) -> Vec<PassRow> {
        self.read(|session| session.led_to(lane, number))
    }

    /// The objects of a lane that can be inspected.
    pub fn choices(&self, lane: LaneId) -> Vec<ObjectKey> {
        self.read(|session| {
            let lane = session.run().lane(lane);
            lane.map(|lane| inspect::choices(&lane.world)).unwrap_or_default()
        })
    }

    /// The object of lane `to` that stands for one of lane `from`, and whether by another name.
    pub fn counterpart(
        &self,
        from: LaneId,
        to: LaneId,
        key: &ObjectKey,
    ) -> Option<(ObjectKey, bool)> {
        self.read(|session| {
            let (from, to) = (session.run().lane(from)?, session.run().lane(to)?);
            inspect::counterpart(&from.world, &to.world, key)
        })
    }

    /// How an object stands now, and why it is not as it should be.
    pub fn standing(&self, lane: LaneId, key: &ObjectKey) -> Option<Standing> {
        self.read(|session| inspect::standing(session.run(), lane, key))
    }

    /// Its fields and revisions; with those of the computed future that were known before.
    pub fn record(&self, lane: LaneId, key: &ObjectKey, known: Option<&Record>) -> Option<Record> {
        self.read(|session| inspect::record(session.run(), lane, key, known))
    }

    /// The object to look at first, and in which lane.
    pub fn first_object(&self) -> Option<(LaneId, ObjectKey)> {
        self.read(|session| inspect::first(session.run()))
    }

    /// The object that keeps a lane from being as it should be.
    pub fn short_of(&self, lane: LaneId) -> Option<ObjectKey> {
        self.read(|session| inspect::short_of(&session.run().verdict(lane)))
    }

    /// The run, or what led to something in it, as a space-time diagram.
    pub fn diagram(&self, ask: &Ask) -> Diagram {
        self.read(|session| session.diagram(ask))
    }

    /// Objects that a diagram can follow.
    pub fn diagram_objects(&self) -> Vec<ObjectKey> {
        self.read(Session::diagram_objects)
    }

    /// What was measured of a lane up to now, oldest first.
    pub fn samples(&self, lane: LaneId) -> Vec<Sample> {
        self.read(|session| session.samples(lane).to_vec())
    }

    /// What was measured last; zeros if nothing was.
    pub fn last_sample(&self, lane: LaneId) -> Sample {
        self.read(|session| session.samples(lane).last().copied().unwrap_or_default())
    }

    /// What is wrong with a manifest, and where.
    pub fn problems(&self, yaml: &str) -> Vec<Problem> {
        self.read(|session| session.problems(yaml))
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.read(Session::seed)
    }

    /// A lane's trace hash, by which two runs are told to be the same.
    pub fn trace_hash(&self, lane: LaneId) -> u64 {
        self.read(|session| session.trace_hash(lane))
    }
}
