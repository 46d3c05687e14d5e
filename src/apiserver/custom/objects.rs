//! The objects of kinds that users define, on their way into the store.

use serde_json::{Map, json};

use crate::api::{Generic, Kind, Object, Value};
use crate::apiserver::store::Store;
use crate::apiserver::{ApiError, Part, Reason};

use super::{definition, schema};

/// A kind that nobody serves.
fn not_served() -> ApiError {
    ApiError::new(Reason::NotFound, "the server could not find the requested resource")
}

/// The definition of an object's kind: absent for Kubernetes' own kinds, an error for one that is
/// not served.
fn definition_of(store: &Store, kind: Kind) -> Result<Option<&Generic>, ApiError> {
    if !kind.is_custom() {
        return Ok(None);
    }
    definition::of(store, kind).map(Some).ok_or_else(not_served)
}

/// Refuses a request about a kind that is not served.
pub fn check_served(store: &Store, kind: Kind) -> Result<(), ApiError> {
    definition_of(store, kind).map(|_| ())
}

/// A new object: its status as asked, if it is not written apart; without unknown fields, and with
/// defaults.
pub fn prepare(store: &Store, asked: &Object, object: &mut Object) -> Result<(), ApiError> {
    let Some(defined) = definition_of(store, object.kind())? else {
        return Ok(());
    };
    if defined.metadata.is_terminating() {
        let why = "create not allowed while custom resource definition is terminating";
        return Err(ApiError::new(Reason::MethodNotAllowed, why));
    }
    let (Object::Generic(object), Object::Generic(asked)) = (object, asked) else {
        return Ok(());
    };
    if let Some(status) = asked.rest.get("status").filter(|_| !definition::has_status(defined)) {
        object.rest.insert("status".into(), status.clone());
    }
    settle(object, defined);
    Ok(())
}

fn body(object: &Generic) -> Value {
    Value::Object(object.rest.clone().into_iter().collect::<Map<String, Value>>())
}

fn settle(object: &mut Generic, defined: &Generic) {
    let Some(shape) = definition::schema(defined) else { return };
    let mut value = body(object);
    schema::prune(&mut value, shape);
    schema::default(&mut value, shape);
    if let Value::Object(map) = value {
        object.rest = map.into_iter().collect();
    }
}

/// What a write to `part` leaves of a custom object, where that differs from other kinds.
pub fn merge_update(
    store: &Store,
    part: Part,
    stored: &Object,
    asked: &Object,
    mut after: Object,
) -> Result<Object, ApiError> {
    let Some(defined) = definition_of(store, stored.kind())? else {
        return Ok(after);
    };
    let (Object::Generic(stored), Object::Generic(asked)) = (stored, asked) else {
        return Ok(after);
    };
    if let Object::Generic(after) = &mut after {
        match part {
            Part::Main if !definition::has_status(defined) => {
                match asked.rest.get("status") {
                    Some(status) => after.rest.insert("status".into(), status.clone()),
                    None => after.rest.remove("status"),
                };
            }
            Part::Status if !definition::has_status(defined) => return Err(not_served()),
            Part::Scale => take_replicas(after, asked, defined)?,
            _ => {}
        }
        settle(after, defined);
        bump_generation(stored, after, definition::has_status(defined));
    }
    Ok(after)
}

/// The number of replicas alone, wherever the definition says that it stands.
fn take_replicas(after: &mut Generic, asked: &Generic, defined: &Generic) -> Result<(), ApiError> {
    let path = definition::replicas_path(defined).ok_or_else(not_served)?;
    let path = path.trim_start_matches('.').replace('.', "/");
    let Some(replicas) = asked.field(&path) else { return Ok(()) };
    let mut place = Value::Object(after.rest.clone().into_iter().collect());
    let mut at = &mut place;
    for step in path.split('/') {
        if !at.is_object() {
            *at = json!({});
        }
        let Value::Object(map) = at else { return Ok(()) };
        at = map.entry(step).or_insert(Value::Null);
    }
    *at = replicas.clone();
    if let Value::Object(map) = place {
        after.rest = map.into_iter().collect();
    }
    Ok(())
}

/// With a status apart, everything else counts; without, the status too. Metadata never does.
fn bump_generation(stored: &Generic, after: &mut Generic, status_apart: bool) {
    let counted = |object: &Generic| {
        let mut rest = object.rest.clone();
        if status_apart {
            rest.remove("status");
        }
        rest
    };
    after.metadata.generation =
        stored.metadata.generation + i64::from(counted(stored) != counted(after));
}

/// Refuses a custom object, or a definition, that breaks rules.
pub fn validate(store: &Store, object: &Object) -> Result<(), ApiError> {
    let Object::Generic(generic) = object else { return Ok(()) };
    let Some(defined) = definition_of(store, generic.kind)? else {
        return Ok(());
    };
    let Some(shape) = definition::schema(defined) else { return Ok(()) };
    match schema::validate(&body(generic), shape).into_words().as_slice() {
        [] => Ok(()),
        errors => Err(ApiError::invalid(generic.kind, &generic.metadata.name, errors)),
    }
}
