//! Making and deleting pods, in both flavours (`RealPodControl`, `GetPodFromTemplate` and
//! `slowStartBatch` of Kubernetes' pkg/controller).

use std::sync::Arc;

use crate::api::{Kind, Object, ObjectKey, OwnerReference, Pod, ReplicaSet, Str};
use crate::apiserver::{ApiError, DeleteOptions, Reason, Request};
use crate::controllers::{Batch, Deed, EventNote, Intent};

/// Pods that one pass makes or deletes at most.
pub const BURST: usize = 500;

/// The size of the first batch of creations.
pub const SLOW_START: usize = 1;

/// The sizes in which `count` requests are sent: each batch twice the one before, so that a refusal
/// is met by few requests and not by all.
pub fn slow_start(count: usize, first: usize) -> impl Iterator<Item = usize> {
    let (mut left, mut size) = (count, first);
    std::iter::from_fn(move || {
        let batch = size.min(left);
        left -= batch;
        size = size.saturating_mul(2);
        (batch > 0).then_some(batch)
    })
}

/// Batches that make `count` pods of `set`, which is `object`.
pub fn creations(object: &Arc<Object>, set: &ReplicaSet, count: usize) -> Vec<Batch> {
    let pod = Arc::new(Object::from(from_template(set)));
    let create = || Intent {
        on_success: Some(EventNote::normal(object, "SuccessfulCreate", "Created pod: {name}")),
        on_failure: Some(EventNote::warning(object, "FailedCreate", "Error creating: {error}")),
        tolerates: namespace_is_going,
        ..Intent::new(Deed::CreatePod, Request::Create(pod.clone()))
    };
    slow_start(count, SLOW_START).map(|size| (0..size).map(|_| create()).collect()).collect()
}

/// The batch that deletes these pods of the set that is `object`.
pub fn deletions<'a>(object: &Arc<Object>, pods: impl IntoIterator<Item = &'a Pod>) -> Batch {
    let delete = |pod: &Pod| {
        let done = format!("Deleted pod: {}", pod.metadata.name);
        Intent {
            on_success: Some(EventNote::normal(object, "SuccessfulDelete", done)),
            on_failure: Some(EventNote::warning(object, "FailedDelete", "Error deleting: {error}")),
            ..Intent::tolerant(
                Deed::DeletePod,
                Request::Delete(key_of(pod), DeleteOptions::default()),
            )
        }
    };
    pods.into_iter().map(delete).collect()
}

/// A pod as the template describes it, owned by the set.
pub fn from_template(set: &ReplicaSet) -> Pod {
    let template = &set.spec.template;
    let mut pod = Pod { spec: template.spec.clone(), ..Pod::default() };
    pod.metadata.namespace = set.metadata.namespace.clone();
    pod.metadata.generate_name = Some(name_prefix(&set.metadata.name));
    pod.metadata.labels = template.metadata.labels.clone();
    pod.metadata.annotations = template.metadata.annotations.clone();
    pod.metadata.finalizers = template.metadata.finalizers.clone();
    let owner = OwnerReference::controller_of(Kind::ReplicaSet, &set.metadata);
    pod.metadata.owner_references = [owner].into();
    pod
}

/// `<set>-`; without the dash where that would be too long for a name.
fn name_prefix(set: &str) -> Str {
    const LONGEST_NAME: usize = 253;
    if set.len() < LONGEST_NAME { format!("{set}-").into() } else { set.into() }
}

/// In a namespace that is being deleted every creation fails, and nobody need be told.
fn namespace_is_going(error: &ApiError) -> bool {
    error.reason == Reason::Forbidden && error.message.ends_with("because it is being terminated")
}

/// The key of a pod.
pub fn key_of(pod: &Pod) -> ObjectKey {
    let meta = &pod.metadata;
    ObjectKey::new(Kind::Pod, meta.namespace.clone(), meta.name.clone())
}

/// `namespace/name`, by which expected deletions are kept.
pub fn path_of(pod: &Pod) -> Str {
    format!("{}/{}", pod.metadata.namespace, pod.metadata.name).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Container;

    #[test]
    fn batches_double_until_all_are_sent() {
        let sizes = |count| slow_start(count, SLOW_START).collect::<Vec<_>>();
        assert_eq!(sizes(10), [1, 2, 4, 3]);
        assert_eq!(sizes(1), [1]);
        assert_eq!(sizes(0), [0; 0]);
    }

    #[test]
    fn a_pod_takes_from_the_template_what_kubernetes_takes() {
        let mut set = ReplicaSet::default();
        set.metadata.name = "web".into();
        set.metadata.namespace = "shop".into();
        set.metadata.uid = "u1".into();
        let template = &mut set.spec.template;
        template.metadata.name = "ignored".into();
        template.metadata.labels = [("app".into(), "web".into())].into();
        template.metadata.annotations = [("note".into(), "x".into())].into();
        template.metadata.finalizers = ["example.com/hold".into()].into();
        template.spec.containers = [Container::default()].into();
        let pod = from_template(&set);
        assert_eq!(&*pod.metadata.name, "");
        assert_eq!(pod.metadata.generate_name.as_deref(), Some("web-"));
        assert_eq!(&*pod.metadata.namespace, "shop");
        assert_eq!(pod.metadata.labels, set.spec.template.metadata.labels);
        assert_eq!(pod.metadata.annotations, set.spec.template.metadata.annotations);
        assert_eq!(pod.metadata.finalizers, set.spec.template.metadata.finalizers);
        assert_eq!(pod.spec, set.spec.template.spec);
        assert!(pod.metadata.is_controlled_by("u1"));
    }

    #[test]
    fn a_name_of_full_length_is_not_made_longer() {
        assert_eq!(&*name_prefix("web"), "web-");
        assert_eq!(name_prefix(&"a".repeat(253)).len(), 253);
    }
}
