//! `kubectl logs`.

use crate::api::{Object, ObjectKey, Pod, Str};

use super::command::Logs;
use super::resources::find;
use super::{Api, Output};

/// Prints what containers wrote.
pub fn run(logs: &Logs, api: &dyn Api, out: &mut Output) {
    let mut any = false;
    for found in find(&logs.select, api) {
        if let Some(missing) = found.missing {
            return out.fail(missing);
        }
        for object in found.objects {
            any = true;
            match &*object {
                Object::Pod(pod) => of_pod(pod, &object.key(), logs, api, out),
                _ => match pod_of(&object, api) {
                    Some(pod) => {
                        if let Object::Pod(inner) = &*pod {
                            of_pod(inner, &pod.key(), logs, api, out);
                        }
                    }
                    None => out.fail("error: timed out waiting for the condition"),
                },
            }
        }
    }
    if !any {
        out.line("No resources found in default namespace.");
    }
}

/// The first pod of a Deployment or ReplicaSet.
fn pod_of(object: &Object, api: &dyn Api) -> Option<std::sync::Arc<Object>> {
    let selector = match object {
        Object::Deployment(deployment) => &deployment.spec.selector,
        Object::ReplicaSet(set) => &set.spec.selector,
        _ => return None,
    };
    let pods = api.list(crate::api::Kind::Pod, Some(&object.meta().namespace));
    pods.into_iter().find(|pod| selector.matches(&pod.meta().labels))
}

fn of_pod(pod: &Pod, key: &ObjectKey, logs: &Logs, api: &dyn Api, out: &mut Output) {
    let all = pod.spec.init_containers.iter().chain(&pod.spec.containers);
    let names: Vec<Str> = match &logs.container {
        Some(name) => {
            if !all.clone().any(|container| container.name == *name) {
                return out
                    .fail(format!("error: container {name} is not valid for pod {}", key.name));
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
    for name in names {
        container(key, &name, logs, api, out);
    }
}

fn container(key: &ObjectKey, name: &Str, logs: &Logs, api: &dyn Api, out: &mut Output) {
    let pod = &key.name;
    if logs.previous {
        return out.fail(format!(
            "Error from server (BadRequest): previous terminated container {name:?} in pod {pod:?} \
             not found"
        ));
    }
    let Some(lines) = api.logs(key, name) else {
        return out.fail(format!(
            "Error from server (BadRequest): container {name:?} in pod {pod:?} is waiting to \
             start: ContainerCreating"
        ));
    };
    let skip = logs.tail.map_or(0, |tail| lines.len().saturating_sub(tail));
    for line in lines.iter().skip(skip) {
        match logs.prefix {
            true => out.line(format!("[pod/{pod}/{name}] {line}")),
            false => out.line(line),
        }
    }
}
