//! The disruption controller: keeps the status of PodDisruptionBudgets, from which evictions read
//! whether there is room (`pkg/controller/disruption/disruption.go` of
//! <https://github.com/kubernetes/kubernetes/tree/release-1.36>). Level-triggered in both lanes.
//!
//! Left out: the scale of custom kinds (such pods count as without a controller that can be
//! scaled), the clean-up of stale DisruptionTarget conditions.

mod expected;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use crate::api::{Generic, Kind, Object, ObjectKey, Pod, Timestamp, Value};
use crate::apiserver::eviction::{selects, set_allowed_condition, set_condition};
use crate::controllers::{Change, Context, EventNote, Fact, Finish, Plan, Woken};

/// What it watches.
pub const KINDS: &[Kind] = &[
    Kind::PodDisruptionBudget,
    Kind::Pod,
    Kind::ReplicaSet,
    Kind::Deployment,
    Kind::StatefulSet,
    Kind::ReplicationController,
];

/// How long an evicted pod may take to be marked as going, before it counts again.
const DELETION_TIMEOUT_SECONDS: i64 = 120;
const UNMANAGED: &str = "To account for these pods please set \".spec.minAvailable\" field of the \
                         PDB to an integer value.";

/// The budget itself, or the first that is about a pod.
pub fn wakes(change: &Change, cx: &Context) -> Woken {
    let keys = match &*change.object {
        Object::Generic(budget) if budget.kind == Kind::PodDisruptionBudget => vec![change.key()],
        Object::Pod(pod) => {
            let budgets = cx.cache.in_namespace(Kind::PodDisruptionBudget, &pod.metadata.namespace);
            let mut about = budgets
                .filter(|budget| budget.as_generic().is_some_and(|budget| selects(budget, pod)));
            about.next().map(|budget| budget.key()).into_iter().collect()
        }
        _ => Vec::new(),
    };
    Woken { keys, ..Woken::default() }
}

/// One look at a budget (`trySync`).
pub fn sync(key: &ObjectKey, cx: &Context) -> Plan {
    let Some(object) = cx.cache.get(key) else {
        return Plan::nothing(Fact::Gone, Fact::Gone);
    };
    let Some(budget) = object.as_generic() else { return Plan::default() };
    let pods: Vec<&Pod> = cx
        .cache
        .in_namespace(Kind::Pod, &key.namespace)
        .filter_map(|object| object.as_pod())
        .filter(|pod| selects(budget, pod))
        .collect();
    let mut events = Vec::new();
    if pods.is_empty() {
        events.push(EventNote::normal(object, "NoPods", "No matching pods found"));
    }
    let mut plan = match expected::expected(budget, &pods, cx) {
        Ok(expected) => {
            if !expected.unmanaged.is_empty() {
                events.push(unmanaged(object, budget));
            }
            judge(object, budget, &pods, &expected, cx)
        }
        Err(why) => {
            let text = format!("Failed to calculate the number of expected pods: {why}");
            events.push(EventNote::warning(object, "CalculateExpectedPodCountFailed", text));
            give_up(object, budget, why, cx.timestamp())
        }
    };
    plan.events = events;
    plan
}

fn unmanaged(object: &Arc<Object>, budget: &Generic) -> EventNote {
    let selector: Option<crate::api::LabelSelector> = budget.typed("spec/selector");
    let selector = selector.unwrap_or_default().format();
    let text = format!(
        "Pods selected by this PodDisruptionBudget (selector: &LabelSelector{{{selector}}}) were \
         found to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, \
         which may result in undefined behavior. {UNMANAGED}"
    );
    EventNote::warning(object, "UnmanagedPods", text)
}

fn judge(
    object: &Arc<Object>,
    budget: &Generic,
    pods: &[&Pod],
    expected: &expected::Expected,
    cx: &Context,
) -> Plan {
    let now = cx.timestamp();
    let (disrupted, recheck) = still_disrupted(budget, pods, now);
    let healthy = |pod: &&&Pod| {
        !pod.metadata.is_terminating()
            && !disrupted.contains_key(&*pod.metadata.name)
            && pod.is_ready()
    };
    let healthy = pods.iter().filter(healthy).count() as i64;
    let (count, desired) = (i64::from(expected.count), i64::from(expected.desired_healthy));
    // With no pods expected none may go: those to come are safe before they were ever counted.
    let allowed = if count <= 0 { 0 } else { (healthy - desired).max(0) };
    let mut after = budget.clone();
    for (field, value) in [
        ("observedGeneration", budget.metadata.generation),
        ("disruptionsAllowed", allowed),
        ("currentHealthy", healthy),
        ("desiredHealthy", desired),
        ("expectedPods", count),
    ] {
        after.set_field("status", field, value.into());
    }
    if let Some(status) = after.rest.get_mut("status").and_then(Value::as_object_mut) {
        status.remove("disruptedPods");
    }
    if !disrupted.is_empty() {
        after.set_field("status", "disruptedPods", json!(disrupted));
    }
    set_allowed_condition(&mut after, now);
    Plan {
        finish: Some(Finish::plain(object.clone(), Object::Generic(after))),
        requeue_after: recheck,
        ..Plan::nothing(Fact::Count(healthy), Fact::Count(desired))
    }
}

/// The evictions that were let through and do not show yet, and when the first of them has taken
/// too long (`buildDisruptedPodMap`).
fn still_disrupted(
    budget: &Generic,
    pods: &[&Pod],
    now: Timestamp,
) -> (BTreeMap<String, Timestamp>, Option<Duration>) {
    let booked: BTreeMap<String, Timestamp> =
        budget.typed("status/disruptedPods").unwrap_or_default();
    let (mut left, mut recheck) = (BTreeMap::new(), None);
    for pod in pods.iter().filter(|pod| !pod.metadata.is_terminating()) {
        let Some((name, at)) = booked.get_key_value(&*pod.metadata.name) else { continue };
        let remaining = at.0.saturating_add(DELETION_TIMEOUT_SECONDS).saturating_sub(now.0);
        if let Ok(remaining) = u64::try_from(remaining) {
            let again = Duration::from_secs(remaining + 1);
            recheck = Some(recheck.map_or(again, |before: Duration| before.min(again)));
            left.insert(name.clone(), *at);
        }
    }
    (left, recheck)
}

/// When it cannot be told how many there should be, none may go (`failSafe`).
fn give_up(object: &Arc<Object>, budget: &Generic, why: String, now: Timestamp) -> Plan {
    let mut after = budget.clone();
    after.set_field("status", "disruptionsAllowed", 0.into());
    for field in ["currentHealthy", "desiredHealthy", "expectedPods"] {
        let kept = budget.whole_number(&format!("status/{field}")).unwrap_or(0);
        after.set_field("status", field, kept.into());
    }
    set_condition(&mut after, false, "SyncFailed", &why, now);
    Plan {
        finish: Some(Finish::plain(object.clone(), Object::Generic(after))),
        error: Some(why),
        ..Plan::nothing(Fact::Word("SyncFailed".into()), Fact::None)
    }
}
