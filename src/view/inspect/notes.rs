//! Conditions and Events of an object, as `kubectl describe` tells them.

use crate::api::{Condition, Event, EventType, Kind, Object, Str};
use crate::kernel::Time;
use crate::world::World;

use super::finding::{ConditionRow, EventNote};

/// Events of one object that are told at most; the newest stay.
const EVENTS_MAX: usize = 30;

/// The conditions in an object's status.
pub fn conditions_of(object: &Object) -> Vec<Condition> {
    match object {
        Object::Pod(pod) => pod.status.conditions.to_vec(),
        Object::ReplicaSet(set) => set.status.conditions.clone(),
        Object::Deployment(deployment) => deployment.status.conditions.clone(),
        Object::Node(node) => node.status.conditions.clone(),
        Object::Generic(generic) => generic.status().read("conditions"),
        Object::Event(_) | Object::Lease(_) => Vec::new(),
    }
}

/// All of them as rows.
pub fn condition_rows(object: &Object) -> Vec<ConditionRow> {
    conditions_of(object).iter().map(row).collect()
}

/// One of them.
pub fn condition(object: &Object, kind: &str) -> Option<ConditionRow> {
    Condition::find(&conditions_of(object), kind).map(row)
}

fn row(condition: &Condition) -> ConditionRow {
    let text = |text: &Option<Str>| text.clone().unwrap_or_else(|| "".into());
    ConditionRow {
        kind: condition.kind.clone(),
        status: condition.status,
        reason: text(&condition.reason),
        message: text(&condition.message),
        since: condition.last_transition_time.map(|at| at.to_time()),
    }
}

/// The Events about an object, oldest first.
pub fn events(world: &World, object: &Object) -> Vec<EventNote> {
    let mut notes: Vec<EventNote> = about(world, object).map(note).collect();
    notes.sort_by_key(|note| note.at);
    let surplus = notes.len().saturating_sub(EVENTS_MAX);
    notes.split_off(surplus)
}

/// The newest Event about an object that is a cause for worry.
pub fn last_warning(world: &World, object: &Object) -> Option<EventNote> {
    let warnings = about(world, object).filter(|event| event.kind == EventType::Warning);
    warnings.max_by_key(|event| event.last_timestamp).map(note)
}

fn about<'a>(world: &'a World, object: &'a Object) -> impl Iterator<Item = &'a Event> {
    let (meta, kind) = (object.meta(), object.kind().info().kind);
    let all = world.store().list(Kind::Event).filter_map(|object| object.as_event());
    all.filter(move |event| {
        let about = &event.involved_object;
        *about.kind == *kind
            && about.name == meta.name
            && (about.uid.is_empty() || about.uid == meta.uid)
    })
}

fn note(event: &Event) -> EventNote {
    EventNote {
        at: event.last_timestamp.or(event.first_timestamp).map_or(Time::ZERO, |at| at.to_time()),
        warning: event.kind == EventType::Warning,
        reason: event.reason.clone(),
        message: event.message.clone(),
        from: event.source.component.clone(),
        count: event.count,
    }
}
