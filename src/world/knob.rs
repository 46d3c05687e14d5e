//! Knobs as data: what a scenario file sets at the start (`cluster.controllers`) and a console line
//! turns while the run goes on: `fault knob replicaset workers=2 resync=30s`.

use std::fmt;
use std::time::Duration;

use crate::client::informer::QueueOrder;

use super::ControllerId;
use super::fault::{FaultError, Fields, Target, error, span};
use super::options::{Flavour, Knobs};

/// How a controller is triggered, with what belongs to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// By each change. What is missed is missed.
    Edge,
    /// By each change, and the first list after a restart counts as changes.
    EdgeRelist,
    /// By each change, and the cache is replayed now and then.
    EdgeResync,
    /// Changes say where to look; what it acts on is the state.
    Level,
    /// Changes wake nobody: it looks at everything now and then.
    LevelPolling,
}

/// Between two resyncs of [`Manner::EdgeResync`], if nobody says.
const RESYNC: Duration = Duration::from_secs(30);
/// Between two looks of [`Manner::LevelPolling`], if nobody says.
const POLL: Duration = Duration::from_secs(10);

impl Manner {
    /// All of them.
    pub const ALL: [Manner; 5] =
        [Manner::Edge, Manner::EdgeRelist, Manner::EdgeResync, Manner::Level, Manner::LevelPolling];

    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Manner::Edge => "edge",
            Manner::EdgeRelist => "edge-relist",
            Manner::EdgeResync => "edge-resync",
            Manner::Level => "level",
            Manner::LevelPolling => "level-polling",
        }
    }

    /// The manner of a process of this flavour with these knobs.
    pub fn of(flavour: Flavour, knobs: &Knobs) -> Manner {
        match flavour {
            Flavour::Level if !knobs.poll.is_zero() => Manner::LevelPolling,
            Flavour::Level => Manner::Level,
            Flavour::Edge if !knobs.resync_period.is_zero() => Manner::EdgeResync,
            Flavour::Edge if knobs.relist_on_start => Manner::EdgeRelist,
            Flavour::Edge => Manner::Edge,
        }
    }

    fn is_edge(self) -> bool {
        !matches!(self, Manner::Level | Manner::LevelPolling)
    }

    fn set(self, knobs: &mut Knobs) {
        knobs.flavour = Some(if self.is_edge() { Flavour::Edge } else { Flavour::Level });
        let if_it_is = |manner, value| if self == manner { value } else { Duration::ZERO };
        knobs.resync_period = if_it_is(Manner::EdgeResync, RESYNC);
        knobs.poll = if_it_is(Manner::LevelPolling, POLL);
        knobs.relist_on_start = self == Manner::EdgeRelist;
    }
}

/// Knobs that are turned; those that are none stay as they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct KnobChange {
    pub enabled: Option<bool>,
    pub manner: Option<Manner>,
    pub resync_period: Option<Duration>,
    pub poll: Option<Duration>,
    pub relist_on_start: Option<bool>,
    pub workers: Option<u16>,
    pub dedup: Option<bool>,
    pub backoff_base: Option<Duration>,
    pub backoff_max: Option<Duration>,
    pub qps: Option<u32>,
    pub burst: Option<u32>,
    pub expectations: Option<bool>,
    pub ignores_timeouts: Option<bool>,
    pub informer_queue: Option<QueueOrder>,
}

/// The names of the knobs, as a line and a file write them.
pub const KNOBS: [&str; 13] = [
    "flavour",
    "workers",
    "resync",
    "poll",
    "relistOnStart",
    "expectations",
    "dedup",
    "qps",
    "burst",
    "backoffBase",
    "backoffMax",
    "ignoresTimeouts",
    "informerQueue",
];

/// The most of a number of workers, of tokens a second, of tokens at once.
const NUMBER_MAX: u32 = 10_000;
/// The shortest back-off: less would be a loop without a pause.
const SHORTEST: Duration = Duration::from_millis(1);
/// A look at everything, again and again, costs as much as there is.
const SHORTEST_POLL: Duration = Duration::from_millis(100);
const SHORTEST_RESYNC: Duration = Duration::from_secs(1);

impl KnobChange {
    /// Takes the knobs out of the fields of a file or line. What is left over is nobody's.
    pub fn read(fields: &mut Fields) -> Result<KnobChange, FaultError> {
        let resync = replay(fields, "resync")?;
        let resync_period = replay(fields, "resyncPeriod")?;
        let workers = number(fields, "workers")?;
        let change = KnobChange {
            enabled: switch(fields, "enabled")?,
            manner: word(fields, "flavour", &Manner::ALL, Manner::word)?,
            // Files call it by its name in client-go.
            resync_period: resync_period.or(resync),
            poll: at_least(fields, "poll", SHORTEST_POLL)?,
            relist_on_start: switch(fields, "relistOnStart")?,
            workers: workers.and_then(|workers| u16::try_from(workers).ok()),
            dedup: switch(fields, "dedup")?,
            backoff_base: at_least(fields, "backoffBase", SHORTEST)?,
            backoff_max: at_least(fields, "backoffMax", SHORTEST)?,
            qps: number(fields, "qps")?,
            burst: number(fields, "burst")?,
            expectations: switch(fields, "expectations")?,
            ignores_timeouts: switch(fields, "ignoresTimeouts")?,
            informer_queue: word(fields, "informerQueue", &ORDERS, order_word)?,
        };
        match fields.0.keys().next() {
            None => Ok(change),
            Some(key) => {
                error(Some(key), format!("unknown knob {key:?}; there are {}", KNOBS.join(", ")))
            }
        }
    }

    /// The same of a line, for the process that it names.
    pub(super) fn of_line(fields: &mut Fields) -> Result<(Target, KnobChange), FaultError> {
        let target = fields.target("controller")?;
        let change = Self::read(fields)?;
        if change == KnobChange::default() {
            let text = format!("which knob of {target}? There are {}", KNOBS.join(", "));
            return error(None, text);
        }
        if change.enabled.is_some() {
            let text = "enabled: is for the start of a run; now it is kill or restart";
            return error(Some("enabled"), text);
        }
        if change.workers.is_some() && &*target.name == "kubelet" {
            return error(Some("workers"), "workers: a kubelet has one for every pod");
        }
        change.check(&target).map(|()| (target, change))
    }

    /// Whether a controller can be so.
    pub fn check(&self, target: &Target) -> Result<(), FaultError> {
        let all = ControllerId::CENTRAL.into_iter().chain(ControllerId::ON_DEMAND);
        let names = |can: fn(ControllerId) -> bool| {
            let names = all.clone().filter(|id| can(*id)).map(ControllerId::name);
            names.collect::<Vec<_>>()
        };
        let polls = self.poll.is_some() || self.manner == Some(Manner::LevelPolling);
        let (what, can) = match self.manner {
            Some(manner) if manner.is_edge() => (manner.word(), names(ControllerId::has_flavours)),
            _ if polls => ("level-polling", names(ControllerId::can_poll)),
            _ => return Ok(()),
        };
        if can.contains(&&*target.name) {
            return Ok(());
        }
        let text = format!("{target} cannot be {what}; only {} can", can.join(", "));
        error(Some("flavour"), format!("flavour: {text}"))
    }

    /// Turns the knobs.
    pub fn apply(&self, knobs: &mut Knobs) {
        if let Some(manner) = self.manner {
            manner.set(knobs);
        }
        knobs.enabled = self.enabled.unwrap_or(knobs.enabled);
        knobs.resync_period = self.resync_period.unwrap_or(knobs.resync_period);
        knobs.poll = self.poll.unwrap_or(knobs.poll);
        knobs.relist_on_start = self.relist_on_start.unwrap_or(knobs.relist_on_start);
        knobs.workers = self.workers.unwrap_or(knobs.workers);
        knobs.dedup = self.dedup.unwrap_or(knobs.dedup);
        knobs.backoff_base = self.backoff_base.unwrap_or(knobs.backoff_base);
        knobs.backoff_max = self.backoff_max.unwrap_or(knobs.backoff_max);
        knobs.qps = self.qps.unwrap_or(knobs.qps);
        knobs.burst = self.burst.unwrap_or(knobs.burst);
        knobs.expectations = self.expectations.unwrap_or(knobs.expectations);
        knobs.ignores_timeouts = self.ignores_timeouts.unwrap_or(knobs.ignores_timeouts);
        knobs.informer_queue = self.informer_queue.unwrap_or(knobs.informer_queue);
    }
}

const ORDERS: [QueueOrder; 2] = [QueueOrder::InOrder, QueueOrder::PerKey];

fn order_word(order: QueueOrder) -> &'static str {
    match order {
        QueueOrder::InOrder => "inOrder",
        QueueOrder::PerKey => "perKey",
    }
}

fn switch(fields: &mut Fields, key: &str) -> Result<Option<bool>, FaultError> {
    match fields.text(key)?.as_deref() {
        None => Ok(None),
        Some("true" | "on") => Ok(Some(true)),
        Some("false" | "off") => Ok(Some(false)),
        Some(text) => error(Some(key), format!("{key}: {text:?} is not true or false")),
    }
}

fn number(fields: &mut Fields, key: &str) -> Result<Option<u32>, FaultError> {
    let Some(text) = fields.text(key)? else { return Ok(None) };
    match text.parse() {
        Ok(number) if (1..=NUMBER_MAX).contains(&number) => Ok(Some(number)),
        _ => error(Some(key), format!("{key}: {text:?} is no number from 1 to {NUMBER_MAX}")),
    }
}

fn at_least(
    fields: &mut Fields,
    key: &str,
    least: Duration,
) -> Result<Option<Duration>, FaultError> {
    match fields.span(key)? {
        Some(short) if short < least => {
            error(Some(key), format!("{key}: takes {} or more", span(least)))
        }
        given => Ok(given),
    }
}

/// Never (0), or not more often than client-go replays a cache (`minimumResyncPeriod`).
fn replay(fields: &mut Fields, key: &str) -> Result<Option<Duration>, FaultError> {
    match fields.span(key)? {
        Some(short) if !short.is_zero() && short < SHORTEST_RESYNC => error(
            Some(key),
            format!("{key}: takes {} or more, or 0s: never", span(SHORTEST_RESYNC)),
        ),
        given => Ok(given),
    }
}

fn word<T: Copy>(
    fields: &mut Fields,
    key: &str,
    all: &[T],
    word_of: fn(T) -> &'static str,
) -> Result<Option<T>, FaultError> {
    let Some(text) = fields.text(key)? else { return Ok(None) };
    let found = all.iter().copied().find(|one| word_of(*one) == text);
    let words: Vec<_> = all.iter().map(|one| word_of(*one)).collect();
    let refusal =
        || error(Some(key), format!("{key}: {text:?} is not one of {}", words.join(", ")));
    found.map_or_else(refusal, |one| Ok(Some(one)))
}

impl fmt::Display for KnobChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let switch = |value: Option<bool>| value.map(|value| value.to_string());
        let number = |value: Option<u32>| value.map(|value| value.to_string());
        let time = |value: Option<Duration>| value.map(span);
        let shown = [
            ("flavour", self.manner.map(|manner| manner.word().to_string())),
            ("workers", number(self.workers.map(u32::from))),
            ("resync", time(self.resync_period)),
            ("poll", time(self.poll)),
            ("relistOnStart", switch(self.relist_on_start)),
            ("expectations", switch(self.expectations)),
            ("dedup", switch(self.dedup)),
            ("qps", number(self.qps)),
            ("burst", number(self.burst)),
            ("backoffBase", time(self.backoff_base)),
            ("backoffMax", time(self.backoff_max)),
            ("ignoresTimeouts", switch(self.ignores_timeouts)),
            ("informerQueue", self.informer_queue.map(|order| order_word(order).to_string())),
        ];
        let mut first = true;
        for (key, value) in shown {
            let Some(value) = value else { continue };
            let gap = if first { "" } else { " " };
            write!(f, "{gap}{key}={value}")?;
            first = false;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::Fault;

    fn read(line: &str) -> Result<KnobChange, String> {
        match Fault::parse_line(line) {
            Ok(Fault::Knob(_, change)) => Ok(change),
            Ok(other) => panic!("{line} is {other}"),
            Err(error) => Err(error.message),
        }
    }

    #[test]
    fn every_knob_is_written_as_it_is_read() {
        let line = "fault knob replicaset flavour=edge-resync workers=2 resync=15s \
                    relistOnStart=true expectations=false dedup=false qps=20 burst=5 \
                    backoffBase=10ms backoffMax=1m ignoresTimeouts=true informerQueue=perKey";
        let fault = Fault::parse_line(line).unwrap();
        assert_eq!(fault.to_string(), line.split_whitespace().collect::<Vec<_>>().join(" "));
        let mut knobs = Knobs::default();
        read(line).unwrap().apply(&mut knobs);
        assert_eq!((knobs.workers, knobs.dedup, knobs.qps, knobs.burst), (2, false, 20, 5));
        assert_eq!(knobs.resync_period, Duration::from_secs(15), "said, not the flavour's own");
        assert_eq!(knobs.flavour, Some(Flavour::Edge));
    }

    #[test]
    fn a_flavour_brings_what_belongs_to_it_and_takes_what_does_not() {
        let mut knobs = Knobs::default();
        for manner in Manner::ALL.into_iter().chain(Manner::ALL) {
            manner.set(&mut knobs);
            assert_eq!(Manner::of(knobs.flavour.unwrap(), &knobs), manner);
        }
    }

    #[test]
    fn what_is_wrong_with_a_knob_is_said_with_what_would_be_right() {
        let refused = |line| read(line).expect_err(line);
        assert!(refused("knob replicaset speed=2").contains("there are flavour, workers, resync"));
        assert!(refused("knob replicaset").contains("which knob of replicaset?"));
        assert!(refused("knob replicaset workers=0").contains("from 1 to 10000"));
        assert!(refused("knob replicaset dedup=maybe").contains("true or false"));
        assert!(refused("knob replicaset flavour=both").contains("edge-relist"));
        assert!(refused("knob replicaset backoffBase=0s").contains("1ms or more"));
        assert!(refused("knob replicaset poll=1ms").contains("100ms or more"));
        assert!(refused("knob replicaset resync=1ns").contains("1s or more"));
        assert!(refused("knob replicaset resyncPeriod=999ms").contains("1s or more"));
        assert!(refused("knob scheduler flavour=edge").contains("only deployment, replicaset"));
        assert!(refused("knob kubelet poll=5s").contains("cannot be level-polling"));
        assert!(refused("knob kubelet workers=1").contains("one for every pod"));
        assert!(refused("knob replicaset enabled=false").contains("kill or restart"));
    }
}
