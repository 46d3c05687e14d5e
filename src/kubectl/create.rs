//! `kubectl create`, `replace` and `run`.

use std::sync::Arc;

use serde_json::json;

use crate::api::{Kind, Object, Value};
use crate::apiserver::{DeleteOptions, Part, Reason, Request};
use crate::manifest;

use super::apply::in_namespace;
use super::command::{DryRun, FromText, Named};
use super::errors::refused;
use super::resources::printed;
use super::{Api, Output};

/// Creates what a text holds.
pub fn from_text(options: &FromText, stdin: Option<&str>, api: &mut dyn Api, out: &mut Output) {
    each("create", options, stdin, out, |object, out| {
        let object = Arc::new(object);
        let created = match options.dry_run {
            DryRun::No => api
                .request(Request::Create(object))
                .map_err(|error| refused(&error, Some("creating \"STDIN\"")))?,
            _ => object,
        };
        out.line(format!("{} created{}", printed(&created), options.dry_run.suffix()));
        Ok(())
    });
}

/// Replaces what a text holds.
pub fn replace(options: &FromText, stdin: Option<&str>, api: &mut dyn Api, out: &mut Output) {
    each("replace", options, stdin, out, |object, out| {
        let key = object.key();
        let name = printed(&object);
        let doing = Some("replacing \"STDIN\"");
        let mut say = |words: &str| out.line(format!("{name} {words}{}", options.dry_run.suffix()));
        if options.dry_run != DryRun::No {
            say("replaced");
            return Ok(());
        }
        if options.force {
            let gone = api.request(Request::Delete(key, DeleteOptions::default()));
            match gone {
                Ok(_) => say("deleted"),
                Err(error) if error.reason == Reason::NotFound => {}
                Err(error) => return Err(refused(&error, doing)),
            }
            let created = api.request(Request::Create(Arc::new(object)));
            created.map_err(|error| refused(&error, doing))?;
        } else {
            let asked = Request::Update(Part::Main, Arc::new(object));
            api.request(asked).map_err(|error| refused(&error, doing))?;
        }
        say("replaced");
        Ok(())
    });
}

fn each(
    verb: &str,
    options: &FromText,
    stdin: Option<&str>,
    out: &mut Output,
    mut act: impl FnMut(Object, &mut Output) -> Result<(), String>,
) {
    let reading = manifest::read(stdin.unwrap_or(""));
    if reading.documents.is_empty() && reading.refusals.is_empty() {
        return out.fail(format!("error: no objects passed to {verb}"));
    }
    let mut errors = Vec::new();
    for document in &reading.documents {
        let object = in_namespace(document, options.namespace.as_ref());
        errors.extend(object.and_then(|object| act(object, out)).err());
    }
    for error in errors.iter().chain(&reading.refusals) {
        out.fail(error);
    }
}

/// `create KIND NAME` and `run NAME`.
pub fn named(named: &Named, api: &mut dyn Api, out: &mut Output) {
    let value = match named.kind {
        Kind::Deployment => deployment(named),
        Kind::Job => json!({"spec": {"template": {"spec": pod_spec(named, "Never")}}}),
        Kind::ConfigMap => json!({"data": data(named)}),
        Kind::Pod => pod(named),
        _ => json!({}),
    };
    let mut object = match Object::from_value(named.kind, value) {
        Ok(object) => object,
        Err(error) => return out.fail(format!("error: {error}")),
    };
    let meta = object.meta_mut();
    meta.name = named.name.as_str().into();
    if named.kind.info().namespaced {
        meta.namespace = named.namespace.clone();
    }
    let name = printed(&object);
    if named.dry_run == DryRun::No
        && let Err(error) = api.request(Request::Create(Arc::new(object)))
    {
        let kind = named.kind.info().kind.to_lowercase();
        let plain = matches!(named.kind, Kind::Pod | Kind::Namespace);
        return out.fail(match error.reason {
            Reason::Invalid => refused(&error, None),
            _ if plain => refused(&error, None),
            _ => format!("error: failed to create {kind}: {}", error.message),
        });
    }
    out.line(format!("{name} created{}", named.dry_run.suffix()));
}

fn data(named: &Named) -> Value {
    let pairs = named.literals.iter().map(|(key, value)| (key.clone(), value.as_str().into()));
    Value::Object(pairs.collect())
}

fn labels(named: &Named, key: &str) -> Value {
    let pairs = named.labels.iter().map(|(key, value)| (key.clone(), value.as_str().into()));
    let mut labels: serde_json::Map<String, Value> = pairs.collect();
    if labels.is_empty() {
        labels.insert(key.into(), named.name.as_str().into());
    }
    Value::Object(labels)
}

fn deployment(named: &Named) -> Value {
    let labels = labels(named, "app");
    json!({
        "metadata": {"labels": labels},
        "spec": {
            "replicas": named.replicas.unwrap_or(1),
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod_spec(named, "")},
        },
    })
}

fn pod(named: &Named) -> Value {
    let restart = named.restart.as_deref().unwrap_or("Always");
    json!({"metadata": {"labels": labels(named, "run")}, "spec": pod_spec(named, restart)})
}

fn pod_spec(named: &Named, restart: &str) -> Value {
    let image = named.image.as_deref().unwrap_or("");
    // As kubectl does: the image's name without path, tag and digest.
    let last = image.rsplit('/').next().unwrap_or(image);
    let bare = last.split([':', '@']).next().unwrap_or(last);
    let name = if named.kind == Kind::Deployment { bare } else { &named.name };
    let mut container = json!({"name": name, "image": image});
    if let Some(port) = named.port {
        container["ports"] = json!([{"containerPort": port}]);
    }
    if !named.command.is_empty() {
        container["args"] = json!(named.command);
    }
    let mut spec = json!({"containers": [container]});
    if !restart.is_empty() {
        spec["restartPolicy"] = restart.into();
    }
    spec
}
