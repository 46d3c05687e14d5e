//! `kubectl explain` and `api-resources`, from the table of fields.

use crate::api::{Kind, KindInfo, Value, custom};
use crate::apiserver::custom::definition;
use crate::manifest::{Field, Fields, nearest, schema};

use super::command::Resources;
use super::resources::resource;
use super::{Output, Table};

/// How deep `--recursive` goes, and how many lines it prints.
const MAX_DEPTH: usize = 12;
const MAX_LINES: usize = 4_000;

/// `explain deployment.spec.template`.
pub fn run(path: &str, recursive: bool, out: &mut Output) {
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
        if let Some((_, last)) = rest.rsplit_once('.').or((!rest.is_empty()).then_some(("", rest)))
        {
            let parent = rest.strip_suffix(last).unwrap_or("").trim_end_matches('.');
            let at = schema.fields_at(info.api_version, info.kind, parent);
            if let Some(found) = at.and_then(|fields| fields.get(last)) {
                out.line(format!("FIELD: {last} <{}>\n", type_name(&found.field)));
            }
        }
        out.line("FIELDS:");
        let mut left = MAX_LINES;
        list(fields, if recursive { MAX_DEPTH } else { 0 }, 1, &mut left, out);
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

fn list(fields: &Fields, deeper: usize, indent: usize, left: &mut usize, out: &mut Output) {
    for (name, info) in fields {
        if *left == 0 {
            return;
        }
        *left -= 1;
        let required = if info.required { " -required-" } else { "" };
        let blanks = "  ".repeat(indent);
        out.line(format!("{blanks}{name}\t<{}>{required}", type_name(&info.field)));
        let mut inner = &info.field;
        while let Field::List(item) | Field::Map(item) = inner {
            inner = item;
        }
        let below = match inner {
            Field::Named(name) if deeper > 0 => schema().fields(name),
            _ => None,
        };
        if let Some(below) = below {
            list(below, deeper - 1, indent + 1, left, out);
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
pub fn api_resources(options: &Resources, out: &mut Output) {
    let wanted = |info: &&KindInfo| {
        options.namespaced.is_none_or(|namespaced| info.namespaced == namespaced)
            && options.group.as_ref().is_none_or(|group| info.id.group() == group)
    };
    let served = custom::served();
    let mut kinds: Vec<_> = Kind::all().iter().filter(wanted).collect();
    kinds.extend(served.iter().map(|one| one.kind.info()).filter(wanted));
    kinds.sort_by_key(|info| match options.sort_by.as_deref() {
        Some("name") => (info.plural, ""),
        Some(_) => (info.kind, ""),
        None => (info.id.group(), info.plural),
    });
    if options.name_only {
        for info in kinds {
            out.line(resource(info.id));
        }
        return;
    }
    let mut columns = vec!["NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND"];
    columns.extend(options.wide.then_some("VERBS"));
    let row = |info: &&KindInfo| {
        let namespaced = info.namespaced.to_string();
        let own = served.iter().find(|one| one.kind == info.id);
        let short: Vec<&str> = match own {
            Some(one) => one.short_names().collect(),
            None => info.short.to_vec(),
        };
        let short = short.join(",");
        let mut row =
            vec![info.plural.into(), short, info.api_version.into(), namespaced, info.kind.into()];
        row.extend(options.wide.then(|| "create,delete,get,list,patch,update,watch".to_string()));
        row
    };
    let table = Table {
        columns: columns.into_iter().map(String::from).collect(),
        rows: kinds.iter().map(row).collect(),
    };
    out.text.push_str(&table.text(!options.no_headers));
}

/// All groups with their versions.
pub fn api_versions(out: &mut Output) {
    let mut versions: Vec<&str> = Kind::all().iter().map(|info| info.api_version).collect();
    versions.sort_unstable();
    versions.dedup();
    versions.into_iter().for_each(|version| out.line(version));
}
