//! How many pods a rolling update may have above and below the wanted number: `maxSurge` and
//! `maxUnavailable` as numbers. Surge rounds up, unavailable rounds down; both zero becomes one
//! unavailable, since nothing could ever move otherwise.
//!
//! Follows `pkg/controller/deployment/util/deployment_util.go`.

use crate::api::{Deployment, IntOrString, ScaleError, StrategyType};

/// Surge and unavailable pods of `replicas` (`ResolveFenceposts`). What is not set counts as 0.
pub fn resolve(
    max_surge: Option<&IntOrString>,
    max_unavailable: Option<&IntOrString>,
    replicas: i32,
) -> Result<(i32, i32), ScaleError> {
    let scaled = |value: Option<&IntOrString>, round_up| {
        value.map_or(Ok(0), |value| value.scaled(replicas, round_up))
    };
    let surge = scaled(max_surge, true)?;
    let unavailable = scaled(max_unavailable, false)?;
    if surge == 0 && unavailable == 0 {
        return Ok((0, 1));
    }
    Ok((surge, unavailable))
}

/// Whether old pods give way little by little; so it is too when nothing is said.
pub fn is_rolling(deployment: &Deployment) -> bool {
    deployment.spec.strategy.kind.unwrap_or_default() == StrategyType::RollingUpdate
}

/// Both numbers of a Deployment; zero if they cannot be read or it does not roll.
fn both(deployment: &Deployment) -> (i32, i32) {
    if !is_rolling(deployment) {
        return (0, 0);
    }
    let rolling = deployment.spec.strategy.rolling_update.as_ref();
    let surge = rolling.and_then(|r| r.max_surge.as_ref());
    let unavailable = rolling.and_then(|r| r.max_unavailable.as_ref());
    resolve(surge, unavailable, deployment.spec.replicas()).unwrap_or((0, 0))
}

/// Pods allowed above the wanted number (`MaxSurge`).
pub fn max_surge(deployment: &Deployment) -> i32 {
    both(deployment).0
}

/// Pods that may be missing, at most all (`MaxUnavailable`).
pub fn max_unavailable(deployment: &Deployment) -> i32 {
    match deployment.spec.replicas() {
        0 => 0,
        replicas => both(deployment).1.min(replicas),
    }
}

/// Pods that must stay available (`MinAvailable`).
pub fn min_available(deployment: &Deployment) -> i32 {
    if !is_rolling(deployment) {
        return 0;
    }
    deployment.spec.replicas().saturating_sub(max_unavailable(deployment))
}

/// The most pods that all ReplicaSets together may have: what `max-replicas` on each of them says.
pub fn max_total(deployment: &Deployment) -> i64 {
    i64::from(deployment.spec.replicas()) + i64::from(max_surge(deployment))
}
