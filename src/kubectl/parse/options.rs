//! Options that several verbs take.

use crate::api::Str;
use crate::kubectl::command::{DryRun, Format, FromText, View};
use crate::kubectl::errors::UsageError;
use crate::kubectl::flags::Flags;
use crate::manifest::nearest;

use super::select::filename;

pub(super) fn view(flags: &Flags) -> Result<View, UsageError> {
    let columns = flags.values("label-columns").flat_map(|list| list.split(','));
    Ok(View {
        format: format(flags)?,
        show_labels: flags.has("show-labels"),
        label_columns: columns.map(str::to_string).collect(),
        sort_by: flags.value("sort-by").map(str::to_string),
        no_headers: flags.has("no-headers"),
        ignore_not_found: flags.has("ignore-not-found"),
        show_kind: flags.has("show-kind"),
        show_managed_fields: flags.has("show-managed-fields"),
    })
}

pub(super) fn format(flags: &Flags) -> Result<Format, UsageError> {
    let Some(text) = flags.value("output") else {
        return Ok(Format::Table);
    };
    Ok(match text.split_once('=').unwrap_or((text, "")) {
        ("", _) => Format::Table,
        ("wide", _) => Format::Wide,
        ("yaml", _) => Format::Yaml,
        ("json", _) => Format::Json,
        ("name", _) => Format::Name,
        ("jsonpath", template) => Format::JsonPath(template.into()),
        (other, _) => {
            let known = ["json", "name", "wide", "yaml"];
            return Err(UsageError {
                message: format!(
                    "unable to match a printer suitable for the output format {other:?}, allowed \
                     formats are: json,jsonpath,name,wide,yaml"
                ),
                suggestion: nearest(other, known).map(|word| format!("-o {word}")),
            });
        }
    })
}

pub(super) fn dry_run(flags: &Flags) -> Result<DryRun, UsageError> {
    match flags.value("dry-run") {
        None | Some("none" | "false") => Ok(DryRun::No),
        Some("" | "client" | "true") => Ok(DryRun::Client),
        Some("server") => Ok(DryRun::Server),
        Some(other) => Err(UsageError::plain(format!(
            "Invalid dry-run value ({other}). Must be \"none\", \"server\", or \"client\"."
        ))),
    }
}

pub(super) fn from_text(flags: &Flags) -> Result<FromText, UsageError> {
    if let Some(word) = flags.words.first() {
        return Err(flags.see_help(format!("Unexpected args: [{word}]")));
    }
    if !filename(flags)? {
        return Err(UsageError::plain("must specify one of -f and -k"));
    }
    if flags.has("prune") {
        return Err(UsageError::plain("--prune is not part of this simulation yet"));
    }
    let (server_side, dry_run) = (flags.has("server-side"), dry_run(flags)?);
    let wrong = |message: &str| Err(UsageError::plain(message));
    if flags.has("force-conflicts") && !server_side {
        return wrong("--force-conflicts only works with --server-side");
    }
    if server_side && dry_run == DryRun::Client {
        return wrong(
            "--dry-run=client doesn't work with --server-side (did you mean --dry-run=server \
             instead?)",
        );
    }
    if server_side && flags.has("force") {
        return wrong("--force cannot be used with --server-side");
    }
    Ok(FromText {
        namespace: flags.value("namespace").map(Str::from),
        server_side,
        force_conflicts: flags.has("force-conflicts"),
        field_manager: flags.value("field-manager").map(Str::from),
        dry_run,
        force: flags.has("force"),
        name_only: flags.value("output") == Some("name"),
    })
}

pub(super) fn number32(flags: &Flags, name: &str) -> Result<Option<i32>, UsageError> {
    let number = flags.number(name)?;
    number
        .map(|number| {
            i32::try_from(number).map_err(|_| {
                flags.see_help(format!(
                    "invalid argument \"{number}\" for \"--{name}\" flag: strconv.ParseInt: \
                     parsing \"{number}\": value out of range"
                ))
            })
        })
        .transpose()
}

/// `key=value` pairs, also several behind commas.
pub(super) fn pairs(text: &str) -> Vec<(String, String)> {
    let pair = |part: &str| {
        let (key, value) = part.split_once('=')?;
        Some((key.to_string(), value.to_string()))
    };
    text.split(',').filter_map(pair).collect()
}
