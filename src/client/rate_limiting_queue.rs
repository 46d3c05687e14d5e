//! The queue that controllers use: a delaying queue that asks a rate limiter for the delay.
//!
//! Follows
//! <https://github.com/kubernetes/client-go/blob/master/util/workqueue/rate_limiting_queue.go>.

use std::hash::Hash;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

use super::delaying_queue::DelayingQueue;
use super::rate_limiter::RateLimiter;
use crate::kernel::Time;

/// A [`DelayingQueue`] with a [`RateLimiter`]. Whatever a delaying queue can do, this one does too.
#[derive(Clone, Debug)]
pub struct RateLimitingQueue<K> {
    queue: DelayingQueue<K>,
    limiter: RateLimiter<K>,
}

impl<K: Ord + Hash + Clone> Default for RateLimitingQueue<K> {
    fn default() -> Self {
        RateLimitingQueue::new(RateLimiter::default_controller())
    }
}

impl<K: Ord + Hash + Clone> RateLimitingQueue<K> {
    /// An empty queue with this limiter.
    pub fn new(limiter: RateLimiter<K>) -> Self {
        RateLimitingQueue { queue: DelayingQueue::default(), limiter }
    }

    /// Adds the key again after a failure, when the limiter says that it may; tells the delay.
    pub fn add_rate_limited(&mut self, key: K, now: Time) -> Duration {
        let delay = self.limiter.when(&key, now);
        self.queue.add_after(key, delay, now);
        delay
    }

    /// The key succeeded, or is given up. It must still be given back with `done`.
    pub fn forget(&mut self, key: &K) {
        self.limiter.forget(key);
    }

    /// How often the key has failed since it was last forgotten.
    pub fn num_requeues(&self, key: &K) -> u32 {
        self.limiter.num_requeues(key)
    }

    /// The limiter that is asked.
    pub fn limiter(&self) -> &RateLimiter<K> {
        &self.limiter
    }
}

impl<K> Deref for RateLimitingQueue<K> {
    type Target = DelayingQueue<K>;
    fn deref(&self) -> &DelayingQueue<K> {
        &self.queue
    }
}

impl<K> DerefMut for RateLimitingQueue<K> {
    fn deref_mut(&mut self) -> &mut DelayingQueue<K> {
        &mut self.queue
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_key_comes_back_later_each_time_until_it_is_forgotten() {
        let mut queue = RateLimitingQueue::default();
        let fail = |queue: &mut RateLimitingQueue<&'static str>, now| {
            let delay = queue.add_rate_limited("web", now);
            queue.advance(now + delay);
            assert_eq!(queue.get(), Some("web"));
            queue.done(&"web");
            delay.as_millis()
        };
        assert_eq!([0, 1, 2].map(|s| fail(&mut queue, Time::from_secs(s))), [5, 10, 20]);
        assert_eq!(queue.num_requeues(&"web"), 3);
        queue.forget(&"web");
        assert_eq!(fail(&mut queue, Time::from_secs(3)), 5);
    }
}
