//! `kubectl get`.

use std::sync::Arc;

use crate::api::{Kind, Object, Value};
use crate::apiserver::managed_fields;

use super::command::{Format, Select, View, Which};
use super::jsonpath::Template;
use super::printers::{Look, table};
use super::resources::{Found, find, nothing_found, printed};
use super::{Api, Output, show, sort};

/// What `-w` adds where nobody follows: an answer is one text, and holds what is there now.
pub const WATCHING: &str = "# -w: these are the rows of this moment";

/// Shows what a line names.
pub fn run(select: &Select, view: &View, api: &dyn Api, out: &mut Output) {
    let mut groups = find(select, api);
    let missing: Vec<String> = groups.iter_mut().filter_map(|group| group.missing.take()).collect();
    if let Some(sort_by) = &view.sort_by
        && let Err(error) = sort_all(&mut groups, sort_by)
    {
        return out.fail(error);
    }
    let none = groups.iter().all(|group| group.objects.is_empty());
    let single = matches!(select.targets.as_slice(), [one] if one.which != Which::All);
    match &view.format {
        _ if none && single => {}
        Format::Table | Format::Wide if none => {
            if !view.ignore_not_found && missing.is_empty() {
                nothing_found(select, out);
            }
        }
        Format::Table | Format::Wide => tables(&groups, select, view, api, out),
        Format::Name => {
            for object in groups.iter().flat_map(|group| &group.objects) {
                out.line(printed(object));
            }
        }
        Format::Columns(columns) => {
            let objects = groups.iter().flat_map(|group| &group.objects);
            let values: Vec<Value> = objects.map(|object| object.to_value()).collect();
            show::columns_of(&values, columns, !view.no_headers, out);
        }
        _ => {
            data(&groups, single, view, out);
        }
    }
    if view.watch {
        out.line(WATCHING);
    }
    if !view.ignore_not_found {
        missing.into_iter().for_each(|line| out.fail(line));
    }
}

/// One table for each run of targets of the same kind; with the kind before the names if there are
/// several kinds.
fn tables(groups: &[Found], select: &Select, view: &View, api: &dyn Api, out: &mut Output) {
    let kinds: std::collections::BTreeSet<Kind> = groups.iter().map(|group| group.kind).collect();
    let look = Look {
        wide: view.format == Format::Wide,
        with_kind: view.show_kind || kinds.len() > 1,
        with_namespace: select.namespace.is_none(),
        show_labels: view.show_labels,
        label_columns: &view.label_columns,
    };
    let mut merged: Vec<(Kind, Vec<Arc<Object>>)> = Vec::new();
    for group in groups.iter().filter(|group| !group.objects.is_empty()) {
        match merged.last_mut() {
            Some((kind, objects)) if *kind == group.kind => objects.extend(group.objects.clone()),
            _ => merged.push((group.kind, group.objects.clone())),
        }
    }
    for (index, (kind, objects)) in merged.iter().enumerate() {
        if index > 0 {
            out.line("");
        }
        let table = table(*kind, objects, api.now(), &look);
        out.text.push_str(&table.text(!view.no_headers));
    }
}

fn data(groups: &[Found], single: bool, view: &View, out: &mut Output) {
    let objects = groups.iter().flat_map(|group| &group.objects);
    let mut values = objects.map(|object| value_of(object, view));
    let value = match single {
        true => values.next().unwrap_or(Value::Null),
        false => show::list(values.collect()),
    };
    show::value(&value, &view.format, out);
}

/// An object as it is shown as data.
pub fn value_of(object: &Object, view: &View) -> Value {
    let mut value = object.to_value();
    let meta = value.get_mut("metadata").and_then(Value::as_object_mut);
    if let Some(meta) = meta.filter(|_| view.show_managed_fields) {
        meta.insert("managedFields".into(), managed_fields::to_value(object));
    }
    value
}

/// Within each kind, and over all of them where they are one list.
pub fn sort_all(groups: &mut [Found], field: &str) -> Result<(), String> {
    let path = Template::path(field).map_err(|error| format!("error: {error}"))?;
    for group in groups {
        sort::by(&mut group.objects, &path).map_err(|error| format!("error: {error}"))?;
    }
    Ok(())
}
