//! Pod specs, alone and in templates (`ValidatePodSpec`).

use std::collections::BTreeSet;

use crate::api::{PodSpec, RestartPolicy, Taint, Toleration, Value, names, selector};

use super::errors::Errors;
use super::values::{items, text};
use super::{container, placement, sources};

/// A pod spec.
pub fn spec(spec: &PodSpec, path: &str, errors: &mut Errors) {
    let volumes = volumes(spec, &format!("{path}.volumes"), errors);
    container::containers(spec, path, &volumes, errors);
    if let Some(policy) = spec.rest.get("dnsPolicy").and_then(Value::as_str) {
        let known = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
        errors.one_of(&format!("{path}.dnsPolicy"), policy, &known);
    }
    if let Some(seconds) = spec.termination_grace_period_seconds {
        errors.non_negative(&format!("{path}.terminationGracePeriodSeconds"), seconds);
    }
    if let Some(seconds) = spec.rest.get("activeDeadlineSeconds").and_then(Value::as_i64) {
        let path = format!("{path}.activeDeadlineSeconds");
        errors.in_range(&path, seconds, 1, i64::from(i32::MAX));
    }
    let node_selector = format!("{path}.nodeSelector");
    errors.extend(selector::validate_labels(&spec.node_selector, &node_selector));
    if let Some(node) = &spec.node_name {
        let broken = names::dns1123_subdomain(node);
        errors.rules(&format!("{path}.nodeName"), node, broken);
    }
    tolerations(&spec.tolerations, &format!("{path}.tolerations"), errors);
    placement::placement(spec, path, errors);
    sources::sources(spec, path, errors);
}

/// The names of the volumes.
fn volumes(spec: &PodSpec, path: &str, errors: &mut Errors) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    for (index, volume) in items(spec.rest.get("volumes")) {
        let path = format!("{path}[{index}]");
        let name = text(volume, "name");
        let at = format!("{path}.name");
        if name.is_empty() {
            errors.required(&at, "");
        } else if !seen.insert(name.to_string()) {
            errors.duplicate(&at, name);
        } else {
            errors.rules(&at, name, names::dns1123_label(name));
        }
        let types = volume.as_object().map_or(0, |fields| fields.len());
        // A volume without a type is an emptyDir, by default.
        if types > 2 {
            errors.forbidden(&path, "may not specify more than 1 volume type");
        }
    }
    seen
}

fn tolerations(tolerations: &[Toleration], path: &str, errors: &mut Errors) {
    for (index, toleration) in tolerations.iter().enumerate() {
        let path = format!("{path}[{index}]");
        let key = toleration.key.as_deref().unwrap_or("");
        let operator = toleration.operator.as_deref().unwrap_or("");
        let value = toleration.value.as_deref().unwrap_or("");
        if !key.is_empty() {
            errors.rules(&format!("{path}.key"), key, names::qualified_name(key));
        } else if operator != "Exists" {
            let detail = "operator must be Exists when `key` is empty, which means \"match all \
                          values and all keys\"";
            errors.invalid(&format!("{path}.operator"), operator, detail);
        }
        let seconds = toleration.toleration_seconds.is_some();
        if seconds && toleration.effect != Some(crate::api::TaintEffect::NoExecute) {
            let effect = toleration.effect;
            let detail = "effect must be 'NoExecute' when `tolerationSeconds` is set";
            errors.invalid(&format!("{path}.effect"), effect, detail);
        }
        match operator {
            "Equal" | "" => {
                let at = format!("{path}.operator");
                errors.rules(&at, value, names::label_value(value));
            }
            "Exists" if !value.is_empty() => {
                let detail = "value must be empty when `operator` is 'Exists'";
                errors.invalid(&format!("{path}.operator"), &toleration.operator, detail);
            }
            "Exists" => {}
            _ => errors.one_of(&format!("{path}.operator"), operator, &["Equal", "Exists"]),
        }
    }
}

/// A node's taints (`validateNodeTaints`).
pub fn taints(taints: &[Taint], path: &str, errors: &mut Errors) {
    let mut seen = BTreeSet::new();
    for (index, taint) in taints.iter().enumerate() {
        let path = format!("{path}[{index}]");
        errors.rules(&format!("{path}.key"), &taint.key, names::qualified_name(&taint.key));
        let value = taint.value.as_deref().unwrap_or("");
        errors.rules(&format!("{path}.value"), value, names::label_value(value));
        if !seen.insert((taint.key.clone(), taint.effect)) {
            errors.duplicate(&path, &taint.key);
        }
    }
}

/// The restart policy of a template whose pods must always run.
pub fn always_restarts(spec: &PodSpec, path: &str, errors: &mut Errors) {
    let word = match spec.restart_policy {
        None | Some(RestartPolicy::Always) => return,
        Some(RestartPolicy::OnFailure) => "OnFailure",
        Some(RestartPolicy::Never) => "Never",
    };
    errors.one_of(&format!("{path}.restartPolicy"), word, &["Always"]);
}
