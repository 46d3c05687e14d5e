//! `kubectl events`: the Events, oldest first.

use std::sync::Arc;

use crate::api::{Event, EventType, Kind, Object, Value};

use super::command::{Format, Select, View};
use super::get::WATCHING;
use super::printers::{Look, Table, table};
use super::resources::find;
use super::{Api, Output, show};

/// Shows the Events of what a line names, or all of them.
#[inline(never)]
pub fn run(select: &Select, view: &View, types: &[String], api: &dyn Api, out: &mut Output) {
    let namespace = select.namespace.as_deref();
    let mut events = api.list(Kind::Event, namespace);
    let about = select.targets.iter().any(|target| target.kind != Kind::Event);
    if about {
        let found = find(select, api);
        let objects: Vec<Arc<Object>> = found.into_iter().flat_map(|f| f.objects).collect();
        events.retain(|event| {
            objects.iter().any(|object| of(event, |event| is_about(event, object)))
        });
    }
    let wanted = |event: &Event| {
        let word = if event.kind == EventType::Warning { "Warning" } else { "Normal" };
        types.is_empty() || types.iter().any(|wanted| wanted.eq_ignore_ascii_case(word))
    };
    events.retain(|event| of(event, wanted));
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
    match &view.format {
        Format::Table | Format::Wide | Format::Name | Format::Columns(_) => {
            let look = Look { with_namespace: select.namespace.is_none(), ..Look::default() };
            let table: Table = table(Kind::Event, &events, api.now(), &look);
            out.text.push_str(&table.text(!view.no_headers));
        }
        format => {
            let values: Vec<Value> = events.iter().map(|event| event.to_value()).collect();
            show::value(&show::list(values), format, out);
        }
    }
    if view.watch {
        out.line(WATCHING);
    }
}

fn of(object: &Object, holds: impl Fn(&Event) -> bool) -> bool {
    matches!(object, Object::Event(event) if holds(event))
}

fn is_about(event: &Event, object: &Object) -> bool {
    let about = &event.involved_object;
    *about.name == *object.meta().name
        && *about.kind == *object.kind().info().kind
        && (about.namespace == object.meta().namespace || object.meta().namespace.is_empty())
}
