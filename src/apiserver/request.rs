//! What a client may ask.

use std::sync::Arc;

use crate::api::{Kind, Object, ObjectKey, Str, Value};

use super::{ApiError, PatchRequest};

/// A request.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// Store a new object. Without a name, one is made from `generateName`.
    Create(Arc<Object>),
    /// Replace an object. A resourceVersion of 0 is unconditional; a uid, if set, must agree.
    Update(Part, Arc<Object>),
    /// Merge a JSON merge patch into the object. `uid` and `resourceVersion` in it are conditions.
    Patch(Part, ObjectKey, Value),
    /// A patch of another type, or server-side apply.
    PatchWith(Box<PatchRequest>),
    /// Delete an object.
    Delete(ObjectKey, DeleteOptions),
    /// Give a pod (with this uid) its node.
    Bind(ObjectKey, Str, Str),
    /// Evict a pod: delete it, if its PodDisruptionBudget lets it go.
    Evict(ObjectKey, DeleteOptions),
    /// Read one object.
    Get(ObjectKey),
}

/// Which part of an object a write reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Everything but the status.
    Main,
    /// The status (and, as in Kubernetes, some metadata).
    Status,
    /// `spec.replicas` alone.
    Scale,
    /// `spec.finalizers` of a namespace alone.
    Finalize,
}

/// The answer to a request: the object as it now is (for a delete: as it was last).
pub type Response = Result<Arc<Object>, ApiError>;

/// `metav1.DeleteOptions`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeleteOptions {
    /// Seconds; absent: the kind's default.
    pub grace_period_seconds: Option<i64>,
    /// What becomes of dependents; absent: the kind's default.
    pub propagation: Option<Propagation>,
    /// Conditions.
    pub preconditions: Preconditions,
}

/// Conditions of a delete.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preconditions {
    /// The object must have this uid.
    pub uid: Option<Str>,
    /// The object must have this resourceVersion.
    pub resource_version: Option<u64>,
}

/// What becomes of an object's dependents when it is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Propagation {
    /// They stay, without owner.
    Orphan,
    /// They go afterwards.
    Background,
    /// They go first.
    Foreground,
}

/// A request's verb, as it is counted and shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    /// POST.
    Create,
    /// PUT.
    Update,
    /// PATCH.
    Patch,
    /// DELETE.
    Delete,
    /// GET of one.
    Get,
    /// POST of a binding.
    Bind,
    /// POST of an eviction.
    Evict,
}

impl Request {
    /// Its verb.
    pub fn verb(&self) -> Verb {
        match self {
            Request::Create(_) => Verb::Create,
            Request::Update(..) => Verb::Update,
            Request::Patch(..) | Request::PatchWith(_) => Verb::Patch,
            Request::Delete(..) => Verb::Delete,
            Request::Bind(..) => Verb::Bind,
            Request::Evict(..) => Verb::Evict,
            Request::Get(_) => Verb::Get,
        }
    }

    /// Which object it is about; without a name where the server will make one.
    pub fn key(&self) -> ObjectKey {
        match self {
            Request::Create(object) | Request::Update(_, object) => object.key(),
            Request::Patch(_, key, _) | Request::Delete(key, _) => key.clone(),
            Request::Bind(key, ..) | Request::Evict(key, _) | Request::Get(key) => key.clone(),
            Request::PatchWith(patch) => patch.key.clone(),
        }
    }

    /// Of which kind that is.
    pub fn kind(&self) -> Kind {
        match self {
            Request::Create(object) | Request::Update(_, object) => object.kind(),
            Request::Patch(_, key, _) | Request::Delete(key, _) => key.kind,
            Request::Bind(key, ..) | Request::Evict(key, _) | Request::Get(key) => key.kind,
            Request::PatchWith(patch) => patch.key.kind,
        }
    }

    /// Whether it reaches the status only.
    pub fn is_status(&self) -> bool {
        match self {
            Request::Update(part, _) | Request::Patch(part, ..) => *part == Part::Status,
            Request::PatchWith(patch) => patch.part == Part::Status,
            _ => false,
        }
    }

    /// Whether it may change something.
    pub fn is_write(&self) -> bool {
        !matches!(self, Request::Get(_))
    }
}
