//! One pass over one autoscaler: from what was read to a size, the conditions and what is told
//! (`reconcileAutoscaler` of `horizontal.go`). Pure; both flavours decide by it.

use std::cmp::Ordering;
use std::sync::Arc;

use serde_json::{Map, json};

use crate::api::{
    Condition, ConditionStatus, LabelSelector, Object, ObjectKey, Pod, Str, Timestamp, Value,
};
use crate::apiserver::{Part, Request};
use crate::controllers::{Deed, EventNote, Fact, Fallback, Finish, Intent, Plan};
use crate::kernel::Time;

use super::behavior::{
    Behavior, DOWNSCALE_STABILIZATION_SECONDS, Limited, limit_by_behavior, limit_by_rules,
};
use super::calculator::{Seen, Tolerances};
use super::history::History;
use super::metrics::wish;
use super::pods::StartUp;
use super::readings::Readings;
use super::spec::{Scale, Spec};

/// What a pass looks at.
pub struct Input<'a> {
    /// The autoscaler.
    pub object: &'a Arc<Object>,
    /// What it says.
    pub spec: &'a Spec,
    /// The target's scale, or why it could not be read.
    pub scale: Result<Scale, String>,
    /// All pods of the namespace.
    pub pods: Vec<&'a Pod>,
    /// Other autoscalers that are known to count pods which this one counts.
    pub rivals: Vec<ObjectKey>,
    /// What the metrics APIs answered.
    pub readings: &'a Readings,
    /// How long pods take to come up.
    pub start_up: StartUp,
    /// The time.
    pub now: Time,
}

/// What a pass decided.
#[derive(Clone, Debug, Default)]
pub struct Decision {
    /// The size as it is.
    pub current: i32,
    /// The size that shall be.
    pub desired: i32,
    /// What its status goes on saying instead, if nothing could be computed.
    pub said: Option<i32>,
    /// The size that the metrics ask for within the bounds, before it was steadied and limited.
    pub raw: Option<i32>,
    /// Why the size changes, if it does.
    pub rescale: Option<String>,
    /// The selector by which it counts pods, once it came to that.
    pub selector: Option<LabelSelector>,
    /// `status.currentMetrics`.
    metrics: Option<Vec<Value>>,
    conditions: Vec<Condition>,
    /// Warnings: reason and message.
    warnings: Vec<(&'static str, String)>,
    /// What is wrong.
    pub error: Option<String>,
}

/// Decides.
pub fn decide(input: &Input, history: &mut History) -> Decision {
    let mut decision = Decision { conditions: conditions_of(input.object), ..Decision::default() };
    let now = Timestamp::from(input.now);
    let scale = match &input.scale {
        Ok(scale) => scale,
        Err(error) => {
            let text =
                format!("the HPA controller was unable to get the target's current scale: {error}");
            decision.set("AbleToScale", false, "FailedGetScale", &text, now);
            decision.warnings.push(("FailedGetScale", error.clone()));
            let reference = &input.spec.reference;
            decision.error =
                Some(format!("failed to query scale subresource for {reference}: {error}"));
            decision.current = said(input.object, "currentReplicas");
            decision.desired = said(input.object, "desiredReplicas");
            return decision;
        }
    };
    let text = "the HPA controller was able to get the target's current scale";
    decision.set("AbleToScale", true, "SucceededGetScale", text, now);
    (decision.current, decision.desired) = (scale.spec, scale.spec);
    history.begin(scale.spec, input.now);
    let (current, (min, max)) = (scale.spec, (input.spec.min, input.spec.max));
    if current == 0 && min != 0 {
        let text = "scaling is disabled since the replica count of the target is zero";
        decision.set("ScalingActive", false, "ScalingDisabled", text, now);
    } else if current > max {
        decision.rescale_to(max, "Current number of replicas above Spec.MaxReplicas".into());
    } else if current < min {
        decision.rescale_to(min, "Current number of replicas below Spec.MinReplicas".into());
    } else {
        by_metrics(input, scale, &mut decision, history);
    }
    if decision.rescale.is_some() {
        let desired = decision.desired;
        let text = format!("the HPA controller was able to update the target scale to {desired}");
        decision.set("AbleToScale", true, "SucceededRescale", &text, now);
    }
    decision
}

fn by_metrics(input: &Input, scale: &Scale, decision: &mut Decision, history: &mut History) {
    let (spec, now) = (input.spec, Timestamp::from(input.now));
    if let Err(error) = validate_selector(input, scale, decision) {
        return give_up(input, decision, error);
    }
    let selects = |labels: &crate::api::StrMap| scale.selector.matches(labels);
    let pods: Vec<&Pod> =
        input.pods.iter().copied().filter(|pod| selects(&pod.metadata.labels)).collect();
    let seen = Seen {
        pods: &pods,
        readings: input.readings,
        selects: &selects,
        current: scale.spec,
        reported: scale.status,
        tolerances: tolerances(spec.behavior.as_ref()),
        start_up: input.start_up,
        now,
    };
    let wish = wish(&spec.metrics, &seen);
    decision.metrics = Some(wish.statuses);
    decision.warnings.extend(wish.failures.iter().cloned());
    let Some((wanted, name)) = wish.replicas else {
        if let Some((reason, told)) = wish.failures.first() {
            let text = format!("the HPA was unable to compute the replica count: {told}");
            decision.set("ScalingActive", false, reason, &text, now);
        }
        return give_up(input, decision, wish.error.unwrap_or_default());
    };
    let text = format!("the HPA was able to successfully calculate a replica count from {name}");
    decision.set("ScalingActive", true, "ValidMetricFound", &text, now);
    decision.error = wish.error;
    let wanted = wanted.max(0);
    decision.raw = Some(wanted.clamp(spec.min, spec.max.max(spec.min)));
    let limited = normalize(spec, (scale.spec, wanted), decision, history, input.now);
    if limited != scale.spec {
        let reason = match wanted.cmp(&scale.spec) {
            Ordering::Greater => format!("{name} above target"),
            Ordering::Less => "All metrics below target".into(),
            // What was wished earlier, and not the metrics, changes the size.
            Ordering::Equal => String::new(),
        };
        decision.rescale_to(limited, reason);
    }
}

/// No size can be computed: it stays as it is.
fn give_up(input: &Input, decision: &mut Decision, error: String) {
    decision.said = Some(said(input.object, "desiredReplicas"));
    decision.error = Some(format!(
        "failed to compute desired number of replicas based on listed metrics for {}: {error}",
        input.spec.reference
    ));
    decision.warnings.push(("FailedComputeMetricsReplicas", error));
}

/// `validateAndParseSelector`: pods that two autoscalers count are scaled by neither.
fn validate_selector(input: &Input, scale: &Scale, decision: &mut Decision) -> Result<(), String> {
    let now = Timestamp::from(input.now);
    let text = scale.selector.format();
    if scale.selector.is_empty() {
        let (error, text) =
            ("selector is required", "the HPA target's scale is missing a selector");
        decision.warnings.push(("SelectorRequired", error.into()));
        decision.set("ScalingActive", false, "InvalidSelector", text, now);
        return Err(error.into());
    }
    if let Err(error) = scale.selector.to_selector() {
        let error = format!(
            "couldn't convert selector into a corresponding internal selector object: {error}"
        );
        decision.warnings.push(("InvalidSelector", error.clone()));
        decision.set("ScalingActive", false, "InvalidSelector", &error, now);
        return Err(error);
    }
    decision.selector = Some(scale.selector.clone());
    if !input.rivals.is_empty() {
        let mut all = input.rivals.clone();
        all.push(input.object.key());
        all.sort();
        let all: Vec<String> =
            all.iter().map(|key| format!("{}/{}", key.namespace, key.name)).collect();
        let all = all.join(" ");
        let error = format!("pods by selector {text} are controlled by multiple HPAs: [{all}]");
        decision.warnings.push(("AmbiguousSelector", error.clone()));
        decision.set("ScalingActive", false, "AmbiguousSelector", &error, now);
        return Err(error);
    }
    Ok(())
}

fn tolerances(behavior: Option<&Behavior>) -> Tolerances {
    let usual = Tolerances::default();
    let of = |rules: Option<f64>, usual| rules.unwrap_or(usual);
    Tolerances {
        down: of(behavior.and_then(|behavior| behavior.down.tolerance), usual.down),
        up: of(behavior.and_then(|behavior| behavior.up.tolerance), usual.up),
    }
}

/// Steadies a wish and keeps it within its limits (`normalizeDesiredReplicas`, with and without
/// behaviors).
fn normalize(
    spec: &Spec,
    (current, wanted): (i32, i32),
    decision: &mut Decision,
    history: &mut History,
    now: Time,
) -> i32 {
    let bounds = (spec.min, spec.max);
    let steadied = match &spec.behavior {
        None => history.stabilize(wanted, DOWNSCALE_STABILIZATION_SECONDS, now),
        Some(behavior) => {
            let up = behavior.up.stabilization.unwrap_or(0);
            let down = behavior.down.stabilization.unwrap_or(DOWNSCALE_STABILIZATION_SECONDS);
            history.stabilize_both((current, wanted), (up, down), now)
        }
    };
    let upwards = spec.behavior.is_some() && wanted >= current;
    let (reason, text) = match (steadied == wanted, upwards) {
        (true, _) => ("ReadyForNewScale", "recommended size matches current size"),
        (_, true) => (
            "ScaleUpStabilized",
            "recent recommendations were lower than current one, applying the lowest recent \
             recommendation",
        ),
        (_, false) => (
            "ScaleDownStabilized",
            "recent recommendations were higher than current one, applying the highest recent \
             recommendation",
        ),
    };
    let stamp = Timestamp::from(now);
    decision.set("AbleToScale", true, reason, text, stamp);
    let Limited { replicas, reason, message } = match &spec.behavior {
        None => limit_by_rules(current, steadied, bounds),
        Some(behavior) => {
            limit_by_behavior(behavior, history.changes(), (current, steadied), bounds, now)
        }
    };
    decision.set("ScalingLimited", replicas != steadied, reason, message, stamp);
    replicas
}

impl Decision {
    fn rescale_to(&mut self, desired: i32, reason: String) {
        self.desired = desired;
        self.rescale = Some(reason);
    }

    fn set(&mut self, kind: &str, status: bool, reason: &str, message: &str, now: Timestamp) {
        set_condition(&mut self.conditions, kind, status.into(), (reason, message), now);
    }

    /// Whether the metrics ask for more, or less, than this pass may do: there is more to come.
    pub fn owes(&self) -> bool {
        self.raw.is_some_and(|raw| raw != self.desired)
    }

    /// The plan that carries it out.
    pub fn plan(self, input: &Input) -> Plan {
        let object = input.object;
        let mut plan = Plan {
            sees: Fact::Count(self.current.into()),
            wants: Fact::Count(self.desired.into()),
            ..Plan::default()
        };
        let note = |(reason, text): &(&str, String)| EventNote::warning(object, reason, text);
        plan.events = self.warnings.iter().map(note).collect();
        let after = self.with_status(object, self.rescale.is_some().then_some(input.now));
        match (&self.rescale, &input.spec.target) {
            (Some(reason), Some(target)) => plan.then(self.rescale_intent(object, target, reason)),
            _ => plan.error = self.error,
        }
        plan.finish = Some(Finish::plain(object.clone(), after));
        plan
    }

    fn rescale_intent(
        &self,
        object: &Arc<Object>,
        target: &crate::api::ObjectKey,
        reason: &str,
    ) -> Intent {
        let desired = self.desired;
        let patch = json!({"spec": {"replicas": desired}});
        let mut intent =
            Intent::new(Deed::Scale, Request::Patch(Part::Scale, target.clone(), patch));
        let text = format!("New size: {desired}; reason: {reason}");
        let failed = format!("{text}; error: {{error}}");
        intent.on_success = Some(EventNote::normal(object, "SuccessfulRescale", text));
        intent.on_failure = Some(EventNote::warning(object, "FailedRescale", failed));
        intent.fallbacks =
            vec![Fallback { applies: |_| true, write: Some(self.failure(object)), event: None }];
        intent
    }

    /// The status, if the target's size cannot be written.
    fn failure(&self, object: &Arc<Object>) -> Request {
        let mut conditions = self.conditions.clone();
        let text = "the HPA controller was unable to update the target scale: {error}";
        let why = ("FailedUpdateScale", text);
        let now = conditions.iter().filter_map(|c| c.last_transition_time).max();
        let now = now.unwrap_or_default();
        set_condition(&mut conditions, "AbleToScale", ConditionStatus::False, why, now);
        let mut status = Map::new();
        status.insert("conditions".into(), json!(conditions));
        status.insert("currentReplicas".into(), self.current.into());
        if let Some(metrics) = &self.metrics {
            status.insert("currentMetrics".into(), json!(metrics));
        }
        Request::Patch(Part::Status, object.key(), json!({"status": status}))
    }

    fn with_status(&self, object: &Arc<Object>, rescaled: Option<Time>) -> Object {
        let mut after = Object::clone(object);
        let Object::Generic(generic) = &mut after else { return after };
        let mut status = match generic.rest.get("status") {
            Some(Value::Object(status)) => status.clone(),
            _ => Map::new(),
        };
        status.insert("observedGeneration".into(), generic.metadata.generation.into());
        status.insert("currentReplicas".into(), self.current.into());
        let desired = self.said.unwrap_or(self.desired);
        status.insert("desiredReplicas".into(), desired.into());
        match &self.metrics {
            Some(metrics) => status.insert("currentMetrics".into(), json!(metrics)),
            None => status.remove("currentMetrics"),
        };
        status.insert("conditions".into(), json!(self.conditions));
        if let Some(now) = rescaled {
            status.insert("lastScaleTime".into(), Timestamp::from(now).to_string().into());
        }
        generic.rest.insert("status".into(), Value::Object(status));
        after
    }
}

/// A number of the status up to now.
fn said(object: &Object, field: &str) -> i32 {
    let status = object.as_generic().and_then(|object| object.rest.get("status"));
    let number = status.and_then(|status| status.get(field)).and_then(Value::as_i64);
    number.and_then(|number| i32::try_from(number).ok()).unwrap_or(0)
}

fn conditions_of(object: &Object) -> Vec<Condition> {
    let status = object.as_generic().and_then(|object| object.rest.get("status"));
    let conditions = status.and_then(|status| status.get("conditions")).cloned();
    conditions.and_then(|conditions| serde_json::from_value(conditions).ok()).unwrap_or_default()
}

/// The time of the last turn is kept while the status stays (`setConditionInList`).
fn set_condition(
    conditions: &mut Vec<Condition>,
    kind: &str,
    status: ConditionStatus,
    (reason, message): (&str, &str),
    now: Timestamp,
) {
    let found = conditions.iter().position(|condition| &*condition.kind == kind);
    let index = found.unwrap_or_else(|| {
        let kind: Str = kind.into();
        conditions.push(Condition { kind, ..Condition::default() });
        conditions.len() - 1
    });
    let condition = &mut conditions[index];
    if condition.status != status || condition.last_transition_time.is_none() {
        condition.last_transition_time = Some(now);
    }
    condition.status = status;
    condition.reason = Some(reason.into());
    condition.message = Some(message.into());
}
