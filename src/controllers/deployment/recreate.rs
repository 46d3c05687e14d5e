//! Recreate: all old pods go, and only when none is left the new ones come.
//!
//! Follows `pkg/controller/deployment/recreate.go`.

use crate::api::{Pod, ReplicaSet, ScaleError, Str};

use super::rollout::{Move, Resize, Rollout};
use super::{history, matching, new_set, progress, status};

/// The next moves (`rolloutRecreate`).
pub fn moves(rollout: &Rollout) -> Result<Vec<Move>, ScaleError> {
    let deployment = rollout.deployment;
    let down = scale_down_old(&rollout.old);
    if !down.is_empty() {
        return Ok(down.into_iter().map(Move::Resize).collect());
    }
    if old_pods_run(rollout.new, &rollout.old, (rollout.pods)()) {
        return Ok(Vec::new());
    }
    let mut moves = Vec::new();
    match rollout.new {
        None => {
            let made = new_set::build(deployment, &rollout.old)?;
            moves.push(Move::Create(Box::new(made)));
        }
        Some(new) => {
            let up = Resize::of(new, deployment.spec.replicas());
            moves.extend(up.map(Move::Resize));
        }
    }
    if progress::is_complete(deployment, &deployment.status) {
        let gone = history::sets_to_delete(deployment, &rollout.old);
        moves.extend(gone.iter().map(|set| Move::delete(set)));
    }
    Ok(moves)
}

/// The old sets go to nothing (`scaleDownOldReplicaSetsForRecreate`).
pub fn scale_down_old(old: &[&ReplicaSet]) -> Vec<Resize> {
    let active = matching::active(old);
    active.iter().filter_map(|set| Resize::of(set, 0)).collect()
}

/// Whether a pod of another set than the new one may still run (`oldPodsRunning`). `pods` says for
/// the uid of each owning set whether one of its pods has not finished.
pub fn old_pods_run<'a>(
    new: Option<&ReplicaSet>,
    old: &[&ReplicaSet],
    mut pods: impl Iterator<Item = (&'a Str, bool)>,
) -> bool {
    let is_new = |uid: &Str| new.is_some_and(|new| new.metadata.uid == *uid);
    status::replica_sum(old) > 0 || pods.any(|(uid, runs)| runs && !is_new(uid))
}

/// Whether a pod counts as running here: all do that have not finished for good.
pub fn may_run(pod: &Pod) -> bool {
    !pod.is_finished()
}
