//! What a pod says of its rank (`k8s.io/component-helpers/scheduling/corev1`, `PodPriority`), and
//! of the node that it was promised. The admission of pods has put the number in.

use crate::api::{Pod, Str, Value};

/// Its priority; 0 when it says nothing.
pub fn priority_of(pod: &Pod) -> i64 {
    pod.spec.priority.unwrap_or(0)
}

/// Whether it may make other pods go.
pub fn may_preempt(pod: &Pod) -> bool {
    pod.spec.preemption_policy.as_deref() != Some("Never")
}

/// `status.nominatedNodeName`.
pub fn nominated_node(pod: &Pod) -> Option<Str> {
    let name = pod.status.rest.get(NOMINATED).and_then(Value::as_str)?;
    (!name.is_empty()).then(|| name.into())
}

/// The field of the status.
pub const NOMINATED: &str = "nominatedNodeName";

/// Writes the node that a pod is promised; none: takes the promise back.
pub fn nominate(pod: &mut Pod, node: Option<&Str>) {
    match node {
        Some(node) => pod.status.rest.insert(NOMINATED.into(), Value::String(node.to_string())),
        None => pod.status.rest.remove(NOMINATED),
    };
}
