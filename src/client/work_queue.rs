//! The work queue: keys that wait for a worker, each at most once however often it is added.
//!
//! Three sets, and what holds between them:
//! - `queue` is the order in which keys are handed out. Every key in it is dirty and is not being
//!   processed, and stands in it once.
//! - `dirty` is every key that must still be processed.
//! - `processing` is every key that a worker has and has not given back. It may be dirty again at
//!   the same time; then it returns to `queue` when its worker is done, so no two workers ever have
//!   the same key and no add is lost.
//!
//! Follows <https://github.com/kubernetes/client-go/blob/master/util/workqueue/queue.go>. Left out:
//! threads (a `get` that would block returns nothing), metrics. The order is first in, first out,
//! unless keys come with a [`Rank`], as in the scheduler's heap. The number of keys is bounded by
//! the number of objects; the queue itself sets no bound.

use std::collections::{BTreeSet, VecDeque};
use std::hash::Hash;

use crate::kernel::{Hashed, Time};

/// Where a key stands in the queue: the smaller number first, then the earlier moment; among equals
/// the one that came first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank(pub i64, pub Time);

/// What became of an add.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added {
    /// The key waits now.
    Queued,
    /// The key was waiting already; this add is merged into that.
    Merged,
    /// A worker has the key; it will wait once more when the worker is done.
    WhileProcessing,
    /// The queue is shutting down and takes nothing.
    Refused,
}

/// A key that must be processed.
#[derive(Clone, Copy, Debug)]
struct Dirty {
    /// How many adds it stands for.
    adds: u32,
    /// That of the first of them.
    rank: Rank,
}

/// A queue of keys without duplicates.
#[derive(Clone, Debug)]
pub struct WorkQueue<K> {
    /// In the order of ranks.
    queue: VecDeque<(Rank, K)>,
    dirty: Hashed<K, Dirty>,
    processing: BTreeSet<K>,
    /// Whether every add of a key stands in `queue` by itself, also while a worker has the key.
    keeps_all: bool,
    shutting_down: bool,
    draining: bool,
}

/// Keys that a queue which merges nothing holds; above that, adds of waiting keys merge.
pub const COPIES_MAX: usize = 10_000;

impl<K> Default for WorkQueue<K> {
    fn default() -> Self {
        WorkQueue {
            queue: VecDeque::new(),
            dirty: Hashed::default(),
            processing: BTreeSet::new(),
            keeps_all: false,
            shutting_down: false,
            draining: false,
        }
    }
}

impl<K: Ord + Hash + Clone> WorkQueue<K> {
    /// Whether adds of a key that waits merge, as they do in Kubernetes, or each is handed out.
    /// Still no two workers ever have the same key. What waits already stays as it is.
    pub fn merge(&mut self, merges: bool) {
        if self.keeps_all != merges {
            return;
        }
        self.keeps_all = !merges;
        if merges {
            // Each key waits once: where it stands first, or when its worker is done.
            let mut seen = self.processing.clone();
            self.queue.retain(|(_, key)| seen.insert(key.clone()));
        } else {
            // Those that wait for their worker stand in the queue from now on.
            let behind = |key: &K| Some((self.dirty.get(key)?.rank, key.clone()));
            self.queue.extend(self.processing.iter().filter_map(behind));
            self.dirty.change_each(|dirty| dirty.adds = 1);
        }
    }

    fn keep(&mut self, key: K, rank: Rank) -> Added {
        let dirty = self.dirty.get_or_insert_with(&key, || Dirty { adds: 0, rank });
        dirty.adds += 1;
        let rank = dirty.rank;
        let is_processing = self.processing.contains(&key);
        self.line_up(key, rank);
        if is_processing { Added::WhileProcessing } else { Added::Queued }
    }

    fn line_up(&mut self, key: K, rank: Rank) {
        if self.queue.back().is_none_or(|(last, _)| *last <= rank) {
            return self.queue.push_back((rank, key));
        }
        let place = self.queue.partition_point(|(other, _)| *other <= rank);
        self.queue.insert(place, (rank, key));
    }

    /// Marks the key as one that must be processed.
    pub fn add(&mut self, key: K) -> Added {
        self.add_ranked(key, Rank::default())
    }

    /// Marks the key as one that must be processed, in its turn. One that is marked already keeps
    /// its rank.
    pub fn add_ranked(&mut self, key: K, rank: Rank) -> Added {
        if self.shutting_down {
            return Added::Refused;
        }
        if self.keeps_all && (self.queue.len() < COPIES_MAX || !self.dirty.contains_key(&key)) {
            return self.keep(key, rank);
        }
        let is_processing = self.processing.contains(&key);
        if let Some(dirty) = self.dirty.get_mut(&key) {
            dirty.adds = dirty.adds.saturating_add(1);
            return if is_processing { Added::WhileProcessing } else { Added::Merged };
        }
        self.dirty.insert(key.clone(), Dirty { adds: 1, rank });
        if is_processing {
            return Added::WhileProcessing;
        }
        self.line_up(key, rank);
        Added::Queued
    }

    /// Hands out the first key: without ranks the one that has waited longest. Nothing: none waits;
    /// the worker should end if the queue [is shutting down](WorkQueue::is_shutting_down), and come
    /// again otherwise.
    pub fn get(&mut self) -> Option<K> {
        let key = if self.keeps_all {
            self.take_copy()?
        } else {
            let (_, key) = self.queue.pop_front()?;
            self.dirty.remove(&key);
            key
        };
        self.processing.insert(key.clone());
        Some(key)
    }

    /// The first copy of a key that no worker has.
    fn take_copy(&mut self) -> Option<K> {
        let is_free = |(_, key): &(Rank, K)| !self.processing.contains(key);
        let place = self.queue.iter().position(is_free)?;
        let (_, key) = self.queue.remove(place)?;
        let waits_again = || self.queue.iter().any(|(_, other)| *other == key);
        // What merged above the bound is handed out with the last copy.
        match self.dirty.get_mut(&key) {
            Some(dirty) if dirty.adds > 1 && waits_again() => dirty.adds -= 1,
            _ => _ = self.dirty.remove(&key),
        }
        Some(key)
    }

    /// The worker gives the key back. If it was added meanwhile, it waits again. A key that no
    /// worker has is ignored.
    pub fn done(&mut self, key: &K) {
        if let Some(key) = self.processing.take(key)
            && !self.keeps_all
            && let Some(dirty) = self.dirty.get(&key)
        {
            self.line_up(key, dirty.rank);
        }
    }

    /// How many keys wait.
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// Whether no key waits.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// The keys that wait, in order, each with the number of adds that it stands for.
    pub fn iter(&self) -> impl Iterator<Item = (&K, u32)> {
        let adds = |key| if self.keeps_all { 1 } else { self.merged(key) };
        self.queue.iter().map(move |(_, key)| (key, adds(key)))
    }

    /// How many adds wait behind the key: 0 if it need not be processed.
    pub fn merged(&self, key: &K) -> u32 {
        self.dirty.get(key).map_or(0, |dirty| dirty.adds)
    }

    /// The keys that workers have, in the order of keys.
    pub fn processing(&self) -> impl Iterator<Item = &K> {
        self.processing.iter()
    }

    /// Whether a worker has the key.
    pub fn is_processing(&self, key: &K) -> bool {
        self.processing.contains(key)
    }

    /// From now on nothing can be added. What waits is still handed out.
    pub fn shut_down(&mut self) {
        self.shutting_down = true;
        self.draining = false;
    }

    /// The same, but the caller waits until [`WorkQueue::is_drained`]; a plain
    /// [`WorkQueue::shut_down`] ends that.
    pub fn shut_down_with_drain(&mut self) {
        self.shutting_down = true;
        self.draining = true;
    }

    /// Whether nothing can be added any more.
    pub fn is_shutting_down(&self) -> bool {
        self.shutting_down
    }

    /// Whether nobody waits for workers to give back what they have.
    pub fn is_drained(&self) -> bool {
        !self.draining || self.processing.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_key_added_three_times_is_handed_out_once() {
        let mut queue = WorkQueue::default();
        assert_eq!(queue.add("web"), Added::Queued);
        assert_eq!(queue.add("db"), Added::Queued);
        assert_eq!(queue.add("web"), Added::Merged);
        assert_eq!(queue.add("web"), Added::Merged);
        assert_eq!(queue.iter().collect::<Vec<_>>(), [(&"web", 3), (&"db", 1)]);
        assert_eq!((queue.get(), queue.get(), queue.get()), (Some("web"), Some("db"), None));
    }

    #[test]
    fn a_key_added_while_it_is_processed_runs_once_more_afterwards() {
        let mut queue = WorkQueue::default();
        queue.add("web");
        queue.get();
        assert_eq!(queue.add("web"), Added::WhileProcessing);
        assert_eq!(queue.add("web"), Added::WhileProcessing);
        assert_eq!((queue.get(), queue.merged(&"web")), (None, 2));
        queue.add("db");
        queue.done(&"web");
        assert_eq!(queue.iter().collect::<Vec<_>>(), [(&"db", 1), (&"web", 2)]);
    }

    #[test]
    fn a_queue_that_merges_nothing_hands_a_key_out_for_every_add_and_to_one_worker_at_a_time() {
        let mut queue = WorkQueue::default();
        queue.merge(false);
        for key in ["web", "web", "db"] {
            queue.add(key);
        }
        assert_eq!((queue.get(), queue.get(), queue.get()), (Some("web"), Some("db"), None));
        assert_eq!(queue.add("web"), Added::WhileProcessing);
        assert_eq!(queue.iter().collect::<Vec<_>>(), [(&"web", 1), (&"web", 1)]);
        queue.done(&"web");
        assert_eq!((queue.get(), queue.get(), queue.len()), (Some("web"), None, 1));
    }

    #[test]
    fn a_queue_can_begin_and_cease_to_merge_and_loses_no_key() {
        let mut queue = WorkQueue::default();
        queue.add("web");
        queue.get();
        for key in ["web", "web", "db", "db"] {
            queue.add(key);
        }
        queue.merge(false);
        assert_eq!(queue.iter().collect::<Vec<_>>(), [(&"db", 1), (&"web", 1)]);
        for key in ["web", "db", "db"] {
            queue.add(key);
        }
        queue.merge(true);
        assert_eq!(queue.get(), Some("db"));
        assert_eq!(queue.get(), None, "a worker has the other");
        queue.done(&"web");
        assert_eq!((queue.get(), queue.get()), (Some("web"), None));
    }

    #[test]
    fn keys_of_a_lower_number_come_first_and_of_equals_those_that_wait_since_earlier() {
        let mut queue = WorkQueue::default();
        let ranks = [("c", 0, 5), ("a", -100, 9), ("d", 0, 7), ("b", -100, 9), ("e", 0, 5)];
        for (key, number, since) in ranks {
            queue.add_ranked(key, Rank(number, Time::from_secs(since)));
        }
        queue.add_ranked("d", Rank(-200, Time::ZERO));
        assert_eq!(queue.get(), Some("a"), "one that waits keeps its place");
        queue.add_ranked("a", Rank(1, Time::ZERO));
        queue.done(&"a");
        let order: Vec<_> = std::iter::from_fn(|| queue.get()).collect();
        assert_eq!(order, ["b", "c", "e", "d", "a"]);
        assert!(queue.dirty.is_empty(), "nothing is remembered of what was handed out");
    }

    #[test]
    fn a_key_that_no_worker_has_can_be_given_back_without_harm() {
        let mut queue = WorkQueue::default();
        queue.add("web");
        queue.done(&"web");
        queue.done(&"nobody");
        assert_eq!(queue.len(), 1);
    }

    #[test]
    fn a_queue_that_shuts_down_takes_nothing_and_hands_out_what_waits() {
        let mut queue = WorkQueue::default();
        queue.add("web");
        queue.shut_down_with_drain();
        assert_eq!(queue.add("db"), Added::Refused);
        assert_eq!(queue.get(), Some("web"));
        assert!(!queue.is_drained() && queue.is_shutting_down());
        queue.done(&"web");
        assert!(queue.is_drained());
    }

    /// What a key can be, told without sets: the reference that the queue is measured against.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    enum State {
        #[default]
        Idle,
        Waiting(u32),
        Processing,
        ProcessingAndDirty(u32),
    }

    #[derive(Default)]
    struct Reference {
        states: [State; 4],
        order: Vec<usize>,
    }

    impl Reference {
        fn add(&mut self, key: usize) {
            self.states[key] = match self.states[key] {
                State::Idle => {
                    self.order.push(key);
                    State::Waiting(1)
                }
                State::Waiting(adds) => State::Waiting(adds + 1),
                State::Processing => State::ProcessingAndDirty(1),
                State::ProcessingAndDirty(adds) => State::ProcessingAndDirty(adds + 1),
            };
        }

        fn get(&mut self) -> Option<usize> {
            let key = (!self.order.is_empty()).then(|| self.order.remove(0))?;
            self.states[key] = State::Processing;
            Some(key)
        }

        fn done(&mut self, key: usize) {
            match self.states[key] {
                State::Processing => self.states[key] = State::Idle,
                State::ProcessingAndDirty(adds) => {
                    self.states[key] = State::Waiting(adds);
                    self.order.push(key);
                }
                State::Idle | State::Waiting(_) => {}
            }
        }

        fn waiting(&self) -> Vec<(usize, u32)> {
            let adds = |key: &usize| match self.states[*key] {
                State::Waiting(adds) => adds,
                _ => 0,
            };
            self.order.iter().map(|key| (*key, adds(key))).collect()
        }
    }

    proptest! {
        #[test]
        fn the_queue_does_what_the_reference_does(
            steps in prop::collection::vec((0..3, 0..4usize), 0..60),
        ) {
            let (mut queue, mut reference) = (WorkQueue::default(), Reference::default());
            for (step, key) in steps {
                match step {
                    0 => {
                        queue.add(key);
                        reference.add(key);
                    }
                    1 => prop_assert_eq!(queue.get(), reference.get()),
                    _ => {
                        queue.done(&key);
                        reference.done(key);
                    }
                }
                let waiting: Vec<_> = queue.iter().map(|(key, adds)| (*key, adds)).collect();
                prop_assert_eq!(waiting, reference.waiting());
                prop_assert!(queue.queue.iter().all(|(_, key)| queue.merged(key) > 0));
                prop_assert!(queue.queue.iter().all(|(_, key)| !queue.is_processing(key)));
            }
        }
    }
}
