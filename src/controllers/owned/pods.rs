//! Making and deleting pods, and writing the status of their owner.

use std::sync::Arc;

use crate::api::{
    Generic, Kind, Object, ObjectKey, OwnerReference, Pod, PodTemplateSpec, Str, Value,
};
use crate::apiserver::{ApiError, DeleteOptions, Part, Reason, Request};
use crate::controllers::{Deed, EventNote, Intent};

/// A pod as the template describes it, owned by `owner`. It has no name yet.
pub fn pod_of(template: &PodTemplateSpec, owner: &Object) -> Pod {
    let mut pod = Pod { spec: template.spec.clone(), ..Pod::default() };
    let meta = &mut pod.metadata;
    meta.namespace = owner.meta().namespace.clone();
    meta.labels = template.metadata.labels.clone();
    meta.annotations = template.metadata.annotations.clone();
    meta.finalizers = template.metadata.finalizers.clone();
    meta.owner_references = [OwnerReference::controller_of(owner.kind(), owner.meta())].into();
    pod
}

/// The request that makes this pod, told as `RealPodControl` tells it.
pub fn create(owner: &Arc<Object>, pod: Pod) -> Intent {
    Intent {
        on_success: Some(EventNote::normal(owner, "SuccessfulCreate", "Created pod: {name}")),
        on_failure: Some(EventNote::warning(owner, "FailedCreate", "Error creating: {error}")),
        tolerates: namespace_is_going,
        ..Intent::new(Deed::CreatePod, Request::Create(Arc::new(pod.into())))
    }
}

/// The request that deletes this pod. One that is gone already is as good.
pub fn delete(owner: &Arc<Object>, pod: &Pod) -> Intent {
    let done = format!("Deleted pod: {}", pod.metadata.name);
    Intent {
        on_success: Some(EventNote::normal(owner, "SuccessfulDelete", done)),
        on_failure: Some(EventNote::warning(owner, "FailedDelete", "Error deleting: {error}")),
        ..Intent::tolerant(Deed::DeletePod, Request::Delete(key_of(pod), DeleteOptions::default()))
    }
}

/// In a namespace that is being deleted every creation fails, and nobody need be told.
fn namespace_is_going(error: &ApiError) -> bool {
    error.reason == Reason::Forbidden && error.message.ends_with("because it is being terminated")
}

/// The request that gives an object this status; nothing if it has it already.
pub fn write_status(object: &Object, status: Value) -> Option<Request> {
    let generic = object.as_generic().filter(|g| g.rest.get("status") != Some(&status))?;
    let mut after: Generic = generic.clone();
    after.rest.insert("status".into(), status);
    Some(Request::Update(Part::Status, Arc::new(Object::Generic(after))))
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
