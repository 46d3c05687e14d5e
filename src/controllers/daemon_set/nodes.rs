//! Which nodes a daemon belongs to (`NodeShouldRunDaemonPod`), and which node a pod is for.

use serde_json::json;

use crate::api::{Node, Pod, PodSpec, Str, TaintEffect, Value};
use crate::controllers::scheduler::affinity::NodeAffinity;
use crate::controllers::taints::{is_tolerated, keeps_away};

/// Whether a pod of this spec shall run on a node, and whether one that runs there may go on.
pub fn should_run(spec: &PodSpec, node: &Node) -> (bool, bool) {
    let named = spec.node_name.as_ref().is_none_or(|name| *name == node.metadata.name);
    if !named || !NodeAffinity::of(spec).allows(node) {
        return (false, false);
    }
    let mut evicted = false;
    let mut kept_away = false;
    for taint in node.spec.taints.iter().filter(|taint| keeps_away(taint)) {
        if !is_tolerated(&spec.tolerations, taint) {
            kept_away = true;
            evicted |= taint.effect == TaintEffect::NoExecute;
        }
    }
    (!kept_away, !evicted)
}

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";

/// Binds a pod to a node by its affinity, whatever its template asked for: that the node fits was
/// looked at before (`ReplaceDaemonSetPodNodeNameNodeAffinity`).
pub fn aim_at(spec: &mut PodSpec, node: &str) {
    let field = json!({"key": "metadata.name", "operator": "In", "values": [node]});
    let terms = json!({"nodeSelectorTerms": [{"matchFields": [field]}]});
    let affinity = spec.rest.entry("affinity".into()).or_insert_with(|| json!({}));
    if !affinity.is_object() {
        *affinity = json!({});
    }
    if !affinity["nodeAffinity"].is_object() {
        affinity["nodeAffinity"] = json!({});
    }
    affinity["nodeAffinity"][REQUIRED] = terms;
}

/// The node that a pod is on, or is aimed at.
pub fn target(pod: &Pod) -> Option<Str> {
    if let Some(node) = &pod.spec.node_name {
        return Some(node.clone());
    }
    let required = pod.spec.rest.get("affinity")?.get("nodeAffinity")?.get(REQUIRED)?;
    let field = required.pointer("/nodeSelectorTerms/0/matchFields/0/values/0");
    field.and_then(Value::as_str).map(Str::from)
}
