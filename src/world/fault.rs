//! Faults as data: what can be done to the machinery, as a scenario file and a console line write
//! it. A line is the file's form on one line: `fault drop to=replicaset kind=Pod type=DELETED`.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::api::{Kind, Str, Value};
use crate::apiserver::WatchEventType;

use super::ControllerId;
use super::held::Release;
use super::knob::KnobChange;
use super::request_trap::RequestTrap;

/// Something that is done to the machinery.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// A process dies; with a span, it comes back after it.
    Kill(Target, Option<Duration>),
    /// A dead process starts; a running one is killed first.
    Restart(Target),
    /// The next pass dies at this point. One that is armed already is replaced; a dead process has
    /// no next pass, and what comes after it is not struck.
    Crash(Target, CrashPoint),
    /// The next watch events that match are struck.
    Message(Trap),
    /// What is held is let go.
    Release(Release),
    /// The next requests that match are answered with an error.
    Request(RequestTrap),
    /// A process's watches break, and stay broken for so long.
    Cut(Target, Duration),
    /// A cache is replayed into its queue now.
    Resync(Target),
    /// A controller gets a second process and they elect a leader; with a span, the one that leads
    /// now is paused for so long.
    Leader(Target, Option<Duration>),
    /// The API server forgets its history: the next watch to resume gets 410 and lists.
    Compact,
    /// The API server suffers for so long.
    ApiServer(ServerTrouble, Duration),
    /// A machine is turned off or on.
    Power(Str, bool),
    /// A node is cut off from the API server (false), or connected again.
    Network(Str, bool),
    /// Something happens to a container of this pod (`name` or `namespace/name`).
    Container(Str, ContainerTrouble),
    /// Knobs of a controller are turned.
    Knob(Target, KnobChange),
}

/// Which process: `replicaset`, `kubelet` (all of them) or `kubelet/node-1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The name of its kind.
    pub name: Str,
    /// Only on this node.
    pub node: Option<Str>,
}

/// Where a pass can be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CrashPoint {
    /// It has taken the key and read nothing.
    BeforeRead,
    /// It has decided and written nothing.
    BeforeWrite,
    /// It has written something and not everything.
    BetweenWrites,
    /// It has written all but the status.
    BeforeStatus,
}

/// A trap for watch events on their way to a loop.
#[derive(Clone, Debug, PartialEq)]
pub struct Trap {
    /// What is done to them.
    pub how: How,
    /// On the way to whom.
    pub to: Target,
    /// Only of this kind of object.
    pub kind: Option<Kind>,
    /// Only this type of watch event.
    pub event: Option<WatchEventType>,
    /// Only of the object of this name.
    pub name: Option<Str>,
    /// On the wire, not at the door of the loop.
    pub on_wire: bool,
    /// How many.
    pub count: u32,
}

/// What is done to a watch event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// It is lost.
    Drop,
    /// It is late by so much.
    Delay(Duration),
    /// It comes twice.
    Duplicate,
    /// It comes after its successor, or after 5 s if none comes.
    Reorder,
    /// It stands still until somebody lets it go.
    Hold,
}

/// What the API server suffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ServerTrouble {
    /// It answers nobody, and all watches break.
    Down,
    /// All it does takes twenty times as long.
    Slow,
    /// It refuses with 429.
    Throttle,
}

/// What happens to a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContainerTrouble {
    /// It exits with an error.
    Crash,
    /// It is killed for memory.
    OomKill,
    /// It fails its readiness probe.
    Unready,
    /// It passes it again.
    Ready,
}

/// Why a fault cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct FaultError {
    /// The key that is wrong, if it is one.
    pub key: Option<String>,
    /// What is wrong, and what would be right.
    pub message: String,
}

/// How long a fault lasts if nobody says.
const LASTS: Duration = Duration::from_secs(30);
/// How late a delayed event is if nobody says.
const LATE: Duration = Duration::from_secs(5);
const VERBS: &str = "kill, restart, crash, drop, delay, duplicate, reorder, hold, release, fail, \
                     cut, resync, leader, compact, apiserver, node, container, knob";

pub(super) fn error<T>(key: Option<&str>, message: impl Into<String>) -> Result<T, FaultError> {
    Err(FaultError { key: key.map(str::to_string), message: message.into() })
}

/// The fields of a fault, taken out one by one, so that what is left over can be named.
pub struct Fields(pub BTreeMap<String, Value>);

impl Fields {
    fn of(verb: &str, value: &Value) -> Result<Fields, FaultError> {
        match value {
            Value::Object(map) => Ok(Fields(map.clone().into_iter().collect())),
            // `kill: replicaset` and the like: the one thing that matters, without its name.
            Value::String(_) => {
                let name = if verb == "container" { "pod" } else { "controller" };
                Ok(Fields(BTreeMap::from([(name.to_string(), value.clone())])))
            }
            Value::Null | Value::Bool(true) => Ok(Fields(BTreeMap::new())),
            _ => error(Some(verb), format!("{verb}: takes a name or a map")),
        }
    }

    pub(super) fn text(&mut self, key: &str) -> Result<Option<String>, FaultError> {
        match self.0.remove(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            // YAML 1.1 reads on and off as booleans.
            Some(Value::Bool(on)) => Ok(Some(if on { "on" } else { "off" }.into())),
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            Some(_) => error(Some(key), format!("{key}: takes a word")),
        }
    }

    pub(super) fn span(&mut self, key: &str) -> Result<Option<Duration>, FaultError> {
        let Some(text) = self.text(key)? else { return Ok(None) };
        match humantime::parse_duration(&text) {
            Ok(span) if span <= Duration::from_secs(86_400) => Ok(Some(span)),
            Ok(_) => error(Some(key), format!("{key}: {text} is longer than a day")),
            Err(_) => error(Some(key), format!("{key}: {text:?} is no time such as 5s or 250ms")),
        }
    }

    pub(super) fn target(&mut self, key: &str) -> Result<Target, FaultError> {
        match self.text(key)? {
            Some(text) => Target::parse(&text),
            None => error(Some(key), format!("{key}: which controller? such as replicaset")),
        }
    }

    pub(super) fn kind(&mut self) -> Result<Option<Kind>, FaultError> {
        let Some(text) = self.text("kind")? else { return Ok(None) };
        match Kind::of_argument(&text).or_else(|| Kind::of_message(&text)) {
            Some(kind) => Ok(Some(kind)),
            None => error(Some("kind"), format!("kind: there is no kind {text:?}")),
        }
    }

    pub(super) fn count(&mut self) -> Result<u32, FaultError> {
        match self.text("count")?.map(|text| text.parse()) {
            None => Ok(1),
            Some(Ok(count)) => Ok(count),
            Some(Err(_)) => error(Some("count"), "count: takes a number"),
        }
    }

    /// The one of these words that is there as a key.
    fn word(&mut self, words: &[&'static str]) -> Result<&'static str, FaultError> {
        let found = words.iter().find(|word| self.0.contains_key(**word));
        let Some(word) = found else {
            return error(None, format!("one of {} is needed", words.join(", ")));
        };
        self.0.remove(*word);
        Ok(word)
    }

    fn finish(self, verb: &str) -> Result<(), FaultError> {
        match self.0.keys().next() {
            None => Ok(()),
            Some(key) => error(Some(key), format!("unknown key {key:?} in fault {verb}")),
        }
    }
}

impl Fault {
    /// Reads the map that a scenario file holds: one verb with its fields. Keys that belong to the
    /// step (`in`) must be taken out before.
    pub fn from_value(value: &Value) -> Result<Fault, FaultError> {
        if let Value::String(verb) = value {
            return Self::of_verb(verb, &Value::Null, None);
        }
        let Value::Object(map) = value else {
            return error(None, format!("a fault is one of {VERBS}"));
        };
        let mut keys = map.keys().filter(|key| *key != "for");
        let (Some(verb), None) = (keys.next(), keys.next()) else {
            return error(None, format!("a fault is exactly one of {VERBS}"));
        };
        Self::of_verb(verb, &map[verb], map.get("for"))
    }

    fn of_verb(verb: &str, value: &Value, lasts: Option<&Value>) -> Result<Fault, FaultError> {
        let mut fields = Fields::of(verb, value)?;
        if let Some(lasts) = lasts {
            fields.0.insert("for".into(), lasts.clone());
        }
        let fault = match verb {
            "kill" => Fault::Kill(fields.target("controller")?, fields.span("for")?),
            "restart" => Fault::Restart(fields.target("controller")?),
            "resync" => Fault::Resync(fields.target("controller")?),
            "crash" => {
                let point = fields.text("point")?.unwrap_or_else(|| "beforeWrite".into());
                Fault::Crash(fields.target("controller")?, CrashPoint::parse(&point)?)
            }
            "cut" => Fault::Cut(fields.target("controller")?, fields.span("for")?.unwrap_or(LASTS)),
            "leader" => read_leader(&mut fields)?,
            "drop" => Fault::Message(Trap::read(How::Drop, &mut fields)?),
            "delay" => {
                let by = fields.span("by")?.unwrap_or(LATE);
                Fault::Message(Trap::read(How::Delay(by), &mut fields)?)
            }
            "duplicate" => Fault::Message(Trap::read(How::Duplicate, &mut fields)?),
            "reorder" => Fault::Message(Trap::read(How::Reorder, &mut fields)?),
            "hold" => Fault::Message(Trap::read(How::Hold, &mut fields)?),
            "release" => Release::read(&mut fields).map(Fault::Release)?,
            "fail" => Fault::Request(RequestTrap::read(&mut fields)?),
            "compact" => Fault::Compact,
            "apiserver" => read_server(&mut fields)?,
            "node" => read_node(&mut fields)?,
            "container" => read_container(&mut fields)?,
            "knob" => KnobChange::of_line(&mut fields).map(|(to, turn)| Fault::Knob(to, turn))?,
            _ => return error(Some(verb), format!("unknown fault {verb:?}; there are {VERBS}")),
        };
        fields.finish(verb)?;
        Ok(fault)
    }

    /// Whether a console line is a fault: it begins with `fault`, or is about a `knob`.
    pub fn is_line(line: &str) -> bool {
        matches!(line.split_whitespace().next(), Some("fault" | "knob"))
    }

    /// Reads a console line, with or without the leading word `fault`.
    pub fn parse_line(line: &str) -> Result<Fault, FaultError> {
        let mut words = line.split_whitespace().peekable();
        words.next_if_eq(&"fault");
        let Some(verb) = words.next() else { return error(None, format!("which? {VERBS}")) };
        let mut map = serde_json::Map::new();
        for word in words {
            // What names a pod by its labels is no key with a value.
            match word.split_once('=').filter(|_| !word.starts_with("$(")) {
                Some((key, value)) => map.insert(key.into(), value.into()),
                None if map.is_empty() && !matches!(verb, "apiserver" | "compact" | "release") => {
                    let name = match verb {
                        "node" => "name",
                        "container" => "pod",
                        _ => "controller",
                    };
                    map.insert(name.into(), word.into())
                }
                None => map.insert(word.into(), Value::Null),
            };
        }
        Self::of_verb(verb, &Value::Object(map), None)
    }
}

fn read_server(fields: &mut Fields) -> Result<Fault, FaultError> {
    let trouble = match fields.word(&["down", "slow", "throttle"])? {
        "down" => ServerTrouble::Down,
        "slow" => ServerTrouble::Slow,
        _ => ServerTrouble::Throttle,
    };
    Ok(Fault::ApiServer(trouble, fields.span("for")?.unwrap_or(LASTS)))
}

fn read_leader(fields: &mut Fields) -> Result<Fault, FaultError> {
    let target = fields.target("controller")?;
    let mut doubled = ControllerId::DOUBLED.iter().map(|id| id.name());
    if !doubled.clone().any(|name| name == &*target.name) {
        let names = doubled.by_ref().collect::<Vec<_>>().join(", ");
        return error(Some("controller"), format!("leader: two can run of {names}"));
    }
    if fields.text("replicas")?.is_some_and(|number| number != "2") {
        return error(Some("replicas"), "replicas: takes 2");
    }
    let paused = fields.0.remove("paused").is_some_and(|value| value != Value::Bool(false));
    let lasts = fields.span("for")?;
    match (paused, lasts) {
        (false, Some(_)) => error(Some("for"), "for: says how long the leader is paused"),
        (false, None) => Ok(Fault::Leader(target, None)),
        (true, lasts) => Ok(Fault::Leader(target, Some(lasts.unwrap_or(LASTS)))),
    }
}

fn read_node(fields: &mut Fields) -> Result<Fault, FaultError> {
    let Some(name) = fields.text("name")? else {
        return error(Some("name"), "name: which node? such as node-1");
    };
    let name: Str = name.into();
    match (fields.text("power")?.as_deref(), fields.text("network")?.as_deref()) {
        (Some("off"), None) => Ok(Fault::Power(name, false)),
        (Some("on"), None) => Ok(Fault::Power(name, true)),
        (None, Some("cut")) => Ok(Fault::Network(name, false)),
        (None, Some("restored")) => Ok(Fault::Network(name, true)),
        _ => {
            error(Some("node"), "node: takes power=off, power=on, network=cut or network=restored")
        }
    }
}

fn read_container(fields: &mut Fields) -> Result<Fault, FaultError> {
    let Some(pod) = fields.text("pod")? else {
        return error(Some("pod"), "pod: which pod?");
    };
    let trouble = match fields.word(&["crash", "oomKill", "unready", "ready"])? {
        "crash" => ContainerTrouble::Crash,
        "oomKill" => ContainerTrouble::OomKill,
        "unready" => ContainerTrouble::Unready,
        _ => ContainerTrouble::Ready,
    };
    Ok(Fault::Container(pod.trim_start_matches("pod/").into(), trouble))
}

impl Fault {
    /// The process that it is about, if it is about one.
    pub fn target(&self) -> Option<&Target> {
        match self {
            Fault::Kill(target, _)
            | Fault::Restart(target)
            | Fault::Crash(target, _)
            | Fault::Cut(target, _)
            | Fault::Resync(target)
            | Fault::Knob(target, _)
            | Fault::Leader(target, _) => Some(target),
            Fault::Message(trap) => Some(&trap.to),
            Fault::Release(what) => what.to.as_ref(),
            Fault::Request(trap) => Some(&trap.from),
            _ => None,
        }
    }
}

impl Target {
    /// Reads `replicaset` or `kubelet/node-1`.
    pub fn parse(text: &str) -> Result<Target, FaultError> {
        let (name, node) = match text.split_once('/') {
            Some((name, node)) => (name, Some(node.into())),
            None => (text, None),
        };
        let name = match name {
            "gc" | "garbagecollector" => "garbage-collector",
            "node" | "nodelifecycle" | "node-controller" => "node-lifecycle",
            "deployments" => "deployment",
            "replicasets" => "replicaset",
            "horizontalpodautoscaler" => "hpa",
            "jobs" => "job",
            "statefulsets" => "statefulset",
            "cronjobs" => "cronjob",
            "daemonsets" => "daemonset",
            "endpointslices" => "endpointslice",
            "orders" => "order",
            name => name,
        };
        let known = ControllerId::central_names().any(|own| own == name) || name == "kubelet";
        if !known {
            let names: Vec<_> = ControllerId::central_names().collect();
            let all = names.join(", ");
            return error(None, format!("unknown controller {text:?}; there are {all}, kubelet"));
        }
        Ok(Target { name: name.into(), node })
    }
}

impl CrashPoint {
    /// All of them, in the order of a pass.
    pub const ALL: [CrashPoint; 4] = [
        CrashPoint::BeforeRead,
        CrashPoint::BeforeWrite,
        CrashPoint::BetweenWrites,
        CrashPoint::BeforeStatus,
    ];

    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            CrashPoint::BeforeRead => "beforeRead",
            CrashPoint::BeforeWrite => "beforeWrite",
            CrashPoint::BetweenWrites => "betweenWrites",
            CrashPoint::BeforeStatus => "beforeStatus",
        }
    }

    fn parse(text: &str) -> Result<CrashPoint, FaultError> {
        let found = Self::ALL.into_iter().find(|point| point.word() == text);
        let words = Self::ALL.map(CrashPoint::word).join(", ");
        found.map_or_else(
            || error(Some("point"), format!("point: {text:?} is not one of {words}")),
            Ok,
        )
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.node {
            Some(node) => write!(f, "{}/{node}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// A span as one word: `1m30s`.
pub(super) fn span(span: Duration) -> String {
    humantime::format_duration(span).to_string().replace(' ', "")
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("fault ")?;
        match self {
            Fault::Kill(target, None) => write!(f, "kill {target}"),
            Fault::Kill(target, Some(lasts)) => write!(f, "kill {target} for={}", span(*lasts)),
            Fault::Restart(target) => write!(f, "restart {target}"),
            Fault::Crash(target, point) => write!(f, "crash {target} point={}", point.word()),
            Fault::Message(trap) => trap.fmt(f),
            Fault::Release(what) => what.fmt(f),
            Fault::Request(trap) => trap.fmt(f),
            Fault::Cut(target, lasts) => write!(f, "cut {target} for={}", span(*lasts)),
            Fault::Resync(target) => write!(f, "resync {target}"),
            Fault::Leader(target, None) => write!(f, "leader {target} replicas=2"),
            Fault::Leader(target, Some(lasts)) => {
                write!(f, "leader {target} paused for={}", span(*lasts))
            }
            Fault::Knob(target, change) => write!(f, "knob {target} {change}"),
            Fault::Compact => f.write_str("compact"),
            Fault::ApiServer(trouble, lasts) => {
                let word = match trouble {
                    ServerTrouble::Down => "down",
                    ServerTrouble::Slow => "slow",
                    ServerTrouble::Throttle => "throttle",
                };
                write!(f, "apiserver {word} for={}", span(*lasts))
            }
            Fault::Power(node, on) => {
                write!(f, "node {node} power={}", if *on { "on" } else { "off" })
            }
            Fault::Network(node, up) => {
                write!(f, "node {node} network={}", if *up { "restored" } else { "cut" })
            }
            Fault::Container(pod, trouble) => {
                let word = match trouble {
                    ContainerTrouble::Crash => "crash",
                    ContainerTrouble::OomKill => "oomKill",
                    ContainerTrouble::Unready => "unready",
                    ContainerTrouble::Ready => "ready",
                };
                write!(f, "container {pod} {word}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_fault_reads_the_same_from_a_file_and_from_its_console_line() {
        let faults = [
            json!({"drop": {"to": "replicaset", "kind": "Pod", "type": "DELETED", "count": 2}}),
            json!({"delay": {"to": "deployment", "by": "250ms", "at": "wire"}}),
            json!({"fail": {"from": "replicaset", "verb": "create", "with": "timeout"}}),
            json!({"hold": {"to": "replicaset", "kind": "Pod", "at": "wire"}}),
            json!({"release": {"to": "replicaset", "type": "DELETED"}}),
            json!("release"),
            json!({"knob": {"controller": "replicaset", "workers": 2, "flavour": "edge-resync"}}),
            json!({"kill": "replicaset"}),
            json!({"kill": {"controller": "kubelet/node-1"}, "for": "1m30s"}),
            json!({"crash": {"controller": "replicaset", "point": "betweenWrites"}}),
            json!({"cut": {"controller": "scheduler", "for": "10s"}}),
            json!("compact"),
            json!({"apiserver": {"down": null, "for": "5s"}}),
            json!({"node": {"name": "node-2", "power": false}}),
            json!({"node": {"name": "node-2", "network": "cut"}}),
            json!({"container": {"pod": "web-1", "oomKill": null}}),
            json!({"leader": {"controller": "replicaset", "replicas": 2}}),
            json!({"leader": {"controller": "replicaset", "paused": true}, "for": "20s"}),
        ];
        for value in faults {
            let fault = Fault::from_value(&value).unwrap_or_else(|e| panic!("{value}: {e}"));
            let line = fault.to_string();
            assert_eq!(Fault::parse_line(&line), Ok(fault), "{line}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_fault_is_said_with_what_would_be_right() {
        let refused = |line| Fault::parse_line(line).expect_err(line).message;
        assert!(refused("fault explode").contains("there are kill, restart"));
        assert!(refused("fault kill web").contains("there are deployment, replicaset"));
        assert!(refused("fault drop to=replicaset colour=red").contains("unknown key \"colour\""));
        assert!(refused("fault crash replicaset point=late").contains("beforeRead"));
        assert!(refused("fault cut replicaset for=soon").contains("5s or 250ms"));
        assert!(refused("fault leader kubelet").contains("two can run of deployment"));
    }
}
