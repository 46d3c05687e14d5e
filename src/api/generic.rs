//! Reading an object of a kind that has no type of its own.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;

use super::{Generic, Quantity, Str, Value};

impl Generic {
    /// The value at a path such as `spec/hard`, if it is there and not null.
    pub fn field(&self, path: &str) -> Option<&Value> {
        let (section, rest) = path.split_at(path.find('/').unwrap_or(path.len()));
        let value = self.rest.get(section)?.pointer(rest)?;
        (!value.is_null()).then_some(value)
    }

    /// The text at a path; empty if there is none.
    pub fn text(&self, path: &str) -> &str {
        self.field(path).and_then(Value::as_str).unwrap_or("")
    }

    /// The whole number at a path.
    pub fn whole_number(&self, path: &str) -> Option<i64> {
        self.field(path).and_then(Value::as_i64)
    }

    /// The value at a path as a typed one; nothing if it is absent or does not fit.
    pub fn typed<T: DeserializeOwned>(&self, path: &str) -> Option<T> {
        serde_json::from_value(self.field(path)?.clone()).ok()
    }

    /// The quantities at a path, by name.
    pub fn amounts(&self, path: &str) -> BTreeMap<Str, Quantity> {
        amounts(self.field(path))
    }

    /// Sets a field of a section that is a map, such as `spec` or `status`.
    pub fn set_field(&mut self, section: &str, field: &str, value: Value) {
        let section = self.rest.entry(section.into()).or_insert(Value::Null);
        if !section.is_object() {
            *section = Value::Object(Default::default());
        }
        if let Some(map) = section.as_object_mut() {
            map.insert(field.into(), value);
        }
    }
}

/// The quantities of a map; what is none is left out.
pub fn amounts(value: Option<&Value>) -> BTreeMap<Str, Quantity> {
    let map = value.and_then(Value::as_object);
    let one = |(name, value): (&String, &Value)| {
        let text = match value {
            Value::String(text) => text.trim().to_string(),
            other => other.to_string(),
        };
        Some((name.as_str().into(), Quantity::parse(&text).ok()?))
    };
    map.into_iter().flatten().filter_map(one).collect()
}
