//! What a change of a pod wakes, and which expectations it meets.

use std::time::Duration;

use crate::api::{Generic, Kind, ObjectKey, Pod};
use crate::client::Cache;
use crate::controllers::{Change, Context, Woken};

use super::pods::path_of;

/// Whom the pods of a controller belong to.
#[derive(Clone, Copy)]
pub struct Reach {
    /// The kind of the owners.
    pub kind: Kind,
    /// Whether an owner would take this pod, if it is an orphan.
    pub selects: fn(&Generic, &Pod) -> bool,
    /// Changes of pods are collected for so long before the owner is looked at.
    pub collects: Duration,
}

/// What a change of a pod wakes among the owners of a kind.
pub fn pod_wakes(change: &Change, cx: &Context, reach: Reach) -> Woken {
    let mut keys = Vec::new();
    let mut woken = Woken::default();
    let Some(pod) = change.object.as_pod() else { return woken };
    let before = change.before.as_ref().and_then(|before| before.as_pod());
    let is_resync =
        before.is_some_and(|b| b.metadata.resource_version == pod.metadata.resource_version);
    if is_resync && !change.is_deletion() {
        return woken;
    }
    let owner = owner_of(pod, cx.cache, reach.kind);
    if change.is_deletion() || pod.metadata.is_terminating() {
        // As good as gone, and counted once: expectations go by name.
        woken.deleted.extend(owner.clone().map(|key| (key, path_of(pod))));
    } else if before.is_none() {
        woken.created.extend(owner.clone());
    }
    keys.extend(before.and_then(|before| owner_of(before, cx.cache, reach.kind)));
    if pod.metadata.controller().is_none() && !change.is_deletion() {
        let owners = cx.cache.in_namespace(reach.kind, &pod.metadata.namespace);
        let takes = |generic: &Generic| (reach.selects)(generic, pod);
        let takers = owners.filter(|object| object.as_generic().is_some_and(takes));
        keys.extend(takers.map(|object| object.key()));
    }
    keys.extend(owner);
    keys.sort();
    keys.dedup();
    if reach.collects.is_zero() {
        woken.keys = keys;
    } else {
        woken.later = keys.into_iter().map(|key| (key, reach.collects)).collect();
    }
    woken
}

/// The owner that a pod's reference means, if the cache has that very one.
fn owner_of(pod: &Pod, cache: &Cache, kind: Kind) -> Option<ObjectKey> {
    let owner = pod.metadata.controller().filter(|owner| *owner.kind == *kind.info().kind)?;
    let key = ObjectKey::new(kind, pod.metadata.namespace.clone(), owner.name.clone());
    let found = cache.get(&key)?;
    (found.meta().uid == owner.uid).then_some(key)
}
