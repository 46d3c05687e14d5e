//! Is the rollout done, does it move, has it been stuck for too long? The Progressing condition,
//! and when to look again.
//!
//! Follows `pkg/controller/deployment/progress.go` and
//! `pkg/controller/deployment/util/deployment_util.go`. Times since 1970 are spans: the clock has
//! nanoseconds, the times that objects carry have seconds.

use std::time::Duration;

use crate::api::{Condition, ConditionStatus, Deployment, DeploymentStatus, ReplicaSet, Timestamp};
use crate::kernel::Time;

use super::{conditions, status};

/// The time since 1970.
pub fn since_1970(now: Time) -> Duration {
    seconds(Timestamp::EPOCH.0) + now.elapsed()
}

fn seconds(number: i64) -> Duration {
    Duration::from_secs(u64::try_from(number).unwrap_or(0))
}

/// The time as objects carry it.
fn timestamp(now: Duration) -> Timestamp {
    Timestamp(i64::try_from(now.as_secs()).unwrap_or(i64::MAX))
}

/// Seconds without progress that are borne; none: for ever (`HasProgressDeadline`).
fn deadline(deployment: &Deployment) -> Option<i64> {
    let seconds = deployment.spec.progress_deadline_seconds?;
    (seconds != i32::MAX).then_some(i64::from(seconds))
}

/// Whether anybody asks for progress.
pub fn has_deadline(deployment: &Deployment) -> bool {
    deadline(deployment).is_some()
}

/// Whether the rollout is done (`DeploymentComplete`): all pods are of the present template and
/// available, and no others are left.
pub fn is_complete(deployment: &Deployment, status: &DeploymentStatus) -> bool {
    let wanted = deployment.spec.replicas();
    status.updated_replicas == wanted
        && status.replicas == wanted
        && status.available_replicas == wanted
        && status.observed_generation >= deployment.metadata.generation
}

/// Whether a new status is closer to the goal than the one before (`DeploymentProgressing`): more
/// updated, fewer old, more ready or more available pods.
pub fn is_progressing(before: &DeploymentStatus, after: &DeploymentStatus) -> bool {
    let old_pods =
        |status: &DeploymentStatus| i64::from(status.replicas) - i64::from(status.updated_replicas);
    after.updated_replicas > before.updated_replicas
        || old_pods(after) < old_pods(before)
        || after.ready_replicas > before.ready_replicas
        || after.available_replicas > before.available_replicas
}

/// When the rollout counts as failed unless something moves before, since 1970.
fn fails_at(condition: &Condition, deadline: i64) -> Duration {
    let since = condition.last_update_time.map_or(0, |at| at.0);
    seconds(since.saturating_add(deadline))
}

/// Whether nothing has moved for too long (`DeploymentTimedOut`). A finished rollout never times
/// out.
pub fn is_timed_out(deployment: &Deployment, status: &DeploymentStatus, now: Duration) -> bool {
    let Some(deadline) = deadline(deployment) else {
        return false;
    };
    let condition = Condition::find(&status.conditions, conditions::PROGRESSING);
    condition.is_some_and(|condition| match conditions::reason(condition) {
        conditions::NEW_SET_AVAILABLE => false,
        conditions::DEADLINE_EXCEEDED => true,
        _ => fails_at(condition, deadline) < now,
    })
}

/// How long until the deadline of a rollout that is under way (`requeueStuckDeployment`); 0 if
/// less than a second is left, none if there is nothing to wait for. `deployment` carries the
/// status from before, `status` is the new one.
pub fn requeue_delay(
    deployment: &Deployment,
    status: &DeploymentStatus,
    now: Duration,
) -> Option<Duration> {
    let deadline = deadline(deployment)?;
    let condition = Condition::find(&deployment.status.conditions, conditions::PROGRESSING)?;
    if is_complete(deployment, status)
        || conditions::reason(condition) == conditions::DEADLINE_EXCEEDED
    {
        return None;
    }
    let left = fails_at(condition, deadline).saturating_sub(now);
    Some(if left < Duration::from_secs(1) { Duration::ZERO } else { left })
}

/// After how long the key comes back, given the delay above: a second later than the deadline; or
/// at once, that is, after the first delay of the queue's rate limiter.
pub fn requeue_after(delay: Duration) -> Duration {
    if delay.is_zero() { Duration::from_millis(5) } else { delay + Duration::from_secs(1) }
}

/// The status of a rollout (`syncRolloutStatus`): the numbers, Progressing as far as it can be
/// told, and the ReplicaFailure of a set, if one has it.
pub fn rollout_status(
    deployment: &Deployment,
    sets: &[&ReplicaSet],
    new: Option<&ReplicaSet>,
    now: Duration,
) -> DeploymentStatus {
    let mut status = status::calculate(deployment, sets, new, timestamp(now));
    if !has_deadline(deployment) {
        conditions::remove(&mut status.conditions, conditions::PROGRESSING);
    }
    let list = &deployment.status.conditions;
    let current = Condition::find(list, conditions::PROGRESSING);
    // Only a resync, or a change of size: there is no rollout to estimate.
    let was_complete = status.replicas == status.updated_replicas
        && current.is_some_and(|c| conditions::reason(c) == conditions::NEW_SET_AVAILABLE);
    if has_deadline(deployment) && !was_complete {
        estimate(deployment, &mut status, new, now);
    }
    match replica_failure(sets, new) {
        Some(failure) => conditions::set(&mut status.conditions, failure),
        None => conditions::remove(&mut status.conditions, conditions::REPLICA_FAILURE),
    }
    status
}

fn estimate(
    deployment: &Deployment,
    status: &mut DeploymentStatus,
    new: Option<&ReplicaSet>,
    now: Duration,
) {
    let who = match new {
        Some(set) => format!("ReplicaSet {:?}", set.metadata.name),
        None => format!("Deployment {:?}", deployment.metadata.name),
    };
    let condition = |holds: bool, reason, what: &str| {
        let (kind, text) = (conditions::PROGRESSING, format!("{who} {what}"));
        conditions::new(kind, ConditionStatus::from(holds), reason, text, timestamp(now))
    };
    if is_complete(deployment, status) {
        let what = "has successfully progressed.";
        let done = condition(true, conditions::NEW_SET_AVAILABLE, what);
        conditions::set(&mut status.conditions, done);
    } else if is_progressing(&deployment.status, status) {
        let mut moves = condition(true, conditions::SET_UPDATED, "is progressing.");
        let list = &deployment.status.conditions;
        let current = Condition::find(list, conditions::PROGRESSING);
        if let Some(current) = current.filter(|c| c.status == ConditionStatus::True) {
            moves.last_transition_time = current.last_transition_time;
        }
        // Taken away first, so that each progress counts as an update and the deadline starts anew.
        conditions::remove(&mut status.conditions, conditions::PROGRESSING);
        conditions::set(&mut status.conditions, moves);
    } else if is_timed_out(deployment, status, now) {
        let what = "has timed out progressing.";
        let stuck = condition(false, conditions::DEADLINE_EXCEEDED, what);
        conditions::set(&mut status.conditions, stuck);
    }
}

/// The ReplicaFailure to show: the new set's before any other's (`getReplicaFailures`).
fn replica_failure(sets: &[&ReplicaSet], new: Option<&ReplicaSet>) -> Option<Condition> {
    new.iter().chain(sets).find_map(|set| {
        let failure = Condition::find(&set.status.conditions, conditions::REPLICA_FAILURE)?;
        Some(Condition {
            last_update_time: failure.last_transition_time,
            rest: Default::default(),
            ..failure.clone()
        })
    })
}

/// Notes a pause or its end (`checkPausedConditions`), so that the time it took is not held against
/// the rollout. Whether anything changed.
pub fn note_pause(deployment: &mut Deployment, now: Duration) -> bool {
    if !has_deadline(deployment) {
        return false;
    }
    let list = &mut deployment.status.conditions;
    let reason = Condition::find(list, conditions::PROGRESSING).map_or("", conditions::reason);
    let was_paused = reason == conditions::PAUSED;
    if reason == conditions::DEADLINE_EXCEEDED || was_paused == deployment.spec.paused {
        return false;
    }
    let (reason, message) = if deployment.spec.paused {
        (conditions::PAUSED, "Deployment is paused")
    } else {
        (conditions::RESUMED, "Deployment is resumed")
    };
    let (kind, status) = (conditions::PROGRESSING, ConditionStatus::Unknown);
    let condition = conditions::new(kind, status, reason, message, timestamp(now));
    conditions::set(list, condition);
    true
}
