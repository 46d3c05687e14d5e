//! Leases: how a kubelet says that it lives.

use serde::{Deserialize, Serialize};

use super::{ObjectMeta, Rest, Str, Timestamp, is_default};

/// `coordination.k8s.io/v1.Lease`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Lease {
    /// Name, namespace.
    pub metadata: ObjectMeta,
    /// Who holds it, since when.
    #[serde(skip_serializing_if = "is_default")]
    pub spec: LeaseSpec,
}

/// `coordination.k8s.io/v1.LeaseSpec`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LeaseSpec {
    /// Who holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holder_identity: Option<Str>,
    /// Seconds for which it holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease_duration_seconds: Option<i32>,
    /// Last renewed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renew_time: Option<Timestamp>,
    /// Other fields.
    #[serde(flatten)]
    pub rest: Rest,
}
