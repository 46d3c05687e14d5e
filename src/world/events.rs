//! Events on their way to the store: each process has a recorder (client-go `tools/record`), whose
//! correlator counts, combines and drops.
//!
//! Simplified: in a real cluster an Event is a request like any other; here the write takes no time
//! and does not fail.

use crate::api::{
    Event, EventSource, Kind, Object, ObjectKey, ObjectReference, Rest, Str, Timestamp,
};
use crate::controllers::EventNote;
use crate::kernel::{Time, stable_hash};

use super::ControllerId;
use super::world::World;

impl World {
    pub(super) fn record_event(&mut self, id: ControllerId, note: EventNote) {
        let now = self.now;
        let host = match id {
            ControllerId::Kubelet(node) => Some(self.node_name(node)),
            _ => None,
        };
        let Some(process) = self.processes.get_mut(&id) else { return };
        let component = component_of(id, &note.reason);
        let reporter = process.reporter.take().filter(|r| *r.source.component == *component);
        let mut reporter = reporter.unwrap_or_else(|| Reporter::new(component, host));
        let event = new_event(&note, &mut reporter, now);
        process.reporter = Some(reporter);
        let Some(observed) = process.recorder.correlate(event, now) else { return };
        let mut event = observed.event;
        let (namespace, name) = (event.metadata.namespace.clone(), event.metadata.name.clone());
        let stored = ObjectKey::new(Kind::Event, namespace, name);
        // One that was dropped in the meantime is made anew, with its count.
        if let Some(known) = self.api.store().get(&stored).and_then(|known| known.as_event()) {
            event.metadata = known.metadata.clone();
        }
        let _ = self.api.put_event(Object::Event(event));
    }
}

/// What all Events of one component have in common.
#[derive(Clone, Debug)]
pub struct Reporter {
    source: EventSource,
    /// `reportingComponent` and `reportingInstance`.
    rest: Rest,
    /// The kind that the last Event was about, with its `apiVersion` and `kind`.
    about: Option<(Kind, (Str, Str))>,
}

impl Reporter {
    fn new(component: &str, host: Option<Str>) -> Reporter {
        let instance = host.as_deref().unwrap_or("");
        let fields = [("reportingComponent", component), ("reportingInstance", instance)];
        let rest = Rest::from(fields.map(|(field, value)| (field.to_string(), value.into())));
        let source = EventSource { component: component.into(), host };
        Reporter { source, rest, about: None }
    }

    /// `apiVersion` and `kind` of a kind; mostly it is that of the Event before.
    fn names_of(&mut self, kind: Kind) -> (Str, Str) {
        if let Some((last, names)) = &self.about
            && *last == kind
        {
            return names.clone();
        }
        let names: (Str, Str) = (kind.info().api_version.into(), kind.info().kind.into());
        self.about = Some((kind, names.clone()));
        names
    }
}

/// The node controller evicts through a component with a name of its own.
fn component_of(id: ControllerId, reason: &str) -> &'static str {
    match reason {
        "TaintManagerEviction" => "taint-eviction-controller",
        _ => id.component(),
    }
}

/// The Event of a note. Its name is the object's and, as in Kubernetes, a number that comes from
/// the time; so that two at the same moment differ, from what it says too.
fn new_event(note: &EventNote, reporter: &mut Reporter, now: Time) -> Event {
    let meta = note.about.meta();
    let (api_version, kind) = reporter.names_of(note.about.kind());
    let namespace: Str = match &*meta.namespace {
        "" => "default".into(),
        _ => meta.namespace.clone(),
    };
    let source = &reporter.source;
    let (field, host) = (note.field_path.as_deref(), source.host.as_deref());
    let from = [&*source.component, host.unwrap_or("")];
    let words = [&*note.reason, &note.message, field.unwrap_or("")].into_iter().chain(from);
    let number = words.fold(now.as_nanos(), |hash, word| stable_hash(hash, word.as_bytes()));
    let number = format!("{number:016x}");
    let at = Some(Timestamp::from(now));
    let mut event = Event {
        involved_object: ObjectReference {
            api_version,
            kind,
            name: meta.name.clone(),
            namespace: meta.namespace.clone(),
            uid: meta.uid.clone(),
            resource_version: meta.resource_version.to_string().into(),
            field_path: note.field_path.clone(),
        },
        reason: note.reason.clone(),
        message: note.message.as_str().into(),
        source: source.clone(),
        kind: note.kind,
        count: 1,
        first_timestamp: at,
        last_timestamp: at,
        rest: reporter.rest.clone(),
        ..Event::default()
    };
    event.metadata.name = [&*meta.name, ".", &number].concat().into();
    event.metadata.namespace = namespace;
    event.metadata.creation_timestamp = at;
    event.metadata.uid = number.into();
    event
}
