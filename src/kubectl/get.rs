//! `kubectl get` and `events`.

use std::sync::Arc;

use serde_json::json;

use crate::api::{Kind, Object, Value};
use crate::apiserver::managed_fields;

use super::command::{Format, Select, View};
use super::path;
use super::printers::{Look, Table, table};
use super::resources::{Found, find, printed};
use super::{Api, Output};

/// Shows what a line names.
pub fn run(select: &Select, view: &View, api: &dyn Api, out: &mut Output) {
    let mut groups = find(select, api);
    let missing: Vec<String> = groups.iter_mut().filter_map(|group| group.missing.take()).collect();
    if let Some(sort_by) = &view.sort_by {
        for group in &mut groups {
            sort(&mut group.objects, sort_by);
        }
    }
    let none = groups.iter().all(|group| group.objects.is_empty());
    let single =
        matches!(select.targets.as_slice(), [one] if one.which != super::command::Which::All);
    match &view.format {
        _ if none && single => {}
        Format::Table | Format::Wide if none => nothing(select, view, out),
        Format::Table | Format::Wide => tables(&groups, select, view, api, out),
        Format::Name => {
            for object in groups.iter().flat_map(|group| &group.objects) {
                out.line(printed(object));
            }
        }
        Format::Yaml | Format::Json | Format::JsonPath(_) => {
            data(&groups, single, view, out);
        }
    }
    if !view.ignore_not_found {
        missing.into_iter().for_each(|line| out.fail(line));
    }
}

fn nothing(select: &Select, view: &View, out: &mut Output) {
    if view.ignore_not_found {
        return;
    }
    let namespaced = select.targets.iter().any(|target| target.kind.info().namespaced);
    out.line(match &select.namespace {
        Some(namespace) if namespaced => format!("No resources found in {namespace} namespace."),
        _ => "No resources found".into(),
    });
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
    let shown = |object: &Arc<Object>| {
        let mut value = object.to_value();
        let meta = value.get_mut("metadata").and_then(Value::as_object_mut);
        if let Some(meta) = meta.filter(|_| view.show_managed_fields) {
            meta.insert("managedFields".into(), managed_fields::to_value(object));
        }
        value
    };
    let mut values = groups.iter().flat_map(|group| &group.objects).map(shown);
    let value = match single {
        true => values.next().unwrap_or(Value::Null),
        false => {
            let items: Vec<Value> = values.collect();
            let metadata = json!({"resourceVersion": ""});
            json!({"apiVersion": "v1", "items": items, "kind": "List", "metadata": metadata})
        }
    };
    match &view.format {
        Format::Yaml => out.text.push_str(&yaml(&value)),
        Format::JsonPath(template) => match path::fill(template, &value) {
            Ok(text) => out.line(text),
            Err(error) => out.fail(format!("error: error parsing jsonpath {template}, {error}")),
        },
        _ => out.line(indented(&value)),
    }
}

/// As YAML, keys sorted.
pub fn yaml(value: &Value) -> String {
    serde_yaml::to_string(value).unwrap_or_default()
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

/// By a field: numbers by their size, text by its letters. Equals keep their order.
fn sort(objects: &mut [Arc<Object>], field: &str) {
    objects.sort_by_cached_key(|object| {
        let text = path::text(&object.to_value(), field);
        let number = text.parse::<i64>().ok();
        (number.is_none(), number, text)
    });
}

/// `kubectl events`: the Events, oldest first, as their own columns.
pub fn events(select: &Select, view: &View, api: &dyn Api, out: &mut Output) {
    let namespace = select.namespace.as_deref();
    let mut events = api.list(Kind::Event, namespace);
    let about: Vec<Arc<Object>> = find(select, api).into_iter().flat_map(|f| f.objects).collect();
    if !select.targets.is_empty() {
        events.retain(|event| {
            let Object::Event(event) = &**event else {
                return false;
            };
            let same = |object: &Arc<Object>| {
                *event.involved_object.name == *object.meta().name
                    && *event.involved_object.kind == *object.kind().info().kind
            };
            about.iter().any(same)
        });
    }
    events.sort_by_key(|event| match &**event {
        Object::Event(event) => event.last_timestamp,
        _ => None,
    });
    if events.is_empty() {
        return out.line(match namespace {
            Some(namespace) => format!("No events found in {namespace} namespace."),
            None => "No events found.".into(),
        });
    }
    let look = Look { with_namespace: select.namespace.is_none(), ..Look::default() };
    let table: Table = table(Kind::Event, &events, api.now(), &look);
    out.text.push_str(&table.text(!view.no_headers));
}
