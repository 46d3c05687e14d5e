//! Events on their way to the store: each process has a recorder (client-go `tools/record`), whose
//! correlator counts, combines and drops.
//!
//! Simplified: in a real cluster an Event is a request like any other; here the write takes no time
//! and does not fail.

use crate::api::{Event, EventSource, Object, ObjectReference, Str, Timestamp};
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
        let stored = Object::Event(event.clone()).key();
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
    let words = format!("{}/{}/{:?}/{source:?}", note.reason, note.message, note.field_path);
    let number = stable_hash(now.as_nanos(), words.as_bytes());
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
    event.rest.extend(reporter.map(|(field, value)| (field.to_string(), value.into())));
    event.metadata.name = format!("{}.{number:016x}", meta.name).into();
    event.metadata.namespace = namespace;
    event.metadata.creation_timestamp = at;
    event.metadata.uid = format!("{number:016x}").into();
    event
}
