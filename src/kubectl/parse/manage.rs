//! Verbs that label, roll out, look after nodes, and read logs.

use crate::api::{Kind, Str};
use crate::kubectl::command::{Command, LabelChange, Logs, RolloutAction, Select};
use crate::kubectl::errors::UsageError;
use crate::kubectl::flags::Flags;
use crate::manifest::nearest;

use super::select::{Naming, select};

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
    if objects.is_empty() && !flags.has("all") {
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

pub(super) fn rollout(flags: &Flags) -> Result<Command, UsageError> {
    const ACTIONS: [&str; 6] = ["history", "pause", "restart", "resume", "status", "undo"];
    let Some((word, rest)) = flags.words.split_first() else {
        let message = format!("rollout: what? {}", ACTIONS.join(", "));
        return Err(UsageError::plain(message));
    };
    let revision = flags.number("revision")?.unwrap_or(0);
    let action = match word.as_str() {
        "status" => RolloutAction::Status(revision),
        "history" => RolloutAction::History(revision),
        "undo" => RolloutAction::Undo(flags.number("to-revision")?.unwrap_or(0)),
        "pause" => RolloutAction::Pause,
        "resume" => RolloutAction::Resume,
        "restart" => RolloutAction::Restart,
        other => {
            return Err(UsageError {
                message: format!("unknown command {other:?} for \"kubectl rollout\""),
                suggestion: nearest(other, ACTIONS).map(str::to_string),
            });
        }
    };
    if rest.is_empty() {
        return Err(UsageError::plain("required resource not specified"));
    }
    Ok(Command::Rollout(select(flags, rest, Naming::AtWill)?, action))
}

pub(super) fn nodes(flags: &Flags, names: &[String]) -> Result<Select, UsageError> {
    let mut words = vec!["nodes".to_string()];
    words.extend(names.iter().map(|name| name.trim_start_matches("node/").to_string()));
    if names.is_empty() && flags.value("selector").is_none() && !flags.has("all") {
        let message = "USAGE: cordon NODE [flags]\nSee 'kubectl cordon -h' for help and examples";
        return Err(UsageError::plain(message));
    }
    select(flags, &words, Naming::Needed)
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
    let is_change = |word: &&String| word.contains(':') || word.ends_with('-');
    let at = words.iter().position(|word| is_change(&word)).unwrap_or(words.len());
    let (names, changes) = words.split_at(at);
    if changes.is_empty() {
        return Err(UsageError::plain("at least one taint update is required"));
    }
    Ok(Command::Taint(nodes(flags, names)?, changes.to_vec()))
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
        return Err(flags.see_help(message.into()));
    }
    let tail = flags.number("tail")?.and_then(|lines| usize::try_from(lines).ok());
    Ok(Command::Logs(Logs {
        select: select(flags, &words, Naming::AtWill)?,
        container,
        all_containers: flags.has("all-containers"),
        previous: flags.has("previous"),
        tail,
        prefix: flags.has("prefix"),
    }))
}
