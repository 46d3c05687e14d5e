//! What the API server fills into a HorizontalPodAutoscaler (`pkg/apis/autoscaling/v2/defaults.go`
//! of Kubernetes 1.36).

use serde_json::{Map, json};

use crate::api::{Rest, Value};

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
