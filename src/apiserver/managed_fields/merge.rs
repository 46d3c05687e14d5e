//! Laying a configuration over an object, and taking out what its manager no longer wants.
//! Kubernetes: structured-merge-diff `typed/merge.go`, `typed/remove.go`.

use std::collections::BTreeMap;

use serde_json::Map;

use crate::api::{FieldSet, Str, Value};

use super::schema::{Schema, Shape, field, items};

/// How deep values are merged; what lies deeper is replaced.
const MAX_DEPTH: u32 = 100;

/// `live` with what `config` says.
pub fn merge(schema: &Schema, live: &Value, config: &Value) -> Value {
    merged(schema, "", live, config, 0)
}

fn merged(schema: &Schema, path: &str, live: &Value, config: &Value, depth: u32) -> Value {
    if depth >= MAX_DEPTH {
        return config.clone();
    }
    // Nothing said of a map or a list that is owned piece by piece takes nothing out of it.
    let of_pieces = match live {
        Value::Object(map) => !map.is_empty(),
        Value::Array(list) => !list.is_empty(),
        _ => false,
    };
    if of_pieces && config.is_null() && schema.shape(path, live) != Shape::Atomic {
        return live.clone();
    }
    match (schema.shape(path, config), live, config) {
        (Shape::Granular, Value::Object(live), Value::Object(config)) => {
            Value::Object(merge_maps(schema, path, live, config, depth))
        }
        (shape @ (Shape::Set | Shape::Keyed(_)), Value::Array(live), Value::Array(config)) => {
            match (items(live, shape), items(config, shape)) {
                (Some(live), Some(config)) => {
                    Value::Array(merge_lists(schema, path, &live, &config, depth))
                }
                _ => Value::Array(config.clone()),
            }
        }
        _ => config.clone(),
    }
}

fn merge_maps(
    schema: &Schema,
    path: &str,
    live: &Map<String, Value>,
    config: &Map<String, Value>,
    depth: u32,
) -> Map<String, Value> {
    let mut map = live.clone();
    for (name, value) in config {
        let value = match live.get(name) {
            Some(now) => merged(schema, &deeper(path, name), now, value, depth + 1),
            None => value.clone(),
        };
        map.insert(name.clone(), value);
    }
    map
}

/// Items in the order of the configuration; those that only the object has keep their places among
/// the others.
fn merge_lists(
    schema: &Schema,
    path: &str,
    live: &[(Str, &Value)],
    config: &[(Str, &Value)],
    depth: u32,
) -> Vec<Value> {
    // Of two with one key the first counts.
    let asked: BTreeMap<&Str, usize> =
        config.iter().enumerate().rev().map(|(at, (branch, _))| (branch, at)).collect();
    let stored: BTreeMap<&Str, &Value> =
        live.iter().rev().map(|(branch, own)| (branch, *own)).collect();
    let (mut list, mut ours, mut theirs, mut next) = (Vec::new(), 0, 0, 0);
    while ours < live.len() || theirs < config.len() {
        // Of the items that both have, the one that comes next.
        while config.get(next).is_some_and(|(b, _)| next < theirs || !stored.contains_key(b)) {
            next += 1;
        }
        if let Some((branch, own)) = live.get(ours) {
            let is_shared = config.get(next).is_some_and(|(next, _)| next == branch);
            match asked.get(branch).copied() {
                None => {
                    list.push((*own).clone());
                    ours += 1;
                    continue;
                }
                // It came before, or comes after the next one.
                Some(at) if at < theirs || !is_shared => {
                    ours += 1;
                    continue;
                }
                Some(at) if at == theirs => ours += 1,
                Some(_) => {}
            }
        }
        let Some((branch, item)) = config.get(theirs) else { continue };
        theirs += 1;
        list.push(match (stored.get(branch), item) {
            (Some(Value::Object(now)), Value::Object(item)) => {
                Value::Object(merge_maps(schema, path, now, item, depth + 1))
            }
            _ => (*item).clone(),
        });
    }
    list
}

fn deeper(path: &str, name: &str) -> String {
    if path.is_empty() { name.into() } else { format!("{path}.{name}") }
}

/// Takes out of `value` what is in `last` and that nobody owns according to `owned`.
pub fn prune(schema: &Schema, value: &mut Value, last: &FieldSet, owned: &FieldSet) {
    pruned(schema, "", value, last, Some(owned), 0);
}

/// Whether a field or item goes: its manager had it (a field also if it had something below), and
/// nobody has it now.
fn goes(branch: &str, last: &FieldSet, owned: Option<&FieldSet>) -> bool {
    let named = branch.starts_with("f:");
    let had = last.is_member() || named;
    let has = owned.is_some_and(|owned| owned.is_member() || (named && !owned.is_empty()));
    had && !has
}

fn pruned(
    schema: &Schema,
    path: &str,
    value: &mut Value,
    last: &FieldSet,
    owned: Option<&FieldSet>,
    depth: u32,
) {
    if depth >= MAX_DEPTH {
        return;
    }
    match (schema.shape(path, value), value) {
        (Shape::Granular, Value::Object(map)) => prune_map(schema, path, map, last, owned, depth),
        (shape @ (Shape::Set | Shape::Keyed(_)), Value::Array(list)) => {
            let Some(named) = items(list, shape) else { return };
            let branches: Vec<Str> = named.into_iter().map(|(branch, _)| branch).collect();
            let mut kept = Vec::with_capacity(list.len());
            for (mut item, branch) in std::mem::take(list).into_iter().zip(branches) {
                let Some(had) = last.child(&branch) else {
                    kept.push(item);
                    continue;
                };
                let owned = owned.and_then(|owned| owned.child(&branch));
                if goes(&branch, had, owned) {
                    continue;
                }
                if let Value::Object(map) = &mut item {
                    prune_map(schema, path, map, had, owned, depth + 1);
                }
                kept.push(item);
            }
            *list = kept;
        }
        _ => {}
    }
}

fn prune_map(
    schema: &Schema,
    path: &str,
    map: &mut Map<String, Value>,
    last: &FieldSet,
    owned: Option<&FieldSet>,
    depth: u32,
) {
    map.retain(|name, value| {
        let branch = field(name);
        let Some(had) = last.child(&branch) else { return true };
        let owned = owned.and_then(|owned| owned.child(&branch));
        if goes(&branch, had, owned) {
            return false;
        }
        pruned(schema, &deeper(path, name), value, had, owned, depth + 1);
        true
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Kind;
    use serde_json::json;

    #[test]
    fn items_are_merged_by_their_keys_and_lists_of_no_keys_replaced() {
        let live = json!({"spec": {
            "containers": [{"name": "own"}, {"name": "a", "image": "x"}, {"name": "last"}],
            "tolerations": [{"key": "x"}],
        }});
        let config = json!({"spec": {
            "containers": [{"name": "a", "image": "y"}, {"name": "new"}],
            "tolerations": [{"key": "y"}],
        }});
        assert_eq!(
            merge(&Schema::of(Kind::Pod), &live, &config),
            json!({"spec": {
                "containers": [
                    {"name": "own"},
                    {"name": "a", "image": "y"},
                    {"name": "last"},
                    {"name": "new"},
                ],
                "tolerations": [{"key": "y"}],
            }})
        );
    }

    #[test]
    fn items_that_only_the_object_has_keep_their_places_when_others_change_theirs() {
        let list = |names: &str| -> Value {
            let item = |name: char| json!({"name": name.to_string()});
            json!({"spec": {"containers": names.chars().map(item).collect::<Vec<_>>()}})
        };
        for (live, config, merged) in [
            ("abc", "cba", "cba"),
            ("axby", "ba", "xbya"),
            ("xay", "ba", "xbay"),
            ("ab", "cd", "abcd"),
            ("acb", "ab", "acb"),
        ] {
            let got = merge(&Schema::of(Kind::Pod), &list(live), &list(config));
            assert_eq!(got, list(merged), "{config} over {live}");
        }
    }

    #[test]
    fn thousands_of_items_are_merged_item_by_item() {
        let list = |of: &str| -> Value {
            let item = |number: usize| json!({"name": format!("{of}{number}")});
            json!({"spec": {"containers": (0..20_000).map(item).collect::<Vec<_>>()}})
        };
        let got = merge(&Schema::of(Kind::Pod), &list("a"), &list("b"));
        assert_eq!(got["spec"]["containers"].as_array().map(Vec::len), Some(40_000));
    }

    #[test]
    fn nothing_said_of_a_map_leaves_it_as_it_is_unless_it_is_owned_as_a_whole() {
        let live = json!({"spec": {"replicas": 1, "selector": {"a": "b"}}});
        let config = json!({"spec": null});
        assert_eq!(merge(&Schema::of(Kind::ReplicaSet), &live, &config), live);
        let config = json!({"spec": {"selector": null}});
        let merged = json!({"spec": {"replicas": 1, "selector": null}});
        assert_eq!(merge(&Schema::of(Kind::ReplicaSet), &live, &config), merged);
    }

    #[test]
    fn what_nobody_wants_any_more_goes() {
        let mut value = json!({"a": 1, "b": {"c": 2, "d": 3}, "e": 4});
        let set = |value: Value| FieldSet::from_value(&value);
        let last = set(json!({"f:a": {}, "f:b": {"f:c": {}, "f:d": {}}}));
        let owned = set(json!({"f:b": {"f:d": {}}}));
        prune(&Schema::new(&[]), &mut value, &last, &owned);
        assert_eq!(value, json!({"b": {"d": 3}, "e": 4}));
    }
}
