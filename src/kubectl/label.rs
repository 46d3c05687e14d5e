//! `kubectl label` and `annotate`.

use serde_json::Map;

use crate::api::{StrMap, Value, names};

use super::change::{self, Words};
use super::command::{DryRun, LabelChange, Select};
use super::{Api, Output};

/// Sets and removes labels or annotations.
pub fn run(
    select: &Select,
    change: &LabelChange,
    stdin: Option<&str>,
    api: &mut dyn Api,
    out: &mut Output,
) {
    if let Some(error) = illegal(change) {
        return out.fail(error);
    }
    let field = if change.annotations { "annotations" } else { "labels" };
    change::run(select, &change.shown, stdin, api, out, &mut |object, value, out| {
        let meta = object.meta();
        let old = if change.annotations { &meta.annotations } else { &meta.labels };
        if change.list {
            for (key, value) in old {
                out.line(format!("{key}={value}"));
            }
            return Ok(Words::if_changed(""));
        }
        overwrites(change, old)?;
        let meta = value.get_mut("metadata").and_then(Value::as_object_mut);
        let Some(meta) = meta else {
            return Err("error: the object has no metadata".into());
        };
        edit(meta, field, change, old, out);
        let words =
            |changed: &str, same: &str| Words { changed: changed.into(), same: Some(same.into()) };
        Ok(match (change.annotations, change.set.is_empty()) {
            (true, _) => Words::always("annotated"),
            (false, true) => words("unlabeled", "not labeled"),
            (false, false) => words("labeled", "not labeled"),
        })
    });
}

fn edit(
    meta: &mut Map<String, Value>,
    field: &str,
    change: &LabelChange,
    old: &StrMap,
    out: &mut Output,
) {
    let mut map = match meta.get(field) {
        Some(Value::Object(map)) => map.clone(),
        _ => Map::new(),
    };
    for key in &change.remove {
        let told = !change.annotations && change.shown.dry_run == DryRun::No;
        if told && !old.contains_key(key.as_str()) {
            out.line(format!("label {key:?} not found."));
        }
        map.remove(key);
    }
    for (key, value) in &change.set {
        map.insert(key.clone(), value.as_str().into());
    }
    match map.is_empty() {
        true => meta.remove(field),
        false => meta.insert(field.into(), Value::Object(map)),
    };
}

fn illegal(change: &LabelChange) -> Option<String> {
    for (key, value) in &change.set {
        let errors = names::label_value(value);
        if !change.annotations && !errors.is_empty() {
            let spec = format!("{key}={value}");
            return Some(format!("error: invalid label value: {spec:?}: {}", errors.join(";")));
        }
    }
    None
}
/// Without `--overwrite` a value that is there stays.
fn overwrites(change: &LabelChange, old: &StrMap) -> Result<(), String> {
    if change.overwrite {
        return Ok(());
    }
    let taken = |(key, value): &&(String, String)| {
        old.get(key.as_str()).is_some_and(|old| **old != **value)
    };
    let Some((key, _)) = change.set.iter().find(taken) else {
        return Ok(());
    };
    let value = old.get(key.as_str()).map_or("", |value| value);
    Err(if change.annotations {
        format!(
            "error: --overwrite is false but found the following declared annotation(s): '{key}' \
             already has a value ({value})"
        )
    } else {
        format!("error: '{key}' already has a value ({value}), and --overwrite is false")
    })
}
