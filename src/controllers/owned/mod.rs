//! What the controllers of Jobs, StatefulSets and DaemonSets share: whose a pod is, how one is made
//! and deleted, and what a change of a pod wakes. Their objects are kept as free-form values.
//!
//! Follows `PodControllerRefManager` and `RealPodControl` of Kubernetes' pkg/controller, as
//! `replica_set` does; the same is simplified (the patches of one pass are under way together).

mod claim;
mod pods;
mod revisions;
mod wakes;

pub use claim::{Claim, claim};
pub use pods::{create, delete, key_of, path_of, pod_of, write_status};
pub use revisions::{REVISION_LABEL, Revisions};
pub use wakes::{Reach, pod_wakes};

use std::sync::Arc;

use crate::api::{Generic, LabelSelector, Object};

/// An object that owns pods.
#[derive(Clone, Copy, Debug)]
pub struct Owner<'a> {
    /// The object, as it is kept.
    pub object: &'a Arc<Object>,
    /// Which pods are its own.
    pub selector: &'a LabelSelector,
    /// What it puts on its pods, so that none goes before it was counted.
    pub finalizer: Option<&'static str>,
}

/// The object as one that is kept free-form.
pub fn generic(object: &Object) -> Option<&Generic> {
    object.as_generic()
}
