//! The HorizontalPodAutoscaler controller of Kubernetes 1.36: sets the size of a workload by what
//! its pods use, after
//! <https://github.com/kubernetes/kubernetes/tree/release-1.36/pkg/controller/podautoscaler>.
//!
//! Level (`sync`): every 15 s a pass reads the target's scale and the metrics, and decides from
//! what it read, whatever has happened since. Edge (`on_change`): it acts when it is told that a
//! metric has changed, that the autoscaler was edited, or that somebody else has resized the
//! target; it works with the size and the metrics that it was told, and a wait (a stabilization
//! window, a rate limit) is a timer of its own. Without faults both come to the same size.
//!
//! Simplifications: all metrics of a namespace are read in one request, at the same time as the
//! scale, also where the bounds decide alone; the scale is read off the target's own object.

pub mod behavior;
pub mod calculator;
pub mod history;
pub mod metrics;
pub mod pods;
pub mod readings;
pub mod reconcile;
pub mod spec;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::api::{Generic, Kind, LabelSelector, Object, ObjectKey, Pod};
use crate::apiserver::{Part, Request, Response};
use crate::kernel::Time;

use super::{Change, Context, Deed, Fact, Intent, Plan, Woken, here};
use behavior::Behavior;
use history::{History, Recommendation};
use pods::StartUp;
use readings::Readings;
use reconcile::{Decision, Input, decide};
use spec::{Scale, Spec};

/// From one pass to the next (`--horizontal-pod-autoscaler-sync-period`).
pub const PERIOD: Duration = Duration::from_secs(15);

/// The controller's memory.
#[derive(Clone, Debug, Default)]
pub struct HorizontalAutoscaler {
    known: BTreeMap<ObjectKey, State>,
}

/// What it remembers of one autoscaler.
#[derive(Clone, Debug, Default)]
struct State {
    history: History,
    /// Level: the answers of this pass's reads.
    scale: Option<Response>,
    metrics: Option<Response>,
    /// A change of the size that is under way.
    pending: Option<Rescale>,
    /// By which it counts pods (`hpaSelectors`).
    selector: Option<LabelSelector>,
    /// Edge: the target, and the size that it was told or set.
    target: Option<ObjectKey>,
    size: Option<i32>,
    /// Edge: the metrics that it was told.
    told: Readings,
    /// Edge: when its timer rings.
    timer: Option<Time>,
}

#[derive(Clone, Debug)]
struct Rescale {
    behavior: Option<Behavior>,
    from: i32,
    to: i32,
    at: Time,
}

impl HorizontalAutoscaler {
    /// Level: a new or edited autoscaler is looked at a period later; one that is waiting already
    /// keeps its time.
    pub fn wakes(&mut self, change: &Change) -> Woken {
        let key = change.key();
        if key.kind != Kind::HorizontalPodAutoscaler {
            return Woken::default();
        }
        match change.is_deletion() {
            true => Woken { keys: vec![key], ..Woken::default() },
            false => Woken { later: vec![(key, PERIOD)], ..Woken::default() },
        }
    }

    /// Level: one pass. Called first, it reads; when the answers are there, it decides.
    pub fn sync(&mut self, key: &ObjectKey, cx: &Context) -> Plan {
        let Some((object, generic)) = autoscaler(key, cx) else {
            self.known.remove(key);
            return Plan::nothing(Fact::Gone, Fact::Gone).by(here!());
        };
        let spec = Spec::read(generic);
        let state = self.known.entry(key.clone()).or_default();
        let Some((scale, metrics)) = state.scale.take().zip(state.metrics.take()) else {
            return reads(key, &spec).by(here!());
        };
        let scale = match (&spec.target, scale) {
            (None, _) => Err(no_matches(&spec)),
            (_, Err(error)) => Err(error.message.clone()),
            (_, Ok(object)) => {
                Scale::of(&object).ok_or_else(|| "the server could not find it".to_string())
            }
        };
        let readings = match &metrics {
            Ok(list) => Readings::of_list(list),
            Err(error) => Readings { failure: Some(error.message.clone()), ..Readings::default() },
        };
        let mut input = input(object, &spec, scale, &readings, cx);
        input.rivals = self.rivals(key, &input);
        let state = self.known.entry(key.clone()).or_default();
        let decision = decide(&input, &mut state.history);
        state.note(&decision, &spec, cx.now);
        let mut plan = decision.plan(&input);
        plan.requeue_after = Some(PERIOD);
        plan.by(here!())
    }

    /// Gives it a past: it has seen the autoscaler before, even if it wished for nothing yet.
    pub fn recall(&mut self, key: &ObjectKey, recommendations: Vec<Recommendation>) {
        let state = self.known.entry(key.clone()).or_default();
        state.history = History { recommendations, begun: true, ..History::default() };
    }

    /// What became of a request of a pass for `key`.
    pub fn answered(&mut self, key: &ObjectKey, request: &Request, response: &Response) {
        let Some(state) = self.known.get_mut(key) else { return };
        match request {
            Request::Get(read) if read.kind == Kind::PodMetrics => {
                state.metrics = Some(response.clone());
            }
            Request::Get(_) => state.scale = Some(response.clone()),
            Request::Patch(Part::Scale, ..) => {
                let Some(rescale) = state.pending.take().filter(|_| response.is_ok()) else {
                    return;
                };
                let Rescale { behavior, from, to, at } = rescale;
                state.history.scaled(behavior.as_ref(), from, to, at);
                state.size = Some(to);
            }
            _ => {}
        }
    }

    /// Edge: the autoscaler that a change concerns.
    pub fn concerns(&self, change: &Change) -> Option<ObjectKey> {
        let key = change.key();
        match key.kind {
            Kind::HorizontalPodAutoscaler => Some(key),
            Kind::PodMetrics => {
                let (namespace, name) = (key.namespace, key.name);
                Some(ObjectKey::new(Kind::HorizontalPodAutoscaler, namespace, name))
            }
            _ => {
                let targets = |state: &State| state.target.as_ref() == Some(&key);
                self.known.iter().find(|(_, state)| targets(state)).map(|(key, _)| key.clone())
            }
        }
    }

    /// Edge: one change.
    pub fn on_change(&mut self, change: &Change, cx: &Context) -> Plan {
        let Some(key) = self.concerns(change) else { return Plan::default() };
        match change.object.kind() {
            Kind::HorizontalPodAutoscaler if change.is_deletion() => {
                self.known.remove(&key);
                return Plan::default();
            }
            Kind::HorizontalPodAutoscaler => {
                let spec = |object: &Object| object.as_generic().map(Spec::read);
                let before = change.before.as_ref().and_then(|before| spec(before));
                if before.is_some() && before == spec(&change.object) {
                    return Plan::default().by(here!());
                }
                let state = self.known.entry(key.clone()).or_default();
                state.target = spec(&change.object).and_then(|spec| spec.target);
            }
            Kind::PodMetrics => {
                let state = self.known.entry(key.clone()).or_default();
                state.told = Readings::of_list(&change.object);
                return self.act(&key, cx).by(here!());
            }
            _ => {
                let Some(state) = self.known.get_mut(&key) else { return Plan::default() };
                let size = match change.is_deletion() {
                    true => None,
                    false => Scale::of(&change.object).map(|scale| scale.spec),
                };
                if size == state.size {
                    return Plan::default().by(here!());
                }
                state.size = size;
            }
        }
        self.act(&key, cx).by(here!())
    }

    /// Edge: a wait is over.
    pub fn on_timer(&mut self, key: &ObjectKey, cx: &Context) -> Plan {
        match self.known.get_mut(key) {
            Some(state) => state.timer = None,
            None => return Plan::default(),
        }
        self.act(key, cx).by(here!())
    }

    /// Edge: what is left of a plan that failed: it decides again, by what it believes now.
    pub fn on_resume(&mut self, plan: Plan, cx: &Context) -> Plan {
        match plan.finish.as_ref().map(|finish| finish.before.key()) {
            Some(key) => self.act(&key, cx),
            None => plan,
        }
    }

    /// The other autoscalers that were seen counting pods which this one counts
    /// (`hpasControllingPodsUnderSelector`).
    fn rivals(&self, key: &ObjectKey, input: &Input<'_>) -> Vec<ObjectKey> {
        let Ok(scale) = &input.scale else { return Vec::new() };
        let others = self.known.iter().filter(|(other, state)| {
            state.selector.is_some() && *other != key && other.namespace == key.namespace
        });
        let share = |selector: &LabelSelector| {
            let labels = input.pods.iter().map(|pod| &pod.metadata.labels);
            labels.filter(|labels| scale.selector.matches(labels)).any(|own| selector.matches(own))
        };
        let rivals = others.filter(|(_, state)| state.selector.as_ref().is_some_and(share));
        rivals.map(|(other, _)| other.clone()).collect()
    }

    /// Edge: decides from what it was told.
    fn act(&mut self, key: &ObjectKey, cx: &Context) -> Plan {
        let Some((object, generic)) = autoscaler(key, cx) else { return Plan::default() };
        let spec = Spec::read(generic);
        let state = self.known.entry(key.clone()).or_default();
        state.target.clone_from(&spec.target);
        let target = spec.target.as_ref().and_then(|target| cx.cache.get(target));
        let scale = match target.and_then(|target| Scale::of(target)) {
            None => Err(no_matches(&spec)),
            // What it believes, not what there is.
            Some(scale) => Ok(Scale { spec: *state.size.get_or_insert(scale.spec), ..scale }),
        };
        let readings = state.told.clone();
        let mut input = input(object, &spec, scale, &readings, cx);
        input.rivals = self.rivals(key, &input);
        let state = self.known.entry(key.clone()).or_default();
        let decision = decide(&input, &mut state.history);
        state.note(&decision, &spec, cx.now);
        let owes = decision.owes();
        let mut plan = decision.plan(&input);
        if owes && state.timer.is_none() {
            state.timer = Some(cx.now + PERIOD);
            plan.requeue_after = Some(PERIOD);
        }
        // A metric that cannot be had is told of, and is no reason to try again: nobody knows when.
        plan.error = None;
        plan
    }
}

impl State {
    fn note(&mut self, decision: &Decision, spec: &Spec, at: Time) {
        let (from, to) = (decision.current, decision.desired);
        let behavior = spec.behavior.clone();
        if decision.selector.is_some() {
            self.selector.clone_from(&decision.selector);
        }
        self.pending = decision.rescale.is_some().then_some(Rescale { behavior, from, to, at });
    }
}

fn autoscaler<'a>(key: &ObjectKey, cx: &Context<'a>) -> Option<(&'a Arc<Object>, &'a Generic)> {
    let object = cx.cache.get(key)?;
    Some((object, object.as_generic()?))
}

fn input<'a>(
    object: &'a Arc<Object>,
    spec: &'a Spec,
    scale: Result<Scale, String>,
    readings: &'a Readings,
    cx: &Context<'a>,
) -> Input<'a> {
    let namespace = &object.meta().namespace;
    let pods: Vec<&Pod> =
        cx.cache.in_namespace(Kind::Pod, namespace).filter_map(|pod| pod.as_pod()).collect();
    let (rivals, start_up) = (Vec::new(), StartUp::default());
    Input { object, spec, scale, pods, rivals, readings, start_up, now: cx.now }
}

/// The reads of a pass. What they answer is looked at, not what becomes of them.
fn reads(key: &ObjectKey, spec: &Spec) -> Plan {
    let metrics = ObjectKey::new(Kind::PodMetrics, key.namespace.clone(), "");
    let target = spec.target.clone();
    // A kind that is not known is asked for too, so that the pass goes on.
    let target = target.unwrap_or_else(|| ObjectKey::new(key.kind, key.namespace.clone(), ""));
    let read = |key| {
        let mut intent = Intent::new(Deed::Read, Request::Get(key));
        intent.tolerates = |_| true;
        intent
    };
    let batches = vec![vec![read(target), read(metrics)]];
    Plan { batches, goes_on: true, upkeep: true, ..Plan::default() }
}

fn no_matches(spec: &Spec) -> String {
    let (group, kind) = &spec.group_kind;
    match &spec.target {
        Some(target) => crate::apiserver::ApiError::not_found(target.kind, &target.name).message,
        None => format!(
            "unable to determine resource for scale target reference: no matches for kind \
             {kind:?} in group {group:?}"
        ),
    }
}
