//! What wakes a loop, and what a decision may look at.

use std::sync::Arc;
use std::time::Duration;

use crate::api::{Object, ObjectKey, Str, Timestamp};
use crate::client::Cache;
use crate::kernel::Time;

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

/// What a decision may look at, besides the controller's own memory.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// What the controller knows of the cluster.
    pub cache: &'a Cache,
    /// The time.
    pub now: Time,
    /// For choices among equals.
    pub seed: u64,
    /// Whether the cache shows all that this key's earlier passes promised (its expectations are
    /// met or too old). Always true for loops that promise nothing.
    pub promises_kept: bool,
}

impl Context<'_> {
    /// The time as objects carry it.
    pub fn timestamp(&self) -> Timestamp {
        Timestamp::from(self.now)
    }
}

/// What an event handler of a level-triggered controller makes of a change: keys for the queue, and
/// expectations that came true. Nothing else of the change survives.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Woken {
    /// Keys to put into the queue now.
    pub keys: Vec<ObjectKey>,
    /// Keys to put into the queue later (a pod becomes available after minReadySeconds).
    pub later: Vec<(ObjectKey, Duration)>,
    /// Keys for which an expected creation was seen.
    pub created: Vec<ObjectKey>,
    /// Keys for which the expected deletion of this pod (`namespace/name`) was seen.
    pub deleted: Vec<(ObjectKey, Str)>,
    /// Keys whose expectations are void, since the object is gone: a new one of the same name
    /// starts clean.
    pub forgotten: Vec<ObjectKey>,
}
