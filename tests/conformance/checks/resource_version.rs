//! resourceVersion in get, list, watch and write requests, put to a whole API server.

use std::collections::BTreeMap;
use std::sync::Arc;

use loopscope::api::selector::Selector;
use loopscope::api::{Kind, Object, ObjectKey, Pod, Value};
use loopscope::apiserver::{
    ApiError, ApiServer, DeleteOptions, FieldSelector, ListOptions, Part, Preconditions, Reason,
    Request, Store, Watch, WatchEvent, validate_list_options,
};
use loopscope::kernel::Time;
use serde_json::{Map, json};

use super::by_check::{Answer, by_check, take, text};
use crate::{Outcome, compare};

pub fn check(given: &Value, expect: &Value) -> Outcome {
    by_check(given, |check, given| match check {
        "listOptions" => list_options(given, expect),
        "get" => get(given, expect),
        "list" => list(given, expect),
        "storeUpdate" => store_update(given, expect),
        "storeDelete" => store_delete(given, expect),
        "watch" => watch(given, expect),
        "watchFromVersion" => watch_from_version(given, expect),
        "watchSteps" => watch_steps(given, expect),
        "compactedList" => compacted_list(given, expect),
        other => Err(format!("no check {other}")),
    })
}

fn list_options(given: &mut Map<String, Value>, expect: &Value) -> Answer {
    let Value::Object(mut from) = take(given, "options") else {
        return Err("no options".into());
    };
    let options = ListOptions {
        resource_version: text(&mut from, "resourceVersion"),
        resource_version_match: text(&mut from, "resourceVersionMatch"),
        watch: take(&mut from, "watch") == true,
        send_initial_events: take(&mut from, "sendInitialEvents").as_bool(),
        allow_watch_bookmarks: take(&mut from, "allowWatchBookmarks") == true,
        limit: take(&mut from, "limit").as_u64().unwrap_or(0) as usize,
        continue_token: text(&mut from, "continue"),
        ..ListOptions::default()
    };
    if !from.is_empty() {
        return Err(format!("unknown options {from:?}"));
    }
    let gate = take(given, "watchListEnabled") == true;
    Ok(compare(expect, &json!({"errors": validate_list_options(&options, gate)})))
}

fn pod(name: &str) -> Pod {
    let mut pod = Pod::default();
    pod.metadata.name = name.into();
    pod.metadata.namespace = "default".into();
    let container = json!({"name": "c", "image": "c"});
    pod.spec.containers = serde_json::from_value(json!([container])).expect("a container");
    pod
}

fn key(name: &str) -> ObjectKey {
    ObjectKey::new(Kind::Pod, "default", name)
}

/// A server after some writes, and the version of each by its words.
fn server_after(history: &[Value]) -> Result<(ApiServer, BTreeMap<String, u64>), String> {
    let mut server = ApiServer::new(1);
    let mut versions = BTreeMap::new();
    for (index, entry) in history.iter().enumerate() {
        let words = entry.as_str().unwrap_or("");
        let request = match words.rsplit_once(' ') {
            Some((name, "created")) => Request::Create(Arc::new(pod(name).into())),
            Some((name, "updated")) => note(name, "updated"),
            Some(("unrelated", "write")) => {
                let value = json!({"metadata": {"name": format!("unrelated-{index}")}});
                let object = Object::from_value(Kind::ConfigMap, value).expect("an object");
                Request::Create(Arc::new(object))
            }
            _ => return Err(format!("no such write: {words}")),
        };
        let done = server.handle(&request, Time::ZERO).map_err(|error| error.message)?;
        versions.insert(words.to_string(), done.meta().resource_version);
    }
    Ok((server, versions))
}

fn note(name: &str, state: &str) -> Request {
    let patch = json!({"metadata": {"annotations": {"state": state}}});
    Request::Patch(Part::Main, key(name), patch)
}

fn state(object: Option<&Arc<Object>>) -> &'static str {
    match object {
        None => "absent",
        Some(object) if object.meta().annotations.contains_key("state") => "updated",
        Some(_) => "created",
    }
}

fn asked(words: &str, versions: &BTreeMap<String, u64>) -> Result<String, String> {
    if words == "unset" || words.is_empty() {
        return Ok(String::new());
    }
    if words.bytes().all(|b| b.is_ascii_digit()) {
        return Ok(words.into());
    }
    versions.get(words).map(u64::to_string).ok_or_else(|| format!("no version {words}"))
}

/// The names that the vectors have for refusals.
fn refusal(error: &ApiError) -> &'static str {
    match error.reason {
        Reason::NotFound => "NotFound",
        Reason::Timeout if error.message.starts_with("Too large resource version: ") => {
            "TooLargeResourceVersion"
        }
        Reason::Conflict if error.message.contains("Precondition failed") => "InvalidObject",
        _ => "another",
    }
}

fn one_of(expect: &Value, got: &str) -> Outcome {
    let allowed = expect["oneOf"].as_array().cloned().unwrap_or_default();
    match allowed.iter().any(|state| state == got) {
        true => Outcome::Passed,
        false => Outcome::Failed(format!("expected {expect}, got {got}")),
    }
}

fn get(given: &mut Map<String, Value>, expect: &Value) -> Answer {
    let history = take(given, "history");
    let (server, versions) = server_after(history.as_array().ok_or("no history")?)?;
    let name = text(given, "get");
    let version = asked(&text(given, "resourceVersion"), &versions)?;
    Ok(match server.get(&key(&name), &version) {
        Ok(object) if expect.get("oneOf").is_some() => one_of(expect, state(Some(&object))),
        Ok(object) => Outcome::Failed(format!("expected {expect}, got {object:?}")),
        Err(error) => compare(expect, &json!({"error": refusal(&error)})),
    })
}

fn list(given: &mut Map<String, Value>, expect: &Value) -> Answer {
    let history = take(given, "history");
    let (server, versions) = server_after(history.as_array().ok_or("no history")?)?;
    let name = text(given, "list");
    let selectors = [format!("metadata.name={name}"), text(given, "fieldSelector")];
    let options = ListOptions {
        fields: FieldSelector::parse(&selectors.join(","))?,
        resource_version: asked(&text(given, "resourceVersion"), &versions)?,
        resource_version_match: text(given, "resourceVersionMatch"),
        ..ListOptions::default()
    };
    Ok(match server.list(Kind::Pod, &options) {
        Ok(listed) if expect.get("oneOf").is_some() => one_of(expect, state(listed.items.first())),
        Ok(listed) => {
            let names = listed.items.iter().map(|object| object.meta().name.to_string());
            compare(expect, &json!({"items": names.collect::<Vec<String>>()}))
        }
        Err(error) => compare(expect, &json!({"error": refusal(&error)})),
    })
}

/// A server that holds one object, or none, and the object.
fn server_with(exists: bool, kind: Kind) -> Result<(ApiServer, Option<Arc<Object>>), String> {
    let mut server = ApiServer::new(1);
    if !exists {
        return Ok((server, None));
    }
    let stored = server.handle(&Request::Create(Arc::new(plain(kind))), Time::ZERO);
    Ok((server, Some(stored.map_err(|error| error.message)?)))
}

fn plain(kind: Kind) -> Object {
    let value = json!({"metadata": {"name": "foo", "namespace": "default"}});
    Object::from_value(kind, value).expect("an object")
}

/// A precondition that is the stored uid, or another one.
fn precondition(given: &mut Map<String, Value>, stored: Option<&Arc<Object>>) -> Option<String> {
    let (asked, is) = (take(given, "preconditionUid"), take(given, "storedUid"));
    let same = asked == is;
    asked.as_str().map(|other| match stored {
        Some(stored) if same => stored.meta().uid.to_string(),
        _ => format!("other-{other}"),
    })
}

fn store_update(given: &mut Map<String, Value>, expect: &Value) -> Answer {
    let exists = take(given, "exists") != false;
    let creates = take(given, "ignoreNotFound") == true;
    // A Role may be made by an update, a ConfigMap not.
    let kind = if creates { Kind::Role } else { Kind::ConfigMap };
    let (mut server, stored) = server_with(exists, kind)?;
    let mut object = stored.as_ref().map_or(plain(kind), |stored| Object::clone(stored));
    object.meta_mut().resource_version = 0;
    object.meta_mut().uid =
        precondition(given, stored.as_ref()).map_or("".into(), |uid| uid.as_str().into());
    if take(given, "dataChanges") != false && exists {
        object.meta_mut().annotations.insert("state".into(), "updated".into());
    }
    let answer = server.handle(&Request::Update(Part::Main, Arc::new(object)), Time::ZERO);
    let version = |object: &Arc<Object>| object.meta().resource_version;
    let got = match &answer {
        Err(error) => json!({"error": refusal(error)}),
        Ok(after) => json!({
            "created": !exists,
            "resourceVersionChanged": stored.as_ref().map(version) != Some(version(after)),
        }),
    };
    Ok(compare(expect, &got))
}

fn store_delete(given: &mut Map<String, Value>, expect: &Value) -> Answer {
    let exists = take(given, "exists") != false;
    let (mut server, stored) = server_with(exists, Kind::ConfigMap)?;
    let uid = precondition(given, stored.as_ref()).map(|uid| uid.as_str().into());
    let preconditions = Preconditions { uid, resource_version: None };
    let options = DeleteOptions { preconditions, ..DeleteOptions::default() };
    let key = plain(Kind::ConfigMap).key();
    let answer = server.handle(&Request::Delete(key.clone(), options), Time::ZERO);
    let got = match &answer {
        Err(error) => json!({"error": refusal(error)}),
        Ok(last) => json!({
            "deleted": server.store().get(&key).is_none(),
            "returnedObjectHasNewResourceVersion":
                stored.is_some_and(|s| s.meta().resource_version < last.meta().resource_version),
        }),
    };
    Ok(compare(expect, &got))
}

/// A field selector names a field of the object, a label selector does not.
fn selecting(selector: &Value) -> Result<ListOptions, String> {
    let mut options = ListOptions::default();
    let text = selector.as_str().unwrap_or("");
    if ["spec.", "metadata.", "status."].iter().any(|start| text.starts_with(start)) {
        options.fields = FieldSelector::parse(text)?;
    } else if !text.is_empty() {
        options.labels = Some(Selector::parse(text)?);
    }
    Ok(options)
}

/// The steps are states of the object as it is stored; no request could bring a pod from any node
/// to any other.
fn watch(given: &mut Map<String, Value>, expect: &Value) -> Answer {
    let mut store = Store::default();
    let options = selecting(&take(given, "selector"))?;
    let mut watch = Watch::open(&store, Kind::Pod, &options).map_err(|error| error.message)?;
    let steps = take(given, "steps");
    let mut events = Vec::new();
    for step in steps.as_array().ok_or("no steps")? {
        take_step(&mut store, step)?;
        let mut seen = told(&watch.next(&store));
        if seen.len() > 1 {
            return Err(format!("several events: {seen:?}"));
        }
        events.push(seen.pop().unwrap_or(Value::Null));
    }
    Ok(compare(expect, &json!({"events": events})))
}

fn told(events: &[Result<WatchEvent, ApiError>]) -> Vec<Value> {
    let word = |event: &Result<WatchEvent, ApiError>| match event {
        Ok(event) => event.kind.word().into(),
        Err(_) => "ERROR".into(),
    };
    events.iter().map(word).collect()
}

/// Brings object foo into a state.
fn take_step(store: &mut Store, step: &Value) -> Result<(), String> {
    let mut step = step.as_object().cloned().unwrap_or_default();
    if take(&mut step, "delete") == true {
        return store.remove(&key("foo")).map(|_| ()).ok_or("there is no foo".into());
    }
    let mut pod = pod("foo");
    let labels = take(&mut step, "labels").as_object().cloned().unwrap_or_default();
    pod.metadata.labels = serde_json::from_value(json!(labels)).map_err(|e| e.to_string())?;
    let node = text(&mut step, "nodeName");
    pod.spec.node_name = (!node.is_empty()).then(|| node.as_str().into());
    if !step.is_empty() {
        return Err(format!("unknown keys in a step: {step:?}"));
    }
    store.put(pod.into()).map(|_| ()).map_err(|error| error.message)
}

fn watch_from_version(given: &mut Map<String, Value>, expect: &Value) -> Answer {
    let existing = take(given, "existing");
    let mut history = Vec::new();
    for entry in existing.as_array().into_iter().flatten() {
        let words = entry.as_str().unwrap_or("");
        let (name, rest) = words.split_once(", ").unwrap_or((words, ""));
        history.push(json!(format!("{name} created")));
        match rest {
            "" => {}
            "updated once" => history.push(json!(format!("{name} updated"))),
            other => return Err(format!("no such history: {other}")),
        }
    }
    let version = text(given, "resourceVersion");
    if version == "compacted" {
        // A later write, so that the version before it can be compacted away.
        history.extend([json!("old created"), json!("old updated")]);
    }
    let (mut server, versions) = server_after(&history)?;
    let mut options = ListOptions::default();
    if version != "compacted" {
        options.resource_version = asked(&version, &versions)?;
    }
    if version == "compacted" {
        server.compact();
        options.resource_version = "1".into();
    }
    let mut watch =
        Watch::open(server.store(), Kind::Pod, &options).map_err(|error| error.message)?;
    let first = watch.next(server.store()).into_iter().next();
    let got = match first {
        None => json!({}),
        Some(Ok(event)) => json!({
            "firstEvent": event.kind.word(),
            "objectState": state(Some(&event.object)),
        }),
        Some(Err(error)) => json!({
            "firstEvent": "ERROR",
            "status": {"code": error.reason.code(), "reason": error.reason.word()},
        }),
    };
    Ok(compare(expect, &got))
}

fn watch_steps(given: &mut Map<String, Value>, expect: &Value) -> Answer {
    let steps = take(given, "steps");
    let mut server = ApiServer::new(1);
    let mut open = None;
    let mut stored = None;
    for step in steps.as_array().ok_or("no steps")? {
        let words: Vec<&str> = step.as_str().unwrap_or("").split(' ').collect();
        let request = match words.as_slice() {
            ["create", name] => Request::Create(Arc::new(pod(name).into())),
            ["update", name] => note(name, "updated"),
            ["delete", name] => Request::Delete(key(name), DeleteOptions::default()),
            ["watch", .., last] => {
                let of_stored = || stored.as_ref().map_or(0, version_of);
                let version = last.parse().unwrap_or_else(|_| of_stored()).to_string();
                let options = ListOptions { resource_version: version, ..Default::default() };
                open = Some(
                    Watch::open(server.store(), Kind::Pod, &options)
                        .map_err(|error| error.message)?,
                );
                continue;
            }
            _ => return Err(format!("no such step: {step}")),
        };
        let done = server.handle(&request, Time::ZERO).map_err(|error| error.message)?;
        if words[0] != "delete" {
            stored = Some(done);
        }
    }
    let events = open.ok_or("no watch")?.next(server.store());
    let last = events.iter().filter_map(|event| event.as_ref().ok()).next_back();
    let differs =
        last.map(|event| stored.as_ref().map(version_of) != Some(version_of(&event.object)));
    let word = last.map(|event| event.kind.word());
    let got = json!({
        "event": word,
        "eventResourceVersionDiffersFromStored": differs,
        "events": told(&events),
    });
    Ok(compare(expect, &got))
}

fn version_of(object: &Arc<Object>) -> u64 {
    object.meta().resource_version
}

fn compacted_list(given: &mut Map<String, Value>, expect: &Value) -> Answer {
    let history = [json!("foo created"), json!("foo updated")];
    let (mut server, _) = server_after(&history)?;
    server.compact();
    let version = match text(given, "resourceVersion").as_str() {
        "compacted" => "1".to_string(),
        other => other.to_string(),
    };
    let options = ListOptions {
        resource_version: version,
        resource_version_match: text(given, "resourceVersionMatch"),
        ..ListOptions::default()
    };
    let answer = server.list(Kind::Pod, &options);
    let message = answer.as_ref().err().map_or("", |error| error.message.as_str());
    let words = expect["messageContains"].as_str().unwrap_or("");
    if answer.is_err() == (expect["error"] == true) && message.contains(words) {
        return Ok(Outcome::Passed);
    }
    Ok(Outcome::Failed(format!("expected {expect}, got {message:?}")))
}
