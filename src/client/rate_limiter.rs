//! How long a key that failed must wait before it is tried again.
//!
//! Follows `util/workqueue/default_rate_limiters.go` of <https://github.com/kubernetes/client-go>,
//! and for the bucket <https://pkg.go.dev/golang.org/x/time/rate>. Delays are whole nanoseconds,
//! where Kubernetes computes with floats; the bucket gains a whole number of tokens a second.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::kernel::Time;

const NANOS: i128 = 1_000_000_000;
/// What Go calls the infinite duration.
const FOREVER: Duration = Duration::from_nanos(i64::MAX as u64);

/// Decides about delays. Each variant is one of client-go's limiters.
#[derive(Clone, Debug)]
pub enum RateLimiter<K> {
    /// `base`, doubled with every failure of the item, at most `max`.
    ItemExponential {
        /// Delay after the first failure.
        base: Duration,
        /// Longest delay.
        max: Duration,
        /// Failures of each item that was not forgotten.
        failures: BTreeMap<K, u32>,
    },
    /// `fast` for so many attempts at an item, then `slow`.
    ItemFastSlow {
        /// Delay of the first attempts.
        fast: Duration,
        /// Delay of all others.
        slow: Duration,
        /// How many are fast.
        max_fast_attempts: u32,
        /// Failures of each item that was not forgotten.
        failures: BTreeMap<K, u32>,
    },
    /// So many a second over all items, with a burst.
    Bucket(Bucket),
    /// The longest delay of several limiters, each of which is asked.
    MaxOf(Vec<RateLimiter<K>>),
    /// The delay of another limiter, at most `max`.
    WithMaxWait {
        /// Who is asked.
        limiter: Box<RateLimiter<K>>,
        /// Longest delay.
        max: Duration,
    },
    /// `base` for the first `threshold` calls over all items, then `max`.
    Step {
        /// Delay of the first calls.
        base: Duration,
        /// Delay of all others.
        max: Duration,
        /// How many are the first.
        threshold: u64,
        /// How many there were.
        calls: u64,
    },
}

impl<K: Ord + Clone> RateLimiter<K> {
    /// What controllers use unless they say otherwise: per item 5 ms doubling to 1000 s, and over
    /// all items 10 a second with a burst of 100, whichever is longer
    /// (`DefaultTypedControllerRateLimiter`).
    pub fn default_controller() -> RateLimiter<K> {
        RateLimiter::MaxOf(vec![
            RateLimiter::item_exponential(Duration::from_millis(5), Duration::from_secs(1_000)),
            RateLimiter::bucket(10, 100),
        ])
    }

    /// The other default: per item only, 1 ms doubling to 1000 s
    /// (`DefaultTypedItemBasedRateLimiter`).
    pub fn default_item_based() -> RateLimiter<K> {
        RateLimiter::item_exponential(Duration::from_millis(1), Duration::from_secs(1_000))
    }

    /// See [`RateLimiter::ItemExponential`].
    pub fn item_exponential(base: Duration, max: Duration) -> RateLimiter<K> {
        RateLimiter::ItemExponential { base, max, failures: BTreeMap::new() }
    }

    /// See [`RateLimiter::ItemFastSlow`].
    pub fn item_fast_slow(
        fast: Duration,
        slow: Duration,
        max_fast_attempts: u32,
    ) -> RateLimiter<K> {
        RateLimiter::ItemFastSlow { fast, slow, max_fast_attempts, failures: BTreeMap::new() }
    }

    /// See [`RateLimiter::Bucket`].
    pub fn bucket(qps: u32, burst: u32) -> RateLimiter<K> {
        RateLimiter::Bucket(Bucket::new(qps, burst))
    }

    /// See [`RateLimiter::WithMaxWait`].
    pub fn with_max_wait(self, max: Duration) -> RateLimiter<K> {
        RateLimiter::WithMaxWait { limiter: Box::new(self), max }
    }

    /// See [`RateLimiter::Step`].
    pub fn step(base: Duration, max: Duration, threshold: u64) -> RateLimiter<K> {
        RateLimiter::Step { base, max, threshold, calls: 0 }
    }

    /// How long the item must wait now. Asking counts as one more failure.
    pub fn when(&mut self, item: &K, now: Time) -> Duration {
        match self {
            RateLimiter::ItemExponential { base, max, failures } => {
                let failures = count_one_more(failures, item);
                doubled(*base, failures - 1).min(*max)
            }
            RateLimiter::ItemFastSlow { fast, slow, max_fast_attempts, failures } => {
                let failures = count_one_more(failures, item);
                if failures <= *max_fast_attempts { *fast } else { *slow }
            }
            RateLimiter::Bucket(bucket) => bucket.reserve(now),
            RateLimiter::MaxOf(limiters) => {
                limiters.iter_mut().map(|l| l.when(item, now)).max().unwrap_or_default()
            }
            RateLimiter::WithMaxWait { limiter, max } => limiter.when(item, now).min(*max),
            RateLimiter::Step { base, max, threshold, calls } => {
                *calls = calls.saturating_add(1);
                if *calls <= *threshold { *base } else { *max }
            }
        }
    }

    /// The item succeeded, or is given up: its failures count no more.
    pub fn forget(&mut self, item: &K) {
        match self {
            RateLimiter::ItemExponential { failures, .. }
            | RateLimiter::ItemFastSlow { failures, .. } => {
                failures.remove(item);
            }
            RateLimiter::MaxOf(limiters) => limiters.iter_mut().for_each(|l| l.forget(item)),
            RateLimiter::WithMaxWait { limiter, .. } => limiter.forget(item),
            RateLimiter::Bucket(_) | RateLimiter::Step { .. } => {}
        }
    }

    /// How often the item has failed since it was last forgotten.
    pub fn num_requeues(&self, item: &K) -> u32 {
        match self {
            RateLimiter::ItemExponential { failures, .. }
            | RateLimiter::ItemFastSlow { failures, .. } => {
                failures.get(item).copied().unwrap_or(0)
            }
            RateLimiter::MaxOf(limiters) => {
                limiters.iter().map(|l| l.num_requeues(item)).max().unwrap_or(0)
            }
            RateLimiter::WithMaxWait { limiter, .. } => limiter.num_requeues(item),
            RateLimiter::Bucket(_) | RateLimiter::Step { .. } => 0,
        }
    }
}

/// Counts a failure of the item and gives the new count, which is at least 1.
fn count_one_more<K: Ord + Clone>(failures: &mut BTreeMap<K, u32>, item: &K) -> u32 {
    match failures.get_mut(item) {
        Some(count) => {
            *count = count.saturating_add(1);
            *count
        }
        None => {
            failures.insert(item.clone(), 1);
            1
        }
    }
}

/// `base × 2^times`, cut where it would not fit a duration of Go.
fn doubled(base: Duration, times: u32) -> Duration {
    let factor = 1u128.checked_shl(times).unwrap_or(u128::MAX);
    let nanos = base.as_nanos().saturating_mul(factor).min(FOREVER.as_nanos());
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

/// A token bucket: it holds `burst` tokens, gains `qps` a second, and may be overdrawn; whoever
/// overdraws it waits until the debt is paid.
#[derive(Clone, Debug)]
pub struct Bucket {
    qps: u32,
    burst: u32,
    /// Billionths of a token; below zero, a debt.
    tokens: i128,
    last: Time,
}

impl Bucket {
    /// A full bucket.
    pub fn new(qps: u32, burst: u32) -> Bucket {
        Bucket { qps, burst, tokens: i128::from(burst) * NANOS, last: Time::ZERO }
    }

    /// Tokens a second.
    pub fn qps(&self) -> u32 {
        self.qps
    }

    /// Tokens that it holds at most.
    pub fn burst(&self) -> u32 {
        self.burst
    }

    /// Takes one token, and says how long it is until that one is there.
    pub fn reserve(&mut self, now: Time) -> Duration {
        if self.burst == 0 {
            return FOREVER;
        }
        let gained = i128::from(now.since(self.last).as_nanos() as u64) * i128::from(self.qps);
        self.tokens = (self.tokens + gained).min(i128::from(self.burst) * NANOS) - NANOS;
        self.last = self.last.max(now);
        let debt = (-self.tokens).max(0);
        match debt.checked_div(i128::from(self.qps)) {
            None if debt > 0 => FOREVER,
            wait => u64::try_from(wait.unwrap_or(0)).map_or(FOREVER, Duration::from_nanos),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn the_default_limiter_doubles_per_item_until_the_bucket_is_slower() {
        let mut limiter = RateLimiter::default_controller();
        assert_eq!(limiter.when(&"web", Time::ZERO), 5 * MS);
        assert_eq!(limiter.when(&"web", Time::ZERO), 10 * MS);
        for _ in 2..100 {
            limiter.when(&"db", Time::ZERO);
        }
        assert_eq!(limiter.when(&"new", Time::ZERO), 100 * MS);
        assert_eq!(limiter.when(&"newer", Time::ZERO), 200 * MS);
        assert_eq!((limiter.num_requeues(&"web"), limiter.num_requeues(&"db")), (2, 98));
        limiter.forget(&"web");
        assert_eq!(limiter.num_requeues(&"web"), 0);
    }

    #[test]
    fn a_bucket_refills_with_time_up_to_its_burst() {
        let mut bucket = Bucket::new(10, 2);
        let waits =
            |bucket: &mut Bucket, ms: u64| bucket.reserve(Time::from_millis(ms)).as_millis();
        assert_eq!([waits(&mut bucket, 0), waits(&mut bucket, 0)], [0, 0]);
        assert_eq!([waits(&mut bucket, 0), waits(&mut bucket, 50)], [100, 150]);
        assert_eq!(waits(&mut bucket, 300), 0);
        assert_eq!([0, 1, 2].map(|_| waits(&mut bucket, 1_000_000)), [0, 0, 100]);
    }

    #[test]
    fn a_bucket_that_gains_nothing_lets_its_burst_through_and_then_nobody() {
        let mut bucket = Bucket::new(0, 1);
        assert_eq!(bucket.reserve(Time::ZERO), Duration::ZERO);
        assert_eq!(bucket.reserve(Time::from_secs(9)), FOREVER);
        assert_eq!(Bucket::new(10, 0).reserve(Time::ZERO), FOREVER);
    }

    #[test]
    fn doubling_stops_at_the_longest_delay_and_never_overflows() {
        let mut limiter = RateLimiter::item_exponential(MS, 3 * MS);
        let delays = [0; 5].map(|_| limiter.when(&"web", Time::ZERO).as_millis());
        assert_eq!(delays, [1, 2, 3, 3, 3]);
        assert_eq!(doubled(Duration::ZERO, u32::MAX), Duration::ZERO);
        assert_eq!(doubled(MS, u32::MAX), FOREVER);
        assert_eq!(doubled(Duration::MAX, 1), FOREVER);
    }

    #[test]
    fn a_longest_wait_clips_whatever_the_inner_limiter_says() {
        let mut limiter = RateLimiter::step(MS, 9 * MS, 2).with_max_wait(4 * MS);
        let delays = [0; 3].map(|item| limiter.when(&item, Time::ZERO).as_millis());
        assert_eq!(delays, [1, 1, 4]);
    }
}
