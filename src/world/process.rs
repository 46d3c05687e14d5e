//! One process that runs a loop: its cache, its queue, its memory and the passes under way. All of
//! it dies with the process.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use crate::api::{ObjectKey, Str};
use crate::client::Cache;
use crate::client::delaying_queue::DelayingQueue;
use crate::client::event_correlator::EventCorrelator;
use crate::client::expectations::UidTrackingExpectations;
use crate::client::rate_limiter::RateLimiter;
use crate::client::work_queue::COPIES_MAX;
use crate::controllers::{Change, ChangeKind, Context, PassRun};
use crate::kernel::{Hashed, Rng, Time};

use super::events::Reporter;
use super::knob::Manner;
use super::mind::Mind;
use super::options::{Flavour, Knobs};
use super::record::{Cause, PassRecord};
use super::{ControllerId, CrashPoint};

/// A process.
#[derive(Clone, Debug)]
pub struct Process {
    /// Which.
    pub id: ControllerId,
    /// How it is triggered.
    pub flavour: Flavour,
    /// Its knobs.
    pub knobs: Knobs,
    /// Whether it runs.
    pub alive: bool,
    /// Grows with every start: what was meant for an earlier life is ignored.
    pub epoch: u32,
    /// What it knows.
    pub cache: Cache,
    /// What waits, if it is level-triggered: keys.
    pub queue: DelayingQueue<ObjectKey>,
    /// What waits, if it is edge-triggered: changes, in order.
    pub changes: VecDeque<EdgeItem>,
    /// Edge items that wait for their back-off or timer, with the moment.
    pub later: Vec<(Time, EdgeItem)>,
    /// Back-off of its keys.
    pub limiter: RateLimiter<ObjectKey>,
    /// Creations and deletions that the cache must show before a key is looked at again.
    pub expectations: UidTrackingExpectations,
    /// What it told in Events.
    pub recorder: EventCorrelator,
    /// As whom it told the last of them.
    pub(super) reporter: Option<Reporter>,
    /// The controller's own memory.
    pub mind: Mind,
    /// Passes under way, by number.
    pub active: BTreeMap<u64, ActivePass>,
    /// What woke each waiting key first.
    pub causes: Hashed<ObjectKey, Cause>,
    /// What woke it again, if its queue does not let that fall together.
    pub further_causes: BTreeMap<ObjectKey, VecDeque<Cause>>,
    /// What will have woken each delayed key.
    pub later_causes: BTreeMap<ObjectKey, Cause>,
    /// Changes that a fault holds back until the next one has passed, or until this moment.
    pub held_back: Vec<(Time, Change, Cause)>,
    /// Where its next pass shall die.
    pub crash_at: Option<CrashPoint>,
    /// When the queue's next delayed key is announced on the agenda.
    pub announced: Time,
    /// When keys that have waited for too long for a change are looked at again.
    pub flushes: Time,
    /// Its latencies.
    pub rng: Rng,
    /// Its last finished pass.
    pub last: Option<Arc<PassRecord>>,
    /// Lists that it still waits for before it begins to work.
    pub unsynced: u16,
    /// Its watches, by number.
    pub streams: Vec<usize>,
    /// What was put into its queue at once, over all its lives.
    pub adds: u64,
    /// How many of these fell together with what waited already.
    pub merges: u64,
}

/// Waiting in an edge-triggered loop.
#[derive(Clone, Debug)]
pub enum EdgeItem {
    /// A change to act on.
    Change(Change, Cause),
    /// The rest of a plan that failed, to be tried again.
    Resume(ObjectKey, Box<PassRun>),
    /// A timer that the loop asked for.
    Timer(ObjectKey),
}

/// A pass under way.
#[derive(Clone, Debug)]
pub struct ActivePass {
    /// What is told of it.
    pub record: PassRecord,
    /// The plan that is carried out.
    pub run: PassRun,
    /// Whether it has decided and sends requests.
    pub acting: bool,
    /// Whether it is not worth telling: a change that the loop has no use for.
    pub silent: bool,
}

impl Process {
    /// A process that has not started.
    pub fn new(id: ControllerId, flavour: Flavour, knobs: Knobs, mind: Mind, rng: Rng) -> Process {
        Process {
            id,
            flavour,
            knobs,
            alive: false,
            epoch: 0,
            cache: Cache::default(),
            queue: knobs.queue(),
            changes: VecDeque::new(),
            later: Vec::new(),
            limiter: knobs.limiter(),
            expectations: UidTrackingExpectations::default(),
            recorder: EventCorrelator::default(),
            reporter: None,
            mind,
            active: BTreeMap::new(),
            causes: Hashed::default(),
            further_causes: BTreeMap::new(),
            later_causes: BTreeMap::new(),
            held_back: Vec::new(),
            crash_at: None,
            announced: Time::MAX,
            flushes: Time::MAX,
            rng,
            last: None,
            unsynced: 0,
            streams: Vec::new(),
            adds: 0,
            merges: 0,
        }
    }

    /// Ends the process: everything in its memory is gone. What it asked the API server for is
    /// under way all the same.
    pub fn die(&mut self) -> Vec<PassRecord> {
        self.alive = false;
        self.epoch += 1;
        self.cache = Cache::default();
        self.queue = self.knobs.queue();
        self.changes.clear();
        self.later.clear();
        self.limiter = self.knobs.limiter();
        self.expectations = UidTrackingExpectations::default();
        self.recorder = EventCorrelator::default();
        self.mind = self.mind.reborn();
        self.causes.clear();
        self.further_causes.clear();
        self.later_causes.clear();
        self.held_back.clear();
        (self.announced, self.flushes) = (Time::MAX, Time::MAX);
        self.crash_at = None;
        self.unsynced = 0;
        let cut = std::mem::take(&mut self.active).into_values();
        cut.map(|pass| PassRecord { crashed: true, ..pass.record }).collect()
    }

    /// Whether another pass may begin.
    pub fn has_free_worker(&self) -> bool {
        let workers = match self.flavour {
            Flavour::Edge => 1,
            Flavour::Level => usize::from(self.knobs.workers.max(1)),
        };
        self.alive && self.unsynced == 0 && self.active.len() < workers
    }

    /// Puts a key into the queue of a level-triggered loop.
    pub fn enqueue(&mut self, key: ObjectKey, cause: &Cause, now: Time) {
        self.note_cause(&key, cause);
        let before = self.queue.len();
        self.line_up(key, now);
        self.adds += 1;
        self.merges += u64::from(self.queue.len() == before);
    }

    fn line_up(&mut self, key: ObjectKey, now: Time) {
        let cx = Context { cache: &self.cache, now, seed: 0, promises_kept: true };
        let rank = self.mind.rank(&key, &cx);
        self.queue.add_ranked(key, rank);
    }

    /// Moves the keys whose moment has come into the queue.
    pub(super) fn take_due(&mut self, now: Time) {
        while let Some(key) = self.queue.pop_due(now) {
            self.move_up(key, now);
        }
    }

    /// Puts a key that has waited for its moment into the queue.
    fn move_up(&mut self, key: ObjectKey, now: Time) {
        let cause = self.later_causes.remove(&key).unwrap_or(Cause::Timer);
        self.note_cause(&key, &cause);
        self.line_up(key, now);
    }

    /// Takes the next key from the queue of a level-triggered loop.
    pub(super) fn take_key(&mut self, now: Time) -> Option<ObjectKey> {
        self.queue.get().or_else(|| {
            let early = self.mind.as_scheduler()?.comes_early(self.queue.waiting())?;
            self.queue.forget_delay(&early);
            self.move_up(early, now);
            self.queue.get()
        })
    }

    /// How it is triggered, in full.
    pub fn manner(&self) -> Manner {
        Manner::of(self.flavour, &self.knobs)
    }

    /// Whether it looks by itself, and what it hears of wakes nobody.
    pub(super) fn is_deaf_to(&self, cause: &Cause) -> bool {
        !self.knobs.poll.is_zero() && matches!(cause, Cause::Watch(..) | Cause::List)
    }

    /// Takes down what woke a key.
    pub(super) fn note_cause(&mut self, key: &ObjectKey, cause: &Cause) {
        if self.knobs.dedup {
            self.causes.get_or_insert_with(key, || cause.clone());
        } else if self.further_causes.values().map(VecDeque::len).sum::<usize>() < COPIES_MAX {
            self.further_causes.entry(key.clone()).or_default().push_back(cause.clone());
        }
    }

    /// What woke a key whose pass begins.
    pub(super) fn take_cause(&mut self, key: &ObjectKey) -> Option<Cause> {
        if let Some(first) = self.causes.remove(key) {
            return Some(first);
        }
        let further = self.further_causes.get_mut(key)?;
        let next = further.pop_front();
        if further.is_empty() {
            self.further_causes.remove(key);
        }
        next
    }

    /// Puts a key into the queue of a level-triggered loop after a while.
    pub fn enqueue_later(&mut self, key: ObjectKey, after: Duration, cause: Cause, now: Time) {
        self.later_causes.entry(key.clone()).or_insert(cause);
        self.queue.add_after(key, after, now);
    }

    /// How many pods an edge-triggered loop believes in: it does not count, it remembers.
    pub fn believed_pods(&self) -> Option<i64> {
        match (&self.mind, self.flavour) {
            (Mind::ReplicaSet(ledger), Flavour::Edge) => Some(ledger.believed_pods()),
            _ => None,
        }
    }

    /// Whether all that comes back later does so by a timer, and nothing after an error. A
    /// Deployment's timer is its progress deadline: a condition turns, no more.
    pub fn waits_for_timers_only(&self) -> bool {
        match self.flavour {
            Flavour::Edge => self.later.iter().all(|(_, item)| matches!(item, EdgeItem::Timer(_))),
            Flavour::Level => self.later_causes.values().all(|cause| *cause == Cause::Timer),
        }
    }

    /// How many items wait now.
    pub fn waiting(&self) -> usize {
        match self.flavour {
            Flavour::Edge => self.changes.len(),
            Flavour::Level => self.queue.len(),
        }
    }
}

impl EdgeItem {
    /// How it is shown in the queue.
    pub fn label(&self) -> Str {
        match self {
            EdgeItem::Change(change, _) => {
                let word = match change.kind {
                    ChangeKind::Added => "ADDED",
                    ChangeKind::Updated => "MODIFIED",
                    ChangeKind::Deleted | ChangeKind::DeletedFinalStateUnknown => "DELETED",
                };
                format!("{word} {}", change.object.meta().name).into()
            }
            EdgeItem::Resume(key, _) | EdgeItem::Timer(key) => key.name.clone(),
        }
    }
}
