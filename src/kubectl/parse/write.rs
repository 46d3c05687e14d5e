//! Verbs that change and delete objects.

use crate::apiserver::{Part, Propagation};
use crate::kubectl::command::{Command, Delete, Patch, PatchKind, Scale};
use crate::kubectl::errors::UsageError;
use crate::kubectl::flags::Flags;
use crate::manifest::nearest;

use super::options::{dry_run, from_text, number32, shown};
use super::select::{Naming, select};

pub(super) fn delete(flags: &Flags) -> Result<Command, UsageError> {
    let select = select(flags, &flags.words, Naming::Needed)?;
    match flags.value("output") {
        None | Some("" | "name") => {}
        Some(other) => {
            let message = format!("unexpected -o output mode: {other}. We only support '-o name'");
            return Err(UsageError::plain(message));
        }
    }
    Ok(Command::Delete(select, deletion(flags)?))
}

/// The options of a deletion.
pub(super) fn deletion(flags: &Flags) -> Result<Delete, UsageError> {
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
    Ok(Delete {
        grace_period,
        force,
        cascade,
        ignore_not_found: flags.has("ignore-not-found"),
        name_only: flags.value("output") == Some("name"),
        dry_run: dry_run(flags)?,
    })
}

/// `create` without a kind.
pub(super) fn create(flags: &Flags) -> Result<Command, UsageError> {
    if flags.value("filename").is_none()
        && let Some(kind) = flags.words.first()
    {
        let near = nearest(kind, super::verbs::below("create"));
        return Err(UsageError {
            message: format!("Unexpected args: [{kind}]"),
            suggestion: near.map(|word| format!("create {word}")),
        });
    }
    Ok(Command::Create(from_text(flags)?))
}

pub(super) fn scale(flags: &Flags) -> Result<Command, UsageError> {
    let select = select(flags, &flags.words, Naming::Needed)?;
    let Some(replicas) = number32(flags, "replicas")? else {
        return Err(UsageError::plain("required flag(s) \"replicas\" not set"));
    };
    if replicas < 0 {
        let message = "The --replicas=COUNT flag is required, and COUNT must be greater than or \
                       equal to 0";
        return Err(UsageError::plain(message));
    }
    let current = number32(flags, "current-replicas")?.filter(|&count| count >= 0);
    Ok(Command::Scale(select, Scale { replicas, current, shown: shown(flags)? }))
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
    Ok(Command::Patch(select, Patch { text, kind, part, shown: shown(flags)? }))
}
