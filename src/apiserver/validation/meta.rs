//! `metadata` (apimachinery `pkg/api/validation/objectmeta.go`).

use crate::api::{Kind, ObjectMeta, OwnerReference, StrMap, Value, names, selector};

use super::errors::Errors;
use super::finalizers;

/// How long all annotations may be together.
const MAX_ANNOTATION_BYTES: usize = 256 * 1024;

/// Which rule the names of a kind follow.
fn name_rule(kind: Kind) -> fn(&str) -> Vec<String> {
    match kind {
        Kind::Namespace | Kind::StatefulSet => names::dns1123_label,
        Kind::Service => names::dns1035_label,
        Kind::Role | Kind::RoleBinding | Kind::ClusterRole | Kind::ClusterRoleBinding => {
            path_segment
        }
        _ => names::dns1123_subdomain,
    }
}

/// `path.IsValidPathSegmentName`.
pub fn path_segment(name: &str) -> Vec<String> {
    match name {
        "." | ".." => vec![format!("may not be '{name}'")],
        _ => ['/', '%']
            .into_iter()
            .filter(|&c| name.contains(c))
            .map(|c| format!("may not contain '{c}'"))
            .collect(),
    }
}

/// `ValidateObjectMeta`.
pub fn object_meta(kind: Kind, meta: &ObjectMeta, errors: &mut Errors) {
    let rule = name_rule(kind);
    if let Some(prefix) = &meta.generate_name {
        // The server adds letters, so that a prefix may end where a name may not.
        let probe = format!("{}a", prefix.trim_end_matches('-'));
        errors.rules("metadata.generateName", prefix, rule(&probe));
    }
    if meta.name.is_empty() {
        let detail = "name or generateName is required";
        if meta.generate_name.as_deref().unwrap_or("").is_empty() {
            errors.required("metadata.name", detail);
        }
    } else {
        errors.rules("metadata.name", &meta.name, rule(&meta.name));
    }
    if kind.info().namespaced {
        if meta.namespace.is_empty() {
            errors.required("metadata.namespace", "");
        } else {
            let broken = names::dns1123_label(&meta.namespace);
            errors.rules("metadata.namespace", &meta.namespace, broken);
        }
    } else if !meta.namespace.is_empty() {
        errors.forbidden("metadata.namespace", "not allowed on this type");
    }
    errors.non_negative("metadata.generation", meta.generation);
    labels_and_annotations(meta, "metadata", errors);
    owners(&meta.owner_references, "metadata.ownerReferences", errors);
    finalizers::validate(&meta.finalizers, errors);
}

/// Labels and annotations, of an object or of a template.
pub fn labels_and_annotations(meta: &ObjectMeta, path: &str, errors: &mut Errors) {
    if !meta.labels.is_empty() {
        errors.extend(selector::validate_labels(&meta.labels, &format!("{path}.labels")));
    }
    if !meta.annotations.is_empty() {
        annotations(&meta.annotations, &format!("{path}.annotations"), errors);
    }
}

fn annotations(annotations: &StrMap, path: &str, errors: &mut Errors) {
    let mut bytes = 0;
    for (key, value) in annotations {
        errors.rules(path, key, names::qualified_name(&key.to_ascii_lowercase()));
        bytes += key.len() + value.len();
    }
    if bytes > MAX_ANNOTATION_BYTES {
        errors.too_long(path, MAX_ANNOTATION_BYTES);
    }
}

/// `ValidateOwnerReferences`.
pub fn owners(owners: &[OwnerReference], path: &str, errors: &mut Errors) {
    let mut controller: Option<String> = None;
    for (index, owner) in owners.iter().enumerate() {
        one_owner(owner, &format!("{path}[{index}]"), errors);
        if !owner.controller {
            continue;
        }
        let name = format!("{}/{}", owner.kind, owner.name);
        match &controller {
            None => controller = Some(name),
            Some(first) => {
                let detail = format!(
                    "Only one reference can have Controller set to true. Found \"true\" in \
                     references for {first} and {name}"
                );
                errors.invalid(path, owners, &detail);
            }
        }
    }
}

fn one_owner(owner: &OwnerReference, path: &str, errors: &mut Errors) {
    let version = &*owner.api_version;
    let at = format!("{path}.apiVersion");
    if version.is_empty() {
        errors.required(&at, "must not be empty");
    } else if version.matches('/').count() > 1 || version.ends_with('/') {
        errors.invalid(&at, version, "must be <group>/<version> or <version>");
    }
    for (field, value) in [("kind", &owner.kind), ("name", &owner.name), ("uid", &owner.uid)] {
        if value.is_empty() {
            errors.required(&format!("{path}.{field}"), "must not be empty");
        }
    }
    // Events come and go too often to own anything.
    if version == "v1" && *owner.kind == *"Event" {
        let detail = "/v1, Kind=Event is disallowed from being an owner";
        errors.invalid(path, owner, detail);
    }
}

/// What may not change, and the rest of `ValidateObjectMetaUpdate` that is not looked at in every
/// object.
pub fn unchanged(old: &ObjectMeta, new: &ObjectMeta, path: &str, errors: &mut Errors) {
    let at = |field: &str| format!("{path}.{field}");
    if old.is_terminating() {
        finalizers::no_new(&old.finalizers, &new.finalizers, &at("finalizers"), errors);
    }
    if new.generation < old.generation {
        errors.invalid(&at("generation"), new.generation, "must not be decremented");
    }
    let words = [
        ("name", &old.name, &new.name),
        ("namespace", &old.namespace, &new.namespace),
        ("uid", &old.uid, &new.uid),
    ];
    for (field, old, new) in words {
        fixed((path, field), old, new, errors);
    }
    let (created, was_created) = (&new.creation_timestamp, &old.creation_timestamp);
    fixed((path, "creationTimestamp"), was_created, created, errors);
    let field = "deletionTimestamp";
    fixed((path, field), &old.deletion_timestamp, &new.deletion_timestamp, errors);
    let (old, new) = (&old.deletion_grace_period_seconds, &new.deletion_grace_period_seconds);
    fixed((path, "deletionGracePeriodSeconds"), old, new, errors);
}

fn fixed<T: PartialEq + serde::Serialize>(
    (path, field): (&str, &str),
    old: &T,
    new: &T,
    errors: &mut Errors,
) {
    if old != new {
        let value = serde_json::to_value(new).unwrap_or(Value::Null);
        errors.invalid(&format!("{path}.{field}"), value, "field is immutable");
    }
}
