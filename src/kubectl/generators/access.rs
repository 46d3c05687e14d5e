//! Roles and their bindings. They are kept; nothing here asks for permission.

use serde_json::json;

use super::Named;
use crate::api::{Kind, Value};
use crate::kubectl::errors::UsageError;
use crate::kubectl::resources::resource;

const GROUP: &str = "rbac.authorization.k8s.io";

/// `create role` and `create clusterrole`: one rule for the resources of each group.
pub fn role(named: &Named<'_>) -> Result<Value, UsageError> {
    let verbs = named.list("verb");
    if verbs.is_empty() {
        return Err(UsageError::plain("at least one verb must be specified"));
    }
    let words = named.list("resource");
    if words.is_empty() {
        return Err(UsageError::plain("at least one resource must be specified"));
    }
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for word in words {
        let (kind, part) = word.split_once('/').unwrap_or((word, ""));
        let Some(kind) = Kind::of_argument(kind) else {
            let message = format!("the server doesn't have a resource type {kind:?}");
            return Err(UsageError::plain(message));
        };
        let full = resource(kind);
        let (plural, group) = full.split_once('.').unwrap_or((&full, ""));
        let name = if part.is_empty() { plural.to_string() } else { format!("{plural}/{part}") };
        match groups.iter_mut().find(|(found, _)| found == group) {
            Some((_, names)) => names.push(name),
            None => groups.push((group.into(), vec![name])),
        }
    }
    let names = named.list("resource-name");
    let rule = |(group, resources): &(String, Vec<String>)| {
        let mut rule = json!({"apiGroups": [group], "resources": resources, "verbs": verbs});
        if !names.is_empty() {
            rule["resourceNames"] = json!(names);
        }
        rule
    };
    let rules: Vec<Value> = groups.iter().map(rule).collect();
    Ok(json!({"metadata": named.metadata(), "rules": rules}))
}

/// `create rolebinding` and `create clusterrolebinding`.
pub fn binding(named: &Named<'_>) -> Result<Value, UsageError> {
    let role = named.flags.value("role");
    let cluster_role = named.flags.value("clusterrole");
    let (kind, name) = match (role, cluster_role) {
        (Some(role), None) => ("Role", role),
        (None, Some(role)) => ("ClusterRole", role),
        _ => {
            let message = "exactly one of clusterrole or role must be specified";
            return Err(UsageError::plain(message));
        }
    };
    let mut subjects = Vec::new();
    for (flag, kind) in [("user", "User"), ("group", "Group")] {
        for name in named.list(flag) {
            subjects.push(json!({"apiGroup": GROUP, "kind": kind, "name": name}));
        }
    }
    for account in named.list("serviceaccount") {
        let Some((namespace, name)) = account.split_once(':') else {
            let message = "serviceaccount must be <namespace>:<name>";
            return Err(UsageError::plain(message));
        };
        let subject = json!({"kind": "ServiceAccount", "name": name, "namespace": namespace});
        subjects.push(subject);
    }
    let mut binding = json!({
        "metadata": named.metadata(),
        "roleRef": {"apiGroup": GROUP, "kind": kind, "name": name},
    });
    if !subjects.is_empty() {
        binding["subjects"] = json!(subjects);
    }
    Ok(binding)
}
