//! Merging for `apply`: a three-way merge that minds the keys of lists, and the JSON
//! merge patch between two values.
//!
//! Follows apimachinery `pkg/util/strategicpatch/patch.go` with the merge keys of `k8s.io/api`.
//! Instead of a patch with directives, which the real server would have to carry out, the merged
//! object itself is computed.

use serde_json::Map;

use crate::api::Value;
use crate::apiserver::patch::merge_key;

/// Fields of which a change throws out what the new value does not name (`retainKeys`).
fn retains_keys(field: &str) -> bool {
    field == "strategy"
}

/// `current`, with what `modified` says, and without what `original` said and `modified` no longer
/// does.
pub fn three_way(original: &Value, modified: &Value, current: &Value) -> Value {
    merge("", Some(original), modified, current)
}

fn merge(field: &str, original: Option<&Value>, modified: &Value, current: &Value) -> Value {
    match (modified, current) {
        (Value::Object(modified), Value::Object(current)) => {
            Value::Object(merge_maps(field, original, modified, current))
        }
        (Value::Array(modified), Value::Array(current)) => {
            match merge_key(field, modified.iter().chain(current)) {
                Some(key) => Value::Array(merge_lists(key, original, modified, current)),
                None if field == "finalizers" => union(original, modified, current),
                None => Value::Array(modified.clone()),
            }
        }
        _ => modified.clone(),
    }
}

fn merge_maps(
    field: &str,
    original: Option<&Value>,
    modified: &Map<String, Value>,
    current: &Map<String, Value>,
) -> Map<String, Value> {
    let mut merged = current.clone();
    let before = original.and_then(Value::as_object);
    for key in before.into_iter().flat_map(Map::keys) {
        if !modified.contains_key(key) {
            merged.remove(key);
        }
    }
    for (key, value) in modified {
        let original = before.and_then(|before| before.get(key));
        match current.get(key) {
            _ if value.is_null() => {
                merged.remove(key);
            }
            Some(now) => {
                merged.insert(key.clone(), merge(key, original, value, now));
            }
            None => {
                merged.insert(key.clone(), without_nulls(value));
            }
        }
    }
    if retains_keys(field) && merged != *current {
        merged.retain(|key, _| modified.contains_key(key));
    }
    merged
}

/// Items in the order of `modified`; those that only `current` has, and that were never asked for,
/// stay.
fn merge_lists(
    key: &str,
    original: Option<&Value>,
    modified: &[Value],
    current: &[Value],
) -> Vec<Value> {
    let find =
        |items: &[Value], id: &Value| items.iter().find(|item| item.get(key) == Some(id)).cloned();
    let before = original.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let mut merged = Vec::new();
    for item in modified {
        let Some(id) = item.get(key) else { continue };
        merged.push(match find(current, id) {
            Some(now) => merge("", find(before, id).as_ref(), item, &now),
            None => without_nulls(item),
        });
    }
    for item in current {
        let Some(id) = item.get(key) else { continue };
        if find(modified, id).is_none() && find(before, id).is_none() {
            merged.push(item.clone());
        }
    }
    merged
}

/// A list of words that is a set.
fn union(original: Option<&Value>, modified: &[Value], current: &[Value]) -> Value {
    let before = original.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let kept = current.iter().filter(|item| modified.contains(item) || !before.contains(item));
    let mut all: Vec<Value> = kept.cloned().collect();
    for item in modified {
        if !all.contains(item) {
            all.push(item.clone());
        }
    }
    Value::Array(all)
}

fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.iter().filter(|(_, value)| !value.is_null());
            Value::Object(kept.map(|(key, value)| (key.clone(), without_nulls(value))).collect())
        }
        other => other.clone(),
    }
}

/// The JSON merge patch that makes `after` of `before`; nothing if they are the same.
pub fn difference(before: &Value, after: &Value) -> Option<Value> {
    if before == after {
        return None;
    }
    let (Value::Object(old), Value::Object(new)) = (before, after) else {
        return Some(after.clone());
    };
    let mut patch = Map::new();
    for (key, value) in new {
        let change = match old.get(key) {
            Some(old) => difference(old, value),
            None => Some(value.clone()),
        };
        if let Some(change) = change {
            patch.insert(key.clone(), change);
        }
    }
    for key in old.keys().filter(|key| !new.contains_key(*key)) {
        patch.insert(key.clone(), Value::Null);
    }
    Some(Value::Object(patch))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_was_never_asked_for_stays_and_what_is_no_longer_asked_for_goes() {
        let original = json!({"spec": {"replicas": 3, "paused": true}});
        let modified = json!({"spec": {"replicas": 5}});
        let current = json!({"spec": {"replicas": 4, "paused": true, "default": 1}, "status": 7});
        let merged = three_way(&original, &modified, &current);
        assert_eq!(merged, json!({"spec": {"replicas": 5, "default": 1}, "status": 7}));
    }

    #[test]
    fn containers_are_merged_by_name_and_other_lists_replaced() {
        let original = json!({"containers": [{"name": "a", "image": "x"}, {"name": "old"}]});
        let modified = json!({"containers": [{"name": "a", "image": "y", "args": ["1"]}]});
        let current = json!({"containers": [
            {"name": "injected"},
            {"name": "a", "image": "x", "args": ["2", "3"], "policy": "Always"},
            {"name": "old"},
        ]});
        let merged = three_way(&original, &modified, &current);
        assert_eq!(
            merged,
            json!({"containers": [
                {"name": "a", "image": "y", "args": ["1"], "policy": "Always"},
                {"name": "injected"},
            ]})
        );
    }

    #[test]
    fn another_strategy_throws_out_the_settings_of_the_old_one() {
        let original = json!({});
        let current =
            json!({"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}});
        let same = three_way(&original, &json!({"strategy": {"type": "RollingUpdate"}}), &current);
        assert_eq!(same, current);
        let other = three_way(&original, &json!({"strategy": {"type": "Recreate"}}), &current);
        assert_eq!(other, json!({"strategy": {"type": "Recreate"}}));
    }

    #[test]
    fn the_difference_is_a_merge_patch() {
        let before = json!({"a": 1, "b": {"c": 2, "d": 3}, "e": [1]});
        let after = json!({"a": 1, "b": {"c": 4}, "e": [1, 2]});
        let patch = difference(&before, &after);
        assert_eq!(patch, Some(json!({"b": {"c": 4, "d": null}, "e": [1, 2]})));
        assert_eq!(difference(&before, &before), None);
    }
}
