//! JSON merge patch (RFC 7386).

use crate::api::Value;

/// Merges `patch` into `target`: null removes, objects merge, all else replaces.
pub fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(changes) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Default::default());
    }
    let Value::Object(fields) = target else {
        return;
    };
    for (name, change) in changes {
        if change.is_null() {
            fields.remove(name);
        } else {
            merge(fields.entry(name.clone()).or_insert(Value::Null), change);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn null_removes_objects_merge_and_lists_are_replaced() {
        let mut target = json!({"a": 1, "b": {"c": [1, 2], "d": 3}});
        merge(&mut target, &json!({"a": null, "b": {"c": [9]}, "e": {"f": null, "g": 1}}));
        assert_eq!(target, json!({"b": {"c": [9], "d": 3}, "e": {"g": 1}}));
    }
}
