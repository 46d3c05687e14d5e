//! Options that several verbs take.

use std::time::Duration;

use crate::api::Str;
use crate::kubectl::command::{Delete, DryRun, Format, FromText, Shown, View};
use crate::kubectl::duration;
use crate::kubectl::errors::UsageError;
use crate::kubectl::flags::Flags;
use crate::kubectl::jsonpath::Template;
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
        watch: flags.has("watch") || flags.has("watch-only"),
        watch_only: flags.has("watch-only"),
    })
}

/// `--timeout`: no time at all is 0, and below that a week, as kubectl takes it.
pub(super) fn timeout(flags: &Flags, usual: Duration) -> Result<Duration, UsageError> {
    const WEEK: Duration = Duration::from_secs(7 * 24 * 3_600);
    let Some(text) = flags.value("timeout") else { return Ok(usual) };
    match text.strip_prefix('-') {
        Some(_) => Ok(WEEK),
        None => span(text, "timeout"),
    }
}

/// The value of a flag that is a span of time.
pub(super) fn span(text: &str, flag: &str) -> Result<Duration, UsageError> {
    duration::parse(text).map_err(|why| {
        UsageError::plain(format!("invalid argument {text:?} for \"--{flag}\" flag: {why}"))
    })
}

pub(super) fn format(flags: &Flags) -> Result<Format, UsageError> {
    let Some(text) = flags.value("output") else {
        return Ok(Format::Table);
    };
    let template = |template: &str| {
        if template.is_empty() {
            return Err(UsageError::plain("template format specified but no template given"));
        }
        Template::parse(template).map_err(|error| {
            UsageError::plain(format!("error parsing jsonpath {template}, {error}"))
        })
    };
    Ok(match text.split_once('=').unwrap_or((text, "")) {
        ("", _) => Format::Table,
        ("wide", _) => Format::Wide,
        ("yaml", _) if flags.has("show-managed-fields") => Format::WholeYaml,
        ("json", _) if flags.has("show-managed-fields") => Format::WholeJson,
        ("yaml", _) => Format::Yaml,
        ("json", _) => Format::Json,
        ("name", _) => Format::Name,
        ("jsonpath", text) => Format::JsonPath(template(text)?),
        ("custom-columns", text) => Format::Columns(columns(text)?),
        ("go-template" | "template", _) => {
            let message = "Go templates are not part of this simulation: use jsonpath";
            return Err(UsageError::plain(message));
        }
        (other, _) => {
            let known = ["custom-columns", "json", "jsonpath", "name", "wide", "yaml"];
            return Err(UsageError {
                message: format!(
                    "unable to match a printer suitable for the output format {other:?}, allowed \
                     formats are: {}",
                    known.join(",")
                ),
                suggestion: nearest(other, known).map(|word| format!("-o {word}")),
            });
        }
    })
}

/// `NAME:.metadata.name,IMAGES:.spec.containers[*].image`.
fn columns(text: &str) -> Result<Vec<(String, Template)>, UsageError> {
    if text.is_empty() {
        let message = "custom-columns format specified but no custom columns given";
        return Err(UsageError::plain(message));
    }
    let mut columns = Vec::new();
    for part in text.split(',') {
        let Some((name, path)) = part.split_once(':') else {
            return Err(UsageError::plain(format!(
                "unexpected custom-columns spec: {part}, expected <header>:<json-path-expr>"
            )));
        };
        columns.push((name.to_string(), Template::path(path).map_err(UsageError::plain)?));
    }
    Ok(columns)
}

/// How a verb that writes says what it did.
pub(super) fn shown(flags: &Flags) -> Result<Shown, UsageError> {
    Ok(Shown { format: format(flags)?, dry_run: dry_run(flags)?, local: flags.has("local") })
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
        return Err(flags.usage(format!("Unexpected args: [{word}]")));
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
    let Delete { grace_period, cascade, .. } = super::write::deletion(flags)?;
    Ok(FromText {
        namespace: flags.value("namespace").map(Str::from),
        server_side,
        force_conflicts: flags.has("force-conflicts"),
        field_manager: flags.value("field-manager").map(Str::from),
        dry_run,
        force: flags.has("force"),
        format: format(flags)?,
        grace_period,
        cascade,
        selector: super::select::selector(flags)?,
        save_config: flags.has("save-config"),
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
pub fn pairs(text: &str) -> Vec<(String, String)> {
    let pair = |part: &str| {
        let (key, value) = part.split_once('=')?;
        Some((key.to_string(), value.to_string()))
    };
    text.split(',').filter_map(pair).collect()
}
