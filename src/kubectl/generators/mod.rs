//! The objects that `kubectl create KIND`, `run` and the like make (kubectl `pkg/cmd/create`,
//! `pkg/cmd/run`), with the empty fields that kubectl prints. Nothing is read from files.

pub mod access;
pub mod plain;
pub mod pods;
pub mod service;

use serde_json::{Map, json};

use crate::api::Value;

use super::errors::UsageError;
use super::flags::Flags;

/// What a generator is told.
pub struct Named<'f> {
    /// The verb behind `create`: `service nodeport`.
    pub what: &'f str,
    /// The object's name.
    pub name: &'f str,
    /// The words behind `--`.
    pub command: &'f [String],
    /// The flags.
    pub flags: &'f Flags,
}

impl Named<'_> {
    /// The value of a flag that must be there.
    fn required(&self, flag: &str) -> Result<&str, UsageError> {
        self.flags
            .value(flag)
            .ok_or_else(|| UsageError::plain(format!("required flag(s) \"{flag}\" not set")))
    }

    /// Refuses flags that name files.
    fn no_files(&self, flags: &[&str]) -> Result<(), UsageError> {
        match flags.iter().find(|flag| self.flags.value(flag).is_some()) {
            Some(flag) => Err(UsageError::plain(format!(
                "--{flag} is not part of this simulation: there are no files"
            ))),
            None => Ok(()),
        }
    }

    /// `{"name": NAME}` as metadata.
    fn metadata(&self) -> Value {
        json!({ "name": self.name })
    }

    /// Every part of every value of a flag that takes a list.
    fn list(&self, flag: &str) -> Vec<&str> {
        let parts = self.flags.values(flag).flat_map(|list| list.split(','));
        parts.filter(|part| !part.is_empty()).collect()
    }
}

/// Pairs as a map.
pub fn map(pairs: &[(String, String)]) -> Value {
    let pairs = pairs.iter().map(|(key, value)| (key.clone(), value.as_str().into()));
    Value::Object(pairs.collect::<Map<String, Value>>())
}

/// Without nulls and without what is empty: as the API server would be sent it.
pub fn bare(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let bared = fields.iter().map(|(key, value)| (key.clone(), bare(value)));
            let empty =
                |value: &Value| value.is_null() || value.as_object().is_some_and(Map::is_empty);
            Value::Object(bared.filter(|(_, value)| !empty(value)).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(bare).collect()),
        other => other.clone(),
    }
}
