//! What wakes the level-triggered flavour, and which expectations an event meets (`addPod`,
//! `updatePod`, `deletePod`, `addRS`, `updateRS`, `deleteRS` in Kubernetes'
//! pkg/controller/replicaset/replica_set.go).

use std::sync::Arc;
use std::time::Duration;

use crate::api::{Kind, Object, ObjectKey, OwnerReference, Pod, ReplicaSet};
use crate::client::Cache;
use crate::controllers::{Change, ChangeKind, Context, Woken};

use super::pods::path_of;

/// Which ReplicaSets a change wakes.
pub fn wakes(change: &Change, cx: &Context) -> Woken {
    let mut woken = Woken::default();
    match &*change.object {
        Object::ReplicaSet(_) => set_changed(change, &mut woken),
        Object::Pod(pod) if change.is_deletion() => pod_deleted(pod, cx.cache, &mut woken),
        Object::Pod(pod) => match change.before.as_ref().and_then(|before| before.as_pod()) {
            Some(before) if change.kind == ChangeKind::Updated => {
                pod_updated(before, pod, cx.cache, &mut woken);
            }
            _ => pod_added(pod, cx.cache, &mut woken),
        },
        _ => {}
    }
    woken.keys.sort();
    woken.keys.dedup();
    woken
}

/// Every change of a set is a reason to look at it, a resync too. Another uid under the same name
/// means that a deletion went unseen.
fn set_changed(change: &Change, woken: &mut Woken) {
    let uid = &change.object.meta().uid;
    let replaced = change.before.as_ref().is_some_and(|b| b.meta().uid != *uid);
    if change.is_deletion() || replaced {
        woken.forgotten.push(change.key());
    }
    woken.keys.push(change.key());
}

fn pod_added(pod: &Pod, cache: &Cache, woken: &mut Woken) {
    if pod.metadata.is_terminating() {
        // First seen when it is already being deleted, as after a restart: no creation to count.
        return pod_deleted(pod, cache, woken);
    }
    match pod.metadata.controller() {
        Some(owner) => {
            if let Some(set) = owning_set(pod, owner, cache) {
                woken.created.push(set.key());
                woken.keys.push(set.key());
            }
        }
        // Nobody waits for an orphan: only see who may adopt it.
        None => woken.keys.extend(matching_sets(pod, cache).map(|set| set.key())),
    }
}

fn pod_updated(before: &Pod, pod: &Pod, cache: &Cache, woken: &mut Woken) {
    if before.metadata.resource_version == pod.metadata.resource_version {
        // A resync.
        return;
    }
    let labels_changed = before.metadata.labels != pod.metadata.labels;
    if pod.metadata.is_terminating() {
        // As good as gone: replaced at once and not when the kubelet is done with it.
        pod_deleted(pod, cache, woken);
        if labels_changed {
            pod_deleted(before, cache, woken);
        }
        return;
    }
    let (was, is) = (before.metadata.controller(), pod.metadata.controller());
    let former = was.filter(|owner| is != Some(owner));
    let former = former.and_then(|owner| owning_set(before, owner, cache));
    woken.keys.extend(former.map(|set| set.key()));
    match is {
        Some(owner) => {
            if let Some(set) = owning_set(pod, owner, cache) {
                woken.keys.push(set.key());
                look_when_available(before, pod, set, woken);
            }
        }
        None if labels_changed || was.is_some() => {
            woken.keys.extend(matching_sets(pod, cache).map(|set| set.key()));
        }
        None => {}
    }
}

fn look_when_available(before: &Pod, pod: &Pod, set: &Arc<Object>, woken: &mut Woken) {
    let seconds = set.as_replica_set().map_or(0, |set| set.spec.min_ready_seconds);
    if !before.is_ready() && pod.is_ready() && seconds > 0 {
        let wait = Duration::from_secs(seconds.unsigned_abs().into());
        woken.later.push((set.key(), wait));
    }
}

/// Also for tombstones, whose pod may be stale: the owner it had last is all there is to go by.
fn pod_deleted(pod: &Pod, cache: &Cache, woken: &mut Woken) {
    let owner = pod.metadata.controller();
    if let Some(set) = owner.and_then(|owner| owning_set(pod, owner, cache)) {
        woken.deleted.push((set.key(), path_of(pod)));
        woken.keys.push(set.key());
    }
}

/// The set that a pod's owner reference means, if the cache has that very one.
pub fn owning_set<'a>(
    pod: &Pod,
    owner: &OwnerReference,
    cache: &'a Cache,
) -> Option<&'a Arc<Object>> {
    if &*owner.kind != Kind::ReplicaSet.info().kind {
        return None;
    }
    let namespace = pod.metadata.namespace.clone();
    let key = ObjectKey::new(Kind::ReplicaSet, namespace, owner.name.clone());
    let set = cache.get(&key)?;
    (set.meta().uid == owner.uid).then_some(set)
}

/// The sets whose selectors match a pod (`GetPodReplicaSets`). An empty selector matches none, and
/// a pod without labels is matched by none.
pub fn matching_sets<'a>(pod: &'a Pod, cache: &'a Cache) -> impl Iterator<Item = &'a Arc<Object>> {
    let matches = |set: &ReplicaSet| {
        !pod.metadata.labels.is_empty()
            && !set.spec.selector.is_empty()
            && set.spec.selector.matches(&pod.metadata.labels)
    };
    cache
        .in_namespace(Kind::ReplicaSet, &pod.metadata.namespace)
        .filter(move |object| object.as_replica_set().is_some_and(matches))
}
