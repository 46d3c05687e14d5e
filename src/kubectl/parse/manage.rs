//! Verbs that label, roll out, look after nodes, wait, and read logs.

use std::time::Duration;

use crate::api::selector::Selector;
use crate::api::{Kind, Str, Timestamp};
use crate::kubectl::command::{
    Command, Drain, LabelChange, Logs, RolloutAction, Select, Since, Taints, Target, Top, Wait,
    Which,
};
use crate::kubectl::errors::UsageError;
use crate::kubectl::flags::Flags;
use crate::kubectl::jsonpath::Template;

use super::options::{dry_run, shown, span, timeout, view};
use super::select::{Naming, select};

/// How long `wait` waits if nobody says.
const WAITS: Duration = Duration::from_secs(30);
/// Of how many lines `logs -l` prints the last if nobody says.
const TAIL_OF_SELECTED: usize = 10;

/// `kubectl label pods x a=b c-`: resources first, then changes.
pub(super) fn label(flags: &Flags, annotations: bool) -> Result<Command, UsageError> {
    let is_change = |word: &&String| {
        let chosen = word.contains("$(");
        !chosen && (word.contains('=') || (word.ends_with('-') && word.len() > 1))
    };
    let what = if annotations { "annotation" } else { "label" };
    let first = flags.words.iter().position(|word| is_change(&word));
    let (objects, changes) = flags.words.split_at(first.unwrap_or(flags.words.len()));
    if let Some(word) = changes.iter().find(|word| !is_change(word)) {
        let message = format!("all resources must be specified before {what} changes: {word}");
        return Err(UsageError::plain(message));
    }
    if objects.is_empty() && flags.value("filename").is_none() {
        let message = "one or more resources must be specified as <resource> <name> or \
                       <resource>/<name>";
        return Err(UsageError::plain(message));
    }
    if changes.is_empty() && !flags.has("list") {
        return Err(UsageError::plain(format!("at least one {what} update is required")));
    }
    let mut change = LabelChange {
        annotations,
        set: Vec::new(),
        remove: Vec::new(),
        overwrite: flags.has("overwrite"),
        list: flags.has("list"),
        shown: shown(flags)?,
    };
    for word in changes {
        match word.split_once('=') {
            Some((key, value)) => change.set.push((key.into(), value.into())),
            None => change.remove.push(word.trim_end_matches('-').into()),
        }
    }
    if change.set.iter().any(|(key, _)| change.remove.contains(key)) {
        let message = format!("can not both modify and remove a {what} in the same command");
        return Err(UsageError::plain(message));
    }
    Ok(Command::Label(select(flags, objects, Naming::Needed)?, change))
}

pub(super) fn rollout(what: &str, flags: &Flags) -> Result<Command, UsageError> {
    let revision = |name| flags.number(name).map(Option::unwrap_or_default);
    let action = match what {
        "status" => {
            let timeout = timeout(flags, Duration::ZERO)?;
            let follows = flags.value("watch").is_none() || flags.has("watch");
            RolloutAction::Status(revision("revision")?, follows.then_some(timeout))
        }
        "history" => RolloutAction::History(revision("revision")?),
        "undo" => RolloutAction::Undo(revision("to-revision")?, dry_run(flags)?),
        "pause" => RolloutAction::Pause,
        "resume" => RolloutAction::Resume,
        _ => RolloutAction::Restart,
    };
    if flags.words.is_empty() && flags.value("filename").is_none() {
        return Err(UsageError::plain("required resource not specified"));
    }
    Ok(Command::Rollout(select(flags, &flags.words, Naming::AtWill)?, action))
}

pub(super) fn nodes(flags: &Flags, names: &[String], verb: &str) -> Result<Select, UsageError> {
    let mut words = vec!["nodes".to_string()];
    let bare = |name: &String| match name.split_once('/') {
        Some(("node" | "nodes" | "no", name)) => name.to_string(),
        _ => name.clone(),
    };
    words.extend(names.iter().map(bare));
    if names.is_empty() && flags.value("selector").is_none() && !flags.has("all") {
        let message =
            format!("USAGE: {verb} NODE [flags]\nSee 'kubectl {verb} -h' for help and examples");
        return Err(UsageError::plain(message));
    }
    select(flags, &words, Naming::Needed)
}

pub(super) fn drain(flags: &Flags) -> Result<Command, UsageError> {
    let pods = flags.value("pod-selector").map(Selector::parse).transpose();
    let drain = Drain {
        ignore_daemon_sets: flags.has("ignore-daemonsets"),
        delete_empty_dir_data: flags.has("delete-emptydir-data"),
        force: flags.has("force"),
        grace_period: flags.number("grace-period")?.filter(|&seconds| seconds >= 0),
        pod_selector: pods.map_err(UsageError::plain)?,
        delete: flags.has("disable-eviction"),
        dry_run: dry_run(flags)?,
    };
    Ok(Command::Drain(nodes(flags, &flags.words, "drain")?, drain))
}

pub(super) fn taint(flags: &Flags) -> Result<Command, UsageError> {
    let first = flags.words.first().map(String::as_str).unwrap_or("");
    let words = match Kind::of_argument(first) {
        Some(Kind::Node) => flags.words.get(1..).unwrap_or(&[]),
        _ if first.starts_with("node/") => flags.words.as_slice(),
        _ => {
            let message = format!("invalid resource type {first}, only node types are supported");
            return Err(UsageError::plain(message));
        }
    };
    let is_change = |word: &&String| word.contains([':', '=']) || word.ends_with('-');
    let at = words.iter().position(|word| is_change(&word)).unwrap_or(words.len());
    let (names, changes) = words.split_at(at);
    if changes.is_empty() {
        return Err(UsageError::plain("at least one taint update is required"));
    }
    let taints = Taints {
        changes: changes.to_vec(),
        overwrite: flags.has("overwrite"),
        shown: shown(flags)?,
    };
    Ok(Command::Taint(nodes(flags, names, "taint")?, taints))
}

pub(super) fn top(flags: &Flags, nodes: bool) -> Result<Command, UsageError> {
    let sort_by = flags.value("sort-by").map(str::to_string);
    if let Some(other) = sort_by.as_deref().filter(|by| !matches!(*by, "cpu" | "memory")) {
        let message = format!("--sort-by accepts only cpu or memory, not {other:?}");
        return Err(UsageError::plain(message));
    }
    let mut words = vec![if nodes { "nodes" } else { "pods" }.to_string()];
    words.extend(flags.words.iter().cloned());
    if words.len() > 2 {
        let what = if nodes { "node" } else { "pod" };
        return Err(flags.usage(format!("{what} [NAME | -l label]")));
    }
    Ok(Command::Top(Top {
        select: select(flags, &words, Naming::AtWill)?,
        nodes,
        containers: flags.has("containers"),
        no_headers: flags.has("no-headers"),
        sum: flags.has("sum"),
        sort_by,
    }))
}

pub(super) fn wait(flags: &Flags) -> Result<Command, UsageError> {
    let wanted = flags.value("for").unwrap_or("");
    let unknown = || UsageError::plain(format!("unrecognized condition: {wanted:?}"));
    let wait = match wanted.split_once('=') {
        _ if wanted.eq_ignore_ascii_case("delete") => Wait::Delete,
        _ if wanted.eq_ignore_ascii_case("create") => Wait::Create,
        Some(("condition", condition)) => {
            let (name, status) = condition.split_once('=').unwrap_or((condition, "True"));
            Wait::Condition(name.into(), status.into())
        }
        Some(("jsonpath", path)) => {
            let path = path.trim_matches(['\'', '"']);
            // An `=` inside the braces belongs to a filter.
            let braces = path.rfind('}').unwrap_or(0);
            let (path, value) = match path.get(braces..).and_then(|rest| rest.find('=')) {
                Some(at) => {
                    let (path, value) = path.split_at(braces + at);
                    (path, Some(value.trim_start_matches('=').to_string()))
                }
                None => (path, None),
            };
            let path = path.trim_matches(['\'', '"']);
            let value = value.map(|value| value.trim_matches(['\'', '"']).to_string());
            if value.as_deref() == Some("") {
                return Err(UsageError::plain("jsonpath wait value cannot be empty"));
            }
            Wait::Path(Template::path(path).map_err(UsageError::plain)?, value)
        }
        _ => return Err(unknown()),
    };
    let timeout = timeout(flags, WAITS)?;
    Ok(Command::Wait(select(flags, &flags.words, Naming::Needed)?, wait, timeout))
}

pub(super) fn events(flags: &Flags) -> Result<Command, UsageError> {
    if let Some(word) = flags.words.first() {
        return Err(flags.see_help(format!("unknown command {word:?} for \"kubectl events\"")));
    }
    let about: Vec<String> = flags.value("for").map(str::to_string).into_iter().collect();
    let types = flags.values("types").flat_map(|list| list.split(','));
    let types: Vec<String> = types.map(str::to_string).collect();
    let known = |word: &&String| ["normal", "warning"].contains(&&*word.to_ascii_lowercase());
    if types.iter().any(|word| !known(&word)) {
        return Err(UsageError::plain("valid --types are Normal or Warning"));
    }
    let mut select = match about.is_empty() {
        true => select(flags, &["events".to_string()], Naming::AtWill)?,
        false => select(flags, &about, Naming::AtWill)?,
    };
    if about.is_empty() {
        select.targets = vec![Target { kind: Kind::Event, which: Which::All }];
    }
    Ok(Command::Events(select, view(flags)?, types))
}

pub(super) fn logs(flags: &Flags) -> Result<Command, UsageError> {
    let mut words = flags.words.clone();
    let mut container = flags.value("container").map(Str::from);
    // `logs web-1 side`: a pod, and one of its containers.
    if let [pod, second] = words.as_slice()
        && !pod.contains('/')
    {
        container = container.or(Some(second.as_str().into()));
        words.truncate(1);
    }
    if let Some(first) = words.first_mut() {
        if !first.contains('/') || first.starts_with("$(") {
            *first = format!("pod/{first}");
        }
    } else if flags.value("selector").is_some() {
        words.push("pods".into());
    } else {
        let message = "expected 'logs [-f] [-p] (POD | TYPE/NAME) [-c CONTAINER]'.\nPOD or \
                       TYPE/NAME is a required argument for the logs command";
        return Err(flags.usage(message.into()));
    }
    // Of many pods nobody wants to read all.
    let usual = flags.value("selector").map(|_| TAIL_OF_SELECTED);
    let tail = match flags.number("tail")? {
        None => usual,
        Some(lines) => usize::try_from(lines).ok(),
    };
    Ok(Command::Logs(Logs {
        select: select(flags, &words, Naming::AtWill)?,
        container,
        all_containers: flags.has("all-containers"),
        previous: flags.has("previous"),
        tail,
        prefix: flags.has("prefix"),
        follow: flags.has("follow"),
        limit_bytes: flags.number("limit-bytes")?.and_then(|bytes| usize::try_from(bytes).ok()),
        since: since(flags)?,
        timestamps: flags.has("timestamps"),
    }))
}

/// `--since` and `--since-time`.
fn since(flags: &Flags) -> Result<Option<Since>, UsageError> {
    match (flags.value("since"), flags.value("since-time")) {
        (Some(_), Some(_)) => {
            let message = "at most one of `sinceTime` or `sinceSeconds` may be specified";
            Err(UsageError::plain(message))
        }
        (None, None) => Ok(None),
        (Some(text), None) if text.starts_with('-') => {
            Err(UsageError::plain("--since must be greater than 0"))
        }
        (Some(text), None) => match span(text, "since")? {
            // As if nothing was said.
            Duration::ZERO => Ok(None),
            ago => Ok(Some(Since::Ago(ago))),
        },
        (None, Some(text)) => match Timestamp::parse(text) {
            Some(at) => Ok(Some(Since::At(at))),
            None => Err(UsageError::plain(format!(
                "parsing time {text:?} as \"2006-01-02T15:04:05Z07:00\": cannot parse {text:?} as \
                 \"2006\""
            ))),
        },
    }
}
