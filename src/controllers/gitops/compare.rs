//! What Git has beside what the cluster has: a three-way comparison that minds what was applied
//! last, without the fields that shall be ignored (`controller/state.go`,
//! `gitops-engine/pkg/diff`).

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::api::{Object, ObjectKey};
use crate::apiserver::defaults::default_object;
use crate::apiserver::three_way::{difference, three_way};
use crate::apiserver::{DeleteOptions, Part, Propagation, Request, Store};
use crate::client::Cache;

use super::MANAGED;
use super::application::{Ignore, Revision, Spec};
use super::health::{Health, HealthStatus, health};

/// What was applied last; kubectl's own annotation.
pub const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// Whose an object is.
pub const TRACKING_ID: &str = "argocd.argoproj.io/tracking-id";

/// One object of an Application.
#[derive(Clone, Debug)]
pub struct Resource {
    /// Which.
    pub key: ObjectKey,
    /// As Git has it, in its namespace.
    pub desired: Option<Object>,
    /// As the cluster has it.
    pub live: Option<Arc<Object>>,
    /// Whether that is the same, the ignored apart.
    pub synced: bool,
    /// How well it is; none for kinds that nobody checks.
    pub health: Option<Health>,
}

impl Resource {
    /// Whether only a deletion would bring it into step.
    pub fn requires_pruning(&self) -> bool {
        self.desired.is_none()
    }
}

/// A look at the cluster.
#[derive(Clone, Copy)]
pub enum Live<'a> {
    /// As a controller knows it.
    Cache(&'a Cache),
    /// As it is.
    Store(&'a Store),
}

impl Live<'_> {
    fn get(&self, key: &ObjectKey) -> Option<Arc<Object>> {
        match self {
            Live::Cache(cache) => cache.get(key).cloned(),
            Live::Store(store) => store.get(key).cloned(),
        }
    }

    /// All objects that carry a tracking id.
    fn tracked(&self) -> Vec<Arc<Object>> {
        let mut found = Vec::new();
        for kind in MANAGED {
            let mut keep = |object: &Arc<Object>| {
                if object.meta().annotations.contains_key(TRACKING_ID) {
                    found.push(object.clone());
                }
            };
            match self {
                Live::Cache(cache) => cache.all(*kind).for_each(&mut keep),
                Live::Store(store) => store.list(*kind).for_each(&mut keep),
            }
        }
        found
    }
}

/// What an object of an Application is marked with.
pub fn tracking_id(application: &str, key: &ObjectKey) -> String {
    let (group, kind) = (key.kind.group(), key.kind.info().kind);
    format!("{application}:{group}/{kind}:{}/{}", key.namespace, key.name)
}

/// The Application that an object is marked for. A mark that was copied from another object, as a
/// ReplicaSet has it from its Deployment, counts for nothing.
pub fn tracked_by(object: &Object) -> Option<&str> {
    let id = object.meta().annotations.get(TRACKING_ID)?;
    let (application, _) = id.split_once(':')?;
    (**id == *tracking_id(application, &object.key())).then_some(application)
}

/// The objects of a revision, in the namespaces that they will be in.
pub fn desired(revision: &Revision, spec: &Spec) -> Vec<Object> {
    let placed = revision.objects.iter().map(|object| {
        let mut object = Object::clone(object);
        let namespaced = object.kind().info().namespaced;
        let meta = object.meta_mut();
        match namespaced {
            true if meta.namespace.is_empty() => meta.namespace = spec.namespace.clone(),
            false => meta.namespace = "".into(),
            _ => {}
        }
        object
    });
    placed.collect()
}

/// Compares.
pub fn compare(name: &str, spec: &Spec, revision: &Revision, live: &Live) -> Vec<Resource> {
    let mut resources = Vec::new();
    let mut wanted = BTreeSet::new();
    for desired in desired(revision, spec) {
        let key = desired.key();
        if !wanted.insert(key.clone()) {
            continue;
        }
        let live = live.get(&key);
        let synced = live.as_ref().is_some_and(|live| is_synced(name, spec, &desired, live));
        let health = match &live {
            Some(live) => health(live),
            None => Some((HealthStatus::Missing, String::new())),
        };
        resources.push(Resource { key, desired: Some(desired), live, synced, health });
    }
    let tracked = live.tracked();
    let own = tracked.iter().filter(|object| tracked_by(object) == Some(name));
    for object in own.filter(|object| !wanted.contains(&object.key())) {
        let (key, live) = (object.key(), Some(object.clone()));
        let health = health(object);
        resources.push(Resource { key, desired: None, live, synced: false, health });
    }
    resources
}

fn pointers<'a>(spec: &'a Spec, key: &'a ObjectKey) -> impl Iterator<Item = &'a str> + 'a {
    let concerning = spec.ignores.iter().filter(|ignore: &&Ignore| ignore.concerns(key));
    concerning.flat_map(|ignore| ignore.pointers.iter().map(String::as_str))
}

fn is_synced(name: &str, spec: &Spec, desired: &Object, live: &Object) -> bool {
    let key = desired.key();
    let Some(merged) = merged(&marked(name, desired), live) else { return false };
    let seen = |object: &Object| {
        let mut value = object.to_value();
        remove(&mut value, &format!("/metadata/annotations/{}", LAST_APPLIED.replace('/', "~1")));
        pointers(spec, &key).for_each(|pointer| remove(&mut value, pointer));
        value
    };
    seen(&merged) == seen(live)
}

/// A desired object with its marks: what `kubectl apply` would send.
fn marked(name: &str, desired: &Object) -> Object {
    let applied = format!("{}\n", desired.to_value());
    let id = tracking_id(name, &desired.key());
    let mut object = desired.clone();
    let annotations = &mut object.meta_mut().annotations;
    annotations.insert(LAST_APPLIED.into(), applied.into());
    annotations.insert(TRACKING_ID.into(), id.into());
    object
}

/// The live object as it would be after an apply.
fn merged(modified: &Object, live: &Object) -> Option<Object> {
    let applied = live.meta().annotations.get(LAST_APPLIED);
    let original = applied.and_then(|text| serde_json::from_str(text).ok());
    let merged =
        three_way(&original.unwrap_or(Value::Null), &modified.to_value(), &live.to_value());
    let mut merged = Object::from_value(live.kind(), merged).ok()?;
    default_object(&mut merged);
    Some(merged)
}

/// The request that brings an object into step, if one is needed.
pub fn apply(name: &str, spec: &Spec, resource: &Resource) -> Option<Request> {
    let desired = resource.desired.as_ref()?;
    let Some(live) = &resource.live else {
        return Some(Request::Create(Arc::new(marked(name, desired))));
    };
    let desired = match spec.respect {
        true => with_live_fields(desired, live, pointers(spec, &resource.key)),
        false => desired.clone(),
    };
    let merged = merged(&marked(name, &desired), live)?;
    if merged == **live {
        return None;
    }
    let patch = difference(&live.to_value(), &merged.to_value())?;
    Some(Request::Patch(Part::Main, resource.key.clone(), patch))
}

/// The request that deletes what Git no longer has.
pub fn prune(resource: &Resource) -> Option<Request> {
    let live = resource.live.as_ref().filter(|live| !live.meta().is_terminating())?;
    let propagation = Some(Propagation::Foreground);
    let options = DeleteOptions { propagation, ..DeleteOptions::default() };
    Some(Request::Delete(live.key(), options))
}

/// `RespectIgnoreDifferences`: an ignored field is applied as it is in the cluster.
fn with_live_fields<'a>(
    desired: &Object,
    live: &Object,
    pointers: impl Iterator<Item = &'a str>,
) -> Object {
    let (mut value, live) = (desired.to_value(), live.to_value());
    for pointer in pointers {
        match live.pointer(pointer) {
            Some(field) => put(&mut value, pointer, field.clone()),
            None => remove(&mut value, pointer),
        }
    }
    Object::from_value(desired.kind(), value).unwrap_or_else(|_| desired.clone())
}

/// The last step of a JSON pointer, and what leads to it.
fn last_step(pointer: &str) -> Option<(&str, String)> {
    let (path, step) = pointer.rsplit_once('/')?;
    Some((path, step.replace("~1", "/").replace("~0", "~")))
}

fn remove(value: &mut Value, pointer: &str) {
    let Some((path, step)) = last_step(pointer) else { return };
    match value.pointer_mut(path) {
        Some(Value::Object(map)) => _ = map.remove(&step),
        Some(Value::Array(items)) => {
            if let Some(index) = step.parse().ok().filter(|index: &usize| *index < items.len()) {
                items.remove(index);
            }
        }
        _ => {}
    }
}

fn put(value: &mut Value, pointer: &str, field: Value) {
    if let Some(slot) = value.pointer_mut(pointer) {
        *slot = field;
    } else if let Some((path, step)) = last_step(pointer)
        && let Some(Value::Object(map)) = value.pointer_mut(path)
    {
        map.insert(step, field);
    }
}

/// An entry of `status.resources`.
pub fn status_of(resource: &Resource) -> Value {
    let (group, version) = match resource.key.kind.info().api_version.split_once('/') {
        Some((group, version)) => (group, version),
        None => ("", resource.key.kind.info().api_version),
    };
    let mut status = json!({
        "version": version,
        "kind": resource.key.kind.info().kind,
        "name": resource.key.name,
        "status": if resource.synced { "Synced" } else { "OutOfSync" },
    });
    if !group.is_empty() {
        status["group"] = group.into();
    }
    if !resource.key.namespace.is_empty() {
        status["namespace"] = json!(resource.key.namespace);
    }
    if resource.requires_pruning() {
        status["requiresPruning"] = true.into();
    }
    if let Some((health, message)) = &resource.health {
        status["health"] = json!({"status": health.word()});
        if !message.is_empty() {
            status["health"]["message"] = message.as_str().into();
        }
    }
    status
}

/// How well all of them are together: as the worst.
pub fn worst(resources: &[Resource]) -> HealthStatus {
    let each = resources.iter().filter(|resource| !resource.requires_pruning());
    let each = each.filter_map(|resource| resource.health.as_ref().map(|(health, _)| *health));
    each.max().unwrap_or(HealthStatus::Healthy)
}
