//! The eviction of a pod (`pods/eviction`): a deletion that asks the budgets first
//! (`pkg/registry/core/pod/storage/eviction.go` of
//! <https://github.com/kubernetes/kubernetes/tree/release-1.36>).
//!
//! Whether there is room stands in the status of the PodDisruptionBudget, which the disruption
//! controller keeps; an eviction takes its share off it at once, so that two evictions do not take
//! the same. The request to send is `Request::Evict(pod, options)`; a refusal that shall be tried
//! again has the reason `TooManyRequests`. Left out: dry run, retries of conflicts (a request here
//! is carried out at one moment).

use serde_json::json;

use crate::api::{
    Condition, ConditionStatus, Generic, Kind, LabelSelector, Object, ObjectKey, Pod, PodPhase,
    Timestamp, Value,
};

use super::error::Cause;
use super::store::Store;
use super::{ApiError, Reason, admission};

/// The cause of a refusal for a budget's sake.
pub const DISRUPTION_BUDGET: &str = "DisruptionBudget";
/// Evictions that a budget may have open (`MaxDisruptedPodSize`).
const DISRUPTED_MAX: usize = 2_000;
const VIOLATES: &str = "Cannot evict pod as it would violate the pod's disruption budget.";
const TOO_MANY: &str = "This pod has more than one PodDisruptionBudget, which the eviction \
                        subresource does not support.";

/// What an eviction comes to, besides the pod's deletion.
pub struct Eviction {
    /// The budget with the eviction booked, if one is concerned.
    pub budget: Option<Object>,
    /// The pod with the condition that tells why it goes.
    pub pod: Option<Object>,
}

/// Whether a pod may be evicted now, and what is to be written before it is deleted.
pub fn decide(store: &Store, key: &ObjectKey, now: Timestamp) -> Result<Eviction, ApiError> {
    let missing = || ApiError::not_found(Kind::Pod, &key.name);
    let pod = store.get(key).and_then(|object| object.as_pod()).ok_or_else(missing)?;
    if needs_no_budget(pod) {
        return Ok(Eviction { budget: None, pod: None });
    }
    let budgets: Vec<&Generic> =
        admission::in_namespace(store, Kind::PodDisruptionBudget, &key.namespace)
            .filter(|budget| selects(budget, pod))
            .collect();
    let budget = match budgets.as_slice() {
        [] => None,
        [budget] if is_free(budget, pod) => None,
        [budget] => Some(Object::Generic(book(budget, pod, now)?)),
        _ => return Err(ApiError::new(Reason::InternalError, TOO_MANY)),
    };
    Ok(Eviction { budget, pod: Some(Object::Pod(marked(pod, now))) })
}

/// `canIgnorePDB`: it serves nobody yet, or no longer.
fn needs_no_budget(pod: &Pod) -> bool {
    pod.metadata.is_terminating() || pod.is_finished() || pod.phase() == PodPhase::Pending
}

/// Whether a budget is about a pod. A budget without a selector is about none, an empty selector
/// is about all pods of the namespace.
pub fn selects(budget: &Generic, pod: &Pod) -> bool {
    let selector: Option<LabelSelector> = budget.typed("spec/selector");
    *budget.metadata.namespace == *pod.metadata.namespace
        && selector.is_some_and(|selector| selector.matches(&pod.metadata.labels))
}

fn number(budget: &Generic, field: &str) -> i64 {
    budget.whole_number(&format!("status/{field}")).unwrap_or(0)
}

/// Whether a pod goes without being counted: it is not healthy, and the budget lets such pods go.
fn is_free(budget: &Generic, pod: &Pod) -> bool {
    let (healthy, desired) = (number(budget, "currentHealthy"), number(budget, "desiredHealthy"));
    let always = budget.text("spec/unhealthyPodEvictionPolicy") == "AlwaysAllow";
    !pod.is_ready() && (always || (healthy >= desired && desired > 0))
}

/// `checkAndDecrement`.
fn book(budget: &Generic, pod: &Pod, now: Timestamp) -> Result<Generic, ApiError> {
    let name = &budget.metadata.name;
    if number(budget, "observedGeneration") < budget.metadata.generation {
        let why = format!("The disruption budget {name} is still being processed by the server.");
        return Err(violates(&why));
    }
    let allowed = number(budget, "disruptionsAllowed");
    let refuse = |why: &str| {
        let text = format!("poddisruptionbudget.policy {:?} is forbidden: {why}", &**name);
        Err(ApiError::new(Reason::Forbidden, text))
    };
    if allowed < 0 {
        return refuse("pdb disruptions allowed is negative");
    }
    let disrupted = budget.field("status/disruptedPods").and_then(Value::as_object);
    if disrupted.is_some_and(|pods| pods.len() > DISRUPTED_MAX) {
        return refuse(
            "DisruptedPods map too big - too many evictions not confirmed by PDB controller",
        );
    }
    if allowed == 0 {
        return Err(violates(&why_not(budget)));
    }
    let mut after = budget.clone();
    after.set_field("status", "disruptionsAllowed", json!(allowed - 1));
    if allowed == 1 {
        set_allowed_condition(&mut after, now);
    }
    let mut disrupted = disrupted.cloned().unwrap_or_default();
    disrupted.insert(pod.metadata.name.to_string(), now.to_string().into());
    after.set_field("status", "disruptedPods", Value::Object(disrupted));
    Ok(after)
}

fn violates(why: &str) -> ApiError {
    let mut error = ApiError::new(Reason::TooManyRequests, VIOLATES);
    error.cause = Some(Box::new(Cause {
        reason: DISRUPTION_BUDGET.into(),
        message: why.into(),
        field: "".into(),
    }));
    error
}

fn why_not(budget: &Generic) -> String {
    let name = &budget.metadata.name;
    let conditions: Vec<Condition> = budget.typed("status/conditions").unwrap_or_default();
    let failed = Condition::find(&conditions, "DisruptionAllowed").filter(|condition| {
        condition.status == ConditionStatus::False
            && condition.reason.as_deref() == Some("SyncFailed")
    });
    match failed {
        Some(condition) => format!(
            "The disruption budget {name} does not allow evicting pods currently because it failed \
             sync: {}",
            condition.message.as_deref().unwrap_or("")
        ),
        None => format!(
            "The disruption budget {name} needs {} healthy pods and has {} currently",
            number(budget, "desiredHealthy"),
            number(budget, "currentHealthy")
        ),
    }
}

/// `UpdateDisruptionAllowedCondition`: from the number of disruptions that are allowed.
pub fn set_allowed_condition(budget: &mut Generic, now: Timestamp) {
    let allowed = number(budget, "disruptionsAllowed") > 0;
    let reason = if allowed { "SufficientPods" } else { "InsufficientPods" };
    set_condition(budget, allowed, reason, "", now);
}

/// Sets the condition DisruptionAllowed; its time moves only when its status does.
pub fn set_condition(
    budget: &mut Generic,
    allowed: bool,
    reason: &str,
    message: &str,
    now: Timestamp,
) {
    let conditions: Vec<Condition> = budget.typed("status/conditions").unwrap_or_default();
    let status = ConditionStatus::from(allowed);
    let before = Condition::find(&conditions, "DisruptionAllowed");
    let since = before.filter(|before| before.status == status);
    let since = since.and_then(|before| before.last_transition_time).unwrap_or(now);
    let condition = json!([{
        "type": "DisruptionAllowed",
        "status": status,
        "reason": reason,
        "message": message,
        "observedGeneration": number(budget, "observedGeneration"),
        "lastTransitionTime": since,
    }]);
    budget.set_field("status", "conditions", condition);
}

/// The pod says why it goes, for whoever looks at it afterwards.
fn marked(pod: &Pod, now: Timestamp) -> Pod {
    let mut pod = pod.clone();
    let conditions = &mut pod.status.conditions;
    let (reason, message) = ("EvictionByEvictionAPI", "Eviction API: evicting");
    Condition::mark_disrupted(conditions, reason, message, Some(now));
    pod
}
