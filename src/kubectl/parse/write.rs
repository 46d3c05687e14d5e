//! Verbs that make, change and delete objects.

use crate::api::Kind;
use crate::apiserver::{Part, Propagation};
use crate::kubectl::command::{Command, Delete, Named, Patch, PatchKind, Scale};
use crate::kubectl::errors::UsageError;
use crate::kubectl::flags::Flags;
use crate::manifest::nearest;

use super::options::{dry_run, number32, pairs};
use super::select::{Naming, kinds, select};

pub(super) fn delete(flags: &Flags) -> Result<Command, UsageError> {
    let select = select(flags, &flags.words, Naming::Needed)?;
    let force = flags.has("force");
    let mut grace_period = flags.number("grace-period")?.filter(|&seconds| seconds >= 0);
    if flags.has("now") {
        if grace_period.is_some() {
            let message = "--now and --grace-period cannot be specified together";
            return Err(UsageError::plain(message));
        }
        grace_period = Some(1);
    }
    if force && grace_period.is_some_and(|seconds| seconds > 0) {
        let message = "--force and --grace-period greater than 0 cannot be specified together";
        return Err(UsageError::plain(message));
    }
    // Without --force even 0 waits for the kubelet, so that nobody loses data by mistake.
    grace_period = match (force, grace_period) {
        (true, _) => Some(0),
        (false, Some(0)) => Some(1),
        (false, given) => given,
    };
    let cascade = match flags.value("cascade") {
        None => None,
        Some("" | "background" | "true") => Some(Propagation::Background),
        Some("foreground") => Some(Propagation::Foreground),
        Some("orphan" | "false") => Some(Propagation::Orphan),
        Some(other) => {
            let message = format!(
                "invalid cascade value ({other}). Must be \"background\", \"foreground\", or \
                 \"orphan\""
            );
            let known = ["background", "foreground", "orphan"];
            let suggestion = nearest(other, known).map(|word| format!("--cascade={word}"));
            return Err(UsageError { message, suggestion });
        }
    };
    let options = Delete {
        grace_period,
        force,
        cascade,
        ignore_not_found: flags.has("ignore-not-found"),
        name_only: flags.value("output") == Some("name"),
        dry_run: dry_run(flags)?,
    };
    Ok(Command::Delete(select, options))
}

pub(super) fn named(flags: &Flags, kind: Kind, name: &str) -> Result<Named, UsageError> {
    Ok(Named {
        kind,
        name: name.into(),
        namespace: flags.value("namespace").unwrap_or("default").into(),
        image: flags.value("image").map(str::to_string),
        replicas: number32(flags, "replicas")?,
        port: number32(flags, "port")?,
        labels: flags.values("labels").flat_map(pairs).collect(),
        restart: flags.value("restart").map(str::to_string),
        literals: flags.values("from-literal").flat_map(pairs).collect(),
        command: Vec::new(),
        dry_run: dry_run(flags)?,
    })
}

pub(super) fn create(flags: &Flags) -> Result<Command, UsageError> {
    let Some((kind, rest)) = flags.words.split_first() else {
        return Err(UsageError::plain("must specify one of -f and -k"));
    };
    let kind = match kinds(kind)?.as_slice() {
        [kind @ (Kind::Deployment | Kind::Namespace | Kind::ConfigMap | Kind::Job)] => *kind,
        _ => return Ok(Command::NotHere(format!("create {kind}"))),
    };
    let Some((name, command)) = rest.split_first() else {
        return Err(flags.see_help("exactly one NAME is required, got 0".into()));
    };
    let needs_image = matches!(kind, Kind::Deployment | Kind::Job);
    if needs_image && flags.value("image").is_none() {
        return Err(flags.see_help("required flag(s) \"image\" not set".into()));
    }
    let mut named = named(flags, kind, name)?;
    named.command = command.to_vec();
    Ok(Command::CreateNamed(named))
}

pub(super) fn run(flags: &Flags) -> Result<Command, UsageError> {
    let Some((name, command)) = flags.words.split_first() else {
        return Err(flags.see_help("NAME is required for run".into()));
    };
    if flags.value("image").is_none() {
        return Err(flags.see_help("required flag(s) \"image\" not set".into()));
    }
    let mut named = named(flags, Kind::Pod, name)?;
    named.command = command.to_vec();
    Ok(Command::CreateNamed(named))
}

pub(super) fn scale(flags: &Flags) -> Result<Command, UsageError> {
    let select = select(flags, &flags.words, Naming::Needed)?;
    let Some(replicas) = number32(flags, "replicas")? else {
        return Err(flags.see_help("required flag(s) \"replicas\" not set".into()));
    };
    if replicas < 0 {
        let message = "The --replicas=COUNT flag is required, and COUNT must be greater than or \
                       equal to 0";
        return Err(UsageError::plain(message));
    }
    let current = number32(flags, "current-replicas")?.filter(|&count| count >= 0);
    Ok(Command::Scale(select, Scale { replicas, current }))
}

pub(super) fn set(flags: &Flags) -> Result<Command, UsageError> {
    let Some((what, rest)) = flags.words.split_first() else {
        return Err(UsageError::plain("set: what? image, for example"));
    };
    if what != "image" {
        return Ok(Command::NotHere(format!("set {what}")));
    }
    let is_pair = |word: &&String| word.contains('=') && !word.contains("$(");
    let objects: Vec<String> = rest.iter().filter(|word| !is_pair(word)).cloned().collect();
    let pair = |word: &String| {
        let (container, image) = word.split_once('=')?;
        Some((container.to_string(), image.to_string()))
    };
    let images: Vec<_> = rest.iter().filter(is_pair).filter_map(pair).collect();
    if objects.is_empty() && !flags.has("all") {
        let message = "one or more resources must be specified as <resource> <name> or \
                       <resource>/<name>";
        return Err(UsageError::plain(message));
    }
    if images.is_empty() {
        return Err(UsageError::plain("at least one image update is required"));
    }
    if images.len() > 1 && images.iter().any(|(container, _)| container == "*") {
        let message = "all containers are already specified by *, but saw more than one \
                       container_name=container_image pairs";
        return Err(UsageError::plain(message));
    }
    Ok(Command::SetImage(select(flags, &objects, Naming::Needed)?, images))
}

pub(super) fn patch(flags: &Flags) -> Result<Command, UsageError> {
    let Some(text) = flags.value("patch") else {
        return Err(UsageError::plain(
            "must specify --patch or --patch-file containing the contents of the patch",
        ));
    };
    let kind = match flags.value("type") {
        None | Some("strategic") => PatchKind::Strategic,
        Some("merge") => PatchKind::Merge,
        Some("json") => PatchKind::Json,
        Some(other) => {
            let message = format!("--type must be one of [json merge strategic], not {other:?}");
            return Err(UsageError::plain(message));
        }
    };
    let part = match flags.value("subresource") {
        None | Some("") => Part::Main,
        Some("status") => Part::Status,
        Some("scale") => Part::Scale,
        Some(other) => {
            let message = format!(
                "invalid subresource value: {other:?}. Must be one of [status scale resize]"
            );
            return Err(UsageError::plain(message));
        }
    };
    let select = select(flags, &flags.words, Naming::Needed)?;
    let text = text.to_string();
    Ok(Command::Patch(select, Patch { text, kind, part }))
}
