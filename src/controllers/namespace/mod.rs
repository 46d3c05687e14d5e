//! The namespace controller: empties a namespace that is on its way out, says in its conditions how
//! far it is, and lets it go when nothing is left (`pkg/controller/namespace/deletion` of
//! <https://github.com/kubernetes/kubernetes/tree/release-1.36>). Level-triggered in both lanes.
//!
//! In Kubernetes it lists and deletes by collection, kind after kind; here it watches what is in
//! namespaces, and deletes object by object. As there, pods go first, and nothing else is touched
//! before they are gone. Discovery cannot fail here, so those two conditions are always good.
//! Events stay, where Kubernetes deletes them too: they are in nobody's cache.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::json;

use crate::api::{Condition, ConditionStatus, Generic, Kind, Object, ObjectKey, Str, Timestamp};
use crate::apiserver::admission::namespace::{FINALIZER, is_finalized};
use crate::apiserver::{ApiError, DeleteOptions, Part, Request};
use crate::controllers::{Change, Context, Deed, Fact, Finish, Intent, Plan, Woken};

/// Objects that one pass deletes at most.
const BURST: usize = 500;

/// The kinds that it watches, those apart that users define: namespaces and what is in them.
pub const KINDS: &[Kind] = &[
    Kind::Namespace,
    Kind::Pod,
    Kind::ReplicaSet,
    Kind::Deployment,
    Kind::Lease,
    Kind::StatefulSet,
    Kind::DaemonSet,
    Kind::ControllerRevision,
    Kind::Job,
    Kind::CronJob,
    Kind::Service,
    Kind::ConfigMap,
    Kind::Secret,
    Kind::ServiceAccount,
    Kind::ReplicationController,
    Kind::ResourceQuota,
    Kind::LimitRange,
    Kind::PersistentVolumeClaim,
    Kind::HorizontalPodAutoscaler,
    Kind::PodDisruptionBudget,
    Kind::EndpointSlice,
    Kind::Ingress,
    Kind::NetworkPolicy,
    Kind::Role,
    Kind::RoleBinding,
    Kind::Application,
];

/// The namespace itself, if it is on its way out; or that of an object that came or went.
pub fn wakes(change: &Change, cx: &Context) -> Woken {
    let object = &change.object;
    let key = match object.kind() {
        Kind::Namespace => Some(change.key()).filter(|_| object.meta().is_terminating()),
        _ => {
            let key = ObjectKey::new(Kind::Namespace, "", object.meta().namespace.clone());
            let going = |object: &Arc<Object>| object.meta().is_terminating();
            Some(key).filter(|key| cx.cache.get(key).is_some_and(going))
        }
    };
    Woken { keys: key.into_iter().collect(), ..Woken::default() }
}

/// One look at a namespace that is on its way out.
pub fn sync(key: &ObjectKey, cx: &Context) -> Plan {
    let Some(object) = cx.cache.get(key) else {
        return Plan::nothing(Fact::Gone, Fact::Gone);
    };
    let Some(namespace) = object.as_generic().filter(|n| n.metadata.is_terminating()) else {
        return Plan::default();
    };
    if is_finalized(namespace) {
        return Plan::nothing(Fact::Count(0), Fact::Gone);
    }
    let left = contents(&key.name, cx);
    let count = left.len() as i64;
    let mut plan = Plan::nothing(Fact::Count(count), Fact::Gone);
    let batch = deletions(&left);
    if !batch.is_empty() {
        plan.batches.push(batch);
    }
    let mut after = namespace.clone();
    after.set_field("status", "phase", "Terminating".into());
    set_conditions(&mut after, &left, cx.timestamp());
    if left.is_empty() {
        plan.batches = last_writes(object, namespace, after);
    } else {
        plan.finish = Some(Finish::plain(object.clone(), Object::Generic(after)));
    }
    plan
}

/// All that is in a namespace, but its Events, which go unseen.
fn contents<'a>(name: &'a str, cx: &Context<'a>) -> Vec<&'a Arc<Object>> {
    let kinds = cx.cache.kinds().filter(|kind| kind.info().namespaced && *kind != Kind::Event);
    kinds.flat_map(|kind| cx.cache.in_namespace(kind, name)).collect()
}

/// Pods first; the rest when they are gone.
fn deletions(left: &[&Arc<Object>]) -> Vec<Intent> {
    let pods = left.iter().any(|object| object.kind() == Kind::Pod);
    let due = left.iter().filter(|object| !pods || object.kind() == Kind::Pod);
    let due = due.filter(|object| !object.meta().is_terminating()).take(BURST);
    let gone: fn(&ApiError) -> bool = ApiError::is_not_found;
    due.map(|object| {
        let deed = if object.kind() == Kind::Pod { Deed::DeletePod } else { Deed::Delete };
        let request = Request::Delete(object.key(), DeleteOptions::default());
        Intent { tolerates: gone, ..Intent::new(deed, request) }
    })
    .collect()
}

/// The last conditions, and then the finalizer off: with that it is gone.
fn last_writes(object: &Arc<Object>, namespace: &Generic, after: Generic) -> Vec<Vec<Intent>> {
    let mut batches = Vec::new();
    let mut free = namespace.clone();
    if after != *namespace {
        let status = Request::Update(Part::Status, Arc::new(Object::Generic(after)));
        batches.push(vec![Intent::new(Deed::Status, status)]);
    }
    let others: Vec<Str> = namespace.typed("spec/finalizers").unwrap_or_default();
    let others: Vec<Str> = others.into_iter().filter(|name| **name != *FINALIZER).collect();
    free.set_field("spec", "finalizers", json!(others));
    free.metadata.resource_version = object.meta().resource_version;
    let finalize = Request::Update(Part::Finalize, Arc::new(Object::Generic(free)));
    batches.push(vec![Intent::new(Deed::Unblock, finalize)]);
    batches
}

/// Kind, whether it is bad, reason, message.
type Said = (&'static str, bool, &'static str, String);

fn set_conditions(namespace: &mut Generic, left: &[&Arc<Object>], now: Timestamp) {
    let mut conditions: Vec<Condition> = namespace.typed("status/conditions").unwrap_or_default();
    for (kind, bad, reason, message) in conditions_of(left) {
        let status = ConditionStatus::from(bad);
        let before = Condition::find(&conditions, kind).filter(|before| before.status == status);
        let since = before.and_then(|before| before.last_transition_time).unwrap_or(now);
        let new = Condition {
            kind: kind.into(),
            status,
            reason: Some(reason.into()),
            message: Some(message.into()),
            last_transition_time: Some(since),
            ..Condition::default()
        };
        match conditions.iter_mut().find(|condition| &*condition.kind == kind) {
            Some(condition) => *condition = new,
            None => conditions.push(new),
        }
    }
    namespace.set_field("status", "conditions", json!(conditions));
}

fn conditions_of(left: &[&Arc<Object>]) -> [Said; 5] {
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    let mut finalizers: BTreeMap<&str, usize> = BTreeMap::new();
    for object in left {
        let kind = object.kind();
        *kinds.entry(format!("{}.{}", kind.info().plural, kind.group())).or_default() += 1;
        for finalizer in &object.meta().finalizers {
            *finalizers.entry(finalizer).or_default() += 1;
        }
    }
    let kinds: Vec<String> =
        kinds.iter().map(|(kind, n)| format!("{kind} has {n} resource instances")).collect();
    let finalizers: Vec<String> =
        finalizers.iter().map(|(name, n)| format!("{name} in {n} resource instances")).collect();
    let remaining = match kinds.is_empty() {
        true => (false, "ContentRemoved", "All content successfully removed".to_string()),
        false => {
            let text = format!("Some resources are remaining: {}", kinds.join(", "));
            (true, "SomeResourcesRemain", text)
        }
    };
    let held = match finalizers.is_empty() {
        true => {
            let text = "All content-preserving finalizers finished".to_string();
            (false, "ContentHasNoFinalizers", text)
        }
        false => {
            let list = finalizers.join(", ");
            let text = format!("Some content in the namespace has finalizers remaining: {list}");
            (true, "SomeFinalizersRemain", text)
        }
    };
    let deleted = "All content successfully deleted, may be waiting on finalization";
    [
        (
            "NamespaceDeletionDiscoveryFailure",
            false,
            "ResourcesDiscovered",
            "All resources successfully discovered".into(),
        ),
        (
            "NamespaceDeletionGroupVersionParsingFailure",
            false,
            "ParsedGroupVersions",
            "All legacy kube types successfully parsed".into(),
        ),
        ("NamespaceDeletionContentFailure", false, "ContentDeleted", deleted.into()),
        ("NamespaceContentRemaining", remaining.0, remaining.1, remaining.2),
        ("NamespaceFinalizersRemaining", held.0, held.1, held.2),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::Cache;
    use crate::kernel::Time;

    fn object(kind: Kind, name: &str) -> Object {
        let value = json!({"metadata": {"name": name, "namespace": "shop"}});
        Object::from_value(kind, value).unwrap()
    }

    fn going() -> Object {
        let value = json!({
            "metadata": {"name": "shop", "deletionTimestamp": "2026-01-01T00:00:00Z"},
            "spec": {"finalizers": ["kubernetes"]},
        });
        Object::from_value(Kind::Namespace, value).unwrap()
    }

    fn look(objects: Vec<Object>) -> Plan {
        let cache = Cache::of(objects);
        let cx = Context { cache: &cache, now: Time::ZERO, seed: 1, promises_kept: true };
        sync(&ObjectKey::new(Kind::Namespace, "", "shop"), &cx)
    }

    #[test]
    fn pods_go_first_and_the_rest_when_they_are_gone() {
        let plan = look(vec![going(), object(Kind::Pod, "a"), object(Kind::ConfigMap, "c")]);
        let doomed: Vec<_> = plan.writes().map(|(_, key)| key.kind).collect();
        assert_eq!(doomed, [Kind::Pod]);
        let status = plan.finish.unwrap().after.to_value()["status"].clone();
        assert_eq!(status["conditions"][3]["reason"], "SomeResourcesRemain");
        assert_eq!(
            status["conditions"][3]["message"],
            "Some resources are remaining: configmaps. has 1 resource instances, pods. has 1 \
             resource instances"
        );
        let plan = look(vec![going(), object(Kind::ConfigMap, "c")]);
        let doomed: Vec<_> = plan.writes().map(|(_, key)| key.kind).collect();
        assert_eq!(doomed, [Kind::ConfigMap]);
    }

    #[test]
    fn an_empty_namespace_is_let_go() {
        let plan = look(vec![going()]);
        let last = plan.batches.last().and_then(|batch| batch.first()).unwrap();
        let Request::Update(Part::Finalize, after) = &last.request else {
            panic!("{:?}", last.request);
        };
        assert!(is_finalized(after.as_generic().unwrap()));
    }

    #[test]
    fn what_holds_its_objects_is_named() {
        let mut held = object(Kind::ConfigMap, "c");
        held.meta_mut().finalizers.push("example.com/hold".into());
        held.meta_mut().deletion_timestamp = Some(Timestamp::EPOCH);
        let plan = look(vec![going(), held]);
        assert_eq!(plan.writes().count(), 0);
        let status = plan.finish.unwrap().after.to_value()["status"].clone();
        assert_eq!(
            status["conditions"][4]["message"],
            "Some content in the namespace has finalizers remaining: example.com/hold in 1 \
             resource instances"
        );
    }

    #[test]
    fn whatever_lives_in_a_namespace_goes_with_it() {
        // Events go by themselves.
        let namespaced = Kind::all().iter().filter(|info| info.namespaced);
        for info in namespaced.filter(|info| info.id != Kind::Event) {
            assert!(KINDS.contains(&info.id), "{}", info.kind);
        }
    }
}
