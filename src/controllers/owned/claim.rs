//! Adoption and release.

use serde_json::json;

use crate::api::{Kind, ObjectMeta, OwnerReference, Pod, Value};
use crate::apiserver::{ApiError, Part, Reason, Request};
use crate::client::Cache;
use crate::controllers::{Batch, Deed, Intent};

use super::{Owner, key_of};

/// What an owner makes of the pods at hand.
#[derive(Clone, Debug, Default)]
pub struct Claim<'a> {
    /// Its own afterwards, in any state, by name.
    pub pods: Vec<&'a Pod>,
    /// The requests that make it so.
    pub batches: Vec<Batch>,
}

/// Goes through the owner's pods and the orphans of its namespace. `is_member`: what else must hold
/// of a pod, besides its labels.
pub fn claim<'a>(
    owner: Owner<'_>,
    cache: &'a Cache,
    is_member: impl Fn(&Pod) -> bool,
) -> Claim<'a> {
    let meta = owner.object.meta();
    let mut claim = Claim::default();
    let (mut first, mut adopted) = (Batch::new(), Batch::new());
    let matches = |pod: &Pod| owner.selector.matches(&pod.metadata.labels) && is_member(pod);
    for pod in cache.owned_by(Kind::Pod, &meta.uid).filter_map(|pod| pod.as_pod()) {
        if matches(pod) {
            claim.pods.push(pod);
        } else if !meta.is_terminating() {
            first.push(release(owner, pod));
        }
    }
    for pod in cache.orphans(Kind::Pod, &meta.namespace).filter_map(|pod| pod.as_pod()) {
        if !meta.is_terminating() && !pod.metadata.is_terminating() && matches(pod) {
            claim.pods.push(pod);
            adopted.push(adopt(owner, pod));
        }
    }
    claim.pods.sort_by(|a, b| a.metadata.name.cmp(&b.metadata.name));
    if !adopted.is_empty() {
        // The cache may not know yet that the owner is being deleted.
        let look = Intent {
            must_be_alive: Some(meta.uid.clone()),
            ..Intent::new(Deed::Read, Request::Get(owner.object.key()))
        };
        first.insert(0, look);
    }
    claim.batches = [first, adopted].into_iter().filter(|batch| !batch.is_empty()).collect();
    claim
}

fn adopt(owner: Owner<'_>, pod: &Pod) -> Intent {
    let meta = owner.object.meta();
    let mut owners = others(meta, pod);
    owners.push(OwnerReference::controller_of(owner.object.kind(), meta));
    let mut finalizers = pod.metadata.finalizers.clone();
    if let Some(finalizer) = owner.finalizer
        && !finalizers.iter().any(|other| **other == *finalizer)
    {
        finalizers.push(finalizer.into());
    }
    Intent::new(Deed::Adopt, patch(pod, &owners, &finalizers))
}

/// A pod that is gone, or another one by now, is given up already.
fn release(owner: Owner<'_>, pod: &Pod) -> Intent {
    let owners = others(owner.object.meta(), pod);
    let mut finalizers = pod.metadata.finalizers.clone();
    finalizers.retain(|finalizer| owner.finalizer != Some(&**finalizer));
    Intent {
        tolerates: |error| is_another(error) || error.reason == Reason::Invalid,
        ..Intent::new(Deed::Release, patch(pod, &owners, &finalizers))
    }
}

fn others(owner: &ObjectMeta, pod: &Pod) -> Vec<OwnerReference> {
    let references = pod.metadata.owner_references.iter();
    references.filter(|other| other.uid != owner.uid).cloned().collect()
}

/// Whether an error says that this very pod is there no more.
fn is_another(error: &ApiError) -> bool {
    let other_uid = error.message.contains("UID in precondition");
    error.is_not_found() || (error.reason == Reason::Conflict && other_uid)
}

fn patch(pod: &Pod, owners: &[OwnerReference], finalizers: &[crate::api::Str]) -> Request {
    let list = |items: Value| if items == json!([]) { Value::Null } else { items };
    let patch = json!({"metadata": {
        "uid": pod.metadata.uid,
        "ownerReferences": list(json!(owners)),
        "finalizers": list(json!(finalizers)),
    }});
    Request::Patch(Part::Main, key_of(pod), patch)
}
