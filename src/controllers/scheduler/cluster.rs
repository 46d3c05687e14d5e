//! What the scheduler knows of nodes and of the pods on them, kept up to date change by change, so
//! that a decision costs a look at each node and none at pods (`pkg/scheduler/backend/cache`,
//! `NodeInfo`).
//!
//! Pods are counted in groups that no scheduling rule can tell apart: same namespace, same managing
//! owner, same labels. A Deployment of 10,000 pods is one group.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::api::{Kind, LabelSelector, Node, Object, ObjectKey, Pod, Str, StrMap};
use crate::client::Cache;
use crate::kernel::{Hashed, Time};

use super::inter_pod::wishes_of;
use super::ports::HostPort;
use super::priority::priority_of;
use super::resources::{Resources, Usage};
use super::scores;
use super::spread::ZONE;

/// A node, and what the pods on it take.
#[derive(Clone, Debug, Default)]
pub struct NodeInfo {
    /// Its name.
    pub name: Str,
    /// The Node; absent while only its pods are known.
    pub object: Option<Arc<Object>>,
    /// Whether the Node says in which zone it is.
    pub is_zoned: bool,
    /// Whether the Node is known to be neither cordoned nor tainted.
    pub is_open: bool,
    /// What pods may request of it.
    pub allocatable: Resources,
    /// What its pods request.
    pub requested: Resources,
    /// What its pods count as when nodes are scored: thousandths of a cpu.
    pub scored_cpu_milli: i64,
    /// The same for memory, in bytes.
    pub scored_memory: i64,
    /// The ports of the machine that its pods take.
    pub ports: Vec<HostPort>,
    /// How many pods are on it.
    pub pods: i64,
    /// What LeastAllocated said last, and for a pod that takes how much; absent since the node's
    /// share changed.
    pub last_score: Option<((i64, i64), i64)>,
}

impl NodeInfo {
    /// The Node, if it is known.
    pub fn node(&self) -> Option<&Node> {
        self.object.as_ref()?.as_node()
    }

    /// What LeastAllocated says of the node for a pod that takes this much. One decision changes
    /// one node, and most pods take what the one before them took: the others need no division.
    fn least_allocated(&mut self, usage: &Usage) -> i64 {
        let wanted = (usage.scored_cpu_milli, usage.scored_memory);
        if let Some((last, score)) = self.last_score
            && last == wanted
        {
            return score;
        }
        let score = scores::least_allocated(&scores::scored(usage, self));
        self.last_score = Some((wanted, score));
        score
    }

    fn take(&mut self, usage: &Usage) {
        self.last_score = None;
        self.requested.add(&usage.request);
        self.scored_cpu_milli += usage.scored_cpu_milli;
        self.scored_memory += usage.scored_memory;
        self.ports.extend(usage.ports.iter().cloned());
        self.pods += 1;
    }

    fn give_back(&mut self, usage: &Usage) {
        self.last_score = None;
        self.requested.subtract(&usage.request);
        self.scored_cpu_milli -= usage.scored_cpu_milli;
        self.scored_memory -= usage.scored_memory;
        for port in &usage.ports {
            let place = self.ports.iter().position(|taken| taken == port);
            place.map(|place| self.ports.swap_remove(place));
        }
        self.pods -= 1;
    }
}

/// What pods of one group have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Group {
    /// Their namespace.
    pub namespace: Str,
    /// The uid of the owner that manages them; empty for none.
    pub owner: Str,
    /// Their labels.
    pub labels: StrMap,
    /// What they ask of the pods around them.
    pub wishes: Str,
    /// They are being deleted: spreading no longer counts them.
    pub is_going: bool,
}

impl Group {
    fn of(pod: &Pod) -> Group {
        let owner = pod.metadata.controller().map(|owner| owner.uid.clone());
        Group {
            namespace: pod.metadata.namespace.clone(),
            owner: owner.unwrap_or_default(),
            labels: pod.metadata.labels.clone(),
            wishes: wishes_of(&pod.spec),
            is_going: pod.metadata.is_terminating(),
        }
    }
}

/// Where a pod is counted.
#[derive(Clone, Debug)]
pub struct Placement {
    /// The pod's uid.
    pub uid: Str,
    /// The node.
    pub node: Str,
    /// The pod's priority.
    pub priority: i64,
    usage: Usage,
    group: Arc<Group>,
    generation: i64,
    /// Since when the pod is only assumed to be there: its binding is under way.
    assumed: Option<Time>,
}

/// The nodes, and the pods on them.
#[derive(Clone, Debug, Default)]
pub struct Cluster {
    /// By name.
    nodes: Vec<NodeInfo>,
    placements: Hashed<ObjectKey, Placement>,
    /// For each group how many of its pods are on each node, in the order of `nodes`.
    groups: BTreeMap<Arc<Group>, Vec<u32>>,
    /// How many pods there are of each priority.
    priorities: BTreeMap<i64, u32>,
    /// The labels of the namespaces, from the first pod on that asks for some.
    namespaces: BTreeMap<Str, StrMap>,
}

impl Placement {
    /// A pod on a node, or promised to one.
    pub fn of(pod: &Pod, usage: Usage, node: &Str, assumed: Option<Time>) -> Placement {
        Placement {
            uid: pod.metadata.uid.clone(),
            node: node.clone(),
            priority: priority_of(pod),
            usage,
            group: Arc::new(Group::of(pod)),
            generation: pod.metadata.generation,
            assumed,
        }
    }
}

impl Cluster {
    /// What the cache shows; for a fresh start, or to make good what a lost change spoilt.
    pub fn of(cache: &Cache) -> Cluster {
        let mut cluster = Cluster::default();
        for node in cache.all(Kind::Node) {
            cluster.put_node(node);
        }
        cache.all(Kind::Namespace).for_each(|namespace| cluster.put_namespace(namespace));
        for pod in cache.all(Kind::Pod).filter_map(|object| object.as_pod()) {
            cluster.observe_pod(pod);
        }
        cluster
    }

    /// The nodes by name, those known only by their pods included.
    pub fn nodes(&self) -> &[NodeInfo] {
        &self.nodes
    }

    /// All groups, with how many of their pods are on each node, in the order of `nodes`.
    pub fn all_groups(&self) -> impl Iterator<Item = (&Group, &[u32])> + '_ {
        self.groups.iter().map(|(group, counts)| (&**group, &counts[..]))
    }

    /// The groups of a namespace whose pods stay, with how many of them are on each node, in the
    /// order of `nodes`. With an owner: only the groups of that owner.
    pub fn groups<'a>(
        &'a self,
        namespace: &Str,
        owner: Option<&Str>,
    ) -> impl Iterator<Item = (&'a Group, &'a [u32])> + 'a {
        let first = Group {
            namespace: namespace.clone(),
            owner: owner.cloned().unwrap_or_default(),
            ..Group::default()
        };
        let owner = owner.cloned();
        let namespace = namespace.clone();
        self.groups
            .range(Arc::new(first)..)
            .take_while(move |(group, _)| {
                group.namespace == namespace && owner.as_ref().is_none_or(|o| *o == group.owner)
            })
            .filter(|(group, _)| !group.is_going)
            .map(|(group, counts)| (&**group, &counts[..]))
    }

    /// What LeastAllocated says of these nodes, given by their places, for a pod that takes this
    /// much.
    pub fn least_allocated(&mut self, places: &[usize], usage: &Usage) -> Vec<i64> {
        places.iter().map(|place| self.nodes[*place].least_allocated(usage)).collect()
    }

    fn position(&self, name: &str) -> Result<usize, usize> {
        self.nodes.binary_search_by(|info| (*info.name).cmp(name))
    }

    fn index_of(&mut self, name: &Str) -> usize {
        self.position(name).unwrap_or_else(|index| {
            let name = name.clone();
            let info = NodeInfo { name, ..NodeInfo::default() };
            self.nodes.insert(index, info);
            for counts in self.groups.values_mut() {
                counts.insert(index, 0);
            }
            index
        })
    }

    fn drop_if_empty(&mut self, index: usize) {
        let info = &self.nodes[index];
        if info.object.is_none() && info.pods == 0 {
            self.nodes.remove(index);
            for counts in self.groups.values_mut() {
                counts.remove(index);
            }
        }
    }

    /// Takes a Node as it is now.
    pub fn put_node(&mut self, object: &Arc<Object>) {
        let Some(node) = object.as_node() else {
            return;
        };
        let index = self.index_of(&node.metadata.name);
        let info = &mut self.nodes[index];
        info.allocatable = Resources::of(&node.status.allocatable);
        info.last_score = None;
        info.is_zoned = node.metadata.labels.contains_key(ZONE);
        info.is_open = !node.spec.unschedulable && node.spec.taints.is_empty();
        info.object = Some(object.clone());
    }

    /// Forgets a Node. Its pods stay counted until they go.
    pub fn remove_node(&mut self, name: &Str) {
        if let Ok(index) = self.position(name) {
            let info = &mut self.nodes[index];
            (info.object, info.is_zoned, info.is_open) = (None, false, false);
            info.allocatable = Resources::default();
            info.last_score = None;
            self.drop_if_empty(index);
        }
    }

    /// Takes a Namespace as it is now.
    pub fn put_namespace(&mut self, object: &Arc<Object>) {
        let meta = object.meta();
        self.namespaces.insert(meta.name.clone(), meta.labels.clone());
    }

    /// Forgets a Namespace.
    pub fn remove_namespace(&mut self, name: &Str) {
        self.namespaces.remove(name);
    }

    /// Whether a namespace is among those that have certain labels. One that is not known has none.
    pub fn selects_namespace(&self, selector: &LabelSelector, name: &Str) -> bool {
        let labels = self.namespaces.get(name);
        labels.map_or_else(|| selector.is_empty(), |labels| selector.matches(labels))
    }

    /// Takes a pod as it is now. Returns whether something became free.
    pub fn observe_pod(&mut self, pod: &Pod) -> bool {
        let key = key_of(pod);
        let Some(node) = pod.spec.node_name.as_ref().filter(|_| !pod.is_finished()) else {
            // A pod that is only assumed does not become free because the cache lags behind.
            let waits = |p: &Placement| p.assumed.is_some() && p.uid == pod.metadata.uid;
            let stays = self.placements.get(&key).is_none_or(waits) && !pod.is_finished();
            return !stays && self.remove_pod(&key);
        };
        let here = self.placements.get_mut(&key);
        if let Some(here) = here.filter(|p| p.uid == pod.metadata.uid && p.node == *node) {
            here.assumed = None;
            if pod.metadata.is_terminating() {
                self.is_going(&key);
            } else if here.generation != pod.metadata.generation
                || here.group.labels != pod.metadata.labels
            {
                return self.place_again(pod, node);
            }
            return false;
        }
        let freed = self.remove_pod(&key);
        self.place(pod, Usage::of(&pod.spec), node, None);
        freed
    }

    fn place_again(&mut self, pod: &Pod, node: &Str) -> bool {
        self.remove_pod(&key_of(pod));
        self.place(pod, Usage::of(&pod.spec), node, None);
        true
    }

    /// Counts a pod on the node to which it is about to be bound.
    pub fn assume(&mut self, pod: &Pod, usage: Usage, node: &Str, now: Time) {
        self.remove_pod(&key_of(pod));
        self.place(pod, usage, node, Some(now));
    }

    fn place(&mut self, pod: &Pod, usage: Usage, node: &Str, assumed: Option<Time>) {
        self.put_back(key_of(pod), Placement::of(pod, usage, node, assumed));
    }

    /// Counts a pod that was taken out, or that may come.
    pub fn put_back(&mut self, key: ObjectKey, mut placement: Placement) {
        let index = self.index_of(&placement.node);
        self.nodes[index].take(&placement.usage);
        placement.group = self.count(placement.group, index);
        *self.priorities.entry(placement.priority).or_default() += 1;
        self.placements.insert(key, placement);
    }

    fn count(&mut self, group: Arc<Group>, index: usize) -> Arc<Group> {
        let places = self.nodes.len();
        let group = match self.groups.get_key_value(&group) {
            Some((known, _)) => known.clone(),
            None => group,
        };
        let counts = self.groups.entry(group.clone());
        counts.or_insert_with(|| vec![0; places])[index] += 1;
        group
    }

    /// A pod is being deleted: it takes its place until it is gone, and counts with others that go.
    fn is_going(&mut self, key: &ObjectKey) {
        let Some(placement) = self.placements.get(key).filter(|p| !p.group.is_going) else {
            return;
        };
        let (group, node) = (placement.group.clone(), placement.node.clone());
        let Ok(index) = self.position(&node) else {
            return;
        };
        self.uncount(&group, index);
        let going = Group { is_going: true, ..Group::clone(&group) };
        let group = self.count(Arc::new(going), index);
        if let Some(placement) = self.placements.get_mut(key) {
            placement.group = group;
        }
    }

    fn uncount(&mut self, group: &Arc<Group>, index: usize) {
        if let Some(counts) = self.groups.get_mut(group) {
            counts[index] = counts[index].saturating_sub(1);
            if counts.iter().all(|count| *count == 0) {
                self.groups.remove(group);
            }
        }
    }

    /// Forgets a pod. Returns whether something became free.
    pub fn remove_pod(&mut self, key: &ObjectKey) -> bool {
        self.take_out(key).is_some()
    }

    /// Forgets a pod; what `put_back` takes.
    pub fn take_out(&mut self, key: &ObjectKey) -> Option<Placement> {
        let placement = self.placements.remove(key)?;
        if let Some(count) = self.priorities.get_mut(&placement.priority) {
            *count -= 1;
            if *count == 0 {
                self.priorities.remove(&placement.priority);
            }
        }
        if let Ok(index) = self.position(&placement.node) {
            self.uncount(&placement.group, index);
            self.nodes[index].give_back(&placement.usage);
            self.drop_if_empty(index);
        }
        Some(placement)
    }

    /// The pods of a lower priority, by the name of their node.
    pub fn below(&self, priority: i64) -> BTreeMap<Str, Vec<ObjectKey>> {
        let mut found: BTreeMap<Str, Vec<ObjectKey>> = BTreeMap::new();
        if self.priorities.range(..priority).next().is_none() {
            return found;
        }
        for (key, placement) in self.placements.in_order(|p| p.priority < priority) {
            found.entry(placement.node.clone()).or_default().push(key.clone());
        }
        found
    }

    /// The place of the node of this name in `nodes`, if its Node is known.
    pub fn place_of(&self, name: &str) -> Option<usize> {
        self.position(name).ok().filter(|place| self.nodes[*place].object.is_some())
    }

    /// Since when the pod of this key and uid is assumed to be on a node.
    pub fn assumed_since(&self, key: &ObjectKey, uid: &Str) -> Option<Time> {
        let placement = self.placements.get(key).filter(|p| p.uid == *uid)?;
        placement.assumed
    }

    /// Takes over what the other cluster assumes and this one does not know.
    pub fn take_assumed(&mut self, other: &Cluster, cache: &Cache) {
        for (key, placement) in other.placements.in_order(|p| p.assumed.is_some()) {
            let (Some(since), Some(pod)) = (placement.assumed, cache.pod(key)) else {
                continue;
            };
            if !self.placements.contains_key(key) && pod.metadata.uid == placement.uid {
                self.place(pod, placement.usage.clone(), &placement.node, Some(since));
            }
        }
    }
}

/// The key of a pod.
pub fn key_of(pod: &Pod) -> ObjectKey {
    let meta = &pod.metadata;
    ObjectKey::new(Kind::Pod, meta.namespace.clone(), meta.name.clone())
}
