//! Nodes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Condition, ObjectMeta, Quantity, Rest, Str, Timestamp, is_default};

/// `v1.Node`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Node {
    /// Name, labels.
    pub metadata: ObjectMeta,
    /// Whether it takes pods.
    #[serde(skip_serializing_if = "is_default")]
    pub spec: NodeSpec,
    /// What it has.
    #[serde(skip_serializing_if = "is_default")]
    pub status: NodeStatus,
}

/// `v1.NodeSpec`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeSpec {
    /// Cordoned.
    #[serde(skip_serializing_if = "is_default")]
    pub unschedulable: bool,
    /// What keeps pods away.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub taints: Vec<Taint>,
    /// Other fields.
    #[serde(flatten)]
    pub rest: Rest,
}

/// `v1.Taint`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Taint {
    /// Its name.
    pub key: Str,
    /// Its value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Str>,
    /// What it does to pods that do not tolerate it.
    pub effect: TaintEffect,
    /// Since when, for NoExecute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_added: Option<Timestamp>,
}

/// What a taint does to pods that do not tolerate it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum TaintEffect {
    /// No new ones.
    NoSchedule,
    /// Rather no new ones.
    PreferNoSchedule,
    /// No new ones, and those there must go.
    NoExecute,
}

/// `v1.NodeStatus`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NodeStatus {
    /// All there is.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub capacity: BTreeMap<Str, Quantity>,
    /// What pods may request of it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub allocatable: BTreeMap<Str, Quantity>,
    /// Ready and others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// Addresses, images and the rest.
    #[serde(flatten)]
    pub rest: Rest,
}
