//! `kubectl delete`.

use std::sync::Arc;

use crate::api::{Kind, Object};
use crate::apiserver::{DeleteOptions, Preconditions, Request};
use crate::manifest;

use super::command::{Delete, DryRun, Select};
use super::errors::{not_found, refused};
use super::resources::{find, resource};
use super::{Api, Output};

const FORCED: &str = "Warning: Immediate deletion does not wait for confirmation that the running \
                      resource has been terminated. The resource may continue to run on the \
                      cluster indefinitely.";

/// Deletes what is named on the line or in the text.
pub fn run(
    select: &Select,
    options: &Delete,
    stdin: Option<&str>,
    api: &mut dyn Api,
    out: &mut Output,
) {
    let mut doomed: Vec<Arc<Object>> = Vec::new();
    let mut missing = Vec::new();
    for found in find(select, api) {
        doomed.extend(found.objects);
        missing.extend(found.missing);
    }
    if select.from_text {
        from_text(select, stdin, api, &mut doomed, &mut missing);
    }
    if options.force && !doomed.is_empty() {
        out.line(FORCED);
    }
    for object in &doomed {
        one(object, options, api, out);
    }
    if !options.ignore_not_found {
        for line in &missing {
            out.fail(line);
        }
    }
    if doomed.is_empty() && missing.is_empty() {
        out.line("No resources found");
    }
}

fn from_text(
    select: &Select,
    stdin: Option<&str>,
    api: &dyn Api,
    doomed: &mut Vec<Arc<Object>>,
    missing: &mut Vec<String>,
) {
    let reading = manifest::read(stdin.unwrap_or(""));
    for document in &reading.documents {
        let mut key = document.object.key();
        let written = document.value.pointer("/metadata/namespace").is_some();
        let given = select.namespace.as_ref().filter(|_| select.namespace_given && !written);
        if let Some(namespace) = given.filter(|_| key.kind.info().namespaced) {
            key.namespace = namespace.clone();
        }
        match api.get(&key) {
            Some(object) => doomed.push(object),
            None => {
                let name = &document.object.meta().name;
                let line = not_found(&resource(document.object.kind()), name);
                missing.push(
                    line.replace("(NotFound): ", "(NotFound): error when deleting \"STDIN\": "),
                );
            }
        }
    }
    missing.extend(reading.refusals);
}

fn one(object: &Arc<Object>, options: &Delete, api: &mut dyn Api, out: &mut Output) {
    let (key, kind) = (object.key(), object.kind());
    // A forced deletion is forced for pods; other kinds know no grace.
    let asked = DeleteOptions {
        grace_period_seconds: options.grace_period.filter(|_| kind == Kind::Pod),
        propagation: options.cascade,
        preconditions: Preconditions::default(),
    };
    let request = Request::Delete(key.clone(), asked);
    let answer = match options.dry_run {
        DryRun::Client => Ok(object.clone()),
        DryRun::Server => api.dry_run(&request),
        DryRun::No => api.request(request),
    };
    if let Err(error) = answer {
        let ignored = options.ignore_not_found && error.is_not_found();
        if !ignored {
            out.fail(refused(&error, None));
        }
        return;
    }
    if options.name_only {
        out.line(format!("{}/{}", kind.printed(), key.name));
        return;
    }
    let operation = if options.force { "force deleted" } else { "deleted" };
    let place = match &*key.namespace {
        "" => String::new(),
        namespace => format!(" from {namespace} namespace"),
    };
    let suffix = options.dry_run.suffix();
    out.line(format!("{} {:?} {operation}{place}{suffix}", kind.printed(), &*key.name));
}
