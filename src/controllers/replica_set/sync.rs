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
use crate::controllers::{Context, Fact, Plan, Promise, here};

use super::claim::Claim;
use super::deletion_order::DeletionOrder;
use super::pods::{BURST, creations, deletions, path_of};
use super::status::{self, Tally, has_all_labels, includes};

/// Decides what to do about the ReplicaSet of this key.
pub fn sync(key: &ObjectKey, cx: &Context) -> Plan {
    sync_in_bursts(key, cx, BURST)
}

/// The same, with another bound on the pods that one pass makes or deletes.
pub fn sync_in_bursts(key: &ObjectKey, cx: &Context, burst: usize) -> Plan {
    let Some(object) = cx.cache.get(key) else {
        return Plan::nothing(Fact::Gone, Fact::Gone).by(here!());
    };
    let Some(set) = object.as_replica_set() else {
        return Plan::default();
    };
    if let Some(tally) = glance(set, cx.cache)
        && tally.replicas <= set.spec.replicas()
    {
        return planned(object, set, Claim::default(), tally, cx, burst).by(here!());
    }
    let (claim, tally) = look(set, cx);
    planned(object, set, claim, tally, cx, burst).by(here!())
}

fn planned(
    object: &Arc<Object>,
    set: &ReplicaSet,
    claim: Claim,
    tally: Tally,
    cx: &Context,
    burst: usize,
) -> Plan {
    let batches = claim.batches(object, set);
    let mut plan = Plan::nothing(Fact::Count(tally.replicas.into()), wish(set));
    plan.preparations = batches.len();
    plan.batches = batches;
    plan.requeue_after = status::next_look(set, claim.claimed.iter().copied(), &tally, cx.now);
    plan.finish = Some(status::finish(object, set, tally));
    if cx.promises_kept && !set.metadata.is_terminating() {
        let active = usize::try_from(tally.replicas).unwrap_or(0);
        manage_replicas(&mut plan, object, set, (active, claim.claimed), cx, burst);
    } else {
        // What was promised before is not in the cache yet, or the set is going.
        plan.trail.push(here!());
    }
    plan
}

/// The numbers of a set, from its pods by groups: enough where each pod counts for itself and none
/// need be known by name. Nothing where one must look closer: an orphan of its namespace, a pod of
/// its own that its selector does not match, or time that a pod must be ready for.
fn glance(set: &ReplicaSet, cache: &Cache) -> Option<Tally> {
    let (selector, template) = (&set.spec.selector, &set.spec.template.metadata.labels);
    let has_orphans = cache.orphans(Kind::Pod, &set.metadata.namespace).next().is_some();
    if has_orphans || set.spec.min_ready_seconds > 0 {
        return None;
    }
    let mut tally = Tally::default();
    for group in cache.pod_groups(&set.metadata.uid) {
        if group.finished || group.namespace != set.metadata.namespace {
            continue;
        }
        let count = i32::try_from(group.count).unwrap_or(i32::MAX);
        match selector.matches(&group.labels) {
            true if group.terminating => tally.terminating += count,
            true => tally.add_alike(count, includes(&group.labels, template), group.ready),
            false if group.terminating => {}
            false => return None,
        }
    }
    Some(tally)
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

/// Makes what is missing, deletes what is too much, and promises to. The active pods come as their
/// number and, where there are too many, one by one.
fn manage_replicas(
    plan: &mut Plan,
    object: &Arc<Object>,
    set: &ReplicaSet,
    (count, active): (usize, Vec<&Pod>),
    cx: &Context,
    burst: usize,
) {
    let wanted = usize::try_from(set.spec.replicas()).unwrap_or(0);
    let missing = wanted.saturating_sub(count).min(burst);
    let surplus = count.saturating_sub(wanted).min(burst);
    if missing > 0 {
        plan.trail.push(here!());
        plan.promise = Some(Promise::Creations(u32::try_from(missing).unwrap_or(u32::MAX)));
        plan.batches.extend(creations(object, set, missing));
    } else if surplus > 0 {
        plan.trail.push(here!());
        let related = related_pods(set, cx.cache);
        let order = DeletionOrder::standard(cx.now, cx.seed);
        let doomed = order.choose(active, &related, surplus);
        let paths = doomed.iter().map(|pod| path_of(pod)).collect();
        plan.promise = Some(Promise::Deletions(paths));
        plan.batches.push(deletions(object, doomed));
    } else {
        plan.trail.push(here!());
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
