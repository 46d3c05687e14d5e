//! All that can happen in a world: the agenda's entries. Faults and people act between steps.

use std::sync::Arc;
use std::time::Duration;

use crate::api::Object;
use crate::apiserver::Response;
use crate::controllers::Change;
use crate::node::Timer;

use super::ControllerId;
use super::record::Cause;

/// What is due.
#[derive(Clone, Debug)]
pub enum Step {
    /// A watch event arrives; true: mere upkeep.
    Deliver(u64, bool),
    /// A change that was delayed at the door reaches the loop.
    Door(ControllerId, u32, Box<(Change, Cause)>),
    /// What was held back for a successor waits no longer.
    HeldBack(ControllerId, u32),
    /// A pass has thought and acts; true: an edge-triggered loop had no use for its change.
    Decided(ControllerId, u32, u64, bool),
    /// A request reaches the API server; true: mere upkeep.
    Arrive(u64, bool),
    /// An answer reaches the client; true: mere upkeep.
    Answer(u64, Box<Response>, bool),
    /// A delayed key or edge item is due; true: it is a second look that changes a status at most,
    /// if no event was lost.
    Due(ControllerId, u32, bool),
    /// The scheduler looks at pods that have waited for too long.
    Flush(ControllerId, u32),
    /// A list of a stream is answered: the objects and their revision.
    Listed(usize, u32, Vec<Arc<Object>>, u64),
    /// A list reaches the API server.
    List(usize, u32),
    /// A broken stream opens again.
    Reopen(usize, u32),
    /// A container, pull or probe of a node is due.
    Kubelet(u16, Timer),
    /// A cache is replayed into its queue.
    Resync(ControllerId, u32),
    /// A process that changes do not wake looks at everything.
    Poll(ControllerId, u32),
    /// A kubelet renews its lease.
    Heartbeat(u16),
    /// Quiet watches are told how far they are.
    Bookmarks,
    /// The node controller looks at all nodes.
    Monitor(u32),
    /// A fault that lasts ends; the number is that of `World::faults`.
    FaultEnds(u64),
    /// The metrics server asks the kubelets.
    Scrape,
    /// A process tries to take a lease, or to keep it.
    Elect(ControllerId),
    /// A payment of this number has gone through, or back.
    Settle(u64),
}

impl Step {
    /// Whether it is mere upkeep that goes on for ever and changes nothing by itself.
    pub fn is_background(&self) -> bool {
        matches!(
            self,
            Step::Resync(..)
                | Step::Poll(..)
                | Step::Flush(..)
                | Step::Heartbeat(_)
                | Step::Bookmarks
                | Step::Monitor(_)
                | Step::Scrape
                | Step::Elect(_)
                | Step::Arrive(_, true)
                | Step::Answer(_, _, true)
                | Step::Deliver(_, true)
                | Step::Decided(_, _, _, true)
                | Step::Due(_, _, true)
        )
    }

    /// What goes into the trace hash: which step, and for whom.
    pub fn tag(&self) -> u64 {
        let (kind, number) = match self {
            Step::Deliver(flight, _) => (0, *flight),
            Step::Door(id, ..) => (1, id.number()),
            Step::Decided(_, _, pass, _) => (2, *pass),
            Step::Arrive(request, _) => (3, *request),
            Step::Answer(request, ..) => (4, *request),
            Step::Due(id, ..) => (5, id.number()),
            Step::Listed(stream, ..) => (6, *stream as u64),
            Step::List(stream, _) => (7, *stream as u64),
            Step::Reopen(stream, _) => (8, *stream as u64),
            Step::Kubelet(node, _) => (9, u64::from(*node)),
            Step::Resync(id, _) => (10, id.number()),
            Step::Heartbeat(node) => (11, u64::from(*node)),
            Step::Monitor(_) => (12, 0),
            Step::FaultEnds(fault) => (13, *fault),
            Step::Bookmarks => (14, 0),
            Step::Scrape => (15, 0),
            Step::Elect(id) => (16, id.number()),
            Step::Settle(payment) => (17, *payment),
            Step::Poll(id, _) => (18, id.number()),
            Step::HeldBack(id, _) => (19, id.number()),
            Step::Flush(id, _) => (20, id.number()),
        };
        kind << 56 | number
    }

    /// The life of a process that it was meant for, if any.
    pub fn meant_for(&self) -> Option<(ControllerId, u32)> {
        match self {
            Step::Door(id, epoch, ..)
            | Step::HeldBack(id, epoch)
            | Step::Decided(id, epoch, ..)
            | Step::Due(id, epoch, _)
            | Step::Poll(id, epoch)
            | Step::Flush(id, epoch)
            | Step::Resync(id, epoch) => Some((*id, *epoch)),
            _ => None,
        }
    }
}

/// How often kubelets renew their lease.
pub const HEARTBEAT: Duration = Duration::from_secs(10);
/// How often the server sends bookmarks.
pub const BOOKMARK: Duration = Duration::from_secs(60);
/// How often the node controller looks.
pub const MONITOR: Duration = Duration::from_secs(5);
