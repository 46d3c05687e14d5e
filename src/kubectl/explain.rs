//! `kubectl explain` and `api-resources`, from the table of fields.

use crate::api::{Kind, Value, custom};
use crate::apiserver::custom::definition;
use crate::manifest::{Field, nearest, schema};

use super::{Output, Table};

/// `explain deployment.spec.template`.
pub fn run(path: &str, out: &mut Output) {
    let (word, rest) = path.split_once('.').unwrap_or((path, ""));
    let Some(kind) = Kind::of_argument(word) else {
        return out.fail(format!("error: the server doesn't have a resource type {word:?}"));
    };
    let info = kind.info();
    if kind.is_custom() {
        return defined(kind, rest, out);
    }
    let schema = schema();
    let (group, version) = info.api_version.split_once('/').unwrap_or(("", info.api_version));
    let head = |out: &mut Output| {
        if !group.is_empty() {
            out.line(format!("GROUP:      {group}"));
        }
        out.line(format!("KIND:       {}\nVERSION:    {version}\n", info.kind));
    };
    if let Some(fields) = schema.fields_at(info.api_version, info.kind, rest) {
        head(out);
        out.line("FIELDS:");
        for (name, info) in fields {
            let required = if info.required { " -required-" } else { "" };
            out.line(format!("  {name}\t<{}>{required}", type_name(&info.field)));
        }
        return;
    }
    let (parent, last) = rest.rsplit_once('.').unwrap_or(("", rest));
    let fields = schema.fields_at(info.api_version, info.kind, parent);
    match fields.and_then(|fields| fields.get(last)) {
        Some(found) => {
            head(out);
            out.line(format!("FIELD: {last} <{}>", type_name(&found.field)));
        }
        None => {
            out.fail(format!("error: field {last:?} does not exist"));
            let names = fields.into_iter().flat_map(|fields| fields.keys().copied());
            if let Some(near) = nearest(last, names) {
                out.line(format!("\nDid you mean this?\n\t{near}"));
            }
        }
    }
}

/// A kind that a user defined, from its schema.
fn defined(kind: Kind, path: &str, out: &mut Output) {
    let (info, definition) = (kind.info(), custom::definition(kind));
    let version = info.api_version.rsplit('/').next().unwrap_or("");
    let whole = definition.as_ref().and_then(|definition| definition::schema(definition));
    let mut at = whole.unwrap_or(&Value::Null);
    for step in path.split('.').filter(|step| !step.is_empty()) {
        let inside = at.get("items").unwrap_or(at).get("properties");
        match inside.and_then(|properties| properties.get(step)) {
            Some(found) => at = found,
            None => return out.fail(format!("error: field {step:?} does not exist")),
        }
    }
    let text = |schema: &Value| {
        let about = schema.get("description").and_then(Value::as_str);
        about.unwrap_or("<empty>").to_string()
    };
    out.line(format!("GROUP:      {}", kind.group()));
    out.line(format!("KIND:       {}\nVERSION:    {version}\n", info.kind));
    out.line(format!("DESCRIPTION:\n    {}\n", text(at)));
    let at = at.get("items").unwrap_or(at);
    let required = at.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let Some(fields) = at.get("properties").and_then(Value::as_object) else { return };
    out.line("FIELDS:");
    for (name, field) in fields {
        let mark = if required.iter().any(|one| one == name) { " -required-" } else { "" };
        out.line(format!("  {name}\t<{}>{mark}", schema_type(field)));
        if field.get("description").is_some() {
            out.line(format!("    {}\n", text(field)));
        }
    }
}

fn schema_type(schema: &Value) -> String {
    let kind = schema.get("type").and_then(Value::as_str).unwrap_or("Object");
    match (kind, schema.get("items"), schema.get("additionalProperties")) {
        ("array", Some(items), _) => format!("[]{}", schema_type(items)),
        ("object", _, Some(inner)) if inner.is_object() => {
            format!("map[string]{}", schema_type(inner))
        }
        ("object", ..) => "Object".into(),
        (kind, ..) => kind.into(),
    }
}

fn type_name(field: &Field) -> String {
    match field {
        Field::String | Field::Time | Field::Bytes => "string".into(),
        Field::Int | Field::Long => "integer".into(),
        Field::Bool => "boolean".into(),
        Field::Quantity => "Quantity".into(),
        Field::IntOrString => "IntOrString".into(),
        Field::Any => "Object".into(),
        Field::List(item) => format!("[]{}", type_name(item)),
        Field::Map(value) => format!("map[string]{}", type_name(value)),
        Field::Named(name) => (*name).into(),
    }
}

/// All kinds, by group and name.
pub fn api_resources(out: &mut Output) {
    let served = custom::served();
    let mut kinds: Vec<_> = Kind::all().iter().collect();
    kinds.extend(served.iter().map(|one| one.kind.info()));
    kinds.sort_by_key(|info| (info.id.group(), info.plural));
    let columns = ["NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND"];
    let row = |info: &&crate::api::KindInfo| {
        let namespaced = info.namespaced.to_string();
        let own = served.iter().find(|one| one.kind == info.id);
        let short: Vec<&str> = match own {
            Some(one) => one.short_names().collect(),
            None => info.short.to_vec(),
        };
        let short = short.join(",");
        vec![info.plural.into(), short, info.api_version.into(), namespaced, info.kind.into()]
    };
    let table = Table {
        columns: columns.map(String::from).to_vec(),
        rows: kinds.iter().map(row).collect(),
    };
    out.text.push_str(&table.text(true));
}
