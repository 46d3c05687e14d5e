//! What may stand under `expect:` of a scenario file.
//!
//! An expectation says *when* and *what*. When: `at` a moment; some time `within` a window; at each
//! moment of a window (`always`); with none of them at the end of the run. What, all of it
//! together:
//!
//! - `verdict: stuck`: the lane has come to this;
//! - `count: {kind: Pod, selector: app=web, phase: Failed, is: 3}`: there are so many (`is`, `min`,
//!   `max`);
//! - `field: {object: deploy/web, path: status.replicas, is: 3}`: a field has a value (`is`, `not`,
//!   `min`, `max`, `contains`), or that of another field of the object (`same`, `unlike`);
//! - `event: {object: rs/web-*, reason: FailedCreate, min: 2}`: there is such a Kubernetes Event,
//!   told so often (`is: 0`: never);
//! - `passes: {by: deployment, since: 10s, max: 20}`: a loop passed so often since then;
//! - `calls: {by: replicaset, verb: create, kind: Pod, is: 3}`: it sent so many requests;
//! - `kubectl: get pods`, with `contains` and `lacks`: the line prints these words, and not those;
//! - `order: [{...}, {...}]`, with `within`: each of these holds at some moment, none before the
//!   one in front of it.
//!
//! A step of the script may say with which words it `fails`, and what it `prints`.

use std::fmt;

use serde::{Deserialize, Deserializer};

use crate::api::Value;

use super::format::{In, Span};

/// What must come of a run.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Expectation {
    /// When.
    pub at: Option<Span>,
    /// Some time in this window.
    pub within: Option<(Span, Span)>,
    /// At each moment of this window.
    pub always: Option<(Span, Span)>,
    /// In which lanes.
    #[serde(rename = "in")]
    pub lanes: In,
    /// The lane's verdict.
    pub verdict: Option<VerdictWord>,
    /// A number of objects.
    pub count: Option<Count>,
    /// A field of an object.
    pub field: Option<Field>,
    /// A Kubernetes Event.
    pub event: Option<EventWanted>,
    /// A number of passes.
    pub passes: Option<Work>,
    /// A number of requests: of those that passes sent, and of each pass the first 24.
    pub calls: Option<Work>,
    /// One after another; with `within`. Those in it need no time of their own.
    pub order: Vec<Expectation>,
    /// What a console line prints.
    pub kubectl: Option<String>,
    /// ... with these words,
    pub contains: Words,
    /// ... and without these.
    pub lacks: Words,
}

/// One text, or a list of texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words(pub Vec<String>);

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum OneOrMore {
            One(String),
            More(Vec<String>),
        }
        Ok(match OneOrMore::deserialize(deserializer)? {
            OneOrMore::One(text) => Words(vec![text]),
            OneOrMore::More(texts) => Words(texts),
        })
    }
}

impl Words {
    /// The first that a text lacks.
    pub fn missing_in(&self, text: &str) -> Option<&str> {
        self.0.iter().map(String::as_str).find(|words| !text.contains(words))
    }

    /// The first that a text has.
    pub fn found_in(&self, text: &str) -> Option<&str> {
        self.0.iter().map(String::as_str).find(|words| text.contains(words))
    }
}

impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

/// A verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum VerdictWord {
    Converged,
    Converging,
    Oscillating,
    Stuck,
}

impl VerdictWord {
    /// The word.
    pub fn word(self) -> &'static str {
        match self {
            VerdictWord::Converged => "converged",
            VerdictWord::Converging => "converging",
            VerdictWord::Oscillating => "oscillating",
            VerdictWord::Stuck => "stuck",
        }
    }
}

/// A number of objects.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Count {
    /// Of this kind.
    pub kind: String,
    /// With these labels.
    pub selector: Option<String>,
    /// With this name, which may hold a `*`.
    pub name: Option<String>,
    /// In this namespace; `default` when absent, `"*"` for all.
    pub namespace: Option<String>,
    /// Pods in this phase.
    pub phase: Option<String>,
    /// Pods that are, or are not, ready.
    pub ready: Option<bool>,
    /// Objects that are, or are not, being deleted.
    pub terminating: Option<bool>,
    /// Objects whose fields have these values, by path; null: it is not there.
    #[serde(rename = "where")]
    pub with: std::collections::BTreeMap<String, Value>,
    /// So many.
    pub is: Option<i64>,
    /// At least so many.
    pub min: Option<i64>,
    /// At most so many.
    pub max: Option<i64>,
}

/// A field of an object.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Field {
    /// `deploy/web` or, in any namespace but the first that has one, `a/deploy/web`; a name may end
    /// in `*`.
    pub object: String,
    /// `status.readyReplicas`, `status.conditions[type=Available].status`.
    pub path: String,
    /// Its value; null: it is not there.
    #[serde(deserialize_with = "even_null")]
    pub is: Option<Value>,
    /// What it must not be; null: it is there.
    #[serde(deserialize_with = "even_null")]
    pub not: Option<Value>,
    /// Words in it.
    pub contains: Option<String>,
    /// A number or a quantity of at least this.
    pub min: Option<Value>,
    /// A number or a quantity of at most this.
    pub max: Option<Value>,
    /// The path of another field of the object, which has the same value,
    pub same: Option<String>,
    /// or another one.
    pub unlike: Option<String>,
    /// Each of these values, some time in the window.
    pub takes: Vec<Value>,
    /// Whether it becomes another one in the window (false goes with `always`).
    pub changes: Option<bool>,
}

/// A Kubernetes Event.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EventWanted {
    /// About whom: `rs/web-*`.
    pub object: String,
    /// Its reason.
    pub reason: Option<String>,
    /// `Normal` or `Warning`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// Words in its message.
    pub contains: Words,
    /// It was told so often (all that fit, together); 0: there is none.
    pub is: Option<i64>,
    /// At least so often.
    pub min: Option<i64>,
    /// At most so often.
    pub max: Option<i64>,
}

/// Passes of loops, or requests that they sent, from a moment on.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Work {
    /// Of this controller; all when absent.
    pub by: Option<String>,
    /// Passes over this key: `deploy/web`; a name may end in `*`.
    pub of: Option<String>,
    /// Passes that failed with these words (an empty text: with any).
    pub error: Option<String>,
    /// Requests with this verb: create, update, patch, delete, get, bind, evict.
    pub verb: Option<String>,
    /// Requests for this kind of object.
    pub kind: Option<String>,
    /// Requests answered with this HTTP code; 200: well.
    pub code: Option<u16>,
    /// From when on; the start when absent.
    pub since: Span,
    /// So many.
    pub is: Option<i64>,
    /// At least so many.
    pub min: Option<i64>,
    /// At most so many.
    pub max: Option<i64>,
}

/// A value that was written, even if it is null.
fn even_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl Expectation {
    /// The window in which it is looked at, if it has one.
    pub fn window(&self) -> Option<(Span, Span)> {
        self.within.or(self.always)
    }
}

/// Whether a number is within bounds.
pub fn fits(found: i64, is: Option<i64>, min: Option<i64>, max: Option<i64>) -> bool {
    is.is_none_or(|is| found == is)
        && min.is_none_or(|min| found >= min)
        && max.is_none_or(|max| found <= max)
}
