//! Deployments, ReplicaSets, StatefulSets, DaemonSets (`printDeployment`, `printReplicaSet`, ...).

use crate::api::{Deployment, Generic, Kind, LabelSelector, PodSpec, ReplicaSet, Timestamp, Value};
use crate::kubectl::duration::age;

pub const DEPLOYMENT: &[&str] = &["NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE"];
pub const REPLICA_SET: &[&str] = &["NAME", "DESIRED", "CURRENT", "READY", "AGE"];
pub const STATEFUL_SET: &[&str] = &["NAME", "READY", "AGE"];
pub const DAEMON_SET: &[&str] =
    &["NAME", "DESIRED", "CURRENT", "READY", "UP-TO-DATE", "AVAILABLE", "NODE SELECTOR", "AGE"];
pub const WIDE: &[&str] = &["CONTAINERS", "IMAGES", "SELECTOR"];
pub const WIDE_SHORT: &[&str] = &["CONTAINERS", "IMAGES"];

fn wide_cells(spec: &PodSpec, selector: Option<&LabelSelector>) -> Vec<String> {
    let names: Vec<&str> = spec.containers.iter().map(|c| &*c.name).collect();
    let images = spec.containers.iter().map(|c| c.image.as_deref().unwrap_or(""));
    let images: Vec<&str> = images.collect();
    let mut cells = vec![names.join(","), images.join(",")];
    cells.extend(selector.map(LabelSelector::format));
    cells
}

pub fn deployment(deployment: &Deployment, now: Timestamp, wide: bool) -> Vec<String> {
    let (spec, status) = (&deployment.spec, &deployment.status);
    let mut row = vec![
        deployment.metadata.name.to_string(),
        format!("{}/{}", status.ready_replicas, spec.replicas()),
        status.updated_replicas.to_string(),
        status.available_replicas.to_string(),
        age(deployment.metadata.creation_timestamp, now),
    ];
    if wide {
        row.extend(wide_cells(&spec.template.spec, Some(&spec.selector)));
    }
    row
}

pub fn replica_set(set: &ReplicaSet, now: Timestamp, wide: bool) -> Vec<String> {
    let mut row = vec![
        set.metadata.name.to_string(),
        set.spec.replicas().to_string(),
        set.status.replicas.to_string(),
        set.status.ready_replicas.to_string(),
        age(set.metadata.creation_timestamp, now),
    ];
    if wide {
        row.extend(wide_cells(&set.spec.template.spec, Some(&set.spec.selector)));
    }
    row
}

/// Kinds that are only kept.
pub fn generic(object: &Generic, now: Timestamp, wide: bool) -> Vec<String> {
    let at = |section: &str, pointer: &str| {
        object.rest.get(section).and_then(|value| value.pointer(pointer))
    };
    let status = |field: &str| {
        at("status", &format!("/{field}")).and_then(Value::as_i64).unwrap_or(0).to_string()
    };
    let replicas = at("spec", "/replicas").and_then(Value::as_i64).unwrap_or(1);
    let mut row = vec![object.metadata.name.to_string()];
    match object.kind {
        Kind::StatefulSet => row.push(format!("{}/{replicas}", status("readyReplicas"))),
        Kind::DaemonSet => {
            row.extend(["desiredNumberScheduled", "currentNumberScheduled"].map(status));
            row.extend(["numberReady", "updatedNumberScheduled", "numberAvailable"].map(status));
            let nodes = at("spec", "/template/spec/nodeSelector").and_then(Value::as_object);
            let pairs = nodes.into_iter().flatten();
            row.push(super::pairs(pairs.map(|(k, v)| (k.as_str(), v.as_str().unwrap_or("")))));
        }
        _ => {
            row.extend([replicas.to_string(), status("replicas"), status("readyReplicas")]);
        }
    }
    row.push(age(object.metadata.creation_timestamp, now));
    if wide {
        row.extend(wide_cells_of(object));
    }
    row
}

/// The wide cells of a kind that has no type of its own here. A StatefulSet's selector is not
/// shown.
pub fn wide_cells_of(object: &Generic) -> Vec<String> {
    let at = |pointer: &str| object.rest.get("spec").and_then(|spec| spec.pointer(pointer));
    let template = at("/template/spec").cloned().unwrap_or_default();
    let template: PodSpec = serde_json::from_value(template).unwrap_or_default();
    let selector = at("/selector").cloned().unwrap_or_default();
    let selector: Option<LabelSelector> = serde_json::from_value(selector).ok();
    let selector = selector.filter(|_| object.kind != Kind::StatefulSet);
    wide_cells(&template, selector.as_ref())
}
