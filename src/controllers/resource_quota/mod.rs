//! The quota controller: counts what a namespace uses and writes it into the status of its quotas
//! (`pkg/controller/resourcequota/resource_quota_controller.go` of
//! <https://github.com/kubernetes/kubernetes/tree/release-1.36>). Admission books what is created;
//! this loop takes back what has gone. Level-triggered in both lanes.
//!
//! As in Kubernetes it is not woken by what comes, only by what goes or ends, and looks at all
//! quotas every five minutes (its resync).

use std::collections::BTreeMap;

use serde_json::json;

use crate::api::{Generic, Kind, Object, ObjectKey, Quantity, Str};
use crate::apiserver::quota::amounts::{Amounts, add};
use crate::apiserver::quota::{scopes, usage};
use crate::controllers::{Change, Context, Fact, Finish, Plan, Woken};

/// What it watches: quotas, and what they count.
pub const KINDS: &[Kind] = &[
    Kind::ResourceQuota,
    Kind::Pod,
    Kind::ReplicaSet,
    Kind::Deployment,
    Kind::StatefulSet,
    Kind::DaemonSet,
    Kind::Job,
    Kind::CronJob,
    Kind::Service,
    Kind::ConfigMap,
    Kind::Secret,
    Kind::ServiceAccount,
    Kind::ReplicationController,
    Kind::PersistentVolumeClaim,
    Kind::HorizontalPodAutoscaler,
    Kind::PodDisruptionBudget,
    Kind::LimitRange,
    Kind::Ingress,
    Kind::NetworkPolicy,
    Kind::Role,
    Kind::RoleBinding,
];

/// A quota whose spec is new, or, when something has gone, all quotas of its namespace that count
/// it.
pub fn wakes(change: &Change, cx: &Context) -> Woken {
    let object = &change.object;
    let keys = match object.as_generic() {
        Some(quota) if quota.kind == Kind::ResourceQuota && !change.is_deletion() => {
            wants_a_look(change, quota).then(|| change.key()).into_iter().collect()
        }
        _ if change.is_deletion() || has_just_ended(change) => {
            let quotas = cx.cache.in_namespace(Kind::ResourceQuota, &object.meta().namespace);
            let counts = |quota: &&Generic| {
                let hard = quota.amounts("spec/hard");
                hard.keys().any(|name| usage::concerns(object.kind(), name))
            };
            let quotas = quotas.filter_map(|quota| quota.as_generic()).filter(counts);
            quotas.map(key_of).collect()
        }
        _ => Vec::new(),
    };
    Woken { keys, ..Woken::default() }
}

fn key_of(quota: &Generic) -> ObjectKey {
    let meta = &quota.metadata;
    ObjectKey::new(Kind::ResourceQuota, meta.namespace.clone(), meta.name.clone())
}

/// New, changed in its spec, or shown again by a resync; its own status writes are no reason.
fn wants_a_look(change: &Change, quota: &Generic) -> bool {
    let Some(before) = change.before.as_ref().and_then(|before| before.as_generic()) else {
        return true;
    };
    before.field("spec") != quota.field("spec")
        || before.metadata.resource_version == quota.metadata.resource_version
}

/// A pod that ran and has ended counts no more.
fn has_just_ended(change: &Change) -> bool {
    let ended = |object: &Object| object.as_pod().is_some_and(|pod| pod.is_finished());
    ended(&change.object) && change.before.as_ref().is_some_and(|before| !ended(before))
}

/// Counts again (`syncResourceQuota`).
pub fn sync(key: &ObjectKey, cx: &Context) -> Plan {
    let Some(object) = cx.cache.get(key) else {
        return Plan::nothing(Fact::Gone, Fact::Gone);
    };
    let Some(quota) = object.as_generic() else { return Plan::default() };
    let hard = quota.amounts("spec/hard");
    let used = count(quota, &hard, cx);
    let mut after = quota.clone();
    after.set_field("status", "hard", json!(hard));
    after.set_field("status", "used", json!(used));
    let (sees, wants) = (fact(&used), fact(&hard));
    Plan {
        finish: Some(Finish::plain(object.clone(), Object::Generic(after))),
        ..Plan::nothing(sees, wants)
    }
}

/// A quota of one resource is told by its amount.
fn fact(amounts: &Amounts) -> Fact {
    match amounts.first_key_value() {
        Some((name, amount)) => Fact::Word(format!("{name}={amount}").into()),
        None => Fact::None,
    }
}

fn count(quota: &Generic, hard: &Amounts, cx: &Context) -> Amounts {
    let scopes = scopes::scopes_of(quota);
    let mut used: BTreeMap<Str, Quantity> = hard
        .iter()
        .map(|(name, limit)| (name.clone(), Quantity { nanos: 0, format: limit.format }))
        .collect();
    for kind in cx.cache.kinds() {
        if !hard.keys().any(|name| usage::concerns(kind, name)) {
            continue;
        }
        for object in cx.cache.in_namespace(kind, &quota.metadata.namespace) {
            if scopes::all_match(&scopes, object) {
                let mut counted = usage::usage(object, cx.timestamp());
                counted.retain(|name, _| hard.contains_key(name));
                add(&mut used, &counted);
            }
        }
    }
    used
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::Cache;
    use crate::controllers::ChangeKind;
    use crate::kernel::Time;
    use std::sync::Arc;

    fn object(kind: Kind, name: &str, rest: serde_json::Value) -> Object {
        let mut value = json!({"metadata": {"name": name, "namespace": "default"}});
        value.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        Object::from_value(kind, value).unwrap()
    }

    fn pod(name: &str, phase: &str) -> Object {
        let resources = json!({"requests": {"cpu": "500m"}, "limits": {"memory": "1Gi"}});
        let container = json!({"name": "a", "resources": resources});
        let spec = json!({"containers": [container]});
        object(Kind::Pod, name, json!({"spec": spec, "status": {"phase": phase}}))
    }

    fn quota() -> Object {
        let hard = json!({
            "pods": "5", "count/pods": "9", "requests.cpu": "2", "limits.memory": "4Gi",
            "services": "1",
        });
        object(Kind::ResourceQuota, "q", json!({"spec": {"hard": hard}}))
    }

    #[test]
    fn a_namespace_uses_what_its_objects_ask_for() {
        let cache = Cache::of([
            quota(),
            pod("a", "Running"),
            pod("b", "Pending"),
            pod("c", "Succeeded"),
            object(Kind::Service, "s", json!({"spec": {}})),
        ]);
        let cx = Context { cache: &cache, now: Time::ZERO, seed: 1, promises_kept: true };
        let plan = sync(&quota().key(), &cx);
        let status = plan.finish.unwrap().after.to_value()["status"].clone();
        assert_eq!(
            status["used"],
            json!({"pods": "2", "count/pods": "3", "requests.cpu": "1", "limits.memory": "2Gi",
                   "services": "1"})
        );
        assert_eq!(status["hard"]["pods"], "5");
    }

    #[test]
    fn it_is_woken_by_what_goes_and_not_by_what_comes() {
        let cache = Cache::of([quota()]);
        let cx = Context { cache: &cache, now: Time::ZERO, seed: 1, promises_kept: true };
        let woken = |kind, before: Option<Object>, after: Object| {
            let before = before.map(Arc::new);
            wakes(&Change { kind, before, object: Arc::new(after) }, &cx).keys.len()
        };
        let running = || pod("a", "Running");
        assert_eq!(woken(ChangeKind::Added, None, running()), 0);
        assert_eq!(woken(ChangeKind::Deleted, Some(running()), running()), 1);
        assert_eq!(woken(ChangeKind::Updated, Some(running()), pod("a", "Failed")), 1);
        assert_eq!(woken(ChangeKind::Added, None, quota()), 1);
    }
}
