//! HorizontalPodAutoscalers (`printHorizontalPodAutoscaler`).

use crate::api::{Generic, Quantity, Timestamp, Value};
use crate::kubectl::duration::age;

pub const COLUMNS: &[&str] =
    &["NAME", "REFERENCE", "TARGETS", "MINPODS", "MAXPODS", "REPLICAS", "AGE"];

pub fn row(object: &Generic, now: Timestamp) -> Vec<String> {
    let at = |section: &str, pointer: &str| {
        object.rest.get(section).and_then(|value| value.pointer(pointer))
    };
    let text = |pointer| at("spec", pointer).and_then(Value::as_str).unwrap_or("");
    let (kind, name) = (text("/scaleTargetRef/kind"), text("/scaleTargetRef/name"));
    let number = |section, pointer| at(section, pointer).and_then(Value::as_i64);
    let min = number("spec", "/minReplicas").map_or("<unset>".into(), |min| min.to_string());
    vec![
        object.metadata.name.to_string(),
        format!("{kind}/{name}"),
        targets(at("spec", "/metrics"), at("status", "/currentMetrics")),
        min,
        number("spec", "/maxReplicas").unwrap_or(0).to_string(),
        number("status", "/currentReplicas").unwrap_or(0).to_string(),
        age(object.metadata.creation_timestamp, now),
    ]
}

/// The first two metrics, as `cpu: 50%/80%`.
fn targets(specs: Option<&Value>, statuses: Option<&Value>) -> String {
    let list = |value: Option<&Value>| value.and_then(Value::as_array).cloned().unwrap_or_default();
    let (specs, statuses) = (list(specs), list(statuses));
    if specs.is_empty() {
        return "<none>".into();
    }
    let pairs = specs.iter().enumerate().take(2);
    let shown: Vec<String> = pairs.map(|(index, spec)| metric(spec, statuses.get(index))).collect();
    match specs.len().saturating_sub(2) {
        0 => shown.join(", "),
        more => format!("{} + {more} more...", shown.join(", ")),
    }
}

/// The field that says more of a metric of this type.
pub fn source_field(kind: &str) -> &'static str {
    match kind {
        "ContainerResource" => "containerResource",
        "External" => "external",
        "Object" => "object",
        "Pods" => "pods",
        _ => "resource",
    }
}

/// One metric: what it is now and what it should be.
fn metric(spec: &Value, status: Option<&Value>) -> String {
    let kind = spec.get("type").and_then(Value::as_str).unwrap_or("");
    let field = source_field(kind);
    let target = |name: &str| spec.get(field)?.get("target")?.get(name).map(text);
    let current = |name: &str| {
        let found = status.and_then(|status| status.get(field)?.get("current")?.get(name));
        found.map_or("<unknown>".into(), text)
    };
    let resource = spec.get(field).and_then(|source| source.get("name")).and_then(Value::as_str);
    let name = resource.map_or(String::new(), |name| format!("{name}: "));
    if let Some(target) = target("averageValue") {
        let average = if matches!(kind, "External" | "Object") { " (avg)" } else { "" };
        return format!("{name}{}/{target}{average}", current("averageValue"));
    }
    if !matches!(kind, "Resource" | "ContainerResource") {
        return format!("{}/{}", current("value"), target("value").unwrap_or_default());
    }
    let current = match current("averageUtilization") {
        number if number.starts_with('<') => number,
        number => format!("{number}%"),
    };
    let target = target("averageUtilization").map_or("<auto>".into(), |number| number + "%");
    format!("{name}{current}/{target}")
}

/// A number, or a quantity as Kubernetes prints it.
fn text(value: &Value) -> String {
    let Some(text) = value.as_str() else { return value.to_string() };
    Quantity::parse(text).map_or(text.into(), |quantity| quantity.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_target_is_shown_as_the_type_of_its_metric_asks() {
        let shown = |kind: &str, field: &str, target: Value, current: Value| {
            let spec = json!({"type": kind, field: {"name": "cpu", "target": target}});
            metric(&spec, Some(&json!({"type": kind, field: {"current": current}})))
        };
        let now = json!({"averageUtilization": 50, "averageValue": "2000m"});
        assert_eq!(shown("Resource", "resource", json!({}), now.clone()), "cpu: 50%/<auto>");
        let target = json!({"averageValue": "2500m"});
        assert_eq!(shown("Resource", "resource", target, now), "cpu: 2/2500m");
    }
}
