//! From `spec.metrics` to a wish: each metric asks for a size, the largest counts, and a metric
//! that cannot be read forbids to scale down (`computeReplicasForMetrics` of `horizontal.go`).

use serde_json::json;

use crate::api::{Quantity, QuantityFormat, Value};

use super::calculator::{self, Proposal, Seen};
use super::spec::{Metric, MetricTarget, Source};

/// What the metrics come to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wish {
    /// So many replicas, by this metric's name; none, if they do not allow to say.
    pub replicas: Option<(i32, String)>,
    /// `status.currentMetrics`.
    pub statuses: Vec<Value>,
    /// Each metric that failed: the reason and what it says.
    pub failures: Vec<(&'static str, String)>,
    /// The whole error, if any failed.
    pub error: Option<String>,
}

/// Asks all metrics.
pub fn wish(metrics: &[Metric], seen: &Seen) -> Wish {
    let mut wish = Wish::default();
    let mut largest: Option<(i32, String)> = None;
    let (mut first, mut invalid) = (String::new(), 0);
    for metric in metrics {
        match ask(metric, seen) {
            Ok((proposal, name)) => {
                wish.statuses.push(status(metric, &proposal));
                if largest.as_ref().is_none_or(|(n, _)| *n == 0 || proposal.replicas > *n) {
                    largest = Some((proposal.replicas, name));
                }
            }
            Err(failure) => {
                wish.statuses.push(json!({"type": ""}));
                wish.failures.push((failure.reason, failure.told));
                if invalid == 0 {
                    first = failure.error;
                }
                invalid += 1;
            }
        }
    }
    let total = metrics.len();
    if invalid > 0 {
        let text =
            format!("invalid metrics ({invalid} invalid out of {total}), first error is: {first}");
        wish.error = Some(text);
    }
    let (replicas, name) = largest.unwrap_or_default();
    let untrusted = invalid > 0 && replicas < seen.current;
    if invalid < total && !untrusted {
        wish.replicas = Some((replicas, name));
    }
    wish
}

struct Failure {
    /// Of the condition and of the Event.
    reason: &'static str,
    /// What the Event says.
    told: String,
    /// What the pass's error says.
    error: String,
}

fn ask(metric: &Metric, seen: &Seen) -> Result<(Proposal, String), Failure> {
    let fail = |reason: &'static str, told: String, prefix: String| Failure {
        reason,
        error: format!("{prefix}: {told}"),
        told,
    };
    match &metric.source {
        Source::Resource { name } => resource(metric.target, seen, name, None).map_err(|told| {
            fail(
                "FailedGetResourceMetric",
                told,
                format!("failed to get {name} resource metric value"),
            )
        }),
        Source::ContainerResource { name, container } => {
            resource(metric.target, seen, name, Some(container)).map_err(|told| {
                let prefix = format!("failed to get {name} container metric value");
                fail("FailedGetContainerResourceMetric", told, prefix)
            })
        }
        Source::Pods { name } => {
            let target = match metric.target {
                MetricTarget::AverageValue(target) => target,
                _ => 0,
            };
            let proposal = calculator::pods_value(seen, name, target);
            proposal.map(|proposal| (proposal, format!("pods metric {name}"))).map_err(|told| {
                fail("FailedGetPodsMetric", told, "failed to get pods metric value".into())
            })
        }
        Source::Object { kind, name } => {
            let read = seen.readings.object(name);
            let read = read.map_err(|error| format!("unable to get metric {name}: {error}"));
            let proposal = read.and_then(|value| one(metric.target, seen, value, "object"));
            proposal.map(|proposal| (proposal, format!("{kind} metric {name}"))).map_err(|told| {
                fail("FailedGetObjectMetric", told, "failed to get object metric value".into())
            })
        }
        Source::External { name, selector } => {
            let read = seen.readings.external(name);
            let read =
                read.map_err(|error| format!("unable to get external metric {name}: {error}"));
            let proposal = read.and_then(|value| one(metric.target, seen, value, "external"));
            let called = format!("external metric {name}({selector})");
            proposal.map(|proposal| (proposal, called)).map_err(|told| {
                let prefix = format!("failed to get {name} external metric value");
                fail("FailedGetExternalMetric", told, prefix)
            })
        }
        Source::Unknown(kind) => Err(Failure {
            reason: "InvalidMetricSourceType",
            told: format!("unknown metric source type {kind:?}"),
            error: format!("unknown metric source type {kind:?}"),
        }),
    }
}

fn resource(
    target: MetricTarget,
    seen: &Seen,
    name: &str,
    container: Option<&str>,
) -> Result<(Proposal, String), String> {
    let word = if container.is_some() { " container" } else { "" };
    match target {
        MetricTarget::AverageValue(target) => {
            let proposal = calculator::resource_value(seen, name, container, target)
                .map_err(|error| format!("failed to get {name} usage: {error}"))?;
            Ok((proposal, format!("{name}{word} resource")))
        }
        MetricTarget::Utilization(target) => {
            let proposal = calculator::resource_utilization(seen, name, container, target)
                .map_err(|error| format!("failed to get {name} utilization: {error}"))?;
            let called = format!("{name}{word} resource utilization (percentage of request)");
            Ok((proposal, called))
        }
        _ => Err("invalid resource metric source: neither an average utilization target nor an \
                  average value (usage) target was set"
            .into()),
    }
}

fn one(target: MetricTarget, seen: &Seen, value: i64, word: &str) -> Result<Proposal, String> {
    match target {
        MetricTarget::Value(target) => calculator::one_value(seen, value, target),
        MetricTarget::AverageValue(target) => {
            Ok(calculator::one_value_per_pod(seen, value, target))
        }
        _ => Err(format!(
            "invalid {word} metric source: neither a value target nor an average value target was \
             set"
        )),
    }
}

/// An entry of `status.currentMetrics`.
fn status(metric: &Metric, proposal: &Proposal) -> Value {
    let value = Quantity::from_milli(proposal.value, QuantityFormat::DecimalSi).to_string();
    let average = match proposal.utilization {
        Some(percent) => json!({"averageUtilization": percent, "averageValue": value}),
        None => json!({"averageValue": value}),
    };
    let whole = match metric.target {
        MetricTarget::Value(_) => json!({"value": value}),
        _ => json!({"averageValue": value}),
    };
    match &metric.source {
        Source::Resource { name } => {
            json!({"type": "Resource", "resource": {"name": name, "current": average}})
        }
        Source::ContainerResource { name, container } => json!({
            "type": "ContainerResource",
            "containerResource": {"name": name, "container": container, "current": average},
        }),
        Source::Pods { name } => {
            json!({"type": "Pods", "pods": {"metric": {"name": name}, "current": average}})
        }
        Source::Object { kind, name } => json!({
            "type": "Object",
            "object": {
                "metric": {"name": name},
                "describedObject": {"kind": kind},
                "current": whole,
            },
        }),
        Source::External { name, .. } => {
            json!({"type": "External", "external": {"metric": {"name": name}, "current": whole}})
        }
        Source::Unknown(_) => json!({"type": ""}),
    }
}
