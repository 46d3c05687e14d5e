//! JSON patch (RFC 6902), in the words of the library that the API server uses
//! (`gopkg.in/evanphx/json-patch.v4`).

use crate::api::Value;
use crate::apiserver::{ApiError, Reason};

use super::unprocessable;

/// Carries out the operations in order. If one fails, `value` is not to be used.
pub fn json_patch(operations: &Value, value: &mut Value) -> Result<(), ApiError> {
    let Some(operations) = operations.as_array() else {
        let text = "error decoding patch: json: cannot unmarshal object into Go value of type \
                    jsonpatch.Patch";
        return Err(ApiError::new(Reason::BadRequest, text));
    };
    operations.iter().try_for_each(|operation| carry_out(operation, value))
}

fn carry_out(operation: &Value, value: &mut Value) -> Result<(), ApiError> {
    let text = |field: &str| operation.get(field).and_then(Value::as_str);
    let op = text("op").unwrap_or("unknown");
    let (path, from) = (text("path").unwrap_or(""), text("from").unwrap_or(""));
    let given = operation.get("value");
    match op {
        "add" => add(op, path, given.cloned().unwrap_or(Value::Null), value),
        "remove" => remove(op, path, value).map(|_| ()),
        "replace" => {
            remove(op, path, value)?;
            add(op, path, given.cloned().unwrap_or(Value::Null), value)
        }
        "move" => {
            let moved = remove(op, from, value)?;
            add(op, path, moved, value)
        }
        "copy" => {
            let copied = value.pointer(from).cloned().ok_or_else(|| missing(op, from))?;
            add(op, path, copied, value)
        }
        "test" => {
            // Nothing and null are the same to it.
            let there = value.pointer(path).unwrap_or(&Value::Null);
            if there == given.unwrap_or(&Value::Null) {
                return Ok(());
            }
            Err(unprocessable(&format!("testing value {path} failed: test failed")))
        }
        other => Err(unprocessable(&format!("Unexpected kind: {other}"))),
    }
}

fn missing(op: &str, path: &str) -> ApiError {
    let text =
        format!("{op} operation does not apply: doc is missing path: {path:?}: missing value");
    unprocessable(&text)
}

/// The map or list that a path leads into, and the last word of the path.
fn place<'v>(
    op: &str,
    path: &str,
    value: &'v mut Value,
) -> Result<(&'v mut Value, String), ApiError> {
    let (parent, last) = path.rsplit_once('/').ok_or_else(|| missing(op, path))?;
    let last = last.replace("~1", "/").replace("~0", "~");
    let parent = value.pointer_mut(parent).ok_or_else(|| missing(op, path))?;
    Ok((parent, last))
}

fn add(op: &str, path: &str, new: Value, value: &mut Value) -> Result<(), ApiError> {
    if path.is_empty() {
        *value = new;
        return Ok(());
    }
    let (parent, last) = place(op, path, value)?;
    match parent {
        Value::Object(map) => {
            map.insert(last, new);
        }
        Value::Array(list) if last == "-" => list.push(new),
        Value::Array(list) => {
            let at = index(op, path, &last)?;
            if at > list.len() {
                let text = format!(
                    "{op} operation does not apply: error in {op} for path: {path:?}: Unable to \
                     access invalid index: {at}: invalid index referenced"
                );
                return Err(unprocessable(&text));
            }
            list.insert(at, new);
        }
        _ => return Err(missing(op, path)),
    }
    Ok(())
}

fn remove(op: &str, path: &str, value: &mut Value) -> Result<Value, ApiError> {
    let (parent, last) = place(op, path, value)?;
    match parent {
        Value::Object(map) => map.remove(&last).ok_or_else(|| missing(op, path)),
        Value::Array(list) => {
            let at = index(op, path, &last)?;
            if at < list.len() { Ok(list.remove(at)) } else { Err(missing(op, path)) }
        }
        _ => Err(missing(op, path)),
    }
}

fn index(op: &str, path: &str, word: &str) -> Result<usize, ApiError> {
    word.parse().map_err(|_| missing(op, path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn done(operations: Value) -> Result<Value, String> {
        let mut value = json!({"a": {"b/c": 1}, "list": [1, 2]});
        json_patch(&operations, &mut value).map_err(|error| error.message)?;
        Ok(value)
    }

    #[test]
    fn each_operation_does_its_work() {
        for (operation, result) in [
            (
                json!({"op": "add", "path": "/list/1", "value": 9}),
                json!({"a": {"b/c": 1}, "list": [1, 9, 2]}),
            ),
            (
                json!({"op": "add", "path": "/list/-", "value": 9}),
                json!({"a": {"b/c": 1}, "list": [1, 2, 9]}),
            ),
            (json!({"op": "remove", "path": "/a/b~1c"}), json!({"a": {}, "list": [1, 2]})),
            (
                json!({"op": "replace", "path": "/list/0", "value": 7}),
                json!({"a": {"b/c": 1}, "list": [7, 2]}),
            ),
            (
                json!({"op": "move", "from": "/list/0", "path": "/a/x"}),
                json!({"a": {"b/c": 1, "x": 1}, "list": [2]}),
            ),
            (
                json!({"op": "copy", "from": "/a", "path": "/b"}),
                json!({"a": {"b/c": 1}, "b": {"b/c": 1}, "list": [1, 2]}),
            ),
            (
                json!({"op": "test", "path": "/list", "value": [1, 2]}),
                json!({"a": {"b/c": 1}, "list": [1, 2]}),
            ),
        ] {
            assert_eq!(done(json!([operation])), Ok(result), "{operation}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for (operation, words) in [
            (json!({"op": "test", "path": "/a/x", "value": 2}), "testing value /a/x failed"),
            (json!({"op": "remove", "path": "/nothing"}), "missing path: \"/nothing\""),
            (json!({"op": "replace", "path": "/x/y", "value": 1}), "replace operation does not"),
            (json!({"op": "add", "path": "/list/9", "value": 1}), "invalid index referenced"),
            (json!({"op": "swap", "path": "/a"}), "Unexpected kind: swap"),
        ] {
            let error = done(json!([operation])).unwrap_err();
            assert!(error.contains(words), "{operation}: {error}");
        }
    }
}
