//! Who may do what (`pkg/apis/rbac/validation/validation.go`): Role, ClusterRole, RoleBinding,
//! ClusterRoleBinding. Nobody is asked for permission here; the objects must be sound all the same.

use crate::api::{Generic, Kind, LabelSelector, Value, names};

use super::errors::Errors;
use super::meta::path_segment;
use super::values::{items, text};

/// The one group of roles, and of the users that bindings name.
pub const GROUP: &str = "rbac.authorization.k8s.io";

/// One of these kinds; `old` is what it takes the place of.
pub fn access(object: &Generic, old: Option<&Generic>, errors: &mut Errors) {
    let is_namespaced = matches!(object.kind, Kind::Role | Kind::RoleBinding);
    match object.kind {
        Kind::Role | Kind::ClusterRole => {
            for (index, rule) in items(object.rest.get("rules")) {
                policy_rule(rule, is_namespaced, &format!("rules[{index}]"), errors);
            }
            if object.kind == Kind::ClusterRole {
                aggregation(object, errors);
            }
        }
        _ => {
            binding(object, is_namespaced, errors);
            let (new, old) = (object.field("roleRef"), old.map(|old| old.field("roleRef")));
            if let Some(new) = new.filter(|_| old.is_some_and(|old| old != new)) {
                errors.invalid("roleRef", in_go(new), "cannot change roleRef");
            }
        }
    }
}

/// The fields as the server's own type calls them.
fn in_go(role: &Value) -> Value {
    serde_json::json!({
        "APIGroup": text(role, "apiGroup"), "Kind": text(role, "kind"), "Name": text(role, "name"),
    })
}

fn is_empty(rule: &Value, field: &str) -> bool {
    items(rule.get(field)).next().is_none()
}

/// `ValidatePolicyRule`.
fn policy_rule(rule: &Value, is_namespaced: bool, path: &str, errors: &mut Errors) {
    let at = |field: &str| format!("{path}.{field}");
    if is_empty(rule, "verbs") {
        errors.required(&at("verbs"), "verbs must contain at least one value");
    }
    if !is_empty(rule, "nonResourceURLs") {
        let (at, urls) = (at("nonResourceURLs"), &rule["nonResourceURLs"]);
        if is_namespaced {
            errors.invalid(&at, urls, "namespaced rules cannot apply to non-resource URLs");
        }
        let others = ["apiGroups", "resources", "resourceNames"];
        if others.iter().any(|field| !is_empty(rule, field)) {
            let detail = "rules cannot apply to both regular resources and non-resource URLs";
            errors.invalid(&at, urls, detail);
        }
        return;
    }
    if is_empty(rule, "apiGroups") {
        let detail = "resource rules must supply at least one api group";
        errors.required(&at("apiGroups"), detail);
    }
    if is_empty(rule, "resources") {
        let detail = "resource rules must supply at least one resource";
        errors.required(&at("resources"), detail);
    }
}

/// The rules of other roles that a ClusterRole takes over.
fn aggregation(role: &Generic, errors: &mut Errors) {
    let Some(rule) = role.field("aggregationRule") else { return };
    let path = "aggregationRule.clusterRoleSelectors";
    if is_empty(rule, "clusterRoleSelectors") {
        let detail = "at least one clusterRoleSelector required if aggregationRule is non-nil";
        errors.required(path, detail);
    }
    for (index, selector) in items(rule.get("clusterRoleSelectors")) {
        if let Ok(selector) = serde_json::from_value::<LabelSelector>(selector.clone()) {
            errors.extend(selector.validate(&format!("{path}[{index}]")));
        }
    }
}

/// `ValidateRoleBinding`, `ValidateClusterRoleBinding`.
fn binding(binding: &Generic, is_namespaced: bool, errors: &mut Errors) {
    let none = Value::Null;
    let role = binding.field("roleRef").unwrap_or(&none);
    errors.one_of("roleRef.apiGroup", text(role, "apiGroup"), &[GROUP]);
    let kinds: &[&str] = if is_namespaced { &["Role", "ClusterRole"] } else { &["ClusterRole"] };
    errors.one_of("roleRef.kind", text(role, "kind"), kinds);
    match text(role, "name") {
        "" => errors.required("roleRef.name", ""),
        name => errors.rules("roleRef.name", name, path_segment(name)),
    }
    for (index, subject) in items(binding.rest.get("subjects")) {
        subject_of(subject, is_namespaced, &format!("subjects[{index}]"), errors);
    }
}

/// `ValidateRoleBindingSubject`.
fn subject_of(subject: &Value, is_namespaced: bool, path: &str, errors: &mut Errors) {
    let at = |field: &str| format!("{path}.{field}");
    let name = text(subject, "name");
    if name.is_empty() {
        errors.required(&at("name"), "");
    }
    match text(subject, "kind") {
        "ServiceAccount" => {
            if !name.is_empty() {
                errors.rules(&at("name"), name, names::dns1123_subdomain(name));
            }
            errors.one_of(&at("apiGroup"), text(subject, "apiGroup"), &[""]);
            if !is_namespaced && text(subject, "namespace").is_empty() {
                errors.required(&at("namespace"), "");
            }
        }
        "User" | "Group" => errors.one_of(&at("apiGroup"), text(subject, "apiGroup"), &[GROUP]),
        kind => errors.one_of(&at("kind"), kind, &["ServiceAccount", "User", "Group"]),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::api::Object;
    use crate::apiserver::validation::{validate_create, validate_update};

    fn object(kind: Kind, mut value: Value) -> Object {
        value["metadata"] = json!({"name": "reader"});
        if kind.info().namespaced {
            value["metadata"]["namespace"] = "default".into();
        }
        Object::from_value(kind, value).expect("an object")
    }

    fn wrong(kind: Kind, value: Value) -> Vec<String> {
        validate_create(&object(kind, value))
    }

    #[test]
    fn a_rule_names_verbs_and_what_they_are_about() {
        let rules = json!([
            {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]},
            {},
            {"nonResourceURLs": ["/healthz"], "resources": ["pods"], "verbs": ["get"]},
        ]);
        let common = [
            "rules[1].verbs: Required value: verbs must contain at least one value",
            "rules[1].apiGroups: Required value: resource rules must supply at least one api group",
            "rules[1].resources: Required value: resource rules must supply at least one resource",
        ];
        let urls = "rules[2].nonResourceURLs: Invalid value: [\"/healthz\"]: ";
        let both =
            format!("{urls}rules cannot apply to both regular resources and non-resource URLs");
        let spaced = format!("{urls}namespaced rules cannot apply to non-resource URLs");
        let role = wrong(Kind::Role, json!({"rules": rules}));
        assert_eq!(role, [&common.map(String::from)[..], &[spaced, both.clone()]].concat());
        let role = wrong(Kind::ClusterRole, json!({"rules": rules}));
        assert_eq!(role, [&common.map(String::from)[..], &[both]].concat());
        let empty = json!({"aggregationRule": {"clusterRoleSelectors": []}});
        assert_eq!(
            wrong(Kind::ClusterRole, empty),
            ["aggregationRule.clusterRoleSelectors: Required value: at least one \
              clusterRoleSelector required if aggregationRule is non-nil"]
        );
    }

    #[test]
    fn a_binding_names_a_role_and_subjects_of_three_kinds() {
        let role = json!({"apiGroup": GROUP, "kind": "Role", "name": "a/b"});
        let subjects = json!([
            {"kind": "ServiceAccount", "name": "robot"},
            {"kind": "ServiceAccount", "name": "Robot", "apiGroup": "v1", "namespace": "default"},
            {"kind": "User", "name": ""},
            {"kind": "Pod", "name": "web"},
        ]);
        let binding = json!({"roleRef": role, "subjects": subjects});
        let found = wrong(Kind::RoleBinding, binding.clone());
        let expected = [
            "roleRef.name: Invalid value: \"a/b\": may not contain '/'",
            "subjects[1].name: Invalid value: \"Robot\": a lowercase RFC 1123 subdomain must",
            "subjects[1].apiGroup: Unsupported value: \"v1\": supported values: \"\"",
            "subjects[2].name: Required value",
            "subjects[2].apiGroup: Unsupported value: \"\": supported values: \
             \"rbac.authorization.k8s.io\"",
            "subjects[3].kind: Unsupported value: \"Pod\": supported values: \"ServiceAccount\", \
             \"User\", \"Group\"",
        ];
        assert_eq!(found.len(), expected.len(), "{found:#?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.starts_with(expected), "{found}");
        }
        let found = wrong(Kind::ClusterRoleBinding, binding);
        assert_eq!(
            found[0],
            "roleRef.kind: Unsupported value: \"Role\": supported values: \"ClusterRole\""
        );
        assert!(found.contains(&"subjects[0].namespace: Required value".to_string()), "{found:#?}");
    }

    #[test]
    fn what_a_binding_binds_to_stays() {
        let to = |name: &str| {
            let role = json!({"apiGroup": GROUP, "kind": "Role", "name": name});
            object(Kind::RoleBinding, json!({ "roleRef": role }))
        };
        assert_eq!(validate_update(&to("a"), &to("a")), [""; 0]);
        let found = validate_update(&to("a"), &to("b"));
        assert!(found[0].starts_with("roleRef: Invalid value: {"), "{found:?}");
        assert!(found[0].ends_with("}: cannot change roleRef"), "{found:?}");
    }
}
