//! Versions that the API server still serves beside the one that this simulation keeps.
//! Kubernetes' own conversion: `pkg/apis/autoscaling/v1/conversion.go`.

use serde_json::json;

use crate::api::{Kind, Value};

/// The kind that `api_version` and `kind` name, converted versions included.
pub fn kind_of(api_version: &str, kind: &str) -> Option<Kind> {
    match (api_version, kind) {
        ("autoscaling/v1", "HorizontalPodAutoscaler") => Some(Kind::HorizontalPodAutoscaler),
        _ => Kind::of_manifest(api_version, kind),
    }
}

/// Brings a decoded object to the version that is kept.
pub fn to_kept_version(api_version: &str, value: &mut Value) {
    if api_version == "autoscaling/v1" {
        autoscaler_from_v1(value);
    }
}

fn autoscaler_from_v1(value: &mut Value) {
    let Some(object) = value.as_object_mut() else {
        return;
    };
    object.insert("apiVersion".into(), "autoscaling/v2".into());
    object.remove("status");
    let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) else {
        return;
    };
    if let Some(percent) = spec.remove("targetCPUUtilizationPercentage") {
        let target = json!({"type": "Utilization", "averageUtilization": percent});
        let metric = json!({"type": "Resource", "resource": {"name": "cpu", "target": target}});
        spec.insert("metrics".into(), json!([metric]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_autoscaler_of_version_1_becomes_one_of_version_2() {
        let mut value = json!({
            "apiVersion": "autoscaling/v1",
            "spec": {"maxReplicas": 5, "targetCPUUtilizationPercentage": 80},
        });
        to_kept_version("autoscaling/v1", &mut value);
        let target = &value["spec"]["metrics"][0]["resource"]["target"];
        assert_eq!(target["averageUtilization"], 80);
        assert_eq!(value["apiVersion"], "autoscaling/v2");
    }
}
