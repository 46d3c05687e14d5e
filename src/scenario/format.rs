//! The scenario file: one YAML document that drives the page, the headless runner and the tests.
//! Unknown keys are an error that names the key and its line. What may stand under `expect:` is in
//! `expectation.rs`, faults are in `world/fault.rs`, loops for kinds that users define
//! (`cluster.operators`) in `controllers/operator`.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Deserializer, de};

use crate::api::Value;
use crate::controllers::operator::OperatorSpec;
use crate::world::fault::Fields;
use crate::world::{
    Fault, FaultError, KnobChange, Knobs, LaneId, QUEUE_MAX, SEATS_MAX, ServerLimit, Target,
};

use super::text::Text;

pub use super::expectation::{Count, EventWanted, Expectation, Field, VerdictWord, Words, Work};

/// A span as a scenario writes it: `90s`, `1m30s`, `250ms`, `0s`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(pub Duration);

/// A range of spans: `5ms..20ms`, or one span for both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpanRange(pub Duration, pub Duration);

/// The longest span that a scenario may name.
const LONGEST: Duration = Duration::from_secs(7 * 86_400);

pub(super) fn parse_span(text: &str) -> Result<Duration, String> {
    let span = match text.trim() {
        "0" => Duration::ZERO,
        text => humantime::parse_duration(text)
            .map_err(|_| format!("{text:?} is no time such as 90s, 1m30s or 250ms"))?,
    };
    if span > LONGEST { Err(format!("{text} is longer than a week")) } else { Ok(span) }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        parse_span(&text).map(Span).map_err(de::Error::custom)
    }
}

impl<'de> Deserialize<'de> for SpanRange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let (low, high) = text.split_once("..").unwrap_or((&text, &text));
        let (low, high) = (parse_span(low), parse_span(high));
        match (low, high) {
            (Ok(low), Ok(high)) if low <= high => Ok(SpanRange(low, high)),
            (Ok(_), Ok(_)) => Err(de::Error::custom(format!("{text}: the first is the longer"))),
            (Err(error), _) | (_, Err(error)) => Err(de::Error::custom(error)),
        }
    }
}

/// A scenario file.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct File {
    /// Its name.
    pub title: Text,
    /// What it shows.
    pub about: Text,
    /// What to try first; ours.
    pub hint: Text,
    /// Where the page opens it, paused; ours. Absent: at its first step.
    pub start: Option<Span>,
    /// Decides every draw.
    pub seed: Option<u64>,
    /// The lanes.
    pub flavours: Option<Vec<Lane>>,
    /// Nodes, controllers, network.
    pub cluster: Cluster,
    /// How containers behave, by image.
    pub images: BTreeMap<String, Value>,
    /// What the metrics server will report.
    pub load: Vec<Value>,
    /// Applied at the start, as by kubectl apply.
    pub objects: String,
    /// The same, many times over.
    pub crowd: Crowd,
    /// What the repository holds, for the gitops controller.
    pub git: String,
    /// What is done, and when.
    pub steps: Vec<Step>,
    /// What must come of it.
    pub expect: Vec<Expectation>,
    /// What a teacher says and asks.
    pub lesson: Vec<LessonStep>,
}

/// The word for a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Lane {
    Edge,
    Level,
}

impl From<Lane> for LaneId {
    fn from(lane: Lane) -> LaneId {
        match lane {
            Lane::Edge => LaneId::Edge,
            Lane::Level => LaneId::Level,
        }
    }
}

/// Lanes that a step or an expectation is for: one, or all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum In {
    Edge,
    Level,
    #[default]
    Both,
}

impl In {
    /// Whether a lane is meant.
    pub fn includes(self, lane: LaneId) -> bool {
        match self {
            In::Edge => lane == LaneId::Edge,
            In::Level => lane == LaneId::Level,
            In::Both => true,
        }
    }

    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            In::Edge => "edge",
            In::Level => "level",
            In::Both => "both",
        }
    }
}

impl From<LaneId> for In {
    fn from(lane: LaneId) -> In {
        match lane {
            LaneId::Edge => In::Edge,
            LaneId::Level => In::Level,
        }
    }
}

/// Objects that there are many of: each is made `count` times, with its number after its name.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Crowd {
    /// How many of each.
    pub count: u32,
    /// A manifest.
    pub objects: String,
}

/// `cluster:`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Cluster {
    /// How many nodes of the usual size.
    pub nodes: Option<u16>,
    /// Knobs, by controller.
    pub controllers: BTreeMap<String, KnobsFile>,
    /// Loops for kinds that the objects define.
    pub operators: Vec<OperatorSpec>,
    /// Latencies.
    pub network: NetworkFile,
    /// How much the API server takes at once; absent: anything.
    #[serde(rename = "apiServer")]
    pub api_server: Option<ServerFile>,
}

/// `cluster.apiServer:`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ServerFile {
    /// Requests that are served at the same time.
    pub max_requests_in_flight: u16,
    /// Requests that may wait; more are sent away with 429.
    pub queue_length: u32,
    /// How long one is served.
    pub service_time: Span,
}

impl ServerFile {
    /// The limit that it describes.
    pub fn limit(self) -> ServerLimit {
        let (seats, queue) = (self.max_requests_in_flight, self.queue_length);
        ServerLimit { seats, queue, service: self.service_time.0 }
    }
}

/// `cluster.network:`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct NetworkFile {
    /// One way of a request.
    pub latency: Option<SpanRange>,
    /// Of a watch event.
    pub watch_latency: Option<SpanRange>,
}

/// Knobs of one controller: for both lanes, or with `edge:` and `level:` for one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct KnobsFile {
    /// In both lanes, ...
    pub both: KnobChange,
    /// ... only in the edge lane, ...
    pub edge: KnobChange,
    /// ... only in the level lane.
    pub level: KnobChange,
}

impl KnobsFile {
    /// The knobs in a lane.
    pub fn knobs(&self, lane: LaneId) -> Knobs {
        let mut knobs = Knobs::default();
        let own = match lane {
            LaneId::Edge => &self.edge,
            LaneId::Level => &self.level,
        };
        [&self.both, own].into_iter().for_each(|change| change.apply(&mut knobs));
        knobs
    }

    /// Whether its controller can be so.
    pub fn check(&self, controller: &Target) -> Result<(), FaultError> {
        [&self.both, &self.edge, &self.level].into_iter().try_for_each(|own| own.check(controller))
    }
}

impl<'de> Deserialize<'de> for KnobsFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut map = BTreeMap::<String, Value>::deserialize(deserializer)?;
        let read = |map: BTreeMap<String, Value>| {
            KnobChange::read(&mut Fields(map)).map_err(de::Error::custom)
        };
        let own = |value: Option<Value>| match value {
            None | Some(Value::Null) => Ok(KnobChange::default()),
            Some(value) => serde_json::from_value(value).map_err(de::Error::custom).and_then(read),
        };
        let (edge, level) = (own(map.remove("edge"))?, own(map.remove("level"))?);
        Ok(KnobsFile { both: read(map)?, edge, level })
    }
}

/// One step: exactly one of kubectl, fault, apply, git.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Step {
    /// When.
    pub at: Span,
    /// In which lanes.
    #[serde(rename = "in")]
    pub lanes: In,
    /// A console line. One that waits or watches does not hold up the steps after it: it prints on
    /// beside them, to its end or that of the run.
    pub kubectl: Option<String>,
    /// What the line reads from standard input.
    pub stdin: Option<String>,
    /// Words with which it must be refused.
    pub fails: Option<Words>,
    /// Words that it must print, refused or not.
    pub prints: Option<Words>,
    /// A fault.
    pub fault: Option<FaultFile>,
    /// A manifest.
    pub apply: Option<String>,
    /// A push.
    pub git: Option<String>,
}

/// A fault, which may name its lanes itself.
#[derive(Clone, Debug, PartialEq)]
pub struct FaultFile {
    /// What.
    pub fault: Fault,
    /// In which lanes, if it says so.
    pub lanes: Option<In>,
}

impl<'de> Deserialize<'de> for FaultFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut value = Value::deserialize(deserializer)?;
        let mut lanes = take_lanes(&mut value);
        if let Value::Object(map) = &mut value {
            for inner in map.values_mut() {
                lanes = lanes.or(take_lanes(inner));
            }
        }
        let lanes = lanes
            .map(serde_json::from_value)
            .transpose()
            .map_err(|_| de::Error::custom("in: takes edge, level or both"))?;
        let fault = Fault::from_value(&value).map_err(de::Error::custom)?;
        Ok(FaultFile { fault, lanes })
    }
}

fn take_lanes(value: &mut Value) -> Option<Value> {
    value.as_object_mut().and_then(|map| map.remove("in"))
}

/// What a teacher says or asks.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LessonStep {
    /// When.
    pub at: Span,
    /// A sentence.
    pub say: Option<Text>,
    /// A question.
    pub ask: Option<Text>,
    /// Its answers.
    pub choices: Vec<Text>,
    /// The right one, from 0.
    pub answer: Option<usize>,
    /// Why.
    pub because: Option<Text>,
}

/// Why a scenario file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", line.map(|line| format!("line {line}: ")).unwrap_or_default())]
pub struct FormatError {
    /// The line, from 1.
    pub line: Option<usize>,
    /// What is wrong.
    pub message: String,
}

/// The longest scenario file.
pub const SIZE_MAX: usize = 1 << 20;
/// Steps, expectations and lesson steps that a file may have, each.
pub const STEPS_MAX: usize = 2_000;
/// Nodes that a cluster may have.
pub const NODES_MAX: u16 = 500;

/// Copies of a crowd.
pub const CROWD_MAX: u32 = 5_000;

/// Keys by which a scenario is told from a plain manifest.
const KEYS: [&str; 15] = [
    "title", "about", "hint", "start", "seed", "flavours", "cluster", "images", "load", "objects",
    "crowd", "git", "steps", "expect", "lesson",
];

/// Reads a scenario file. A plain manifest is taken as its `objects`.
pub fn read(text: &str) -> Result<File, FormatError> {
    let refuse = |message: String| Err(FormatError { line: None, message });
    if text.len() > SIZE_MAX {
        return refuse(format!("the file has {} bytes; at most {SIZE_MAX} are read", text.len()));
    }
    if !looks_like_scenario(text) {
        return Ok(File { objects: text.to_string(), ..File::default() });
    }
    if let Err(refusal) = crate::manifest::check_bounds(text) {
        let line = text.get(..refusal.at).map(|before| before.matches('\n').count() + 1);
        return Err(FormatError { line, message: refusal.message });
    }
    let file: File =
        serde_yaml::from_str(text.trim_start_matches('\u{feff}')).map_err(|error| {
            let line = error.location().map(|location| location.line());
            FormatError { line, message: error.to_string() }
        })?;
    check(&file).map(|()| file)
}

fn looks_like_scenario(text: &str) -> bool {
    let is_manifest = |line: &str| line.starts_with("apiVersion:") || line.starts_with("kind:");
    let has_key = |line: &str| {
        KEYS.iter().any(|key| line.strip_prefix(key).is_some_and(|rest| rest.starts_with(':')))
    };
    text.lines().any(has_key) && !text.lines().any(is_manifest)
}

fn check(file: &File) -> Result<(), FormatError> {
    let refuse = |message: String| Err(FormatError { line: None, message });
    if file.cluster.nodes.is_some_and(|nodes| nodes > NODES_MAX) {
        return refuse(format!("cluster.nodes: at most {NODES_MAX} nodes are simulated"));
    }
    let limit = file.cluster.api_server;
    if limit.is_some_and(|limit| !(1..=SEATS_MAX).contains(&limit.max_requests_in_flight)) {
        return refuse(format!("cluster.apiServer: maxRequestsInFlight is 1 to {SEATS_MAX}"));
    }
    if limit.is_some_and(|limit| limit.queue_length > QUEUE_MAX) {
        return refuse(format!("cluster.apiServer: queueLength is at most {QUEUE_MAX}"));
    }
    if file.crowd.count > CROWD_MAX {
        return refuse(format!("crowd: count is at most {CROWD_MAX}"));
    }
    if file.steps.len().max(file.expect.len()).max(file.lesson.len()) > STEPS_MAX {
        return refuse(format!("steps, expect and lesson may have {STEPS_MAX} entries each"));
    }
    for (number, step) in file.steps.iter().enumerate() {
        let said = [
            step.kubectl.is_some(),
            step.fault.is_some(),
            step.apply.is_some(),
            step.git.is_some(),
        ];
        if said.into_iter().filter(|is_there| *is_there).count() != 1 {
            let number = number + 1;
            return refuse(format!(
                "step {number}: takes exactly one of kubectl, fault, apply, git"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::informer::QueueOrder;

    #[test]
    fn an_unknown_key_is_named_with_its_line() {
        let error =
            read("title: x\nsteps:\n- {at: 1s, kubectl: get pods}\n- {at: 2s, kubctl: x}\n");
        let error = error.expect_err("kubctl is no key");
        assert!(error.message.contains("kubctl"), "{error}");
        assert_eq!(error.line, Some(4), "{error}");
    }

    #[test]
    fn a_plain_manifest_is_taken_as_objects() {
        let text = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n";
        assert_eq!(read(text).map(|file| file.objects), Ok(text.to_string()));
    }

    #[test]
    fn the_limit_of_an_api_server_is_read_and_has_limits_of_its_own() {
        let text = |seats: u32, queue: u32| {
            format!(
                "cluster: {{apiServer: {{maxRequestsInFlight: {seats}, queueLength: {queue}, \
                 serviceTime: 5ms}}}}\n"
            )
        };
        let file = read(&text(40, 200)).expect("it is well formed");
        let limit = file.cluster.api_server.map(ServerFile::limit);
        let service = Duration::from_millis(5);
        assert_eq!(limit, Some(ServerLimit { seats: 40, queue: 200, service }));
        for (seats, queue, word) in
            [(0, 1, "maxRequests"), (9_999, 1, "maxR"), (1, 99_999, "queue")]
        {
            let error = read(&text(seats, queue)).expect_err("too little or too much");
            assert!(error.message.contains(word), "{error}");
        }
        assert!(read("crowd: {count: 6000}\n").expect_err("too many").message.contains("crowd"));
    }

    #[test]
    fn a_controller_may_have_the_older_queue() {
        let knobs = "cluster: {controllers: {replicaset: {level: {informerQueue: perKey}}}}\n";
        let file = read(&format!("title: x\n{knobs}")).expect("it is well formed");
        let queue = |lane| file.cluster.controllers["replicaset"].knobs(lane).informer_queue;
        assert_eq!(queue(LaneId::Level), QueueOrder::PerKey);
        assert_eq!(queue(LaneId::Edge), QueueOrder::InOrder);
    }

    #[test]
    fn a_wrong_knob_is_named_with_those_that_there_are() {
        let text = "title: x\ncluster:\n  controllers:\n    replicaset: {level: {wokers: 2}}\n";
        let error = read(text).expect_err("wokers is no knob");
        assert!(error.message.contains("unknown knob \"wokers\"; there are flavour"), "{error}");
        assert_eq!(error.line, Some(4), "{error}");
    }

    #[test]
    fn a_fault_may_name_its_lanes_in_three_places() {
        for step in [
            "{at: 1s, in: edge, fault: {kill: replicaset}}",
            "{at: 1s, fault: {kill: replicaset, in: edge}}",
            "{at: 1s, fault: {kill: {controller: replicaset, in: edge}}}",
        ] {
            let file = read(&format!("title: x\nsteps:\n- {step}\n")).expect(step);
            let step = &file.steps[0];
            let own = step.fault.as_ref().and_then(|fault| fault.lanes);
            assert!(own == Some(In::Edge) || step.lanes == In::Edge, "{step:?}");
        }
    }
}
