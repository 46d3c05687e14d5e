//! What a world is made of: the numbers that a scenario may set.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::client::informer::QueueOrder;
use crate::controllers::operator::OperatorSpec;
use crate::node::Images;

use super::metrics::Load;
use super::server_limit::ServerLimit;

/// How a world is built.
#[derive(Clone, Debug)]
pub struct Options {
    /// Decides every draw.
    pub seed: u64,
    /// Whether Deployment, ReplicaSet, autoscaler and GitOps act on changes or look at the state.
    pub flavour: Flavour,
    /// Nodes of the usual size, `node-1` and so on.
    pub nodes: u16,
    /// Latencies.
    pub network: Network,
    /// Knobs of controllers, by the controller's name; those not named have the defaults.
    pub knobs: BTreeMap<String, Knobs>,
    /// How containers behave.
    pub images: Images,
    /// What they use.
    pub load: Vec<Load>,
    /// Loops for kinds that users define.
    pub operators: Vec<OperatorSpec>,
    /// How much the API server takes at once; absent: anything.
    pub server_limit: Option<ServerLimit>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            seed: 1,
            flavour: Flavour::Level,
            nodes: 3,
            network: Network::default(),
            knobs: BTreeMap::new(),
            images: Images::default(),
            load: Vec::new(),
            operators: Vec::new(),
            server_limit: None,
        }
    }
}

/// How a controller is triggered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Flavour {
    /// It acts on each change, in order.
    Edge,
    /// It compares desired with observed state.
    Level,
}

/// Latencies, drawn evenly between the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    /// One way of a request, and of its answer.
    pub request: (Duration, Duration),
    /// From the store to a watcher.
    pub watch: (Duration, Duration),
}

impl Default for Network {
    fn default() -> Self {
        Network {
            request: (Duration::from_millis(5), Duration::from_millis(20)),
            watch: (Duration::from_millis(10), Duration::from_millis(60)),
        }
    }
}

/// What can be tuned for one controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Knobs {
    /// Whether it runs at all.
    pub enabled: bool,
    /// How often the cache is replayed into the queue; zero: never.
    pub resync_period: Duration,
    /// Edge only: whether the first list after a restart is taken as so many new objects. Level
    /// always looks at all that it lists.
    pub relist_on_start: bool,
    /// Passes at the same time, each for another key. Edge works through its changes in order, one
    /// at a time.
    pub workers: u16,
    /// Which queue lies between its reflectors and its cache.
    pub informer_queue: QueueOrder,
    /// Level only: whether a key waits until the cache shows what its last pass made and deleted.
    pub expectations: bool,
    /// Whether a creation that timed out counts as made: what ReplicaSets did before v1.20.
    pub ignores_timeouts: bool,
}

impl Default for Knobs {
    fn default() -> Self {
        Knobs {
            enabled: true,
            resync_period: Duration::ZERO,
            relist_on_start: false,
            workers: 5,
            informer_queue: QueueOrder::InOrder,
            expectations: true,
            ignores_timeouts: false,
        }
    }
}
