//! Deletion that takes time: grace periods and finalizers, through the API server and the function
//! that it asks.

use std::sync::Arc;

use loopscope::api::{Kind, Object, ObjectKey, ObjectMeta, Timestamp};
use loopscope::apiserver::deletion::{before_delete, mark_deleting};
use loopscope::apiserver::{ApiServer, DeleteOptions, Part, Request};
use loopscope::kernel::Time;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Outcome, compare, given};

const NOW: Timestamp = Timestamp(1_800_000_000);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", tag = "check", deny_unknown_fields)]
enum Given {
    #[serde(rename_all = "camelCase")]
    BeforeDelete {
        object: Marked,
        delete_options: Option<Asked>,
    },
    #[serde(rename_all = "camelCase")]
    PodGracePeriod {
        pod: PodGiven,
        delete_options: Option<Asked>,
    },
    MarkDeleting {
        object: Marked,
    },
    #[serde(rename_all = "camelCase")]
    FinalizerSequence {
        object: Held,
        resource_supports_graceful_deletion: bool,
        delete_options: Option<Asked>,
    },
    #[serde(rename_all = "camelCase")]
    ValidateFinalizerUpdate {
        deleting: bool,
        finalizers_before: Vec<String>,
        finalizers_after: Vec<String>,
    },
    ValidateFinalizers {
        finalizers: Vec<String>,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Marked {
    deletion_timestamp_seconds_from_now: Option<i64>,
    deletion_grace_period_seconds: Option<i64>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Asked {
    grace_period_seconds: Option<i64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PodGiven {
    #[serde(default)]
    node_name: String,
    #[serde(default)]
    phase: String,
    termination_grace_period_seconds: Option<i64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Held {
    finalizers: Vec<String>,
    #[serde(rename = "generation")]
    _generation: i64,
}

pub fn check(case: &Value, expect: &Value) -> Outcome {
    let got = match given(case) {
        Ok(Given::BeforeDelete { object, delete_options }) => {
            repeated(&object, delete_options.unwrap_or_default())
        }
        Ok(Given::PodGracePeriod { pod, delete_options }) => {
            first(&pod, delete_options.unwrap_or_default())
        }
        Ok(Given::MarkDeleting { object }) => {
            let mut meta = object.meta();
            mark_deleting(&mut meta, NOW);
            of_meta(&meta)
        }
        Ok(Given::FinalizerSequence {
            object,
            resource_supports_graceful_deletion,
            delete_options,
        }) => {
            let kind = match resource_supports_graceful_deletion {
                true => Kind::Pod,
                false => Kind::ReplicaSet,
            };
            sequence(kind, &object.finalizers, delete_options.unwrap_or_default())
        }
        Ok(Given::ValidateFinalizerUpdate { deleting, finalizers_before, finalizers_after }) => {
            return error(expect, update(deleting, &finalizers_before, &finalizers_after));
        }
        Ok(Given::ValidateFinalizers { finalizers }) => {
            return error(expect, create(&finalizers));
        }
        Err(outcome) => return outcome,
    };
    compare(expect, &got)
}

impl Marked {
    fn meta(&self) -> ObjectMeta {
        let at = self.deletion_timestamp_seconds_from_now;
        ObjectMeta {
            deletion_timestamp: at.map(|seconds| Timestamp(NOW.0 + seconds)),
            deletion_grace_period_seconds: self.deletion_grace_period_seconds,
            ..ObjectMeta::default()
        }
    }
}

fn of_meta(meta: &ObjectMeta) -> Value {
    json!({
        "deletionTimestampSecondsFromNow": meta.deletion_timestamp.map(|at| at.0 - NOW.0),
        "deletionGracePeriodSeconds": meta.deletion_grace_period_seconds,
    })
}

fn read(kind: Kind, value: Value) -> Object {
    Object::from_value(kind, value).expect("an object")
}

fn repeated(object: &Marked, asked: Asked) -> Value {
    let mut pod = read(Kind::Pod, json!({"spec": {"nodeName": "node-1"}}));
    *pod.meta_mut() = object.meta();
    let grace = before_delete(&mut pod, asked.grace_period_seconds, NOW);
    let mut got = of_meta(pod.meta());
    got["graceful"] = json!(grace.graceful);
    got["gracefulPending"] = json!(grace.pending);
    got["effectiveGracePeriodSeconds"] = json!(grace.period);
    got
}

fn first(pod: &PodGiven, asked: Asked) -> Value {
    let mut spec = json!({"terminationGracePeriodSeconds": pod.termination_grace_period_seconds});
    let mut status = json!({});
    if !pod.node_name.is_empty() {
        spec["nodeName"] = json!(pod.node_name);
    }
    if !pod.phase.is_empty() {
        status["phase"] = json!(pod.phase);
    }
    let mut pod = read(Kind::Pod, json!({"spec": spec, "status": status}));
    let grace = before_delete(&mut pod, asked.grace_period_seconds, NOW);
    json!({"effectiveGracePeriodSeconds": grace.period})
}

/// An object that the API server takes.
pub fn valid(kind: Kind, finalizers: &[String]) -> Object {
    let labels = json!({"app": "a"});
    let pod = json!({"containers": [{"name": "c", "image": "a:1"}]});
    let template = json!({"metadata": {"labels": labels}, "spec": pod});
    let spec = match kind {
        Kind::Pod => pod,
        Kind::ReplicationController => json!({"selector": labels, "template": template}),
        _ => json!({"selector": {"matchLabels": labels}, "template": template}),
    };
    let meta = json!({"name": "foo", "namespace": "default", "finalizers": finalizers});
    read(kind, json!({"metadata": meta, "spec": spec}))
}

fn sequence(kind: Kind, finalizers: &[String], asked: Asked) -> Value {
    let (mut server, now) = (ApiServer::new(1), Time::from_secs(10));
    let stored = server.handle(&Request::Create(Arc::new(valid(kind, finalizers))), now);
    let stored = stored.expect("it is valid");
    let key = stored.key();
    let options =
        DeleteOptions { grace_period_seconds: asked.grace_period_seconds, ..Default::default() };
    let deleted = server.handle(&Request::Delete(key.clone(), options), now).is_ok();
    let held = server.store().get(&key).cloned();
    let meta = held.as_ref().map(|object| object.meta());
    let after_delete = json!({
        "objectExists": held.is_some(),
        "deletedFlag": deleted && held.is_none(),
        "deletionTimestampSet": meta.is_some_and(ObjectMeta::is_terminating),
        "deletionGracePeriodSeconds": meta.and_then(|m| m.deletion_grace_period_seconds),
        "generationIncreased": meta.is_some_and(|m| m.generation > stored.meta().generation),
    });
    let keeping = written(&mut server, &key, |meta| {
        meta.labels.insert("touched".into(), "yes".into());
    });
    let removing = written(&mut server, &key, |meta| meta.finalizers.clear());
    json!({
        "afterDelete": after_delete,
        "afterUpdateKeepingFinalizer": {"objectExists": keeping},
        "afterUpdateRemovingFinalizer": {"objectExists": removing},
    })
}

/// Whether the object is there after a write.
fn written(server: &mut ApiServer, key: &ObjectKey, change: fn(&mut ObjectMeta)) -> bool {
    let Some(stored) = server.store().get(key) else { return false };
    let mut object = Object::clone(stored);
    change(object.meta_mut());
    let request = Request::Update(Part::Main, Arc::new(object));
    server.handle(&request, Time::from_secs(20)).expect("it is valid");
    server.store().get(key).is_some()
}

fn create(finalizers: &[String]) -> Option<String> {
    let request = Request::Create(Arc::new(valid(Kind::ReplicaSet, finalizers)));
    ApiServer::new(1).handle(&request, Time::ZERO).err().map(|error| error.message)
}

/// A pod with its node, which stays for a while whatever its finalizers are.
fn update(deleting: bool, before: &[String], after: &[String]) -> Option<String> {
    let (mut server, now) = (ApiServer::new(1), Time::ZERO);
    let mut value = valid(Kind::Pod, before).to_value();
    value["spec"]["nodeName"] = json!("node-1");
    let object = read(Kind::Pod, value);
    let key = object.key();
    server.handle(&Request::Create(Arc::new(object)), now).expect("it is valid");
    if deleting {
        let request = Request::Delete(key.clone(), DeleteOptions::default());
        server.handle(&request, now).expect("it is there");
    }
    let mut object = Object::clone(server.store().get(&key).expect("it is there"));
    object.meta_mut().finalizers = after.iter().map(|name| name.as_str().into()).collect();
    let request = Request::Update(Part::Main, Arc::new(object));
    server.handle(&request, now).err().map(|error| error.message)
}

/// `error`, and `errorContains`: a part of the text, or none.
pub fn error(expect: &Value, got: Option<String>) -> Outcome {
    let agrees = expect["error"].as_bool().is_none_or(|error| error == got.is_some())
        && match (expect["errorContains"].as_str(), &got) {
            (Some(part), Some(text)) => text.contains(part),
            (Some(_), None) => false,
            (None, _) => true,
        };
    if agrees { Outcome::Passed } else { Outcome::Failed(format!("got {got:?}")) }
}
