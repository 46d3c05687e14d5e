//! What the stage of one lane shows, as data: everything is read off the world, nothing is made up.

use std::sync::Arc;
use std::time::Duration;

use crate::api::{ObjectKey, Str};
use crate::apiserver::{Verb, WatchEventType};
use crate::kernel::Time;
use crate::world::{Manner, PassRecord};

/// One lane at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stage {
    /// Changes whenever anything below changes: compare this before comparing the rest.
    pub version: u64,
    /// The store's revision.
    pub revision: u64,
    /// The lane's verdict.
    pub verdict: VerdictView,
    /// Totals since the start of the run.
    pub totals: Totals,
    /// Objects as a tree, depth first: the notice board. Pods are not in it, they are `pods`.
    pub board: Vec<BoardRow>,
    /// The loops, in the order in which data goes round.
    pub loops: Vec<LoopView>,
    /// Loops that are triggered in another manner than is usual in this lane.
    pub others: Vec<(LoopId, Manner)>,
    /// Messages under way at this moment.
    pub flights: Vec<Flight>,
    /// For how many messages each of them stands: 1, but in a storm.
    pub drawn_every: u64,
    /// How many there are, drawn or not.
    pub under_way: usize,
    /// The nodes with their pods.
    pub nodes: Vec<NodeView>,
    /// Pods without a node.
    pub tray: Vec<PodCell>,
    /// What the API server suffers, if anything: slow, down, throttling.
    pub server_fault: Option<Str>,
}

/// What a lane has come to.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum VerdictView {
    /// Matched, and nothing queued, held, due or in flight can change it. Since when.
    Converged {
        /// The moment it became so.
        since: Time,
    },
    /// Something is under way.
    #[default]
    Converging,
    /// Differs, and something is due that may change it at this time only (a resync, a back-off).
    Waiting {
        /// What is missing.
        short: Vec<Shortfall>,
        /// When.
        until: Time,
        /// What is due.
        what: Str,
    },
    /// Differs, and nothing will ever wake anyone that could change it.
    Stuck {
        /// What is missing.
        short: Vec<Shortfall>,
        /// When the scheduler tries pods without a node again, in vain.
        in_vain: Option<Time>,
    },
    /// Controllers undo each other's work.
    Oscillating {
        /// Which object.
        object: ObjectKey,
        /// Which field.
        field: Str,
        /// Who writes what, the latest last.
        sides: [(Str, i32); 2],
        /// How long from one write of the same writer to the next, on average.
        period: Duration,
        /// How often it turned within the last two minutes.
        turns: u32,
    },
}

/// How an object differs from what it should be.
#[derive(Clone, Debug, PartialEq)]
pub struct Shortfall {
    /// The object whose spec is not met.
    pub object: ObjectKey,
    /// What it wants.
    pub want: i64,
    /// What there truly is.
    pub have: i64,
}

/// Totals since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Passes of all loops.
    pub passes: u64,
    /// Requests.
    pub calls: u64,
    /// Requests that changed something.
    pub writes: u64,
    /// Watch events delivered.
    pub watch_events: u64,
}

/// One object on the board.
#[derive(Clone, Debug, PartialEq)]
pub struct BoardRow {
    /// Which.
    pub key: ObjectKey,
    /// Keeps its place while it lives.
    pub uid: Str,
    /// 0 for a root, 1 for its dependents.
    pub depth: u8,
    /// `spec.replicas`, where there is such a field.
    pub want: Option<i64>,
    /// Pods that truly exist and are not on their way out.
    pub have: i64,
    /// Those that are truly ready.
    pub ready: i64,
    /// What its status says, where that differs from `have`/`ready`: (replicas, readyReplicas).
    pub says: Option<(i64, i64)>,
    /// Of an Order: what its status and its spec say, such as `Pending` and `Paid`.
    pub words: Option<(Str, Str)>,
    /// Whether the simulation acts on this kind, or merely keeps it.
    pub simulated: bool,
    /// Whether it is being deleted.
    pub terminating: bool,
    /// When it last changed, and the fields that changed (`spec.replicas`), to flash once.
    pub changed: Option<(Time, Vec<Str>)>,
}

/// A loop's name: which controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum LoopId {
    Deployment,
    ReplicaSet,
    Scheduler,
    /// The kubelets of all nodes are drawn as one loop; their passes say which node.
    Kubelet,
    GarbageCollector,
    NodeLifecycle,
    /// Drawn where there is an autoscaler.
    HorizontalAutoscaler,
    /// Drawn where there is an Application.
    GitOps,
    /// Drawn where Orders are defined.
    Order,
    Job,
    StatefulSet,
    CronJob,
    DaemonSet,
    EndpointSlice,
}

impl LoopId {
    /// All, in the order in which data goes round.
    pub const ALL: [LoopId; 14] = [
        LoopId::GitOps,
        LoopId::Order,
        LoopId::HorizontalAutoscaler,
        LoopId::CronJob,
        LoopId::Job,
        LoopId::StatefulSet,
        LoopId::DaemonSet,
        LoopId::Deployment,
        LoopId::ReplicaSet,
        LoopId::Scheduler,
        LoopId::Kubelet,
        LoopId::EndpointSlice,
        LoopId::NodeLifecycle,
        LoopId::GarbageCollector,
    ];
}

/// A loop.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopView {
    /// Which.
    pub id: LoopId,
    /// Its name as in faults and on the console: `replicaset`.
    pub name: Str,
    /// How it is triggered.
    pub flavour: LoopFlavour,
    /// The same in full, with what belongs to it.
    pub manner: Manner,
    /// The manners in which it can be triggered.
    pub manners: Vec<Manner>,
    /// Whether two processes of it can compete for a lease, and whether they do.
    pub doubled: Option<bool>,
    /// Whether its process runs.
    pub alive: bool,
    /// Whether a crash point is armed for its next pass.
    pub armed: bool,
    /// A pass that is under way.
    pub pass: Option<PassView>,
    /// The pass that ended last.
    pub last: Option<PassView>,
    /// What waits in its queue, first first; at most `QUEUE_SHOWN`, the rest is in `queued`.
    pub queue: Vec<Bead>,
    /// How many wait in all.
    pub queued: usize,
    /// Keys that come back later: retry back-off or a timer. The earliest first.
    pub due: Vec<Due>,
    /// What its cache shows (pods for the ReplicaSet loop, ...) and how far it is behind the store.
    pub cache: CacheView,
    /// Door faults waiting for its next watch event: "drop DELETED Pod".
    pub traps: Vec<Str>,
}

/// How a loop is triggered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LoopFlavour {
    /// It acts on each change.
    Edge,
    /// It looks at the state again.
    Level,
    /// It is level-triggered in both lanes.
    Shared,
}

/// Waiting in a queue.
#[derive(Clone, Debug, PartialEq)]
pub struct Bead {
    /// The key's name, for an edge loop with the change: `DELETED web-5d9-x7k`.
    pub label: Str,
    /// Adds that fell together: 1 is one.
    pub adds: u32,
}

/// Comes back later.
#[derive(Clone, Debug, PartialEq)]
pub struct Due {
    /// The key's name.
    pub label: Str,
    /// When.
    pub at: Time,
    /// Whether after an error (back-off) or by a timer of its own.
    pub back_off: bool,
}

/// What a loop's cache holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CacheView {
    /// Objects of the kind that it counts.
    pub sees: i64,
    /// How many there truly are.
    pub truth: i64,
    /// The oldest change that it has not heard of is so old; zero if it knows all.
    pub stale: Duration,
}

/// One pass of a loop for one key: what the world tells of it, and where it ran.
#[derive(Clone, Debug, PartialEq)]
pub struct PassView {
    /// On which node, for a kubelet.
    pub node: Option<Str>,
    /// The pass.
    pub record: Arc<PassRecord>,
}

impl std::ops::Deref for PassView {
    type Target = PassRecord;

    fn deref(&self) -> &PassRecord {
        &self.record
    }
}

/// A message under way.
#[derive(Clone, Debug, PartialEq)]
pub struct Flight {
    /// To catch it by.
    pub id: u64,
    /// Between the API server and this loop (its index in `Stage::loops`).
    pub lane_loop: LoopId,
    /// On which node, for a kubelet.
    pub node: Option<Str>,
    /// What it is.
    pub what: FlightKind,
    /// The object it is about.
    pub object: ObjectKey,
    /// When it left.
    pub sent: Time,
    /// When it arrives (or is due to; `Time::MAX` while held).
    pub arrives: Time,
    /// What a fault has done to it.
    pub fate: Fate,
}

/// What flies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlightKind {
    /// A watch event, falling.
    Watch(WatchEventType),
    /// A request, rising.
    Request(Verb),
    /// An answer, falling: well or refused (with the HTTP code).
    Answer(Verb, Option<u16>),
}

/// What a fault does to a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fate {
    /// Nothing.
    #[default]
    Intact,
    /// It will be lost at the door of the loop: the cache hears of it, the loop does not.
    DroppedAtDoor,
    /// It will be lost on the wire: not even the cache hears of it.
    DroppedOnWire,
    /// It is late.
    Delayed,
    /// It arrives twice.
    Doubled,
    /// Its loop hears of it after its successor.
    Swapped,
    /// It stands at the door of its loop until it is let go: the cache has heard of it.
    HeldAtDoor,
    /// It stands on the wire until it is let go.
    HeldOnWire,
    /// It stands on the wire behind one that is held.
    Behind,
}

impl Fate {
    /// Whether it stands until it is let go.
    pub fn is_held(self) -> bool {
        matches!(self, Fate::HeldAtDoor | Fate::HeldOnWire)
    }
}

/// A node.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeView {
    /// Its name.
    pub name: Str,
    /// Whether its machine runs.
    pub powered: bool,
    /// Whether it reaches the API server.
    pub connected: bool,
    /// Whether the API server says that it is Ready.
    pub ready: bool,
    /// Cordoned.
    pub unschedulable: bool,
    /// How many pods of usual size it holds, for drawing empty places.
    pub places: u32,
    /// Its pods, each at the place that it keeps while it lives.
    pub pods: Vec<PodCell>,
}

/// A pod.
#[derive(Clone, Debug, PartialEq)]
pub struct PodCell {
    /// Identity for drawing.
    pub uid: Str,
    /// Namespace and name.
    pub key: ObjectKey,
    /// Its place on the node (or in the tray).
    pub place: u32,
    /// What it looks like.
    pub state: PodLook,
    /// kubectl's STATUS column.
    pub status: Str,
    /// The owner's name.
    pub owner: Option<Str>,
    /// Restarts.
    pub restarts: i32,
    /// When it came to look like this.
    pub since: Time,
}

/// What a pod looks like: each differs by shape and letter as well as by colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum PodLook {
    Pending,
    ContainerCreating,
    NotReady,
    Ready,
    Terminating,
    CrashLoopBackOff,
    ImagePullBackOff,
    Failed,
    Succeeded,
    Unknown,
}

/// Beads shown of a queue.
pub const QUEUE_SHOWN: usize = 5;
