//! What an informer tells its handlers.

use std::sync::Arc;

use crate::api::{Object, ObjectKey};

/// One change, as an informer hands it to its handlers. Level-triggered controllers take only its
/// key from it; edge-triggered ones act on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// What happened.
    pub kind: ChangeKind,
    /// The object before, as the cache had it; absent for `Added`.
    pub before: Option<Arc<Object>>,
    /// The object now; for `Deleted` as it was last seen.
    pub object: Arc<Object>,
}

/// What an informer tells its handlers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChangeKind {
    /// The cache did not have it. So it is for everything in a first list.
    Added,
    /// The cache had it. A resync arrives as `Updated` with `before` equal to `object`.
    Updated,
    /// It is gone.
    Deleted,
    /// A relist no longer had it (`DeletedFinalStateUnknown`): `object` may be stale.
    DeletedFinalStateUnknown,
}

impl Change {
    /// The key of the object that changed.
    pub fn key(&self) -> ObjectKey {
        self.object.key()
    }

    /// Whether the object is gone.
    pub fn is_deletion(&self) -> bool {
        matches!(self.kind, ChangeKind::Deleted | ChangeKind::DeletedFinalStateUnknown)
    }
}
