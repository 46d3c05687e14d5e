//! Events: what components tell people. (What a watch delivers is a watch event, another thing.)

use serde::{Deserialize, Serialize};

use super::{ObjectMeta, Rest, Str, Timestamp, is_default};

/// `v1.Event`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Event {
    /// Name, namespace.
    pub metadata: ObjectMeta,
    /// What it is about.
    pub involved_object: ObjectReference,
    /// In one word.
    pub reason: Str,
    /// In a sentence.
    pub message: Str,
    /// Who says it.
    pub source: EventSource,
    /// Normal or Warning.
    #[serde(rename = "type")]
    pub kind: EventType,
    /// How often it happened.
    pub count: i32,
    /// When first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_timestamp: Option<Timestamp>,
    /// When last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_timestamp: Option<Timestamp>,
    /// Other fields.
    #[serde(flatten)]
    pub rest: Rest,
}

/// Whether an Event is a cause for worry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum EventType {
    /// All is well.
    #[default]
    Normal,
    /// Something is not.
    Warning,
}

/// `v1.EventSource`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EventSource {
    /// Such as `replicaset-controller`.
    pub component: Str,
    /// The node, for a kubelet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<Str>,
}

/// `v1.ObjectReference`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ObjectReference {
    /// Such as `apps/v1`.
    pub api_version: Str,
    /// Such as `ReplicaSet`.
    pub kind: Str,
    /// Its name.
    pub name: Str,
    /// Its namespace.
    pub namespace: Str,
    /// Its uid.
    pub uid: Str,
    /// The revision that was looked at.
    #[serde(skip_serializing_if = "is_default")]
    pub resource_version: Str,
    /// Which part of it, such as `spec.containers{web}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field_path: Option<Str>,
}
