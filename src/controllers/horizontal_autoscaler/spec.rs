//! What an autoscaler says: the target, the bounds, the metrics and the behavior, read off the
//! object (`autoscaling/v2`).

use crate::api::{Generic, Kind, LabelSelector, Object, ObjectKey, Quantity, Str, Value};

use super::behavior::{Behavior, Rules};

/// `HorizontalPodAutoscalerSpec`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// `Deployment/default/web`, as messages name the target.
    pub reference: String,
    /// The target, if its kind is one that is known.
    pub target: Option<ObjectKey>,
    /// Group and kind of the target, for the message when it is not.
    pub group_kind: (Str, Str),
    /// Bounds.
    pub min: i32,
    /// Bounds.
    pub max: i32,
    /// The metrics.
    pub metrics: Vec<Metric>,
    /// How fast; absent: the rules that hold without it.
    pub behavior: Option<Behavior>,
}

/// One of `spec.metrics`.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// What is measured.
    pub source: Source,
    /// What it should be.
    pub target: MetricTarget,
}

/// What is measured.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Source {
    Resource {
        name: Str,
    },
    ContainerResource {
        name: Str,
        container: Str,
    },
    Pods {
        name: Str,
    },
    Object {
        kind: Str,
        name: Str,
    },
    External {
        name: Str,
        selector: String,
    },
    /// None of these.
    Unknown(Str),
}

/// What a metric should be; numbers in thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum MetricTarget {
    Utilization(i32),
    AverageValue(i64),
    Value(i64),
    Missing,
}

impl Spec {
    /// Reads an object.
    pub fn read(object: &Generic) -> Spec {
        let null = Value::Null;
        let spec = object.rest.get("spec").unwrap_or(&null);
        let text = |pointer: &str| spec.pointer(pointer).and_then(Value::as_str).unwrap_or("");
        let number = |field: &str| {
            let number = spec.get(field).and_then(Value::as_i64);
            number.map(|number| i32::try_from(number).unwrap_or(i32::MAX))
        };
        let (api, kind, name) = (
            text("/scaleTargetRef/apiVersion"),
            text("/scaleTargetRef/kind"),
            text("/scaleTargetRef/name"),
        );
        let namespace = &object.metadata.namespace;
        let group = api.split_once('/').map_or("", |(group, _)| group);
        let known = Kind::of_manifest(api, kind);
        let metrics = spec.get("metrics").and_then(Value::as_array).into_iter().flatten();
        let behavior = spec.get("behavior").filter(|behavior| behavior.is_object());
        Spec {
            reference: format!("{kind}/{namespace}/{name}"),
            target: known.map(|kind| ObjectKey::new(kind, namespace.clone(), name)),
            group_kind: (group.into(), kind.into()),
            min: number("minReplicas").unwrap_or(1),
            max: number("maxReplicas").unwrap_or(0),
            metrics: metrics.map(metric).collect(),
            behavior: behavior.map(|behavior| Behavior {
                up: Rules::read(behavior.get("scaleUp")),
                down: Rules::read(behavior.get("scaleDown")),
            }),
        }
    }
}

fn metric(value: &Value) -> Metric {
    let kind = value.get("type").and_then(Value::as_str).unwrap_or("");
    let field = match kind {
        "Resource" => "resource",
        "ContainerResource" => "containerResource",
        "Pods" => "pods",
        "Object" => "object",
        "External" => "external",
        _ => "",
    };
    let null = Value::Null;
    let inner = value.get(field).unwrap_or(&null);
    let text = |pointer: &str| -> Str {
        inner.pointer(pointer).and_then(Value::as_str).unwrap_or("").into()
    };
    let source = match kind {
        "Resource" => Source::Resource { name: text("/name") },
        "ContainerResource" => {
            Source::ContainerResource { name: text("/name"), container: text("/container") }
        }
        "Pods" => Source::Pods { name: text("/metric/name") },
        "Object" => {
            Source::Object { kind: text("/describedObject/kind"), name: text("/metric/name") }
        }
        "External" => {
            let selector = inner.pointer("/metric/selector").cloned();
            let selector: Option<LabelSelector> =
                selector.and_then(|selector| serde_json::from_value(selector).ok());
            let selector = selector.map_or("nil".into(), |selector| selector.format());
            Source::External { name: text("/metric/name"), selector }
        }
        other => Source::Unknown(other.into()),
    };
    Metric { source, target: target(inner.get("target").unwrap_or(&null)) }
}

fn target(value: &Value) -> MetricTarget {
    let milli = |field: &str| {
        let value = value.get(field)?;
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_string);
        Quantity::parse(&text).ok().map(|quantity| quantity.milli_value())
    };
    let percent = value.get("averageUtilization").and_then(Value::as_i64);
    if let Some(value) = milli("averageValue") {
        MetricTarget::AverageValue(value)
    } else if let Some(percent) = percent {
        MetricTarget::Utilization(i32::try_from(percent).unwrap_or(i32::MAX))
    } else if let Some(value) = milli("value") {
        MetricTarget::Value(value)
    } else {
        MetricTarget::Missing
    }
}

/// The target's scale, as its `scale` subresource says it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scale {
    /// `spec.replicas`.
    pub spec: i32,
    /// `status.replicas`.
    pub status: i32,
    /// `status.selector`.
    pub selector: LabelSelector,
}

impl Scale {
    /// Of an object that has one.
    pub fn of(object: &Object) -> Option<Scale> {
        let value = object.to_value();
        let number = |pointer: &str, absent: i64| {
            let number = value.pointer(pointer).and_then(Value::as_i64).unwrap_or(absent);
            i32::try_from(number).unwrap_or(i32::MAX)
        };
        let selector = match value.pointer("/spec/selector") {
            Some(selector) => serde_json::from_value(selector.clone()).ok()?,
            // Of a kind that users define; the others cannot be without.
            None if object.kind().is_custom() => LabelSelector::default(),
            None => return None,
        };
        Some(Scale {
            spec: number("/spec/replicas", 1),
            status: number("/status/replicas", 0),
            selector,
        })
    }
}
