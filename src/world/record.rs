//! What a world tells of itself while it runs: the raw material of the log, the marks and the
//! verdicts. Records are drained by whoever runs the world; the world never reads them back.

use std::sync::Arc;
use std::time::Duration;

use crate::api::{ObjectKey, Str};
use crate::apiserver::{Verb, WatchEventType};
use crate::controllers::{Deed, Fact, Spot};
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
    /// A pass ended (the record is complete now).
    PassEnded(Arc<PassRecord>),
    /// A watch event that met no fault came into the cache of its process. Upkeep is not told.
    Arrived(Arrival),
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
        /// Its revision, when it left, and when it would have arrived.
        trip: Trip,
        /// Whether it was struck on the wire: then not even the cache knows of it in time.
        on_wire: bool,
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
    /// Changes that had left the store and not reached its cache when it began.
    pub behind: u32,
    /// How long the oldest of them had been under way by then.
    pub stale: Duration,
    /// What it asked for and what came of it, in order of the answers; the first `ACTS_KEPT`.
    pub acts: Vec<Act>,
    /// The revisions that it made: what others were woken by.
    pub wrote: Vec<u64>,
    /// The branches of its function that it took, as lines of the source.
    pub trail: Vec<Spot>,
    /// What it put back into the queue: how long after its end, and whether for an error.
    pub comes_back: Option<(Duration, Cause)>,
}

impl PassRecord {
    /// Whether it found nothing to do.
    pub fn is_idle(&self) -> bool {
        self.does.is_empty() && self.error.is_none() && !self.crashed
    }
}

/// Requests of one pass that are remembered one by one.
pub const ACTS_KEPT: usize = 24;

/// A request of a pass, with its outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct Act {
    /// What was asked.
    pub verb: Verb,
    /// Of which object.
    pub object: ObjectKey,
    /// The revision of the answer, or the refusal: HTTP code and message.
    pub outcome: Result<u64, (u16, String)>,
    /// When it left.
    pub asked: Time,
    /// When the API server took it up.
    pub served: Time,
}

/// The way of a watch event from the store to a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trip {
    /// What it tells of.
    pub revision: u64,
    /// When it left: as the write was done, or as a broken watch was open again.
    pub sent: Time,
    /// When it was handed to the loop, behind the door.
    pub arrived: Time,
}

/// A watch event that came into a cache.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrival {
    /// Whose cache.
    pub to: ControllerId,
    /// What it tells.
    pub event: WatchEventType,
    /// Of which object.
    pub object: ObjectKey,
    /// Its revision, when it left and when it arrived.
    pub trip: Trip,
}

/// What woke a pass.
#[derive(Clone, Debug, PartialEq)]
pub enum Cause {
    /// A watch event of this object.
    Watch(WatchEventType, ObjectKey, Trip),
    /// A resync.
    Resync,
    /// A look at everything, by a loop that changes do not wake.
    Poll,
    /// A list at (re)start, or after 410.
    List,
    /// The back-off after an error.
    Retry,
    /// A timer of its own.
    Timer,
}
