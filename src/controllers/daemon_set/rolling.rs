//! Which old pods may go now (`rollingUpdate` in pkg/controller/daemon/update.go).

use std::collections::BTreeMap;

use crate::api::{Pod, Str, Timestamp};
use crate::controllers::owned::REVISION_LABEL;

/// The pods of one node: the old one and the new one, neither on its way out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pair<'a> {
    /// Of another revision than the one asked for.
    pub old: Option<&'a Pod>,
    /// Of the one asked for.
    pub new: Option<&'a Pod>,
}

/// How far an update may go at once.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Pods that may be away.
    pub unavailable: usize,
    /// Pods that may be there twice.
    pub surge: usize,
    /// Seconds that a pod must have been ready.
    pub min_ready_seconds: i32,
    /// The time.
    pub now: Timestamp,
}

/// The pods of each node, sorted by whether they are of the revision of this hash.
pub fn pairs<'a>(by_node: &BTreeMap<Str, Vec<&'a Pod>>, hash: &str) -> BTreeMap<Str, Pair<'a>> {
    let mut pairs: BTreeMap<Str, Pair<'a>> = BTreeMap::new();
    for (node, pods) in by_node {
        let pair = pairs.entry(node.clone()).or_default();
        for pod in pods.iter().filter(|pod| !pod.metadata.is_terminating()) {
            let is_new = pod.metadata.labels.get(REVISION_LABEL).is_some_and(|h| **h == *hash);
            let place = if is_new { &mut pair.new } else { &mut pair.old };
            place.get_or_insert(pod);
        }
    }
    pairs
}

/// Old pods to delete, and nodes that get a new pod beside the old one.
pub fn step<'a>(pairs: &BTreeMap<Str, Pair<'a>>, limits: Limits) -> (Vec<&'a Pod>, Vec<Str>) {
    if limits.surge > 0 {
        with_surge(pairs, limits)
    } else {
        (without_surge(pairs, limits), vec![])
    }
}

/// Old pods that are not available go first, and do not count.
fn without_surge<'a>(pairs: &BTreeMap<Str, Pair<'a>>, limits: Limits) -> Vec<&'a Pod> {
    let is_available = |pod: &Pod| pod.is_available(limits.min_ready_seconds, limits.now);
    let (mut unavailable, mut doomed, mut candidates) = (0, Vec::new(), Vec::new());
    for pair in pairs.values() {
        match (pair.old, pair.new) {
            (None, None) | (Some(_), Some(_)) => unavailable += 1,
            (None, Some(new)) => unavailable += usize::from(!is_available(new)),
            (Some(old), None) if is_available(old) => candidates.push(old),
            (Some(old), None) => {
                unavailable += 1;
                doomed.push(old);
            }
        }
    }
    let room = limits.unavailable.saturating_sub(unavailable);
    doomed.extend(candidates.into_iter().take(room));
    doomed
}

fn with_surge<'a>(pairs: &BTreeMap<Str, Pair<'a>>, limits: Limits) -> (Vec<&'a Pod>, Vec<Str>) {
    let is_available = |pod: &Pod| pod.is_available(limits.min_ready_seconds, limits.now);
    let (mut surge, mut doomed, mut first, mut later) = (0, Vec::new(), Vec::new(), Vec::new());
    for (node, pair) in pairs {
        match (pair.old, pair.new) {
            (Some(old), Some(new)) if is_available(new) || !is_available(old) => doomed.push(old),
            (Some(_), Some(_)) => surge += 1,
            // An old pod that is of no use is replaced without asking.
            (Some(old), None) if !is_available(old) => first.push(node.clone()),
            (Some(_), None) => later.push(node.clone()),
            (None, _) => {}
        }
    }
    let room = limits.surge.saturating_sub(surge);
    first.extend(later.into_iter().take(room));
    (doomed, first)
}
