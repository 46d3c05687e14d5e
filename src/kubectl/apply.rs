//! `kubectl apply`: what was applied last time is remembered in an annotation, so that the next
//! time a field that is no longer there can be told from one that was never asked for.

use std::sync::Arc;

use serde_json::json;

use crate::api::{Object, Str, Value};
pub use crate::apiserver::managed_fields::LAST_APPLIED;
use crate::apiserver::{Part, Request};
use crate::manifest::{self, Document};

use super::command::{DryRun, FromText};
use super::create::written;
use super::errors::refused;
use super::merge::{difference, three_way};
use super::show;
use super::{Api, Output, server_side};

/// Applies a text.
pub fn run(options: &FromText, stdin: Option<&str>, api: &mut dyn Api, out: &mut Output) {
    let reading = manifest::read(stdin.unwrap_or(""));
    if reading.documents.is_empty() && reading.refusals.is_empty() {
        return out.fail("error: no objects passed to apply");
    }
    let mut errors = Vec::new();
    for document in reading.documents.iter().filter(|document| options.selects(document)) {
        let one = if options.server_side { server_side::apply } else { one };
        let object = in_namespace(document, options.namespace.as_ref()).and_then(named);
        let applied = object.and_then(|object| one(&object, document, options, api, out));
        errors.extend(applied.err());
    }
    for error in errors.iter().chain(&reading.refusals) {
        out.fail(error);
    }
}

/// What has no name yet cannot be found again.
fn named(object: Object) -> Result<Object, String> {
    let meta = object.meta();
    if !meta.name.is_empty() {
        return Ok(object);
    }
    if let Some(prefix) = meta.generate_name.as_deref().filter(|prefix| !prefix.is_empty()) {
        return Err(format!("error: from {prefix}: cannot use generate name with apply"));
    }
    let (info, namespace) = (object.kind().info(), &meta.namespace);
    let (group, version) = info.api_version.split_once('/').unwrap_or(("", info.api_version));
    Err(format!(
        "error: error when retrieving current configuration of:\nResource: \"{group}/{version}, \
         Resource={}\", GroupVersionKind: \"{group}/{version}, Kind={}\"\nName: \"\", Namespace: \
         {namespace:?}\nfrom server for: \"STDIN\": resource name may not be empty",
        info.plural, info.kind
    ))
}

/// The object in the namespace that the line names, if the text names none.
pub fn in_namespace(document: &Document, namespace: Option<&Str>) -> Result<Object, String> {
    let mut object = (*document.object).clone();
    let Some(namespace) = namespace.filter(|_| object.kind().info().namespaced) else {
        return Ok(object);
    };
    let written = document.value.pointer("/metadata/namespace").and_then(Value::as_str);
    match written.filter(|written| !written.is_empty() && *written != &**namespace) {
        Some(written) => Err(format!(
            "error: the namespace from the provided object {written:?} does not match the \
             namespace \"{namespace}\". You must pass '--namespace={written}' to perform this \
             operation."
        )),
        None => {
            object.meta_mut().namespace = namespace.clone();
            Ok(object)
        }
    }
}

fn one(
    object: &Object,
    document: &Document,
    options: &FromText,
    api: &mut dyn Api,
    out: &mut Output,
) -> Result<(), String> {
    let modified = with_last_applied(object.clone(), document);
    let shown = options.shown();
    let Some(current) = api.get(&object.key()) else {
        let request = Request::Create(Arc::new(modified));
        let created = match options.dry_run {
            DryRun::Client => {
                written(document, object, "created", &shown, out);
                return Ok(());
            }
            DryRun::Server => api.dry_run(&request),
            DryRun::No => api.request(request),
        };
        let created = created.map_err(|error| refused(&error, Some("creating \"STDIN\"")))?;
        show::done(&created, "created", &shown, out);
        return Ok(());
    };
    let now = current.to_value();
    let merged = merged(&modified, &current)?;
    let patch = difference(&now, &merged.to_value());
    let Some(patch) = patch.filter(|_| merged != *current) else {
        show::done(&current, "unchanged", &shown, out);
        return Ok(());
    };
    if !current.meta().annotations.contains_key(LAST_APPLIED) {
        out.line(format!(
            "Warning: resource {}/{} is missing the {LAST_APPLIED} annotation which is \
             required by kubectl apply. kubectl apply should only be used on resources created \
             declaratively by either kubectl create --save-config or kubectl apply. The missing \
             annotation will be patched automatically.",
            object.kind().info().plural,
            object.meta().name
        ));
    }
    let request = Request::Patch(Part::Main, object.key(), patch);
    let after = match options.dry_run {
        DryRun::Client => Ok(Arc::new(merged)),
        DryRun::Server => api.dry_run(&request),
        DryRun::No => api.request(request),
    };
    let after = after.map_err(|error| refused(&error, Some("patching \"STDIN\"")))?;
    let words = if after == current { "unchanged" } else { "configured" };
    show::done(&after, words, &shown, out);
    Ok(())
}

/// What applying `modified` makes of `current`: a typed object, so that `0.5` and `500m` are the
/// same.
pub fn merged(modified: &Object, current: &Object) -> Result<Object, String> {
    let annotation = current.meta().annotations.get(LAST_APPLIED);
    let original = annotation.and_then(|text| serde_json::from_str(text).ok());
    let original = original.unwrap_or(Value::Null);
    let merged = three_way(&original, &modified.to_value(), &current.to_value());
    Object::from_value(current.kind(), merged).map_err(|error| format!("error: {error}"))
}

/// The object with the annotation that remembers what was applied.
pub fn with_last_applied(mut object: Object, document: &Document) -> Object {
    let applied = last_applied(&object, document);
    object.meta_mut().annotations.insert(LAST_APPLIED.into(), applied.into());
    object
}

/// `kubectl apply set-last-applied`: from now on this text counts as applied last, and nothing else
/// changes.
pub fn set_last_applied(
    options: &FromText,
    stdin: Option<&str>,
    api: &mut dyn Api,
    out: &mut Output,
) {
    let reading = manifest::read(stdin.unwrap_or(""));
    if reading.documents.is_empty() && reading.refusals.is_empty() {
        return out.fail("error: no objects passed to apply");
    }
    for document in &reading.documents {
        let result = in_namespace(document, options.namespace.as_ref())
            .and_then(|object| remember(&object, document, options, api, out));
        if let Err(error) = result {
            out.fail(error);
        }
    }
    reading.refusals.iter().for_each(|error| out.fail(error));
}

fn remember(
    object: &Object,
    document: &Document,
    options: &FromText,
    api: &mut dyn Api,
    out: &mut Output,
) -> Result<(), String> {
    let (info, name) = (object.kind().info(), &object.meta().name);
    let current = api.get(&object.key()).ok_or_else(|| {
        format!("Error from server (NotFound): {} {:?} not found", info.plural, &**name)
    })?;
    if !current.meta().annotations.contains_key(LAST_APPLIED) {
        return Err(format!(
            "error: no last-applied-configuration annotation found on resource: {name}, to create \
             the annotation, run the command with --create-annotation"
        ));
    }
    let text = last_applied(object, document);
    let patch = json!({"metadata": {"annotations": {LAST_APPLIED: text}}});
    let request = Request::Patch(Part::Main, object.key(), patch);
    let after = match options.dry_run {
        DryRun::Client => current,
        DryRun::Server => api.dry_run(&request).map_err(|error| refused(&error, None))?,
        DryRun::No => api.request(request).map_err(|error| refused(&error, None))?,
    };
    show::done(&after, "configured", &options.shown(), out);
    Ok(())
}

/// The text of the annotation: the object as it was written, with its namespace, and a line end.
fn last_applied(object: &Object, document: &Document) -> String {
    let mut value = document.value.clone();
    if let Some(meta) = value.get_mut("metadata").and_then(Value::as_object_mut) {
        if !object.meta().namespace.is_empty() {
            meta.insert("namespace".into(), (*object.meta().namespace).into());
        }
        let annotations = meta.entry("annotations").or_insert(Value::Null);
        if !annotations.is_object() {
            *annotations = Value::Object(Default::default());
        }
        if let Some(annotations) = annotations.as_object_mut() {
            annotations.remove(LAST_APPLIED);
        }
    }
    format!("{value}\n")
}
