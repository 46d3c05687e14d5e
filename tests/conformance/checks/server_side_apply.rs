//! Ownership of fields: applications and updates, one after the other, on one object.

use loopscope::api::{ManagedFieldsEntry, Value};
use loopscope::apiserver::managed_fields::{
    Schema, Shape, Writer, apply, conflict_message, update,
};
use serde::Deserialize;
use serde_json::{Map, json};

use crate::{Outcome, compare, given};

/// The schema of the vectors: items of `list` are merged by name.
const SCHEMA: Schema = Schema::new(&[("list", Shape::Keyed(&[("name", "")]))]);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Operation {
    operation: String,
    manager: String,
    api_version: String,
    object: Value,
    #[serde(default)]
    force: bool,
    #[serde(default)]
    expect_conflicts: Vec<Expected>,
}

#[derive(Deserialize, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[serde(deny_unknown_fields)]
struct Expected {
    manager: String,
    field: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Given {
    #[serde(rename = "check")]
    _check: String,
    operations: Vec<Operation>,
}

pub fn check(case: &Value, expect: &Value) -> Outcome {
    if case["check"] == "conflictText" {
        return Outcome::NotModelled("the merge library's own text is not shown to users");
    }
    let given: Given = match given(case) {
        Ok(given) => given,
        Err(outcome) => return outcome,
    };
    let mut entries: Vec<ManagedFieldsEntry> = Vec::new();
    let mut object = json!({});
    for operation in &given.operations {
        if let Err(why) = carry_out(operation, &mut object, &mut entries) {
            return Outcome::Failed(why);
        }
    }
    let got = json!({"object": bare(&object), "managedFields": managers(&entries)});
    let mut expect = expect.clone();
    if let Some(object) = expect.get_mut("object") {
        *object = bare(object);
    }
    if expect["managedFields"].is_null() {
        return compare(&expect, &got);
    }
    // The order of fields has no meaning, and no manager may be left over.
    let mut names: Vec<String> = Vec::new();
    for (name, entry) in expect["managedFields"].as_object_mut().into_iter().flatten() {
        names.push(name.clone());
        if let Some(fields) = entry["fields"].as_array_mut() {
            fields.sort_by_key(|field| field.as_str().map(str::to_string));
        }
    }
    names.sort();
    let found: Vec<&String> = got["managedFields"].as_object().expect("a map").keys().collect();
    if names.iter().collect::<Vec<_>>() != found {
        return Outcome::Failed(format!("expected managers {names:?}, got {found:?}"));
    }
    compare(&expect, &got)
}

/// An object without its empty maps and lists: to have none and an empty one is the same.
fn bare(value: &Value) -> Value {
    if value.as_array().is_some_and(Vec::is_empty) {
        return Value::Null;
    }
    let Value::Object(map) = value else { return value.clone() };
    let fields = map.iter().map(|(name, value)| (name.clone(), bare(value)));
    let full = fields.filter(|(_, value)| !value.is_null());
    let full: Map<String, Value> = full.collect();
    if full.is_empty() { Value::Null } else { Value::Object(full) }
}

fn carry_out(
    operation: &Operation,
    object: &mut Value,
    entries: &mut Vec<ManagedFieldsEntry>,
) -> Result<(), String> {
    let writer = Writer {
        manager: operation.manager.as_str().into(),
        api_version: operation.api_version.as_str().into(),
        subresource: "".into(),
        now: None,
    };
    let pair = (&*object, &operation.object);
    if operation.operation == "Update" {
        update(&SCHEMA, entries, pair, &writer);
        *object = operation.object.clone();
        return Ok(());
    }
    match apply(&SCHEMA, entries, pair, &writer, operation.force) {
        Ok(_) if !operation.expect_conflicts.is_empty() => Err("there was no conflict".into()),
        Ok(value) => {
            *object = value;
            Ok(())
        }
        Err(conflicts) => {
            let mut found: Vec<Expected> = Vec::new();
            for conflict in &conflicts {
                found.extend(conflict.fields.paths().iter().map(|path| Expected {
                    manager: conflict.manager.manager.to_string(),
                    field: path.trim_start_matches('.').into(),
                }));
            }
            found.sort();
            let mut expected: Vec<&Expected> = operation.expect_conflicts.iter().collect();
            expected.sort();
            if found.iter().collect::<Vec<_>>() == expected {
                return Ok(());
            }
            Err(format!("unexpected: {}", conflict_message(&conflicts)))
        }
    }
}

fn managers(entries: &[ManagedFieldsEntry]) -> Value {
    let mut managers = Map::new();
    for entry in entries {
        let paths = entry.fields.paths();
        let mut fields: Vec<&str> = paths.iter().map(|p| p.trim_start_matches('.')).collect();
        fields.sort_unstable();
        let value = json!({"apiVersion": &*entry.api_version, "fields": fields});
        managers.insert(entry.manager.to_string(), value);
    }
    Value::Object(managers)
}
