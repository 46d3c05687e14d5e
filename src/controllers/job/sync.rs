//! One look at a Job (`syncJob`): what its pods have come to, whether it has ended, and if not,
//! which pods are missing.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::api::{
    Condition, ConditionStatus, Generic, Kind, Object, ObjectKey, Pod, PodPhase, RestartPolicy,
    Timestamp,
};
use crate::apiserver::{DeleteOptions, Part, Preconditions, Propagation, Request};
use crate::controllers::owned::{Owner, claim};
use crate::controllers::{Context, Deed, EventNote, Fact, Intent, Plan, here};

use super::handlers::{FINALIZER, Memory, is_orphan, is_tracked};
use super::indexes::{Indexes, index_of};
use super::job_view::{JobSpec, JobStatus};
use super::per_index::PerIndex;
use super::{manage, policy, tracking};

/// A pass over one Job: what is seen, and what it has come to so far.
pub(super) struct Pass<'a> {
    pub object: &'a Arc<Object>,
    pub spec: JobSpec,
    /// The status as it will be written; from the start as it was seen.
    pub status: JobStatus,
    /// Its own pods.
    pub pods: Vec<&'a Pod>,
    /// Those that neither ended nor are being deleted.
    pub active: Vec<&'a Pod>,
    /// Pods or indexes that ended well, counted or not.
    pub succeeded: i32,
    /// Failures, counted or not.
    pub failed: i32,
    /// Indexes that ended well, those that were just found included.
    pub done: Indexes,
    /// Indexes that have failed.
    pub per_index: PerIndex<'a>,
    /// How it ends, if it does.
    pub end: Option<Condition>,
    pub now: Timestamp,
    pub plan: Plan,
}

/// Looks at a Job.
pub(super) fn sync(memory: &mut Memory, key: &ObjectKey, cx: &Context<'_>) -> Plan {
    let Some(object) = cx.cache.get(key) else {
        memory.forget(key);
        return Plan::nothing(Fact::Gone, Fact::Gone).by(here!());
    };
    let Some(job) = object.as_generic() else { return Plan::default() };
    let status = JobStatus::of(job);
    if status.end().is_some() {
        memory.forget(key);
        return finished(object, job, &status, cx).by(here!());
    }
    let mut pass = Pass::new(object, job, status, cx);
    pass.count(memory);
    let fresh = pass.fresh(memory);
    let (succeeded, failed): (Vec<&Pod>, Vec<&Pod>) =
        fresh.iter().partition(|pod| pod.status.phase == Some(PodPhase::Succeeded));
    let backoff = memory.backoff(key).after(&succeeded, &failed, cx.now);
    pass.plan.trail.push(here!());
    pass.find_end();
    pass.look_at_indexes(memory);
    manage::manage(&mut pass, backoff, cx);
    tracking::track(&mut pass, memory);
    memory.expect_backoff(key, backoff);
    pass.plan
}

impl<'a> Pass<'a> {
    fn new(
        object: &'a Arc<Object>,
        job: &Generic,
        mut status: JobStatus,
        cx: &Context<'a>,
    ) -> Pass<'a> {
        let spec = JobSpec::of(job);
        let owner = Owner { object, selector: &spec.selector, finalizer: Some(FINALIZER) };
        let claim = claim(owner, cx.cache, |_| true);
        let active: Vec<&Pod> = claim.pods.iter().copied().filter(|pod| pod.is_active()).collect();
        let terminating = |pod: &&&Pod| pod.metadata.is_terminating() && !pod.is_finished();
        status.active = count(active.len());
        status.ready = count(active.iter().filter(|pod| pod.is_ready()).count());
        status.terminating = count(claim.pods.iter().filter(terminating).count());
        if status.start_time.is_none() && !spec.suspend {
            status.start_time = Some(cx.timestamp());
        }
        let plan = Plan {
            preparations: claim.batches.len(),
            batches: claim.batches,
            ..Plan::nothing(Fact::Count(status.active.into()), Fact::None)
        };
        Pass {
            object,
            spec,
            status,
            pods: claim.pods,
            active,
            succeeded: 0,
            failed: 0,
            done: Indexes::default(),
            per_index: PerIndex::default(),
            end: None,
            now: cx.timestamp(),
            plan,
        }
    }

    /// Pods that have ended and are in no number yet (`getNewFinishedPods`).
    fn fresh(&self, memory: &Memory) -> Vec<&'a Pod> {
        let is_new = |pod: &&Pod| {
            let uid = &pod.metadata.uid;
            let known = self.status.uncounted_succeeded.contains(uid)
                || self.status.uncounted_failed.contains(uid);
            let ended = pod.status.phase == Some(PodPhase::Succeeded) || self.is_failed(pod);
            let has_place = !self.spec.indexed || self.index(pod).is_some();
            is_tracked(pod) && !memory.is_counted(pod) && !known && ended && has_place
        };
        self.pods.iter().copied().filter(is_new).collect()
    }

    fn count(&mut self, memory: &Memory) {
        let fresh = self.fresh(memory);
        let rules = self.spec.failure_rules.as_deref();
        let (mut succeeded, mut failed) = (0, 0);
        for pod in fresh {
            if pod.status.phase == Some(PodPhase::Succeeded) {
                succeeded += 1;
            } else {
                failed += i32::from(policy::judge(rules, pod).counts);
            }
        }
        let status = &self.status;
        self.failed = status.failed + failed + count(status.uncounted_failed.len());
        self.succeeded = status.succeeded + succeeded + count(status.uncounted_succeeded.len());
        if self.spec.indexed {
            self.done = self.counted_indexes().with(&self.ended_indexes());
            self.succeeded = self.done.total();
        }
    }

    /// The indexes that are in the status.
    pub fn counted_indexes(&self) -> Indexes {
        let completions = self.spec.completions.unwrap_or(0);
        Indexes::parse(&self.status.completed_indexes, completions)
    }

    /// The indexes of the pods that ended well and are still to be counted.
    fn ended_indexes(&self) -> std::collections::BTreeSet<i32> {
        let ended = self
            .pods
            .iter()
            .filter(|pod| pod.status.phase == Some(PodPhase::Succeeded) && is_tracked(pod));
        ended.filter_map(|pod| self.index(pod)).collect()
    }

    /// The index of a pod, if it is one of this Job's.
    pub fn index(&self, pod: &Pod) -> Option<i32> {
        index_of(pod).filter(|index| *index < self.spec.completions.unwrap_or(0))
    }

    /// A pod that is being deleted has failed, unless a failed one must be waited for.
    pub fn is_failed(&self, pod: &Pod) -> bool {
        match pod.status.phase {
            Some(PodPhase::Failed) => true,
            Some(PodPhase::Succeeded) => false,
            _ => !self.spec.replaces_failed_only && pod.metadata.is_terminating(),
        }
    }

    /// Whether the Job has failed, or is known to have met what it was made for.
    fn find_end(&mut self) {
        let held = |kind: &str| {
            let found = Condition::find(&self.status.conditions, kind);
            found.filter(|_| Condition::holds(&self.status.conditions, kind)).cloned()
        };
        if let Some(found) = held("SuccessCriteriaMet").or_else(|| held("FailureTarget")) {
            self.end = Some(found);
            return;
        }
        let rules = self.spec.failure_rules.as_deref();
        let failed = self.pods.iter().filter(|pod| self.is_failed(pod));
        let by_policy = failed.filter_map(|pod| policy::judge(rules, pod).fails_job).next();
        let limit = self.spec.backoff_limit;
        if let Some(why) = by_policy {
            self.end = Some(self.condition("FailureTarget", "PodFailurePolicy", &why));
        } else if self.failed > limit || self.restarts_exceed(limit) {
            let text = "Job has reached the specified backoff limit";
            self.end = Some(self.condition("FailureTarget", "BackoffLimitExceeded", text));
        } else if let Some(left) = self.left_until_deadline() {
            if left <= 0 {
                let text = "Job was active longer than specified deadline";
                self.end = Some(self.condition("FailureTarget", "DeadlineExceeded", text));
            } else {
                self.look_after(Duration::from_secs(left.unsigned_abs()));
            }
        }
    }

    fn left_until_deadline(&self) -> Option<i64> {
        let deadline = self.spec.active_deadline_seconds.filter(|_| !self.spec.suspend)?;
        Some(deadline - self.now.seconds_since(self.status.start_time?))
    }

    /// With `OnFailure` it is not pods that fail but containers that restart
    /// (`pastBackoffLimitOnFailure`).
    fn restarts_exceed(&self, limit: i32) -> bool {
        if self.spec.template.spec.restart_policy != Some(RestartPolicy::OnFailure) {
            return false;
        }
        let live = self
            .pods
            .iter()
            .filter(|pod| matches!(pod.status.phase, Some(PodPhase::Running | PodPhase::Pending)));
        let statuses = live.flat_map(|pod| {
            pod.status.container_statuses.iter().chain(&pod.status.init_container_statuses)
        });
        let restarts = statuses.fold(0, |sum: i32, s| sum.saturating_add(s.restart_count));
        if limit == 0 { restarts > 0 } else { restarts >= limit }
    }

    /// A condition that holds from now on.
    pub fn condition(&self, kind: &str, reason: &str, message: &str) -> Condition {
        condition(kind, true, reason, message, self.now)
    }

    /// Looks again after this time, or sooner.
    pub fn look_after(&mut self, after: Duration) {
        let sooner = self.plan.requeue_after.map_or(after, |other| other.min(after));
        self.plan.requeue_after = Some(sooner);
    }

    /// Whether the Job fails.
    pub fn fails(&self) -> bool {
        self.end.as_ref().is_some_and(|end| &*end.kind == "FailureTarget")
    }
}

/// A condition of a Job.
pub(super) fn condition(
    kind: &str,
    holds: bool,
    reason: &str,
    message: &str,
    now: Timestamp,
) -> Condition {
    Condition {
        kind: kind.into(),
        status: ConditionStatus::from(holds),
        reason: Some(reason.into()),
        message: Some(message.into()),
        last_transition_time: Some(now),
        rest: [("lastProbeTime".to_string(), json!(now))].into(),
        ..Condition::default()
    }
}

pub(super) fn count(n: usize) -> i32 {
    i32::try_from(n).unwrap_or(i32::MAX)
}

/// A Job that has ended is left alone until its time to live is over.
fn finished(object: &Arc<Object>, job: &Generic, status: &JobStatus, cx: &Context<'_>) -> Plan {
    let mut plan = Plan::nothing(Fact::Count(0), Fact::Count(0));
    let ended = status.end().and_then(|end| end.last_transition_time);
    let ttl = JobSpec::of(job).ttl_seconds_after_finished;
    if let (Some(ended), Some(ttl), false) = (ended, ttl, object.meta().is_terminating()) {
        let left = ended.0.saturating_add(ttl.into()) - cx.timestamp().0;
        if left > 0 {
            plan.requeue_after = Some(Duration::from_secs(left.unsigned_abs()));
        } else {
            plan.wants = Fact::Gone;
            let options = DeleteOptions {
                propagation: Some(Propagation::Foreground),
                preconditions: Preconditions {
                    uid: Some(object.meta().uid.clone()),
                    resource_version: Some(object.meta().resource_version),
                },
                ..DeleteOptions::default()
            };
            plan.then(Intent::tolerant(Deed::Delete, Request::Delete(object.key(), options)));
        }
    }
    plan
}

/// A pod whose Job is gone must not wait for ever to be counted (`syncOrphanPod`).
pub(super) fn release_orphan(key: &ObjectKey, cx: &Context<'_>) -> Plan {
    let pod = cx.cache.pod(key).filter(|pod| is_tracked(pod) && is_orphan(pod, cx));
    let Some(pod) = pod else { return Plan::default() };
    let mut plan = Plan::nothing(Fact::Word("orphan".into()), Fact::None);
    plan.then(untrack(pod));
    plan
}

/// The request that takes the finalizer off a pod.
pub(super) fn untrack(pod: &Pod) -> Intent {
    let kept: Vec<_> =
        pod.metadata.finalizers.iter().filter(|other| ***other != *FINALIZER).collect();
    let kept = if kept.is_empty() { Value::Null } else { json!(kept) };
    let patch = json!({"metadata": {"uid": pod.metadata.uid, "finalizers": kept}});
    let key = ObjectKey::new(Kind::Pod, pod.metadata.namespace.clone(), pod.metadata.name.clone());
    Intent::tolerant(Deed::Unblock, Request::Patch(Part::Main, key, patch))
}

/// What is told of the end of a Job.
pub(super) fn told(object: &Arc<Object>, end: &Condition) -> EventNote {
    match &*end.kind {
        "Complete" => EventNote::normal(object, "Completed", "Job completed"),
        _ => {
            let reason = end.reason.clone().unwrap_or_default();
            EventNote::warning(object, &reason, end.message.as_deref().unwrap_or_default())
        }
    }
}
