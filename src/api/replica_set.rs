//! ReplicaSets.

use serde::{Deserialize, Serialize};

use super::{Condition, LabelSelector, ObjectMeta, PodTemplateSpec, Rest, is_default};

/// `apps/v1.ReplicaSet`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReplicaSet {
    /// Name, labels, owner.
    pub metadata: ObjectMeta,
    /// What shall be.
    pub spec: ReplicaSetSpec,
    /// What the controller saw.
    #[serde(skip_serializing_if = "is_default")]
    pub status: ReplicaSetStatus,
}

/// `apps/v1.ReplicaSetSpec`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReplicaSetSpec {
    /// Pods wanted; 1 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i32>,
    /// Seconds that a pod must have been ready to count as available.
    #[serde(skip_serializing_if = "is_default")]
    pub min_ready_seconds: i32,
    /// Which pods are its own.
    pub selector: LabelSelector,
    /// What its pods look like.
    pub template: PodTemplateSpec,
    /// Other fields.
    #[serde(flatten)]
    pub rest: Rest,
}

impl ReplicaSetSpec {
    /// Pods wanted, the default included.
    pub fn replicas(&self) -> i32 {
        self.replicas.unwrap_or(1)
    }
}

/// `apps/v1.ReplicaSetStatus`; counts are pods.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReplicaSetStatus {
    /// Active pods.
    pub replicas: i32,
    /// Those that have all labels of the template.
    #[serde(skip_serializing_if = "is_default")]
    pub fully_labeled_replicas: i32,
    /// Those that are ready.
    #[serde(skip_serializing_if = "is_default")]
    pub ready_replicas: i32,
    /// Those that were ready for minReadySeconds.
    #[serde(skip_serializing_if = "is_default")]
    pub available_replicas: i32,
    /// Those that are being deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terminating_replicas: Option<i32>,
    /// The generation that these numbers belong to.
    #[serde(skip_serializing_if = "is_default")]
    pub observed_generation: i64,
    /// ReplicaFailure.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// Other fields.
    #[serde(flatten)]
    pub rest: Rest,
}
