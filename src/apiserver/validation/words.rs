//! Fields that know only certain words, looked at before a value becomes a typed object, which
//! could not hold any other word.

use serde_json::json;

use crate::api::{FieldError, Kind, Value};

use super::errors::Errors;

const RESTART: &[&str] = &["Always", "OnFailure", "Never"];
const EFFECTS: &[&str] = &["NoSchedule", "PreferNoSchedule", "NoExecute"];

/// The words that Kubernetes does not know, as field errors. Empty words, which mean the default,
/// are taken out of `value`.
pub fn validate_words(kind: Kind, value: &mut Value) -> Vec<String> {
    let mut errors = Errors::default();
    match kind {
        Kind::Pod => pod_spec(value.get_mut("spec"), "spec", &mut errors),
        Kind::ReplicaSet => {
            selector(value, &mut errors);
            template(value, &mut errors);
        }
        Kind::Deployment => {
            selector(value, &mut errors);
            template(value, &mut errors);
            strategy(value.pointer_mut("/spec/strategy"), &mut errors);
        }
        Kind::Node => {
            for (path, taint) in items(value.pointer_mut("/spec/taints"), "spec.taints") {
                word(Some(taint), "effect", &path, EFFECTS, &mut errors);
            }
        }
        Kind::Event => word(Some(value), "type", "", &["Normal", "Warning"], &mut errors),
        _ => {}
    }
    errors.into_words()
}

/// A selector that is there and selects everything; typed, it is like one that is not there. (Of a
/// ReplicaSet Kubernetes says the same, and means it.)
fn selector(value: &Value, errors: &mut Errors) {
    let Some(selector) = value.pointer("/spec/selector").and_then(Value::as_object) else {
        return;
    };
    let is_empty = |part: &Value| {
        part.is_null()
            || part.as_object().is_some_and(|labels| labels.is_empty())
            || part.as_array().is_some_and(|rules| rules.is_empty())
    };
    if selector.values().all(is_empty) {
        let detail = "empty selector is invalid for deployment";
        errors.invalid("spec.selector", json!({}), detail);
    }
}

/// `ValidateDeploymentStrategy` names the whole strategy, in the words of the server's own type.
fn strategy(strategy: Option<&mut Value>, errors: &mut Errors) {
    let Some(strategy) = strategy else { return };
    let known = ["Recreate", "RollingUpdate"];
    match strategy.get("type").and_then(Value::as_str) {
        Some(other) if !other.is_empty() && !known.contains(&other) => {
            let rolling = strategy.get("rollingUpdate").filter(|rolling| rolling.is_object());
            let rolling = rolling.map(|rolling| {
                let field = |name: &str| rolling.get(name).cloned().unwrap_or(0.into());
                json!({"MaxUnavailable": field("maxUnavailable"), "MaxSurge": field("maxSurge")})
            });
            let value = json!({"Type": other, "RollingUpdate": rolling});
            errors.extend([FieldError::not_supported("spec.strategy", value, &known)]);
        }
        _ => word(Some(strategy), "type", "spec.strategy", &known, errors),
    }
}

fn template(value: &mut Value, errors: &mut Errors) {
    let spec = value.pointer_mut("/spec/template/spec");
    pod_spec(spec, "spec.template.spec", errors);
}

fn pod_spec(spec: Option<&mut Value>, path: &str, errors: &mut Errors) {
    let Some(spec) = spec else { return };
    for list in ["initContainers", "containers"] {
        let at = format!("{path}.{list}");
        for (path, container) in items(spec.get_mut(list), &at) {
            word(Some(container), "restartPolicy", &path, RESTART, errors);
        }
    }
    let at = format!("{path}.tolerations");
    for (path, toleration) in items(spec.get_mut("tolerations"), &at) {
        word(Some(toleration), "effect", &path, EFFECTS, errors);
    }
    word(Some(spec), "restartPolicy", path, RESTART, errors);
}

fn items<'v>(list: Option<&'v mut Value>, path: &str) -> Vec<(String, &'v mut Value)> {
    let Some(Value::Array(items)) = list else {
        return Vec::new();
    };
    let numbered = items.iter_mut().enumerate();
    numbered.map(|(index, item)| (format!("{path}[{index}]"), item)).collect()
}

fn word(owner: Option<&mut Value>, field: &str, path: &str, known: &[&str], errors: &mut Errors) {
    let Some(object) = owner.and_then(Value::as_object_mut) else {
        return;
    };
    let path = if path.is_empty() { field.into() } else { format!("{path}.{field}") };
    match object.get(field).and_then(Value::as_str) {
        Some("") => {
            object.remove(field);
        }
        Some(word) => errors.one_of(&path, word, known),
        None => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_word_is_refused_and_an_empty_one_is_the_default() {
        let mut value = json!({"spec": {
            "strategy": {"type": "Rolling"},
            "template": {"spec": {
                "restartPolicy": "",
                "tolerations": [{"effect": "noexecute"}],
            }},
        }});
        let errors = validate_words(Kind::Deployment, &mut value);
        assert_eq!(
            errors,
            [
                "spec.template.spec.tolerations[0].effect: Unsupported value: \"noexecute\": \
                 supported values: \"NoSchedule\", \"PreferNoSchedule\", \"NoExecute\"",
                "spec.strategy: Unsupported value: \
                 {\"Type\":\"Rolling\",\"RollingUpdate\":null}: supported values: \
                 \"Recreate\", \"RollingUpdate\"",
            ]
        );
        assert_eq!(value.pointer("/spec/template/spec/restartPolicy"), None);
    }
}
