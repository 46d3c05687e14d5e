//! The Event recorder: identical Events are counted, not repeated (client-go `tools/record`).
//!
//! In a real cluster an Event is a request like any other, and the recorder drops Events of a
//! source that tells too many about one object (a burst of 25, then one in five minutes). Here the
//! write takes no time, and the same limit holds.

use std::collections::BTreeMap;

use crate::api::{Event, EventSource, Object, ObjectKey, ObjectReference, Str, Timestamp};
use crate::controllers::EventNote;
use crate::kernel::{Time, stable_hash};

use super::ControllerId;
use super::world::World;

/// Events of one source about one object that may be told in a burst.
const BURST: u32 = 25;
/// Seconds after which one more may be told.
const REFILL_SECONDS: u64 = 300;

/// What the recorders of all components remember.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    /// Events told, by what they say.
    told: BTreeMap<u64, ObjectKey>,
    /// Tokens left of each (source, object), and when they were last counted.
    spam: BTreeMap<u64, (u32, Time)>,
}

impl Recorder {
    fn may_tell(&mut self, source: u64, now: Time) -> bool {
        let (tokens, since) = self.spam.entry(source).or_insert((BURST, now));
        let refill = now.since(*since).as_secs() / REFILL_SECONDS;
        if refill > 0 {
            *tokens = tokens.saturating_add(refill as u32).min(BURST);
            *since = now;
        }
        let may = *tokens > 0;
        *tokens = tokens.saturating_sub(1);
        may
    }
}

impl World {
    pub(super) fn record_event(&mut self, id: ControllerId, note: EventNote) {
        let (now, source) = (Timestamp::from(self.now), source_of(id, &note.reason, self));
        let meta = note.about.meta();
        let identity = format!(
            "{}/{}/{}/{}/{}/{:?}",
            meta.uid, note.reason, note.message, source.component, meta.name, note.field_path
        );
        let told = stable_hash(0, identity.as_bytes());
        let spam = stable_hash(0, format!("{}/{}", source.component, meta.uid).as_bytes());
        if !self.recorder.may_tell(spam, self.now) {
            return;
        }
        if let Some(key) = self.recorder.told.get(&told)
            && let Some(Object::Event(event)) = self.api.store().get(key).map(|event| &**event)
        {
            let mut event = event.clone();
            event.count += 1;
            event.last_timestamp = Some(now);
            let _ = self.api.put_event(Object::Event(event));
            return;
        }
        let event = new_event(&note, source, now, told);
        self.recorder.told.insert(told, event.key());
        let _ = self.api.put_event(event);
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

fn new_event(note: &EventNote, source: EventSource, now: Timestamp, identity: u64) -> Object {
    let (meta, kind) = (note.about.meta(), note.about.kind());
    let namespace: Str = match &*meta.namespace {
        "" => "default".into(),
        _ => meta.namespace.clone(),
    };
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
        first_timestamp: Some(now),
        last_timestamp: Some(now),
        ..Event::default()
    };
    event.metadata.name = format!("{}.{identity:016x}", meta.name).into();
    event.metadata.namespace = namespace;
    event.metadata.creation_timestamp = Some(now);
    event.metadata.uid = format!("{identity:016x}").into();
    Object::Event(event)
}
