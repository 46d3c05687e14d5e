//! A line into a command.

mod generate;
mod manage;
mod options;
mod select;
mod set;
pub(super) mod verbs;
mod write;

use crate::manifest::nearest;

use super::command::{Command, Resources};
use super::errors::UsageError;
use super::flags::{Flags, specs};
use super::split::split;

use manage::{drain, events, label, logs, nodes, rollout, taint, top, wait};
use options::{from_text, shown, view};
use select::{Naming, select};
use write::{create, delete, patch, scale};

pub(super) use options::pairs;
pub(super) use select::kinds;

/// What `kubectl help` prints.
pub const HELP: &str = "\
kubectl controls the Kubernetes cluster manager; here it controls a simulated one.

  create, apply, replace, diff  from YAML on standard input (-f -), or create KIND NAME
  run, expose, autoscale        make a Pod, a Service, a HorizontalPodAutoscaler
  get, describe, logs, events   look at objects
  delete                        --grace-period=N, --force, --cascade=orphan, --limit=N
  scale, patch, edit, label, annotate
  set                           image, resources, env, selector, serviceaccount
  rollout                       status, history, undo, pause, resume, restart
  cordon, uncordon, drain, taint, top
  wait, rollout status, get -w, events -w, logs -f
                                what they follow is printed as time goes on
  explain, api-resources, api-versions, version

-o wide|yaml|json|name|jsonpath=...|custom-columns=..., --dry-run=client|server
--limit=N takes the first N objects; pod/$(app=web)[0] is the first pod with that label.";

/// Verbs of kubectl that have no counterpart here.
const NOT_HERE: &[&str] = &[
    "attach",
    "auth",
    "certificate",
    "cluster-info",
    "completion",
    "config",
    "cp",
    "debug",
    "exec",
    "kustomize",
    "plugin",
    "port-forward",
    "proxy",
];

/// What the help of a verb with verbs of its own prints.
pub fn help(verb: &str) -> String {
    let below: Vec<String> = verbs::below(verb).map(|inner| format!("  {inner}")).collect();
    format!(
        "Available Commands:\n{}\n\nUsage:\n  kubectl {verb} COMMAND [options]",
        below.join("\n")
    )
}

/// Reads a line, with or without `kubectl` or `k` before it.
pub fn parse(line: &str) -> Result<Command, UsageError> {
    let mut words = split(line)?;
    if matches!(words.first().map(String::as_str), Some("kubectl" | "k")) {
        words.remove(0);
    }
    let (name, list) = match verb(&mut words)? {
        Some(found) => found,
        None => return Ok(Command::Help),
    };
    if NOT_HERE.contains(&name) {
        return Ok(Command::NotHere(name.into()));
    }
    let flags = Flags::parse(name, list, &words)?;
    let has_verbs = verbs::below(name).next().is_some();
    if has_verbs && flags.words.is_empty() && (name != "create" || flags.has("help")) {
        return Ok(Command::HelpFor(name.into()));
    }
    if flags.has("help") {
        return Ok(Command::Help);
    }
    command(name, &flags)
}

/// Where the verb stands: flags that every verb knows may come before it.
pub(super) fn verb_position(words: &[String]) -> Option<usize> {
    first_word(words, "@pick @file @show")
}

/// Takes the verb, and the verb below it, out of the words.
fn verb(words: &mut Vec<String>) -> Result<Option<(&'static str, &'static str)>, UsageError> {
    let Some(at) = verb_position(words) else {
        return Ok(None);
    };
    let word = words.remove(at);
    let Some(mut found) = verbs::find(&word) else {
        let near = nearest(&word, verbs::below(""));
        return Err(UsageError {
            message: format!("unknown command {word:?} for \"kubectl\""),
            suggestion: near.map(str::to_string),
        });
    };
    while verbs::below(found.0).next().is_some() {
        let Some(at) = first_word(words, found.1) else { break };
        let Some(word) = words.get(at) else { break };
        let Some(inner) = verbs::find(&format!("{} {word}", found.0)) else {
            let near = nearest(word, verbs::below(found.0));
            let rest: Vec<&str> = words.iter().map(String::as_str).collect();
            return Err(UsageError {
                message: format!(
                    "unknown command {:?}\nSee 'kubectl {} -h' for help and examples",
                    rest.join(" "),
                    found.0
                ),
                suggestion: near.map(str::to_string),
            });
        };
        words.remove(at);
        found = inner;
    }
    Ok(Some(found))
}

/// Where the first word stands that is neither a flag nor a flag's value.
pub(super) fn first_word(words: &[String], list: &'static str) -> Option<usize> {
    let specs = specs(list);
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if !word.starts_with('-') || word.len() == 1 {
            return Some(at);
        }
        let spec = specs.iter().find(|spec| spec.is(word));
        at += if spec.is_some_and(|spec| spec.takes_value()) { 2 } else { 1 };
    }
    None
}

fn command(verb: &str, flags: &Flags) -> Result<Command, UsageError> {
    if let Some(what) = verb.strip_prefix("rollout ") {
        return rollout(what, flags);
    }
    if let Some(what) = verb.strip_prefix("set ") {
        return set::set(what, flags);
    }
    if let Some(what) = verb.strip_prefix("create ") {
        return generate::create(what, flags);
    }
    Ok(match verb {
        "get" => Command::Get(select(flags, &flags.words, Naming::AtWill)?, view(flags)?),
        "describe" => Command::Describe(select(flags, &flags.words, Naming::AtWill)?),
        "delete" => delete(flags)?,
        "apply" if flags.words.first().is_some_and(|word| word == "set-last-applied") => {
            let mut rest = flags.clone();
            rest.words.remove(0);
            Command::SetLastApplied(from_text(&rest)?)
        }
        "apply" => Command::Apply(from_text(flags)?),
        "replace" => Command::Replace(from_text(flags)?),
        "diff" => Command::Diff(from_text(flags)?),
        "create" => create(flags)?,
        "edit" => Command::Edit(select(flags, &flags.words, Naming::Needed)?),
        "run" => generate::run(flags)?,
        "expose" => generate::expose(flags)?,
        "autoscale" => generate::autoscale(flags)?,
        "scale" => scale(flags)?,
        "patch" => patch(flags)?,
        "label" => label(flags, false)?,
        "annotate" => label(flags, true)?,
        "cordon" => Command::Cordon(nodes(flags, &flags.words, verb)?, true, shown(flags)?),
        "uncordon" => Command::Cordon(nodes(flags, &flags.words, verb)?, false, shown(flags)?),
        "drain" => drain(flags)?,
        "taint" => taint(flags)?,
        "top node" => top(flags, true)?,
        "top pod" => top(flags, false)?,
        "wait" => wait(flags)?,
        "logs" => logs(flags)?,
        "events" => events(flags)?,
        "explain" => match flags.words.as_slice() {
            [path] => Command::Explain(path.clone(), flags.has("recursive")),
            _ => {
                let message = "You must specify the type of resource to explain. Use \"kubectl \
                               api-resources\" for a complete list of supported resources.";
                return Err(UsageError::plain(message));
            }
        },
        "api-resources" => resources(flags)?,
        "api-versions" => Command::ApiVersions,
        "version" => Command::Version,
        "help" | "options" => Command::Help,
        other => Command::HelpFor(other.into()),
    })
}

fn resources(flags: &Flags) -> Result<Command, UsageError> {
    let output = flags.value("output");
    if let Some(other) = output.filter(|output| !matches!(*output, "" | "name" | "wide")) {
        return Err(UsageError::plain(format!("--output {other} is not available")));
    }
    let sort_by = flags.value("sort-by").filter(|field| !field.is_empty());
    if sort_by.is_some_and(|field| !matches!(field, "name" | "kind")) {
        return Err(UsageError::plain("--sort-by accepts only name or kind"));
    }
    Ok(Command::ApiResources(Resources {
        namespaced: flags.value("namespaced").map(|_| flags.has("namespaced")),
        group: flags.value("api-group").map(str::to_string),
        name_only: output == Some("name"),
        wide: output == Some("wide"),
        no_headers: flags.has("no-headers"),
        sort_by: sort_by.map(str::to_string),
    }))
}

#[cfg(test)]
mod tests;
