//! Counting the pods that have ended, so that each counts once whatever dies in between
//! (`trackJobStatusAndRemoveFinalizers`): first their uids go into the status, then their
//! finalizers go, then the numbers rise and the uids leave the status.

use crate::api::{Condition, Pod, PodPhase};
use crate::apiserver::Request;
use crate::controllers::owned::write_status;
use crate::controllers::{Batch, Deed, EventNote, Fallback, Intent, Plan};

use super::handlers::{Memory, is_tracked};
use super::indexes::Indexes;
use super::policy;
use super::sync::{Pass, count, told, untrack};

/// Uids that the status holds at most.
const MAX_UNCOUNTED: usize = 500;

/// Completes the plan with what counts the pods and writes the status.
pub(super) fn track(pass: &mut Pass<'_>, memory: &Memory) {
    let creations = split_creations(&mut pass.plan);
    let mut must_flush = count_untracked(pass);
    let (removals, all, new) = collect(pass, memory);
    must_flush |= new;
    let end = pass.end.take();
    if let Some(interim) = &end
        && Condition::find(&pass.status.conditions, &interim.kind).is_none()
    {
        pass.status.conditions.push(interim.clone());
        must_flush = true;
    }
    let flush = if must_flush { status_request(pass) } else { None };
    let flushed = flush.clone();
    let plan = &mut pass.plan;
    plan.batches.extend(flush.map(|request| vec![Intent::new(Deed::Status, request)]));
    if !removals.is_empty() {
        plan.batches.push(removals);
    }
    plan.preparations = plan.batches.len();
    count_all(pass);
    add_creations(pass, creations);
    let end = end.filter(|_| all && pass.status.terminating <= 0);
    let note = end.map(|interim| enact(pass, &interim));
    let last = status_request(pass);
    if last != flushed
        && let Some(request) = last
    {
        let mut intent = Intent::new(Deed::Status, request);
        intent.on_success = note;
        pass.plan.batches.push(vec![intent]);
    }
}

/// Creations wait until the ended pods are counted: their failure must not keep those uncounted.
fn split_creations(plan: &mut Plan) -> Vec<Batch> {
    let is_creation = |batch: &Batch| batch.iter().all(|intent| intent.deed == Deed::CreatePod);
    let (creations, others) = std::mem::take(&mut plan.batches).into_iter().partition(is_creation);
    plan.batches = others;
    creations
}

/// If a pod cannot be made, the status tells of those that could.
fn add_creations(pass: &mut Pass<'_>, creations: Vec<Batch>) {
    let all: usize = creations.iter().map(Vec::len).sum();
    let active = pass.status.active;
    pass.status.active -= count(all);
    for mut batch in creations {
        let write = status_request(pass);
        pass.status.active += count(batch.len());
        for intent in &mut batch {
            let write = write.clone();
            intent.fallbacks = vec![Fallback { applies: |_| true, write, event: None }];
        }
        pass.plan.batches.push(batch);
    }
    pass.status.active = active;
}

/// The write of the status as it now is; nothing if the Job has it already.
fn status_request(pass: &Pass<'_>) -> Option<Request> {
    write_status(pass.object, pass.status.to_value())
}

fn ended_well(pod: &Pod) -> bool {
    pod.status.phase == Some(PodPhase::Succeeded)
}

/// Uids in the status whose pods have no finalizer any more: an earlier pass came so far.
fn count_untracked(pass: &mut Pass<'_>) -> bool {
    let waits = |uid: &crate::api::Str| {
        pass.pods.iter().any(|pod| pod.metadata.uid == *uid && is_tracked(pod))
    };
    let status = &mut pass.status;
    let before = status.uncounted_succeeded.len() + status.uncounted_failed.len();
    let (succeeded, failed) = (&mut status.uncounted_succeeded, &mut status.uncounted_failed);
    let was = (succeeded.len(), failed.len());
    succeeded.retain(waits);
    failed.retain(waits);
    status.succeeded += count(was.0 - succeeded.len());
    status.failed += count(was.1 - failed.len());
    before != status.uncounted_succeeded.len() + status.uncounted_failed.len()
}

/// Takes the pods that have ended into the status. The patches that free them, whether these are
/// all, and whether the status has changed by it.
fn collect(pass: &mut Pass<'_>, memory: &Memory) -> (Batch, bool, bool) {
    let mut removals = Batch::new();
    let (mut new, mut all) = (false, true);
    let terminating = pass.object.meta().is_terminating();
    let counted = pass.counted_indexes();
    let mut indexes = std::collections::BTreeSet::new();
    for pod in pass.pods.clone() {
        if !is_tracked(pod) || memory.is_counted(pod) {
            continue;
        }
        let failed = pass.is_failed(pod);
        let over = terminating || pass.end.is_some() || ended_well(pod);
        if !over && pass.is_kept(pod) {
            continue;
        }
        if !(over || failed) {
            continue;
        }
        removals.push(untrack(pod));
        let uid = pod.metadata.uid.clone();
        let was_failed = pass.status.uncounted_failed.contains(&uid);
        if ended_well(pod) && !was_failed {
            if pass.spec.indexed {
                let index = pass.index(pod).filter(|index| !counted.has(*index));
                new |= index.is_some_and(|index| indexes.insert(index));
            } else if !pass.status.uncounted_succeeded.contains(&uid) {
                pass.status.uncounted_succeeded.push(uid);
                new = true;
            }
        } else if (failed || pass.fails()) && !was_failed && counts(pass, pod) {
            pass.status.uncounted_failed.push(uid);
            new = true;
        }
        if removals.len() >= MAX_UNCOUNTED {
            all = false;
            break;
        }
    }
    if pass.spec.indexed {
        let done = counted.with(&indexes);
        pass.status.succeeded = done.total();
        pass.status.completed_indexes = done.to_string();
        let failed = pass.per_index.failed.as_ref().map(Indexes::to_string);
        new |= failed != pass.status.failed_indexes;
        pass.status.failed_indexes = failed;
    }
    (removals, all, new)
}

fn counts(pass: &Pass<'_>, pod: &Pod) -> bool {
    let has_place = !pass.spec.indexed || pass.index(pod).is_some();
    has_place && policy::judge(pass.spec.failure_rules.as_deref(), pod).counts
}

/// The finalizers are gone: the uids become numbers.
fn count_all(pass: &mut Pass<'_>) {
    let status = &mut pass.status;
    status.succeeded += count(status.uncounted_succeeded.len());
    status.failed += count(status.uncounted_failed.len());
    status.uncounted_succeeded.clear();
    status.uncounted_failed.clear();
}

/// The Job has ended (`enactJobFinished`).
fn enact(pass: &mut Pass<'_>, interim: &Condition) -> EventNote {
    let kind = if &*interim.kind == "FailureTarget" { "Failed" } else { "Complete" };
    let (reason, message) = (interim.reason.clone(), interim.message.clone());
    let end = pass.condition(kind, &reason.unwrap_or_default(), &message.unwrap_or_default());
    if kind == "Complete" {
        pass.status.completion_time = end.last_transition_time;
    }
    pass.status.conditions.push(end.clone());
    told(pass.object, &end)
}
