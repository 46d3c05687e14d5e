//! `kubectl label` and `annotate`.

use crate::api::Value;
use crate::api::{StrMap, names};

use super::command::{LabelChange, Select};
use super::errors::refused;
use super::resources::printed;
use super::update::{each, write};
use super::{Api, Output};

/// Sets and removes labels or annotations.
pub fn run(select: &Select, change: &LabelChange, api: &mut dyn Api, out: &mut Output) {
    if let Some(error) = illegal(change) {
        return out.fail(error);
    }
    let field = if change.annotations { "annotations" } else { "labels" };
    each(select, api, out, |object, api, out| {
        let meta = object.meta();
        let old = if change.annotations { &meta.annotations } else { &meta.labels };
        if change.list {
            for (key, value) in old {
                out.line(format!("{key}={value}"));
            }
            return Ok(());
        }
        overwrites(change, old)?;
        let before = object.to_value();
        let mut after = before.clone();
        let Some(meta) = after.get_mut("metadata").and_then(Value::as_object_mut) else {
            return Ok(());
        };
        let map = meta.entry(field).or_insert_with(|| Value::Object(Default::default()));
        for key in &change.remove {
            if !old.contains_key(key.as_str()) && !change.annotations {
                out.line(format!("label {key:?} not found."));
            }
            if let Some(map) = map.as_object_mut() {
                map.remove(key);
            }
        }
        for (key, value) in &change.set {
            map[key] = value.as_str().into();
        }
        if map.as_object().is_some_and(|map| map.is_empty()) {
            meta.remove(field);
        }
        let changed = write(object, &before, &after, api).map_err(|e| refused(&e, None))?;
        let verb = match (change.annotations, changed, change.set.is_empty()) {
            (true, ..) => "annotated",
            (false, false, _) => "not labeled",
            (false, true, true) => "unlabeled",
            (false, true, false) => "labeled",
        };
        out.line(format!("{} {verb}", printed(object)));
        Ok(())
    });
}

fn illegal(change: &LabelChange) -> Option<String> {
    for (key, value) in &change.set {
        let errors = names::qualified_name(&key.to_lowercase());
        if !errors.is_empty() {
            return Some(format!("error: invalid label key {key:?}: {}", errors.join(";")));
        }
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
