//! Conditions of a Deployment: their words, and how one is set or taken away.
//!
//! Follows `pkg/controller/deployment/util/deployment_util.go`.

use crate::api::{Condition, ConditionStatus, Timestamp};

/// At least the wanted number less `maxUnavailable` are available.
pub const AVAILABLE: &str = "Available";
/// The rollout moves, or is done.
pub const PROGRESSING: &str = "Progressing";
/// A ReplicaSet cannot make its pods.
pub const REPLICA_FAILURE: &str = "ReplicaFailure";

/// Why Progressing: a set was made.
pub const NEW_SET_CREATED: &str = "NewReplicaSetCreated";
/// Why Progressing: a set of the present template was there already.
pub const FOUND_NEW_SET: &str = "FoundNewReplicaSet";
/// Why Progressing: some number came closer to the goal.
pub const SET_UPDATED: &str = "ReplicaSetUpdated";
/// Why Progressing: the rollout is done.
pub const NEW_SET_AVAILABLE: &str = "NewReplicaSetAvailable";
/// Why not Progressing: the set could not be made.
pub const SET_CREATE_ERROR: &str = "ReplicaSetCreateError";
/// Why not Progressing: nothing moved for too long.
pub const DEADLINE_EXCEEDED: &str = "ProgressDeadlineExceeded";
/// Why nobody can tell: paused.
pub const PAUSED: &str = "DeploymentPaused";
/// Why nobody can tell: just resumed.
pub const RESUMED: &str = "DeploymentResumed";

/// A condition that turns now (`NewDeploymentCondition`).
pub fn new(
    kind: &str,
    status: ConditionStatus,
    reason: &str,
    message: impl Into<String>,
    now: Timestamp,
) -> Condition {
    Condition {
        kind: kind.into(),
        status,
        reason: Some(reason.into()),
        message: Some(message.into().into()),
        last_transition_time: Some(now),
        last_update_time: Some(now),
        ..Condition::default()
    }
}

/// The reason of a condition; empty if it gives none.
pub fn reason(condition: &Condition) -> &str {
    condition.reason.as_deref().unwrap_or_default()
}

/// Sets a condition (`SetDeploymentCondition`): one that says the same already stays as it is,
/// times and message included; otherwise it moves to the end of the list.
pub fn set(conditions: &mut Vec<Condition>, mut condition: Condition) {
    if let Some(current) = Condition::find(conditions, &condition.kind)
        && current.status == condition.status
    {
        if reason(current) == reason(&condition) {
            return;
        }
        condition.last_transition_time = current.last_transition_time;
    }
    remove(conditions, &condition.kind.clone());
    conditions.push(condition);
}

/// Takes a condition away (`RemoveDeploymentCondition`).
pub fn remove(conditions: &mut Vec<Condition>, kind: &str) {
    conditions.retain(|condition| &*condition.kind != kind);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progressing(status: ConditionStatus, reason: &str, at: i64) -> Condition {
        new(PROGRESSING, status, reason, "", Timestamp(at))
    }

    #[test]
    fn saying_the_same_again_moves_no_time() {
        let mut list = vec![progressing(ConditionStatus::True, SET_UPDATED, 1)];
        set(&mut list, progressing(ConditionStatus::True, SET_UPDATED, 2));
        assert_eq!(list, [progressing(ConditionStatus::True, SET_UPDATED, 1)]);
    }

    #[test]
    fn another_reason_keeps_the_time_of_the_last_turn() {
        let mut list = vec![progressing(ConditionStatus::True, SET_UPDATED, 1)];
        set(&mut list, progressing(ConditionStatus::True, NEW_SET_AVAILABLE, 2));
        assert_eq!(list[0].last_transition_time, Some(Timestamp(1)));
        assert_eq!(list[0].last_update_time, Some(Timestamp(2)));
    }
}
