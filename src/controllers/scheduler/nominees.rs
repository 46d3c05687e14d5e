//! Pods that wait for room on a node where others were made to go
//! (`pkg/scheduler/backend/queue/nominator.go`): for pods of no higher rank they count as if they
//! were there already, or the room would be taken before they come.

use std::collections::BTreeMap;

use crate::api::{Object, ObjectKey, Pod, Str};

use super::cluster::{Cluster, Placement, key_of};
use super::filters::{self, Incoming, Rejection, Verdict};
use super::inter_pod::InterPod;
use super::priority::{nominated_node, priority_of};
use super::resources::Usage;
use super::spread::Spread;

/// The pods that were promised a node.
#[derive(Clone, Debug, Default)]
pub struct Nominees(BTreeMap<ObjectKey, Placement>);

impl Nominees {
    /// Whether no pod was promised a node.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes a waiting pod as it is now. One whose promise does not stand in its status yet keeps
    /// it: the write is under way.
    pub fn observe(&mut self, pod: &Pod, before: Option<&Object>) {
        let key = key_of(pod);
        if self.0.get(&key).is_some_and(|nominee| nominee.uid != pod.metadata.uid) {
            self.forget(&key);
        }
        let had = || before.and_then(|before| before.as_pod()).and_then(nominated_node);
        match nominated_node(pod) {
            Some(node) => self.promise(pod, &node),
            None if had().is_some() => self.forget(&key),
            None => {}
        }
    }

    /// Promises a node to a pod.
    pub fn promise(&mut self, pod: &Pod, node: &Str) {
        let placement = Placement::of(pod, Usage::of(&pod.spec), node, None);
        self.0.insert(key_of(pod), placement);
    }

    /// Takes the promise in a pod's status, if none is remembered.
    pub fn remember(&mut self, pod: &Pod) {
        if let Some(node) = nominated_node(pod).filter(|_| !self.0.contains_key(&key_of(pod))) {
            self.promise(pod, &node);
        }
    }

    /// Forgets a pod that has a node, is gone, or lost its promise.
    pub fn forget(&mut self, key: &ObjectKey) {
        self.0.remove(key);
    }

    /// The pods of a lower priority that are promised this node.
    pub fn below(&self, node: &str, priority: i64) -> Vec<ObjectKey> {
        let on_it = self.0.iter().filter(|(_, nominee)| *nominee.node == *node);
        on_it.filter(|(_, n)| n.priority < priority).map(|(key, _)| key.clone()).collect()
    }

    /// The pods that count when this one is to go to this node.
    fn before(&self, pod: &Pod, node: &str) -> Vec<(ObjectKey, Placement)> {
        let own = priority_of(pod);
        let counts = |(_, nominee): &(&ObjectKey, &Placement)| {
            *nominee.node == *node && nominee.priority >= own && nominee.uid != pod.metadata.uid
        };
        let counted = self.0.iter().filter(counts);
        counted.map(|(key, nominee)| (key.clone(), nominee.clone())).collect()
    }
}

/// Whether a pod may go to the node at this place, with those that were promised it and without
/// (`RunFilterPluginsWithNominatedPods`): they may yet go elsewhere. `alone` judges what is there.
pub fn verdict(
    cluster: &mut Cluster,
    nominees: &Nominees,
    incoming: &Incoming<'_>,
    place: usize,
    alone: impl FnOnce(&Cluster) -> Verdict,
) -> Verdict {
    // This is asked for every node, and most clusters never promise anything.
    if nominees.is_empty() {
        return alone(cluster);
    }
    let promised = nominees.before(incoming.pod, &cluster.nodes()[place].name);
    if !promised.is_empty() {
        let keys: Vec<_> = promised.iter().map(|(key, _)| key.clone()).collect();
        promised.into_iter().for_each(|(key, nominee)| cluster.put_back(key, nominee));
        let verdict = afresh(cluster, incoming, place);
        keys.iter().for_each(|key| drop(cluster.take_out(key)));
        verdict?;
    }
    alone(cluster)
}

/// All filters on one node, counted afresh.
pub fn afresh(cluster: &Cluster, incoming: &Incoming<'_>, place: usize) -> Verdict {
    let info = &cluster.nodes()[place];
    let Some(node) = info.node() else {
        return Err(Rejection { reasons: Vec::new(), resolvable: false });
    };
    filters::filter(incoming, info, node)?;
    Spread::hard(incoming.pod, &incoming.affinity, cluster).filter(node)?;
    InterPod::of(incoming.pod, cluster).filter(node)
}
