//! `metadata.managedFields`: who wants which fields of an object, and how it came to that.

use std::sync::Arc;

use serde_json::{Map, json};

use super::{FieldSet, Str, Timestamp, Value};

/// How a manager came to its fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ManagedFieldsOperation {
    /// By server-side apply.
    Apply,
    /// By any other write.
    #[default]
    Update,
}

/// `metav1.ManagedFieldsEntry`: the fields of one manager.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ManagedFieldsEntry {
    /// Its name.
    pub manager: Str,
    /// How it came to its fields.
    pub operation: ManagedFieldsOperation,
    /// The version in which it wrote.
    pub api_version: Str,
    /// When it last wrote.
    pub time: Option<Timestamp>,
    /// `status` or `scale`; empty for the object itself.
    pub subresource: Str,
    /// Its fields.
    pub fields: FieldSet,
    /// Whether all of the status is its own too: told without a list of fields, so that the many
    /// writes of a status by its one writer cost nothing.
    pub whole_status: bool,
}

/// The entries of an object. None are known of an object that no person ever wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ManagedFields(Option<Arc<[ManagedFieldsEntry]>>);

impl ManagedFields {
    /// Whether writes of the object are recorded.
    pub fn is_tracked(&self) -> bool {
        self.0.is_some()
    }

    /// The entries.
    pub fn entries(&self) -> &[ManagedFieldsEntry] {
        self.0.as_deref().unwrap_or_default()
    }
}

impl From<Vec<ManagedFieldsEntry>> for ManagedFields {
    /// In the order of the API server: appliers first, then by time and name.
    fn from(mut entries: Vec<ManagedFieldsEntry>) -> ManagedFields {
        entries.sort_by(|a, b| {
            let key = |entry: &ManagedFieldsEntry| (entry.operation, entry.time);
            let names = |entry: &ManagedFieldsEntry| {
                (entry.manager.clone(), entry.api_version.clone(), entry.subresource.clone())
            };
            key(a).cmp(&key(b)).then_with(|| names(a).cmp(&names(b)))
        });
        ManagedFields(Some(entries.into()))
    }
}

impl ManagedFieldsEntry {
    /// Whether an entry is of the same writer: an applier is one in all versions.
    pub fn is_of(&self, other: &ManagedFieldsEntry) -> bool {
        self.manager == other.manager
            && self.operation == other.operation
            && self.subresource == other.subresource
            && (self.operation == ManagedFieldsOperation::Apply
                || self.api_version == other.api_version)
    }

    /// As it stands in an object.
    pub fn to_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("apiVersion".into(), (*self.api_version).into());
        map.insert("fieldsType".into(), "FieldsV1".into());
        map.insert("fieldsV1".into(), self.fields.to_value());
        map.insert("manager".into(), (*self.manager).into());
        map.insert("operation".into(), self.operation.word().into());
        if !self.subresource.is_empty() {
            map.insert("subresource".into(), (*self.subresource).into());
        }
        if let Some(time) = self.time {
            map.insert("time".into(), json!(time));
        }
        Value::Object(map)
    }

    /// Reads an entry; none if it does not name its operation.
    pub fn from_value(value: &Value) -> Option<ManagedFieldsEntry> {
        let text = |field: &str| value.get(field).and_then(Value::as_str).unwrap_or("");
        let operation = match text("operation") {
            "Apply" => ManagedFieldsOperation::Apply,
            "Update" => ManagedFieldsOperation::Update,
            _ => return None,
        };
        Some(ManagedFieldsEntry {
            manager: text("manager").into(),
            operation,
            api_version: text("apiVersion").into(),
            time: Timestamp::parse(text("time")),
            subresource: text("subresource").into(),
            fields: FieldSet::from_value(value.get("fieldsV1").unwrap_or(&Value::Null)),
            whole_status: false,
        })
    }
}

impl ManagedFieldsOperation {
    /// The word on the wire.
    pub fn word(self) -> &'static str {
        match self {
            ManagedFieldsOperation::Apply => "Apply",
            ManagedFieldsOperation::Update => "Update",
        }
    }
}
