//! What happened to an object, as it waits between a reflector and the cache (client-go
//! `tools/cache/delta_fifo.go`, `Delta`).

use std::sync::Arc;

use crate::api::{Object, ObjectKey};

/// One event that waits.
#[derive(Clone, Debug, PartialEq)]
pub struct Delta {
    /// What happened.
    pub kind: DeltaType,
    /// To what.
    pub subject: Subject,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeltaType {
    /// A watch said so.
    Added,
    /// A watch said so.
    Updated,
    /// A watch said so, or a list no longer has it.
    Deleted,
    /// A list has it.
    Replaced,
    /// The cache is replayed; in the older queue, and unless it is asked otherwise, a list too.
    Sync,
}

/// What it happened to.
#[derive(Clone, Debug, PartialEq)]
pub enum Subject {
    /// The object as it was told.
    Told(Arc<Object>),
    /// A tombstone.
    Unknown(DeletedFinalStateUnknown),
}

/// An object whose deletion was not seen: a list no longer has it.
#[derive(Clone, Debug, PartialEq)]
pub struct DeletedFinalStateUnknown {
    /// Its key.
    pub key: ObjectKey,
    /// As it was last known, which may be stale.
    pub object: Option<Arc<Object>>,
}

impl Delta {
    /// An event of an object.
    pub fn told(kind: DeltaType, object: Arc<Object>) -> Delta {
        Delta { kind, subject: Subject::Told(object) }
    }

    /// A deletion that nobody saw.
    pub fn tombstone(key: ObjectKey, object: Option<Arc<Object>>) -> Delta {
        let subject = Subject::Unknown(DeletedFinalStateUnknown { key, object });
        Delta { kind: DeltaType::Deleted, subject }
    }

    /// The key of its object. A tombstone has one even if the object is not known any more.
    pub fn key(&self) -> ObjectKey {
        match &self.subject {
            Subject::Told(object) => object.key(),
            Subject::Unknown(unknown) => unknown.key.clone(),
        }
    }

    /// Its object; of a tombstone the last state known.
    pub fn object(&self) -> Option<&Arc<Object>> {
        match &self.subject {
            Subject::Told(object) => Some(object),
            Subject::Unknown(unknown) => unknown.object.as_ref(),
        }
    }

    /// Whether its deletion was not seen.
    pub fn is_tombstone(&self) -> bool {
        matches!(self.subject, Subject::Unknown(_))
    }
}

/// The store behind a queue: what was popped before.
pub trait KnownObjects {
    /// The keys of all objects.
    fn keys(&self) -> Vec<ObjectKey>;
    /// The object of this key.
    fn get(&self, key: &ObjectKey) -> Option<Arc<Object>>;
}
