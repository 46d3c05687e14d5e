//! What the API server fills into a HorizontalPodAutoscaler (`pkg/apis/autoscaling/v2/defaults.go`
//! of Kubernetes 1.36), and its amounts as the server writes them.

use serde_json::{Map, json};

use crate::api::{Quantity, Rest, Value};

/// Fills in the defaults.
pub fn horizontal_pod_autoscaler(rest: &mut Rest) {
    let Some(Value::Object(spec)) = rest.get_mut("spec") else { return };
    fill(spec, "minReplicas", 1.into());
    let no_metrics = spec.get("metrics").is_none_or(|m| m.as_array().is_none_or(Vec::is_empty));
    if no_metrics {
        let target = json!({"type": "Utilization", "averageUtilization": 80});
        let metric = json!({"type": "Resource", "resource": {"name": "cpu", "target": target}});
        spec.insert("metrics".into(), json!([metric]));
    }
    spec.get_mut("metrics").into_iter().for_each(write_amounts);
    // Only an object that says something of its behavior gets the rest of it.
    let Some(Value::Object(behavior)) = spec.get_mut("behavior") else { return };
    let policy =
        |kind: &str, value: i32| json!({"type": kind, "value": value, "periodSeconds": 15});
    let all = policy("Percent", 100);
    rules(behavior, "scaleUp", json!([policy("Pods", 4), all]));
    rules(behavior, "scaleDown", json!([all]));
    if let Some(Value::Object(up)) = behavior.get_mut("scaleUp") {
        fill(up, "stabilizationWindowSeconds", 0.into());
    }
}

/// An amount is kept in its canonical form, however it was written: `0.1` is `100m`. The kinds with
/// types of their own get that by `Quantity`.
fn write_amounts(metrics: &mut Value) {
    let sources = metrics.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut);
    for source in sources.flat_map(|metric| metric.values_mut()) {
        let Some(target) = source.get_mut("target").and_then(Value::as_object_mut) else {
            continue;
        };
        for field in ["value", "averageValue"] {
            let Some(amount) = target.get_mut(field) else { continue };
            let text = amount.as_str().map_or_else(|| amount.to_string(), str::to_string);
            if let Ok(quantity) = Quantity::parse(&text) {
                *amount = quantity.to_string().into();
            }
        }
    }
}

fn rules(behavior: &mut Map<String, Value>, direction: &str, policies: Value) {
    let rules = behavior.entry(direction).or_insert(json!({}));
    let Value::Object(rules) = rules else { return };
    fill(rules, "selectPolicy", "Max".into());
    fill(rules, "policies", policies);
}

fn fill(map: &mut Map<String, Value>, field: &str, value: Value) {
    if map.get(field).is_none_or(Value::is_null) {
        map.insert(field.into(), value);
    }
}
