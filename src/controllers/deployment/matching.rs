//! Which ReplicaSet is the new one, which are old, and in which order they are looked at.
//!
//! Follows `pkg/controller/deployment/util/deployment_util.go` and the orders of
//! `pkg/controller/controller_utils.go`.

use std::cmp::Ordering;

use serde_json::Value;

use crate::api::{
    Deployment, Kind, Object, ObjectMeta, PodTemplateSpec, QuantityFormat, ReplicaSet, Str, StrMap,
};
use crate::client::Cache;

use super::claim;

/// The label that tells the pods of one set from those of another.
pub const HASH_LABEL: &str = "pod-template-hash";

/// Whether two templates make the same pods (`EqualIgnoreHash`). As in Kubernetes, an empty list is
/// the same as none, and `0.5` the same quantity as `500m`.
pub fn equal_ignoring_hash(a: &PodTemplateSpec, b: &PodTemplateSpec) -> bool {
    same_metadata(&a.metadata, &b.metadata)
        && (a.spec == b.spec || canonical(a)["spec"] == canonical(b)["spec"])
}

fn same_metadata(a: &ObjectMeta, b: &ObjectMeta) -> bool {
    let named = |meta: &ObjectMeta| (meta.name.clone(), meta.namespace.clone());
    let labels = |meta: &'_ ObjectMeta| -> Vec<(Str, Str)> {
        let others = meta.labels.iter().filter(|(name, _)| &***name != HASH_LABEL);
        others.map(|(name, value)| (name.clone(), value.clone())).collect()
    };
    named(a) == named(b)
        && a.annotations == b.annotations
        && labels(a) == labels(b)
        && a.generate_name == b.generate_name
        && a.owner_references == b.owner_references
        && a.finalizers == b.finalizers
        && a.rest == b.rest
}

/// A template as JSON, the same for all ways to write it.
pub fn canonical(template: &PodTemplateSpec) -> Value {
    let mut template = template.clone();
    let spec = &mut template.spec;
    for container in spec.containers.iter_mut().chain(&mut spec.init_containers) {
        let resources = &mut container.resources;
        for quantity in resources.requests.values_mut().chain(resources.limits.values_mut()) {
            quantity.format = QuantityFormat::default();
        }
    }
    let mut value = serde_json::to_value(&template).unwrap_or(Value::Null);
    drop_empty(&mut value);
    value
}

fn drop_empty(value: &mut Value) {
    let is_empty = |value: &Value| match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        _ => false,
    };
    match value {
        Value::Object(fields) => {
            fields.values_mut().for_each(drop_empty);
            fields.retain(|_, field| !is_empty(field));
        }
        Value::Array(items) => items.iter_mut().for_each(drop_empty),
        _ => {}
    }
}

/// Oldest first, then by name (`ReplicaSetsByCreationTimestamp`).
pub fn by_creation(a: &ReplicaSet, b: &ReplicaSet) -> Ordering {
    let (a, b) = (&a.metadata, &b.metadata);
    a.creation_timestamp.cmp(&b.creation_timestamp).then_with(|| a.name.cmp(&b.name))
}

/// Largest first; of equals the newest (`ReplicaSetsBySizeNewer`).
pub fn by_size_newer(a: &ReplicaSet, b: &ReplicaSet) -> Ordering {
    b.spec.replicas().cmp(&a.spec.replicas()).then_with(|| by_creation(b, a))
}

/// Largest first; of equals the oldest (`ReplicaSetsBySizeOlder`).
pub fn by_size_older(a: &ReplicaSet, b: &ReplicaSet) -> Ordering {
    b.spec.replicas().cmp(&a.spec.replicas()).then_with(|| by_creation(a, b))
}

/// The set of the present template, the oldest of several (`FindNewReplicaSet`).
pub fn find_new<'a>(
    deployment: &Deployment,
    sets: impl IntoIterator<Item = &'a ReplicaSet>,
) -> Option<&'a ReplicaSet> {
    let template = &deployment.spec.template;
    sets.into_iter()
        .filter(|set| equal_ignoring_hash(&set.spec.template, template))
        .min_by(|a, b| by_creation(a, b))
}

/// All sets but the new one (`FindOldReplicaSets`).
pub fn find_old<'a>(deployment: &Deployment, sets: &[&'a ReplicaSet]) -> Vec<&'a ReplicaSet> {
    let new = find_new(deployment, sets.iter().copied());
    let is_old = |set: &&&ReplicaSet| new.is_none_or(|new| new.metadata.name != set.metadata.name);
    sets.iter().filter(is_old).copied().collect()
}

/// Whether a set shall have pods (`FilterActiveReplicaSets`).
pub fn is_active(set: &ReplicaSet) -> bool {
    set.spec.replicas() > 0
}

/// Those sets that shall have pods.
pub fn active<'a>(sets: &[&'a ReplicaSet]) -> Vec<&'a ReplicaSet> {
    sets.iter().copied().filter(|set| is_active(set)).collect()
}

/// The Deployments whose selector matches the labels of a set that nobody controls
/// (`GetDeploymentsForReplicaSet`), by name. An empty selector matches nothing.
pub fn deployments_selecting<'a>(
    cache: &'a Cache,
    namespace: &'a Str,
    labels: &'a StrMap,
) -> impl Iterator<Item = &'a Deployment> + 'a {
    cache
        .in_namespace(Kind::Deployment, namespace)
        .filter_map(|object| Object::as_deployment(object))
        .filter(|d| !labels.is_empty() && selects(d, labels))
}

/// The first Deployment that may adopt a set.
pub fn taker_of<'a>(set: &'a ReplicaSet, cache: &'a Cache) -> Option<&'a Deployment> {
    let meta = &set.metadata;
    deployments_selecting(cache, &meta.namespace, &meta.labels)
        .find(|deployment| claim::may_adopt(deployment, set))
}

/// Whether a Deployment's selector matches labels. An empty selector matches nothing.
pub fn selects(deployment: &Deployment, labels: &StrMap) -> bool {
    let selector = &deployment.spec.selector;
    !selector.is_empty() && selector.matches(labels)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn template(value: Value) -> PodTemplateSpec {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn ways_to_write_the_same_template_are_equal() {
        let a = template(json!({"spec": {"containers": [{
            "name": "web", "env": [], "resources": {"requests": {"memory": "1Ki"}},
        }]}}));
        let b = template(json!({"spec": {"containers": [{
            "name": "web", "resources": {"requests": {"memory": "1024"}},
        }]}}));
        assert!(equal_ignoring_hash(&a, &b));
        assert_eq!(canonical(&a), canonical(&b));
    }

    #[test]
    fn an_empty_map_is_not_nothing() {
        let a = template(json!({"spec": {"volumes": [{"name": "tmp", "emptyDir": {}}]}}));
        let b = template(json!({"spec": {"volumes": [{"name": "tmp"}]}}));
        assert!(!equal_ignoring_hash(&a, &b));
    }
}
