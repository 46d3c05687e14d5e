//! Which pods are a ReplicaSet's own: adoption and release (`PodControllerRefManager` in
//! Kubernetes' pkg/controller/controller_ref_manager.go).
//!
//! Kubernetes patches owner references with a strategic merge by uid; our API server merges JSON,
//! so a patch carries the whole list. Two things differ by that or for simplicity: the patches of
//! one pass are under way together and not one after the other, and an orphan that is gone by the
//! time of its adoption fails the pass (Kubernetes leaves it out of the count; a plan counts
//! beforehand).

use std::sync::Arc;

use serde_json::json;

use crate::api::{Kind, Object, OwnerReference, Pod, ReplicaSet, Value};
use crate::apiserver::{ApiError, Part, Reason, Request};
use crate::controllers::{Batch, Deed, Intent};

use super::pods::key_of;

/// What a set makes of a number of pods.
#[derive(Clone, Debug, Default)]
pub struct Claim<'a> {
    /// The pods that are its own afterwards, in the order in which they were given.
    pub claimed: Vec<&'a Pod>,
    /// Those of them that are orphans now.
    pub adopted: Vec<&'a Pod>,
    /// Its own pods that it gives up, since their labels no longer match.
    pub released: Vec<&'a Pod>,
}

impl<'a> Claim<'a> {
    /// Sorts pods. A set that is being deleted takes and gives up nothing.
    pub fn of(set: &ReplicaSet, pods: impl IntoIterator<Item = &'a Pod>) -> Claim<'a> {
        let mut claim = Claim::default();
        for pod in pods {
            claim.sort(set, pod, set.spec.selector.matches(&pod.metadata.labels));
        }
        claim
    }

    /// Sorts one pod, given whether its labels match. Says whether it is the set's own afterwards.
    pub fn sort(&mut self, set: &ReplicaSet, pod: &'a Pod, matches: bool) -> bool {
        match pod.metadata.controller() {
            Some(owner) if owner.uid != set.metadata.uid => return false,
            Some(_) if matches => {}
            Some(_) if !set.metadata.is_terminating() => {
                self.released.push(pod);
                return false;
            }
            None if matches && may_adopt(set, pod) => self.adopted.push(pod),
            _ => return false,
        }
        self.claimed.push(pod);
        true
    }

    /// The requests. Adoption waits for a live look at the set: the cache may not know yet that it
    /// is being deleted, and a pod that it took then would be deleted with it.
    pub fn batches(&self, object: &Arc<Object>, set: &ReplicaSet) -> Vec<Batch> {
        let look = Intent {
            must_be_alive: Some(set.metadata.uid.clone()),
            ..Intent::new(Deed::Read, Request::Get(object.key()))
        };
        let mut first: Batch = self.released.iter().map(|pod| release(set, pod)).collect();
        if !self.adopted.is_empty() {
            first.insert(0, look);
        }
        let second: Batch = self.adopted.iter().map(|pod| adopt(set, pod)).collect();
        let batches = [first, second].into_iter();
        batches.filter(|batch| !batch.is_empty()).collect()
    }
}

/// Whether a set may take this orphan.
pub fn may_adopt(set: &ReplicaSet, orphan: &Pod) -> bool {
    !set.metadata.is_terminating()
        && !orphan.metadata.is_terminating()
        && set.metadata.namespace == orphan.metadata.namespace
}

/// The request by which a set becomes the pod's controller.
pub fn adopt(set: &ReplicaSet, pod: &Pod) -> Intent {
    let mut owners = pod.metadata.owner_references.clone();
    owners.retain(|owner| owner.uid != set.metadata.uid);
    owners.push(OwnerReference::controller_of(Kind::ReplicaSet, &set.metadata));
    Intent::new(Deed::Adopt, patch(pod, &owners))
}

/// The request by which a set gives a pod up. A pod that is gone, or another one by now, is given
/// up already.
pub fn release(set: &ReplicaSet, pod: &Pod) -> Intent {
    let mut owners = pod.metadata.owner_references.clone();
    owners.retain(|owner| owner.uid != set.metadata.uid);
    Intent {
        tolerates: |error| is_another(error) || error.reason == Reason::Invalid,
        ..Intent::new(Deed::Release, patch(pod, &owners))
    }
}

/// Whether an error says that this very pod is there no more.
pub fn is_another(error: &ApiError) -> bool {
    let other_uid = error.message.contains("UID in precondition");
    error.is_not_found() || (error.reason == Reason::Conflict && other_uid)
}

fn patch(pod: &Pod, owners: &[OwnerReference]) -> Request {
    let owners = if owners.is_empty() { Value::Null } else { json!(owners) };
    let patch = json!({"metadata": {"uid": pod.metadata.uid, "ownerReferences": owners}});
    Request::Patch(Part::Main, key_of(pod), patch)
}
