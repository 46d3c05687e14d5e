//! Which pods a quota with scopes is about (`podMatchesScopeFunc`).

use serde::Deserialize;

use crate::api::{Generic, Object, Pod, Str, Value};

/// One requirement of a quota's scopes.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct Scope {
    /// Such as `Terminating`.
    pub scope_name: Str,
    /// In, NotIn, Exists or DoesNotExist.
    pub operator: Str,
    /// For In and NotIn.
    pub values: Vec<Str>,
}

/// The scopes of a quota, both ways of writing them.
pub fn scopes_of(quota: &Generic) -> Vec<Scope> {
    let plain = quota.field("spec/scopes").and_then(Value::as_array).into_iter().flatten();
    let plain = plain.filter_map(Value::as_str).map(|name| Scope {
        scope_name: name.into(),
        operator: "Exists".into(),
        values: Vec::new(),
    });
    let selected: Option<Vec<Scope>> = quota.typed("spec/scopeSelector/matchExpressions");
    plain.chain(selected.unwrap_or_default()).collect()
}

/// Whether an object is within all scopes. What is no pod is in none.
pub fn all_match(scopes: &[Scope], object: &Object) -> bool {
    scopes.iter().all(|scope| object.as_pod().is_some_and(|pod| matches(scope, pod)))
}

fn matches(scope: &Scope, pod: &Pod) -> bool {
    let deadline = pod.spec.rest.get("activeDeadlineSeconds").and_then(Value::as_i64);
    let ends = deadline.is_some_and(|seconds| seconds >= 0);
    match &*scope.scope_name {
        "Terminating" => ends,
        "NotTerminating" => !ends,
        "BestEffort" => is_best_effort(pod),
        "NotBestEffort" => !is_best_effort(pod),
        "PriorityClass" => priority_class(scope, pod),
        "CrossNamespacePodAffinity" => {
            pod.spec.rest.get("affinity").is_some_and(crosses_namespaces)
        }
        _ => false,
    }
}

fn priority_class(scope: &Scope, pod: &Pod) -> bool {
    let class = pod.spec.rest.get("priorityClassName").and_then(Value::as_str).unwrap_or("");
    let named = scope.values.iter().any(|value| **value == *class);
    match &*scope.operator {
        "Exists" => !class.is_empty(),
        "DoesNotExist" => class.is_empty(),
        "In" => named,
        "NotIn" => !named,
        _ => false,
    }
}

fn is_best_effort(pod: &Pod) -> bool {
    let mut containers = pod.spec.containers.iter().chain(&pod.spec.init_containers);
    containers.all(|c| c.resources.requests.is_empty() && c.resources.limits.is_empty())
}

/// Whether some term of an affinity looks into other namespaces.
fn crosses_namespaces(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.iter().any(|(name, value)| match name.as_str() {
            "namespaces" => value.as_array().is_some_and(|list| !list.is_empty()),
            "namespaceSelector" => !value.is_null(),
            _ => crosses_namespaces(value),
        }),
        Value::Array(items) => items.iter().any(crosses_namespaces),
        _ => false,
    }
}
