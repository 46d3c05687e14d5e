//! Owner references: whom they name, and what the collector's patches make of them
//! (`pkg/controller/garbagecollector/patch.go`).

use serde_json::json;

use crate::api::{Kind, ObjectKey, ObjectMeta, OwnerReference, Str};
use crate::apiserver::{Part, Request};

/// Whom a reference names, seen from the object that carries it: an owner lives in the same
/// namespace, or in none. Absent for a kind that the server does not know, and for an owner in a
/// namespace of an object in none, which Kubernetes does not allow and never collects.
pub fn coordinates(reference: &OwnerReference, dependent: &ObjectKey) -> Option<ObjectKey> {
    let kind = Kind::of_manifest(&reference.api_version, &reference.kind)?;
    let namespaced = kind.info().namespaced;
    if namespaced && dependent.namespace.is_empty() {
        return None;
    }
    let namespace: Str = if namespaced { dependent.namespace.clone() } else { "".into() };
    Some(ObjectKey::new(kind, namespace, reference.name.clone()))
}

/// The references that are left without those to these uids.
pub fn remove_owner_references(references: &[OwnerReference], uids: &[Str]) -> Vec<OwnerReference> {
    let stays = |reference: &&OwnerReference| !uids.contains(&reference.uid);
    references.iter().filter(stays).cloned().collect()
}

/// The references, none of which holds up its owner's deletion any more.
pub fn unblock_owner_references(references: &[OwnerReference]) -> Vec<OwnerReference> {
    let unblocked = references.iter().cloned().map(|mut reference| {
        reference.block_owner_deletion = false;
        reference
    });
    unblocked.collect()
}

/// The request that gives an object these references, if nobody changed it since.
pub fn patch_references(
    key: &ObjectKey,
    meta: &ObjectMeta,
    references: &[OwnerReference],
) -> Request {
    let changes = json!({"metadata": {
        "uid": meta.uid,
        "resourceVersion": meta.resource_version.to_string(),
        "ownerReferences": references,
    }});
    Request::Patch(Part::Main, key.clone(), changes)
}

/// The request that takes one finalizer off an object, if nobody changed it since.
pub fn patch_finalizer_away(key: &ObjectKey, meta: &ObjectMeta, finalizer: &str) -> Request {
    let others = meta.finalizers.iter().filter(|name| ***name != *finalizer);
    let changes = json!({"metadata": {
        "uid": meta.uid,
        "resourceVersion": meta.resource_version.to_string(),
        "finalizers": others.collect::<Vec<_>>(),
    }});
    Request::Patch(Part::Main, key.clone(), changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reference(kind: &str, api_version: &str) -> OwnerReference {
        OwnerReference {
            api_version: api_version.into(),
            kind: kind.into(),
            name: "owner".into(),
            uid: "1".into(),
            controller: false,
            block_owner_deletion: true,
        }
    }

    #[test]
    fn an_owner_is_sought_in_the_namespace_of_its_dependent_or_in_none() {
        let pod = ObjectKey::new(Kind::Pod, "a", "web");
        let set = coordinates(&reference("ReplicaSet", "apps/v1"), &pod);
        assert_eq!(set, Some(ObjectKey::new(Kind::ReplicaSet, "a", "owner")));
        let node = coordinates(&reference("Node", "v1"), &pod);
        assert_eq!(node, Some(ObjectKey::new(Kind::Node, "", "owner")));
        let volume = ObjectKey::new(Kind::PersistentVolume, "", "disk");
        assert_eq!(coordinates(&reference("Pod", "v1"), &volume), None);
        assert_eq!(coordinates(&reference("Widget", "example.com/v1"), &pod), None);
    }

    #[test]
    fn references_are_removed_by_uid_and_unblocked_all_together() {
        let mut other = reference("Pod", "v1");
        other.uid = "2".into();
        let both = [reference("Pod", "v1"), other.clone()];
        assert_eq!(remove_owner_references(&both, &["1".into()]), [other]);
        let unblocked = unblock_owner_references(&both);
        assert!(unblocked.iter().all(|reference| !reference.block_owner_deletion));
    }
}
