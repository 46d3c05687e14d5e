//! `kubectl scale` and `patch`.

use std::sync::Arc;

use serde_json::json;

use crate::api::{Kind, Object, Value};
use crate::apiserver::custom::definition::replicas_path;
use crate::apiserver::{self, Part, PatchRequest, Request};

use super::change::{self, Words};
use super::command::{DryRun, Patch, PatchKind, Scale, Select};
use super::errors::refused;
use super::resources::{find, nothing_found, printed, resource};
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
        nothing_found(select, out);
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
        let kind = object.kind();
        if kind.is_custom() {
            return scale_defined(object, scale, api, out);
        }
        if !scales(kind) {
            let words = "the server could not find the requested resource";
            return Err(format!("Error from server (NotFound): {words}"));
        }
        // Of a kind that is only kept, the part of the scale is not known to the store.
        let simulated = matches!(kind, Kind::Deployment | Kind::ReplicaSet);
        let part = if simulated { Part::Scale } else { Part::Main };
        change::one(object, part, &scale.shown, api, out, &mut |_, value, _| {
            set_replicas(value, &["spec", "replicas"], 1, scale)
        })
    });
}

/// Of a kind that a user defined, the definition says where the number stands.
fn scale_defined(
    object: &Arc<Object>,
    scale: &Scale,
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
    let steps: Vec<&str> = path.trim_start_matches('.').split('.').collect();
    change::one(object, Part::Scale, &scale.shown, api, out, &mut |_, value, _| {
        set_replicas(value, &steps, 0, scale)
    })
}

/// Sets the number at a place, if it is there what the line expects; `usual` is what none means.
fn set_replicas(
    value: &mut Value,
    steps: &[&str],
    usual: i64,
    scale: &Scale,
) -> Result<Words, String> {
    let mut at = value;
    for step in steps {
        if !at.is_object() {
            *at = json!({});
        }
        at = &mut at[*step];
    }
    let replicas = at.as_i64().unwrap_or(usual);
    if let Some(expected) = scale.current.filter(|&count| i64::from(count) != replicas) {
        return Err(format!("error: Expected replicas to be {expected}, was {replicas}"));
    }
    *at = scale.replicas.into();
    Ok(Words::always("scaled"))
}

/// Where a kind keeps the spec of its pods.
pub fn pod_spec_pointer(kind: Kind) -> &'static str {
    match kind {
        Kind::Pod => "/spec",
        Kind::CronJob => "/spec/jobTemplate/spec/template/spec",
        _ => "/spec/template/spec",
    }
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
    let words = Words { changed: "patched".into(), same: Some("patched (no change)".into()) };
    each(select, api, out, |object, api, out| {
        let (part, body) = (patch.part, body.clone());
        let by_itself = patch.shown.dry_run == DryRun::Client;
        if by_itself && patch.kind == PatchKind::Strategic && object.kind().is_custom() {
            let info = object.kind().info();
            return Err(format!(
                "error: strategic merge patch is not supported for {}, Kind={} locally, try \
                 --type merge",
                info.api_version, info.kind
            ));
        }
        let request = PatchRequest { part, key: object.key(), patch: body };
        let request = Request::PatchWith(Box::new(request));
        let after = match patch.shown.dry_run {
            DryRun::No => api.request(request),
            // What kubectl works out itself the server works out as well.
            DryRun::Client | DryRun::Server => api.dry_run(&request),
        };
        let after = after.map_err(|error| refused(&error, None))?;
        let same = after == *object;
        change::say(&after.to_value(), &printed(object), same, &words, &patch.shown, out);
        Ok(())
    });
}
