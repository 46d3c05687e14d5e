//! The level-triggered ReplicaSet controller: compare the pods that are there with those that shall
//! be (`syncReplicaSet` and `manageReplicas` in Kubernetes'
//! pkg/controller/replicaset/replica_set.go).
//!
//! Left out: the look at whether the cache shows what was written last (`ConsistencyStore`, new in
//! 1.36), for which the expectations do here; ReplicationControllers, which the same code serves in
//! Kubernetes.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::api::{Kind, Object, ObjectKey, Pod, ReplicaSet, Str};
use crate::client::Cache;
use crate::controllers::{Context, Fact, Plan, Promise};

use super::claim::Claim;
use super::deletion_order::DeletionOrder;
use super::pods::{BURST, creations, deletions, path_of};
use super::status::{self, Tally, has_all_labels};

/// Decides what to do about the ReplicaSet of this key.
pub fn sync(key: &ObjectKey, cx: &Context) -> Plan {
    sync_in_bursts(key, cx, BURST)
}

/// The same, with another bound on the pods that one pass makes or deletes.
pub fn sync_in_bursts(key: &ObjectKey, cx: &Context, burst: usize) -> Plan {
    let Some(object) = cx.cache.get(key) else {
        return Plan::nothing(Fact::Gone, Fact::Gone);
    };
    let Some(set) = object.as_replica_set() else {
        return Plan::default();
    };
    let (claim, tally) = look(set, cx);
    let batches = claim.batches(object, set);
    let active = claim.claimed;
    let mut plan = Plan::nothing(Fact::Count(as_i64(active.len())), wish(set));
    plan.preparations = batches.len();
    plan.batches = batches;

    plan.requeue_after = status::next_look(set, active.iter().copied(), &tally, cx.now);
    plan.finish = Some(status::finish(object, set, tally));
    if cx.promises_kept && !set.metadata.is_terminating() {
        manage_replicas(&mut plan, object, set, active, cx, burst);
    }
    plan
}

/// Goes once through the set's own pods and the orphans of its namespace: which are its own, and
/// what is there to say of them. This is where a pass spends its time when there are many pods.
fn look<'a>(set: &'a ReplicaSet, cx: &Context<'a>) -> (Claim<'a>, Tally) {
    let (selector, template) = (&set.spec.selector, &set.spec.template.metadata.labels);
    let template_matches = selector.matches(template);
    let (mut claim, mut tally) = (Claim::default(), Tally::default());
    let now = cx.timestamp();
    for pod in pods_at_hand(set, cx.cache) {
        if pod.is_finished() {
            continue;
        }
        let labels = &pod.metadata.labels;
        let is_like_template = labels == template;
        let matches = if is_like_template { template_matches } else { selector.matches(labels) };
        if pod.metadata.is_terminating() {
            let is_own = pod.metadata.is_controlled_by(&set.metadata.uid);
            tally.terminating += i32::from(matches && is_own);
        } else if claim.sort(set, pod, matches) {
            tally.add(set, pod, is_like_template || has_all_labels(pod, set), now);
        }
    }
    (claim, tally)
}

/// Makes what is missing, deletes what is too much, and promises to.
fn manage_replicas(
    plan: &mut Plan,
    object: &Arc<Object>,
    set: &ReplicaSet,
    active: Vec<&Pod>,
    cx: &Context,
    burst: usize,
) {
    let wanted = usize::try_from(set.spec.replicas()).unwrap_or(0);
    let (missing, surplus) = (
        wanted.saturating_sub(active.len()).min(burst),
        active.len().saturating_sub(wanted).min(burst),
    );
    if missing > 0 {
        plan.promise = Some(Promise::Creations(u32::try_from(missing).unwrap_or(u32::MAX)));
        plan.batches.extend(creations(object, set, missing));
    } else if surplus > 0 {
        let related = related_pods(set, cx.cache);
        let order = DeletionOrder::standard(cx.now, cx.seed);
        let doomed = order.choose(active, &related, surplus);
        let paths = doomed.iter().map(|pod| path_of(pod)).collect();
        plan.promise = Some(Promise::Deletions(paths));
        plan.batches.push(deletions(object, doomed));
    }
}

fn wish(set: &ReplicaSet) -> Fact {
    if set.metadata.is_terminating() { Fact::Gone } else { Fact::Count(set.spec.replicas().into()) }
}

/// The set's own pods and the orphans of its namespace (`FilterPodsByOwner`).
fn pods_at_hand<'a>(set: &'a ReplicaSet, cache: &'a Cache) -> impl Iterator<Item = &'a Pod> {
    let orphans = cache.orphans(Kind::Pod, &set.metadata.namespace);
    own_pods(set, cache).chain(orphans.filter_map(|pod| pod.as_pod()))
}

/// The pods whose controller is the set, in any state.
pub fn own_pods<'a>(set: &'a ReplicaSet, cache: &'a Cache) -> impl Iterator<Item = &'a Pod> {
    let own = cache.owned_by(Kind::Pod, &set.metadata.uid);
    own.filter_map(|pod| pod.as_pod())
        .filter(|pod| pod.metadata.namespace == set.metadata.namespace)
}

/// The ReplicaSets of the same owner, itself included. A set without an owner has none.
pub fn siblings<'a>(set: &ReplicaSet, cache: &'a Cache) -> impl Iterator<Item = &'a ReplicaSet> {
    let owner = set.metadata.controller();
    let sets = owner.map(|owner| cache.owned_by(Kind::ReplicaSet, &owner.uid));
    let sets = sets.into_iter().flatten();
    sets.filter_map(|sibling| sibling.as_replica_set())
}

/// The pods that the selectors of the siblings match, whoever owns them: from these it is counted
/// how crowded a node is (`getIndirectlyRelatedPods`).
pub fn related_pods<'a>(set: &ReplicaSet, cache: &'a Cache) -> Vec<&'a Pod> {
    let mut seen: BTreeSet<&Str> = BTreeSet::new();
    let mut related = Vec::new();
    for sibling in siblings(set, cache) {
        let pods = cache.in_namespace(Kind::Pod, &sibling.metadata.namespace);
        for pod in pods.filter_map(|pod| pod.as_pod()) {
            let matches = sibling.spec.selector.matches(&pod.metadata.labels);
            if matches && seen.insert(&pod.metadata.uid) {
                related.push(pod);
            }
        }
    }
    related
}

fn as_i64(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
