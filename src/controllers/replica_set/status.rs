//! The status of a ReplicaSet (`calculateStatus`, `updateReplicaSetStatus` and the condition
//! helpers in Kubernetes' pkg/controller/replicaset/replica_set_utils.go).

use std::sync::Arc;
use std::time::Duration;

use crate::api::{
    Condition, ConditionStatus, Object, Pod, ReplicaSet, ReplicaSetStatus, StrMap, Timestamp,
};
use crate::controllers::Finish;
use crate::kernel::Time;

/// The condition that says that pods could not be made or deleted.
pub const REPLICA_FAILURE: &str = "ReplicaFailure";

/// A failed write is tried once more after a fresh read.
const RETRIES: u32 = 1;

/// The numbers of a status, as a whole or as a difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Active pods.
    pub replicas: i32,
    /// Those with all labels of the template.
    pub fully_labeled: i32,
    /// Those that are ready.
    pub ready: i32,
    /// Those that were ready for minReadySeconds.
    pub available: i32,
    /// Pods that are being deleted.
    pub terminating: i32,
}

impl Tally {
    /// The numbers of the pods of a set at `now`.
    pub fn count<'a>(
        set: &ReplicaSet,
        active: impl IntoIterator<Item = &'a Pod>,
        terminating: usize,
        now: Timestamp,
    ) -> Tally {
        let mut tally = Tally {
            terminating: i32::try_from(terminating).unwrap_or(i32::MAX),
            ..Tally::default()
        };
        for pod in active {
            tally.add(set, pod, has_all_labels(pod, set), now);
        }
        tally
    }

    /// Counts one active pod more.
    pub fn add(&mut self, set: &ReplicaSet, pod: &Pod, has_all_labels: bool, now: Timestamp) {
        let seconds = set.spec.min_ready_seconds;
        self.replicas += 1;
        self.fully_labeled += i32::from(has_all_labels);
        if pod.is_ready() {
            let available = seconds == 0 || pod.is_available(seconds, now);
            self.ready += 1;
            self.available += i32::from(available);
        }
    }

    /// Counts active pods that are alike, none of which must have been ready for a time.
    pub fn add_alike(&mut self, count: i32, has_all_labels: bool, ready: bool) {
        self.replicas = self.replicas.saturating_add(count);
        self.fully_labeled += if has_all_labels { count } else { 0 };
        self.ready += if ready { count } else { 0 };
        self.available += if ready { count } else { 0 };
    }

    /// The numbers of a stored status.
    pub fn of(status: &ReplicaSetStatus) -> Tally {
        Tally {
            replicas: status.replicas,
            fully_labeled: status.fully_labeled_replicas,
            ready: status.ready_replicas,
            available: status.available_replicas,
            terminating: status.terminating_replicas.unwrap_or(0),
        }
    }

    /// Writes the numbers into a status. None is ever below zero.
    pub fn put(&self, status: &mut ReplicaSetStatus) {
        status.replicas = self.replicas.max(0);
        status.fully_labeled_replicas = self.fully_labeled.max(0);
        status.ready_replicas = self.ready.max(0);
        status.available_replicas = self.available.max(0);
        status.terminating_replicas = Some(self.terminating.max(0));
    }

    /// All numbers added.
    pub fn plus(self, other: Tally) -> Tally {
        Tally {
            replicas: self.replicas.saturating_add(other.replicas),
            fully_labeled: self.fully_labeled.saturating_add(other.fully_labeled),
            ready: self.ready.saturating_add(other.ready),
            available: self.available.saturating_add(other.available),
            terminating: self.terminating.saturating_add(other.terminating),
        }
    }

    /// All numbers the other way round.
    pub fn negated(self) -> Tally {
        Tally {
            replicas: -self.replicas,
            fully_labeled: -self.fully_labeled,
            ready: -self.ready,
            available: -self.available,
            terminating: -self.terminating,
        }
    }
}

/// Whether a pod has all labels of the set's template.
pub fn has_all_labels(pod: &Pod, set: &ReplicaSet) -> bool {
    includes(&pod.metadata.labels, &set.spec.template.metadata.labels)
}

/// Whether `labels` has all that are `wanted`.
pub fn includes(labels: &StrMap, wanted: &StrMap) -> bool {
    wanted.iter().all(|(key, value)| labels.get(key) == Some(value))
}

/// The status write that ends a pass which saw these numbers.
pub fn finish(object: &Arc<Object>, set: &ReplicaSet, tally: Tally) -> Finish {
    let mut after = set.clone();
    tally.put(&mut after.status);
    after.status.observed_generation = set.metadata.generation;
    Finish {
        amend: |object, error, now| {
            if let Object::ReplicaSet(set) = object {
                let reason = failure_reason(set.status.replicas, set.spec.replicas());
                amend(&mut set.status, reason, error, now);
            }
        },
        retries: RETRIES,
        ..Finish::plain(object.clone(), Object::from(after))
    }
}

/// Which failure an error means, from how many pods there are and shall be.
pub fn failure_reason(active: i32, wanted: i32) -> &'static str {
    match active.cmp(&wanted) {
        std::cmp::Ordering::Less => "FailedCreate",
        std::cmp::Ordering::Equal => "",
        std::cmp::Ordering::Greater => "FailedDelete",
    }
}

/// Completes a status with what became of the requests; deletion errors come wrapped.
pub fn amend(status: &mut ReplicaSetStatus, reason: &str, error: Option<&str>, now: Time) {
    let wrapped = error.filter(|_| reason == "FailedDelete");
    let wrapped = wrapped.map(|text| format!("unable to delete pods: {text}"));
    report_failure(&mut status.conditions, reason, wrapped.as_deref().or(error), now);
}

/// Sets the ReplicaFailure condition at the first error, and takes it away when there is none.
pub fn report_failure(
    conditions: &mut Vec<Condition>,
    reason: &str,
    error: Option<&str>,
    now: Time,
) {
    match (error, Condition::find(conditions, REPLICA_FAILURE)) {
        (Some(text), None) => {
            let failure = Condition {
                kind: REPLICA_FAILURE.into(),
                status: ConditionStatus::True,
                reason: (!reason.is_empty()).then(|| reason.into()),
                message: Some(text.into()),
                last_transition_time: Some(Timestamp::from(now)),
                ..Condition::default()
            };
            set_condition(conditions, failure);
        }
        (None, Some(_)) => remove_condition(conditions, REPLICA_FAILURE),
        _ => {}
    }
}

/// Puts a condition into a list in place of the one of its type; one that says the same stays.
pub fn set_condition(conditions: &mut Vec<Condition>, condition: Condition) {
    let says_the_same =
        |old: &Condition| old.status == condition.status && old.reason == condition.reason;
    if !Condition::find(conditions, &condition.kind).is_some_and(says_the_same) {
        remove_condition(conditions, &condition.kind.clone());
        conditions.push(condition);
    }
}

/// Takes the condition of this type out of a list.
pub fn remove_condition(conditions: &mut Vec<Condition>, kind: &str) {
    conditions.retain(|condition| &*condition.kind != kind);
}

/// When the next of these pods becomes available (`FindMinNextPodAvailabilityCheck`). If that
/// cannot be told from them, after minReadySeconds, so that nothing is forgotten.
pub fn next_look<'a>(
    set: &ReplicaSet,
    active: impl IntoIterator<Item = &'a Pod>,
    tally: &Tally,
    now: Time,
) -> Option<Duration> {
    let seconds = set.spec.min_ready_seconds;
    if seconds <= 0 || tally.ready == tally.available {
        return None;
    }
    let waits = active.into_iter().filter_map(|pod| {
        let wait = available_at(pod, seconds)?.since(now);
        (!wait.is_zero()).then_some(wait)
    });
    let fallback = Duration::from_secs(seconds.unsigned_abs().into());
    Some(waits.min().unwrap_or(fallback))
}

/// When a ready pod will have been ready for long enough; nothing if nobody knows since when it is.
pub fn available_at(pod: &Pod, min_ready_seconds: i32) -> Option<Time> {
    let ready = Condition::find(&pod.status.conditions, "Ready")?;
    let since = ready.last_transition_time.filter(|_| pod.is_ready())?;
    let at = Timestamp(since.0.saturating_add(i64::from(min_ready_seconds)));
    Some(at.to_time())
}
