//! Status writes of Deployments and ReplicaSets (`ValidateDeploymentStatus`,
//! `ValidateReplicaSetStatus`).

use crate::api::{DeploymentStatus, Object, ReplicaSetStatus};

use super::errors::Errors;
use super::meta;

/// Everything that is wrong with the status of `new` in the place of that of `old`.
pub fn validate_status(old: &Object, new: &Object) -> Vec<String> {
    let mut errors = Errors::default();
    let (was, is) = (old.meta(), new.meta());
    // A status is written often, and seldom with these.
    if was.labels != is.labels || was.annotations != is.annotations {
        meta::labels_and_annotations(is, "metadata", &mut errors);
    }
    match (old, new) {
        (Object::Deployment(old), Object::Deployment(new)) => {
            deployment(&new.status, &mut errors);
            let (old, new) = (old.status.collision_count, new.status.collision_count);
            if new < old {
                errors.invalid("status.collisionCount", new, "cannot be decremented");
            }
        }
        (_, Object::ReplicaSet(new)) => replica_set(&new.status, &mut errors),
        _ => {}
    }
    errors.into_words()
}

fn counts(fields: &[(&str, i32)], errors: &mut Errors) {
    for (field, count) in fields {
        errors.non_negative(&format!("status.{field}"), *count);
    }
}

fn at_most(field: &str, count: i32, most: i32, of: &str, errors: &mut Errors) {
    if count > most {
        let detail = format!("cannot be greater than {of}");
        errors.invalid(&format!("status.{field}"), count, &detail);
    }
}

fn deployment(status: &DeploymentStatus, errors: &mut Errors) {
    errors.non_negative("status.observedGeneration", status.observed_generation);
    let (replicas, updated) = (status.replicas, status.updated_replicas);
    let (ready, available) = (status.ready_replicas, status.available_replicas);
    counts(
        &[
            ("replicas", replicas),
            ("updatedReplicas", updated),
            ("readyReplicas", ready),
            ("availableReplicas", available),
            ("unavailableReplicas", status.unavailable_replicas),
            ("terminatingReplicas", status.terminating_replicas.unwrap_or(0)),
            ("collisionCount", status.collision_count.unwrap_or(0)),
        ],
        errors,
    );
    at_most("updatedReplicas", updated, replicas, "status.replicas", errors);
    at_most("readyReplicas", ready, replicas, "status.replicas", errors);
    at_most("availableReplicas", available, replicas, "status.replicas", errors);
    at_most("availableReplicas", available, ready, "readyReplicas", errors);
}

fn replica_set(status: &ReplicaSetStatus, errors: &mut Errors) {
    errors.non_negative("status.observedGeneration", status.observed_generation);
    let (replicas, labeled) = (status.replicas, status.fully_labeled_replicas);
    let (ready, available) = (status.ready_replicas, status.available_replicas);
    counts(
        &[
            ("replicas", replicas),
            ("fullyLabeledReplicas", labeled),
            ("readyReplicas", ready),
            ("availableReplicas", available),
            ("terminatingReplicas", status.terminating_replicas.unwrap_or(0)),
        ],
        errors,
    );
    at_most("fullyLabeledReplicas", labeled, replicas, "status.replicas", errors);
    at_most("readyReplicas", ready, replicas, "status.replicas", errors);
    at_most("availableReplicas", available, replicas, "status.replicas", errors);
    at_most("availableReplicas", available, ready, "readyReplicas", errors);
}
