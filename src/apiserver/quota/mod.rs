//! ResourceQuota: what objects count, and the admission that refuses what is too much and books
//! what it lets through (`plugin/pkg/admission/resourcequota/controller.go` and
//! `pkg/quota/v1` of <https://github.com/kubernetes/kubernetes/tree/release-1.36>).
//!
//! As in Kubernetes, admission reads and writes the status of a quota: until the quota controller
//! has looked at a new quota for the first time, nothing is limited, and what is booked for an
//! object that is refused later stays booked until the controller counts again. Left out: limits
//! that hold without any quota (`limitedResources` of the server's configuration).

pub mod amounts;
pub mod scopes;
pub mod usage;

use std::collections::BTreeSet;

use serde_json::json;

use crate::api::{Generic, Kind, Object, Str, Timestamp};

use super::store::Store;
use super::{ApiError, admission};

use amounts::{Amounts, add, growth, mask, printed};

/// The quotas that this object is to be charged to, with the new `used`; or why it is refused.
/// `before` is the object as it was, for an update.
pub fn charge(
    store: &Store,
    object: &Object,
    before: Option<&Object>,
    now: Timestamp,
) -> Result<Vec<Object>, ApiError> {
    let (kind, namespace) = (object.kind(), &object.meta().namespace);
    let on_update = matches!(kind, Kind::Service | Kind::PersistentVolumeClaim);
    if namespace.is_empty() || kind == Kind::Event || (before.is_some() && !on_update) {
        return Ok(Vec::new());
    }
    let refuse = |why: String| Err(admission::forbidden(object, &why));
    let mut matching = Vec::new();
    for quota in admission::in_namespace(store, Kind::ResourceQuota, namespace) {
        let limited = limited_resources(quota, kind);
        if limited.is_empty() || !scopes::all_match(&scopes::scopes_of(quota), object) {
            continue;
        }
        let name = &quota.metadata.name;
        if let Some(missing) = usage::unsaid(object, &limited) {
            return refuse(format!("failed quota: {name}: must specify {missing}"));
        }
        let used = quota.amounts("status/used");
        if !limited.iter().all(|name| used.contains_key(name)) {
            let names: Vec<&str> = limited.iter().map(|name| &**name).collect();
            let list = names.join(",");
            return refuse(format!("status unknown for quota: {name}, resources: {list}"));
        }
        matching.push(quota);
    }
    if matching.is_empty() {
        return Ok(Vec::new());
    }
    let mut asked = usage::usage(object, now);
    if let Some(before) = before {
        asked = growth(&asked, &usage::usage(before, now));
    }
    asked.retain(|_, amount| !amount.is_zero());
    let mut charged = Vec::new();
    for quota in matching {
        charged
            .extend(charge_one(quota, &asked).map_err(|why| admission::forbidden(object, &why))?);
    }
    Ok(charged)
}

/// The resources that a quota limits and objects of this kind use.
fn limited_resources(quota: &Generic, kind: Kind) -> BTreeSet<Str> {
    let hard = quota.amounts("status/hard");
    hard.into_keys().filter(|name| usage::concerns(kind, name)).collect()
}

/// The quota with what is asked booked; nothing if it is not about that; or how it is exceeded.
fn charge_one(quota: &Generic, asked: &Amounts) -> Result<Option<Object>, String> {
    let hard = quota.amounts("status/hard");
    let asked = mask(asked, |name| hard.contains_key(name));
    if asked.is_empty() {
        return Ok(None);
    }
    let mut used = quota.amounts("status/used");
    let before = used.clone();
    add(&mut used, &asked);
    let exceeded = |name: &str| match (used.get(name), hard.get(name)) {
        (Some(used), Some(hard)) => asked.contains_key(name) && used.nanos > hard.nanos,
        _ => false,
    };
    let [requested, had, limited] =
        [&asked, &before, &hard].map(|amounts| printed(&mask(amounts, exceeded)));
    if !requested.is_empty() {
        return Err(format!(
            "exceeded quota: {}, requested: {requested}, used: {had}, limited: {limited}",
            quota.metadata.name
        ));
    }
    let mut after = quota.clone();
    after.set_field("status", "used", json!(used));
    Ok(Some(Object::Generic(after)))
}
