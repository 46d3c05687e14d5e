//! Old ReplicaSets are kept so that one can go back to them; `revisionHistoryLimit` says how many.
//!
//! Follows `cleanupDeployment` in `pkg/controller/deployment/sync.go`.

use std::cmp::Ordering;

use crate::api::{Deployment, ReplicaSet};

use super::{annotations, matching};

/// The revision that a set carries; 0 if it carries none or no number.
pub fn revision(set: &ReplicaSet) -> i64 {
    let text = set.metadata.annotations.get(annotations::REVISION);
    text.and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// The highest revision of these sets (`MaxRevision`).
pub fn max_revision<'a>(sets: impl IntoIterator<Item = &'a ReplicaSet>) -> i64 {
    sets.into_iter().map(revision).max().unwrap_or(0).max(0)
}

/// Lowest revision first, then the oldest (`ReplicaSetsByRevision`).
fn by_revision(a: &ReplicaSet, b: &ReplicaSet) -> Ordering {
    revision(a).cmp(&revision(b)).then_with(|| matching::by_creation(a, b))
}

/// How many old sets are kept; none: all.
fn limit(deployment: &Deployment) -> Option<usize> {
    let limit = deployment.spec.revision_history_limit;
    let limit = limit.filter(|limit| *limit != i32::MAX)?;
    Some(usize::try_from(limit).unwrap_or(0))
}

/// The old sets that are one too many: of those that are not going already, the first (count −
/// limit) by revision are looked at, and of these the empty ones go. One that is not empty takes
/// the place of none.
pub fn sets_to_delete<'a>(deployment: &Deployment, old: &[&'a ReplicaSet]) -> Vec<&'a ReplicaSet> {
    let Some(limit) = limit(deployment) else {
        return Vec::new();
    };
    let is_alive = |set: &&ReplicaSet| !set.metadata.is_terminating();
    let mut sets: Vec<&ReplicaSet> = old.iter().copied().filter(is_alive).collect();
    let too_many = sets.len().saturating_sub(limit);
    sets.sort_by(|a, b| by_revision(a, b));
    sets.truncate(too_many);
    sets.retain(|set| is_empty(set));
    sets
}

/// Whether a set has no pods and its controller has seen that it shall have none.
fn is_empty(set: &ReplicaSet) -> bool {
    set.status.replicas == 0
        && set.spec.replicas() == 0
        && set.metadata.generation <= set.status.observed_generation
}
