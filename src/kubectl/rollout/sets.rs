//! `kubectl rollout` for StatefulSets and DaemonSets, whose revisions are ControllerRevisions.

use std::sync::Arc;

use serde_json::from_value;

use crate::api::{Kind, Object, PodTemplateSpec, Value};

use super::super::command::RolloutAction;
use super::super::resources::printed;
use super::super::{Api, Output};
use super::{revision_table, roll_back, template_text, unsupported};

/// Carries out `history` or `undo`.
pub fn run(
    object: &Arc<Object>,
    action: RolloutAction,
    api: &mut dyn Api,
    out: &mut Output,
) -> Result<(), String> {
    let value = object.to_value();
    match action {
        RolloutAction::History(revision) => history(object, revision, api, out),
        RolloutAction::Undo(revision, dry_run) => {
            let found = revisions(object, api);
            let target = match revision {
                0 => found.len().checked_sub(2).and_then(|at| found.get(at)),
                _ => found.iter().find(|(number, _)| *number == revision),
            };
            let Some((_, target)) = target else {
                return Err(match revision {
                    0 => "error: no last revision to roll back to".into(),
                    _ => "error: unable to find specified revision in history".into(),
                });
            };
            let template = template(target);
            if value.pointer("/spec/template") == Some(&template) {
                out.line(format!(
                    "{} skipped rollback (current template already matches revision {revision})",
                    printed(object)
                ));
                return Ok(());
            }
            roll_back(object, dry_run, api, out, &mut |value| {
                value["spec"]["template"] = template.clone();
            })
        }
        _ => Err(unsupported(object, action)),
    }
}

fn number(value: &Value, pointer: &str) -> i64 {
    value.pointer(pointer).and_then(Value::as_i64).unwrap_or(0)
}

fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or("")
}

/// How far a rollout has come, and whether that is its end.
pub fn status(object: &Object) -> Result<(String, bool), String> {
    let value = &object.to_value();
    let strategy = text(value, "/spec/updateStrategy/type");
    if !matches!(strategy, "" | "RollingUpdate") {
        let message = "error: rollout status is only available for RollingUpdate strategy type";
        return Err(message.into());
    }
    let observed = number(value, "/status/observedGeneration");
    let seen = observed >= object.meta().generation && observed > 0;
    let name = &*object.meta().name;
    Ok(match object.kind() {
        Kind::DaemonSet if !seen => {
            ("Waiting for daemon set spec update to be observed...".into(), false)
        }
        Kind::DaemonSet => daemon_set(name, value),
        _ if !seen => ("Waiting for statefulset spec update to be observed...".into(), false),
        _ => stateful_set(value),
    })
}

fn daemon_set(name: &str, value: &Value) -> (String, bool) {
    let count = |field: &str| number(value, &format!("/status/{field}"));
    let wanted = count("desiredNumberScheduled");
    let updated = count("updatedNumberScheduled");
    let available = count("numberAvailable");
    let waits = |what: String| {
        (format!("Waiting for daemon set {name:?} rollout to finish: {what}..."), false)
    };
    if updated < wanted {
        waits(format!("{updated} out of {wanted} new pods have been updated"))
    } else if available < wanted {
        waits(format!("{available} of {wanted} updated pods are available"))
    } else {
        (format!("daemon set {name:?} successfully rolled out"), true)
    }
}

fn stateful_set(value: &Value) -> (String, bool) {
    let count = |field: &str| number(value, &format!("/status/{field}"));
    let wanted = value.pointer("/spec/replicas").and_then(Value::as_i64).unwrap_or(1);
    let (ready, updated) = (count("readyReplicas"), count("updatedReplicas"));
    if ready < wanted {
        return (format!("Waiting for {} pods to be ready...", wanted - ready), false);
    }
    let partition = value.pointer("/spec/updateStrategy/rollingUpdate/partition");
    if let Some(partition) = partition.and_then(Value::as_i64) {
        let due = wanted - partition;
        let done = updated >= due;
        let text = match done {
            false => format!(
                "Waiting for partitioned roll out to finish: {updated} out of {due} new pods have \
                 been updated..."
            ),
            true => {
                format!("partitioned roll out complete: {updated} new pods have been updated...")
            }
        };
        return (text, done);
    }
    let (current, update) =
        (text(value, "/status/currentRevision"), text(value, "/status/updateRevision"));
    let done = current == update;
    let text = match done {
        true => format!(
            "statefulset rolling update complete {} pods at revision {current}...",
            count("currentReplicas")
        ),
        false => format!(
            "waiting for statefulset rolling update to complete {updated} pods at revision \
             {update}..."
        ),
    };
    (text, done)
}

/// The object's revisions, the oldest first.
fn revisions(object: &Object, api: &dyn Api) -> Vec<(i64, Arc<Object>)> {
    let meta = object.meta();
    let all = api.list(Kind::ControllerRevision, Some(&meta.namespace));
    let own = all.into_iter().filter(|revision| revision.meta().is_controlled_by(&meta.uid));
    let numbered = own.map(|revision| (number(&revision.to_value(), "/revision"), revision));
    let mut found: Vec<(i64, Arc<Object>)> = numbered.collect();
    found.sort_by_key(|(number, _)| *number);
    found
}

/// The template that a revision holds, without the directive of its patch.
fn template(revision: &Object) -> Value {
    let value = revision.to_value();
    let mut template = value.pointer("/data/spec/template").cloned().unwrap_or_default();
    if let Some(fields) = template.as_object_mut() {
        fields.remove("$patch");
    }
    template
}

fn history(object: &Object, revision: i64, api: &dyn Api, out: &mut Output) -> Result<(), String> {
    let found = revisions(object, api);
    let name = printed(object);
    if revision > 0 {
        let found = found.iter().find(|(number, _)| *number == revision);
        let (_, found) = found.ok_or("error: unable to find the specified revision")?;
        out.line(format!("{name} with revision #{revision}"));
        let template: PodTemplateSpec = from_value(template(found)).unwrap_or_default();
        out.text.push_str(&template_text(&template));
        return Ok(());
    }
    revision_table(&name, &found, out);
    Ok(())
}
