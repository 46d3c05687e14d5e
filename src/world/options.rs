//! What a world is made of: the numbers that a scenario may set.

use std::collections::BTreeMap;
use std::hash::Hash;
use std::time::Duration;

use crate::client::delaying_queue::DelayingQueue;
use crate::client::informer::QueueOrder;
use crate::client::rate_limiter::RateLimiter;
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
    /// How it is triggered; none: as its lane is.
    pub flavour: Option<Flavour>,
    /// How often the cache is replayed into the queue; zero: never.
    pub resync_period: Duration,
    /// Level only: how often it looks at everything, while changes wake nobody; zero: changes do.
    pub poll: Duration,
    /// Edge only: whether the first list after a restart is taken as so many new objects. Level
    /// always looks at all that it lists.
    pub relist_on_start: bool,
    /// Passes at the same time, each for another key. Edge works through its changes in order, one
    /// at a time.
    pub workers: u16,
    /// Level only: whether adds of a key that waits already fall together. If not, each is a pass.
    pub dedup: bool,
    /// How long a key waits after its first failure; doubled with each one more.
    pub backoff_base: Duration,
    /// How long it waits at most.
    pub backoff_max: Duration,
    /// Retries a second over all keys, ...
    pub qps: u32,
    /// ... and so many at once before that counts.
    pub burst: u32,
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
            flavour: None,
            resync_period: Duration::ZERO,
            poll: Duration::ZERO,
            relist_on_start: false,
            workers: 5,
            dedup: true,
            backoff_base: Duration::from_millis(5),
            backoff_max: Duration::from_secs(1_000),
            qps: 10,
            burst: 100,
            informer_queue: QueueOrder::InOrder,
            expectations: true,
            ignores_timeouts: false,
        }
    }
}

impl Knobs {
    /// What decides how long a key that failed must wait: per key and over all keys, whichever is
    /// longer, as client-go's default controller limiter.
    pub fn limiter<K: Ord + Clone>(&self) -> RateLimiter<K> {
        RateLimiter::MaxOf(vec![
            RateLimiter::item_exponential(self.backoff_base, self.backoff_max),
            RateLimiter::bucket(self.qps, self.burst),
        ])
    }

    /// The queue before its workers.
    pub fn queue<K: Ord + Hash + Clone>(&self) -> DelayingQueue<K> {
        let mut queue = DelayingQueue::default();
        queue.merge(self.dedup);
        queue
    }
}
