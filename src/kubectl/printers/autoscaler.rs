//! HorizontalPodAutoscalers (`printHorizontalPodAutoscaler`), with metrics of the kind Resource.

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
    let one = |(index, spec): (usize, &Value)| {
        let value = |metric: Option<&Value>, pointer: &str| match metric?.pointer(pointer)? {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(format!("{number}%")),
            _ => None,
        };
        let status = statuses.get(index);
        let name = spec.pointer("/resource/name").and_then(Value::as_str);
        let percent = value(Some(spec), "/resource/target/averageUtilization");
        let (current, target) = match percent {
            Some(target) => (value(status, "/resource/current/averageUtilization"), Some(target)),
            None => {
                let target = value(Some(spec), "/resource/target/averageValue");
                (value(status, "/resource/current/averageValue"), target)
            }
        };
        let unknown = || "<unknown>".to_string();
        let pair = format!(
            "{}/{}",
            current.unwrap_or_else(unknown),
            target.unwrap_or_else(unknown)
        );
        name.map_or(pair.clone(), |name| format!("{name}: {pair}"))
    };
    let shown: Vec<String> = specs.iter().enumerate().take(2).map(one).collect();
    let more = specs.len().saturating_sub(2);
    match more {
        0 => shown.join(", "),
        more => format!("{} + {more} more...", shown.join(", ")),
    }
}
