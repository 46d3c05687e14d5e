//! The console lines that clicks stand for.

use crate::api::ObjectKey;
use crate::view::LoopId;

use super::super::words::loop_name;

fn kubectl(rest: &str, key: &ObjectKey) -> String {
    let kind = key.kind.info();
    let word = kind.short.first().copied().filter(|_| kind.kind != "Pod");
    let word = word.map_or_else(|| kind.kind.to_ascii_lowercase(), str::to_owned);
    let namespace = match &*key.namespace {
        "" | "default" => String::new(),
        other => format!(" -n {other}"),
    };
    match rest.split_once(' ') {
        Some((verb, options)) => format!("kubectl {verb} {word} {}{namespace} {options}", key.name),
        None => format!("kubectl {rest} {word} {}{namespace}", key.name),
    }
}

/// Deletes a pod, with its grace period.
pub fn delete_pod(key: &ObjectKey) -> String {
    kubectl("delete", key)
}

/// Deletes a pod at once.
pub fn force_delete(key: &ObjectKey) -> String {
    kubectl("delete --grace-period=0 --force", key)
}

/// Deletes any object.
pub fn delete(key: &ObjectKey) -> String {
    kubectl("delete", key)
}

/// Shows an object in words.
pub fn describe(key: &ObjectKey) -> String {
    kubectl("describe", key)
}

/// Shows an object as YAML.
pub fn yaml(key: &ObjectKey) -> String {
    kubectl("get -o yaml", key)
}

/// Changes `spec.replicas`.
pub fn scale(key: &ObjectKey, replicas: i64) -> String {
    kubectl(&format!("scale --replicas={replicas}"), key)
}

/// A pod's Events.
pub fn events(key: &ObjectKey) -> String {
    match &*key.namespace {
        "" | "default" => format!("kubectl events --for pod/{}", key.name),
        namespace => format!("kubectl events --for pod/{} -n {namespace}", key.name),
    }
}

/// What a pod's container has written.
pub fn logs(key: &ObjectKey) -> String {
    match &*key.namespace {
        "" | "default" => format!("kubectl logs {}", key.name),
        namespace => format!("kubectl logs {} -n {namespace}", key.name),
    }
}

/// `cordon`, `uncordon` or `drain` a node.
pub fn schedule(verb: &str, node: &str) -> String {
    match verb {
        "drain" => format!("kubectl drain {node} --ignore-daemonsets --force"),
        verb => format!("kubectl {verb} {node}"),
    }
}

/// Does something to a pod's container: `crash`, `oomKill`, `unready`, `ready`.
pub fn container(key: &ObjectKey, what: &str) -> String {
    match &*key.namespace {
        "" | "default" => format!("fault container {} {what}", key.name),
        namespace => format!("fault container {namespace}/{} {what}", key.name),
    }
}

/// Does something to a loop's process: `kill`, `restart`, `resync`.
pub fn process(what: &str, id: LoopId) -> String {
    format!("fault {what} {}", loop_name(id))
}

/// Lets the next pass die at a point.
pub fn crash(id: LoopId, point: &str) -> String {
    format!("fault crash {} point={point}", loop_name(id))
}

/// Strikes the next watch event on its way to a loop.
pub fn strike(how: &str, id: LoopId, event: &str, on_wire: bool) -> String {
    let mut line = format!("fault {how} to={}", loop_name(id));
    if !event.is_empty() {
        line = format!("{line} type={event}");
    }
    line = format!("{line} count=1");
    if how == "delay" {
        line = format!("{line} by=5s");
    }
    // A place of its own has only what is lost, late, doubled or held.
    if on_wire && how != "reorder" {
        line = format!("{line} at=wire");
    }
    line
}

/// Turns a node off or on, cuts it off or connects it.
pub fn node(name: &str, what: &str) -> String {
    format!("fault node {name} {what}")
}
