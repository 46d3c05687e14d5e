//! `kubectl apply --server-side`: the server keeps account of who wants which fields, and kubectl
//! hands over what it applied by itself before. Kubernetes: kubectl `pkg/cmd/apply/apply.go`,
//! client-go `util/csaupgrade`.

use std::sync::Arc;

use serde_json::json;

use crate::api::{ManagedFieldsEntry, ManagedFieldsOperation, Object, Value};
use crate::apiserver::managed_fields::{self, LAST_APPLIED};
use crate::apiserver::{ApiError, Part, Patch, PatchRequest, Reason, Request, Response};

use super::command::{DryRun, FromText};
use super::errors::refused;
use super::{Api, Output, show};
use crate::manifest::Document;

/// Who applied before the server did.
const CLIENT_SIDE: &str = "kubectl-client-side-apply";
/// Who keeps the annotation afterwards.
const ANNOTATION_KEEPER: &str = "kubectl-last-applied";

const ADVICE: &str = "\
Please review the fields above--they currently have other managers. Here
are the ways you can resolve this warning:
* If you intend to manage all of these fields, please re-run the apply
  command with the `--force-conflicts` flag.
* If you do not intend to manage all of the fields, please edit your
  manifest to remove references to the fields that should keep their
  current managers.
* You may co-own fields by updating your manifest to match the existing
  value; in this case, you'll become the manager if the other manager(s)
  stop managing the field (remove it from their configuration).
See https://kubernetes.io/docs/reference/using-api/server-side-apply/#conflicts";

/// Applies one object of a text.
pub fn apply(
    object: &Object,
    document: &Document,
    options: &FromText,
    api: &mut dyn Api,
    out: &mut Output,
) -> Result<(), String> {
    let mut config = document.value.clone();
    if let Some(meta) = config.get_mut("metadata").and_then(Value::as_object_mut)
        && !object.meta().namespace.is_empty()
    {
        meta.insert("namespace".into(), (*object.meta().namespace).into());
    }
    let force = options.force_conflicts;
    let request = patch(object, Patch::Apply { config, force });
    let send = |api: &mut dyn Api| -> Response {
        match options.dry_run {
            DryRun::No => api.request(request.clone()),
            DryRun::Client | DryRun::Server => api.dry_run(&request),
        }
    };
    let mut after = send(api).map_err(|error| explained(&error))?;
    // Another manager leaves alone what kubectl had, and what is only tried hands over nothing.
    let is_kubectl = options.field_manager.as_deref().is_none_or(|name| name == "kubectl");
    let hands_over = is_kubectl && options.dry_run == DryRun::No;
    if hands_over && keep_annotation(&after, api) && migrate(&after, api) {
        // What the last application by the client had, and this one has not, can go now.
        after = send(api).map_err(|error| explained(&error))?;
    }
    show::done(&after, "serverside-applied", &options.shown(), out);
    Ok(())
}

fn patch(object: &Object, patch: Patch) -> Request {
    Request::PatchWith(Box::new(PatchRequest { part: Part::Main, key: object.key(), patch }))
}

fn explained(error: &ApiError) -> String {
    match error.reason {
        Reason::Conflict if error.message.starts_with("Apply failed") => {
            format!("error: {}\n{ADVICE}", error.message)
        }
        _ => refused(error, None),
    }
}

/// Gives the annotation of earlier applications to a manager of its own, so that it does not go
/// with them. False if there is none, or if that is done already.
fn keep_annotation(object: &Arc<Object>, api: &mut dyn Api) -> bool {
    let Some(text) = object.meta().annotations.get(LAST_APPLIED) else {
        return true;
    };
    let info = object.kind().info();
    let mut meta = json!({
        "name": &*object.meta().name,
        "annotations": {LAST_APPLIED: &**text},
    });
    if info.namespaced {
        meta["namespace"] = (*object.meta().namespace).into();
    }
    let config = json!({"apiVersion": info.api_version, "kind": info.kind, "metadata": meta});
    let request = patch(object, Patch::Apply { config, force: false });
    api.request_as(request, ANNOTATION_KEEPER).is_ok()
}

/// Turns the fields that kubectl applied by itself into fields that it applied by the server.
/// Whether there were any.
fn migrate(object: &Arc<Object>, api: &mut dyn Api) -> bool {
    let Some(now) = api.get(&object.key()) else { return false };
    let entries = managed_fields::known(&now);
    let is_old = |entry: &ManagedFieldsEntry| {
        *entry.manager == *CLIENT_SIDE
            && entry.operation == ManagedFieldsOperation::Update
            && entry.subresource.is_empty()
    };
    let Some(old) = entries.iter().find(|entry| is_old(entry)).cloned() else {
        return false;
    };
    let kept = entries.into_iter().filter(|entry| !is_old(entry)).map(|mut entry| {
        let by_server = entry.operation == ManagedFieldsOperation::Apply;
        if by_server && *entry.manager == *"kubectl" && entry.subresource.is_empty() {
            entry.fields = entry.fields.union(&old.fields);
        }
        entry.to_value()
    });
    let list: Vec<Value> = kept.collect();
    let version = now.meta().resource_version.to_string();
    let operations = json!([
        {"op": "replace", "path": "/metadata/managedFields", "value": list},
        {"op": "replace", "path": "/metadata/resourceVersion", "value": version},
    ]);
    api.request(patch(object, Patch::Json(operations))).is_ok()
}
