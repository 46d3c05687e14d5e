//! What the bridge gives out of a session, as plain data that the page shows.

use std::sync::Arc;
use std::time::Duration;

use crate::api::{Event, EventType, Str};
use crate::kernel::Time;
use crate::kubectl::Output;
use crate::scenario::{Scenario, Text, shipped};
use crate::view::{Band, Cost, Divergence, Future, Gap, LaneId, LogLine, Mark, Session};

use super::follow::Follows;

/// Lines of the log that are shown.
const LOG_SHOWN: usize = 80;

/// A scenario, as it is told.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScenarioInfo {
    /// Its name in a link.
    pub id: String,
    /// Its title.
    pub title: Text,
    /// What it shows.
    pub about: Text,
    /// What to try first.
    pub hint: Text,
}

impl ScenarioInfo {
    /// What is told of a scenario.
    pub fn of(scenario: &Scenario) -> ScenarioInfo {
        let (id, file) = (scenario.id.clone(), &scenario.file);
        let (title, about) = (file.title.clone(), file.about.clone());
        ScenarioInfo { id, title, about, hint: file.hint.clone() }
    }
}

/// The scenarios to choose from.
pub fn scenarios() -> Vec<ScenarioInfo> {
    shipped().iter().map(|shipped| ScenarioInfo::of(&shipped.load())).collect()
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
    /// When it was run.
    pub at: Time,
    /// The line.
    pub line: String,
    /// The answers: one if both lanes gave the same.
    pub answers: Vec<(Option<LaneId>, Output)>,
    /// What it goes on printing, if it does; in place of the answers.
    pub follows: Option<Follows>,
}

/// A line that was put off and failed when its time had come, with its answers.
pub type Failed = (String, Vec<(Option<LaneId>, Output)>);

/// A Kubernetes Event, as a row.
#[derive(Clone, Debug, PartialEq)]
pub struct EventRow {
    /// When last.
    pub at: Time,
    /// Whether it is a cause for worry.
    pub warning: bool,
    /// In one word.
    pub reason: Str,
    /// About what: `Pod web-5d9-x7k`.
    pub object: String,
    /// In a sentence.
    pub message: Str,
    /// How often.
    pub count: i32,
}

impl EventRow {
    /// The row of an Event.
    pub fn of(event: &Event) -> EventRow {
        let about = &event.involved_object;
        EventRow {
            at: event
                .last_timestamp
                .or(event.first_timestamp)
                .map_or(Time::ZERO, |at| at.to_time()),
            warning: event.kind == EventType::Warning,
            reason: event.reason.clone(),
            object: format!("{} {}", about.kind, about.name),
            message: event.message.clone(),
            count: event.count,
        }
    }
}

/// What is told of the run. It is read off the whole run, so it is read less often than the stage.
#[derive(Clone, Debug, Default)]
pub struct Story {
    /// The newest lines of the log, newest last.
    pub log: Arc<[LogLine]>,
    /// Stretches of one verdict.
    pub bands: Vec<Band>,
    /// What happened when.
    pub marks: Arc<[Mark]>,
    /// Waits that were shortened.
    pub gaps: Vec<Gap>,
    /// The differing decisions, oldest first.
    pub divergences: Arc<[Divergence]>,
    /// What each action cost.
    pub costs: Arc<[Cost]>,
    /// The other futures, newest first.
    pub futures: Arc<[Future]>,
    /// How many were dropped.
    pub dropped: u32,
}

impl Story {
    /// What is told of a session.
    pub fn of(session: &Session) -> Story {
        Story {
            log: session.log(LOG_SHOWN),
            bands: session.bands(),
            marks: session.marks(),
            gaps: session.gaps().to_vec(),
            divergences: session.divergences(),
            costs: session.costs(),
            futures: session.futures(),
            dropped: session.futures_dropped(),
        }
    }
}
