//! Which pods are missing and which are too many (`manageJob`, `deleteActivePods`), and whether the
//! Job is suspended.

use std::collections::BTreeSet;

use serde_json::json;

use crate::api::{Condition, ConditionStatus, Pod, Value};
use crate::controllers::owned::{create, delete, path_of, pod_of};
use crate::controllers::replica_set::{BURST, DeletionOrder, SLOW_START, slow_start};
use crate::controllers::{Context, EventNote, Fact, Promise};

use super::backoff::Backoff;
use super::handlers::FINALIZER;
use super::indexes::{INDEX, Indexes, index_of};
use super::sync::{Pass, condition, count};

/// Makes the pods of a Job that goes on, and deletes those of one that fails.
pub(super) fn manage(pass: &mut Pass<'_>, backoff: Backoff, cx: &Context<'_>) {
    if pass.end.is_some() {
        delete_active(pass, cx);
        return;
    }
    let terminating = pass.object.meta().is_terminating();
    let managed = cx.promises_kept && !terminating;
    if managed {
        fit(pass, backoff, cx);
    } else if terminating {
        pass.plan.wants = Fact::Gone;
    }
    let complete = match pass.spec.completions {
        None => pass.succeeded > 0,
        Some(completions) => pass.succeeded >= completions,
    };
    if complete && pass.status.active == 0 {
        let text = "Reached expected number of succeeded pods";
        pass.end = Some(pass.condition("SuccessCriteriaMet", "CompletionsReached", text));
    } else if managed {
        note_suspension(pass);
    }
}

/// The Job has failed, or has met what it was made for: what runs of it goes. It ends when the
/// cache shows all of its pods.
fn delete_active(pass: &mut Pass<'_>, cx: &Context<'_>) {
    pass.plan.wants = Fact::Count(0);
    let doomed = std::mem::take(&mut pass.active);
    remove(pass, &doomed);
    if !cx.promises_kept {
        pass.end = None;
    }
}

fn remove(pass: &mut Pass<'_>, doomed: &[&Pod]) {
    if doomed.is_empty() {
        return;
    }
    let ready = count(doomed.iter().filter(|pod| pod.is_ready()).count());
    pass.status.active -= count(doomed.len());
    pass.status.terminating += count(doomed.len());
    pass.status.ready -= ready;
    let paths = doomed.iter().map(|pod| path_of(pod)).collect();
    pass.plan.promise = Some(Promise::Deletions(paths));
    pass.plan.batches.push(doomed.iter().map(|pod| delete(pass.object, pod)).collect());
    pass.plan.preparations = pass.plan.batches.len();
}

fn fit(pass: &mut Pass<'_>, backoff: Backoff, cx: &Context<'_>) {
    let (active, parallelism) = (pass.status.active, pass.spec.parallelism.max(0));
    let wanted = match pass.spec.completions {
        _ if pass.spec.suspend => 0,
        None if pass.succeeded > 0 => active,
        None => parallelism,
        Some(completions) => completions.saturating_sub(pass.succeeded).clamp(0, parallelism),
    };
    pass.plan.wants = Fact::Count(wanted.into());
    let doomed = surplus(pass, usize::try_from(active - wanted).unwrap_or(0), cx);
    if !doomed.is_empty() {
        return remove(pass, &doomed);
    }
    let terminating = if pass.spec.replaces_failed_only { pass.status.terminating } else { 0 };
    let missing = usize::try_from(wanted - active - terminating).unwrap_or(0).min(BURST);
    if missing == 0 {
        return;
    }
    // Each index waits for itself.
    let is_shared = pass.spec.backoff_limit_per_index.is_none();
    let wait = backoff.remaining(cx.now);
    if is_shared && !wait.is_zero() {
        return pass.look_after(wait);
    }
    add(pass, missing, cx);
}

/// Pods that shall go: those of an index that another pod has, or that there is no more, and else
/// as many as there are too many (`activePodsForRemoval`).
fn surplus<'a>(pass: &Pass<'a>, at_least: usize, cx: &Context<'_>) -> Vec<&'a Pod> {
    let (mut doomed, mut rest) = (Vec::new(), Vec::new());
    let mut taken = BTreeSet::new();
    for pod in pass.active.iter().copied() {
        let is_own = !pass.spec.indexed || pass.index(pod).is_some_and(|at| taken.insert(at));
        if is_own { rest.push(pod) } else { doomed.push(pod) }
    }
    let order = DeletionOrder::standard(cx.now, cx.seed);
    let more = at_least.saturating_sub(doomed.len());
    if more > 0 {
        doomed.extend(order.choose(rest, &[], more));
    }
    doomed.truncate(BURST);
    doomed
}

/// Makes pods.
fn add(pass: &mut Pass<'_>, missing: usize, cx: &Context<'_>) {
    let indexes: Vec<Option<i32>> = if pass.spec.indexed {
        let free = free_indexes(pass, missing);
        pass.ready_indexes(free, cx.now).into_iter().map(Some).collect()
    } else {
        vec![None; missing]
    };
    let mut pods = indexes.into_iter().map(|index| new_pod(pass, index)).collect::<Vec<_>>();
    let promised = u32::try_from(pods.len()).unwrap_or(u32::MAX);
    if promised == 0 {
        return;
    }
    pass.plan.promise = Some(Promise::Creations(promised));
    pass.status.active += count(pods.len());
    for size in slow_start(pods.len(), SLOW_START) {
        let rest = pods.split_off(size);
        pass.plan.batches.push(pods.into_iter().map(|pod| create(pass.object, pod)).collect());
        pods = rest;
    }
}

/// The first indexes that nobody works on and that have not ended well (`firstPendingIndexes`).
fn free_indexes(pass: &Pass<'_>, most: usize) -> Vec<i32> {
    let is_busy = |pod: &&&Pod| {
        // A terminating pod keeps its index if only failed ones are replaced.
        pod.is_active() || (pass.spec.replaces_failed_only && !pod.is_finished())
    };
    let busy: BTreeSet<i32> =
        pass.pods.iter().filter(is_busy).filter_map(|pod| index_of(pod)).collect();
    let taken = Indexes::default().with(&busy);
    let all = 0..pass.spec.completions.unwrap_or(0);
    let given_up = |at: i32| pass.per_index.failed.as_ref().is_some_and(|failed| failed.has(at));
    all.filter(|at| !taken.has(*at) && !pass.done.has(*at) && !given_up(*at)).take(most).collect()
}

fn new_pod(pass: &Pass<'_>, index: Option<i32>) -> Pod {
    let mut pod = pod_of(&pass.spec.template, pass.object);
    let name = &pass.object.meta().name;
    if !pod.metadata.finalizers.iter().any(|other| **other == *FINALIZER) {
        pod.metadata.finalizers.push(FINALIZER.into());
    }
    pod.metadata.generate_name = Some(format!("{name}-").into());
    let Some(index) = index else { return pod };
    let text: crate::api::Str = index.to_string().into();
    pod.metadata.generate_name = Some(format!("{name}-{index}-").into());
    pod.metadata.annotations.insert(INDEX.into(), text.clone());
    pod.metadata.labels.insert(INDEX.into(), text);
    pass.count_on(index, &mut pod);
    pod.spec.rest.insert("hostname".into(), format!("{name}-{index}").into());
    let source = json!({"fieldRef": {"fieldPath": format!("metadata.labels['{INDEX}']")}});
    let variable = json!({"name": "JOB_COMPLETION_INDEX", "valueFrom": source});
    for container in pod.spec.containers.iter_mut().chain(&mut pod.spec.init_containers) {
        let env = container.rest.entry("env".into()).or_insert_with(|| json!([]));
        if let Value::Array(variables) = env
            && !variables.iter().any(|other| other["name"] == "JOB_COMPLETION_INDEX")
        {
            variables.push(variable.clone());
        }
    }
    pod
}

fn note_suspension(pass: &mut Pass<'_>) {
    let (holds, reason, text, event) = match pass.spec.suspend {
        true => (true, "JobSuspended", "Job suspended", "Suspended"),
        false => (false, "JobResumed", "Job resumed", "Resumed"),
    };
    let before = Condition::find(&pass.status.conditions, "Suspended");
    let changed = match before {
        Some(before) => before.status != ConditionStatus::from(holds),
        None => holds,
    };
    if changed {
        let now = pass.now;
        pass.status.conditions.retain(|condition| &*condition.kind != "Suspended");
        pass.status.conditions.push(condition("Suspended", holds, reason, text, now));
        pass.plan.events.push(EventNote::normal(pass.object, event, text));
        if !holds {
            pass.status.start_time = Some(now);
        }
    }
}
