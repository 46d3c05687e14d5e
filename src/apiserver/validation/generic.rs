//! Kinds that are only kept: what is most often wrong with them, and their pod templates.

use serde_json::{from_value, json};

use crate::api::{Fields, Generic, Kind, LabelSelector, PodTemplateSpec, Value};

use crate::apiserver::custom::definition;

use super::access::access;
use super::autoscaler::autoscaler;
use super::batch;
use super::errors::Errors;
use super::network;
use super::pod::always_restarts;
use super::policy;
use super::storage::storage;
use super::workload::template_alone;

/// A generic object; `old` is what it takes the place of.
pub fn generic(object: &Generic, old: Option<&Generic>, errors: &mut Errors) {
    match object.kind {
        Kind::HorizontalPodAutoscaler => autoscaler(object, old, errors),
        Kind::ConfigMap | Kind::Secret | Kind::PersistentVolumeClaim => {
            storage(object, old, errors);
        }
        Kind::Role | Kind::ClusterRole | Kind::RoleBinding | Kind::ClusterRoleBinding => {
            access(object, old, errors);
        }
        Kind::CustomResourceDefinition => definition::validate(object, errors),
        Kind::ResourceQuota
        | Kind::LimitRange
        | Kind::PodDisruptionBudget
        | Kind::PriorityClass => policy::policy(object, errors),
        Kind::StatefulSet | Kind::DaemonSet => workload(object, errors),
        Kind::ReplicationController => template(object, "/spec/template", "spec.template", errors),
        Kind::Job => batch::job(object, errors),
        Kind::CronJob => batch::cron_job(object, errors),
        Kind::Service | Kind::Ingress => network::network(object, errors),
        _ => {}
    }
}

fn at<'o>(object: &'o Generic, pointer: &str) -> Option<&'o Value> {
    let rest = pointer.strip_prefix("/spec")?;
    object.rest.get("spec")?.pointer(rest)
}

fn number(object: &Generic, pointer: &str) -> Option<i64> {
    at(object, pointer).and_then(Value::as_i64)
}

fn template(object: &Generic, pointer: &str, path: &str, errors: &mut Errors) {
    let Some(template) = at(object, pointer) else {
        return errors.required(path, "");
    };
    match from_value::<PodTemplateSpec>(with_claims(object, template.clone())) {
        Ok(template) => {
            template_alone(&template, path, errors);
            if matches!(object.kind, Kind::StatefulSet | Kind::DaemonSet) {
                always_restarts(&template.spec, &format!("{path}.spec"), errors);
            }
        }
        Err(error) => errors.invalid(path, Value::Null, &error.to_string()),
    }
}

/// A StatefulSet's claims are volumes of its pods.
fn with_claims(object: &Generic, mut template: Value) -> Value {
    let claims = at(object, "/spec/volumeClaimTemplates").and_then(Value::as_array);
    let names = claims.into_iter().flatten().filter_map(|claim| claim.pointer("/metadata/name"));
    let names: Vec<&Value> = names.collect();
    let spec = template.get_mut("spec").and_then(Value::as_object_mut);
    if let Some(spec) = spec.filter(|_| !names.is_empty()) {
        let volumes = spec.entry("volumes").or_insert_with(|| json!([]));
        if let Some(volumes) = volumes.as_array_mut() {
            volumes.retain(|volume| volume.get("name").is_none_or(|name| !names.contains(&name)));
            volumes.extend(names.into_iter().map(|name| json!({ "name": name })));
        }
    }
    template
}

fn workload(object: &Generic, errors: &mut Errors) {
    if let Some(replicas) = number(object, "/spec/replicas") {
        errors.non_negative("spec.replicas", replicas);
    }
    strategies(object, errors);
    let selector = at(object, "/spec/selector").cloned();
    let selector: Option<LabelSelector> = selector.and_then(|value| from_value(value).ok());
    let labels = at(object, "/spec/template/metadata/labels").cloned().unwrap_or_default();
    match selector {
        None => errors.required("spec.selector", ""),
        Some(selector) if selector.is_empty() => {
            let kind = object.kind.info().kind.to_ascii_lowercase();
            let detail = format!("empty selector is invalid for {kind}");
            errors.invalid("spec.selector", selector, &detail);
        }
        Some(selector) => {
            errors.extend(selector.validate("spec.selector"));
            let map = from_value(labels.clone()).unwrap_or_default();
            if !selector.matches(&map) {
                let detail = "`selector` does not match template `labels`";
                errors.invalid("spec.template.metadata.labels", labels, detail);
            }
        }
    }
    template(object, "/spec/template", "spec.template", errors);
}

/// How the pods of a StatefulSet or of a DaemonSet are replaced; each says it in its own words.
fn strategies(object: &Generic, errors: &mut Errors) {
    let strategy = object.spec().at("updateStrategy");
    let (kind, rolling) =
        (strategy.text("type").unwrap_or("OnDelete"), strategy.at("rollingUpdate"));
    if let Some(seconds) = number(object, "/spec/minReadySeconds") {
        errors.non_negative("spec.minReadySeconds", seconds);
    }
    if object.kind == Kind::DaemonSet {
        errors.one_of("spec.updateStrategy.type", kind, &["OnDelete", "RollingUpdate"]);
        if kind == "RollingUpdate" {
            rolling_daemons(rolling, errors);
        }
        return;
    }
    let partition = rolling.long("partition");
    match kind {
        "RollingUpdate" => {
            let path = "spec.updateStrategy.rollingUpdate.partition";
            errors.non_negative(path, partition.unwrap_or(0));
        }
        "OnDelete" if rolling.value().is_some() => {
            let value = json!({"Partition": partition.unwrap_or(0), "MaxUnavailable": null});
            let detail = "only allowed for updateStrategy 'RollingUpdate'";
            errors.invalid("spec.updateStrategy.rollingUpdate", value, detail);
        }
        "OnDelete" => {}
        other => {
            let value = json!({"Type": other, "RollingUpdate": null});
            errors.invalid("spec.updateStrategy", value, "must be 'RollingUpdate' or 'OnDelete'");
        }
    }
    let policy = object.spec().text("podManagementPolicy").unwrap_or("Parallel");
    if !matches!(policy, "OrderedReady" | "Parallel") {
        let detail = "must be 'OrderedReady' or 'Parallel'";
        errors.invalid("spec.podManagementPolicy", policy, detail);
    }
}

/// `ValidateRollingUpdateDaemonSet`: one of the two must let a pod be replaced, and not both.
fn rolling_daemons(rolling: Fields<'_>, errors: &mut Errors) {
    let zero = |field: &str| match rolling.at(field).value() {
        None => true,
        Some(Value::String(text)) => text == "0%",
        Some(number) => number.as_i64() == Some(0),
    };
    let path = "spec.updateStrategy.rollingUpdate";
    let given = |field: &str| rolling.at(field).value().cloned().unwrap_or_default();
    match (zero("maxUnavailable"), zero("maxSurge")) {
        (true, true) => {
            let value = given("maxUnavailable");
            let detail = "cannot be 0 when maxSurge is 0";
            errors.invalid(&format!("{path}.maxUnavailable"), value, detail);
        }
        (false, false) => {
            let detail = "may not be set when maxUnavailable is non-zero";
            errors.invalid(&format!("{path}.maxSurge"), given("maxSurge"), detail);
        }
        _ => {}
    }
}
