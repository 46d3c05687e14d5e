//! `kubectl scale`, `set image` and `patch`.

use std::sync::Arc;

use serde_json::json;

use crate::api::{Kind, Object, Value};
use crate::apiserver::custom::definition::replicas_path;
use crate::apiserver::{ApiError, Part, Request};

use super::command::{Patch, PatchKind, Scale, Select};
use super::errors::refused;
use super::merge::{difference, strategic};
use super::resources::{find, printed, resource};
use super::{Api, Output};

/// Does something to every object that a line names.
pub fn each(
    select: &Select,
    api: &mut dyn Api,
    out: &mut Output,
    mut act: impl FnMut(&Arc<Object>, &mut dyn Api, &mut Output) -> Result<(), String>,
) {
    let mut errors = Vec::new();
    let mut any = false;
    for found in find(select, api) {
        errors.extend(found.missing);
        for object in found.objects {
            any = true;
            errors.extend(act(&object, api, out).err());
        }
    }
    if !any && errors.is_empty() {
        out.line(match &select.namespace {
            Some(namespace) => format!("No resources found in {namespace} namespace."),
            None => "No resources found".into(),
        });
    }
    for error in errors {
        out.fail(error);
    }
}

/// Whether `spec.replicas` of a kind can be scaled.
fn scales(kind: Kind) -> bool {
    use Kind::{Deployment, ReplicaSet, ReplicationController, StatefulSet};
    matches!(kind, Deployment | ReplicaSet | ReplicationController | StatefulSet)
}

/// `scale --replicas=N`.
pub fn scale(select: &Select, scale: &Scale, api: &mut dyn Api, out: &mut Output) {
    each(select, api, out, |object, api, out| {
        let (kind, name) = (object.kind(), printed(object));
        if kind.is_custom() {
            return scale_defined(object, scale.replicas, api, out);
        }
        if !scales(kind) {
            let plural = resource(kind);
            return Err(format!(
                "Error from server (NotFound): the server could not find the requested resource \
                 ({plural}/scale)"
            ));
        }
        let now = object.to_value();
        let replicas = now.pointer("/spec/replicas").and_then(Value::as_i64).unwrap_or(1);
        if let Some(expected) = scale.current.filter(|&count| i64::from(count) != replicas) {
            return Err(format!("error: Expected replicas to be {expected}, was {replicas}"));
        }
        let patch = json!({"spec": {"replicas": scale.replicas}});
        // Of a kind that is only kept, the part of the scale is not known to the store.
        let simulated = matches!(kind, Kind::Deployment | Kind::ReplicaSet);
        let part = if simulated { Part::Scale } else { Part::Main };
        api.request(Request::Patch(part, object.key(), patch)).map_err(|e| refused(&e, None))?;
        out.line(format!("{name} scaled"));
        Ok(())
    });
}

/// Of a kind that a user defined, the definition says where the number stands.
fn scale_defined(
    object: &Object,
    replicas: i32,
    api: &mut dyn Api,
    out: &mut Output,
) -> Result<(), String> {
    let definition = crate::api::custom::definition(object.kind());
    let path = definition.as_ref().and_then(|definition| replicas_path(definition));
    let Some(path) = path else {
        let plural = resource(object.kind());
        return Err(format!(
            "Error from server (NotFound): the server could not find the requested resource \
             ({plural}/scale)"
        ));
    };
    let steps = path.trim_start_matches('.').rsplit('.');
    let patch = steps.fold(json!(replicas), |inner, step| json!({ step: inner }));
    let request = Request::Patch(Part::Scale, object.key(), patch);
    api.request(request).map_err(|e| refused(&e, None))?;
    out.line(format!("{} scaled", printed(object)));
    Ok(())
}

/// Where a kind keeps the spec of its pods.
pub fn pod_spec_pointer(kind: Kind) -> &'static str {
    match kind {
        Kind::Pod => "/spec",
        Kind::CronJob => "/spec/jobTemplate/spec/template/spec",
        _ => "/spec/template/spec",
    }
}

/// `set image container=image`.
pub fn set_image(
    select: &Select,
    images: &[(String, String)],
    api: &mut dyn Api,
    out: &mut Output,
) {
    each(select, api, out, |object, api, out| {
        let before = object.to_value();
        let mut after = before.clone();
        let Some(spec) = after.pointer_mut(pod_spec_pointer(object.kind())) else {
            return Err(format!(
                "error: {} the object is not a pod or does not have a pod template",
                printed(object)
            ));
        };
        let mut unknown = Vec::new();
        for (container, image) in images {
            let lists = ["initContainers", "containers"];
            // `*` means the main containers only.
            let lists = if container == "*" { &lists[1..] } else { &lists[..] };
            let mut found = false;
            for list in lists {
                let items = spec.get_mut(*list).and_then(Value::as_array_mut);
                for item in items.into_iter().flatten() {
                    let named = item.get("name").and_then(Value::as_str) == Some(container);
                    if named || container == "*" {
                        item["image"] = image.as_str().into();
                        found = true;
                    }
                }
            }
            if !found {
                unknown.push(format!("error: unable to find container named {container:?}"));
            }
        }
        if !unknown.is_empty() {
            return Err(unknown.join("\n"));
        }
        if write(object, &before, &after, api).map_err(|e| refused(&e, None))? {
            out.line(format!("{} image updated", printed(object)));
        }
        Ok(())
    });
}

/// Sends what differs. Whether anything did.
pub fn write(
    object: &Object,
    before: &Value,
    after: &Value,
    api: &mut dyn Api,
) -> Result<bool, ApiError> {
    let Some(patch) = difference(before, after) else {
        return Ok(false);
    };
    let changed = api.request(Request::Patch(Part::Main, object.key(), patch))?;
    Ok(*changed != *object)
}

/// `patch -p ...`.
pub fn patch(select: &Select, patch: &Patch, api: &mut dyn Api, out: &mut Output) {
    let parsed: Result<Value, String> = serde_json::from_str(&patch.text)
        .or_else(|_| crate::manifest::value(&patch.text))
        .map_err(|error| format!("error: unable to parse {:?}: {error}", patch.text));
    let parsed = match parsed {
        Ok(parsed) => parsed,
        Err(error) => return out.fail(error),
    };
    each(select, api, out, |object, api, out| {
        let before = object.to_value();
        let after = match patch.kind {
            PatchKind::Strategic => strategic(&parsed, &before),
            PatchKind::Merge => merged(&parsed, &before),
            PatchKind::Json => operations(&parsed, &before)?,
        };
        let changed = write(object, &before, &after, api).map_err(|e| refused(&e, None))?;
        let suffix = if changed { "" } else { " (no change)" };
        out.line(format!("{} patched{suffix}", printed(object)));
        Ok(())
    });
}

/// A JSON merge patch (RFC 7386) on a value.
fn merged(patch: &Value, value: &Value) -> Value {
    let Value::Object(changes) = patch else {
        return patch.clone();
    };
    let mut map = value.as_object().cloned().unwrap_or_default();
    for (key, change) in changes {
        if change.is_null() {
            map.remove(key);
        } else {
            let old = map.get(key).cloned().unwrap_or(Value::Null);
            map.insert(key.clone(), merged(change, &old));
        }
    }
    Value::Object(map)
}

/// A JSON patch (RFC 6902): add, replace, remove and test.
fn operations(patch: &Value, value: &Value) -> Result<Value, String> {
    let mut value = value.clone();
    let wrong = |words: String| {
        format!(
            "The request is invalid: the server rejected our request due \
                                         to an error in our request: {words}"
        )
    };
    for operation in patch.as_array().into_iter().flatten() {
        let text = |key| operation.get(key).and_then(Value::as_str).unwrap_or("");
        let (op, path) = (text("op"), text("path"));
        let (parent, last) = path.rsplit_once('/').unwrap_or(("", path));
        let last = last.replace("~1", "/").replace("~0", "~");
        let new = operation.get("value").cloned().unwrap_or(Value::Null);
        let missing =
            || wrong(format!("{op} operation does not apply: doc is missing path: {path:?}"));
        if op == "test" {
            if value.pointer(path) != Some(&new) {
                return Err(wrong(format!("testing value {path} failed")));
            }
            continue;
        }
        let target = value.pointer_mut(parent).ok_or_else(missing)?;
        match (op, target) {
            ("remove", Value::Object(map)) => {
                map.remove(&last).ok_or_else(missing)?;
            }
            ("add" | "replace", Value::Object(map)) => {
                map.insert(last, new);
            }
            ("add", Value::Array(items)) if last == "-" => items.push(new),
            (_, Value::Array(items)) => {
                let index: usize = last.parse().map_err(|_| missing())?;
                match op {
                    "add" if index <= items.len() => items.insert(index, new),
                    "replace" => *items.get_mut(index).ok_or_else(missing)? = new,
                    "remove" if index < items.len() => {
                        items.remove(index);
                    }
                    _ => return Err(missing()),
                }
            }
            _ => return Err(wrong(format!("unexpected kind: {op}"))),
        }
    }
    Ok(value)
}
