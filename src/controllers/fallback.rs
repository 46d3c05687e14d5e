//! What a pass still writes when one of its requests has failed: a Deployment says in its status
//! that its ReplicaSet could not be made (`getNewReplicaSet` in Kubernetes'
//! `pkg/controller/deployment/sync.go`).

use std::sync::Arc;

use crate::api::{Condition, Object, Value};
use crate::apiserver::{ApiError, Request};

use super::plan::EventNote;

/// What follows a failed request, besides the end of the pass. It is written once; if that fails
/// too, the first error stays the pass's error.
#[derive(Clone, Debug)]
pub struct Fallback {
    /// For which failures.
    pub applies: fn(&ApiError) -> bool,
    /// Written in place of the plan's `finish`. `{error}` in its conditions becomes the error.
    pub write: Option<Request>,
    /// Told. `{error}` in its message becomes the error.
    pub event: Option<EventNote>,
}

const PLACE: &str = "{error}";

impl Fallback {
    /// The write and the event, with the error in its places.
    pub fn filled(&self, error: &ApiError) -> (Option<Request>, Option<EventNote>) {
        let text = &error.message;
        let write = self.write.clone().map(|request| match request {
            Request::Update(part, object) => Request::Update(part, fill_object(object, text)),
            Request::Patch(part, key, mut patch) => {
                fill_value(&mut patch, text);
                Request::Patch(part, key, patch)
            }
            other => other,
        });
        let event = self.event.clone().map(|mut note| {
            note.message = note.message.replace(PLACE, text);
            note
        });
        (write, event)
    }
}

fn fill_object(object: Arc<Object>, text: &str) -> Arc<Object> {
    let mut object = Object::clone(&object);
    if let Object::Deployment(deployment) = &mut object {
        fill_conditions(&mut deployment.status.conditions, text);
    }
    Arc::new(object)
}

fn fill_conditions(conditions: &mut [Condition], text: &str) {
    for condition in conditions {
        if let Some(message) = &mut condition.message {
            *message = message.replace(PLACE, text).into();
        }
    }
}

fn fill_value(value: &mut Value, text: &str) {
    match value {
        Value::String(message) => *message = message.replace(PLACE, text),
        Value::Array(items) => items.iter_mut().for_each(|item| fill_value(item, text)),
        Value::Object(fields) => fields.values_mut().for_each(|item| fill_value(item, text)),
        _ => {}
    }
}
