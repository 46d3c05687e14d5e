//! `get -w` and `events -w`: a row for each change.

use std::sync::Arc;

use crate::api::{Kind, Object, ObjectKey, Timestamp};
use crate::apiserver::{Commit, WatchEventType};
use crate::kubectl::command::{Format, Select, View, Which};
use crate::kubectl::events::Wanted;
use crate::kubectl::get::{sort_all, value_of};
use crate::kubectl::printers::{Look, table};
use crate::kubectl::resources::{find, printed, selects};
use crate::kubectl::{Api, Output, show};

use super::clock;

/// A watch that prints.
#[derive(Clone, Debug)]
pub(super) struct Watch {
    which: Watched,
    kind: Kind,
    view: View,
    with_namespace: bool,
    /// How wide the columns were so far.
    widths: Vec<usize>,
    /// Whether their names were printed.
    has_head: bool,
}

#[derive(Clone, Debug)]
enum Watched {
    One(ObjectKey),
    Objects(Box<Select>),
    Events(Wanted),
}

impl Watch {
    /// Prints what is there. True: there is nothing to follow.
    pub fn objects(select: &Select, view: &View, api: &dyn Api, out: &mut Output) -> (Watch, bool) {
        let kind = select.targets.first().map_or(Kind::Pod, |target| target.kind);
        let mut watch = Watch::new(Watched::Objects(Box::new(select.clone())), kind, select, view);
        let [target] = select.targets.as_slice() else {
            let number = select.targets.len();
            let words = "watch is only supported on individual resources and resource collections";
            out.fail(format!("error: {words} - {number} resources were found"));
            return (watch, true);
        };
        let mut found = find(select, api);
        if let Some(missing) = found.iter_mut().find_map(|found| found.missing.take()) {
            if !view.ignore_not_found {
                out.fail(missing);
            }
            return (watch, true);
        }
        if let Some(Err(error)) = view.sort_by.as_ref().map(|field| sort_all(&mut found, field)) {
            out.fail(error);
            return (watch, true);
        }
        let objects: Vec<Arc<Object>> = found.into_iter().flat_map(|found| found.objects).collect();
        if let (true, Some(one)) = (target.which != Which::All, objects.first()) {
            watch.which = Watched::One(one.key());
        }
        if !view.watch_only {
            watch.print(&objects, api.now(), out);
        }
        (watch, false)
    }

    /// Prints the Events that are there.
    pub fn events(
        select: &Select,
        view: &View,
        types: &[String],
        api: &dyn Api,
        out: &mut Output,
    ) -> Watch {
        let wanted = Wanted::new(select, types, api);
        let events = wanted.now(api);
        let view = match view.format {
            Format::Wide | Format::Name | Format::Columns(_) => {
                View { format: Format::Table, ..view.clone() }
            }
            _ => view.clone(),
        };
        let mut watch = Watch::new(Watched::Events(wanted), Kind::Event, select, &view);
        watch.print(&events, api.now(), out);
        watch
    }

    fn new(which: Watched, kind: Kind, select: &Select, view: &View) -> Watch {
        Watch {
            which,
            kind,
            view: view.clone(),
            with_namespace: select.namespace.is_none(),
            widths: Vec::new(),
            has_head: view.no_headers,
        }
    }

    /// Prints what a change did to what is watched. It never ends.
    pub fn change(&mut self, commit: &Commit, out: &mut Output) -> bool {
        let selects = |object: &Object| match &self.which {
            Watched::One(key) => object.kind() == key.kind && object.key() == *key,
            Watched::Objects(select) => object.kind() == self.kind && selects(select, object),
            Watched::Events(wanted) => wanted.has(object),
        };
        let Some(event) = commit.seen_through(selects) else { return false };
        // That the server forgets an old Event is no news.
        let is_event = matches!(self.which, Watched::Events(_));
        if !is_event || event.kind != WatchEventType::Deleted {
            self.print(&[event.object], clock(commit), out);
        }
        false
    }

    fn print(&mut self, objects: &[Arc<Object>], now: Timestamp, out: &mut Output) {
        if objects.is_empty() {
            return;
        }
        let (view, head) = (&self.view, !self.has_head);
        match &view.format {
            Format::Table | Format::Wide => {
                let look = Look {
                    wide: view.format == Format::Wide,
                    with_kind: view.show_kind,
                    with_namespace: self.with_namespace,
                    show_labels: view.show_labels,
                    label_columns: &view.label_columns,
                };
                let table = table(self.kind, objects, now, &look);
                out.text.push_str(&table.aligned(head, &mut self.widths));
            }
            Format::Name => objects.iter().for_each(|object| out.line(printed(object))),
            Format::Columns(columns) => {
                let values: Vec<_> = objects.iter().map(|object| object.to_value()).collect();
                show::columns_of(&values, columns, head, out);
            }
            format => {
                for object in objects {
                    show::value(&value_of(object, view), format, out);
                }
            }
        }
        self.has_head = true;
    }
}
