//! Admission: what the server's built-in plugins change in a new object, and what they refuse,
//! each with its own words. In the order of Kubernetes: the namespace, priority, limits; then,
//! after validation, limits again and quota (`pkg/kubeapiserver/options/plugins.go` of
//! <https://github.com/kubernetes/kubernetes/tree/release-1.36>).
//!
//! Left out: service accounts, node restriction, pod security, webhooks, storage classes.
//! (`DefaultTolerationSeconds` is with the defaults.)

pub mod limit_range;
pub mod namespace;
pub mod priority;
#[cfg(test)]
mod tests;

use crate::api::{Generic, Kind, Object};

use super::ApiError;
use super::store::Store;

/// What changes a new object before it is validated.
pub fn admit(store: &Store, object: &mut Object) -> Result<(), ApiError> {
    namespace::admit(store, object)?;
    priority::admit(store, object)?;
    limit_range::admit(store, object);
    Ok(())
}

/// The defaults of the kinds that admission reads, on create and on update alike.
pub fn default_generic(generic: &mut Generic) {
    match generic.kind {
        Kind::LimitRange => limit_range::complete(generic),
        Kind::PriorityClass => priority::complete(generic),
        Kind::CustomResourceDefinition => super::custom::definition::complete(generic),
        _ => {}
    }
}

/// What refuses a sound new object. Quota comes after this: it books what it lets through.
pub fn validate(store: &Store, object: &Object) -> Result<(), ApiError> {
    priority::validate(store, object)?;
    limit_range::validate(store, object)
}

/// What changes an object that replaces `stored`, before it is validated.
pub fn admit_update(stored: &Object, after: &mut Object) {
    namespace::keep(stored, after);
    priority::keep(stored, after);
}

/// What refuses a sound change.
pub fn validate_update(store: &Store, after: &Object) -> Result<(), ApiError> {
    match after.kind() {
        Kind::PriorityClass => priority::validate(store, after),
        Kind::PersistentVolumeClaim => limit_range::validate(store, after),
        _ => Ok(()),
    }
}

/// `admission.NewForbidden`: the name, or the prefix of the name to come.
pub fn forbidden(object: &Object, why: &str) -> ApiError {
    let meta = object.meta();
    let name = match (&*meta.name, &meta.generate_name) {
        ("", Some(prefix)) => &**prefix,
        (name, _) => name,
    };
    ApiError::forbidden(object.kind(), name, why)
}

/// The objects of a kind that has no type of its own, in one namespace, by name.
pub fn in_namespace<'s>(
    store: &'s Store,
    kind: Kind,
    namespace: &'s str,
) -> impl Iterator<Item = &'s Generic> + 's {
    let all = store.list(kind).filter_map(|object| object.as_generic());
    all.filter(move |object| *object.metadata.namespace == *namespace)
}
