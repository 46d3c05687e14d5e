//! Deployments and ReplicaSets (`pkg/apis/apps/validation/validation.go`).

use crate::api::{
    Deployment, DeploymentSpec, IntOrString, LabelSelector, PodTemplateSpec, ReplicaSet,
    RollingUpdate, StrategyType, names,
};

use super::errors::Errors;
use super::{meta, pod};

/// `ValidateDeploymentSpec`.
pub fn deployment(deployment: &Deployment, errors: &mut Errors) {
    let spec = &deployment.spec;
    errors.non_negative("spec.replicas", spec.replicas());
    selector(&spec.selector, errors);
    template(&spec.template, &spec.selector, errors);
    strategy(spec, errors);
    errors.non_negative("spec.minReadySeconds", spec.min_ready_seconds);
    if let Some(limit) = spec.revision_history_limit {
        errors.non_negative("spec.revisionHistoryLimit", limit);
    }
    if let Some(deadline) = spec.progress_deadline_seconds {
        let path = "spec.progressDeadlineSeconds";
        errors.non_negative(path, deadline);
        if deadline <= spec.min_ready_seconds {
            errors.invalid(path, deadline, "must be greater than minReadySeconds");
        }
    }
}

/// `ValidateReplicaSetSpec`.
pub fn replica_set(set: &ReplicaSet, errors: &mut Errors) {
    let spec = &set.spec;
    errors.non_negative("spec.replicas", spec.replicas());
    errors.non_negative("spec.minReadySeconds", spec.min_ready_seconds);
    selector(&spec.selector, errors);
    template(&spec.template, &spec.selector, errors);
}

/// An absent selector and an empty one are the same to us; Kubernetes calls the second invalid.
fn selector(selector: &LabelSelector, errors: &mut Errors) {
    if selector.is_empty() {
        errors.required("spec.selector", "");
    }
    errors.extend(selector.validate("spec.selector"));
}

/// `ValidatePodTemplateSpecForReplicaSet`.
fn template(template: &PodTemplateSpec, selector: &LabelSelector, errors: &mut Errors) {
    let path = "spec.template";
    if selector.is_empty() || !selector.matches(&template.metadata.labels) {
        let detail = "`selector` does not match template `labels`";
        errors.invalid("spec.template.metadata.labels", &template.metadata.labels, detail);
    }
    template_alone(template, path, errors);
    pod::always_restarts(&template.spec, &format!("{path}.spec"), errors);
    if template.spec.rest.contains_key("activeDeadlineSeconds") {
        let detail = "activeDeadlineSeconds in ReplicaSet is not Supported";
        errors.forbidden(&format!("{path}.spec.activeDeadlineSeconds"), detail);
    }
}

/// `ValidatePodTemplateSpec`.
pub fn template_alone(template: &PodTemplateSpec, path: &str, errors: &mut Errors) {
    meta::labels_and_annotations(&template.metadata, &format!("{path}.metadata"), errors);
    pod::spec(&template.spec, &format!("{path}.spec"), errors);
    let ephemeral = template.spec.rest.get("ephemeralContainers").and_then(|list| list.as_array());
    if ephemeral.is_some_and(|list| !list.is_empty()) {
        let detail = "ephemeral containers not allowed in pod template";
        errors.forbidden(&format!("{path}.spec.ephemeralContainers"), detail);
    }
}

fn strategy(spec: &DeploymentSpec, errors: &mut Errors) {
    let path = "spec.strategy.rollingUpdate";
    match (spec.strategy.kind, &spec.strategy.rolling_update) {
        (Some(StrategyType::Recreate), Some(_)) => {
            let detail = "may not be specified when strategy `type` is 'Recreate'";
            errors.forbidden(path, detail);
        }
        (Some(StrategyType::Recreate), None) | (_, None) => {}
        (_, Some(update)) => rolling_update(update, path, errors),
    }
}

fn rolling_update(update: &RollingUpdate, path: &str, errors: &mut Errors) {
    let zero = IntOrString::Int(0);
    let unavailable = update.max_unavailable.as_ref().unwrap_or(&zero);
    let surge = update.max_surge.as_ref().unwrap_or(&zero);
    let at = format!("{path}.maxUnavailable");
    int_or_percent(unavailable, &at, errors);
    int_or_percent(surge, &format!("{path}.maxSurge"), errors);
    if is_zero(unavailable) && is_zero(surge) {
        errors.invalid(&at, unavailable, "may not be 0 when `maxSurge` is 0");
    }
    if percent(unavailable).is_some_and(|percent| percent > 100) {
        errors.invalid(&at, unavailable, "must not be greater than 100%");
    }
}

fn percent(value: &IntOrString) -> Option<i64> {
    match value {
        IntOrString::Int(_) => None,
        IntOrString::String(text) if names::percent(text).is_empty() => {
            text.strip_suffix('%')?.parse().ok()
        }
        IntOrString::String(_) => None,
    }
}

/// A text that is no percentage counts as the number that it is, or as none (`IntValue`).
fn is_zero(value: &IntOrString) -> bool {
    match value {
        IntOrString::Int(number) => *number == 0,
        IntOrString::String(text) => percent(value).or(text.parse().ok()).unwrap_or(0) == 0,
    }
}

/// `ValidatePositiveIntOrPercent`.
fn int_or_percent(value: &IntOrString, path: &str, errors: &mut Errors) {
    match value {
        IntOrString::Int(number) => errors.non_negative(path, *number),
        IntOrString::String(text) => errors.rules(path, text, names::percent(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_percentage_counts_as_nothing_beside_a_zero() {
        let update = |surge: &str| RollingUpdate {
            max_surge: Some(IntOrString::String(surge.into())),
            max_unavailable: Some(IntOrString::Int(0)),
        };
        for (surge, count) in [("20Percent", 2), ("5", 1), ("0", 2), ("0%", 1), ("20%", 0)] {
            let mut errors = Errors::default();
            rolling_update(&update(surge), "here", &mut errors);
            let words = errors.into_words();
            assert_eq!(words.len(), count, "{words:?}");
        }
    }
}
