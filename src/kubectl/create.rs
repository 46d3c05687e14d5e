//! `kubectl create`, `replace` and `run`.

use std::sync::Arc;

use serde_json::json;

use crate::api::{Kind, Object, ObjectKey, OwnerReference, Value};
use crate::apiserver::{ApiError, DeleteOptions, Part, Reason, Request};
use crate::manifest::{self, Document};

use super::apply::{LAST_APPLIED, in_namespace, with_last_applied};
use super::command::{DryRun, Format, FromText, Generated, Shown};
use super::errors::{not_found, refused};
use super::generators::bare;
use super::resources::{printed, resource};
use super::show;
use super::{Api, Output};

/// Creates what a text holds.
pub fn from_text(options: &FromText, stdin: Option<&str>, api: &mut dyn Api, out: &mut Output) {
    let shown = options.shown();
    each("create", options, stdin, out, |document, mut object, out| {
        if options.save_config || object.meta().annotations.contains_key(LAST_APPLIED) {
            object = with_last_applied(object, document);
        }
        let request = Request::Create(Arc::new(object.clone()));
        let created = match options.dry_run {
            DryRun::Client => {
                written(document, &object, "created", &shown, out);
                return Ok(());
            }
            DryRun::Server => api.dry_run(&request),
            DryRun::No => api.request(request),
        };
        let created = created.map_err(|error| refused(&error, Some("creating \"STDIN\"")))?;
        show::done(&created, "created", &shown, out);
        Ok(())
    });
}

/// An object that was only read, not sent: as it was written, with its namespace.
pub fn written(document: &Document, object: &Object, words: &str, shown: &Shown, out: &mut Output) {
    if matches!(shown.format, Format::Table | Format::Wide | Format::Name) {
        return show::sentence(&printed(object), words, shown, out);
    }
    let mut value = document.value.clone();
    let meta = object.meta();
    if let Some(written) = value.get_mut("metadata").and_then(Value::as_object_mut) {
        if !meta.namespace.is_empty() {
            written.insert("namespace".into(), (*meta.namespace).into());
        }
        if !meta.annotations.is_empty() {
            written.insert("annotations".into(), json!(meta.annotations));
        }
    }
    show::value(&value, &shown.format, out);
}

/// Replaces what a text holds.
pub fn replace(options: &FromText, stdin: Option<&str>, api: &mut dyn Api, out: &mut Output) {
    let shown = options.shown();
    each("replace", options, stdin, out, |document, object, out| {
        let key = object.key();
        let doing = Some("replacing \"STDIN\"");
        let tell = |error: ApiError| refused(&error, doing);
        if options.dry_run == DryRun::Client {
            written(document, &object, "replaced", &shown, out);
            return Ok(());
        }
        let object = Arc::new(object);
        if !options.force {
            let request = Request::Update(Part::Main, object);
            let replaced = match options.dry_run {
                DryRun::Server => api.dry_run(&request),
                _ => api.request(request),
            };
            show::done(&*replaced.map_err(tell)?, "replaced", &shown, out);
            return Ok(());
        }
        let asked = DeleteOptions {
            grace_period_seconds: options.grace_period.filter(|_| key.kind == Kind::Pod),
            propagation: options.cascade,
            ..DeleteOptions::default()
        };
        if options.dry_run == DryRun::No {
            let name = format!("{} {:?}", key.kind.printed(), &*key.name);
            match api.request(Request::Delete(key, asked)) {
                Ok(_) => out.line(format!("{name} deleted")),
                Err(error) if error.is_not_found() => {}
                Err(error) => return Err(tell(error)),
            }
            // What is going takes its time; kubectl would wait for it.
            let created = api.request(Request::Create(object)).map_err(tell)?;
            show::done(&created, "replaced", &shown, out);
        } else {
            show::done(&object, "replaced", &shown, out);
        }
        Ok(())
    });
}

fn each(
    verb: &str,
    options: &FromText,
    stdin: Option<&str>,
    out: &mut Output,
    mut act: impl FnMut(&Document, Object, &mut Output) -> Result<(), String>,
) {
    let reading = manifest::read(stdin.unwrap_or(""));
    if reading.documents.is_empty() && reading.refusals.is_empty() {
        return out.fail(format!("error: no objects passed to {verb}"));
    }
    let mut errors = Vec::new();
    for document in reading.documents.iter().filter(|document| options.selects(document)) {
        let object = in_namespace(document, options.namespace.as_ref());
        errors.extend(object.and_then(|object| act(document, object, out)).err());
    }
    for error in errors.iter().chain(&reading.refusals) {
        out.fail(error);
    }
}

impl FromText {
    /// How it is said.
    pub fn shown(&self) -> Shown {
        Shown { format: self.format.clone(), dry_run: self.dry_run, local: false }
    }

    /// Whether `-l` selects the document.
    pub fn selects(&self, document: &Document) -> bool {
        let labels = &document.object.meta().labels;
        self.selector.as_ref().is_none_or(|selector| selector.matches(labels))
    }
}

/// `create KIND NAME` and `run NAME`.
pub fn generated(generated: &Generated, api: &mut dyn Api, out: &mut Output) {
    for (kind, value) in &generated.objects {
        let mut value = value.clone();
        if let Some(from) = &generated.from
            && let Err(error) = take_template(from, &mut value, api)
        {
            return out.fail(error);
        }
        let mut making = Making::new("created", "default", &generated.shown);
        making.plain = generated.plain;
        make(*kind, &value, &making, api, out);
    }
}

/// How an object is made.
pub struct Making<'m> {
    /// What is said of it: `created`.
    words: &'m str,
    /// Its namespace, if its value names none.
    namespace: &'m str,
    shown: &'m Shown,
    /// Whether an error of the server is told as it is, or with the kind.
    plain: bool,
}

impl<'m> Making<'m> {
    /// With errors as they are.
    pub fn new(words: &'m str, namespace: &'m str, shown: &'m Shown) -> Making<'m> {
        Making { words, namespace, shown, plain: true }
    }
}

/// Creates an object from a value with the empty fields that kubectl prints; says so.
pub fn make(kind: Kind, value: &Value, making: &Making<'_>, api: &mut dyn Api, out: &mut Output) {
    let Making { words, namespace, shown, plain } = *making;
    let info = kind.info();
    let mut object = match Object::from_value(kind, bare(value)) {
        Ok(object) => object,
        Err(error) => return out.fail(format!("error: {error}")),
    };
    if info.namespaced && object.meta().namespace.is_empty() {
        object.meta_mut().namespace = namespace.into();
    }
    let answer = match shown.dry_run {
        DryRun::Client => {
            if matches!(shown.format, Format::Table | Format::Wide | Format::Name) {
                return show::sentence(&printed(&object), words, shown, out);
            }
            let mut value = value.clone();
            value["apiVersion"] = info.api_version.into();
            value["kind"] = info.kind.into();
            return show::value(&value, &shown.format, out);
        }
        DryRun::Server => api.dry_run(&Request::Create(Arc::new(object))),
        DryRun::No => api.request(Request::Create(Arc::new(object))),
    };
    match answer {
        Ok(created) => show::done(&created, words, shown, out),
        Err(error) if plain || error.reason == Reason::Invalid => {
            out.fail(refused(&error, None));
        }
        Err(error) => {
            let kind = info.kind.to_ascii_lowercase();
            out.fail(format!("error: failed to create {kind}: {}", error.message));
        }
    }
}

/// `create job --from=cronjob/name`: the CronJob's template, and who made it.
fn take_template(from: &ObjectKey, job: &mut Value, api: &dyn Api) -> Result<(), String> {
    let Some(cron_job) = api.get(from) else {
        return Err(not_found(&resource(from.kind), &from.name));
    };
    let value = cron_job.to_value();
    let template = value.pointer("/spec/jobTemplate").cloned().unwrap_or_default();
    let mut metadata = template.get("metadata").cloned().unwrap_or(json!({}));
    metadata["name"] = job["metadata"]["name"].clone();
    metadata["namespace"] = (*from.namespace).into();
    metadata["annotations"]["cronjob.kubernetes.io/instantiate"] = "manual".into();
    metadata["ownerReferences"] =
        json!([OwnerReference::controller_of(from.kind, cron_job.meta())]);
    job["metadata"] = metadata;
    job["spec"] = template.get("spec").cloned().unwrap_or_default();
    Ok(())
}
