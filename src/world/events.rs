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
        let event = new_event(&note, source_of(id, &note.reason, self), self.now);
        let now = self.now;
        let Some(process) = self.processes.get_mut(&id) else { return };
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

fn source_of(id: ControllerId, reason: &str, world: &World) -> EventSource {
    let host = match id {
        ControllerId::Kubelet(node) => Some(world.node_name(node)),
        _ => None,
    };
    // The node controller evicts through a component with a name of its own.
    let component = match reason {
        "TaintManagerEviction" => "taint-eviction-controller",
        _ => id.component(),
    };
    EventSource { component: component.into(), host }
}

/// The Event of a note. Its name is the object's and, as in Kubernetes, a number that comes from
/// the time; so that two at the same moment differ, from what it says too.
fn new_event(note: &EventNote, source: EventSource, now: Time) -> Event {
    let (meta, kind) = (note.about.meta(), note.about.kind());
    let namespace: Str = match &*meta.namespace {
        "" => "default".into(),
        _ => meta.namespace.clone(),
    };
    let (field, host) = (note.field_path.as_deref(), source.host.as_deref());
    let from = [&*source.component, host.unwrap_or("")];
    let words = [&*note.reason, &note.message, field.unwrap_or("")].into_iter().chain(from);
    let number = words.fold(now.as_nanos(), |hash, word| stable_hash(hash, word.as_bytes()));
    let number = format!("{number:016x}");
    let at = Some(Timestamp::from(now));
    let mut event = Event {
        involved_object: ObjectReference {
            api_version: kind.info().api_version.into(),
            kind: kind.info().kind.into(),
            name: meta.name.clone(),
            namespace: meta.namespace.clone(),
            uid: meta.uid.clone(),
            resource_version: meta.resource_version.to_string().into(),
            field_path: note.field_path.clone(),
        },
        reason: note.reason.clone(),
        message: note.message.as_str().into(),
        source,
        kind: note.kind,
        count: 1,
        first_timestamp: at,
        last_timestamp: at,
        ..Event::default()
    };
    let reporter = [
        ("reportingComponent", event.source.component.to_string()),
        ("reportingInstance", event.source.host.as_deref().unwrap_or("").to_string()),
    ];
    event.rest = Rest::from(reporter.map(|(field, value)| (field.to_string(), value.into())));
    event.metadata.name = [&*meta.name, ".", &number].concat().into();
    event.metadata.namespace = namespace;
    event.metadata.creation_timestamp = at;
    event.metadata.uid = number.into();
    event
}
