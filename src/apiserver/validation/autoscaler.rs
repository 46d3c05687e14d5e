//! HorizontalPodAutoscalers (`pkg/apis/autoscaling/validation/validation.go`).

use crate::api::{Generic, Quantity, Value, names};

use super::container::resource_name;
use super::errors::Errors;
use super::meta::path_segment;
use super::values::text;

/// The longest window, and the longest period of a policy.
const MAX_WINDOW_SECONDS: i64 = 3600;
const MAX_PERIOD_SECONDS: i64 = 1800;

/// The types of a metric, each with the field that says more of it.
const SOURCES: [(&str, &str); 5] = [
    ("Object", "object"),
    ("External", "external"),
    ("Pods", "pods"),
    ("Resource", "resource"),
    ("ContainerResource", "containerResource"),
];

/// `ValidateHorizontalPodAutoscaler`; `old` is what it takes the place of.
pub fn autoscaler(object: &Generic, old: Option<&Generic>, errors: &mut Errors) {
    let spec = object.rest.get("spec").unwrap_or(&Value::Null);
    let min = number(spec, "minReplicas");
    if let Some(min) = min.filter(|&min| min < 1) {
        errors.invalid("spec.minReplicas", min, "must be greater than or equal to 1");
    }
    let max = number(spec, "maxReplicas").unwrap_or(0);
    if max == 0 {
        errors.required("spec.maxReplicas", "must be set and greater than 0");
    } else if max < 0 {
        errors.invalid("spec.maxReplicas", max, "must be greater than or equal to 1");
    }
    if min.is_some_and(|min| max < min) {
        let detail = "must be greater than or equal to `minReplicas`";
        errors.invalid("spec.maxReplicas", max, detail);
    }
    let target = spec.get("scaleTargetRef").unwrap_or(&Value::Null);
    reference(target, "spec.scaleTargetRef", group_of(target, old), errors);
    let metrics = items(spec, "metrics");
    for (index, metric) in metrics.iter().enumerate() {
        metric_spec(metric, &format!("spec.metrics[{index}]"), errors);
    }
    let outside = |metric: &Value| matches!(text(metric, "type"), "Object" | "External");
    if min == Some(0) && !metrics.iter().any(outside) {
        let detail = "must specify at least one Object or External metric to support scaling to \
                      zero replicas";
        errors.forbidden("spec.metrics", detail);
    }
    for direction in ["scaleUp", "scaleDown"] {
        let rules = spec.get("behavior").and_then(|behavior| behavior.get(direction));
        if let Some(rules) = rules.filter(|rules| rules.is_object()) {
            scaling_rules(rules, &format!("spec.behavior.{direction}"), errors);
        }
    }
}

fn number(value: &Value, field: &str) -> Option<i64> {
    value.get(field).and_then(Value::as_i64)
}

fn items<'v>(value: &'v Value, field: &str) -> &'v [Value] {
    value.get(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// What the apiVersion of a reference must be like.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Group {
    /// It may be anything.
    Any,
    /// It may name the core group, which has no name.
    MayBeCore,
    /// It must name a group.
    Named,
}

/// A target that stays what it was is not looked at again; of the core kinds only a
/// ReplicationController can be scaled.
fn group_of(target: &Value, old: Option<&Generic>) -> Group {
    let before = old.and_then(|old| old.rest.get("spec")?.get("scaleTargetRef"));
    let same = |field| before.is_some_and(|before| text(before, field) == text(target, field));
    if same("kind") && same("apiVersion") {
        Group::Any
    } else if text(target, "kind") == "ReplicationController" {
        Group::MayBeCore
    } else {
        Group::Named
    }
}

/// `ValidateCrossVersionObjectReference`.
fn reference(reference: &Value, path: &str, group: Group, errors: &mut Errors) {
    for field in ["kind", "name"] {
        let (path, value) = (format!("{path}.{field}"), text(reference, field));
        if value.is_empty() {
            errors.required(&path, "");
        } else {
            errors.rules(&path, value, path_segment(value));
        }
    }
    let (path, version) = (format!("{path}.apiVersion"), text(reference, "apiVersion"));
    if group != Group::Any && version.matches('/').count() > 1 {
        errors.invalid(&path, version, &format!("unexpected GroupVersion string: {version}"));
    } else if group == Group::Named && version.find('/').unwrap_or(0) == 0 {
        errors.invalid(&path, version, "apiVersion must specify API group");
    }
}

fn metric_spec(metric: &Value, path: &str, errors: &mut Errors) {
    let kind = text(metric, "type");
    let at = format!("{path}.type");
    if kind.is_empty() {
        errors.required(&at, "must specify a metric source type");
    }
    let known = ["ContainerResource", "External", "Object", "Pods", "Resource"];
    errors.one_of(&at, kind, &known);
    let is_there = |field: &str| metric.get(field).filter(|source| source.is_object());
    let sources = SOURCES.iter().filter_map(|(_, field)| Some((*field, is_there(field)?)));
    let present: Vec<(&str, &Value)> = sources.collect();
    if let Some((field, source)) = present.first() {
        metric_source(field, source, &format!("{path}.{field}"), errors);
    }
    let expected = SOURCES.iter().find(|(word, _)| *word == kind).map(|(_, field)| *field);
    match expected {
        Some(field) if is_there(field).is_none() => {
            let detail = "must populate information for the given metric source";
            errors.required(&format!("{path}.{field}"), detail);
        }
        Some(_) => {}
        None => errors.one_of(&at, kind, &known),
    }
    for (field, _) in present.iter().filter(|(field, _)| Some(*field) != expected) {
        if present.len() > 1 {
            let detail = "must populate the given metric source only";
            errors.forbidden(&format!("{path}.{field}"), detail);
        }
    }
}

/// What a metric is about, and what it should be.
fn metric_source(field: &str, source: &Value, path: &str, errors: &mut Errors) {
    let target = source.get("target").unwrap_or(&Value::Null);
    let name = text(source, "name");
    match field {
        // A number out of bounds is told before a missing name.
        "resource" => {
            target_numbers(target, path, errors);
            if name.is_empty() {
                errors.required(&format!("{path}.name"), "must specify a resource name");
            }
        }
        "containerResource" => {
            container_resource(source, path, errors);
            target_numbers(target, path, errors);
        }
        _ => {
            if field == "object" {
                let described = source.get("describedObject").unwrap_or(&Value::Null);
                let path = format!("{path}.describedObject");
                reference(described, &path, Group::MayBeCore, errors);
            }
            let metric = source.get("metric").unwrap_or(&Value::Null);
            let (at, name) = (format!("{path}.metric.name"), text(metric, "name"));
            match name {
                "" => errors.required(&at, "must specify a metric name"),
                name => errors.rules(&at, name, path_segment(name)),
            }
            target_numbers(target, path, errors);
        }
    }
    target_choice(field, target, path, errors);
}

fn container_resource(source: &Value, path: &str, errors: &mut Errors) {
    let at = format!("{path}.name");
    match text(source, "name") {
        "" => errors.required(&at, "must specify a resource name"),
        name => resource_name(name, &at, errors),
    }
    let at = format!("{path}.container");
    match text(source, "container") {
        "" => errors.required(&at, "must specify a container"),
        name => errors.rules(&at, name, names::dns1123_label(name)),
    }
}

/// `validateMetricTarget`.
fn target_numbers(target: &Value, path: &str, errors: &mut Errors) {
    let at = |name: &str| format!("{path}.target.{name}");
    let kind = text(target, "type");
    if kind.is_empty() {
        errors.required(&at("type"), "must specify a metric target type");
    }
    if !matches!(kind, "Utilization" | "Value" | "AverageValue") {
        errors.invalid(&at("type"), kind, "must be either Utilization, Value, or AverageValue");
    }
    for name in ["value", "averageValue"] {
        let text = amount(target, name).map(|a| a.as_str().map_or(a.to_string(), str::to_string));
        let read = text.as_deref().and_then(|text| Quantity::parse(text).ok());
        if let Some(quantity) = read.filter(|quantity| quantity.nanos <= 0) {
            errors.invalid(&at(name), quantity.to_string(), "must be positive");
        }
    }
    let percent = number(target, "averageUtilization");
    if let Some(percent) = percent.filter(|&percent| percent < 1) {
        errors.invalid(&at("averageUtilization"), percent, "must be greater than 0");
    }
}

fn amount<'v>(target: &'v Value, name: &str) -> Option<&'v Value> {
    target.get(name).filter(|amount| !amount.is_null())
}

/// Which of the numbers a target must have, and which it may not have together.
fn target_choice(field: &str, target: &Value, path: &str, errors: &mut Errors) {
    let at = |name: &str| format!("{path}.target.{name}");
    let percent = number(target, "averageUtilization");
    let is_there = |name: &str| amount(target, name).is_some();
    let (value, average) = (is_there("value"), is_there("averageValue"));
    match field {
        "pods" if !average => {
            errors.required(&at("averageValue"), "must specify a positive target averageValue");
        }
        "object" if !average && !value => {
            errors.required(&at("averageValue"), "must set either a target value or averageValue");
        }
        "external" if !average && !value => {
            let detail = "must set either a target value for metric or a per-pod target";
            errors.required(&at("averageValue"), detail);
        }
        "external" if average && value => {
            let detail = "may not set both a target value for metric and a per-pod target";
            errors.forbidden(&at("value"), detail);
        }
        "resource" | "containerResource" if !average && percent.is_none() => {
            let detail = "must set either a target raw value or a target utilization";
            errors.required(&at("averageUtilization"), detail);
        }
        "resource" | "containerResource" if average && percent.is_some() => {
            let detail = "may not set both a target raw value and a target utilization";
            errors.forbidden(&at("averageValue"), detail);
        }
        _ => {}
    }
}

/// `validateScalingRules`.
fn scaling_rules(rules: &Value, path: &str, errors: &mut Errors) {
    let at = |field: &str| format!("{path}.{field}");
    if let Some(window) = number(rules, "stabilizationWindowSeconds") {
        let path = at("stabilizationWindowSeconds");
        if window < 0 {
            errors.invalid(&path, window, "must be greater than or equal to zero");
        }
        if window > MAX_WINDOW_SECONDS {
            let detail = format!("must be less than or equal to {MAX_WINDOW_SECONDS}");
            errors.invalid(&path, window, &detail);
        }
    }
    if rules.get("selectPolicy").is_some_and(Value::is_string) {
        let known = ["Disabled", "Max", "Min"];
        errors.one_of(&at("selectPolicy"), text(rules, "selectPolicy"), &known);
    }
    let policies = items(rules, "policies");
    if policies.is_empty() {
        errors.required(&at("policies"), "must specify at least one Policy");
    }
    for (index, policy) in policies.iter().enumerate() {
        let at = |field: &str| format!("{path}.policies[{index}].{field}");
        errors.one_of(&at("type"), text(policy, "type"), &["Percent", "Pods"]);
        for field in ["value", "periodSeconds"] {
            let number = number(policy, field).unwrap_or(0);
            if number <= 0 {
                errors.invalid(&at(field), number, "must be greater than zero");
            }
            if field == "periodSeconds" && number > MAX_PERIOD_SECONDS {
                let detail = format!("must be less than or equal to {MAX_PERIOD_SECONDS}");
                errors.invalid(&at(field), number, &detail);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{Kind, Object};
    use serde_json::json;

    fn generic(target: Value, metric: Value) -> Generic {
        let value = json!({"metadata": {"name": "a"}, "spec": {
            "scaleTargetRef": target, "maxReplicas": 3, "metrics": [metric],
        }});
        match Object::from_value(Kind::HorizontalPodAutoscaler, value) {
            Ok(Object::Generic(object)) => object,
            other => panic!("{other:?}"),
        }
    }

    fn refused(target: Value, metric: Value) -> Vec<String> {
        let mut errors = Errors::default();
        autoscaler(&generic(target, metric), None, &mut errors);
        errors.into_words()
    }

    fn web() -> Value {
        json!({"kind": "Deployment", "name": "web", "apiVersion": "apps/v1"})
    }

    fn sound() -> Value {
        let target = json!({"type": "Utilization", "averageUtilization": 50});
        json!({"type": "Resource", "resource": {"name": "cpu", "target": target}})
    }

    #[test]
    fn the_target_must_name_its_group_unless_it_is_a_replication_controller() {
        let with =
            |kind: &str, version: &str| json!({"kind": kind, "name": "web", "apiVersion": version});
        let no_group = "spec.scaleTargetRef.apiVersion: Invalid value: \"v1\": apiVersion must \
                        specify API group";
        assert_eq!(refused(with("Deployment", "v1"), sound()), [no_group]);
        assert_eq!(refused(with("ReplicationController", "v1"), sound()), [""; 0]);
        assert_eq!(refused(with("Deployment", "apps/v1"), sound()), [""; 0]);
        assert!(
            refused(with("Deployment", "a/b/c"), sound())[0]
                .ends_with("GroupVersion string: a/b/c")
        );
        let (old, mut errors) = (generic(with("Deployment", ""), sound()), Errors::default());
        autoscaler(&old, Some(&old), &mut errors);
        assert_eq!(errors.into_words(), [""; 0]);
    }

    #[test]
    fn each_type_of_metric_needs_its_own_source_and_one_target() {
        let target = json!({"type": "Value", "value": "0"});
        let external = json!({"metric": {"name": "a/b"}, "target": target});
        assert_eq!(
            refused(web(), json!({"type": "External", "external": external})),
            [
                "spec.metrics[0].external.metric.name: Invalid value: \"a/b\": may not contain '/'",
                "spec.metrics[0].external.target.value: Invalid value: \"0\": must be positive",
            ]
        );
        let mut two = sound();
        two["pods"] = json!({"metric": {"name": "a"}, "target": {"type": "AverageValue"}});
        assert_eq!(
            refused(web(), two),
            [
                "spec.metrics[0].pods.target.averageValue: Required value: must specify a \
                 positive target averageValue",
                "spec.metrics[0].pods: Forbidden: must populate the given metric source only",
            ]
        );
        let bare = json!({"type": "ContainerResource"});
        assert_eq!(
            refused(web(), bare),
            ["spec.metrics[0].containerResource: Required value: must populate information for \
              the given metric source"]
        );
    }

    #[test]
    fn rules_of_behavior_have_policies_within_bounds() {
        let policy = json!({"type": "Pods", "value": 0, "periodSeconds": 1801});
        let rules = json!({"stabilizationWindowSeconds": 3601, "policies": [policy]});
        let mut errors = Errors::default();
        scaling_rules(&rules, "up", &mut errors);
        assert_eq!(
            errors.into_words(),
            [
                "up.stabilizationWindowSeconds: Invalid value: 3601: must be less than or equal \
                 to 3600",
                "up.policies[0].value: Invalid value: 0: must be greater than zero",
                "up.policies[0].periodSeconds: Invalid value: 1801: must be less than or equal \
                 to 1800",
            ]
        );
    }
}
