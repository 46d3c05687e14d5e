//! What a watch delivers. (A Kubernetes `Event` is another thing.)

use std::sync::Arc;

use crate::api::Object;

/// A watch event.
#[derive(Clone, Debug, PartialEq)]
pub struct WatchEvent {
    /// What happened.
    pub kind: WatchEventType,
    /// The object after it; for `Deleted` as it was last.
    pub object: Arc<Object>,
    /// The store's revision of the change.
    pub revision: u64,
}

/// What a watch event tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WatchEventType {
    /// It came into being, or into the selection.
    Added,
    /// It changed.
    Modified,
    /// It is gone, or out of the selection.
    Deleted,
    /// Nothing happened up to this revision.
    Bookmark,
}

impl WatchEventType {
    /// The word on the wire.
    pub fn word(self) -> &'static str {
        match self {
            WatchEventType::Added => "ADDED",
            WatchEventType::Modified => "MODIFIED",
            WatchEventType::Deleted => "DELETED",
            WatchEventType::Bookmark => "BOOKMARK",
        }
    }
}
