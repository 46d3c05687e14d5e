//! The way of a change from the store to a loop: one watch per process and kind, an ordered stream
//! with latency, which breaks as a whole, resumes from the last revision seen, or lists again after
//! 410. The messages under way are kept by number, so that each can be seen and struck by a fault.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use crate::api::{Kind, Object, ObjectKey, Str};
use crate::apiserver::{Commit, WatchEvent};
use crate::client::informer::{Informer, QueueOrder};
use crate::client::reflector::Reflector;
use crate::kernel::{Hashed, Rng, Time};

use super::ControllerId;

/// A watch of one process.
#[derive(Clone, Debug)]
pub struct Stream {
    /// Whose.
    pub owner: ControllerId,
    /// Of which kind.
    pub kind: Kind,
    /// Only pods on this node (`spec.nodeName=`).
    pub node: Option<Str>,
    /// The last revision that was sent.
    pub revision: u64,
    /// Whether it is open.
    pub open: bool,
    /// Whether a list is under way: the watch opens when it is there.
    pub listing: bool,
    /// What arrived last, from where a broken watch resumes, and how long it waits before it tries.
    pub reflector: Reflector,
    /// The queue before the cache.
    pub informer: Informer,
    /// Messages under way, in order.
    pub flights: VecDeque<u64>,
    /// Objects of which a message was lost on the wire and none has come since, and when that left.
    pub lost: Vec<(ObjectKey, Time)>,
    /// When the last message arrives: none overtakes another.
    pub last_arrival: Time,
    /// Its latencies.
    pub rng: Rng,
}

impl Stream {
    /// A watch from `revision` on.
    pub fn new(
        (owner, kind, node): (ControllerId, Kind, Option<Str>),
        revision: u64,
        open: bool,
        order: QueueOrder,
        rng: Rng,
    ) -> Stream {
        Stream {
            owner,
            kind,
            node,
            revision,
            open,
            listing: false,
            reflector: Reflector::at(revision),
            informer: Informer::new(kind, order),
            flights: VecDeque::new(),
            lost: Vec::new(),
            last_arrival: Time::ZERO,
            rng,
        }
    }

    /// What its process remembered of it is gone.
    pub fn forget(&mut self, order: QueueOrder) {
        self.listing = false;
        self.lost.clear();
        self.reflector = Reflector::default();
        self.informer = Informer::new(self.kind, order);
    }

    /// Whether it selects this object.
    pub fn selects(&self, object: &Object) -> bool {
        object.kind() == self.kind
            && self.node.as_ref().is_none_or(|node| {
                object.as_pod().is_some_and(|pod| pod.spec.node_name.as_ref() == Some(node))
            })
    }
}

/// A watch event under way.
#[derive(Clone, Debug)]
pub struct Flight {
    /// On which stream (its index).
    pub stream: usize,
    /// What it tells.
    pub event: WatchEvent,
    /// When it left.
    pub sent: Time,
    /// When it arrives.
    pub arrives: Time,
    /// What will become of it.
    pub fate: Fate,
    /// How late it is by a delay on the wire that has not been served yet.
    pub late: Duration,
    /// Whether it is mere upkeep (leases), not shown.
    pub background: bool,
}

/// What a fault does to a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fate {
    /// Nothing.
    #[default]
    Intact,
    /// The cache hears of it, the loop does not.
    DroppedAtDoor,
    /// Not even the cache hears of it.
    DroppedOnWire,
    /// The cache hears of it in time, the loop so much later.
    DelayedAtDoor(Duration),
    /// It, and all that follows it on the stream, is late.
    DelayedOnWire,
    /// The loop hears of it twice.
    DoubledAtDoor,
    /// It arrives twice.
    DoubledOnWire,
    /// The loop hears of it after its successor, or after 5 s if none comes.
    Swapped,
    /// The cache hears of it in time, the loop when it is let go.
    HeldAtDoor,
    /// It stands on the wire, and all that follows it on the stream behind it.
    HeldOnWire,
}

impl Fate {
    /// Whether it stands until it is let go.
    pub fn is_held(self) -> bool {
        matches!(self, Fate::HeldAtDoor | Fate::HeldOnWire)
    }
}

impl Flight {
    /// The key of its object.
    pub fn key(&self) -> ObjectKey {
        self.event.object.key()
    }
}

/// Which streams may see a change, without asking all of them.
#[derive(Clone, Debug, Default)]
pub struct StreamIndex {
    central: BTreeMap<Kind, Vec<usize>>,
    kubelets: Hashed<Str, usize>,
}

impl StreamIndex {
    /// Notes a stream.
    pub fn note(&mut self, index: usize, kind: Kind, node: Option<&Str>) {
        match node {
            Some(node) => _ = self.kubelets.insert(node.clone(), index),
            None => self.central.entry(kind).or_default().push(index),
        }
    }

    /// Streams that may see this commit: all watches of its kind, and, for a pod, the kubelets of
    /// the node that it was on and of the node that it is on.
    pub fn of(&self, commit: &Commit) -> Vec<usize> {
        let kind = commit.object().kind();
        let mut found = self.central.get(&kind).cloned().unwrap_or_default();
        if kind == Kind::Pod && !self.kubelets.is_empty() {
            for object in [commit.before.as_ref(), commit.after.as_ref()].into_iter().flatten() {
                let node = object.as_pod().and_then(|pod| pod.spec.node_name.as_ref());
                let stream = node.and_then(|node| self.kubelets.get(node).copied());
                found.extend(stream.filter(|index| !found.contains(index)));
            }
        }
        found
    }
}
