//! RollingUpdate: the new set grows into the room that surge leaves, the old ones shrink as far as
//! the available pods allow; broken old pods go first.
//!
//! Follows `pkg/controller/deployment/rolling.go` and `NewRSNewReplicas`
//! (`pkg/controller/deployment/util/deployment_util.go`).

use std::cmp::Ordering;

use crate::api::{Deployment, ReplicaSet, ScaleError};

use super::rollout::{Move, Resize, Rollout};
use super::{fenceposts, history, matching, new_set, progress, status};

/// The next moves of a rolling update (`rolloutRolling`): first the new set, and if that keeps its
/// size the old ones, and if these keep theirs and all is done the history.
pub fn moves(rollout: &Rollout) -> Result<Vec<Move>, ScaleError> {
    let deployment = rollout.deployment;
    let mut moves = Vec::new();
    let made;
    let new = match rollout.new {
        Some(set) => set,
        None => {
            made = new_set::build(deployment, &rollout.old)?;
            moves.push(Move::Create(Box::new(made.clone())));
            &made
        }
    };
    let total = status::size_sum(&rollout.old) + i64::from(new.spec.replicas());
    if let Some(resize) = reconcile_new(deployment, total, new)? {
        moves.push(Move::Resize(resize));
        return Ok(moves);
    }
    let old = reconcile_old(deployment, new, &rollout.old);
    if old.is_empty() && progress::is_complete(deployment, &deployment.status) {
        let gone = history::sets_to_delete(deployment, &rollout.old);
        moves.extend(gone.iter().map(|set| Move::delete(set)));
    }
    moves.extend(old.into_iter().map(Move::Resize));
    Ok(moves)
}

/// The size that the new set should get next (`NewRSNewReplicas`). `total` is the size of all sets
/// together, `size` that of the new one.
pub fn new_set_size(deployment: &Deployment, total: i64, size: i32) -> Result<i32, ScaleError> {
    let wanted = deployment.spec.replicas();
    if !fenceposts::is_rolling(deployment) {
        return Ok(wanted);
    }
    let rolling = deployment.spec.strategy.rolling_update.as_ref();
    let surge = match rolling.and_then(|r| r.max_surge.as_ref()) {
        Some(surge) => surge.scaled(wanted, true)?,
        None => 0,
    };
    let room = i64::from(wanted) + i64::from(surge) - total;
    if room <= 0 {
        return Ok(size);
    }
    let missing = i64::from(wanted) - i64::from(size);
    Ok(status::cut(i64::from(size) + room.min(missing)))
}

/// The new set's next size, if it is another (`reconcileNewReplicaSet`).
pub fn reconcile_new(
    deployment: &Deployment,
    total: i64,
    new: &ReplicaSet,
) -> Result<Option<Resize>, ScaleError> {
    let (size, wanted) = (new.spec.replicas(), deployment.spec.replicas());
    let to = match size.cmp(&wanted) {
        Ordering::Equal => return Ok(None),
        Ordering::Greater => wanted,
        Ordering::Less => new_set_size(deployment, total, size)?,
    };
    Ok(Resize::of(new, to))
}

/// The next sizes of the old sets, of those that change (`reconcileOldReplicaSets`).
pub fn reconcile_old(
    deployment: &Deployment,
    new: &ReplicaSet,
    old: &[&ReplicaSet],
) -> Vec<Resize> {
    let mut old = matching::active(old);
    if old.is_empty() {
        return Vec::new();
    }
    old.sort_by(|a, b| matching::by_creation(a, b));
    let size = i64::from(new.spec.replicas());
    let available = i64::from(new.status.available_replicas);
    // New pods that are not available yet count as missing: none of the old may go for them.
    let spare = status::size_sum(&old) + size - min_available(deployment) - (size - available);
    if spare <= 0 {
        return Vec::new();
    }
    let mut resizes = match clean_up_unhealthy(&old, spare) {
        Ok(resizes) => resizes,
        Err(resizes) => return resizes,
    };
    let available = available + status::available_sum(&old);
    let sizes: Vec<i32> = old.iter().map(|set| size_after(set, &resizes)).collect();
    resizes.extend(scale_down_old(deployment, available, &old, &sizes));
    resizes
}

fn min_available(deployment: &Deployment) -> i64 {
    let wanted = i64::from(deployment.spec.replicas());
    wanted - i64::from(fenceposts::max_unavailable(deployment))
}

fn size_after(set: &ReplicaSet, resizes: &[Resize]) -> i32 {
    let mut later = resizes.iter().rev();
    let last = later.find(|resize| resize.name == set.metadata.name);
    last.map_or(set.spec.replicas(), |resize| resize.to)
}

/// Pods of old sets that are not available go first, up to `max` (`cleanupUnhealthyReplicas`);
/// the sets in order of age. An error if one has more available pods than it shall have: it is
/// shrinking already, its numbers are still to come, and what was found up to there is all that
/// is done.
pub fn clean_up_unhealthy(old: &[&ReplicaSet], max: i64) -> Result<Vec<Resize>, Vec<Resize>> {
    let (mut resizes, mut removed) = (Vec::new(), 0);
    for set in old {
        let size = set.spec.replicas();
        if removed >= max {
            break;
        }
        let unhealthy = i64::from(size) - i64::from(set.status.available_replicas);
        if size == 0 || unhealthy == 0 {
            continue;
        }
        let count = unhealthy.min(max - removed);
        if count < 0 {
            return Err(resizes);
        }
        removed += count;
        resizes.extend(Resize::of(set, status::cut(i64::from(size) - count)));
    }
    Ok(resizes)
}

/// Old sets give up what is available above the minimum, the oldest first
/// (`scaleDownOldReplicaSetsForRollingUpdate`). `sizes` are those of `old` by now, `available` is
/// of all sets.
pub fn scale_down_old(
    deployment: &Deployment,
    available: i64,
    old: &[&ReplicaSet],
    sizes: &[i32],
) -> Vec<Resize> {
    let mut spare = available - min_available(deployment);
    let mut resizes = Vec::new();
    for (set, size) in old.iter().zip(sizes) {
        if spare <= 0 {
            break;
        }
        let count = i64::from(*size).min(spare);
        if count > 0 {
            spare -= count;
            let to = status::cut(i64::from(*size) - count);
            resizes.push(Resize { name: set.metadata.name.clone(), from: *size, to });
        }
    }
    resizes
}
