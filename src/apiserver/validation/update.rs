//! What may not change (`Validate*Update`). The store itself looks after uid and resourceVersion.

use crate::api::{Generic, Kind, Object, ObjectMeta, OwnerReference, Value};

use super::errors::Errors;
use super::{meta, policy, spec, update_batch, update_pod, update_service};

const IMMUTABLE: &str = "field is immutable";

/// Everything that is wrong with `new` in the place of `old`.
pub fn validate_update(old: &Object, new: &Object) -> Vec<String> {
    let mut errors = Errors::default();
    meta::object_meta(new.kind(), new.meta(), &mut errors);
    meta::unchanged(old.meta(), new.meta(), "metadata", &mut errors);
    match (old, new) {
        (Object::Pod(old), Object::Pod(new)) => update_pod::pod(old, new, &mut errors),
        (Object::ReplicaSet(old), Object::ReplicaSet(new)) => {
            let (old, new) = (&old.spec.selector, &new.spec.selector);
            same("spec.selector", old, new, &mut errors);
        }
        (Object::Deployment(old), Object::Deployment(new)) => {
            let (old, new) = (&old.spec.selector, &new.spec.selector);
            same("spec.selector", old, new, &mut errors);
        }
        (Object::Generic(old), Object::Generic(new)) => generic(old, new, &mut errors),
        _ => {}
    }
    spec(new, Some(old), &mut errors);
    errors.into_words()
}

/// Everything that is wrong with new metadata in the place of old, called `path`
/// (`ValidateObjectMetaUpdate`).
pub fn validate_metadata_update(old: &ObjectMeta, new: &ObjectMeta, path: &str) -> Vec<String> {
    let mut errors = Errors::default();
    if new.resource_version == 0 {
        let detail = "must be specified for an update";
        errors.invalid(&format!("{path}.resourceVersion"), "", detail);
    }
    errors.non_negative(&format!("{path}.generation"), new.generation);
    meta::unchanged(old, new, path, &mut errors);
    meta::labels_and_annotations(new, path, &mut errors);
    meta::owners(&new.owner_references, &format!("{path}.ownerReferences"), &mut errors);
    errors.into_words()
}

/// Everything that is wrong with owners, called `path` (`ValidateOwnerReferences`).
pub fn validate_owner_references(owners: &[OwnerReference], path: &str) -> Vec<String> {
    let mut errors = Errors::default();
    meta::owners(owners, path, &mut errors);
    errors.into_words()
}

/// The field may not change (`ValidateImmutableField`).
pub(super) fn same<T>(path: &str, old: &T, new: &T, errors: &mut Errors)
where
    T: PartialEq + serde::Serialize,
{
    if old != new {
        errors.invalid(path, new, IMMUTABLE);
    }
}

/// Which fields of kept kinds are immutable.
fn generic(old: &Generic, new: &Generic, errors: &mut Errors) {
    let at = |object: &Generic, field: &str| {
        let spec = object.rest.get("spec");
        spec.and_then(|spec| spec.get(field)).cloned().unwrap_or(Value::Null)
    };
    match new.kind {
        Kind::DaemonSet => {
            let (old, new) = (at(old, "selector"), at(new, "selector"));
            same("spec.selector", &old, &new, errors);
        }
        Kind::Job => update_batch::job(old, new, errors),
        Kind::Service => update_service::service(old, new, errors),
        Kind::StatefulSet => stateful_set(old, new, errors),
        _ => policy::policy_update(old, new, errors),
    }
}

fn stateful_set(old: &Generic, new: &Generic, errors: &mut Errors) {
    let free = [
        "replicas",
        "ordinals",
        "template",
        "updateStrategy",
        "revisionHistoryLimit",
        "persistentVolumeClaimRetentionPolicy",
        "minReadySeconds",
    ];
    let fixed = |object: &Generic| {
        let mut spec = object.rest.get("spec").cloned().unwrap_or(Value::Null);
        if let Some(spec) = spec.as_object_mut() {
            spec.retain(|field, _| !free.contains(&field.as_str()));
        }
        spec
    };
    if fixed(old) != fixed(new) {
        errors.forbidden(
            "spec",
            "updates to statefulset spec for fields other than 'replicas', 'ordinals', \
             'template', 'updateStrategy', 'revisionHistoryLimit', \
             'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_is_named_whole_and_by_its_place_in_the_list() {
        let owner = |version: &str, name: &str| OwnerReference {
            api_version: version.into(),
            kind: "Pod".into(),
            name: name.into(),
            uid: "1".into(),
            controller: false,
            block_owner_deletion: false,
        };
        let owners = [owner("v1", "a"), owner("", ""), owner("foo/", "a")];
        assert_eq!(
            validate_owner_references(&owners, "field"),
            [
                "field[1].apiVersion: Required value: must not be empty",
                "field[1].name: Required value: must not be empty",
                "field[2].apiVersion: Invalid value: \"foo/\": must be <group>/<version> or \
                 <version>",
            ]
        );
    }

    #[test]
    fn an_update_names_a_version_and_no_generation_below_zero() {
        let new = ObjectMeta { generation: -1, ..ObjectMeta::default() };
        assert_eq!(
            validate_metadata_update(&ObjectMeta::default(), &new, "field"),
            [
                "field.resourceVersion: Invalid value: \"\": must be specified for an update",
                "field.generation: Invalid value: -1: must be greater than or equal to 0",
                "field.generation: Invalid value: -1: must not be decremented",
            ]
        );
    }
}
