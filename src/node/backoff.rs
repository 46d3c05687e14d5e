//! Back-off per item: how long to leave something alone after it failed, and when to forget that it
//! did.
//!
//! Follows client-go `util/flowcontrol/backoff.go` and, for the numbers, `pkg/kubelet/kubelet.go`
//! (`newCrashLoopBackOff`, `imageBackOffPeriod`) with `doBackOff` in
//! `pkg/kubelet/kuberuntime/kuberuntime_manager.go`. The clock is an argument. Jitter is drawn from
//! a seeded stream in whole nanoseconds; it is never zero, as it practically never is there.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::kernel::{Rng, Time};

/// The delays of some items, each growing on its own (`flowcontrol.Backoff`).
#[derive(Clone, Debug)]
pub struct Backoff<K> {
    initial: Duration,
    max: Duration,
    jitter: Option<Jitter>,
    expiry: Expiry,
    entries: BTreeMap<K, Entry>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    delay: Duration,
    last_update: Time,
}

#[derive(Clone, Debug)]
struct Jitter {
    /// The greatest part of the delay that may be added, in millionths.
    max_millionths: u32,
    rng: Rng,
}

/// When an entry counts as forgotten: by its age when an event happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expiry {
    /// The age.
    pub age: Duration,
    /// Whether exactly this age is enough.
    pub inclusive: bool,
}

impl Expiry {
    /// More than this age.
    pub fn older_than(age: Duration) -> Expiry {
        Expiry { age, inclusive: false }
    }

    fn is_over(&self, event: Time, last_update: Time) -> bool {
        let age = event.since(last_update);
        age > self.age || (self.inclusive && age == self.age)
    }
}

impl<K: Ord + Clone> Backoff<K> {
    /// Delays from `initial`, doubling up to `max`, forgotten after more than twice `max`.
    pub fn new(initial: Duration, max: Duration) -> Backoff<K> {
        Backoff {
            initial,
            max,
            jitter: None,
            expiry: Expiry::older_than(max * 2),
            entries: BTreeMap::new(),
        }
    }

    /// The same with another rule for forgetting.
    pub fn with_expiry(mut self, expiry: Expiry) -> Backoff<K> {
        self.expiry = expiry;
        self
    }

    /// The same with a random part of at most `max_millionths` of the delay.
    pub fn with_jitter(mut self, max_millionths: u32, rng: Rng) -> Backoff<K> {
        self.jitter = Some(Jitter { max_millionths, rng });
        self
    }

    /// The present delay; none without an entry.
    pub fn get(&self, key: &K) -> Duration {
        self.entries.get(key).map_or(Duration::ZERO, |entry| entry.delay)
    }

    /// Whether there is an entry.
    pub fn contains(&self, key: &K) -> bool {
        self.entries.contains_key(key)
    }

    /// Begins with the initial delay, or doubles it. `event` decides whether the old entry still
    /// counts.
    pub fn next(&mut self, key: &K, event: Time, now: Time) {
        let known = self.entries.get(key).copied();
        let delay = match known {
            Some(entry) if !self.expiry.is_over(event, entry.last_update) => {
                let delay = entry.delay * 2 + self.jitter(entry.delay);
                delay.min(self.max)
            }
            _ => self.initial + self.jitter(self.initial),
        };
        self.restore(key.clone(), delay, now);
    }

    /// Puts an entry as it stood at `last_update`.
    pub fn restore(&mut self, key: K, delay: Duration, last_update: Time) {
        self.entries.insert(key, Entry { delay, last_update });
    }

    /// Forgets an item.
    pub fn reset(&mut self, key: &K) {
        self.entries.remove(key);
    }

    /// Forgets all items, as a process does that ends.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// Whether less than the delay has gone by since `event`.
    pub fn is_in_backoff_since(&self, key: &K, event: Time, now: Time) -> bool {
        self.living(key, event).is_some_and(|entry| now.since(event) < entry.delay)
    }

    /// Whether, at `event`, less than the delay has gone by since the last `next`.
    pub fn is_in_backoff_since_update(&self, key: &K, event: Time) -> bool {
        self.living(key, event).is_some_and(|entry| event.since(entry.last_update) < entry.delay)
    }

    /// When the delay that began with the last `next` is over.
    pub fn ends_at(&self, key: &K) -> Option<Time> {
        self.entries.get(key).map(|entry| entry.last_update + entry.delay)
    }

    /// Drops what is too old.
    pub fn gc(&mut self, now: Time) {
        let expiry = self.expiry;
        self.entries.retain(|_, entry| !expiry.is_over(now, entry.last_update));
    }

    fn living(&self, key: &K, event: Time) -> Option<&Entry> {
        let entry = self.entries.get(key)?;
        (!self.expiry.is_over(event, entry.last_update)).then_some(entry)
    }

    fn jitter(&mut self, delay: Duration) -> Duration {
        let Some(jitter) = &mut self.jitter else {
            return Duration::ZERO;
        };
        let bound = delay.as_nanos() * u128::from(jitter.max_millionths) / 1_000_000;
        match u64::try_from(bound).unwrap_or(u64::MAX) {
            0 => Duration::ZERO,
            bound => Duration::from_nanos(jitter.rng.below(bound) + 1),
        }
    }
}

/// What a node is told about back-offs: feature gates and its own limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackoffSettings {
    /// Gate `ReduceDefaultCrashLoopBackOffDecay`.
    pub reduced_decay: bool,
    /// `crashLoopBackOff.maxContainerRestartPeriod`, with the gate `KubeletCrashLoopBackOffMax`.
    pub max_restart_period: Option<Duration>,
}

/// Delays that begin with `initial` and double up to `max`, forgotten after more than `expires`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackoffParameters {
    /// The first delay.
    pub initial: Duration,
    /// The longest.
    pub max: Duration,
    /// The age after which an entry is forgotten; exactly this age is not enough.
    pub expires: Duration,
}

impl BackoffParameters {
    /// How each delay follows from the one before.
    pub const FACTOR: u32 = 2;

    /// Those of a container that is started again.
    pub fn container_restart(settings: BackoffSettings) -> BackoffParameters {
        let seconds = Duration::from_secs;
        let (initial, max) = match settings.reduced_decay {
            false => (seconds(10), seconds(300)),
            true => (seconds(1), seconds(60)),
        };
        let max = settings.max_restart_period.unwrap_or(max);
        BackoffParameters { initial: initial.min(max), max, expires: seconds(600) }
    }

    /// Those of an image that could not be pulled.
    pub fn image_pull() -> BackoffParameters {
        BackoffParameters {
            initial: Duration::from_secs(10),
            max: Duration::from_secs(300),
            expires: Duration::from_secs(600),
        }
    }

    /// A back-off with these parameters.
    pub fn build<K: Ord + Clone>(self) -> Backoff<K> {
        Backoff::new(self.initial, self.max).with_expiry(Expiry::older_than(self.expires))
    }
}

/// Whether a container that ended at `finished` may be started now; if not, when. Noted as started
/// if it may: the next one waits longer (`doBackOff`).
pub fn may_restart<K: Ord + Clone>(
    backoff: &mut Backoff<K>,
    key: &K,
    finished: Time,
    now: Time,
) -> Result<(), RestartHeldBack> {
    if backoff.is_in_backoff_since(key, finished, now) {
        let delay = backoff.get(key);
        return Err(RestartHeldBack { delay, until: finished + delay });
    }
    backoff.next(key, finished, now);
    Ok(())
}

/// A container has crashed too often to be started already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RestartHeldBack {
    /// The whole delay.
    pub delay: Duration,
    /// When it is over.
    pub until: Time,
}

impl RestartHeldBack {
    /// Why the container waits.
    pub const REASON: &'static str = "CrashLoopBackOff";
    /// The reason of the Event, a Warning.
    pub const EVENT_REASON: &'static str = "BackOff";

    /// The text of the waiting state. `pod` is as `format.Pod` prints it: `name_namespace(uid)`.
    pub fn message(&self, container: &str, pod: &str) -> String {
        let delay = super::go_duration::text(self.delay);
        format!("back-off {delay} restarting failed container={container} pod={pod}")
    }

    /// The text of the Event.
    pub fn event_message(container: &str, pod: &str) -> String {
        format!("Back-off restarting failed container {container} in pod {pod}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: fn(u64) -> Time = Time::from_secs;

    #[test]
    fn the_first_restart_waits_for_nothing_and_the_next_ones_ever_longer() {
        let parameters = BackoffParameters::container_restart(BackoffSettings::default());
        let mut backoff = parameters.build::<&str>();
        let (mut now, mut delays) = (Time::ZERO, Vec::new());
        for _ in 0..8 {
            let finished = now;
            if let Err(held_back) = may_restart(&mut backoff, &"c", finished, now) {
                now = held_back.until;
                assert!(may_restart(&mut backoff, &"c", finished, now).is_ok());
            }
            delays.push(now.since(finished).as_secs());
        }
        assert_eq!(delays, [0, 10, 20, 40, 80, 160, 300, 300]);
    }

    #[test]
    fn the_limit_of_a_node_holds_to_the_millisecond_and_bounds_the_first_delay_too() {
        let limit = Some(Duration::from_millis(1500));
        let settings = BackoffSettings { max_restart_period: limit, ..BackoffSettings::default() };
        let parameters = BackoffParameters::container_restart(settings);
        assert_eq!(Some(parameters.max), limit);
        assert_eq!(Some(parameters.initial), limit);
    }

    #[test]
    fn a_run_of_more_than_ten_minutes_is_forgiven() {
        let parameters = BackoffParameters::container_restart(BackoffSettings::default());
        let mut backoff = parameters.build::<&str>();
        backoff.restore("c", Duration::from_secs(300), AT(0));
        assert!(may_restart(&mut backoff, &"c", AT(600), AT(600)).is_err());
        assert!(may_restart(&mut backoff, &"c", AT(601), AT(601)).is_ok());
        assert_eq!(backoff.get(&"c"), Duration::from_secs(10));
    }
}
