//! Strategic merge patch (apimachinery `pkg/util/strategicpatch/patch.go`), with the merge keys of
//! `k8s.io/api`: lists are merged item by item where items have a key, and `$patch`,
//! `$retainKeys`, `$setElementOrder/…` and `$deleteFromPrimitiveList/…` are carried out.

use serde_json::Map;

use crate::api::Value;
use crate::apiserver::{ApiError, Reason};

/// How deep a patch may go.
const MAX_DEPTH: u32 = 100;
const ORDER: &str = "$setElementOrder/";
const DELETE: &str = "$deleteFromPrimitiveList/";

/// The key by which the items of a list are told apart, if the list is merged by items.
pub fn merge_key<'v>(
    field: &str,
    items: impl IntoIterator<Item = &'v Value> + Clone,
) -> Option<&'static str> {
    let has = |key: &str| items.clone().into_iter().any(|item| item.get(key).is_some());
    let key = match field {
        "containers"
        | "initContainers"
        | "ephemeralContainers"
        | "volumes"
        | "env"
        | "imagePullSecrets"
        | "resourceClaims"
        | "schedulingGates"
        | "secrets" => "name",
        "volumeMounts" => "mountPath",
        "volumeDevices" => "devicePath",
        "ports" if has("containerPort") => "containerPort",
        "ports" => "port",
        "hostAliases" | "podIPs" | "hostIPs" => "ip",
        "conditions" | "addresses" => "type",
        "ownerReferences" => "uid",
        "topologySpreadConstraints" => "topologyKey",
        _ => return None,
    };
    items.into_iter().all(|item| item.get(key).is_some()).then_some(key)
}

/// Lists of words that are sets.
fn is_set(field: &str) -> bool {
    matches!(field, "finalizers")
}

/// Merges `patch` into `value`.
pub fn strategic(patch: &Value, value: &mut Value) -> Result<(), ApiError> {
    let (Value::Object(changes), true) = (patch, value.is_object()) else {
        let text = "error decoding patch: json: cannot unmarshal into Go value of type \
                    map[string]interface {}";
        return Err(ApiError::new(Reason::BadRequest, text));
    };
    if let Value::Object(map) = value {
        merge_map(changes, map, MAX_DEPTH)?;
    }
    Ok(())
}

fn bad(text: String) -> ApiError {
    ApiError::new(Reason::BadRequest, text)
}

fn merge_map(
    patch: &Map<String, Value>,
    target: &mut Map<String, Value>,
    depth: u32,
) -> Result<(), ApiError> {
    if depth == 0 {
        return Err(bad("the patch is nested too deeply".into()));
    }
    match patch.get("$patch").map(|word| word.as_str().unwrap_or("")) {
        None | Some("merge") => {}
        Some("replace") => {
            *target = patch.clone();
            target.remove("$patch");
            return Ok(());
        }
        Some("delete") => {
            target.clear();
            return Ok(());
        }
        Some(other) => return Err(bad(format!("unknown patch type: {other} found in a map"))),
    }
    if let Some(Value::Array(retained)) = patch.get("$retainKeys") {
        target.retain(|name, _| retained.iter().any(|kept| kept == name.as_str()));
    }
    for (name, change) in patch.iter().filter(|(name, _)| !name.starts_with('$')) {
        if change.is_null() {
            target.remove(name);
            continue;
        }
        let order = patch.get(&format!("{ORDER}{name}")).and_then(Value::as_array);
        merge_field(name, change, target.entry(name.clone()), order, depth)?;
        let deleted = matches!(change, Value::Object(map)
            if map.get("$patch").is_some_and(|word| word == "delete"));
        if deleted {
            target.remove(name);
        }
    }
    for (directive, words) in patch {
        if let (Some(name), Value::Array(words)) = (directive.strip_prefix(DELETE), words)
            && let Some(Value::Array(list)) = target.get_mut(name)
        {
            list.retain(|item| !words.contains(item));
        }
        if let (Some(name), Value::Array(order)) = (directive.strip_prefix(ORDER), words)
            && let Some(Value::Array(list)) = target.get_mut(name)
        {
            put_in_order(name, list, order);
        }
    }
    Ok(())
}

fn merge_field(
    name: &str,
    change: &Value,
    entry: serde_json::map::Entry<'_>,
    order: Option<&Vec<Value>>,
    depth: u32,
) -> Result<(), ApiError> {
    match change {
        Value::Object(change) => {
            let target = entry.or_insert_with(|| Value::Object(Map::new()));
            if !target.is_object() {
                *target = Value::Object(Map::new());
            }
            match target {
                Value::Object(target) => merge_map(change, target, depth - 1),
                _ => Ok(()),
            }
        }
        Value::Array(change) => {
            let target = entry.or_insert_with(|| Value::Array(Vec::new()));
            if !target.is_array() {
                *target = Value::Array(Vec::new());
            }
            match target {
                Value::Array(target) => merge_list(name, change, target, order.is_some(), depth),
                _ => Ok(()),
            }
        }
        change => {
            *entry.or_insert(Value::Null) = change.clone();
            Ok(())
        }
    }
}

fn directive(item: &Value) -> &str {
    item.get("$patch").and_then(Value::as_str).unwrap_or("")
}

fn merge_list(
    name: &str,
    change: &[Value],
    target: &mut Vec<Value>,
    ordered: bool,
    depth: u32,
) -> Result<(), ApiError> {
    if change.iter().any(|item| directive(item) == "replace") {
        let items = change.iter().filter(|item| directive(item) != "replace");
        *target = items.cloned().collect();
        return Ok(());
    }
    let plain = change.iter().filter(|item| directive(item).is_empty());
    let Some(key) = merge_key(name, change.iter().chain(target.iter())) else {
        if change.iter().any(|item| !directive(item).is_empty()) {
            return Err(bad(format!("map: {} does not contain declared merge key", shown(change))));
        }
        if is_set(name) {
            for item in change {
                if !target.contains(item) {
                    target.push(item.clone());
                }
            }
        } else {
            *target = change.to_vec();
        }
        return Ok(());
    };
    for item in change.iter().filter(|item| directive(item) == "delete") {
        target.retain(|other| other.get(key) != item.get(key));
    }
    let before = target.len();
    for item in plain {
        let same = target.iter_mut().find(|other| other.get(key) == item.get(key));
        match (same, item) {
            (Some(Value::Object(same)), Value::Object(item)) => merge_map(item, same, depth - 1)?,
            (_, Value::Object(item)) => {
                let mut new = Map::new();
                merge_map(item, &mut new, depth - 1)?;
                target.push(Value::Object(new));
            }
            _ => {}
        }
    }
    if !ordered {
        follow(key, change, target, before);
    }
    Ok(())
}

fn shown(change: &[Value]) -> String {
    change.first().map(Value::to_string).unwrap_or_default()
}

/// Without an order the items of the patch come in the order of the patch, new ones before the
/// items that only the object has.
fn follow(key: &str, change: &[Value], target: &mut Vec<Value>, before: usize) {
    let fresh = target.split_off(before.min(target.len()));
    if fresh.is_empty() {
        return;
    }
    let place = |item: &Value| change.iter().position(|other| other.get(key) == item.get(key));
    let mut named: Vec<Value> = fresh;
    let mut own = Vec::new();
    for item in target.drain(..) {
        if place(&item).is_some() { named.push(item) } else { own.push(item) }
    }
    named.sort_by_key(|item| place(item));
    target.extend(named);
    target.extend(own);
}

/// Items in the order that is asked for; those that it does not name keep their places between.
fn put_in_order(name: &str, list: &mut [Value], order: &[Value]) {
    let key = order.first().filter(|item| item.is_object()).and(merge_key(name, list.iter()));
    let same = |item: &Value, other: &Value| match key {
        Some(key) => item.get(key) == other.get(key),
        None => item == other,
    };
    let place = |item: &Value| order.iter().position(|other| same(item, other));
    let mut named: Vec<Value> = list.iter().filter(|i| place(i).is_some()).cloned().collect();
    named.sort_by_key(|item| place(item));
    let mut named = named.into_iter();
    for item in list.iter_mut().filter(|item| place(item).is_some()) {
        if let Some(next) = named.next() {
            *item = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn merged(patch: Value, mut value: Value) -> Value {
        strategic(&patch, &mut value).unwrap();
        value
    }

    #[test]
    fn items_are_merged_by_their_key_and_new_ones_come_first() {
        let value = json!({"containers": [{"name": "a", "image": "x", "args": ["1"]}]});
        let patch = json!({"containers": [{"name": "b"}, {"name": "a", "image": "y"}]});
        assert_eq!(
            merged(patch, value),
            json!({"containers": [{"name": "b"}, {"name": "a", "image": "y", "args": ["1"]}]})
        );
    }

    #[test]
    fn directives_replace_delete_and_order() {
        let value = json!({"containers": [{"name": "a"}, {"name": "b"}], "map": {"x": 1}});
        for (patch, result) in [
            (
                json!({"containers": [{"name": "a", "$patch": "delete"}],
                       "map": {"$patch": "delete"}}),
                json!({"containers": [{"name": "b"}]}),
            ),
            (
                json!({"containers": [{"$patch": "replace"}, {"name": "c"}],
                       "map": {"$patch": "replace", "y": 2}}),
                json!({"containers": [{"name": "c"}], "map": {"y": 2}}),
            ),
            (
                json!({"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}]}),
                json!({"containers": [{"name": "b"}, {"name": "a"}], "map": {"x": 1}}),
            ),
        ] {
            assert_eq!(merged(patch.clone(), value.clone()), result, "{patch}");
        }
    }

    #[test]
    fn keys_that_are_not_retained_go_and_words_are_taken_out() {
        let value = json!({"strategy": {"type": "RollingUpdate", "rollingUpdate": {"a": 1}},
                           "finalizers": ["a", "b"], "args": ["1"]});
        let patch = json!({"strategy": {"type": "Recreate", "$retainKeys": ["type"]},
                           "$deleteFromPrimitiveList/finalizers": ["a"],
                           "finalizers": ["c"], "args": ["2"]});
        assert_eq!(
            merged(patch, value),
            json!({"strategy": {"type": "Recreate"}, "finalizers": ["b", "c"], "args": ["2"]})
        );
    }
}
