//! `kubectl set image|resources|env|selector|serviceaccount` (kubectl `pkg/cmd/set`).

use serde_json::json;

use crate::api::{Kind, Object, Quantity, Value};

use super::change::{self, Words};
use super::command::{Change, Select, Shown};
use super::generators::map;
use super::resources::printed;
use super::update::pod_spec_pointer;
use super::{Api, Output};

/// Sets something in every object that a line names.
pub fn run(
    select: &Select,
    what: &Change,
    shown: &Shown,
    stdin: Option<&str>,
    api: &mut dyn Api,
    out: &mut Output,
) {
    if let Change::Resources { limits, requests, .. } = what
        && let Some(error) = wrong_amounts(limits).or_else(|| wrong_amounts(requests))
    {
        return out.fail(error);
    }
    change::run(select, shown, stdin, api, out, &mut |object, value, out| match what {
        Change::Image(images) => image(images, spec(object, value)?),
        Change::Resources { container, limits, requests } => {
            let mut seen = false;
            each_container(spec(object, value)?, container, &mut |item| {
                seen = true;
                for (field, amounts) in [("limits", limits), ("requests", requests)] {
                    set_amounts(item, field, amounts);
                }
            });
            found(seen, container, "resource requirements updated")
        }
        Change::Env { .. } => env(what, object, spec(object, value)?, out),
        Change::Selector(pairs) => {
            if object.kind() != Kind::Service {
                let name = printed(object);
                return Err(format!(
                    "error: setting a selector is only supported for Services, not {name}"
                ));
            }
            value["spec"]["selector"] = map(pairs);
            Ok(Words::always("selector updated"))
        }
        Change::ServiceAccount(name) => {
            let spec = spec(object, value)?;
            spec["serviceAccountName"] = name.as_str().into();
            Ok(Words::always("serviceaccount updated"))
        }
    });
}

fn spec<'v>(object: &Object, value: &'v mut Value) -> Result<&'v mut Value, String> {
    let spec = value.pointer_mut(pod_spec_pointer(object.kind()));
    let spec = spec.filter(|spec| spec.get("containers").is_some());
    spec.ok_or_else(|| {
        format!(
            "error: {} the object is not a pod or does not have a pod template",
            printed(object)
        )
    })
}

/// Calls with each container of the name, `*` and `web-*` included.
fn each_container(spec: &mut Value, name: &str, act: &mut dyn FnMut(&mut Value)) {
    for list in ["initContainers", "containers"] {
        for item in spec.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
            let own = item.get("name").and_then(Value::as_str).unwrap_or("");
            let fits = match name.split_once('*') {
                Some((start, end)) => {
                    own.len() >= start.len() + end.len()
                        && own.starts_with(start)
                        && own.ends_with(end)
                }
                None => own == name,
            };
            if fits && item.is_object() {
                act(item);
            }
        }
    }
}

fn found(seen: bool, container: &str, words: &str) -> Result<Words, String> {
    match seen {
        true => Ok(Words::if_changed(words)),
        false => Err(format!("error: unable to find container named {container}")),
    }
}

fn image(images: &[(String, String)], spec: &mut Value) -> Result<Words, String> {
    let mut unknown = Vec::new();
    for (container, image) in images {
        let mut seen = false;
        let mut set = |item: &mut Value| {
            item["image"] = image.as_str().into();
            seen = true;
        };
        if container == "*" {
            // `*` means init containers too, since kubectl 1.16.
            each_container(spec, "*", &mut set);
        } else {
            each_container(spec, container, &mut set);
        }
        if !seen {
            unknown.push(format!("error: unable to find container named {container:?}"));
        }
    }
    match unknown.is_empty() {
        true => Ok(Words::if_changed("image updated")),
        false => Err(unknown.join("\n")),
    }
}

fn wrong_amounts(amounts: &[(String, String)]) -> Option<String> {
    let error = amounts.iter().find_map(|(_, amount)| Quantity::parse(amount).err())?;
    Some(format!("error: {error}"))
}

/// Sets amounts; 0 takes one away.
fn set_amounts(container: &mut Value, field: &str, amounts: &[(String, String)]) {
    if amounts.is_empty() {
        return;
    }
    let resources =
        container.as_object_mut().map(|item| item.entry("resources").or_insert(json!({})));
    let Some(resources) = resources.and_then(Value::as_object_mut) else { return };
    let list = resources.entry(field).or_insert(json!({}));
    for (resource, amount) in amounts {
        let zero = Quantity::parse(amount).is_ok_and(|amount| amount.is_zero());
        match list.as_object_mut() {
            Some(list) if zero => {
                list.remove(resource);
            }
            Some(list) => {
                list.insert(resource.clone(), amount.as_str().into());
            }
            None => {}
        }
    }
}

fn env(
    what: &Change,
    object: &Object,
    spec: &mut Value,
    out: &mut Output,
) -> Result<Words, String> {
    let Change::Env { container, set, remove, list, overwrite } = what else {
        return Ok(Words::if_changed(""));
    };
    let kind = object.kind().info().plural;
    let name = &object.meta().name;
    let mut seen = false;
    let mut taken = None;
    each_container(spec, container, &mut |item| {
        seen = true;
        if *list {
            let own = item.get("name").and_then(Value::as_str).unwrap_or("");
            out.line(format!("# {kind} {name}, container {own}"));
            for entry in item.get("env").and_then(Value::as_array).into_iter().flatten() {
                let text = |field: &str| entry.get(field).and_then(Value::as_str).unwrap_or("");
                match entry.get("valueFrom") {
                    Some(_) => out.line(format!("# {} from another object", text("name"))),
                    None => out.line(format!("{}={}", text("name"), text("value"))),
                }
            }
        }
        let Some(fields) = item.as_object_mut() else { return };
        let mut entries = match fields.get("env") {
            Some(Value::Array(entries)) => entries.clone(),
            _ => Vec::new(),
        };
        let is =
            |entry: &Value, name: &str| entry.get("name").and_then(Value::as_str) == Some(name);
        entries.retain(|entry| !remove.iter().any(|name| is(entry, name)));
        for (name, value) in set {
            match entries.iter_mut().find(|entry| is(entry, name)) {
                Some(_) if !overwrite => taken = Some(name.clone()),
                Some(entry) => *entry = json!({"name": name, "value": value}),
                None => entries.push(json!({"name": name, "value": value})),
            }
        }
        match entries.is_empty() {
            true => fields.remove("env"),
            false => fields.insert("env".into(), Value::Array(entries)),
        };
    });
    if let Some(name) = taken {
        return Err(format!("error: '{name}' already has a value, and --overwrite is false"));
    }
    found(seen, container, "env updated")
}
