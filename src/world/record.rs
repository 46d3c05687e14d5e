//! What a world tells of itself while it runs: the raw material of the log, the marks and the
//! verdicts. Records are drained by whoever runs the world; the world never reads them back.

use crate::api::{ObjectKey, Str};
use crate::apiserver::WatchEventType;
use crate::controllers::{Deed, Fact};
use crate::kernel::Time;

use super::ControllerId;

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// When.
    pub at: Time,
    /// What.
    pub what: Occurrence,
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Occurrence {
    /// A pass began; it will decide at the given moment.
    PassStarted(Box<PassRecord>),
    /// A pass ended (the record is complete now).
    PassEnded(Box<PassRecord>),
    /// A watch event met a fault.
    Struck {
        /// Whose event.
        to: ControllerId,
        /// What it tells.
        event: WatchEventType,
        /// Of which object.
        object: ObjectKey,
        /// Of which kind of fault: `drop`, `delay`, `duplicate`, `reorder`.
        how: &'static str,
    },
    /// A process died.
    Killed(ControllerId),
    /// A process started.
    Started(ControllerId),
    /// `spec.replicas` of an object changed hands.
    Scaled {
        /// Whose.
        object: ObjectKey,
        /// From.
        from: i32,
        /// To.
        to: i32,
        /// By whom: a controller's name or `kubectl`.
        by: Str,
    },
}

/// One pass.
#[derive(Clone, Debug, PartialEq)]
pub struct PassRecord {
    /// Numbered through the world's run.
    pub number: u64,
    /// Of which loop.
    pub controller: ControllerId,
    /// For which key.
    pub key: ObjectKey,
    /// When it took the key from its queue.
    pub started: Time,
    /// When it had decided.
    pub decided: Time,
    /// When it was over.
    pub ended: Option<Time>,
    /// What it saw.
    pub sees: Fact,
    /// What it wanted.
    pub wants: Fact,
    /// What it set out to do, in order.
    pub does: Vec<(Deed, u32)>,
    /// What woke it.
    pub woken_by: Cause,
    /// The error that ended it.
    pub error: Option<String>,
    /// Whether its process died in the middle.
    pub crashed: bool,
}

/// What woke a pass.
#[derive(Clone, Debug, PartialEq)]
pub enum Cause {
    /// A watch event of this object.
    Watch(WatchEventType, ObjectKey),
    /// A resync.
    Resync,
    /// A list at (re)start, or after 410.
    List,
    /// The back-off after an error.
    Retry,
    /// A timer of its own.
    Timer,
}
