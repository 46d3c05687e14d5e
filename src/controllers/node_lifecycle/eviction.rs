//! Taint eviction: pods that do not tolerate a NoExecute taint of their node, or no longer, are
//! deleted (`pkg/controller/tainteviction`; a controller of its own in Kubernetes, in this one's
//! process). The time that a pod tolerates counts from when the controller first saw pod and taint
//! together, by its own clock.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::api::{
    Condition, DISRUPTION_TARGET, Object, ObjectKey, Pod, Str, Taint, TaintEffect, Timestamp,
    Toleration,
};
use crate::apiserver::{DeleteOptions, Part, Request};
use crate::controllers::taints::tolerates;
use crate::controllers::{Context, Deed, EventNote, Fact, Intent, Plan};
use crate::kernel::Time;

/// How long a pod may stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stay {
    /// For ever.
    Ever,
    /// So long from now; zero: not at all.
    For(Duration),
}

/// How long a pod with these tolerations may stay on a node with these NoExecute taints.
pub fn stay(tolerations: &[Toleration], taints: &[&Taint]) -> Stay {
    let mut shortest = Stay::Ever;
    for taint in taints {
        let Some(toleration) = tolerations.iter().find(|t| tolerates(t, taint)) else {
            return Stay::For(Duration::ZERO);
        };
        let Some(seconds) = toleration.toleration_seconds else {
            continue;
        };
        let span = Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
        shortest = match shortest {
            Stay::For(other) => Stay::For(other.min(span)),
            Stay::Ever => Stay::For(span),
        };
    }
    shortest
}

#[derive(Clone, Debug)]
struct Eviction {
    at: Time,
    told: bool,
}

/// The evictions that are to come.
#[derive(Clone, Debug, Default)]
pub struct Evictions(BTreeMap<ObjectKey, Eviction>);

impl Evictions {
    /// Forgets a pod that is gone.
    pub fn forget(&mut self, key: &ObjectKey) {
        self.0.remove(key);
    }

    /// Looks at the pod of this key.
    pub fn sync(&mut self, key: &ObjectKey, cx: &Context<'_>) -> Plan {
        let object = cx.cache.get(key);
        let Some((object, pod)) = object.and_then(|o| Some((o, o.as_pod()?))) else {
            self.forget(key);
            return Plan::nothing(Fact::Gone, Fact::Gone);
        };
        let Some(name) = pod.spec.node_name.as_ref().filter(|_| !pod.metadata.is_terminating())
        else {
            self.forget(key);
            return Plan::nothing(Fact::None, Fact::None);
        };
        let stay = match cx.cache.node(name) {
            Some(node) => stay(&pod.spec.tolerations, &expelling(&node.spec.taints)),
            // Of a node that is gone nothing is known: what was to come still comes.
            None if self.0.contains_key(key) => Stay::For(Duration::MAX),
            None => Stay::Ever,
        };
        match stay {
            Stay::Ever => self.cancel(key, object, name),
            Stay::For(span) => self.evict_in(span, key, object, pod, cx),
        }
    }

    fn evict_in(
        &mut self,
        span: Duration,
        key: &ObjectKey,
        object: &Arc<Object>,
        pod: &Pod,
        cx: &Context<'_>,
    ) -> Plan {
        let (now, at) = (cx.now, cx.now + span);
        let due = self.0.entry(key.clone()).or_insert(Eviction { at, told: false });
        if span == Duration::ZERO {
            due.at = now;
        }
        let mut plan = Plan::nothing(Fact::Word("NoExecute".into()), Fact::Gone);
        if due.at > now {
            plan.requeue_after = Some(due.at.since(now));
            return plan;
        }
        if !due.told {
            let message = format!("Marking for deletion Pod {}/{}", key.namespace, key.name);
            plan.events.push(eviction_note(object, message));
            due.told = true;
        }
        let mut after = pod.clone();
        mark_disrupted(&mut after, cx.timestamp());
        if after != *pod {
            let request = Request::Update(Part::Status, Arc::new(after.into()));
            plan.then(Intent::tolerant(Deed::Status, request));
        }
        let request = Request::Delete(key.clone(), DeleteOptions::default());
        plan.then(Intent::tolerant(Deed::Evict, request));
        plan
    }

    fn cancel(&mut self, key: &ObjectKey, object: &Arc<Object>, node: &Str) -> Plan {
        let word = Fact::Word(node.clone());
        let mut plan = Plan::nothing(word.clone(), word);
        if self.0.remove(key).is_some() {
            let message = format!("Cancelling deletion of Pod {}/{}", key.namespace, key.name);
            plan.events.push(eviction_note(object, message));
        }
        plan
    }
}

/// The taints that make pods go.
pub fn expelling(taints: &[Taint]) -> Vec<&Taint> {
    let expels = |taint: &&Taint| taint.effect == TaintEffect::NoExecute;
    taints.iter().filter(expels).collect()
}

fn eviction_note(about: &Arc<Object>, message: String) -> EventNote {
    EventNote::normal(about, "TaintManagerEviction", message)
}

fn mark_disrupted(pod: &mut Pod, now: Timestamp) {
    let conditions = &mut pod.status.conditions;
    if !Condition::holds(conditions, DISRUPTION_TARGET) {
        let message = "Taint manager: deleting due to NoExecute taint";
        Condition::mark_disrupted(conditions, "DeletionByTaintManager", message, Some(now));
    }
}
