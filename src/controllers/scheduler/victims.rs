//! How pods are made to go for another (`pkg/scheduler/framework/preemption/executor.go`): their
//! status says why, then they are deleted, with the time that they have asked for. Pods of a lower
//! priority that were promised the node lose the promise. The pod itself is promised the node at
//! once, without waiting for any of that (`SchedulerAsyncPreemption`), and is not looked at before
//! all of it is done.

use std::sync::Arc;

use serde_json::json;

use crate::api::{
    Condition, ConditionStatus, DISRUPTION_TARGET, Object, ObjectKey, Pod, Timestamp, Value,
};
use crate::apiserver::{DeleteOptions, Part, Patch, PatchRequest, Request};
use crate::controllers::{Context, Deed, EventNote, Finish, Intent, Plan};

use super::preemption::Candidate;
use super::priority::{NOMINATED, nominated_node};

const PREEMPTED: &str = "PreemptionByScheduler";
const MESSAGE: &str = "default-scheduler: preempting to accommodate a higher priority pod";

/// Adds what makes the victims go, and what takes promises back.
pub fn evict(
    plan: &mut Plan,
    preemptor: &Pod,
    candidate: &Candidate,
    outranked: &[ObjectKey],
    cx: &Context<'_>,
) {
    let waits = |key: &&ObjectKey| cx.cache.pod(key).is_some();
    let forget = json!({"status": {NOMINATED: null}});
    let forgotten = outranked.iter().filter(waits).map(|key| patch(key, forget.clone()));
    let promised = plan.finish.take().and_then(|finish| promise(&finish));
    plan.batches.push(promised.into_iter().chain(forgotten).collect());

    let stays = |object: &&Arc<Object>| !object.meta().is_terminating();
    let victims = candidate.victims.iter().map(|victim| &victim.object);
    let victims: Vec<&Arc<Object>> = victims.filter(stays).collect();
    let unmarked = victims.iter().filter(|o| o.as_pod().is_some_and(|pod| !is_marked(pod)));
    let now = cx.timestamp();
    plan.batches.push(unmarked.map(|object| patch(&object.key(), mark(now))).collect());
    let uid = &preemptor.metadata.uid;
    let told = format!("Preempted by pod {uid} on node {}", candidate.node);
    let delete = |object: &&Arc<Object>| {
        let request = Request::Delete(object.key(), DeleteOptions::default());
        let mut intent = Intent::tolerant(Deed::Evict, request);
        intent.on_success = Some(EventNote::normal(object, "Preempted", told.clone()));
        intent
    };
    plan.batches.push(victims.iter().map(delete).collect());
    plan.batches.retain(|batch| !batch.is_empty());
}

/// What the pod's own status says now. Preemption goes on if that cannot be written.
fn promise(finish: &Finish) -> Option<Intent> {
    let pod = finish.after.as_pod()?;
    let own = Condition::find(&pod.status.conditions, "PodScheduled")?;
    let node = nominated_node(pod);
    let value = json!({"status": {NOMINATED: node, "conditions": [own]}});
    Some(Intent { tolerates: |_| true, ..patch(&finish.before.key(), value) })
}

/// Whether a pod goes because the scheduler made it go (`podTerminatingByPreemption`).
pub fn is_going_for_another(pod: &Pod) -> bool {
    pod.metadata.is_terminating() && is_marked(pod)
}

fn is_marked(pod: &Pod) -> bool {
    let target = Condition::find(&pod.status.conditions, DISRUPTION_TARGET);
    target.is_some_and(|target| {
        let true_ = target.status == ConditionStatus::True;
        true_ && target.reason.as_deref() == Some(PREEMPTED)
    })
}

fn mark(now: Timestamp) -> Value {
    json!({"status": {"conditions": [{
        "type": DISRUPTION_TARGET, "status": "True", "reason": PREEMPTED, "message": MESSAGE,
        "lastTransitionTime": now,
    }]}})
}

fn patch(key: &ObjectKey, value: Value) -> Intent {
    let patch = Patch::Strategic(value);
    let request = PatchRequest { part: Part::Status, key: key.clone(), patch };
    Intent::tolerant(Deed::Status, Request::PatchWith(Box::new(request)))
}
