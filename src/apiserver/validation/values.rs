//! Reading free-form values, where what is missing counts as empty.

use crate::api::Value;

/// The text in a field.
pub fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value.get(field).and_then(Value::as_str).unwrap_or("")
}

/// The items of a list, numbered as paths number them.
pub fn items(list: Option<&Value>) -> impl Iterator<Item = (usize, &Value)> {
    list.and_then(Value::as_array).into_iter().flatten().enumerate()
}
