//! `metadata` (apimachinery `pkg/api/validation/objectmeta.go`).

use crate::api::{Kind, ObjectMeta, StrMap, names, selector};

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
fn path_segment(name: &str) -> Vec<String> {
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
    owners(meta, errors);
    finalizers::validate(&meta.finalizers, errors);
}

/// Labels and annotations, of an object or of a template.
pub fn labels_and_annotations(meta: &ObjectMeta, path: &str, errors: &mut Errors) {
    errors.extend(selector::validate_labels(&meta.labels, &format!("{path}.labels")));
    annotations(&meta.annotations, &format!("{path}.annotations"), errors);
}

fn annotations(annotations: &StrMap, path: &str, errors: &mut Errors) {
    let mut bytes = 0;
    for (key, value) in annotations {
        errors.rules(path, key, names::qualified_name(&key.to_lowercase()));
        bytes += key.len() + value.len();
    }
    if bytes > MAX_ANNOTATION_BYTES {
        errors.too_long(path, MAX_ANNOTATION_BYTES);
    }
}

fn owners(meta: &ObjectMeta, errors: &mut Errors) {
    let mut controller: Option<&str> = None;
    for (index, owner) in meta.owner_references.iter().enumerate() {
        let path = format!("metadata.ownerReferences[{index}]");
        for (field, value) in [
            ("apiVersion", &owner.api_version),
            ("kind", &owner.kind),
            ("name", &owner.name),
            ("uid", &owner.uid),
        ] {
            if value.is_empty() {
                let detail = match field {
                    "apiVersion" => "version must not be empty",
                    _ => "must not be empty",
                };
                errors.invalid(&format!("{path}.{field}"), value, detail);
            }
        }
        if owner.controller {
            if let Some(first) = controller {
                let detail = format!(
                    "Only one reference can have Controller set to true. Found \"true\" in \
                     references for {first} and {}",
                    owner.name
                );
                errors.invalid("metadata.ownerReferences", &meta.owner_references, &detail);
            }
            controller = Some(&owner.name);
        }
    }
}
