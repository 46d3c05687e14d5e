//! Cases about who belongs to whom: event handlers, look-ups, claims.

use std::collections::BTreeMap;
use std::sync::Arc;

use loopscope::api::{Kind, Object, ObjectKey, OwnerReference, Pod, ReplicaSet, Str, StrMap};
use loopscope::client::Cache;
use loopscope::client::expectations::UidTrackingExpectations;
use loopscope::controllers::replica_set::{self, Claim, matching_sets, siblings};
use loopscope::controllers::{Change, ChangeKind, Context, Plan};
use serde::Deserialize;
use serde_json::{Value, json};

use super::scripted::{self, Api, NOW, deletion_timestamp};
use crate::{Outcome, compare};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SetGiven {
    name: Str,
    namespace: Option<Str>,
    #[serde(default)]
    selector: Option<StrMap>,
    controller_uid: Option<Str>,
    #[serde(default)]
    deletion_timestamp_set: bool,
}

impl SetGiven {
    fn object(&self) -> ReplicaSet {
        let namespace = self.namespace.as_deref().unwrap_or("default");
        let mut set = scripted::replica_set(namespace, &self.name, self.selector.as_ref());
        set.metadata.deletion_timestamp = deletion_timestamp(self.deletion_timestamp_set);
        if let Some(uid) = &self.controller_uid {
            let owner = OwnerReference::controller_of(Kind::Deployment, &Default::default());
            set.metadata.owner_references =
                [OwnerReference { uid: uid.clone(), name: uid.clone(), ..owner }].into();
        }
        set
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PodGiven {
    name: Option<Str>,
    namespace: Option<Str>,
    #[serde(default)]
    controller: Option<Str>,
    labels: StrMap,
    #[serde(default)]
    deletion_timestamp_set: bool,
}

impl PodGiven {
    fn object(&self) -> Pod {
        let namespace = self.namespace.as_deref().unwrap_or("default");
        let name = self.name.as_deref().unwrap_or("pod");
        let mut pod = scripted::pod(namespace, name, &self.labels, self.controller.as_deref());
        pod.metadata.deletion_timestamp = deletion_timestamp(self.deletion_timestamp_set);
        pod
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeleteEvent {
    kind: DeleteKind,
    last_known_object: PodGiven,
}

#[derive(Deserialize)]
enum DeleteKind {
    Deleted,
    DeletedFinalStateUnknown,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ClaimGiven {
    selector: Option<StrMap>,
    controller_namespace: Str,
    controller_deletion_timestamp_set: bool,
    pods: Vec<PodGiven>,
    /// A ReplicaSet manages none, and its claims do not depend on them.
    #[serde(default)]
    #[allow(dead_code)]
    finalizers_managed: Vec<Str>,
}

fn enqueued(cache: &Cache, change: &Change, expect: &Value) -> Outcome {
    let cx = Context { cache, now: NOW, seed: 1, promises_kept: true };
    let mut expected: Vec<String> =
        serde_json::from_value(expect["enqueued"].clone()).unwrap_or_default();
    expected.sort();
    let with_namespace = expected.iter().any(|name| name.contains('/'));
    let name = |key: &ObjectKey| match with_namespace {
        true => format!("{}/{}", key.namespace, key.name),
        false => key.name.to_string(),
    };
    let woken = replica_set::wakes(change, &cx);
    let mut names: Vec<String> = woken.keys.iter().map(name).collect();
    names.sort();
    compare(&json!({ "enqueued": expected }), &json!({ "enqueued": names }))
}

fn cache_of(sets: impl IntoIterator<Item = ReplicaSet>) -> Cache {
    Cache::of(sets.into_iter().map(Object::from))
}

pub fn pod_added(names: &[Str], pod_controller: Option<&str>, expect: &Value) -> Outcome {
    let labels: StrMap = [("foo".into(), "bar".into())].into();
    let set = |name: &Str| scripted::replica_set("default", name, Some(&labels));
    let cache = cache_of(names.iter().map(set));
    let pod = scripted::pod("default", "pod", &labels, pod_controller);
    let change = Change { kind: ChangeKind::Added, before: None, object: Arc::new(pod.into()) };
    enqueued(&cache, &change, expect)
}

pub fn pod_updated(
    sets: &[SetGiven],
    before: &PodGiven,
    after: &PodGiven,
    expect: &Value,
) -> Outcome {
    let version = |pod: &PodGiven, version: u64| {
        let mut pod = pod.object();
        pod.metadata.resource_version = version;
        Arc::new(Object::from(pod))
    };
    let change = Change {
        kind: ChangeKind::Updated,
        before: Some(version(before, 1)),
        object: version(after, 2),
    };
    enqueued(&cache_of(sets.iter().map(SetGiven::object)), &change, expect)
}

pub fn pod_deleted(event: &DeleteEvent, expect: &Value) -> Outcome {
    let pod = &event.last_known_object;
    let name = pod.controller.as_deref().unwrap_or("foobar");
    let set = scripted::replica_set("default", name, Some(&pod.labels));
    let object = Arc::new(Object::from(pod.object()));
    let change = Change {
        kind: match event.kind {
            DeleteKind::Deleted => ChangeKind::Deleted,
            DeleteKind::DeletedFinalStateUnknown => ChangeKind::DeletedFinalStateUnknown,
        },
        before: Some(object.clone()),
        object,
    };
    enqueued(&cache_of([set]), &change, expect)
}

pub fn set_for_pod(set: &SetGiven, pod: &PodGiven, expect: &Value) -> Outcome {
    let cache = cache_of([set.object()]);
    let pod = pod.object();
    let found = matching_sets(&pod, &cache).next();
    let name = found.map(|set| set.meta().name.clone());
    compare(expect, &json!({ "replicaSet": name }))
}

pub fn siblings_of(sets: &[SetGiven], of: &Str, expect: &Value) -> Outcome {
    let cache = cache_of(sets.iter().map(SetGiven::object));
    let Some(set) = find(&cache, of) else {
        return Outcome::Failed(format!("no ReplicaSet {of}"));
    };
    let names: Vec<_> = siblings(set, &cache).map(|s| s.metadata.name.clone()).collect();
    compare_sets("siblings", expect, names)
}

pub fn related_pods(
    sets: &[SetGiven],
    of: &Str,
    owners: &BTreeMap<Str, Str>,
    expect: &Value,
) -> Outcome {
    let labels = |set: &Str| -> StrMap { [("of".into(), set.clone())].into() };
    let labelled = |given: &SetGiven| {
        let mut set = given.object();
        set.spec.selector.match_labels = labels(&given.name);
        set
    };
    let mut cache = cache_of(sets.iter().map(labelled));
    for (name, owner) in owners {
        let pod = scripted::pod("default", name, &labels(owner), Some(owner));
        cache.put(Arc::new(pod.into()));
    }
    let Some(set) = find(&cache, of) else {
        return Outcome::Failed(format!("no ReplicaSet {of}"));
    };
    let related = replica_set::related_pods(set, &cache);
    let names = related.iter().map(|pod| pod.metadata.name.clone()).collect();
    compare_sets("pods", expect, names)
}

fn find<'a>(cache: &'a Cache, name: &Str) -> Option<&'a ReplicaSet> {
    cache.replica_set(&ObjectKey::new(Kind::ReplicaSet, "default", name.clone()))
}

fn compare_sets(field: &str, expect: &Value, mut names: Vec<Str>) -> Outcome {
    let mut expected: Vec<Str> = serde_json::from_value(expect[field].clone()).unwrap_or_default();
    expected.sort();
    names.sort();
    compare(&json!({ field: expected }), &json!({ field: names }))
}

pub fn claim(case: &ClaimGiven, expect: &Value) -> Outcome {
    let namespace = &case.controller_namespace;
    let mut set = scripted::replica_set(namespace, "self", case.selector.as_ref());
    let is_terminating = case.controller_deletion_timestamp_set;
    set.metadata.deletion_timestamp = deletion_timestamp(is_terminating);
    let object = Arc::new(Object::from(set.clone()));
    let pods: Vec<Pod> = case.pods.iter().map(PodGiven::object).collect();
    let claim = Claim::of(&set, &pods);
    let plan = Plan { batches: claim.batches(&object, &set), ..Plan::default() };
    let mut api = Api { live: Some(object.clone()), ..Api::default() };
    api.run(&object.key(), plan, &mut UidTrackingExpectations::default());
    let names: Vec<_> = claim.claimed.iter().map(|pod| pod.metadata.name.clone()).collect();
    compare(expect, &json!({ "claimed": names, "patches": api.patches }))
}
