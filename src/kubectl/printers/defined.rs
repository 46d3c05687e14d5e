//! Kinds that users define: the columns that their definition asks for
//! (apiextensions-apiserver `pkg/registry/customresource/tableconvertor`).

use crate::api::{Generic, Kind, Object, Timestamp, Value, custom};
use crate::apiserver::custom::definition;
use crate::kubectl::duration::age;
use crate::kubectl::jsonpath::Template;

/// The columns that a definition names; without any, the age alone.
fn named(kind: Kind, wide: bool) -> Vec<Value> {
    let definition = custom::definition(kind);
    let version = definition.as_ref().and_then(|definition| definition::version(definition));
    let columns = version.and_then(|version| version.get("additionalPrinterColumns"));
    let columns = columns.and_then(Value::as_array).cloned().unwrap_or_default();
    let shown =
        |column: &Value| wide || column.get("priority").and_then(Value::as_i64).unwrap_or(0) == 0;
    if columns.is_empty() {
        let age = serde_json::json!({
            "name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp",
        });
        return vec![age];
    }
    columns.into_iter().filter(shown).collect()
}

fn word<'v>(column: &'v Value, field: &str) -> &'v str {
    column.get(field).and_then(Value::as_str).unwrap_or("")
}

/// The words above the columns.
pub fn columns(kind: Kind, wide: bool) -> Vec<String> {
    let named = named(kind, wide);
    let more = named.iter().map(|column| word(column, "name").to_uppercase());
    std::iter::once("NAME".to_string()).chain(more).collect()
}

/// The cells of one object.
pub fn row(object: &Generic, now: Timestamp, wide: bool) -> Vec<String> {
    let value = Object::Generic(object.clone()).to_value();
    let cell = |column: Value| {
        let path = Template::path(word(&column, "jsonPath"));
        let text = path.and_then(|path| path.fill(&value)).unwrap_or_default();
        match word(&column, "type") {
            "date" => age(Timestamp::parse(&text), now),
            _ => text,
        }
    };
    let cells = named(object.kind, wide).into_iter().map(cell);
    std::iter::once(object.metadata.name.to_string()).chain(cells).collect()
}
