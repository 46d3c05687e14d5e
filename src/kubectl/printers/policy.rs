//! Quotas and limits (`printResourceQuota` and its neighbours).

use crate::api::{Generic, Timestamp};
use crate::kubectl::duration::age;

/// The columns of a ResourceQuota.
pub const QUOTA: &[&str] = &["NAME", "REQUEST", "LIMIT", "AGE"];
/// The columns of what is printed with the time at which it was made.
pub const CREATED: &[&str] = &["NAME", "CREATED AT"];

/// A ResourceQuota: what it limits, apart for requests and limits.
pub fn quota(quota: &Generic, now: Timestamp) -> Vec<String> {
    let (hard, used) = (quota.amounts("status/hard"), quota.amounts("status/used"));
    let list = |limits: bool| {
        let of_list = hard.iter().filter(|(name, _)| name.starts_with("limits") == limits);
        let pairs = of_list.map(|(name, hard)| {
            let used = used.get(name).copied().unwrap_or_default();
            format!("{name}: {used}/{hard}")
        });
        pairs.collect::<Vec<_>>().join(", ")
    };
    let made = quota.metadata.creation_timestamp;
    vec![quota.metadata.name.to_string(), list(false), list(true), age(made, now)]
}

/// A LimitRange or a CustomResourceDefinition.
pub fn created(object: &Generic) -> Vec<String> {
    let made = object.metadata.creation_timestamp.map(|at| at.to_string());
    vec![object.metadata.name.to_string(), made.unwrap_or_default()]
}
