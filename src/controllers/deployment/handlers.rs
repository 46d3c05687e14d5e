//! The level flavour's event handlers: a change in, keys out. Nothing else of the change survives.
//!
//! Follows `pkg/controller/deployment/deployment_controller.go`. Left out: the live list by which
//! Kubernetes looks for other pods of a Recreate Deployment; here the cache is asked.

use crate::api::{Deployment, Kind, Object, ObjectKey, ObjectMeta, Pod, ReplicaSet};
use crate::client::Cache;
use crate::controllers::{Change, ChangeKind, Context, Woken};

use super::{claim, fenceposts, matching};

/// The Deployments that a change wakes.
pub fn wakes(change: &Change, cx: &Context) -> Woken {
    let mut keys = match &*change.object {
        Object::Deployment(_) => vec![change.key()],
        Object::ReplicaSet(set) => replica_set(change, set, cx.cache),
        Object::Pod(pod) if change.is_deletion() => pod_deleted(pod, cx.cache),
        _ => Vec::new(),
    };
    keys.sort();
    keys.dedup();
    Woken { keys, ..Woken::default() }
}

fn key_of(deployment: &Deployment) -> ObjectKey {
    let meta = &deployment.metadata;
    ObjectKey::new(Kind::Deployment, meta.namespace.clone(), meta.name.clone())
}

fn owner(cache: &Cache, set: &ObjectMeta) -> Option<ObjectKey> {
    claim::resolve(cache, set).map(key_of)
}

fn selecting(cache: &Cache, set: &ReplicaSet) -> Vec<ObjectKey> {
    let meta = &set.metadata;
    matching::deployments_selecting(cache, &meta.namespace, &meta.labels).map(key_of).collect()
}

fn replica_set(change: &Change, set: &ReplicaSet, cache: &Cache) -> Vec<ObjectKey> {
    let meta = &set.metadata;
    let is_gone = change.is_deletion()
        // A list may show a set that is already going: then its deletion was missed.
        || (change.kind == ChangeKind::Added && meta.is_terminating());
    if is_gone {
        return owner(cache, meta).into_iter().collect();
    }
    let before = change.before.as_ref().and_then(|object| object.as_replica_set());
    let Some(before) = before.filter(|_| change.kind == ChangeKind::Updated) else {
        return match meta.controller() {
            Some(_) => owner(cache, meta).into_iter().collect(),
            None => selecting(cache, set),
        };
    };
    replica_set_updated(&before.metadata, set, cache)
}

fn replica_set_updated(before: &ObjectMeta, set: &ReplicaSet, cache: &Cache) -> Vec<ObjectKey> {
    let meta = &set.metadata;
    if before.resource_version == meta.resource_version {
        // A resync.
        return Vec::new();
    }
    let owner_changed = before.controller() != meta.controller();
    let mut keys = Vec::new();
    if owner_changed {
        keys.extend(owner(cache, before));
    }
    if meta.controller().is_some() {
        keys.extend(owner(cache, meta));
    } else if owner_changed || before.labels != meta.labels {
        keys.extend(selecting(cache, set));
    }
    keys
}

/// The last pod of a Recreate Deployment is gone: the new ones may come.
fn pod_deleted(pod: &Pod, cache: &Cache) -> Vec<ObjectKey> {
    let Some(deployment) = deployment_of(pod, cache) else {
        return Vec::new();
    };
    let is_empty = |object: &&std::sync::Arc<Object>| {
        cache.owned_by(Kind::Pod, &object.meta().uid).next().is_none()
    };
    let mut sets = cache.owned_by(Kind::ReplicaSet, &deployment.metadata.uid);
    if fenceposts::is_rolling(deployment) || !sets.all(|set| is_empty(&set)) {
        return Vec::new();
    }
    vec![key_of(deployment)]
}

fn deployment_of<'a>(pod: &Pod, cache: &'a Cache) -> Option<&'a Deployment> {
    let meta = &pod.metadata;
    let owner = meta.controller().filter(|o| *o.kind == *Kind::ReplicaSet.info().kind)?;
    let key = ObjectKey::new(Kind::ReplicaSet, meta.namespace.clone(), owner.name.clone());
    let set = cache.replica_set(&key).filter(|set| set.metadata.uid == owner.uid)?;
    claim::resolve(cache, &set.metadata)
}
