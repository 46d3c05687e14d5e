//! `kubectl rollout` (`pkg/polymorphichelpers`). `status` says how things stand now; how it goes on
//! is told in `follow`.

mod sets;

use std::sync::Arc;

use serde_json::json;

use crate::api::{Condition, Deployment, Kind, Object, PodTemplateSpec, ReplicaSet, Value};
use crate::apiserver::{Part, Request};

use super::change::{self, Words};
use super::command::{DryRun, RolloutAction, Select, Shown};
use super::describe::sheet::Sheet;
use super::describe::template::template as describe_template;
use super::errors::refused;
use super::resources::{group_kind, printed, resource};
use super::update::each;
use super::{Api, Output, apply::LAST_APPLIED};

const REVISION: &str = "deployment.kubernetes.io/revision";
const HASH_LABEL: &str = "pod-template-hash";
/// Annotations that a rollback leaves as they are.
const KEPT: [&str; 5] = [
    LAST_APPLIED,
    REVISION,
    "deployment.kubernetes.io/revision-history",
    "deployment.kubernetes.io/desired-replicas",
    "deployment.kubernetes.io/max-replicas",
];

/// Carries out a rollout command on each object.
pub fn run(select: &Select, action: &RolloutAction, api: &mut dyn Api, out: &mut Output) {
    each(select, api, out, |object, api, out| {
        if *action == RolloutAction::Restart && restarts(object.kind()) {
            return restart(object, api, out);
        }
        if let RolloutAction::Status(revision, _) = *action {
            out.line(status_of(object, revision)?.0);
            return Ok(());
        }
        let Object::Deployment(deployment) = &**object else {
            return match object.kind() {
                Kind::DaemonSet | Kind::StatefulSet => sets::run(object, *action, api, out),
                _ => Err(unsupported(object, *action)),
            };
        };
        match action {
            RolloutAction::Status(..) => Err(unsupported(object, *action)),
            RolloutAction::History(revision) => history(deployment, object, *revision, api, out),
            RolloutAction::Undo(revision, dry_run) => {
                undo(deployment, object, (*revision, *dry_run), api, out)
            }
            RolloutAction::Pause => pause(deployment, object, true, api, out),
            RolloutAction::Resume => pause(deployment, object, false, api, out),
            RolloutAction::Restart => Err(unsupported(object, *action)),
        }
    });
}

fn restarts(kind: Kind) -> bool {
    matches!(kind, Kind::Deployment | Kind::DaemonSet | Kind::StatefulSet)
}

fn unsupported(object: &Object, action: RolloutAction) -> String {
    let kind = object.kind();
    let (name, plural) = (&*object.meta().name, resource(kind));
    let word = match action {
        RolloutAction::Status(..) => {
            return format!(
                "error: no status viewer has been implemented for {}",
                group_kind(kind)
            );
        }
        RolloutAction::History(_) => {
            return format!(
                "error: no history viewer has been implemented for {:?}",
                group_kind(kind)
            );
        }
        RolloutAction::Undo(..) => {
            return format!("error: no rollbacker has been implemented for {:?}", group_kind(kind));
        }
        RolloutAction::Pause => "pausing",
        RolloutAction::Resume => "resuming",
        RolloutAction::Restart => "restarting",
    };
    format!("error: {plural} {name:?} {word} is not supported")
}

fn revision_of(annotations: &crate::api::StrMap) -> i64 {
    annotations.get(REVISION).and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// How far a rollout has come, and whether that is its end.
pub fn status_of(object: &Object, revision: i64) -> Result<(String, bool), String> {
    match object {
        Object::Deployment(deployment) => status(deployment, revision),
        _ if matches!(object.kind(), Kind::DaemonSet | Kind::StatefulSet) => sets::status(object),
        _ => Err(unsupported(object, RolloutAction::Status(revision, None))),
    }
}

fn status(deployment: &Deployment, revision: i64) -> Result<(String, bool), String> {
    let (meta, spec, status) = (&deployment.metadata, &deployment.spec, &deployment.status);
    let running = revision_of(&meta.annotations);
    if revision > 0 && revision != running {
        return Err(format!(
            "error: desired revision ({revision}) is different from the running revision \
             ({running})"
        ));
    }
    if meta.generation > status.observed_generation {
        return Ok(("Waiting for deployment spec update to be observed...".into(), false));
    }
    let progressing = Condition::find(&status.conditions, "Progressing");
    let late = progressing.and_then(|condition| condition.reason.as_deref());
    let name = &meta.name;
    if late == Some("ProgressDeadlineExceeded") {
        return Err(format!("error: deployment {name:?} exceeded its progress deadline"));
    }
    let (updated, wanted) = (status.updated_replicas, spec.replicas());
    let waits = |what: String| {
        (format!("Waiting for deployment {name:?} rollout to finish: {what}..."), false)
    };
    Ok(if updated < wanted {
        waits(format!("{updated} out of {wanted} new replicas have been updated"))
    } else if status.replicas > updated {
        let old = status.replicas - updated;
        waits(format!("{old} old replicas are pending termination"))
    } else if status.available_replicas < updated {
        let available = status.available_replicas;
        waits(format!("{available} of {updated} updated replicas are available"))
    } else {
        (format!("deployment {name:?} successfully rolled out"), true)
    })
}

/// The Deployment's ReplicaSets that have a revision, the oldest revision first.
fn revisions(object: &Object, api: &dyn Api) -> Vec<(i64, Arc<Object>)> {
    let meta = object.meta();
    let sets = api.list(Kind::ReplicaSet, Some(&meta.namespace));
    let own = sets.into_iter().filter(|set| set.meta().is_controlled_by(&meta.uid));
    let numbered = own.map(|set| (revision_of(&set.meta().annotations), set));
    let mut found: Vec<(i64, Arc<Object>)> = numbered.filter(|(number, _)| *number > 0).collect();
    found.sort_by_key(|(number, _)| *number);
    found
}

fn history(
    deployment: &Deployment,
    object: &Object,
    revision: i64,
    api: &dyn Api,
    out: &mut Output,
) -> Result<(), String> {
    let found = revisions(object, api);
    let name = format!("deployment.apps/{}", deployment.metadata.name);
    if revision > 0 {
        let set = found.iter().find(|(number, _)| *number == revision);
        let set = set.and_then(|(_, set)| set.as_replica_set());
        let set = set.ok_or("error: unable to find the specified revision")?;
        out.line(format!("{name} with revision #{revision}"));
        out.text.push_str(&template_text(&set.spec.template));
        return Ok(());
    }
    revision_table(&name, &found, out);
    Ok(())
}

/// A template as `history --revision` prints it: as `describe` does, its tabs left as they are.
fn template_text(template: &PodTemplateSpec) -> String {
    let mut sheet = Sheet::default();
    describe_template(template, &mut sheet);
    sheet.raw()
}

/// The revisions, in columns two blanks apart, unlike other tables.
fn revision_table(name: &str, found: &[(i64, Arc<Object>)], out: &mut Output) {
    if found.is_empty() {
        return out.line(format!("{name} \nNo rollout history found."));
    }
    out.line(format!("{name} "));
    out.line("REVISION  CHANGE-CAUSE");
    for (number, set) in found {
        let cause = set.meta().annotations.get("kubernetes.io/change-cause");
        out.line(format!("{number:<10}{}", cause.map_or("<none>", |cause| &**cause)));
    }
}

/// A template without the label that tells its pods apart.
fn bare(template: &PodTemplateSpec) -> PodTemplateSpec {
    let mut bare = template.clone();
    bare.metadata.labels.remove(HASH_LABEL);
    bare
}

/// Whether a ReplicaSet with this template is the one that a Deployment wants.
pub fn is_template_of(template: &PodTemplateSpec, deployment: &Deployment) -> bool {
    bare(template) == bare(&deployment.spec.template)
}

fn undo(
    deployment: &Deployment,
    object: &Arc<Object>,
    (revision, dry_run): (i64, DryRun),
    api: &mut dyn Api,
    out: &mut Output,
) -> Result<(), String> {
    let found = revisions(object, api);
    let target = match revision {
        0 => found.len().checked_sub(2).and_then(|at| found.get(at)),
        _ => found.iter().find(|(number, _)| *number == revision),
    };
    let Some(set) = target.and_then(|(_, set)| set.as_replica_set()) else {
        return Err(match revision {
            0 => format!(
                "error: no rollout history found for deployment {:?}",
                &*deployment.metadata.name
            ),
            _ => format!("error: unable to find specified revision {revision} in history"),
        });
    };
    if deployment.spec.paused {
        return Err(
            "error: you cannot rollback a paused deployment; resume it first with 'kubectl \
                    rollout resume' and try again"
                .into(),
        );
    }
    let name = printed(object);
    if bare(&set.spec.template) == bare(&deployment.spec.template) {
        let words =
            format!("skipped rollback (current template already matches revision {revision})");
        out.line(format!("{name} {words}"));
        return Ok(());
    }
    roll_back(object, dry_run, api, out, &mut |value| *value = rolled_back(value, set))
}

fn roll_back(
    object: &Arc<Object>,
    dry_run: DryRun,
    api: &mut dyn Api,
    out: &mut Output,
    edit: &mut dyn FnMut(&mut Value),
) -> Result<(), String> {
    let shown = Shown { dry_run, ..Shown::default() };
    change::one(object, Part::Main, &shown, api, out, &mut |_, value, _| {
        edit(value);
        Ok(Words::always("rolled back"))
    })
}

/// The Deployment with the template and the annotations of an old ReplicaSet.
fn rolled_back(deployment: &Value, set: &ReplicaSet) -> Value {
    let mut after = deployment.clone();
    let template = serde_json::to_value(bare(&set.spec.template)).unwrap_or_default();
    after["spec"]["template"] = template;
    let old = deployment.pointer("/metadata/annotations").and_then(Value::as_object);
    let kept = |key: &str| KEPT.contains(&key);
    let mut annotations: serde_json::Map<String, Value> = old.cloned().unwrap_or_default();
    annotations.retain(|key, _| kept(key));
    for (key, value) in &set.metadata.annotations {
        if !kept(key) {
            annotations.insert(key.to_string(), (**value).into());
        }
    }
    after["metadata"]["annotations"] = Value::Object(annotations);
    after
}

fn pause(
    deployment: &Deployment,
    object: &Object,
    paused: bool,
    api: &mut dyn Api,
    out: &mut Output,
) -> Result<(), String> {
    let (name, plural) = (&deployment.metadata.name, resource(Kind::Deployment));
    if deployment.spec.paused == paused {
        let words = if paused { "is already paused" } else { "is not paused" };
        return Err(format!("error: {plural} {:?} {words}", &**name));
    }
    let wanted = if paused { json!(true) } else { json!(null) };
    let patch = json!({"spec": {"paused": wanted}});
    let request = Request::Patch(Part::Main, object.key(), patch);
    api.request(request).map_err(|error| refused(&error, None))?;
    let word = if paused { "paused" } else { "resumed" };
    out.line(format!("{} {word}", printed(object)));
    Ok(())
}

fn restart(object: &Object, api: &mut dyn Api, out: &mut Output) -> Result<(), String> {
    let (name, plural) = (&object.meta().name, resource(object.kind()));
    if object.as_deployment().is_some_and(|deployment| deployment.spec.paused) {
        return Err(format!(
            "error: {plural} {:?} can't restart paused deployment (run rollout resume first)",
            &**name
        ));
    }
    let at = api.now().to_string();
    let annotation = "kubectl.kubernetes.io/restartedAt";
    let value = object.to_value();
    let before = value.pointer("/spec/template/metadata/annotations");
    let before = before.and_then(|annotations| annotations.get(annotation)?.as_str());
    if before == Some(&at) {
        return Err(format!(
            "error: failed to create patch for {name}: if restart has already been triggered \
             within the past second, please wait before attempting to trigger another"
        ));
    }
    let annotations = json!({ annotation: at });
    let patch = json!({"spec": {"template": {"metadata": {"annotations": annotations}}}});
    let request = Request::Patch(Part::Main, object.key(), patch);
    api.request(request).map_err(|error| refused(&error, None))?;
    out.line(format!("{} restarted", printed(object)));
    Ok(())
}
