//! Which objects a line names.

use crate::api::selector::Selector;
use crate::api::{Kind, Str};
use crate::kubectl::command::{Select, Target, Which};
use crate::kubectl::errors::UsageError;
use crate::kubectl::flags::Flags;
use crate::manifest::nearest;

/// Whether each kind needs a name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Naming {
    /// A kind alone means all of it.
    AtWill,
    /// A kind alone needs `--all` or a selector.
    Needed,
}

pub(super) fn select(
    flags: &Flags,
    words: &[String],
    naming: Naming,
) -> Result<Select, UsageError> {
    let selector = selector(flags)?;
    let fields = flags.value("field-selector").map_or(Ok(Vec::new()), fields)?;
    let limit = flags.number("limit")?.map(|limit| usize::try_from(limit).unwrap_or(0));
    let namespace: Str = flags.value("namespace").unwrap_or("default").into();
    let select = Select {
        targets: targets(words)?,
        namespace: (!flags.has("all-namespaces")).then_some(namespace),
        namespace_given: flags.value("namespace").is_some(),
        selector,
        fields,
        limit,
        all: flags.has("all"),
        from_text: filename(flags)?,
    };
    let named = |target: &Target| target.which != Which::All;
    if select.selector.is_some() && select.targets.iter().any(named) {
        return Err(UsageError::plain("name cannot be provided when a selector is specified"));
    }
    if select.namespace.is_none() && select.targets.iter().any(named) {
        let message = "a resource cannot be retrieved by name across all namespaces";
        return Err(UsageError::plain(message));
    }
    if select.all && select.selector.is_some() {
        return Err(UsageError::plain("cannot set --all and --selector at the same time"));
    }
    let free = select.all || select.selector.is_some() || !select.fields.is_empty();
    let nameless = !select.targets.iter().all(named);
    if naming == Naming::Needed && !free && select.limit.is_none() && nameless {
        let message = "resource(s) were provided, but no name was specified";
        return Err(UsageError::plain(message));
    }
    if select.targets.is_empty() && !select.from_text {
        return Err(nothing_named(flags, naming));
    }
    Ok(select)
}

/// `-l`.
pub(super) fn selector(flags: &Flags) -> Result<Option<Selector>, UsageError> {
    let text = flags.value("selector");
    text.map(Selector::parse).transpose().map_err(UsageError::plain)
}

pub(super) fn nothing_named(flags: &Flags, naming: Naming) -> UsageError {
    match naming {
        Naming::AtWill => flags.usage(
            "Required resource not specified.\nUse \"kubectl explain <resource>\" for a detailed \
             description of that resource (e.g. kubectl explain pods)."
                .into(),
        ),
        Naming::Needed => UsageError::plain(
            "You must provide one or more resources by argument or filename.\nExample resource \
             specifications include:\n   '-f rsrc.yaml'\n   '--filename=rsrc.json'\n   '<resource> \
             <name>'\n   '<resource>'",
        ),
    }
}

pub(super) fn filename(flags: &Flags) -> Result<bool, UsageError> {
    if flags.value("kustomize").is_some() {
        return Err(UsageError::plain("-k is not part of this simulation: there are no files"));
    }
    match flags.value("filename") {
        None => Ok(false),
        Some("-") => Ok(true),
        Some(name) => {
            let message = format!(
                "the path {name:?} does not exist: here a manifest comes from standard input, by \
                 -f -"
            );
            Err(UsageError::plain(message))
        }
    }
}

/// `status.phase=Running,spec.nodeName!=node-1`.
pub(super) fn fields(text: &str) -> Result<Vec<(String, bool, String)>, UsageError> {
    let one = |part: &str| {
        let (path, equal, value) = if let Some((path, value)) = part.split_once("!=") {
            (path, false, value)
        } else {
            let (path, value) = part.split_once('=')?;
            (path, true, value.trim_start_matches('='))
        };
        Some((path.trim().to_string(), equal, value.trim().to_string()))
    };
    let parts = text.split(',').filter(|part| !part.is_empty());
    parts
        .map(|part| {
            let message = || format!("invalid selector: {part:?}; can't understand {part:?}");
            one(part).ok_or_else(|| UsageError::plain(message()))
        })
        .collect()
}

/// The kinds of `all`, in kubectl's order.
pub const ALL: [Kind; 9] = [
    Kind::Pod,
    Kind::ReplicationController,
    Kind::Service,
    Kind::DaemonSet,
    Kind::Deployment,
    Kind::ReplicaSet,
    Kind::StatefulSet,
    Kind::HorizontalPodAutoscaler,
    Kind::Job,
];

pub fn kinds(text: &str) -> Result<Vec<Kind>, UsageError> {
    let mut found = Vec::new();
    for word in text.split(',').filter(|word| !word.is_empty()) {
        match Kind::of_argument(word) {
            _ if word == "all" => found.extend(ALL),
            Some(kind) => found.push(kind),
            None => {
                let names = Kind::all().iter().flat_map(|info| {
                    std::iter::once(info.plural).chain(info.short.iter().copied())
                });
                let near = nearest(&word.to_ascii_lowercase(), names);
                return Err(UsageError {
                    message: format!("the server doesn't have a resource type {word:?}"),
                    suggestion: near.map(str::to_string),
                });
            }
        }
    }
    Ok(found)
}

/// `pods x y`, `pods,rs`, `pod/x deploy/y`, `all`.
pub(super) fn targets(words: &[String]) -> Result<Vec<Target>, UsageError> {
    let slashed = |word: &String| word.split_once('/').is_some_and(|(kind, _)| !kind.is_empty());
    if words.iter().any(slashed) {
        let mut targets = Vec::new();
        for word in words {
            let Some((kind, name)) = word.split_once('/') else {
                return Err(UsageError::plain(
                    "there is no need to specify a resource type as a separate argument when \
                     passing arguments in resource/name form (e.g. 'kubectl get \
                     resource/<resource_name>' instead of 'kubectl get resource \
                     resource/<resource_name>'",
                ));
            };
            for kind in kinds(kind)? {
                let which = which(name)?;
                targets.push(Target { kind, which });
            }
        }
        return Ok(targets);
    }
    let Some((first, names)) = words.split_first() else {
        return Ok(Vec::new());
    };
    let mut targets = Vec::new();
    for kind in kinds(first)? {
        if names.is_empty() {
            let which = Which::All;
            targets.push(Target { kind, which });
        }
        for name in names {
            let which = which(name)?;
            targets.push(Target { kind, which });
        }
    }
    Ok(targets)
}

/// A name, or `$(app=web)[0]`.
pub(super) fn which(name: &str) -> Result<Which, UsageError> {
    let Some(rest) = name.strip_prefix("$(") else {
        if name.is_empty() {
            return Err(UsageError::plain("arguments in resource/name form must have a name"));
        }
        return Ok(Which::Name(name.into()));
    };
    let wrong = || UsageError::plain(format!("{name} is not of the form $(selector)[number]"));
    let (selector, index) = rest.rsplit_once(')').ok_or_else(wrong)?;
    let selector = Selector::parse(selector).map_err(UsageError::plain)?;
    let index = match index {
        "" => 0,
        _ => {
            let digits = index.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
            digits.and_then(|digits| digits.parse().ok()).ok_or_else(wrong)?
        }
    };
    Ok(Which::Chosen(selector, index))
}
