//! What the API server answers to create, update and delete, put to a whole server; and the rules
//! of metadata and defaults, put to the functions that it uses.

use std::sync::Arc;

use loopscope::api::{Kind, Object, ObjectKey, ObjectMeta, OwnerReference, Str, Value};
use loopscope::apiserver::{
    ApiError, ApiServer, DeleteOptions, Part, Preconditions, Request, Response, defaults,
    free_name, validation,
};
use loopscope::kernel::Time;
use serde_json::{Map, from_value, json};

use super::by_check::{Answer, by_check, take, text};
use crate::{Outcome, compare};

const NOW: Time = Time::ZERO;

pub fn check(given: &Value, expect: &Value) -> Outcome {
    by_check(given, |check, given| match check {
        "request" => request(given, expect),
        "generateName" => generate_name(given, expect),
        "message" => message(given, expect),
        "validateUpdate" => validate_update(given, expect),
        "validateOwnerReferences" => owners(given, expect),
        "generation" => generation(given, expect),
        "statusWrite" => status_write(given, expect),
        "selectorChange" => selector_change(given, expect),
        "deploymentDefaults" => deployment_defaults(given, expect),
        other => Err(format!("no check {other}")),
    })
}

fn map(given: &mut Map<String, Value>, key: &str) -> Map<String, Value> {
    take(given, key).as_object().cloned().unwrap_or_default()
}

fn object(kind: Kind, value: Value) -> Result<Object, String> {
    Object::from_value(kind, value).map_err(|error| error.to_string())
}

fn failure(error: &ApiError) -> Value {
    let (code, reason) = (error.reason.code(), error.reason.word());
    json!({"code": code, "reason": reason, "message": error.message})
}

/// Compares an answer; a part of the message is looked for in it.
fn answered(expect: &Value, got: &Value) -> Outcome {
    let mut expect = expect.as_object().cloned().unwrap_or_default();
    if let Some(Value::String(words)) = expect.remove("messageContains")
        && !got["message"].as_str().is_some_and(|message| message.contains(&words))
    {
        return Outcome::Failed(format!("expected {words:?} in {got}"));
    }
    compare(&Value::Object(expect), got)
}

/// Stores an object that has the properties that a case asks for.
fn existing(server: &mut ApiServer, kind: Kind, given: Value) -> Result<Arc<Object>, String> {
    let mut given = given.as_object().cloned().unwrap_or_default();
    let name = text(&mut given, "name");
    let namespace = match text(&mut given, "namespace").as_str() {
        "" => "test".to_string(),
        namespace => namespace.to_string(),
    };
    let finalizers = take(&mut given, "finalizers");
    let terminating = take(&mut given, "deletionTimestampSet") == true;
    if !given.is_empty() {
        return Err(format!("unknown keys in existing: {given:?}"));
    }
    let mut value = json!({"metadata": {"name": name, "namespace": namespace}});
    if finalizers.is_array() {
        value["metadata"]["finalizers"] = finalizers;
    }
    if kind == Kind::Pod {
        value["spec"] = json!({"nodeName": "n", "containers": [{"name": "c", "image": "c"}]});
    }
    let create = Request::Create(Arc::new(object(kind, value)?));
    let stored = server.handle(&create, NOW).map_err(|error| error.message)?;
    if !terminating {
        return Ok(stored);
    }
    let delete = Request::Delete(stored.key(), DeleteOptions::default());
    server.handle(&delete, NOW).map_err(|error| error.message)
}

fn request(given: &mut Map<String, Value>, expect: &Value) -> Answer {
    let before = take(given, "existing");
    let creates = take(given, "typeAllowsCreateOnUpdate") == true;
    // A pod on a node is deleted gracefully; a Role may be made by an update.
    let kind = match before["deletionTimestampSet"] == true {
        true => Kind::Pod,
        false if creates => Kind::Role,
        false => Kind::ConfigMap,
    };
    let mut server = ApiServer::new(1);
    let stored = match before {
        Value::Null => None,
        before => Some(existing(&mut server, kind, before)?),
    };
    let mut asked = map(given, "request");
    let name = match text(&mut asked, "name") {
        name if name.is_empty() => stored.as_ref().map_or("foo".into(), |s| s.meta().name.clone()),
        name => name.as_str().into(),
    };
    let key = ObjectKey::new(kind, "test", name);
    let verb = text(&mut asked, "verb");
    let answer = match verb.as_str() {
        "delete" => {
            let options = delete_options(&mut asked, stored.as_ref())?;
            server.handle(&Request::Delete(key.clone(), options), NOW)
        }
        verb => write(&mut server, verb, &key, stored.as_ref(), &mut asked)?,
    };
    if !asked.is_empty() {
        return Err(format!("unknown keys in the request: {asked:?}"));
    }
    let got = match &answer {
        Err(error) => failure(error),
        Ok(after) => {
            let version = |object: &Arc<Object>| object.meta().resource_version;
            let created = match expect["created"].is_string() {
                true => json!(&*after.meta().name),
                false => json!(stored.is_none()),
            };
            json!({
                "created": created,
                "deletionTimestampSet": after.meta().is_terminating(),
                "updated": true,
                "objectGone": server.store().get(&key).is_none(),
                "resourceVersionChanged": stored.as_ref().map(version) != Some(version(after)),
                "returnsStoredObject": server.store().get(&key) == Some(after),
            })
        }
    };
    Ok(answered(expect, &got))
}

fn write(
    server: &mut ApiServer,
    verb: &str,
    key: &ObjectKey,
    stored: Option<&Arc<Object>>,
    asked: &mut Map<String, Value>,
) -> Result<Response, String> {
    let fresh = object(key.kind, json!({"metadata": {"name": &*key.name, "namespace": "test"}}))?;
    let unchanged = asked.contains_key("changes") && take(asked, "changes").is_null();
    let mut sent = match stored.filter(|_| verb == "update") {
        Some(stored) => Object::clone(stored),
        None => fresh,
    };
    if verb == "update" && !unchanged {
        sent.meta_mut().annotations.insert("changed".into(), "yes".into());
    }
    let current = stored.map_or(0, |stored| stored.meta().resource_version);
    let number: u64 = text(asked, "resourceVersion").parse().unwrap_or(0);
    sent.meta_mut().resource_version = match take(asked, "resourceVersionMatchesStored") {
        Value::Bool(true) => current,
        _ if number == current && number > 0 => number + 1,
        _ => number,
    };
    let uid = text(asked, "uid");
    sent.meta_mut().uid = uid.as_str().into();
    let sent = Arc::new(sent);
    Ok(match verb {
        "create" => server.handle(&Request::Create(sent), NOW),
        "update" => server.handle(&Request::Update(Part::Main, sent), NOW),
        other => return Err(format!("no verb {other}")),
    })
}

fn delete_options(
    asked: &mut Map<String, Value>,
    stored: Option<&Arc<Object>>,
) -> Result<DeleteOptions, String> {
    let mut given = map(asked, "preconditions");
    let meta = stored.map(|stored| stored.meta());
    let version = match take(&mut given, "resourceVersionMatchesStored") {
        Value::Bool(matches) => {
            let current = meta.map_or(0, |meta| meta.resource_version);
            Some(if matches { current } else { current + 7 })
        }
        _ => text(&mut given, "resourceVersion").parse().ok(),
    };
    let uid: Option<Str> = match take(&mut given, "uidMatchesStored") {
        Value::Bool(true) => meta.map(|meta| meta.uid.clone()),
        Value::Bool(false) => Some("another".into()),
        _ => take(&mut given, "uid").as_str().map(Str::from),
    };
    if !given.is_empty() {
        return Err(format!("unknown preconditions: {given:?}"));
    }
    Ok(DeleteOptions {
        grace_period_seconds: take(asked, "gracePeriodSeconds").as_i64(),
        preconditions: Preconditions { uid, resource_version: version },
        propagation: None,
    })
}

fn generate_name(given: &mut Map<String, Value>, expect: &Value) -> Answer {
    let prefix = text(given, "generateName");
    let numbers = |value: Value| -> Vec<Str> {
        let numbers = value.as_array().cloned().unwrap_or_default();
        numbers.iter().map(|number| format!("{prefix}{number}").into()).collect()
    };
    let taken = numbers(take(given, "takenSuffixes"));
    let candidates = numbers(take(given, "candidateSuffixesInOrder"));
    let got = match free_name(Kind::Pod, candidates, |name| taken.contains(name)) {
        Ok(name) => json!({"created": &*name}),
        Err(error) => failure(&error),
    };
    Ok(answered(expect, &got))
}

fn message(given: &mut Map<String, Value>, expect: &Value) -> Answer {
    let name = text(given, "name");
    let resource = text(given, "resource");
    let kind = Kind::of_argument(&resource);
    let error = text(given, "error");
    if error == "Expired" {
        return Ok(answered(expect, &failure(&ApiError::expired("expired"))));
    }
    let kind = kind.ok_or(format!("no resource {resource}"))?;
    let error = match error.as_str() {
        "Conflict" => ApiError::modified(kind, &name),
        "NotFound" => ApiError::not_found(kind, &name),
        "AlreadyExists" => ApiError::already_exists(kind, &name),
        other => return Err(format!("no error {other}")),
    };
    Ok(answered(expect, &failure(&error)))
}

fn validate_update(given: &mut Map<String, Value>, expect: &Value) -> Answer {
    let meta = |fields: Map<String, Value>| -> Result<ObjectMeta, String> {
        let mut value = json!({"name": "test", "resourceVersion": "1"});
        for (field, content) in fields.into_iter().filter(|(_, content)| !content.is_null()) {
            value[field] = content;
        }
        from_value(value).map_err(|error| error.to_string())
    };
    let (mut before, mut after) = (map(given, "metadataBefore"), map(given, "metadataAfter"));
    for field in ["generation", "creationTimestamp"] {
        before.insert(field.into(), take(given, &format!("{field}Before")));
        after.insert(field.into(), take(given, &format!("{field}After")));
    }
    let errors = validation::validate_metadata_update(&meta(before)?, &meta(after)?, "field");
    Ok(compare(expect, &json!({"errorCount": errors.len(), "errors": errors})))
}

fn owners(given: &mut Map<String, Value>, expect: &Value) -> Answer {
    let owners: Vec<OwnerReference> =
        from_value(take(given, "ownerReferences")).map_err(|error| error.to_string())?;
    let errors = validation::validate_owner_references(&owners, "field");
    let first = errors.first().map_or("", String::as_str);
    if let Some(words) = expect["errorContains"].as_str()
        && !first.contains(words)
    {
        return Ok(Outcome::Failed(format!("expected {words:?} in {errors:?}")));
    }
    match expect["error"] == !errors.is_empty() {
        true => Ok(Outcome::Passed),
        false => Ok(Outcome::Failed(format!("expected {expect}, got {errors:?}"))),
    }
}

/// An object of a kind that every rule lets pass.
fn sound(kind: Kind) -> Value {
    let labels = json!({"a": "b", "c": "d"});
    let pod = json!({"containers": [{"name": "c", "image": "c:1"}]});
    let template = json!({"metadata": {"labels": labels}, "spec": pod});
    let spec = match kind {
        Kind::Pod => pod,
        Kind::Job => json!({"template": {"spec":
            {"restartPolicy": "Never", "containers": [{"name": "c", "image": "c:1"}]}}}),
        Kind::ConfigMap => json!({}),
        _ => json!({"selector": {"matchLabels": {"a": "b"}}, "template": template}),
    };
    let mut metadata = json!({"name": "foo"});
    if kind.info().namespaced {
        metadata["namespace"] = "test".into();
    }
    json!({"metadata": metadata, "spec": spec})
}

fn kind_of(given: &mut Map<String, Value>) -> Result<Kind, String> {
    match text(given, "kind").as_str() {
        "" => Ok(Kind::Deployment),
        word => Kind::of_argument(word).ok_or(format!("no kind {word}")),
    }
}

/// Changes one field of an object; each number makes another change.
fn change(kind: Kind, field: &str, value: &mut Value, number: usize) -> Result<(), String> {
    let word = format!("changed-{number}");
    match field {
        "" => {}
        "spec" => match kind {
            Kind::Pod => value["spec"]["containers"][0]["image"] = format!("c:{word}").into(),
            Kind::DaemonSet => value["spec"]["minReadySeconds"] = number.into(),
            Kind::Job => value["spec"]["parallelism"] = number.into(),
            _ => value["spec"]["replicas"] = (number + 2).into(),
        },
        "spec.template" => {
            let images = &mut value["spec"]["template"]["spec"]["containers"][0]["image"];
            *images = format!("c:{word}").into();
        }
        "spec.replicas" => value["spec"]["replicas"] = (number + 2).into(),
        "metadata.annotations" => value["metadata"]["annotations"]["x"] = word.into(),
        "metadata.labels" => value["metadata"]["labels"]["x"] = word.into(),
        "status" => match kind {
            Kind::Pod => value["status"]["message"] = word.into(),
            _ => value["status"]["observedGeneration"] = number.into(),
        },
        other => return Err(format!("no field {other}")),
    }
    Ok(())
}

fn generation(given: &mut Map<String, Value>, expect: &Value) -> Answer {
    let kind = kind_of(given)?;
    let verb = text(given, "verb");
    let part = match text(given, "subresource").as_str() {
        "" => Part::Main,
        "status" => Part::Status,
        "scale" => Part::Scale,
        other => return Err(format!("no subresource {other}")),
    };
    let mut server = ApiServer::new(1);
    let create = Request::Create(Arc::new(object(kind, sound(kind))?));
    let mut stored = server.handle(&create, NOW).map_err(|error| error.message)?;
    let mut send = |stored: &Arc<Object>, part, field: &str, number, generation: Option<i64>| {
        let mut value = stored.to_value();
        change(kind, field, &mut value, number)?;
        let mut after = object(kind, value)?;
        if let Some(generation) = generation {
            after.meta_mut().generation = generation;
        }
        server.handle(&Request::Update(part, Arc::new(after)), NOW).map_err(|e| e.message)
    };
    let start = take(given, "storedGeneration").as_i64().unwrap_or(1);
    for number in 1..start {
        stored = send(&stored, Part::Main, "spec", number as usize, None)?;
    }
    if stored.meta().generation != start.max(stored.meta().generation.min(1)) {
        return Err(format!("no way to generation {start}"));
    }
    let before = stored.meta().generation;
    let asked = take(given, "requestGeneration").as_i64();
    let field = text(given, "changedField");
    let after = match verb.as_str() {
        "create" => stored,
        "update" => send(&stored, part, &field, 99, asked)?,
        other => return Err(format!("no verb {other}")),
    };
    let after = after.meta().generation;
    let expected = match &expect["generation"] {
        Value::String(step) => before + step.parse::<i64>().map_err(|error| error.to_string())?,
        number => number.as_i64().ok_or("no generation")?,
    };
    match after == expected {
        true => Ok(Outcome::Passed),
        false => Ok(Outcome::Failed(format!("expected {expected}, got {after}"))),
    }
}

fn status_write(given: &mut Map<String, Value>, expect: &Value) -> Answer {
    let kind = kind_of(given)?;
    if text(given, "subresource") != "status" {
        return Err("a status write goes to the status".into());
    }
    let with = |meta: Map<String, Value>| {
        let mut value = sound(kind);
        for (field, content) in meta {
            value["metadata"][field] = content;
        }
        object(kind, value)
    };
    let mut server = ApiServer::new(1);
    let create = Request::Create(Arc::new(with(map(given, "before"))?));
    server.handle(&create, NOW).map_err(|error| error.message)?;
    let update = Request::Update(Part::Status, Arc::new(with(map(given, "request"))?));
    let after = server.handle(&update, NOW).map_err(|error| error.message)?;
    let meta = after.meta();
    Ok(compare(expect, &json!({"labels": meta.labels, "annotations": meta.annotations})))
}

fn selector_change(given: &mut Map<String, Value>, expect: &Value) -> Answer {
    let kind = kind_of(given)?;
    if !text(given, "apiVersion").starts_with("apps/") {
        return Err("only apps is served".into());
    }
    let mut server = ApiServer::new(1);
    let (before, after) = (map(given, "selectorBefore"), map(given, "selectorAfter"));
    // The template has the labels of both, so that nothing else is wrong.
    let labels: Map<String, Value> = before.clone().into_iter().chain(after.clone()).collect();
    let with = |selector: Map<String, Value>| {
        let mut value = sound(kind);
        value["spec"]["selector"] = json!({ "matchLabels": selector });
        value["spec"]["template"]["metadata"]["labels"] = Value::Object(labels.clone());
        object(kind, value).map(Arc::new)
    };
    server.handle(&Request::Create(with(before)?), NOW).map_err(|error| error.message)?;
    let answer = server.handle(&Request::Update(Part::Main, with(after)?), NOW);
    let (field, detail) = (expect["field"].as_str(), expect["detail"].as_str());
    let fits = match &answer {
        Ok(_) => expect["error"] == false,
        Err(error) => {
            expect["error"] == true
                && error.message.contains(&format!(" {}: ", field.unwrap_or("")))
                && error.message.ends_with(detail.unwrap_or(""))
        }
    };
    match fits {
        true => Ok(Outcome::Passed),
        false => Ok(Outcome::Failed(format!("expected {expect}, got {answer:?}"))),
    }
}

fn deployment_defaults(given: &mut Map<String, Value>, expect: &Value) -> Answer {
    let mut object = object(Kind::Deployment, json!({"spec": take(given, "spec")}))?;
    defaults::default_object(&mut object);
    let mut spec = object.to_value()["spec"].clone();
    for field in ["template", "selector"] {
        spec.as_object_mut().ok_or("no spec")?.remove(field);
    }
    match expect["spec"] == spec {
        true => Ok(Outcome::Passed),
        false => Ok(Outcome::Failed(format!("expected {}, got {spec}", expect["spec"]))),
    }
}
