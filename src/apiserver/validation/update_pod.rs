//! What of a pod may change (`ValidatePodUpdate`): images, deadlines that come nearer, tolerations
//! to come, gates to go, and the node selector of a pod that gates hold. Left out: the node
//! affinity of such a pod.

use crate::api::{Pod, PodSpec, SharedList, Toleration, Value};

use super::errors::Errors;
use super::values::{items, text};

/// What is wrong with a pod in the place of another.
pub fn pod(old: &Pod, new: &Pod, errors: &mut Errors) {
    deadline(&old.spec, &new.spec, errors);
    tolerations(&old.spec.tolerations, &new.spec.tolerations, errors);
    let gated = gates(&old.spec, &new.spec, errors);
    if gated {
        node_selector(&old.spec, &new.spec, errors);
    }
    if bare(&old.spec, &new.spec, gated) != bare(&new.spec, &new.spec, gated) {
        errors.forbidden(
            "spec",
            "pod updates may not change fields other than `spec.containers[*].image`,\
             `spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only \
             additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to \
             be set to 1 if it was previously negative)",
        );
    }
}

fn deadline(old: &PodSpec, new: &PodSpec, errors: &mut Errors) {
    let seconds = |spec: &PodSpec| spec.rest.get("activeDeadlineSeconds").and_then(Value::as_i64);
    let path = "spec.activeDeadlineSeconds";
    match (seconds(old), seconds(new)) {
        (Some(old), Some(new)) if old < new => {
            errors.invalid(path, new, "must be less than or equal to previous value");
        }
        (Some(_), None) => {
            let detail = "must not update from a positive integer to nil value";
            errors.invalid(path, Value::Null, detail);
        }
        _ => {}
    }
}

/// Each that was there stays, but for how long it is borne.
fn tolerations(old: &[Toleration], new: &[Toleration], errors: &mut Errors) {
    let is_kept = |old: &Toleration| {
        let same = |new: &Toleration| {
            let toleration_seconds = new.toleration_seconds;
            Toleration { toleration_seconds, ..old.clone() } == *new
        };
        new.iter().any(same)
    };
    if !old.iter().all(is_kept) {
        let detail = "existing toleration can not be modified except its tolerationSeconds";
        errors.forbidden("spec.tolerations", detail);
    }
}

fn gates_of(spec: &PodSpec) -> impl Iterator<Item = (usize, &Value)> {
    items(spec.rest.get("schedulingGates"))
}

/// Gates only go. Whether there were any.
fn gates(old: &PodSpec, new: &PodSpec, errors: &mut Errors) -> bool {
    let known: Vec<&str> = gates_of(old).map(|(_, gate)| text(gate, "name")).collect();
    for (index, gate) in gates_of(new) {
        let name = text(gate, "name");
        if !known.contains(&name) {
            let detail =
                format!("only deletion is allowed, but found new scheduling gate '{name}'");
            errors.forbidden(&format!("spec.schedulingGates[{index}]"), &detail);
        }
    }
    !known.is_empty()
}

fn node_selector(old: &PodSpec, new: &PodSpec, errors: &mut Errors) {
    let (old, new) = (&old.node_selector, &new.node_selector);
    if !old.iter().all(|(label, value)| new.get(label) == Some(value)) {
        let detail = "only additions are allowed (no mutations or deletions)";
        errors.invalid("spec.nodeSelector", new, detail);
    }
}

/// The spec with the fields that may change taken from `other`, or taken out.
fn bare(spec: &PodSpec, other: &PodSpec, gated: bool) -> PodSpec {
    let mut bare = spec.clone();
    let lists = [
        (&mut bare.containers, &other.containers),
        (&mut bare.init_containers, &other.init_containers),
    ];
    for (containers, others) in lists {
        for (container, other) in containers.iter_mut().zip(others) {
            container.image = other.image.clone();
        }
    }
    bare.tolerations = SharedList::new();
    bare.rest.remove("activeDeadlineSeconds");
    bare.rest.remove("schedulingGates");
    if gated {
        bare.node_selector = other.node_selector.clone();
    }
    let grace = |spec: &PodSpec| spec.termination_grace_period_seconds;
    if grace(spec).is_some_and(|seconds| seconds < 0) && grace(other) == Some(1) {
        bare.termination_grace_period_seconds = Some(1);
    }
    bare
}

#[cfg(test)]
mod tests {
    use super::super::validate_update;
    use crate::api::{Kind, Object, Value};
    use serde_json::json;

    /// What is said of a pod whose spec has more, in the place of one with other.
    fn said(old: Value, new: Value) -> Vec<String> {
        let pod = |more: Value| {
            let mut spec = json!({"containers": [{"name": "a", "image": "a:1"}],
                "restartPolicy": "Always"});
            spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let value = json!({"metadata": {"name": "a", "namespace": "default"}, "spec": spec});
            Object::from_value(Kind::Pod, value).unwrap()
        };
        validate_update(&pod(old), &pod(new))
    }

    #[test]
    fn a_toleration_may_be_added_or_borne_for_another_time_but_not_changed() {
        let list = |effect: &str, seconds: Value| {
            json!({"tolerations": [{"key": "a", "operator": "Exists", "effect": effect,
                "tolerationSeconds": seconds}]})
        };
        let five = list("NoExecute", json!(5));
        for seconds in [json!(50), Value::Null] {
            assert_eq!(said(five.clone(), list("NoExecute", seconds)), [""; 0]);
        }
        let mut more = five.clone();
        let added = json!({"key": "b", "operator": "Exists"});
        more["tolerations"].as_array_mut().unwrap().insert(0, added);
        assert_eq!(said(five.clone(), more.clone()), [""; 0]);
        let words = "spec.tolerations: Forbidden: existing toleration can not be modified except \
                     its tolerationSeconds";
        assert_eq!(said(more, five.clone()), [words]);
        let other = list("NoSchedule", Value::Null);
        assert_eq!(said(five, other.clone()), [words]);
        let found = said(other, list("NoSchedule", json!(5)));
        assert!(found[0].contains("effect must be 'NoExecute'"), "{found:?}");
    }

    #[test]
    fn a_gate_may_go_and_none_may_come() {
        let gates = |names: &[&str]| {
            let gates: Vec<Value> = names.iter().map(|name| json!({"name": name})).collect();
            json!({"schedulingGates": gates})
        };
        assert_eq!(said(gates(&["a", "b"]), gates(&["b"])), [""; 0]);
        assert_eq!(said(gates(&["a"]), json!({})), [""; 0]);
        let words = "spec.schedulingGates[0]: Forbidden: only deletion is allowed, but found new \
                     scheduling gate 'c'";
        assert_eq!(said(gates(&["a"]), gates(&["c"])), [words]);
    }

    #[test]
    fn the_node_selector_of_a_gated_pod_may_grow() {
        let pod = |gated: bool, labels: Value| {
            let gates = if gated { json!([{"name": "a"}]) } else { json!([]) };
            json!({"schedulingGates": gates, "nodeSelector": labels})
        };
        let (one, two) = (json!({"zone": "a"}), json!({"zone": "a", "disk": "ssd"}));
        assert_eq!(said(pod(true, one.clone()), pod(true, two.clone())), [""; 0]);
        let found = said(pod(true, two.clone()), pod(true, one.clone()));
        assert!(found[0].contains("only additions are allowed"), "{found:?}");
        let found = said(pod(false, one), pod(false, two));
        assert!(found[0].starts_with("spec: Forbidden: pod updates may not"), "{found:?}");
    }

    #[test]
    fn a_deadline_may_only_come_nearer() {
        let deadline = |seconds: Value| json!({"activeDeadlineSeconds": seconds});
        assert_eq!(said(json!({}), deadline(json!(9))), [""; 0]);
        assert_eq!(said(deadline(json!(9)), deadline(json!(8))), [""; 0]);
        let found = said(deadline(json!(8)), deadline(json!(9)));
        assert!(found[0].ends_with("must be less than or equal to previous value"), "{found:?}");
        assert!(said(deadline(json!(8)), json!({}))[0].contains("nil value"));
    }
}
