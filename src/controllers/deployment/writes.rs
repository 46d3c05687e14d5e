//! The requests of both flavours. Level replaces objects as it saw them, so that it is refused if
//! they have moved; edge patches what it changes, whatever else has happened to them.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::api::{Deployment, Kind, Object, ObjectKey, ReplicaSet};
use crate::apiserver::{ApiError, DeleteOptions, Part, Request};
use crate::controllers::{Deed, EventNote, Fallback, Intent};

use super::rollout::Resize;
use super::{annotations, claim, conditions, new_set};

/// The set with another size, and with what it should know of the Deployment's.
pub fn resized(set: &ReplicaSet, to: i32, deployment: &Deployment) -> ReplicaSet {
    let mut set = set.clone();
    set.spec.replicas = Some(to);
    let (desired, max) = annotations::sizes_for(deployment);
    annotations::set_sizes(&mut set.metadata.annotations, desired, max);
    set
}

/// The Event of a resize; none if the size stays.
pub fn scaling_event(about: &Arc<Object>, resize: &Resize) -> Option<EventNote> {
    let Resize { name, from, to } = resize;
    let direction = if from < to { "up" } else { "down" };
    let text = format!("Scaled {direction} replica set {name} from {from} to {to}");
    (from != to).then(|| EventNote::normal(about, "ScalingReplicaSet", text))
}

/// Makes a set.
pub fn create(about: &Arc<Object>, set: &ReplicaSet) -> Intent {
    let object = Arc::new(Object::ReplicaSet(set.clone()));
    let mut intent = Intent::new(Deed::CreateReplicaSet, Request::Create(object));
    let (name, to) = (set.metadata.name.clone(), set.spec.replicas());
    intent.on_success = scaling_event(about, &Resize { name, from: 0, to });
    intent
}

/// What follows when a set cannot be made: the Deployment says so, in its status and in an Event.
pub fn not_made(
    about: &Arc<Object>,
    deployment: &Deployment,
    set: &ReplicaSet,
    write: impl Fn(&Deployment) -> Request,
    cx: &crate::controllers::Context,
) -> Vec<Fallback> {
    let mut failed = deployment.clone();
    let text = new_set::note_not_made(&mut failed, set, cx.timestamp());
    // Whoever deletes a namespace does not need to hear that nothing can be made in it.
    let in_dying_namespace =
        |error: &ApiError| error.message.contains("because it is being terminated");
    let changed = failed.status != deployment.status;
    vec![
        Fallback { applies: in_dying_namespace, write: None, event: None },
        Fallback {
            applies: |_| true,
            write: changed.then(|| write(&failed)),
            event: Some(EventNote::warning(about, conditions::SET_CREATE_ERROR, text)),
        },
    ]
}

/// Deletes a set.
pub fn delete(set: &ReplicaSet) -> Intent {
    let request = Request::Delete(claim::key_of(set), DeleteOptions::default());
    Intent::tolerant(Deed::DeleteReplicaSet, request)
}

/// Replaces a set.
pub fn update(deed: Deed, set: ReplicaSet) -> Intent {
    Intent::new(deed, Request::Update(Part::Main, Arc::new(Object::ReplicaSet(set))))
}

/// Replaces the status (and with it the annotations) of a Deployment.
pub fn update_status(deployment: &Deployment) -> Request {
    let object = Arc::new(Object::Deployment(deployment.clone()));
    Request::Update(Part::Status, object)
}

/// Changes in a set what differs between the two, and nothing else. A set that is gone needs no
/// change: its DELETED says so.
pub fn patch(deed: Deed, before: &ReplicaSet, after: &ReplicaSet) -> Intent {
    let (old, new) = (&before.metadata.annotations, &after.metadata.annotations);
    let changed = new.iter().filter(|(name, value)| old.get(*name) != Some(value));
    let annotations: Map<String, Value> =
        changed.map(|(name, value)| (name.to_string(), json!(value))).collect();
    let mut spec = Map::new();
    if before.spec.replicas != after.spec.replicas {
        spec.insert("replicas".into(), json!(after.spec.replicas));
    }
    if before.spec.min_ready_seconds != after.spec.min_ready_seconds {
        spec.insert("minReadySeconds".into(), json!(after.spec.min_ready_seconds));
    }
    let mut patch = Map::new();
    if !annotations.is_empty() {
        patch.insert("metadata".into(), json!({"annotations": annotations}));
    }
    if !spec.is_empty() {
        patch.insert("spec".into(), Value::Object(spec));
    }
    let request = Request::Patch(Part::Main, claim::key_of(after), Value::Object(patch));
    Intent::tolerant(deed, request)
}

/// Fields of a Deployment's status that are left out when they are zero, and so must be taken away.
const STATUS_FIELDS: [&str; 9] = [
    "observedGeneration",
    "replicas",
    "updatedReplicas",
    "readyReplicas",
    "availableReplicas",
    "unavailableReplicas",
    "terminatingReplicas",
    "conditions",
    "collisionCount",
];

/// Writes the status of a Deployment, and its revision, over whatever is there.
pub fn patch_status(deployment: &Deployment) -> Request {
    let meta = &deployment.metadata;
    let mut status = serde_json::to_value(&deployment.status).unwrap_or_default();
    if let Value::Object(fields) = &mut status {
        for name in STATUS_FIELDS {
            fields.entry(name).or_insert(Value::Null);
        }
    }
    let mut patch = json!({ "status": status });
    if let Some(revision) = meta.annotations.get(annotations::REVISION) {
        patch["metadata"]["annotations"][annotations::REVISION] = json!(revision);
    }
    let key = ObjectKey::new(Kind::Deployment, meta.namespace.clone(), meta.name.clone());
    Request::Patch(Part::Status, key, patch)
}
