//! How a verb says what came of it: a sentence, or the object in one of the forms of `-o`.

use serde_json::json;

use crate::api::{Object, Value};

use super::Output;
use super::command::{Format, Shown};
use super::jsonpath::go_print;
use super::printers::Table;
use super::resources::printed;
use super::yaml::yaml;

/// Says what was done to an object: `deployment.apps/web scaled`, or the object itself.
pub fn done(object: &Object, words: &str, shown: &Shown, out: &mut Output) {
    match shown.format {
        Format::Table | Format::Wide | Format::Name => {
            sentence(&printed(object), words, shown, out);
        }
        _ => value(&object.to_value(), &shown.format, out),
    }
}

/// The sentence or the name alone.
pub fn sentence(name: &str, words: &str, shown: &Shown, out: &mut Output) {
    match shown.format {
        Format::Name => out.line(name),
        _ => out.line(format!("{name} {words}{}", shown.dry_run.suffix())),
    }
}

/// An object in a form that shows all of it. YAML documents are kept apart.
pub fn value(value: &Value, format: &Format, out: &mut Output) {
    match format {
        Format::Yaml | Format::Json => {
            let whole = match format {
                Format::Yaml => Format::WholeYaml,
                _ => Format::WholeJson,
            };
            self::value(&without_managed_fields(value), &whole, out);
        }
        Format::WholeYaml => {
            if out.documents > 0 {
                out.line("---");
            }
            out.documents += 1;
            out.text.push_str(&yaml(value));
        }
        Format::WholeJson => out.line(indented(value)),
        Format::JsonPath(template) => match template.fill(value) {
            Ok(text) => out.line(text),
            Err(error) => {
                let text = template.text();
                out.fail(format!(
                    "error: error executing jsonpath {text:?}: Error executing template: {error}. \
                     Printing more information for debugging the template:\n\ttemplate \
                     was:\n\t\t{text}"
                ));
            }
        },
        Format::Columns(columns) => columns_of(std::slice::from_ref(value), columns, true, out),
        Format::Table | Format::Wide | Format::Name => {}
    }
}

/// Nobody wants to read them unasked.
fn without_managed_fields(value: &Value) -> Value {
    let mut value = value.clone();
    let remove = |object: &mut Value| {
        let meta = object.get_mut("metadata").and_then(Value::as_object_mut);
        meta.map(|meta| meta.remove("managedFields"));
    };
    remove(&mut value);
    let items = value.get_mut("items").and_then(Value::as_array_mut);
    items.into_iter().flatten().for_each(remove);
    value
}

/// Several objects as one, as `get` and `apply` print them.
pub fn list(items: Vec<Value>) -> Value {
    let metadata = json!({"resourceVersion": ""});
    json!({"apiVersion": "v1", "items": items, "kind": "List", "metadata": metadata})
}

/// Columns of one's own. What is not there is `<none>`.
pub fn columns_of(
    values: &[Value],
    columns: &[(String, super::jsonpath::Template)],
    headers: bool,
    out: &mut Output,
) {
    let cell = |value: &Value, path: &super::jsonpath::Template| {
        let found = path.find(value).unwrap_or_default();
        match found.is_empty() {
            true => "<none>".to_string(),
            false => found.iter().map(go_print).collect::<Vec<_>>().join(","),
        }
    };
    let row = |value: &Value| columns.iter().map(|(_, path)| cell(value, path)).collect::<Vec<_>>();
    let table = Table {
        columns: columns.iter().map(|(name, _)| name.clone()).collect(),
        rows: values.iter().map(row).collect(),
    };
    out.text.push_str(&table.text(headers));
}

/// As JSON, indented by four as kubectl does.
fn indented(value: &Value) -> String {
    use serde::Serialize;
    let mut bytes = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(b"    ");
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
    match value.serialize(&mut serializer) {
        Ok(()) => String::from_utf8(bytes).unwrap_or_default(),
        Err(_) => String::new(),
    }
}
