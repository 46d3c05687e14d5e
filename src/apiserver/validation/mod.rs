//! What the API server holds against an object, in Kubernetes' words: a field's path, `: `, and
//! what is wrong. Objects are validated after defaults were filled in.
//!
//! Follows `pkg/apis/{core,apps,autoscaling,rbac}/validation/validation.go` of
//! <https://github.com/kubernetes/kubernetes/tree/release-1.36>, as far as a field matters to what
//! is simulated or is often got wrong. Left out: most of security contexts and of volumes, and most
//! of kinds that are only kept, but their pod templates.

pub mod access;
mod autoscaler;
mod batch;
mod container;
mod errors;
mod finalizers;
mod generic;
mod meta;
mod network;
mod placement;
mod pod;
mod policy;
mod probe;
mod sources;
mod status;
mod storage;
#[cfg(test)]
mod tests;
mod update;
mod update_batch;
mod update_pod;
mod update_service;
mod values;
mod words;
mod workload;

use crate::api::Object;

pub use errors::Errors;
pub use status::validate_status;
pub use update::{validate_metadata_update, validate_owner_references, validate_update};
pub use words::validate_words;

/// Everything that is wrong with a new object.
pub fn validate_create(object: &Object) -> Vec<String> {
    let mut errors = Errors::default();
    meta::object_meta(object.kind(), object.meta(), &mut errors);
    spec(object, None, &mut errors);
    errors.into_words()
}

/// `old` is what it takes the place of.
fn spec(object: &Object, old: Option<&Object>, errors: &mut Errors) {
    match object {
        Object::Pod(pod) => pod::spec(&pod.spec, "spec", errors),
        Object::ReplicaSet(set) => workload::replica_set(set, errors),
        Object::Deployment(deployment) => workload::deployment(deployment, errors),
        Object::Node(node) => pod::taints(&node.spec.taints, "spec.taints", errors),
        Object::Generic(object) => {
            let old = match old {
                Some(Object::Generic(old)) => Some(old),
                _ => None,
            };
            generic::generic(object, old, errors);
        }
        Object::Event(_) | Object::Lease(_) => {}
    }
}
