//! Deployments.

use serde::{Deserialize, Serialize};

use super::{Condition, IntOrString, LabelSelector, ObjectMeta, PodTemplateSpec, Rest, is_default};

/// `apps/v1.Deployment`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Deployment {
    /// Name, labels.
    pub metadata: ObjectMeta,
    /// What shall be.
    pub spec: DeploymentSpec,
    /// What the controller saw.
    #[serde(skip_serializing_if = "is_default")]
    pub status: DeploymentStatus,
}

/// `apps/v1.DeploymentSpec`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DeploymentSpec {
    /// Pods wanted; 1 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i32>,
    /// Which pods are its own. Immutable.
    pub selector: LabelSelector,
    /// What its pods look like; a change starts a rollout.
    pub template: PodTemplateSpec,
    /// How old pods give way to new ones.
    #[serde(skip_serializing_if = "is_default")]
    pub strategy: DeploymentStrategy,
    /// Seconds that a pod must have been ready to count as available.
    #[serde(skip_serializing_if = "is_default")]
    pub min_ready_seconds: i32,
    /// Old ReplicaSets kept; 10 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision_history_limit: Option<i32>,
    /// Changes of the template wait while it is true.
    #[serde(skip_serializing_if = "is_default")]
    pub paused: bool,
    /// Seconds without progress after which the rollout counts as failed; 600 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress_deadline_seconds: Option<i32>,
    /// Other fields.
    #[serde(flatten)]
    pub rest: Rest,
}

impl DeploymentSpec {
    /// Pods wanted, the default included.
    pub fn replicas(&self) -> i32 {
        self.replicas.unwrap_or(1)
    }
}

/// `apps/v1.DeploymentStrategy`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DeploymentStrategy {
    /// RollingUpdate when absent.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<StrategyType>,
    /// Only with RollingUpdate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rolling_update: Option<RollingUpdate>,
}

/// How old pods give way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum StrategyType {
    /// Little by little.
    #[default]
    RollingUpdate,
    /// All old ones first, then the new ones.
    Recreate,
}

/// `apps/v1.RollingUpdateDeployment`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RollingUpdate {
    /// Pods above the wanted number; 25 % by default, rounded up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_surge: Option<IntOrString>,
    /// Pods below the wanted number; 25 % by default, rounded down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_unavailable: Option<IntOrString>,
}

/// `apps/v1.DeploymentStatus`; counts are pods.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DeploymentStatus {
    /// The generation that these numbers belong to.
    #[serde(skip_serializing_if = "is_default")]
    pub observed_generation: i64,
    /// All pods, of all its ReplicaSets.
    #[serde(skip_serializing_if = "is_default")]
    pub replicas: i32,
    /// Those of the present template.
    #[serde(skip_serializing_if = "is_default")]
    pub updated_replicas: i32,
    /// Those that are ready.
    #[serde(skip_serializing_if = "is_default")]
    pub ready_replicas: i32,
    /// Those that are available.
    #[serde(skip_serializing_if = "is_default")]
    pub available_replicas: i32,
    /// Those still missing to the wanted number of available ones.
    #[serde(skip_serializing_if = "is_default")]
    pub unavailable_replicas: i32,
    /// Those that are being deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terminating_replicas: Option<i32>,
    /// Available, Progressing, ReplicaFailure.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// Counts clashes of the template's hash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collision_count: Option<i32>,
    /// Other fields.
    #[serde(flatten)]
    pub rest: Rest,
}
