//! Namespaces: there must be one for what is put into it, and it must not be on its way out; and
//! the two steps of a namespace's end. (`plugin/pkg/admission/namespace/lifecycle`,
//! `pkg/registry/core/namespace/storage`.)
//!
//! A server that has no Namespace `default` (a bare one, as in tests) does not ask for namespaces
//! at all. Left out: the ServiceAccount and the ConfigMap `kube-root-ca.crt` that controllers put
//! into every new namespace.

use serde_json::json;

use crate::api::{Generic, Kind, Object, ObjectKey, Str, Timestamp, Value};
use crate::apiserver::error::Cause;
use crate::apiserver::store::Store;
use crate::apiserver::{ApiError, Reason};

/// Namespaces that every cluster has.
pub const BUILT_IN: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];
/// Namespaces that cannot be deleted.
const IMMORTAL: [&str; 3] = ["default", "kube-public", "kube-system"];
/// What holds a namespace until its contents are gone.
pub const FINALIZER: &str = "kubernetes";
/// Why a creation is refused in a namespace that is on its way out (`NamespaceTerminatingCause`).
pub const TERMINATING: &str = "NamespaceTerminating";

fn key(name: &str) -> ObjectKey {
    ObjectKey::new(Kind::Namespace, "", name)
}

/// A new object needs its namespace; a new namespace gets its finalizer.
pub fn admit(store: &Store, object: &mut Object) -> Result<(), ApiError> {
    if let Object::Generic(generic) = object
        && generic.kind == Kind::Namespace
    {
        begin(generic);
    }
    let namespace = object.meta().namespace.clone();
    if namespace.is_empty() {
        return Ok(());
    }
    match store.get(&key(&namespace)) {
        Some(found) if found.meta().is_terminating() => Err(terminating(object, &namespace)),
        Some(_) => Ok(()),
        None if store.get(&key("default")).is_none() => Ok(()),
        None => Err(ApiError::not_found(Kind::Namespace, &namespace)),
    }
}

fn begin(namespace: &mut Generic) {
    let name: Str = namespace.metadata.name.clone();
    if !name.is_empty() {
        namespace.metadata.labels.insert("kubernetes.io/metadata.name".into(), name);
    }
    namespace.set_field("spec", "finalizers", json!([FINALIZER]));
    namespace.rest.insert("status".into(), json!({"phase": "Active"}));
}

fn terminating(object: &Object, namespace: &str) -> ApiError {
    let why = format!(
        "unable to create new content in namespace {namespace} because it is being terminated"
    );
    let mut error = super::forbidden(object, &why);
    error.cause = Some(Box::new(Cause {
        reason: TERMINATING.into(),
        message: format!("namespace {namespace} is being terminated").into(),
        field: "metadata.namespace".into(),
    }));
    error
}

/// Whether a creation was refused because the namespace is on its way out: then there is nothing
/// to tell and nothing to try again.
pub fn is_terminating_error(error: &ApiError) -> bool {
    error.reason == Reason::Forbidden
        && error.cause.as_ref().is_some_and(|cause| *cause.reason == *TERMINATING)
}

/// An ordinary write changes neither the finalizers of a namespace nor its name label.
pub fn keep(stored: &Object, after: &mut Object) {
    let (Object::Generic(stored), Object::Generic(after)) = (stored, after) else { return };
    if stored.kind != Kind::Namespace {
        return;
    }
    let finalizers = stored.field("spec/finalizers").cloned();
    after.set_field("spec", "finalizers", finalizers.unwrap_or_else(|| json!([])));
    let name = after.metadata.name.clone();
    after.metadata.labels.insert("kubernetes.io/metadata.name".into(), name);
}

/// Refuses the deletion of what no cluster is without.
pub fn may_be_deleted(key: &ObjectKey) -> Result<(), ApiError> {
    if key.kind == Kind::Namespace && IMMORTAL.contains(&&*key.name) {
        return Err(ApiError::forbidden(key.kind, &key.name, "this namespace may not be deleted"));
    }
    Ok(())
}

/// The namespace with its deletion begun, if something holds it; else it can go at once.
pub fn begin_deletion(namespace: &Generic, now: Timestamp) -> Option<Generic> {
    if is_finalized(namespace) && namespace.metadata.finalizers.is_empty() {
        return None;
    }
    let mut after = namespace.clone();
    after.metadata.deletion_timestamp.get_or_insert(now);
    after.set_field("status", "phase", "Terminating".into());
    Some(after)
}

/// Whether nothing in `spec.finalizers` holds it.
pub fn is_finalized(namespace: &Generic) -> bool {
    namespace.field("spec/finalizers").and_then(Value::as_array).is_none_or(Vec::is_empty)
}

/// The namespaces of a new cluster, as the server makes them at its start.
pub fn built_in(now: Timestamp) -> impl Iterator<Item = Object> {
    BUILT_IN.into_iter().map(move |name| {
        let mut namespace = Generic {
            kind: Kind::Namespace,
            metadata: Default::default(),
            rest: Default::default(),
        };
        namespace.metadata.name = name.into();
        namespace.metadata.creation_timestamp = Some(now);
        begin(&mut namespace);
        Object::Generic(namespace)
    })
}
