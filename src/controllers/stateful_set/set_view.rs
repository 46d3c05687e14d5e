//! The fields of a StatefulSet that the controller reads, and the status that it writes.

use serde_json::{Map, json};

use crate::api::{Generic, LabelSelector, PodTemplateSpec, Str, Value};

/// More pods than the API server holds objects.
const MOST_REPLICAS: i32 = 20_000;

/// `apps/v1.StatefulSetSpec`, as far as it is read.
#[derive(Clone, Debug)]
pub struct SetSpec {
    /// Pods wanted.
    pub replicas: i32,
    /// The first ordinal.
    pub start: i32,
    /// Whether each pod waits for the one before it.
    pub ordered: bool,
    /// Whether pods are updated only when somebody deletes them.
    pub on_delete: bool,
    /// Pods before this one, counted from the first, stay as they are.
    pub partition: i32,
    /// Seconds that a pod must have been ready.
    pub min_ready_seconds: i32,
    /// Old revisions that are kept.
    pub history_limit: usize,
    /// The Service that names the pods.
    pub service_name: Str,
    /// Which pods are its own.
    pub selector: LabelSelector,
    /// What its pods look like.
    pub template: PodTemplateSpec,
    /// The claims that each pod gets.
    pub claims: Vec<Value>,
}

impl SetSpec {
    /// The spec of a StatefulSet.
    pub fn of(set: &Generic) -> SetSpec {
        let spec = set.spec();
        let strategy = spec.at("updateStrategy");
        SetSpec {
            replicas: spec.int("replicas").unwrap_or(1).clamp(0, MOST_REPLICAS),
            start: spec.at("ordinals").int("start").unwrap_or(0).max(0),
            ordered: spec.text("podManagementPolicy") != Some("Parallel"),
            on_delete: strategy.text("type") == Some("OnDelete"),
            partition: strategy.at("rollingUpdate").int("partition").unwrap_or(0).max(0),
            min_ready_seconds: spec.int("minReadySeconds").unwrap_or(0),
            history_limit: spec.int("revisionHistoryLimit").map_or(10, |n| n.max(0) as usize),
            service_name: spec.text("serviceName").unwrap_or_default().into(),
            selector: spec.read("selector"),
            template: spec.read("template"),
            claims: spec.items("volumeClaimTemplates").to_vec(),
        }
    }
}

/// `apps/v1.StatefulSetStatus`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SetStatus {
    /// Pods.
    pub replicas: i32,
    /// Those that are ready.
    pub ready: i32,
    /// Those that were ready for minReadySeconds.
    pub available: i32,
    /// Those of the current revision.
    pub current: i32,
    /// Those of the revision that the template asks for.
    pub updated: i32,
    /// The revision from which an update goes.
    pub current_revision: Str,
    /// The revision to which it goes.
    pub update_revision: Str,
    /// The generation that these belong to.
    pub observed_generation: i64,
    /// Conditions, which nobody here writes.
    pub conditions: Option<Value>,
}

impl SetStatus {
    /// The status of a StatefulSet.
    pub fn of(set: &Generic) -> SetStatus {
        let status = set.status();
        let number = |name| status.int(name).unwrap_or(0);
        let text = |name| status.text(name).unwrap_or_default().into();
        SetStatus {
            replicas: number("replicas"),
            ready: number("readyReplicas"),
            available: number("availableReplicas"),
            current: number("currentReplicas"),
            updated: number("updatedReplicas"),
            current_revision: text("currentRevision"),
            update_revision: text("updateRevision"),
            observed_generation: status.long("observedGeneration").unwrap_or(0),
            conditions: status.at("conditions").value().cloned(),
        }
    }

    /// As it is kept.
    pub fn to_value(&self) -> Value {
        let mut map = Map::new();
        let mut put = |name: &str, value: Value| {
            if !value.is_null() && value != 0 && value != "" {
                map.insert(name.into(), value);
            }
        };
        put("observedGeneration", self.observed_generation.into());
        put("readyReplicas", self.ready.into());
        put("currentReplicas", self.current.into());
        put("updatedReplicas", self.updated.into());
        put("currentRevision", json!(self.current_revision));
        put("updateRevision", json!(self.update_revision));
        put("conditions", json!(self.conditions));
        // No pointers, and written even if zero.
        map.insert("replicas".into(), self.replicas.into());
        map.insert("availableReplicas".into(), self.available.into());
        map.insert("collisionCount".into(), 0.into());
        Value::Object(map)
    }
}
