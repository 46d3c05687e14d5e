//! `kubectl scale`, `set image` and `patch`.

use std::sync::Arc;

use serde_json::json;

use crate::api::{Kind, Object, Value};
use crate::apiserver::{self, ApiError, Part, PatchRequest, Request};

use super::command::{Patch, PatchKind, Scale, Select};
use super::errors::refused;
use super::merge::difference;
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
    let body = match patch.kind {
        PatchKind::Strategic => apiserver::Patch::Strategic(parsed),
        PatchKind::Merge => apiserver::Patch::Merge(parsed),
        PatchKind::Json => apiserver::Patch::Json(parsed),
    };
    each(select, api, out, |object, api, out| {
        let (part, patch) = (patch.part, body.clone());
        let request = PatchRequest { part, key: object.key(), patch };
        let after = api.request(Request::PatchWith(Box::new(request)));
        let after = after.map_err(|error| refused(&error, None))?;
        let suffix = if after == *object { " (no change)" } else { "" };
        out.line(format!("{} patched{suffix}", printed(object)));
        Ok(())
    });
}
