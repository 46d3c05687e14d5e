//! Pod garbage collection: pods that no kubelet will ever finish are deleted by force
//! (`pkg/controller/podgc`). A controller of its own in Kubernetes; here it lives in the process of
//! the node lifecycle controller, which watches the same kinds, and shares its fate. Its rounds
//! wake nobody as long as there is nothing to collect.
//!
//! ```text
//! a pod's node is not in the cache ── 40 s ──> asked for at the API server
//!                                                └─ 404 ──> pod Failed, DisruptionTarget, deleted
//! ```
//!
//! Left out: finished pods beyond `--terminated-pod-gc-threshold`, since its 12,500 are more than a
//! cluster here can hold; and that of the pods on nodes out of service fifty at most go at once.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::api::{
    Condition, ConditionStatus, DISRUPTION_TARGET, Kind, Node, Object, ObjectKey, Pod, PodPhase,
    Str, Timestamp,
};
use crate::apiserver::{ApiError, DeleteOptions, Part, Request, Response};
use crate::controllers::{Context, Deed, Fact, Intent, Plan};
use crate::kernel::Time;

/// From one round to the next (`gcCheckPeriod`).
pub const PERIOD: Duration = Duration::from_secs(20);
/// For how long a node must be absent before anybody is asked (`quarantineTime`).
pub const QUARANTINE: Duration = Duration::from_secs(40);

/// Says of a node that what runs on it has stopped for sure.
const OUT_OF_SERVICE: &str = "node.kubernetes.io/out-of-service";

/// Why nobody will finish a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// Its node does not exist.
    Orphaned,
    /// It is being deleted on a node that is not ready, and out of service as somebody says.
    OutOfService,
    /// It is being deleted, and has no node.
    Unscheduled,
}

/// Whether a pod is lost, given the Node that it names, if there is one.
pub fn lost(pod: &Pod, node: Option<&Node>) -> Option<Lost> {
    let is_terminating = pod.metadata.is_terminating();
    let has_node = pod.spec.node_name.as_ref().is_some_and(|name| !name.is_empty());
    match node {
        _ if is_forced(pod) => None,
        _ if !has_node => is_terminating.then_some(Lost::Unscheduled),
        None => Some(Lost::Orphaned),
        Some(node) => (is_terminating && is_out_of_service(node)).then_some(Lost::OutOfService),
    }
}

/// Whether it is over and its finalizers alone keep it: to delete it again changes nothing.
fn is_forced(pod: &Pod) -> bool {
    let meta = &pod.metadata;
    let is_over = pod.is_finished() || pod.spec.node_name.is_none();
    is_over && meta.is_terminating() && meta.deletion_grace_period_seconds == Some(0)
}

fn is_out_of_service(node: &Node) -> bool {
    let taints = node.spec.taints.iter();
    !Condition::holds(&node.status.conditions, "Ready")
        && taints.map(|taint| &*taint.key).any(|key| key == OUT_OF_SERVICE)
}

/// A node that pods name and that the cache does not know.
#[derive(Clone, Debug)]
struct Missing {
    /// When its quarantine is over.
    until: Time,
    /// Whether the API server does not know it either; asked anew in each round.
    is_gone: bool,
    /// Its pods, as of the last round.
    pods: Vec<ObjectKey>,
}

/// What is remembered from one round to the next.
#[derive(Clone, Debug, Default)]
pub struct PodGarbageCollector {
    next_round: Time,
    missing: BTreeMap<Str, Missing>,
}

impl PodGarbageCollector {
    /// A round over all pods, if one is due. Returns whom to look at: nodes to be asked for, and
    /// pods to be deleted.
    pub fn round(&mut self, cx: &Context<'_>) -> Vec<ObjectKey> {
        if cx.now < self.next_round {
            return Vec::new();
        }
        self.next_round = cx.now + PERIOD;
        let mut before = std::mem::take(&mut self.missing);
        let mut keys = Vec::new();
        for object in cx.cache.all(Kind::Pod) {
            let Some((pod, why)) = object.as_pod().and_then(|pod| Some((pod, lost_in(pod, cx)?)))
            else {
                continue;
            };
            match &pod.spec.node_name {
                Some(name) if why == Lost::Orphaned => {
                    let missing = self.missing.entry(name.clone()).or_insert_with(|| {
                        let known = before.remove(name);
                        let until = known.map_or(cx.now + QUARANTINE, |known| known.until);
                        Missing { until, is_gone: false, pods: Vec::new() }
                    });
                    missing.pods.push(object.key());
                }
                _ => keys.push(object.key()),
            }
        }
        let due = self.missing.iter().filter(|(_, missing)| missing.until <= cx.now);
        keys.extend(due.map(|(name, _)| node_key(name)));
        keys
    }

    /// The question whether a node exists, if its quarantine is over.
    pub fn question(&self, node: &Str, now: Time) -> Option<Intent> {
        let missing = self.missing.get(node)?;
        let asks = missing.until <= now && !missing.is_gone;
        asks.then(|| Intent::tolerant(Deed::Read, Request::Get(node_key(node))))
    }

    /// Takes the answer to that question; returns the pods to be deleted.
    pub fn answered(&mut self, request: &Request, response: &Response) -> Vec<ObjectKey> {
        let Request::Get(ObjectKey { kind: Kind::Node, name, .. }) = request else {
            return Vec::new();
        };
        let is_gone = response.as_ref().is_err_and(ApiError::is_not_found);
        let Some(missing) = self.missing.get_mut(name).filter(|_| is_gone) else {
            return Vec::new();
        };
        missing.is_gone = true;
        missing.pods.clone()
    }

    /// The plan for a pod that is to go, if it is.
    pub fn sync(&self, object: &Arc<Object>, cx: &Context<'_>) -> Option<Plan> {
        let pod = object.as_pod()?;
        let why = lost_in(pod, cx)?;
        let node = pod.spec.node_name.as_ref().and_then(|name| self.missing.get(name));
        let is_sure = why != Lost::Orphaned || node.is_some_and(|missing| missing.is_gone);
        is_sure.then(|| collect(pod, why, object.key(), cx.timestamp()))
    }

    /// When the pods of a node that does not exist will be deleted, if it stays so.
    pub fn acts_at(&self, node: &Str, now: Time) -> Time {
        let next = self.next_round.max(now);
        let known = self.missing.get(node);
        let mut at = next;
        let until = known.map_or(next + QUARANTINE, |missing| missing.until);
        while at < until {
            at += PERIOD;
        }
        at
    }
}

fn lost_in(pod: &Pod, cx: &Context<'_>) -> Option<Lost> {
    lost(pod, pod.spec.node_name.as_ref().and_then(|name| cx.cache.node(name)))
}

fn node_key(name: &Str) -> ObjectKey {
    ObjectKey::new(Kind::Node, "", name.clone())
}

/// Makes a pod Failed, if it has not ended: nobody else will. Then it goes without any grace.
fn collect(pod: &Pod, why: Lost, key: ObjectKey, now: Timestamp) -> Plan {
    let sees = if why == Lost::Orphaned { "DeletionByPodGC" } else { "Terminating" };
    let mut plan = Plan::nothing(Fact::Word(sees.into()), Fact::Gone);
    if !pod.is_finished() {
        let mut after = pod.clone();
        after.status.phase = Some(PodPhase::Failed);
        if why == Lost::Orphaned {
            mark_disrupted(&mut after.status.conditions, now);
        }
        let request = Request::Update(Part::Status, Arc::new(after.into()));
        plan.then(Intent::tolerant(Deed::Status, request));
    }
    let options = DeleteOptions { grace_period_seconds: Some(0), ..DeleteOptions::default() };
    plan.then(Intent::tolerant(Deed::DeletePod, Request::Delete(key, options)));
    plan
}

fn mark_disrupted(conditions: &mut Vec<Condition>, now: Timestamp) {
    let before = Condition::find(conditions, DISRUPTION_TARGET);
    let since = before.filter(|before| before.status == ConditionStatus::True);
    let since = since.and_then(|condition| condition.last_transition_time).or(Some(now));
    let message = "PodGC: node no longer exists";
    Condition::mark_disrupted(conditions, "DeletionByPodGC", message, since);
}
