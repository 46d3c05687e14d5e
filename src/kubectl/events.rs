//! `kubectl events`: the Events, oldest first.

use std::sync::Arc;

use crate::api::{Event, EventType, Kind, Object, Str, Value};

use super::command::{Format, Select, View};
use super::get::WATCHING;
use super::printers::{Look, Table, table};
use super::resources::find;
use super::{Api, Output, show};

/// Shows the Events of what a line names, or all of them.
pub fn run(select: &Select, view: &View, types: &[String], api: &dyn Api, out: &mut Output) {
    let namespace = select.namespace.as_deref();
    let events = Wanted::new(select, types, api).now(api);
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

/// Which Events a line asks for.
#[derive(Clone, Debug)]
pub struct Wanted {
    namespace: Option<Str>,
    types: Vec<String>,
    /// What they are about, if it matters.
    about: Option<Vec<Arc<Object>>>,
}

impl Wanted {
    /// What a line asks for, as things stand.
    pub fn new(select: &Select, types: &[String], api: &dyn Api) -> Wanted {
        let about = select.targets.iter().any(|target| target.kind != Kind::Event);
        let objects = || find(select, api).into_iter().flat_map(|found| found.objects).collect();
        Wanted {
            namespace: select.namespace.clone(),
            types: types.to_vec(),
            about: about.then(objects),
        }
    }

    /// Those that are there, oldest first.
    pub fn now(&self, api: &dyn Api) -> Vec<Arc<Object>> {
        let mut events = api.list(Kind::Event, self.namespace.as_deref());
        events.retain(|event| self.has(event));
        events.sort_by_key(|event| match &**event {
            Object::Event(event) => event.last_timestamp,
            _ => None,
        });
        events
    }

    /// Whether it is one of them.
    pub fn has(&self, object: &Object) -> bool {
        let Object::Event(event) = object else { return false };
        let word = if event.kind == EventType::Warning { "Warning" } else { "Normal" };
        let types = &self.types;
        let about = |objects: &Vec<Arc<Object>>| objects.iter().any(|o| is_about(event, o));
        self.namespace.as_ref().is_none_or(|namespace| *namespace == event.metadata.namespace)
            && (types.is_empty() || types.iter().any(|wanted| wanted.eq_ignore_ascii_case(word)))
            && self.about.as_ref().is_none_or(about)
    }
}

fn is_about(event: &Event, object: &Object) -> bool {
    let about = &event.involved_object;
    *about.name == *object.meta().name
        && *about.kind == *object.kind().info().kind
        && (about.namespace == object.meta().namespace || object.meta().namespace.is_empty())
}
