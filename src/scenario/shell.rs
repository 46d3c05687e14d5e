//! One console line, done to one lane: a kubectl line, a fault, a push or a load.

use std::sync::Arc;

use crate::api::{Kind, Object, ObjectKey, Str, Timestamp};
use crate::apiserver::{Request, Response};
use crate::kubectl::{self, Api, Output};
use crate::world::{Fault, Lane, World};

use super::{load, repository};

/// Does a line to a lane, and says what it answers.
pub fn perform(lane: &mut Lane, line: &str, stdin: Option<&str>) -> Output {
    let line = line.trim();
    if line == "fault" || line.starts_with("fault ") {
        return match Fault::parse_line(line) {
            Ok(fault) => inflict(&mut lane.world, fault),
            Err(error) => Output { text: format!("error: {error}\n"), error: true },
        };
    }
    let said = match line.split_whitespace().next() {
        Some("git") => Some(repository::perform(&mut lane.world, line, stdin)),
        Some("load") => Some(load::perform(&mut lane.world, line)),
        _ => None,
    };
    match said {
        Some(Ok(text)) => return Output { text, error: false },
        Some(Err(error)) => return Output { text: format!("error: {error}\n"), error: true },
        None => {}
    }
    kubectl::run(line, stdin, &mut Shell(&mut lane.world))
}

fn inflict(world: &mut World, fault: Fault) -> Output {
    let refuse = |text: String| Output { text: format!("error: {text}\n"), error: true };
    let fault = match fault {
        Fault::Container(pod, trouble) => match find_pod(world, &pod) {
            Some(key) => {
                let name = format!("{}/{}", key.namespace, key.name);
                Fault::Container(name.into(), trouble)
            }
            None => return refuse(format!("pods {pod:?} not found")),
        },
        Fault::Power(node, _) | Fault::Network(node, _) if world.node_number(&node).is_none() => {
            return refuse(format!("nodes {node:?} not found"));
        }
        fault => fault,
    };
    world.inflict(&fault);
    Output { text: format!("{fault}\n"), error: false }
}

/// The pod that `name`, `namespace/name` or `$(selector)[n]` names.
fn find_pod(world: &World, text: &str) -> Option<ObjectKey> {
    if let Some(rest) = text.strip_prefix("$(") {
        let (selector, index) = rest.split_once(')')?;
        let index: usize = match index {
            "" => 0,
            index => index.strip_prefix('[')?.strip_suffix(']')?.parse().ok()?,
        };
        let selector = crate::api::selector::Selector::parse(selector).ok()?;
        let pods = world.store().list(Kind::Pod);
        let chosen = pods.filter(|pod| selector.matches(&pod.meta().labels)).nth(index)?;
        return Some(chosen.key());
    }
    let (namespace, name) = text.split_once('/').unwrap_or(("default", text));
    let key = ObjectKey::new(Kind::Pod, namespace, name);
    world.store().get(&key).map(|pod| pod.key())
}

/// kubectl's view of a world.
struct Shell<'a>(&'a mut World);

impl Api for Shell<'_> {
    fn get(&self, key: &ObjectKey) -> Option<Arc<Object>> {
        self.0.store().get(key).cloned()
    }

    fn list(&self, kind: Kind, namespace: Option<&str>) -> Vec<Arc<Object>> {
        let inside =
            |object: &&Arc<Object>| namespace.is_none_or(|name| *object.meta().namespace == *name);
        self.0.store().list(kind).filter(inside).cloned().collect()
    }

    fn request(&mut self, request: Request) -> Response {
        self.0.request(&request)
    }

    fn now(&self) -> Timestamp {
        Timestamp::from(self.0.now())
    }

    fn logs(&self, pod: &ObjectKey, container: &Str) -> Option<Vec<String>> {
        let kubelets = self.0.kubelets();
        kubelets.iter().find_map(|kubelet| kubelet.logs(pod, Some(container), false).ok())
    }
}
