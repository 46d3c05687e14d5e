//! `kubectl drain` (kubectl `pkg/drain`): keeps new pods from a node and sends its pods away. Pods
//! leave by themselves afterwards: no time passes while a line runs, so nothing is waited for.

use std::sync::Arc;

use crate::api::{Kind, Object, Pod, PodPhase};
use crate::apiserver::{ApiError, DeleteOptions, Preconditions, Request};

use super::command::{Drain, DryRun, Select};
use super::errors::refused;
use super::resources::{find, nothing_found, printed};
use super::{Api, Output, nodes};

/// What becomes of a pod.
enum Fate {
    /// It goes; with a warning, perhaps.
    Goes(Option<&'static str>),
    /// It stays; with a warning, perhaps.
    Stays(Option<&'static str>),
    /// It keeps the node from being drained.
    Blocks(&'static str),
}

const DAEMON_SET: &str = "cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore)";
const DAEMON_SET_IGNORED: &str = "ignoring DaemonSet-managed Pods";
const LOCAL_STORAGE: &str =
    "cannot delete Pods with local storage (use --delete-emptydir-data to override)";
const LOCAL_STORAGE_DELETED: &str = "deleting Pods with local storage";
// kubectl says the first words twice.
const NO_CONTROLLER: &str =
    "cannot delete cannot delete Pods that declare no controller (use --force to override)";
const NO_CONTROLLER_DELETED: &str = "deleting Pods that declare no controller";

/// Drains the nodes that a line names.
pub fn run(select: &Select, options: &Drain, api: &mut dyn Api, out: &mut Output) {
    let mut nodes = Vec::new();
    for found in find(select, api) {
        if let Some(missing) = found.missing {
            return out.fail(missing);
        }
        nodes.extend(found.objects);
    }
    if nodes.is_empty() {
        return nothing_found(select, out);
    }
    for node in &nodes {
        if let Err(error) = nodes::one(node, true, options.dry_run, api, out) {
            out.fail(error);
        }
    }
    let mut failures = Vec::new();
    let mut pending = Vec::new();
    for node in &nodes {
        match drain(node, options, api, out) {
            Ok(()) => out.line(format!("{} drained{}", printed(node), options.dry_run.suffix())),
            Err(errors) => {
                let name = &node.meta().name;
                let list = match errors.as_slice() {
                    [one] => one.clone(),
                    many => format!("[{}]", many.join(", ")),
                };
                out.fail(format!(
                    "error: unable to drain node {:?} due to error: {list}, continuing command...",
                    &**name
                ));
                pending.push(name.clone());
                failures.extend(errors);
            }
        }
    }
    if !pending.is_empty() {
        out.line("There are pending nodes to be drained:");
        pending.iter().for_each(|name| out.line(format!(" {name}")));
        failures.into_iter().for_each(|error| out.fail(error));
    }
}

fn drain(
    node: &Object,
    options: &Drain,
    api: &mut dyn Api,
    out: &mut Output,
) -> Result<(), Vec<String>> {
    let on_node = |object: &Arc<Object>| {
        object.as_pod().is_some_and(|pod| {
            pod.spec.node_name.as_deref() == Some(&*node.meta().name)
                && options.pod_selector.as_ref().is_none_or(|s| s.matches(&pod.metadata.labels))
        })
    };
    let pods: Vec<Arc<Object>> = api.list(Kind::Pod, None).into_iter().filter(on_node).collect();
    let mut going = Vec::new();
    let mut warnings: Vec<(&str, Vec<String>)> = Vec::new();
    let mut errors: Vec<(&str, Vec<String>)> = Vec::new();
    for object in &pods {
        let Some(pod) = object.as_pod() else { continue };
        let name = format!("{}/{}", pod.metadata.namespace, pod.metadata.name);
        match fate(pod, options, api) {
            Fate::Goes(warning) => {
                going.push(object);
                note(&mut warnings, warning, name);
            }
            Fate::Stays(warning) => note(&mut warnings, warning, name),
            Fate::Blocks(why) => note(&mut errors, Some(why), name),
        }
    }
    let lines = |list: Vec<(&str, Vec<String>)>| -> Vec<String> {
        list.into_iter().map(|(words, names)| format!("{words}: {}", names.join(", "))).collect()
    };
    if !errors.is_empty() {
        return Err(lines(errors));
    }
    let warnings = lines(warnings);
    if !warnings.is_empty() {
        out.line(format!("Warning: {}", warnings.join("; ")));
    }
    send_away(&going, options, api, out)
}

fn note<'w>(list: &mut Vec<(&'w str, Vec<String>)>, words: Option<&'w str>, name: String) {
    let Some(words) = words else { return };
    match list.iter_mut().find(|(known, _)| *known == words) {
        Some((_, names)) => names.push(name),
        None => list.push((words, vec![name])),
    }
}

/// The filters of kubectl in their order: each may keep a pod, let it go, or refuse.
fn fate(pod: &Pod, options: &Drain, api: &dyn Api) -> Fate {
    let meta = &pod.metadata;
    let finished = matches!(pod.phase(), PodPhase::Succeeded | PodPhase::Failed);
    let controller = meta.controller();
    if let Some(owner) = controller.filter(|owner| &*owner.kind == "DaemonSet") {
        let key =
            crate::api::ObjectKey::new(Kind::DaemonSet, meta.namespace.clone(), owner.name.clone());
        let orphan = api.get(&key).is_none();
        return match (orphan, options.force, options.ignore_daemon_sets) {
            _ if finished => Fate::Goes(None),
            (true, true, _) => Fate::Goes(Some(NO_CONTROLLER_DELETED)),
            (_, _, true) => Fate::Stays(Some(DAEMON_SET_IGNORED)),
            _ => Fate::Blocks(DAEMON_SET),
        };
    }
    if meta.annotations.contains_key("kubernetes.io/config.mirror") {
        return Fate::Stays(None);
    }
    let volumes = pod.spec.rest.get("volumes").and_then(|volumes| volumes.as_array());
    let local = volumes.into_iter().flatten().any(|volume| volume.get("emptyDir").is_some());
    if local && !finished && !options.delete_empty_dir_data {
        return Fate::Blocks(LOCAL_STORAGE);
    }
    match controller {
        None if !finished && !options.force => Fate::Blocks(NO_CONTROLLER),
        None if !finished => Fate::Goes(Some(NO_CONTROLLER_DELETED)),
        _ if local && !finished => Fate::Goes(Some(LOCAL_STORAGE_DELETED)),
        _ => Fate::Goes(None),
    }
}

fn send_away(
    pods: &[&Arc<Object>],
    options: &Drain,
    api: &mut dyn Api,
    out: &mut Output,
) -> Result<(), Vec<String>> {
    let mut errors = Vec::new();
    let (begins, ends) =
        if options.delete { ("deleting", "deleted") } else { ("evicting", "evicted") };
    for object in pods {
        let meta = object.meta();
        let suffix = options.dry_run.suffix();
        out.line(format!("{begins} pod {}/{}{suffix}", meta.namespace, meta.name));
        if options.dry_run == DryRun::No {
            if let Err(error) = evict(object, options, api) {
                errors.push(format!(
                    "error when {begins} pods/{:?} -n {:?}: {}",
                    &*meta.name,
                    &*meta.namespace,
                    refused(&error, None).trim_start_matches("Error from server ")
                ));
                continue;
            }
            out.line(format!("{} {ends}", printed(object)));
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// Asks for the eviction of this very pod, which a PodDisruptionBudget may refuse.
pub fn evict(
    pod: &Arc<Object>,
    options: &Drain,
    api: &mut dyn Api,
) -> Result<Arc<Object>, ApiError> {
    let asked = DeleteOptions {
        grace_period_seconds: options.grace_period,
        propagation: None,
        preconditions: Preconditions { uid: Some(pod.meta().uid.clone()), resource_version: None },
    };
    api.request(Request::Evict(pod.key(), asked))
}
