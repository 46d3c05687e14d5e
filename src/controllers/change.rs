//! What wakes a loop, and what a decision may look at.

use std::time::Duration;

use crate::api::{ObjectKey, Str, Timestamp};
use crate::client::Cache;
use crate::kernel::Time;

pub use crate::client::change::{Change, ChangeKind};

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
