//! `kubectl logs`.

use std::sync::Arc;

use crate::api::{Kind, LabelSelector, Object, ObjectKey, Str};

use super::command::Logs;
use super::resources::{find, nothing_found};
use super::{Api, Output};

/// Prints what containers wrote.
pub fn run(logs: &Logs, api: &dyn Api, out: &mut Output) {
    let pods = pods_of(logs, api, out);
    for pod in &pods {
        let Ok(pod) = pod else { return };
        for name in containers_of(pod, logs, out) {
            container(&pod.key(), &name, logs, api, out);
        }
    }
    if logs.follow && !pods.is_empty() {
        out.line("# -f: these are the lines of this moment");
    }
}

/// The pods that a line means; an error is said, and ends it.
pub fn pods_of(logs: &Logs, api: &dyn Api, out: &mut Output) -> Vec<Result<Arc<Object>, ()>> {
    let mut pods = Vec::new();
    for found in find(&logs.select, api) {
        if let Some(missing) = found.missing {
            let namespace = logs.select.namespace.as_deref().unwrap_or("default");
            let missing = missing.replace("Error from", "error: error from");
            out.fail(format!("{missing} in namespace {namespace:?}"));
            pods.push(Err(()));
            return pods;
        }
        for object in found.objects {
            match &*object {
                Object::Pod(_) => pods.push(Ok(object)),
                _ => match pod_of(&object, api) {
                    Some(pod) => pods.push(Ok(pod)),
                    None => out.fail("error: timed out waiting for the condition"),
                },
            }
        }
    }
    if pods.is_empty() && !out.error {
        nothing_found(&logs.select, out);
    }
    pods
}

/// The first pod that a workload's or a Service's selector selects.
fn pod_of(object: &Object, api: &dyn Api) -> Option<Arc<Object>> {
    let value = object.to_value();
    let selector = value.pointer("/spec/selector")?;
    let of_labels = matches!(object.kind(), Kind::Service | Kind::ReplicationController);
    let selector: LabelSelector = match of_labels {
        true => serde_json::from_value(serde_json::json!({ "matchLabels": selector })).ok()?,
        false => serde_json::from_value(selector.clone()).ok()?,
    };
    let pods = api.list(Kind::Pod, Some(&object.meta().namespace));
    pods.into_iter().find(|pod| selector.matches(&pod.meta().labels))
}

/// The containers of a pod that a line means.
pub fn containers_of(pod: &Object, logs: &Logs, out: &mut Output) -> Vec<Str> {
    let Some(pod) = pod.as_pod() else { return Vec::new() };
    let all = pod.spec.init_containers.iter().chain(&pod.spec.containers);
    let names: Vec<Str> = match &logs.container {
        Some(name) => {
            if !all.clone().any(|container| container.name == *name) {
                let pod = &pod.metadata.name;
                out.fail(format!("error: container {name} is not valid for pod {pod}"));
                return Vec::new();
            }
            vec![name.clone()]
        }
        None if logs.all_containers => all.map(|container| container.name.clone()).collect(),
        None => pod.spec.containers.iter().take(1).map(|c| c.name.clone()).collect(),
    };
    if logs.container.is_none() && !logs.all_containers && pod.spec.containers.len() > 1 {
        let list: Vec<&str> = pod.spec.containers.iter().map(|c| &*c.name).collect();
        let first = list.first().copied().unwrap_or("");
        let list = list.join(", ");
        out.line(format!("Defaulted container {first:?} out of: {list}"));
    }
    names
}

fn container(key: &ObjectKey, name: &Str, logs: &Logs, api: &dyn Api, out: &mut Output) {
    let lines = match api.read_logs(key, name, logs.previous) {
        Ok(lines) => lines,
        Err(why) => return out.fail(format!("Error from server (BadRequest): {why}")),
    };
    let pod = &key.name;
    let skip = logs.tail.map_or(0, |tail| lines.len().saturating_sub(tail));
    let mut left = logs.limit_bytes.unwrap_or(usize::MAX);
    for line in lines.iter().skip(skip) {
        let mut end = line.len().min(left);
        while !line.is_char_boundary(end) {
            end -= 1;
        }
        left = left.saturating_sub(line.len() + 1);
        let line = line.get(..end).unwrap_or(line);
        match logs.prefix {
            true => out.line(format!("[pod/{pod}/{name}] {line}")),
            false => out.line(line),
        }
        if left == 0 {
            break;
        }
    }
}
