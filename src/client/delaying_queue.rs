//! A work queue that also takes keys that should wait first. A key waits once: of two delays the
//! earlier wins. A key may wait here and in the queue at the same time, and may run twice then.
//!
//! Follows <https://github.com/kubernetes/client-go/blob/master/util/workqueue/delaying_queue.go>.
//! Keys that fall due at the same moment come in the order in which they were asked for (in
//! Kubernetes in any order). Left out: the heartbeat, since no timer is ever missed here.

use std::collections::BTreeMap;
use std::hash::Hash;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

use super::work_queue::WorkQueue;
use crate::kernel::Time;

/// A [`WorkQueue`] with a waiting room. Whatever a work queue can do, this one does too.
#[derive(Clone, Debug)]
pub struct DelayingQueue<K> {
    queue: WorkQueue<K>,
    /// Who waits, by the moment at which it is due and the order in which that was asked.
    waiting: BTreeMap<(Time, u64), K>,
    /// Where in `waiting` each key stands.
    places: BTreeMap<K, (Time, u64)>,
    asked: u64,
}

impl<K> Default for DelayingQueue<K> {
    fn default() -> Self {
        DelayingQueue {
            queue: WorkQueue::default(),
            waiting: BTreeMap::new(),
            places: BTreeMap::new(),
            asked: 0,
        }
    }
}

impl<K: Ord + Hash + Clone> DelayingQueue<K> {
    /// Adds the key when the delay has passed; at once if there is none. If the key waits already,
    /// the earlier moment holds.
    pub fn add_after(&mut self, key: K, delay: Duration, now: Time) {
        if self.queue.is_shutting_down() {
            return;
        }
        if delay.is_zero() {
            self.queue.add(key);
            return;
        }
        let due = now + delay;
        if let Some(place) = self.places.get(&key).copied() {
            if place.0 <= due {
                return;
            }
            self.waiting.remove(&place);
        }
        let place = (due, self.asked);
        self.asked += 1;
        self.waiting.insert(place, key.clone());
        self.places.insert(key, place);
    }

    /// When the next key falls due.
    pub fn next_due(&self) -> Option<Time> {
        self.waiting.first_key_value().map(|(place, _)| place.0)
    }

    /// Moves the keys that are due at `now` into the queue, and tells which they were.
    pub fn advance(&mut self, now: Time) -> Vec<K> {
        let mut moved = Vec::new();
        while let Some(key) = self.pop_due(now) {
            self.queue.add(key.clone());
            moved.push(key);
        }
        moved
    }

    /// Takes the first key that is due at `now` out of the waiting room, and into no queue.
    pub fn pop_due(&mut self, now: Time) -> Option<K> {
        self.next_due().filter(|due| *due <= now)?;
        let (_, key) = self.waiting.pop_first()?;
        self.places.remove(&key);
        Some(key)
    }

    /// Takes a key out of the waiting room before its moment, and into no queue. Returns whether it
    /// was there.
    pub fn forget_delay(&mut self, key: &K) -> bool {
        let place = self.places.remove(key);
        place.is_some_and(|place| self.waiting.remove(&place).is_some())
    }

    /// The keys that wait for their moment, the next one first.
    pub fn waiting(&self) -> impl Iterator<Item = (&K, Time)> {
        self.waiting.iter().map(|((due, _), key)| (key, *due))
    }

    /// When the key falls due, if it waits.
    pub fn due(&self, key: &K) -> Option<Time> {
        self.places.get(key).map(|place| place.0)
    }

    /// As [`WorkQueue::shut_down`]; what is not due yet is forgotten.
    pub fn shut_down(&mut self) {
        self.forget_waiting();
        self.queue.shut_down();
    }

    /// As [`WorkQueue::shut_down_with_drain`]; what is not due yet is forgotten.
    pub fn shut_down_with_drain(&mut self) {
        self.forget_waiting();
        self.queue.shut_down_with_drain();
    }

    fn forget_waiting(&mut self) {
        self.waiting.clear();
        self.places.clear();
    }
}

impl<K> Deref for DelayingQueue<K> {
    type Target = WorkQueue<K>;
    fn deref(&self) -> &WorkQueue<K> {
        &self.queue
    }
}

impl<K> DerefMut for DelayingQueue<K> {
    fn deref_mut(&mut self) -> &mut WorkQueue<K> {
        &mut self.queue
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(queue: &mut DelayingQueue<&'static str>, key: &'static str, millis: u64) {
        queue.add_after(key, Duration::from_millis(millis), Time::ZERO);
    }

    #[test]
    fn the_earlier_of_two_delays_holds() {
        let mut queue = DelayingQueue::default();
        after(&mut queue, "web", 50);
        after(&mut queue, "web", 30);
        after(&mut queue, "web", 70);
        assert_eq!(queue.waiting().collect::<Vec<_>>(), [(&"web", Time::from_millis(30))]);
        assert_eq!(queue.advance(Time::from_millis(29)), [""; 0]);
        assert_eq!(queue.advance(Time::from_millis(30)), ["web"]);
        assert_eq!((queue.len(), queue.next_due()), (1, None));
    }

    #[test]
    fn keys_due_together_come_in_the_order_in_which_they_were_asked_for() {
        let mut queue = DelayingQueue::default();
        after(&mut queue, "c", 5);
        after(&mut queue, "a", 5);
        after(&mut queue, "b", 1);
        assert_eq!(queue.advance(Time::from_secs(1)), ["b", "c", "a"]);
        assert_eq!(queue.get(), Some("b"));
    }

    #[test]
    fn no_delay_is_an_add() {
        let mut queue = DelayingQueue::default();
        after(&mut queue, "web", 10);
        after(&mut queue, "web", 0);
        assert_eq!((queue.len(), queue.due(&"web")), (1, Some(Time::from_millis(10))));
        queue.advance(Time::from_millis(10));
        assert_eq!(queue.merged(&"web"), 2);
    }

    #[test]
    fn a_delay_can_be_forgotten_and_then_asked_for_afresh() {
        let mut queue = DelayingQueue::default();
        after(&mut queue, "web", 10);
        assert!(queue.forget_delay(&"web") && !queue.forget_delay(&"web"));
        after(&mut queue, "web", 20);
        assert_eq!(queue.pop_due(Time::from_millis(19)), None);
        assert_eq!((queue.pop_due(Time::from_millis(20)), queue.len()), (Some("web"), 0));
    }

    #[test]
    fn shutting_down_forgets_what_is_not_due_yet() {
        let mut queue = DelayingQueue::default();
        after(&mut queue, "web", 10);
        queue.shut_down();
        after(&mut queue, "db", 10);
        assert_eq!((queue.next_due(), queue.is_shutting_down()), (None, true));
    }

    #[test]
    fn a_delay_without_end_never_falls_due_and_does_not_overflow() {
        let mut queue = DelayingQueue::default();
        queue.add_after("web", Duration::MAX, Time::from_secs(1));
        assert_eq!(queue.next_due(), Some(Time::MAX));
    }
}
