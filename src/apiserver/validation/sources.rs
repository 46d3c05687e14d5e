//! What pods take from elsewhere, and when they call it: volumes and variables from other objects,
//! hooks, the scheme of a probe, the user (`validateVolumeSource`, `validateEnv`,
//! `validateLifecycle`, `ValidateSecurityContext`), as far as is often got wrong.

use crate::api::{Container, PodSpec, Value};

use super::errors::Errors;
use super::values::{items, text};

/// All of it.
pub fn sources(spec: &PodSpec, path: &str, errors: &mut Errors) {
    for (index, volume) in items(spec.rest.get("volumes")) {
        let named = [
            ("configMap", "name"),
            ("secret", "secretName"),
            ("persistentVolumeClaim", "claimName"),
            ("hostPath", "path"),
        ];
        for (kind, field) in named {
            if let Some(source) = volume.get(kind) {
                needs(source, field, &format!("{path}.volumes[{index}].{kind}"), errors);
            }
        }
    }
    user(spec.rest.get("securityContext"), &format!("{path}.securityContext"), errors);
    let lists = [("containers", &spec.containers), ("initContainers", &spec.init_containers)];
    for (list, containers) in lists {
        for (index, container) in containers.iter().enumerate() {
            of_container(container, &format!("{path}.{list}[{index}]"), errors);
        }
    }
}

fn needs(source: &Value, field: &str, path: &str, errors: &mut Errors) {
    if text(source, field).is_empty() && !source.is_null() {
        errors.required(&format!("{path}.{field}"), "");
    }
}

/// `runAsUser`, `runAsGroup`.
fn user(context: Option<&Value>, path: &str, errors: &mut Errors) {
    for field in ["runAsUser", "runAsGroup"] {
        let id = context.and_then(|context| context.get(field)).and_then(Value::as_i64);
        if let Some(id) = id {
            errors.in_range(&format!("{path}.{field}"), id, 0, i32::MAX.into());
        }
    }
}

fn of_container(container: &Container, path: &str, errors: &mut Errors) {
    for (index, variable) in items(container.rest.get("env")) {
        let Some(from) = variable.get("valueFrom") else { continue };
        for kind in ["configMapKeyRef", "secretKeyRef"] {
            if let Some(source) = from.get(kind) {
                let path = format!("{path}.env[{index}].valueFrom.{kind}");
                needs(source, "name", &path, errors);
                needs(source, "key", &path, errors);
            }
        }
    }
    for (index, from) in items(container.rest.get("envFrom")) {
        for kind in ["configMapRef", "secretRef"] {
            if let Some(source) = from.get(kind) {
                needs(source, "name", &format!("{path}.envFrom[{index}].{kind}"), errors);
            }
        }
    }
    for hook in ["postStart", "preStop"] {
        let given = container.rest.get("lifecycle").and_then(|lifecycle| lifecycle.get(hook));
        let handlers = given.and_then(Value::as_object).map(|handlers| handlers.len());
        if handlers == Some(0) {
            errors.required(&format!("{path}.lifecycle.{hook}"), "must specify a handler type");
        }
    }
    user(container.rest.get("securityContext"), &format!("{path}.securityContext"), errors);
    let probes = [
        ("livenessProbe", &container.liveness_probe),
        ("readinessProbe", &container.readiness_probe),
        ("startupProbe", &container.startup_probe),
    ];
    for (field, probe) in probes {
        let get = probe.as_ref().and_then(|probe| probe.rest.get("httpGet"));
        let scheme = get.and_then(|get| get.get("scheme")).and_then(Value::as_str);
        if let Some(scheme) = scheme.filter(|scheme| !scheme.is_empty()) {
            let path = format!("{path}.{field}.httpGet.scheme");
            errors.one_of(&path, scheme, &["HTTP", "HTTPS"]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(spec: Value) -> Vec<String> {
        let spec = serde_json::from_value(spec).expect("a pod spec");
        let mut errors = Errors::default();
        sources(&spec, "spec", &mut errors);
        errors.into_words()
    }

    #[test]
    fn what_is_taken_from_another_object_names_it() {
        let variable = json!({"name": "A", "valueFrom": {"secretKeyRef": {"name": "s"}}});
        let words = said(json!({
            "containers": [{"name": "a", "env": [variable], "envFrom": [{"configMapRef": {}}]}],
            "volumes": [
                {"name": "v", "configMap": {}},
                {"name": "w", "secret": {"secretName": "s"}},
            ],
        }));
        let wanted = [
            "spec.volumes[0].configMap.name: Required value",
            "spec.containers[0].env[0].valueFrom.secretKeyRef.key: Required value",
            "spec.containers[0].envFrom[0].configMapRef.name: Required value",
        ];
        assert_eq!(words, wanted);
    }

    #[test]
    fn a_hook_does_something_and_a_user_has_a_number() {
        let words = said(json!({"containers": [{
            "name": "a",
            "lifecycle": {"preStop": {}, "postStart": {"exec": {}}},
            "securityContext": {"runAsUser": -1},
            "livenessProbe": {"httpGet": {"port": 80, "scheme": "FTP"}},
        }]}));
        let at = "spec.containers[0]";
        let wanted = [
            format!("{at}.lifecycle.preStop: Required value: must specify a handler type"),
            format!(
                "{at}.securityContext.runAsUser: Invalid value: -1: must be between 0 and \
                 2147483647, inclusive"
            ),
            format!(
                "{at}.livenessProbe.httpGet.scheme: Unsupported value: \"FTP\": supported values: \
                 \"HTTP\", \"HTTPS\""
            ),
        ];
        assert_eq!(words, wanted);
    }
}
