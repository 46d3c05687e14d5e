//! Objects of kinds that users define, against the schema of their definition in the cluster that
//! is spoken to: what strict decoding and validation will say.

use crate::api::{Kind, Value, custom};
use crate::apiserver::custom::{definition, schema};

/// What the API server would hold against an object.
#[derive(Default)]
pub struct Held {
    /// Fields that the schema does not name.
    pub unknown: Vec<String>,
    /// Field errors, once defaults are filled in.
    pub errors: Vec<String>,
}

/// Looks at an object of a defined kind.
pub fn check(kind: Kind, value: &Value) -> Held {
    let definition = custom::definition(kind);
    let Some(shape) = definition.as_ref().and_then(|definition| definition::schema(definition))
    else {
        return Held::default();
    };
    let mut value = value.clone();
    let unknown = schema::prune(&mut value, shape);
    schema::default(&mut value, shape);
    Held { unknown, errors: schema::validate(&value, shape).into_words() }
}
