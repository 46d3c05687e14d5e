//! `kubectl explain` and `api-resources`, from the table of fields.

use crate::api::Kind;
use crate::manifest::{Field, nearest, schema};

use super::{Output, Table};

/// `explain deployment.spec.template`.
pub fn run(path: &str, out: &mut Output) {
    let (word, rest) = path.split_once('.').unwrap_or((path, ""));
    let Some(kind) = Kind::of_argument(word) else {
        return out.fail(format!("error: the server doesn't have a resource type {word:?}"));
    };
    let info = kind.info();
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
    let mut kinds: Vec<_> = Kind::all().iter().collect();
    kinds.sort_by_key(|info| (info.id.group(), info.plural));
    let columns = ["NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND"];
    let row = |info: &&crate::api::KindInfo| {
        let namespaced = info.namespaced.to_string();
        let short = info.short.join(",");
        vec![info.plural.into(), short, info.api_version.into(), namespaced, info.kind.into()]
    };
    let table = Table {
        columns: columns.map(String::from).to_vec(),
        rows: kinds.iter().map(row).collect(),
    };
    out.text.push_str(&table.text(true));
}
