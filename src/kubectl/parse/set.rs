//! `kubectl set`.

use crate::kubectl::command::{Change, Command};
use crate::kubectl::errors::UsageError;
use crate::kubectl::flags::Flags;

use super::options::{pairs, shown};
use super::select::{Naming, select};

/// `set image deploy/web web=nginx:2` and its like: resources first, then what is set.
pub(super) fn set(what: &str, flags: &Flags) -> Result<Command, UsageError> {
    let is_change = |word: &&String| {
        let removes = what == "env" && word.ends_with('-') && word.len() > 1;
        (word.contains('=') || removes) && !word.contains("$(")
    };
    let (objects, words): (Vec<String>, Vec<String>) = match what {
        "serviceaccount" => {
            let (last, objects) = flags.words.split_last().unzip();
            (objects.unwrap_or_default().to_vec(), last.into_iter().cloned().collect())
        }
        _ => flags.words.iter().cloned().partition(|word| !is_change(&word)),
    };
    if objects.is_empty() && flags.value("filename").is_none() {
        let message = "one or more resources must be specified as <resource> <name> or \
                       <resource>/<name>";
        return Err(UsageError::plain(message));
    }
    let pair = |word: &String| {
        let (key, value) = word.split_once('=')?;
        Some((key.to_string(), value.to_string()))
    };
    let given: Vec<(String, String)> = words.iter().filter_map(pair).collect();
    let container = flags.value("container").unwrap_or("*").to_string();
    let change = match what {
        "image" => Change::Image(images(given)?),
        "resources" => {
            let limits: Vec<_> = flags.values("limits").flat_map(pairs).collect();
            let requests: Vec<_> = flags.values("requests").flat_map(pairs).collect();
            if limits.is_empty() && requests.is_empty() {
                let message = "you must specify an update to requests or limits (in the form of \
                               --requests/--limits)";
                return Err(UsageError::plain(message));
            }
            Change::Resources {
                container: flags.value("containers").map_or(container, Into::into),
                limits,
                requests,
            }
        }
        "env" => {
            if flags.value("from").is_some() {
                let message = "set env --from is not part of this simulation";
                return Err(UsageError::plain(message));
            }
            let removed = words.iter().filter(|word| !word.contains('='));
            let remove = removed.filter_map(|word| word.strip_suffix('-')).map(str::to_string);
            let more: Vec<String> = flags.values("env").map(str::to_string).collect();
            Change::Env {
                container,
                set: given.into_iter().chain(more.iter().filter_map(pair)).collect(),
                remove: remove.collect(),
                list: flags.has("list"),
                overwrite: flags.value("overwrite").is_none() || flags.has("overwrite"),
            }
        }
        "selector" => Change::Selector(selector(&words)?),
        "serviceaccount" => match words.first() {
            Some(name) => Change::ServiceAccount(name.clone()),
            None => return Err(UsageError::plain("serviceaccount is required")),
        },
        _ => return Ok(Command::NotHere(format!("set {what}"))),
    };
    Ok(Command::Set(select(flags, &objects, Naming::Needed)?, change, shown(flags)?))
}

fn images(images: Vec<(String, String)>) -> Result<Vec<(String, String)>, UsageError> {
    if images.is_empty() {
        return Err(UsageError::plain("at least one image update is required"));
    }
    if images.len() > 1 && images.iter().any(|(container, _)| container == "*") {
        let message = "all containers are already specified by *, but saw more than one \
                       container_name=container_image pairs";
        return Err(UsageError::plain(message));
    }
    Ok(images)
}

fn selector(words: &[String]) -> Result<Vec<(String, String)>, UsageError> {
    let list: Vec<_> = words.iter().flat_map(|word| pairs(word)).collect();
    match list.is_empty() {
        true => Err(UsageError::plain("one selector is required")),
        false => Ok(list),
    }
}
