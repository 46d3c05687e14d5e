//! The history limit, and what revision and size annotations say.

use loopscope::api::{Deployment, ReplicaSet, Str, StrMap, Timestamp};
use loopscope::controllers::deployment::{annotations, history, proportional};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Outcome, compare, given};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Given {
    check: String,
    revision_history_limit: Option<i32>,
    #[serde(default)]
    old_replica_sets: Vec<Set>,
    replica_set_annotations: Option<StrMap>,
    revision_history_limit_in_chars: Option<usize>,
    #[serde(default)]
    revisions_in_order: Vec<String>,
    set_desired_replicas: Option<i32>,
    set_max_replicas: Option<i64>,
    current: Option<Current>,
    want_desired: Option<i32>,
    want_max: Option<i64>,
    deployment_replicas: Option<i32>,
    replica_set: Option<Set>,
    annotation_value: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Set {
    #[serde(default)]
    name: Str,
    spec_replicas: i32,
    #[serde(default)]
    status_replicas: i32,
    #[serde(default)]
    available_replicas: i32,
    #[serde(default)]
    deleting: bool,
    revision: Option<Str>,
    creation_order: Option<i64>,
    desired_replicas_annotation: Option<Str>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Current {
    desired: Option<Str>,
    max: Option<Str>,
}

impl Set {
    fn build(&self) -> ReplicaSet {
        let mut set = ReplicaSet::default();
        let meta = &mut set.metadata;
        meta.name = self.name.clone();
        meta.creation_timestamp = self.creation_order.map(|order| Timestamp(60 * order));
        meta.deletion_timestamp = self.deleting.then_some(Timestamp(0));
        let values = [
            (annotations::REVISION, &self.revision),
            (annotations::DESIRED, &self.desired_replicas_annotation),
        ];
        for (name, value) in values {
            if let Some(value) = value {
                meta.annotations.insert(name.into(), value.clone());
            }
        }
        set.spec.replicas = Some(self.spec_replicas);
        set.status.replicas = self.status_replicas;
        set.status.available_replicas = self.available_replicas;
        set
    }
}

fn deleted(case: &Given) -> Vec<Str> {
    let mut deployment = Deployment::default();
    deployment.spec.revision_history_limit = case.revision_history_limit;
    let old: Vec<ReplicaSet> = case.old_replica_sets.iter().map(Set::build).collect();
    let old: Vec<&ReplicaSet> = old.iter().collect();
    let gone = history::sets_to_delete(&deployment, &old);
    let mut names: Vec<Str> = gone.iter().map(|set| set.metadata.name.clone()).collect();
    names.sort();
    names
}

/// The deleted sets are a set: in any order.
fn sorted(expect: &Value) -> Value {
    let mut expect = expect.clone();
    if let Some(names) = expect.get_mut("deleted").and_then(Value::as_array_mut) {
        names.sort_by_key(|name| name.to_string());
    }
    expect
}

fn revisions(case: &Given) -> Value {
    let mut set = case.replica_set_annotations.clone().unwrap_or_default();
    let chars_max = case.revision_history_limit_in_chars.unwrap_or(annotations::HISTORY_CHARS_MAX);
    let after_each = case.revisions_in_order.iter().map(|revision| {
        if let Ok(revision) = revision.parse() {
            annotations::set_revision(&mut set, revision, chars_max);
        }
        json!({
            "expectRevision": set.get(annotations::REVISION),
            "expectRevisionHistory": set.get(annotations::REVISION_HISTORY),
        })
    });
    json!({"afterEach": after_each.collect::<Vec<Value>>()})
}

fn set_sizes(case: &Given) -> Value {
    let mut set = case.replica_set_annotations.clone().unwrap_or_default();
    let desired = case.set_desired_replicas.unwrap_or(0);
    let changed = annotations::set_sizes(&mut set, desired, case.set_max_replicas.unwrap_or(0));
    json!({
        "desiredReplicasAnnotation": set.get(annotations::DESIRED),
        "maxReplicasAnnotation": set.get(annotations::MAX),
        "changed": changed,
    })
}

fn need_update(case: &Given) -> Value {
    let mut set = StrMap::new();
    if let Some(current) = &case.current {
        let values = [(annotations::DESIRED, &current.desired), (annotations::MAX, &current.max)];
        for (name, value) in values {
            if let Some(value) = value {
                set.insert(name.into(), value.clone());
            }
        }
    }
    let (desired, max) = (case.want_desired.unwrap_or(0), case.want_max.unwrap_or(0));
    json!({"needUpdate": annotations::sizes_need_update(&set, desired, max)})
}

fn annotation_number(case: &Given, expect: &Value) -> Value {
    let number = annotations::number(case.annotation_value.as_deref());
    // What must be in the error is there, or else the error as it is.
    let error = number.as_ref().err().map(|error| {
        let text = error.to_string();
        let part = expect["errorContains"].as_str().filter(|part| text.contains(part));
        part.map_or(text.clone(), str::to_string)
    });
    let value = number.unwrap_or_default();
    json!({"value": value.unwrap_or(0), "valid": value.is_some(), "errorContains": error})
}

pub fn check(case: &Value, expect: &Value) -> Outcome {
    let case: Given = match given(case) {
        Ok(case) => case,
        Err(outcome) => return outcome,
    };
    let got = match case.check.as_str() {
        "cleanupCount" => json!({"deletedCount": deleted(&case).len()}),
        "cleanupOrder" => json!({"deleted": deleted(&case)}),
        "revisionAnnotations" => revisions(&case),
        "setSizeAnnotations" => set_sizes(&case),
        "sizeAnnotationsNeedUpdate" => need_update(&case),
        "saturated" => {
            let mut deployment = Deployment::default();
            deployment.spec.replicas = case.deployment_replicas;
            let set = case.replica_set.as_ref().map(Set::build);
            let is_saturated = set.is_some_and(|set| proportional::is_saturated(&deployment, &set));
            json!({"saturated": is_saturated})
        }
        "annotationNumber" => annotation_number(&case, expect),
        other => return Outcome::Failed(format!("unknown check {other:?}")),
    };
    compare(&sorted(expect), &got)
}
