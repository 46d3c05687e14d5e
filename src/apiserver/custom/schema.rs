//! An object against an OpenAPI v3 schema: fields that it does not name are dropped, defaults are
//! filled in, and what breaks a rule is said in Kubernetes' words
//! (`pkg/apiserver/{schema,validation}` of apiextensions-apiserver, over kube-openapi's validator).
//!
//! Left out: `format` but for `date-time`, CEL, `x-kubernetes-list-type` other than `set`. A
//! pattern that the small engine in `pattern.rs` does not know is taken to match.

use std::collections::BTreeSet;

use serde_json::{Map, Number};

use crate::api::{FieldError, FieldErrorKind, Timestamp, Value};
use crate::apiserver::validation::Errors;

use super::pattern::Pattern;

const DEPTH_MAX: usize = 100;

fn flag(schema: &Value, name: &str) -> bool {
    schema.get(name).and_then(Value::as_bool).unwrap_or(false)
}

fn map<'s>(schema: &'s Value, name: &str) -> impl Iterator<Item = (&'s String, &'s Value)> {
    schema.get(name).and_then(Value::as_object).into_iter().flatten()
}

fn list<'s>(schema: &'s Value, name: &str) -> impl Iterator<Item = &'s Value> {
    schema.get(name).and_then(Value::as_array).into_iter().flatten()
}

/// Drops what the schema does not name; says which fields these were. At the root, `apiVersion`,
/// `kind` and `metadata` always stay.
pub fn prune(value: &mut Value, schema: &Value) -> Vec<String> {
    let mut dropped = Vec::new();
    prune_at(value, schema, "", true, 0, &mut dropped);
    dropped
}

fn prune_at(
    value: &mut Value,
    schema: &Value,
    path: &str,
    is_object: bool,
    depth: usize,
    dropped: &mut Vec<String>,
) {
    if depth > DEPTH_MAX {
        return;
    }
    match value {
        Value::Object(fields) => {
            let is_object = is_object || flag(schema, "x-kubernetes-embedded-resource");
            let free = flag(schema, "x-kubernetes-preserve-unknown-fields");
            prune_map(fields, schema, path, (is_object, free), depth, dropped);
        }
        Value::Array(items) => {
            let Some(inner) = schema.get("items") else { return };
            for (index, item) in items.iter_mut().enumerate() {
                prune_at(item, inner, &format!("{path}[{index}]"), false, depth + 1, dropped);
            }
        }
        _ => {}
    }
}

fn prune_map(
    fields: &mut Map<String, Value>,
    schema: &Value,
    path: &str,
    (is_object, free): (bool, bool),
    depth: usize,
    dropped: &mut Vec<String>,
) {
    let properties = schema.get("properties").and_then(Value::as_object);
    let other = schema.get("additionalProperties");
    let any = other.is_some_and(|other| *other == Value::Bool(true));
    let names: Vec<String> = fields.keys().cloned().collect();
    for name in names {
        if is_object && matches!(name.as_str(), "apiVersion" | "kind" | "metadata") {
            continue;
        }
        let at = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        let known = properties.and_then(|properties| properties.get(&name));
        let inner = known.or(other.filter(|other| other.is_object()));
        match (inner, fields.get_mut(&name)) {
            (Some(inner), Some(value)) => prune_at(value, inner, &at, false, depth + 1, dropped),
            _ if free || any => {}
            _ => {
                fields.remove(&name);
                dropped.push(at);
            }
        }
    }
}

/// Fills in defaults. A null where the schema allows none and has a default counts as absent.
pub fn default(value: &mut Value, schema: &Value) {
    default_at(value, schema, 0);
}

fn default_at(value: &mut Value, schema: &Value, depth: usize) {
    if depth > DEPTH_MAX {
        return;
    }
    match value {
        Value::Object(fields) => {
            for (name, inner) in map(schema, "properties") {
                let missing = match fields.get(name) {
                    None => true,
                    Some(value) => value.is_null() && !flag(inner, "nullable"),
                };
                if let Some(default) = inner.get("default").filter(|_| missing) {
                    fields.insert(name.clone(), default.clone());
                }
                if let Some(value) = fields.get_mut(name) {
                    default_at(value, inner, depth + 1);
                }
            }
            let known =
                |name: &String| schema.get("properties").is_some_and(|all| all.get(name).is_some());
            if let Some(inner) = schema.get("additionalProperties").filter(|s| s.is_object()) {
                for (_, value) in fields.iter_mut().filter(|(name, _)| !known(name)) {
                    default_at(value, inner, depth + 1);
                }
            }
        }
        Value::Array(items) => {
            if let Some(inner) = schema.get("items") {
                items.iter_mut().for_each(|item| default_at(item, inner, depth + 1));
            }
        }
        _ => {}
    }
}

/// Everything in `value` that breaks a rule of `schema`.
pub fn validate(value: &Value, schema: &Value) -> Errors {
    let mut errors = Errors::default();
    check(value, schema, "", 0, &mut errors);
    errors
}

fn check(value: &Value, schema: &Value, path: &str, depth: usize, errors: &mut Errors) {
    if depth > DEPTH_MAX || (value.is_null() && flag(schema, "nullable")) {
        return;
    }
    if let Some(message) = wrong_type(value, schema, path) {
        return errors.invalid(path, type_of(value), &message);
    }
    let known: Vec<&Value> = list(schema, "enum").collect();
    if !known.is_empty() && !known.contains(&value) {
        let words: Vec<String> = known.iter().map(|value| bare(value)).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        errors.extend([FieldError::not_supported(path, value.clone(), &words)]);
    }
    match value {
        Value::String(text) => check_text(text, schema, path, errors),
        Value::Number(number) => check_number(number, schema, path, errors),
        Value::Array(items) => check_items(items, schema, path, depth, errors),
        Value::Object(fields) => check_fields(fields, schema, path, depth, errors),
        _ => {}
    }
    combined(value, schema, path, depth, errors);
}

fn bare(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if whole(number) => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn whole(number: &Number) -> bool {
    number.is_i64() || number.is_u64() || number.as_f64().is_some_and(|n| n.fract() == 0.0)
}

fn wrong_type(value: &Value, schema: &Value, path: &str) -> Option<String> {
    let got = type_of(value);
    if flag(schema, "x-kubernetes-int-or-string") {
        let fits = matches!(got, "integer" | "string");
        return (!fits).then(|| format!("{path} in body must be of type integer,string: {got:?}"));
    }
    let wanted = schema.get("type").and_then(Value::as_str).unwrap_or("");
    let fits = wanted.is_empty() || wanted == got || (wanted == "number" && got == "integer");
    (!fits).then(|| format!("{path} in body must be of type {wanted}: {got:?}"))
}

fn check_text(text: &str, schema: &Value, path: &str, errors: &mut Errors) {
    let bound = |name: &str| schema.get(name).and_then(Value::as_u64);
    let length = text.chars().count() as u64;
    if let Some(max) = bound("maxLength").filter(|max| length > *max) {
        errors.too_long(path, usize::try_from(max).unwrap_or(usize::MAX));
    }
    if let Some(min) = bound("minLength").filter(|min| length < *min) {
        let detail = format!("{path} in body should be at least {min} chars long");
        errors.invalid(path, text, &detail);
    }
    if let Some(pattern) = schema.get("pattern").and_then(Value::as_str)
        && Pattern::new(pattern).is_some_and(|pattern| !pattern.is_in(text))
    {
        errors.invalid(path, text, &format!("{path} in body should match '{pattern}'"));
    }
    let is_time = schema.get("format").and_then(Value::as_str) == Some("date-time");
    if is_time && Timestamp::parse(text).is_none() {
        let detail = format!("{path} in body must be of type date-time: {text:?}");
        errors.invalid(path, text, &detail);
    }
}

/// Numbers are compared as whole ones where both are, so that big ones stay exact.
fn order(a: &Number, b: &Number) -> std::cmp::Ordering {
    match (a.as_i64(), b.as_i64()) {
        (Some(a), Some(b)) => a.cmp(&b),
        _ => {
            let (a, b) = (a.as_f64().unwrap_or(0.0), b.as_f64().unwrap_or(0.0));
            a.total_cmp(&b)
        }
    }
}

fn check_number(number: &Number, schema: &Value, path: &str, errors: &mut Errors) {
    use std::cmp::Ordering::{Equal, Greater, Less};
    let bound = |name: &str| schema.get(name).and_then(Value::as_number);
    if let Some(min) = bound("minimum") {
        let strict = flag(schema, "exclusiveMinimum");
        let broken = matches!((order(number, min), strict), (Less, _) | (Equal, true));
        let words = if strict { "greater than" } else { "greater than or equal to" };
        if broken {
            errors.invalid(path, number, &format!("{path} in body should be {words} {min}"));
        }
    }
    if let Some(max) = bound("maximum") {
        let strict = flag(schema, "exclusiveMaximum");
        let broken = matches!((order(number, max), strict), (Greater, _) | (Equal, true));
        let words = if strict { "less than" } else { "less than or equal to" };
        if broken {
            errors.invalid(path, number, &format!("{path} in body should be {words} {max}"));
        }
    }
    let of = bound("multipleOf");
    if let (Some(number), Some(of)) = (number.as_i64(), of.and_then(Number::as_i64))
        && of != 0
        && number % of != 0
    {
        errors.invalid(path, number, &format!("{path} in body should be a multiple of {of}"));
    }
}

fn too_many(path: &str, got: usize, max: u64, errors: &mut Errors) {
    errors.extend([FieldError {
        kind: FieldErrorKind::TooMany,
        field: path.into(),
        value: got.into(),
        detail: format!("must have at most {max} items"),
    }]);
}

fn check_items(items: &[Value], schema: &Value, path: &str, depth: usize, errors: &mut Errors) {
    let bound = |name: &str| schema.get(name).and_then(Value::as_u64);
    if let Some(max) = bound("maxItems").filter(|max| items.len() as u64 > *max) {
        too_many(path, items.len(), max, errors);
    }
    if let Some(min) = bound("minItems").filter(|min| (items.len() as u64) < *min) {
        let detail = format!("{path} in body should have at least {min} items");
        errors.invalid(path, items.len(), &detail);
    }
    let is_set = schema.get("x-kubernetes-list-type").and_then(Value::as_str) == Some("set");
    // Values are equal if their texts are: fields stand in the order of their names.
    let mut seen = BTreeSet::new();
    for (index, item) in items.iter().enumerate() {
        let at = format!("{path}[{index}]");
        if is_set && !seen.insert(item.to_string()) {
            errors.duplicate(&at, &bare(item));
        }
        if let Some(inner) = schema.get("items") {
            check(item, inner, &at, depth + 1, errors);
        }
    }
}

fn check_fields(
    fields: &Map<String, Value>,
    schema: &Value,
    path: &str,
    depth: usize,
    errors: &mut Errors,
) {
    let join = |name: &str| {
        if path.is_empty() { name.to_string() } else { format!("{path}.{name}") }
    };
    let bound = |name: &str| schema.get(name).and_then(Value::as_u64);
    if let Some(max) = bound("maxProperties").filter(|max| fields.len() as u64 > *max) {
        too_many(path, fields.len(), max, errors);
    }
    if let Some(min) = bound("minProperties").filter(|min| (fields.len() as u64) < *min) {
        let detail = format!("{path} in body should have at least {min} properties");
        errors.invalid(path, fields.len(), &detail);
    }
    for name in list(schema, "required").filter_map(Value::as_str) {
        if !fields.contains_key(name) {
            errors.required(&join(name), "");
        }
    }
    let properties = schema.get("properties");
    for (name, value) in fields {
        // The server itself looks after these.
        if path.is_empty() && matches!(name.as_str(), "apiVersion" | "kind" | "metadata") {
            continue;
        }
        let known = properties.and_then(|properties| properties.get(name));
        let other = || schema.get("additionalProperties").filter(|other| other.is_object());
        if let Some(inner) = known.or_else(other) {
            check(value, inner, &join(name), depth + 1, errors);
        }
    }
}

fn combined(value: &Value, schema: &Value, path: &str, depth: usize, errors: &mut Errors) {
    let fits = |inner: &Value| {
        let mut found = Errors::default();
        check(value, inner, path, depth + 1, &mut found);
        found.is_empty()
    };
    for inner in list(schema, "allOf") {
        check(value, inner, path, depth + 1, errors);
    }
    let fail = |words: &str, errors: &mut Errors| {
        errors.invalid(path, value, &format!("{path:?} must {words}"));
    };
    let any: Vec<&Value> = list(schema, "anyOf").collect();
    if !any.is_empty() && !any.iter().any(|inner| fits(inner)) {
        fail("validate at least one schema (anyOf)", errors);
    }
    let one: Vec<&Value> = list(schema, "oneOf").collect();
    let valid = one.iter().filter(|inner| fits(inner)).count();
    match valid {
        _ if one.is_empty() => {}
        0 => fail("validate one and only one schema (oneOf). Found none valid", errors),
        1 => {}
        _ => {
            let words = format!(
                "validate one and only one schema (oneOf). Found {valid} valid alternatives"
            );
            fail(&words, errors);
        }
    }
    if schema.get("not").is_some_and(|inner| inner.is_object() && fits(inner)) {
        fail("not validate the schema (not)", errors);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn errors(value: Value, schema: Value) -> Vec<String> {
        validate(&value, &schema).into_words()
    }

    #[test]
    fn each_broken_rule_is_said_in_the_servers_words() {
        let schema = json!({"type": "object", "properties": {"spec": {
            "type": "object", "required": ["size"], "properties": {
                "size": {"type": "integer", "minimum": 1, "maximum": 5},
                "name": {"type": "string", "minLength": 2, "maxLength": 4, "pattern": "^[a-z]+$"},
                "mode": {"type": "string", "enum": ["fast", "slow"]},
                "tags": {"type": "array", "maxItems": 1, "items": {"type": "string"}},
                "port": {"x-kubernetes-int-or-string": true},
            },
        }}});
        let value = json!({"spec": {
            "name": "A", "mode": "odd", "tags": [1, "b"], "port": true,
        }});
        assert_eq!(
            errors(value, schema.clone()),
            [
                "spec.size: Required value",
                "spec.mode: Unsupported value: \"odd\": supported values: \"fast\", \"slow\"",
                "spec.name: Invalid value: \"A\": spec.name in body should be at least 2 chars \
                 long",
                "spec.name: Invalid value: \"A\": spec.name in body should match '^[a-z]+$'",
                "spec.port: Invalid value: \"boolean\": spec.port in body must be of type \
                 integer,string: \"boolean\"",
                "spec.tags: Too many: 2: must have at most 1 items",
                "spec.tags[0]: Invalid value: \"integer\": spec.tags[0] in body must be of type \
                 string: \"integer\"",
            ]
        );
        assert_eq!(
            errors(json!({"spec": {"size": 0}}), schema.clone()),
            ["spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1"]
        );
        assert_eq!(
            errors(json!({"spec": {"size": "x"}}), schema),
            ["spec.size: Invalid value: \"string\": spec.size in body must be of type integer: \
                 \"string\""]
        );
    }

    #[test]
    fn unknown_fields_are_dropped_unless_the_schema_keeps_them() {
        let schema = json!({"type": "object", "properties": {
            "spec": {"type": "object", "properties": {"a": {"type": "string"}}},
            "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            "map": {"type": "object", "additionalProperties": {"type": "string"}},
        }});
        let mut value = json!({
            "apiVersion": "v1", "kind": "A", "metadata": {"name": "x"},
            "spec": {"a": "1", "b": 2}, "free": {"c": 3}, "map": {"d": "4"}, "e": 5,
        });
        let dropped = prune(&mut value, &schema);
        assert_eq!(dropped, ["e", "spec.b"]);
        assert_eq!(value["spec"], json!({"a": "1"}));
        assert_eq!(value["free"], json!({"c": 3}));
        assert_eq!(value["map"], json!({"d": "4"}));
    }

    #[test]
    fn defaults_are_filled_in_below_what_is_there() {
        let schema = json!({"type": "object", "properties": {"spec": {
            "type": "object", "default": {}, "properties": {
                "size": {"type": "integer", "default": 3},
                "list": {"type": "array", "items": {"type": "object", "properties": {
                    "on": {"type": "boolean", "default": true}}}},
            },
        }}});
        let mut value = json!({});
        default(&mut value, &schema);
        assert_eq!(value, json!({"spec": {"size": 3}}));
        let mut value = json!({"spec": {"size": null, "list": [{}]}});
        default(&mut value, &schema);
        assert_eq!(value, json!({"spec": {"size": 3, "list": [{"on": true}]}}));
    }

    #[test]
    fn a_set_holds_no_value_twice_however_many_it_holds() {
        let schema = json!({"type": "array", "x-kubernetes-list-type": "set"});
        let value = json!([{"a": 1, "b": 2}, "x", 1, "1", {"b": 2, "a": 1}, "x"]);
        let found = errors(value, schema.clone());
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("[4]: Duplicate value"), "{found:?}");
        assert!(found[1].starts_with("[5]: Duplicate value: \"x\""), "{found:?}");
        let many: Vec<Value> = (0..200_000).map(Value::from).collect();
        assert_eq!(errors(many.into(), schema), [""; 0]);
    }

    #[test]
    fn alternatives_are_counted() {
        let schema = json!({"type": "object", "properties": {"spec": {"type": "object",
            "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
            "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}}});
        assert_eq!(errors(json!({"spec": {"a": "1"}}), schema.clone()), [""; 0]);
        let found = errors(json!({"spec": {}}), schema);
        assert!(found[0].ends_with("(oneOf). Found none valid"), "{found:?}");
    }
}
