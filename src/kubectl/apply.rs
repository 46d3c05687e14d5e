//! `kubectl apply`: what was applied last time is remembered in an annotation, so that the next
//! time a field that is no longer there can be told from one that was never asked for.

use std::sync::Arc;

use crate::api::{Object, Str, Value};
pub use crate::apiserver::managed_fields::LAST_APPLIED;
use crate::apiserver::{Part, Request};
use crate::manifest::{self, Document};

use super::command::{DryRun, FromText};
use super::errors::refused;
use super::merge::{difference, three_way};
use super::resources::printed;
use super::{Api, Output, server_side};

/// Applies a text.
pub fn run(options: &FromText, stdin: Option<&str>, api: &mut dyn Api, out: &mut Output) {
    let reading = manifest::read(stdin.unwrap_or(""));
    if reading.documents.is_empty() && reading.refusals.is_empty() {
        return out.fail("error: no objects passed to apply");
    }
    let mut errors = Vec::new();
    for document in &reading.documents {
        match in_namespace(document, options.namespace.as_ref()) {
            Ok(object) if options.server_side => {
                errors.extend(server_side::apply(&object, document, options, api, out).err());
            }
            Ok(object) => errors.extend(one(&object, document, options, api, out).err()),
            Err(error) => errors.push(error),
        }
    }
    for error in errors.iter().chain(&reading.refusals) {
        out.fail(error);
    }
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
    if object.meta().name.is_empty() {
        let prefix = object.meta().generate_name.as_deref().unwrap_or("");
        return Err(format!("error: from {prefix}: cannot use generate name with apply"));
    }
    let applied = last_applied(object, document);
    let mut modified = object.clone();
    modified.meta_mut().annotations.insert(LAST_APPLIED.into(), applied.into());
    let name = printed(object);
    let mut say = |words: &str| {
        let words = format!("{name} {words}{}", options.dry_run.suffix());
        out.line(if options.name_only { &name } else { &words });
    };
    let Some(current) = api.get(&object.key()) else {
        if options.dry_run == DryRun::No {
            api.request(Request::Create(Arc::new(modified)))
                .map_err(|error| refused(&error, Some("creating \"STDIN\"")))?;
        }
        say("created");
        return Ok(());
    };
    let now = current.to_value();
    let annotation = current.meta().annotations.get(LAST_APPLIED);
    let original = annotation.and_then(|text| serde_json::from_str(text).ok());
    let merged = three_way(&original.unwrap_or(Value::Null), &modified.to_value(), &now);
    // Compared as typed objects, so that `0.5` and `500m` are the same.
    let kind = object.kind();
    let merged = Object::from_value(kind, merged).map_err(|error| format!("error: {error}"))?;
    let patch = difference(&now, &merged.to_value());
    let Some(patch) = patch.filter(|_| merged != *current) else {
        say("unchanged");
        return Ok(());
    };
    if annotation.is_none() {
        let plural = kind.info().plural;
        out.line(format!(
            "Warning: resource {plural}/{} is missing the {LAST_APPLIED} annotation which is \
             required by kubectl apply. kubectl apply should only be used on resources created \
             declaratively by either kubectl create --save-config or kubectl apply. The missing \
             annotation will be patched automatically.",
            object.meta().name
        ));
    }
    let mut say = |words: &str| {
        let words = format!("{name} {words}{}", options.dry_run.suffix());
        out.line(if options.name_only { &name } else { &words });
    };
    if options.dry_run == DryRun::No {
        let result = api.request(Request::Patch(Part::Main, object.key(), patch));
        match result {
            Err(error) => return Err(refused(&error, Some("patching \"STDIN\""))),
            Ok(after) if after == current => {
                say("unchanged");
                return Ok(());
            }
            Ok(_) => {}
        }
    }
    say("configured");
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
