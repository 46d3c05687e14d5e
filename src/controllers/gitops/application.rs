//! What an Application says (`argoproj.io/v1alpha1`), read off the object.

use std::sync::Arc;
use std::time::Duration;

use crate::api::{Generic, Kind, Object, ObjectKey, Str, Timestamp, Value};
use crate::kernel::Time;

use super::auto_sync::{Automated, LastSync};

/// Asks for a look at the repository now.
pub const REFRESH: &str = "argocd.argoproj.io/refresh";

/// `ApplicationSpec`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// `source.targetRevision`.
    pub target_revision: Str,
    /// `destination.namespace`.
    pub namespace: Str,
    /// `syncPolicy.automated`, if it is there and not disabled.
    pub automated: Option<Automated>,
    /// `syncOptions` has `RespectIgnoreDifferences=true`.
    pub respect: bool,
    /// `ignoreDifferences`.
    pub ignores: Vec<Ignore>,
}

/// One of `spec.ignoreDifferences`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ignore {
    group: Str,
    kind: Str,
    name: Str,
    namespace: Str,
    /// JSON pointers.
    pub pointers: Vec<String>,
}

impl Ignore {
    /// Whether it is about this object. A star stands for any group or kind.
    pub fn concerns(&self, key: &ObjectKey) -> bool {
        let is = |own: &str, other: &str| own == "*" || own == other;
        let may = |own: &str, other: &str| own.is_empty() || own == other;
        is(&self.group, key.kind.group())
            && is(&self.kind, key.kind.info().kind)
            && may(&self.name, &key.name)
            && may(&self.namespace, &key.namespace)
    }
}

/// A sync that was asked for: `operation.sync`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Operation {
    /// To which revision; empty: to the newest.
    pub revision: Str,
    /// With deletion of what Git no longer has.
    pub prune: bool,
    /// Only these: group, kind, name.
    pub resources: Vec<(Str, Str, Str)>,
    /// Not asked for by a person.
    pub automated: bool,
    /// The number of the self-heal attempt.
    pub attempt: u32,
}

fn text(value: &Value, pointer: &str) -> Str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or("").into()
}

fn flag(value: &Value, pointer: &str) -> Option<bool> {
    value.pointer(pointer).and_then(Value::as_bool)
}

fn list<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    value.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

impl Spec {
    /// Reads an Application.
    pub fn read(object: &Generic) -> Spec {
        let null = Value::Null;
        let spec = object.rest.get("spec").unwrap_or(&null);
        let automated = spec.pointer("/syncPolicy/automated").filter(|value| value.is_object());
        let automated = automated.filter(|automated| flag(automated, "/enabled") != Some(false));
        let yes = |value: &Value, pointer: &str| flag(value, pointer).unwrap_or(false);
        let options = list(spec, "/syncPolicy/syncOptions");
        let namespace = text(spec, "/destination/namespace");
        Spec {
            target_revision: text(spec, "/source/targetRevision"),
            namespace: if namespace.is_empty() { "default".into() } else { namespace },
            automated: automated.map(|automated| Automated {
                prune: yes(automated, "/prune"),
                self_heal: yes(automated, "/selfHeal"),
                allow_empty: yes(automated, "/allowEmpty"),
            }),
            respect: options.iter().any(|option| option == "RespectIgnoreDifferences=true"),
            ignores: list(spec, "/ignoreDifferences").iter().map(ignore).collect(),
        }
    }
}

fn ignore(value: &Value) -> Ignore {
    let words = |pointer| list(value, pointer).iter().filter_map(Value::as_str);
    // Of jq only plain paths are known.
    let plain = |path: &str| {
        let path = path.strip_prefix('.')?;
        let simple = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '_';
        path.chars().all(simple).then(|| format!("/{}", path.replace('.', "/")))
    };
    let paths = words("/jqPathExpressions").filter_map(plain);
    Ignore {
        group: text(value, "/group"),
        kind: text(value, "/kind"),
        name: text(value, "/name"),
        namespace: text(value, "/namespace"),
        pointers: words("/jsonPointers").map(str::to_string).chain(paths).collect(),
    }
}

/// The operation that somebody put into the object, if there is one.
pub fn operation(object: &Generic) -> Option<Operation> {
    object.rest.get("operation").filter(|value| value.is_object()).map(read_operation)
}

fn read_operation(value: &Value) -> Operation {
    let resources = list(value, "/sync/resources");
    let resource =
        |value: &Value| (text(value, "/group"), text(value, "/kind"), text(value, "/name"));
    let attempt = value.pointer("/sync/autoHealAttemptsCount").and_then(Value::as_u64);
    Operation {
        revision: text(value, "/sync/revision"),
        prune: flag(value, "/sync/prune").unwrap_or(false),
        resources: resources.iter().map(resource).collect(),
        automated: flag(value, "/initiatedBy/automated").unwrap_or(false),
        attempt: attempt.and_then(|attempt| u32::try_from(attempt).ok()).unwrap_or(0),
    }
}

/// An operation that failed and will be tried again: it, how often it was, and when it last ended.
pub fn retrying(object: &Generic) -> Option<(Operation, i64, Time)> {
    let state = object.rest.get("status")?.get("operationState")?;
    if state.get("phase").and_then(Value::as_str) != Some("Running") {
        return None;
    }
    let ended = Timestamp::parse(&text(state, "/finishedAt"))?.to_time();
    let count = state.get("retryCount").and_then(Value::as_i64).unwrap_or(0);
    Some((read_operation(state.get("operation")?), count, ended))
}

/// What the last operation came to.
pub fn last_sync(object: &Generic, now: Time) -> LastSync {
    let state = object.rest.get("status").and_then(|status| status.get("operationState"));
    let Some(state) = state else { return LastSync::default() };
    let revision = state.pointer("/syncResult/revision").and_then(Value::as_str);
    let ended = Timestamp::parse(&text(state, "/finishedAt"));
    let attempts = state.pointer("/operation/sync/autoHealAttemptsCount").and_then(Value::as_u64);
    LastSync {
        revision: revision.map(str::to_string),
        succeeded: state.get("phase").and_then(Value::as_str) == Some("Succeeded"),
        message: text(state, "/message").to_string(),
        attempts: attempts.and_then(|attempts| u32::try_from(attempts).ok()).unwrap_or(0),
        // A status carries whole seconds: what has just ended may seem to lie ahead.
        finished_ago: ended.map(|ended| now.since(ended.to_time()).max(Duration::ZERO)),
    }
}

/// Whether somebody asked for a look at the repository.
pub fn wants_refresh(object: &Object) -> bool {
    object.meta().annotations.contains_key(REFRESH)
}

/// A revision of the repository: its name, and the objects that it describes.
#[derive(Clone, Debug, Default)]
pub struct Revision {
    /// The commit.
    pub id: String,
    /// Which in the order of pushes.
    pub number: u64,
    /// What it holds, in the order of the files.
    pub objects: Vec<Arc<Object>>,
}

impl Revision {
    /// Reads what the repository answered.
    pub fn read(answer: &Object) -> Option<Revision> {
        let answer = answer.as_generic().filter(|answer| answer.kind == Kind::GitRevision)?;
        let items = answer.rest.get("objects").and_then(Value::as_array)?;
        let object = |item: &Value| {
            let word = |field: &str| item.get(field).and_then(Value::as_str).unwrap_or("");
            let kind = Kind::of_manifest(word("apiVersion"), word("kind"))?;
            Object::from_value(kind, item.clone()).ok().map(Arc::new)
        };
        let id = answer.rest.get("revision").and_then(Value::as_str)?.to_string();
        let number = answer.rest.get("number").and_then(Value::as_u64).unwrap_or(0);
        Some(Revision { id, number, objects: items.iter().filter_map(object).collect() })
    }
}
