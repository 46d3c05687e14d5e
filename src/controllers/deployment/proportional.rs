//! A change of size in the middle of a rollout is shared among the sets, each by its part, so
//! that it does not hasten the rollout. The rest goes to the largest set.
//!
//! Follows `scale` in `pkg/controller/deployment/sync.go` and
//! `pkg/controller/deployment/util/deployment_util.go`.

use crate::api::{Deployment, ReplicaSet};

use super::rollout::Resize;
use super::{annotations, fenceposts, matching, status};

/// Whether the Deployment has another size than its sets were last made for (`isScalingEvent`).
pub fn is_due(deployment: &Deployment, sets: &[&ReplicaSet]) -> bool {
    let wanted = deployment.spec.replicas();
    let made_for = |set: &&ReplicaSet| annotations::desired(set);
    matching::active(sets).iter().filter_map(made_for).any(|desired| desired != wanted)
}

/// The sets to write, with their sizes (`scale`): all that are resized or have to learn the new
/// size of the Deployment.
pub fn scale(
    deployment: &Deployment,
    new: Option<&ReplicaSet>,
    old: &[&ReplicaSet],
) -> Vec<Resize> {
    let wanted = deployment.spec.replicas();
    if let Some(only) = active_or_latest(new, old) {
        return Resize::of(only, wanted).into_iter().collect();
    }
    if new.is_some_and(|new| is_saturated(deployment, new)) {
        let active = matching::active(old);
        return active.iter().filter_map(|set| Resize::of(set, 0)).collect();
    }
    if !fenceposts::is_rolling(deployment) {
        return Vec::new();
    }
    share(deployment, new, old)
}

/// The only set that shall have pods; or, if none shall, the newest (`FindActiveOrLatest`). None if
/// several shall, or there is no set.
fn active_or_latest<'a>(
    new: Option<&'a ReplicaSet>,
    old: &[&'a ReplicaSet],
) -> Option<&'a ReplicaSet> {
    let all: Vec<&ReplicaSet> = old.iter().copied().chain(new).collect();
    match matching::active(&all)[..] {
        [] => new.or_else(|| old.iter().copied().max_by(|a, b| matching::by_creation(a, b))),
        [only] => Some(only),
        _ => None,
    }
}

/// Whether a set is of the Deployment's full size, knows it, and has all its pods (`IsSaturated`).
pub fn is_saturated(deployment: &Deployment, set: &ReplicaSet) -> bool {
    let wanted = deployment.spec.replicas();
    set.spec.replicas() == wanted
        && annotations::desired(set) == Some(wanted)
        && set.status.available_replicas == wanted
}

fn share(deployment: &Deployment, new: Option<&ReplicaSet>, old: &[&ReplicaSet]) -> Vec<Resize> {
    let all: Vec<&ReplicaSet> = old.iter().copied().chain(new).collect();
    let mut sets = matching::active(&all);
    let allowed = match deployment.spec.replicas() {
        0 => 0,
        _ => fenceposts::max_total(deployment),
    };
    let to_add = allowed - status::size_sum(&sets);
    if to_add > 0 {
        sets.sort_by(|a, b| matching::by_size_newer(a, b));
    } else {
        sets.sort_by(|a, b| matching::by_size_older(a, b));
    }
    let mut added = 0;
    let mut sizes: Vec<i64> = Vec::new();
    for set in &sets {
        let part = proportion(deployment, set, to_add, added);
        added += part;
        sizes.push(i64::from(set.spec.replicas()) + part);
    }
    if let Some(largest) = sizes.first_mut().filter(|_| to_add != 0) {
        *largest = (*largest + to_add - added).max(0);
    }
    let (desired, max) = annotations::sizes_for(deployment);
    let is_due = |(set, size): &(&&ReplicaSet, &i64)| {
        **size != i64::from(set.spec.replicas())
            || annotations::sizes_need_update(&set.metadata.annotations, desired, max)
    };
    let resize = |(set, size): (&&ReplicaSet, &i64)| Resize {
        name: set.metadata.name.clone(),
        from: set.spec.replicas(),
        to: status::cut(*size),
    };
    sets.iter().zip(&sizes).filter(is_due).map(resize).collect()
}

/// A set's part of what is left to add (`GetReplicaSetProportion`).
fn proportion(deployment: &Deployment, set: &ReplicaSet, to_add: i64, added: i64) -> i64 {
    if set.spec.replicas() == 0 || to_add == 0 || to_add == added {
        return 0;
    }
    let part = i64::from(fraction(deployment, set));
    let left = to_add - added;
    if to_add > 0 { part.min(left) } else { part.max(left) }
}

/// The pods that a set gains (or loses) so that it keeps its part of the Deployment
/// (`getReplicaSetFraction`). What the Deployment's size was, with surge, the set's annotation
/// knows, or else the status.
pub fn fraction(deployment: &Deployment, set: &ReplicaSet) -> i32 {
    let size = i128::from(set.spec.replicas());
    if deployment.spec.replicas() == 0 {
        return status::cut(-i64::from(set.spec.replicas()));
    }
    let known = annotations::max(set).filter(|max| *max != 0);
    let before = i128::from(known.unwrap_or(deployment.status.replicas));
    if before == 0 {
        return 0;
    }
    let grown = size * i128::from(fenceposts::max_total(deployment));
    let part = rounded(grown, before) - size;
    status::cut(i64::try_from(part).unwrap_or(if part < 0 { i64::MIN } else { i64::MAX }))
}

/// To the nearest whole number; a half away from zero.
fn rounded(dividend: i128, divisor: i128) -> i128 {
    let (twice, divisor) = (2 * dividend.abs() + divisor.abs(), divisor.abs() * 2);
    twice / divisor * dividend.signum()
}
