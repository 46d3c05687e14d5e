//! Node lifecycle: a node that is silent is written off, tainted, and its pods are told so and in
//! the end deleted (`pkg/controller/nodelifecycle`, `pkg/controller/tainteviction`).
//! Level-triggered, and the same in both lanes.
//!
//! Every five seconds (`PERIOD`) `monitor` looks at all nodes and their leases and returns the keys
//! of those about which something is to be done; in a healthy cluster none. Keys of nodes lead to
//! their conditions and taints, keys of pods to their eviction.
//!
//! ```text
//! last lease ── 50 s ──> Ready=Unknown, pods Ready=False, taint unreachable:NoSchedule
//!                          └─ next round, and the zone's turn ──> taint unreachable:NoExecute
//!                               └─ tolerationSeconds, 300 by default ──> pods deleted
//! ```
//!
//! In the same process live the eviction of pods and the garbage collection of those whose node is
//! gone (`pod_garbage_collector`): controllers of their own in Kubernetes.
//!
//! Left out: labels that are made equal. On its start Kubernetes takes the NoExecute taints off all
//! nodes and sets them again; here they stay.

pub mod eviction;
pub mod health;
pub mod node_taints;
#[cfg(test)]
mod tests;
pub mod zones;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::api::{Condition, ConditionStatus, Kind, Node, Object, ObjectKey, Pod, Str};
use crate::apiserver::{Part, Request, Response};
use crate::controllers::pod_garbage_collector::PodGarbageCollector;
use crate::controllers::taints::{NOT_READY, UNREACHABLE};
use crate::controllers::{Batch, Change, Context, Deed, EventNote, Fact, Intent, Plan, Woken};
use crate::kernel::{Hashed, Time};

use eviction::{Evictions, expelling};
use health::{Health, Marking, is_trusted, put_in_doubt, ready};
use node_taints::{Expulsion, is_expelled, taints_after};
use zones::{Turn, Zones, zone_of};

/// How often the monitor looks at all nodes (`--node-monitor-period`).
pub const PERIOD: Duration = Duration::from_secs(5);

/// Nodes with this label do not count when a zone is judged.
const NOT_COUNTED: &str = "node.kubernetes.io/exclude-disruption";

/// The controller's memory, wiped when its process is killed.
#[derive(Clone, Debug, Default)]
pub struct NodeLifecycle {
    healths: BTreeMap<Str, Health>,
    zones: Zones,
    evictions: Evictions,
    collector: PodGarbageCollector,
    /// The pods of each node.
    pods: Hashed<Str, Hashed<ObjectKey, ()>>,
}

impl NodeLifecycle {
    /// The queue holds nodes and pods. Takes a change in, and says whom it wakes.
    pub fn wakes(&mut self, change: &Change, cx: &Context<'_>) -> Woken {
        let keys = match &*change.object {
            Object::Node(node) => self.node_changed(change, node, cx),
            Object::Pod(pod) => self.pod_changed(change, pod, cx),
            _ => Vec::new(),
        };
        Woken { keys, ..Woken::default() }
    }

    fn node_changed(&self, change: &Change, node: &Node, cx: &Context<'_>) -> Vec<ObjectKey> {
        if change.is_deletion() {
            return Vec::new();
        }
        let mut keys = Vec::new();
        let stale = taints_after(node, Expulsion::Keep, cx.timestamp()).is_some();
        keys.extend(stale.then(|| change.key()));
        let before = change.before.as_ref().and_then(|before| before.as_node());
        let before = before.map_or(&[][..], |node| &node.spec.taints);
        if expelling(before) != expelling(&node.spec.taints) {
            keys.extend(pods_on(&self.pods, &node.metadata.name).cloned());
        }
        keys
    }

    fn pod_changed(&mut self, change: &Change, pod: &Pod, cx: &Context<'_>) -> Vec<ObjectKey> {
        let before = change.before.as_ref().and_then(|before| before.as_pod());
        let moved = before.is_none_or(|before| before.spec.node_name != pod.spec.node_name);
        let again = before.is_some_and(|before| {
            before.metadata.resource_version == pod.metadata.resource_version
                || before.spec.tolerations != pod.spec.tolerations
        });
        if !moved && !again && !change.is_deletion() {
            return Vec::new();
        }
        let key = change.key();
        let Some(name) = &pod.spec.node_name else {
            return Vec::new();
        };
        if change.is_deletion() {
            self.evictions.forget(&key);
            if let Some(pods) = self.pods.get_mut(name) {
                pods.remove(&key);
                if pods.is_empty() {
                    self.pods.remove(name);
                }
            }
            return Vec::new();
        }
        self.pods.get_or_insert_with(name, Hashed::default).insert(key.clone(), ());
        let node = cx.cache.node(name);
        let expels = node.is_some_and(|node| !expelling(&node.spec.taints).is_empty());
        if expels { vec![key] } else { Vec::new() }
    }

    /// One round over all nodes, and one over all pods if that is due. Returns the keys to be put
    /// into the queue.
    pub fn monitor(&mut self, cx: &Context<'_>) -> Vec<ObjectKey> {
        let mut keys = self.monitor_nodes(cx);
        keys.extend(self.collector.round(cx));
        keys
    }

    /// When the pods of a node that does not exist will be deleted, if it stays so.
    pub fn collects_at(&self, node: &Str, now: Time) -> Time {
        self.collector.acts_at(node, now)
    }

    fn monitor_nodes(&mut self, cx: &Context<'_>) -> Vec<ObjectKey> {
        let mut states = Vec::new();
        for object in cx.cache.all(Kind::Node) {
            let Some(node) = object.as_node() else {
                continue;
            };
            let health = observe(&mut self.healths, object, node, cx);
            let silent = health.is_silent(node, cx.now);
            let status = ready(node).map(|ready| ready.status);
            health.observed = status;
            let is_ready = status == Some(ConditionStatus::True) && !silent;
            if !node.metadata.labels.contains_key(NOT_COUNTED) {
                states.push((zone_of(node), is_ready));
            }
        }
        if self.zones.update(states.into_iter()) == Turn::Recovered {
            // It was the network: every node gets its full time again.
            self.healths.values_mut().for_each(|health| health.heard = cx.now);
        }
        let key = |name: &Str| ObjectKey::new(Kind::Node, "", name.clone());
        let names = self.healths.keys();
        names.filter(|name| self.needs(name, cx)).map(key).collect()
    }

    /// Whether something is to be done about a node, and can be.
    fn needs(&self, name: &Str, cx: &Context<'_>) -> bool {
        let (Some(health), Some(node)) = (self.healths.get(name), cx.cache.node(name)) else {
            return true;
        };
        let lost = health.is_silent(node, cx.now) && is_trusted(node);
        let (expulsion, _) = self.expulsion(node, health, cx.now);
        let taints = taints_after(node, expulsion, cx.timestamp()).is_some();
        let retry = health.marking.is_due(cx.now);
        !health.registered || lost || taints || retry
    }

    /// Looks at the node or pod of this key.
    pub fn sync(&mut self, key: &ObjectKey, cx: &Context<'_>) -> Plan {
        match key.kind {
            Kind::Node => self.sync_node(key, cx),
            Kind::Pod => self.sync_pod(key, cx),
            _ => Plan::default(),
        }
    }

    /// Takes the answer to a request of a pass: whether a node exists.
    pub fn answered(&mut self, _: &ObjectKey, request: &Request, response: &Response) -> Woken {
        Woken { keys: self.collector.answered(request, response), ..Woken::default() }
    }

    fn sync_pod(&mut self, key: &ObjectKey, cx: &Context<'_>) -> Plan {
        let object = cx.cache.get(key);
        let collected = object.and_then(|object| self.collector.sync(object, cx));
        collected.unwrap_or_else(|| self.evictions.sync(key, cx))
    }

    fn sync_node(&mut self, key: &ObjectKey, cx: &Context<'_>) -> Plan {
        let object = cx.cache.get(key);
        let Some((object, node)) = object.and_then(|o| Some((o, o.as_node()?))) else {
            let mut plan = self.farewell(&key.name);
            plan.batches.extend(self.collector.question(&key.name, cx.now).map(|ask| vec![ask]));
            return plan;
        };
        let health = observe(&mut self.healths, object, node, cx);
        let seen = ready(node).map_or("Unknown", |ready| word(ready.status));
        let mut plan = Plan::nothing(Fact::Word(seen.into()), Fact::Word("True".into()));
        if !std::mem::replace(&mut health.registered, true) {
            let text = format!("Registered Node {} in Controller", key.name);
            plan.events.push(node_note(object, "RegisteredNode", &text));
        }
        if health.is_silent(node, cx.now) && is_trusted(node) {
            let was_ready = Condition::holds(&node.status.conditions, "Ready");
            if was_ready {
                health.marking = Marking::Wanted;
            }
            plan.then(write_off(object, node, was_ready, cx));
        }
        self.change_taints(node, &mut plan, cx);
        self.mark_pods(node, &mut plan, cx);
        plan
    }

    fn farewell(&mut self, name: &Str) -> Plan {
        let mut plan = Plan::nothing(Fact::Gone, Fact::Gone);
        if let Some(health) = self.healths.remove(name) {
            let text = format!("Removing Node {name} from Controller");
            plan.events.push(node_note(&health.object, "RemovingNode", &text));
        }
        plan
    }

    fn change_taints(&mut self, node: &Node, plan: &mut Plan, cx: &Context<'_>) {
        let Some(health) = self.healths.get(&node.metadata.name) else {
            return;
        };
        let (expulsion, wait) = self.expulsion(node, health, cx.now);
        plan.requeue_after = wait;
        if matches!(expulsion, Expulsion::By(_)) && !is_expelled(node) {
            self.zones.take(&zone_of(node), cx.now);
        }
        if let Some(taints) = taints_after(node, expulsion, cx.timestamp()) {
            let mut after = node.clone();
            after.spec.taints = taints;
            let request = Request::Update(Part::Main, Arc::new(after.into()));
            plan.then(Intent::tolerant(Deed::Taint, request));
        }
    }

    /// What the node's NoExecute taints shall be, and after what time it is its turn if it has to
    /// wait. A node goes by what the last round of the monitor saw; one that is tainted already may
    /// change its taint at once.
    fn expulsion(&self, node: &Node, health: &Health, now: Time) -> (Expulsion, Option<Duration>) {
        let status = ready(node).map(|ready| ready.status);
        let key = match (health.observed, status) {
            (None, _) | (_, None) => return (Expulsion::Keep, None),
            _ if self.zones.all_are_down() => return (Expulsion::None, None),
            (Some(ConditionStatus::True), Some(ConditionStatus::True)) => {
                return (Expulsion::None, None);
            }
            (Some(ConditionStatus::True), _) | (_, Some(ConditionStatus::True)) => {
                return (Expulsion::Keep, None);
            }
            (_, Some(ConditionStatus::False)) => NOT_READY,
            (_, Some(ConditionStatus::Unknown)) => UNREACHABLE,
        };
        if is_expelled(node) {
            return (Expulsion::By(key), None);
        }
        match self.zones.wait(&zone_of(node), now) {
            Some(Duration::ZERO) => (Expulsion::By(key), None),
            wait => (Expulsion::Keep, wait),
        }
    }

    /// `MarkPodsNotReady`: nobody can vouch for pods on a silent node. What fails is tried again a
    /// round later.
    fn mark_pods(&mut self, node: &Node, plan: &mut Plan, cx: &Context<'_>) {
        let name = &node.metadata.name;
        let Some(health) = self.healths.get_mut(name) else {
            return;
        };
        let is_back = !health.is_silent(node, cx.now);
        if is_back || !health.marking.is_due(cx.now) {
            health.marking = if is_back { Marking::Done } else { health.marking };
            return;
        }
        let pods = pods_on(&self.pods, name).filter_map(|key| cx.cache.get(key));
        let batch: Batch = pods.filter_map(|pod| mark_not_ready(pod, cx)).collect();
        if batch.is_empty() {
            health.marking = Marking::Done;
            return;
        }
        health.marking = Marking::Tried(cx.now);
        plan.batches.push(batch);
    }
}

/// The pods of a node, by namespace and name.
fn pods_on<'a>(
    all: &'a Hashed<Str, Hashed<ObjectKey, ()>>,
    node: &Str,
) -> impl Iterator<Item = &'a ObjectKey> {
    let pods = all.get(node).map(|pods| pods.in_order(|()| true)).unwrap_or_default();
    pods.into_iter().map(|(key, ())| key)
}

fn observe<'a>(
    healths: &'a mut BTreeMap<Str, Health>,
    object: &Arc<Object>,
    node: &Node,
    cx: &Context<'_>,
) -> &'a mut Health {
    let name = &node.metadata.name;
    let health = healths.entry(name.clone());
    let health = health.or_insert_with(|| Health::new(object, node, cx.now));
    let lease = ObjectKey::new(Kind::Lease, "kube-node-lease", name.clone());
    health.observe(object, cx.cache.lease(&lease), cx.now);
    health
}

fn word(status: ConditionStatus) -> &'static str {
    match status {
        ConditionStatus::True => "True",
        ConditionStatus::False => "False",
        ConditionStatus::Unknown => "Unknown",
    }
}

fn node_note(about: &Arc<Object>, reason: &str, text: &str) -> EventNote {
    let name = &about.meta().name;
    EventNote::normal(about, reason, format!("Node {name} event: {text}"))
}

fn write_off(object: &Arc<Object>, node: &Node, was_ready: bool, cx: &Context<'_>) -> Intent {
    let after = put_in_doubt(node, cx.timestamp());
    let request = Request::Update(Part::Status, Arc::new(after.into()));
    let mut intent = Intent::new(Deed::Status, request);
    if was_ready {
        let message = format!("Node {} status is now: NodeNotReady", node.metadata.name);
        intent.on_success = Some(EventNote::normal(object, "NodeNotReady", message));
    }
    intent
}

fn mark_not_ready(object: &Arc<Object>, cx: &Context<'_>) -> Option<Intent> {
    let pod = object.as_pod()?;
    let mut after = pod.clone();
    let mut conditions = after.status.conditions.iter_mut();
    let ready = conditions.find(|condition| &*condition.kind == "Ready")?;
    if ready.status == ConditionStatus::False {
        return None;
    }
    ready.status = ConditionStatus::False;
    ready.last_transition_time = Some(cx.timestamp());
    let request = Request::Update(Part::Status, Arc::new(after.into()));
    let mut intent = Intent::tolerant(Deed::Status, request);
    let note = EventNote::warning(object, "NodeNotReady", "Node is not ready");
    intent.on_success = Some(note);
    Some(intent)
}
