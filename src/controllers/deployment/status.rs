//! A Deployment's status from its ReplicaSets.
//!
//! Follows `calculateStatus` in `pkg/controller/deployment/sync.go` and the sums of
//! `pkg/controller/deployment/util/deployment_util.go`.

use crate::api::{ConditionStatus, Deployment, DeploymentStatus, ReplicaSet, Timestamp};

use super::{conditions, fenceposts};

fn sum(sets: &[&ReplicaSet], number: impl Fn(&ReplicaSet) -> i32) -> i64 {
    sets.iter().map(|set| i64::from(number(set))).sum()
}

/// A sum as a status carries it: cut at 32 bits.
pub(super) fn cut(number: i64) -> i32 {
    i32::try_from(number).unwrap_or(if number < 0 { i32::MIN } else { i32::MAX })
}

/// Pods that these sets shall have (`GetReplicaCountForReplicaSets`).
pub fn size_sum(sets: &[&ReplicaSet]) -> i64 {
    sum(sets, |set| set.spec.replicas())
}

/// Pods that they have (`GetActualReplicaCountForReplicaSets`).
pub fn replica_sum(sets: &[&ReplicaSet]) -> i64 {
    sum(sets, |set| set.status.replicas)
}

/// Pods that are available (`GetAvailableReplicaCountForReplicaSets`).
pub fn available_sum(sets: &[&ReplicaSet]) -> i64 {
    sum(sets, |set| set.status.available_replicas)
}

/// Pods that are being deleted (`GetTerminatingReplicaCountForReplicaSets`). A set that nobody has
/// looked at yet has none; one that was looked at and does not say makes the sum unknown.
pub fn terminating_sum(sets: &[&ReplicaSet]) -> Option<i32> {
    let mut total = 0;
    for set in sets {
        match set.status.terminating_replicas {
            Some(terminating) => total += i64::from(terminating),
            None if set.status.observed_generation == 0 => {}
            None => return None,
        }
    }
    Some(cut(total))
}

/// The status that these sets make, with the conditions that it has and Available.
pub fn calculate(
    deployment: &Deployment,
    sets: &[&ReplicaSet],
    new: Option<&ReplicaSet>,
    now: Timestamp,
) -> DeploymentStatus {
    let before = &deployment.status;
    let available = available_sum(sets);
    let mut status = DeploymentStatus {
        observed_generation: deployment.metadata.generation,
        replicas: cut(replica_sum(sets)),
        updated_replicas: new.map_or(0, |set| set.status.replicas),
        ready_replicas: cut(sum(sets, |set| set.status.ready_replicas)),
        available_replicas: cut(available),
        // More can be available than shall be, while sets shrink.
        unavailable_replicas: cut((size_sum(sets) - available).max(0)),
        terminating_replicas: terminating_sum(sets),
        conditions: before.conditions.clone(),
        collision_count: before.collision_count,
        rest: before.rest.clone(),
    };
    let wanted = i64::from(deployment.spec.replicas());
    let enough = available >= wanted - i64::from(fenceposts::max_unavailable(deployment));
    let (reason, message) = if enough {
        ("MinimumReplicasAvailable", "Deployment has minimum availability.")
    } else {
        ("MinimumReplicasUnavailable", "Deployment does not have minimum availability.")
    };
    let (kind, holds) = (conditions::AVAILABLE, ConditionStatus::from(enough));
    let condition = conditions::new(kind, holds, reason, message, now);
    conditions::set(&mut status.conditions, condition);
    status
}
