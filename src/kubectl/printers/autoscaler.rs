//! HorizontalPodAutoscalers (`printHorizontalPodAutoscaler`).

use crate::api::{Generic, Timestamp, Value};
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

/// One metric: what it is now and what it should be.
fn metric(spec: &Value, status: Option<&Value>) -> String {
    let kind = spec.get("type").and_then(Value::as_str).unwrap_or("");
    let field = match kind {
        "ContainerResource" => "containerResource",
        "External" => "external",
        "Object" => "object",
        "Pods" => "pods",
        _ => "resource",
    };
    let target = |name: &str| spec.get(field)?.get("target")?.get(name).map(text);
    let current = |name: &str| {
        let found = status.and_then(|status| status.get(field)?.get("current")?.get(name));
        found.map_or("<unknown>".into(), text)
    };
    let resource = spec.get(field).and_then(|source| source.get("name")).and_then(Value::as_str);
    let name = resource.map_or(String::new(), |name| format!("{name}: "));
    if let Some(target) = target("averageUtilization") {
        let current = match current("averageUtilization").as_str() {
            "<unknown>" => "<unknown>".to_string(),
            number => format!("{number}%"),
        };
        return format!("{name}{current}/{target}%");
    }
    if let Some(target) = target("averageValue") {
        let average = if matches!(kind, "External" | "Object") { " (avg)" } else { "" };
        return format!("{name}{}/{target}{average}", current("averageValue"));
    }
    let target = target("value").unwrap_or_else(|| "<auto>".into());
    format!("{name}{}/{target}", current("value"))
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}
