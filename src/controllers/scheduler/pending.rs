//! Pods for which no node was found, and when to look again (`pkg/scheduler/backend/queue`): what
//! Kubernetes keeps in `unschedulablePods` and knows of those in `backoffQ`. The active queue is
//! the process' own, in the order of [`Pending::rank`].
//!
//! A change that may help against what rejected a pod moves it back to the active queue, at once
//! or, if its last attempt is too recent, after its back-off of 1 s, 2 s, 4 s ... 10 s. While
//! nothing else waits, a pod is looked at before its back-off is over (`SchedulerPopFromBackoffQ`,
//! on since v1.33), so that it holds back only who stands in the way of others. Without such a
//! change a pod is looked at again after five minutes (`flushUnschedulablePodsLeftover`).
//!
//! Queueing hints are by filter, not by amount: any freed pod wakes all that lacked resources.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::api::ObjectKey;
use crate::client::work_queue::Rank;
use crate::controllers::Woken;
use crate::kernel::Time;

use super::filters::Reason;
use super::fit_error::FitError;

/// How long a pod waits at most for a change that may help.
pub const LEFT_OVER_AFTER: Duration = Duration::from_secs(300);
/// How often that is checked.
const FLUSH_EVERY: Duration = Duration::from_secs(30);
/// Back-offs that end within the same second count as equal.
const WINDOW: Duration = Duration::from_secs(1);
/// How long a pod waits after its first attempt (`podInitialBackoffSeconds`).
pub const FIRST_BACK_OFF: Duration = Duration::from_secs(1);
/// How long at most (`podMaxBackoffSeconds`).
pub const LAST_BACK_OFF: Duration = Duration::from_secs(10);

/// Kinds of changes that may help, as a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Help(u8);

impl Help {
    /// None.
    pub const NONE: Help = Help(0);
    /// Something became free, or a node has more.
    pub const RESOURCES: Help = Help(1);
    /// Labels of a node changed.
    pub const LABELS: Help = Help(2);
    /// Taints of a node changed, or it was uncordoned.
    pub const TAINTS: Help = Help(4);
    /// Other pods came or went.
    pub const SPREAD: Help = Help(8);
    /// A pod came to a node.
    pub const NEIGHBOURS: Help = Help(16);
    /// A new node.
    pub const ANY: Help = Help(31);

    /// Both.
    pub fn and(self, other: Help) -> Help {
        Help(self.0 | other.0)
    }

    fn overlaps(self, other: Help) -> bool {
        self.0 & other.0 != 0
    }

    fn against(error: &FitError) -> Help {
        if error.nodes() == 0 {
            return Help::ANY;
        }
        error.reasons().fold(Help::NONE, |all, reason| {
            all.and(match reason {
                Reason::TooManyPods | Reason::Insufficient(_) | Reason::Ports => Help::RESOURCES,
                Reason::Taints | Reason::Unschedulable => Help::TAINTS,
                Reason::Affinity | Reason::NodeName | Reason::NotNamed | Reason::NamesConflict => {
                    Help::LABELS
                }
                Reason::Spread | Reason::SpreadLabel => Help::SPREAD.and(Help::LABELS),
                Reason::PodAffinity => Help::NEIGHBOURS.and(Help::LABELS),
                Reason::PodAntiAffinity | Reason::ExistingAntiAffinity => {
                    Help::SPREAD.and(Help::LABELS)
                }
                Reason::Other(_) => Help::ANY,
            })
        })
    }
}

#[derive(Clone, Debug)]
struct Attempts {
    count: u32,
    last: Time,
    help: Help,
    priority: i64,
}

/// The pods for which no node was found.
#[derive(Clone, Debug, Default)]
pub struct Pending {
    attempts: BTreeMap<ObjectKey, Attempts>,
    /// Those that nothing has woken since.
    waiting: BTreeSet<ObjectKey>,
}

impl Pending {
    /// Notes an attempt that failed.
    pub fn failed(&mut self, key: &ObjectKey, priority: i64, error: &FitError, now: Time) {
        let count = self.attempts.get(key).map_or(0, |a| a.count) + 1;
        let attempts = Attempts { count, last: now, help: Help::against(error), priority };
        self.attempts.insert(key.clone(), attempts);
        self.waiting.insert(key.clone());
    }

    /// Forgets a pod that has a node, or is gone.
    pub fn forget(&mut self, key: &ObjectKey) {
        if self.attempts.remove(key).is_some() {
            self.waiting.remove(key);
        }
    }

    /// Whether the pod waits for a change that may help.
    pub fn waits(&self, key: &ObjectKey) -> bool {
        self.waiting.contains(key)
    }

    /// Wakes one pod, with its back-off.
    pub fn wake(&mut self, key: &ObjectKey, now: Time, woken: &mut Woken) {
        self.waiting.remove(key);
        match self.attempts.get(key).map(|attempts| attempts.left(now)) {
            Some(left) if left > Duration::ZERO => woken.later.push((key.clone(), left)),
            _ => woken.keys.push(key.clone()),
        }
    }

    /// Wakes the pods that a change may help.
    pub fn wake_all(&mut self, help: Help, now: Time, woken: &mut Woken) {
        if self.waiting.is_empty() || help == Help::NONE {
            return;
        }
        let helped = |key: &&ObjectKey| {
            let attempts = self.attempts.get(*key);
            attempts.is_none_or(|attempts| attempts.help.overlaps(help))
        };
        let keys: Vec<_> = self.waiting.iter().filter(helped).cloned().collect();
        for key in &keys {
            self.wake(key, now, woken);
        }
    }

    /// Where a pod stands in the active queue: the highest priority first, then who has waited
    /// longest since it came or was tried last (plugin PrioritySort).
    pub fn rank(&self, key: &ObjectKey, priority: i64, now: Time) -> Rank {
        let last = self.attempts.get(key).map_or(now, |attempts| attempts.last);
        Rank(-priority, last)
    }

    /// Which of these pods, which wait for their moment, is looked at if nothing else waits: one
    /// whose back-off is among the first to end, and of those the first of all. What waits for a
    /// moment for another reason (a binding failed) waits on.
    pub fn comes_early<'a>(
        &self,
        waiting: impl Iterator<Item = (&'a ObjectKey, Time)>,
    ) -> Option<ObjectKey> {
        let backs_off = |key: &ObjectKey| {
            self.attempts.get(key).filter(|_| !self.waiting.contains(key)).cloned()
        };
        let mut pods = waiting.filter_map(|(key, due)| Some((window(due), key, backs_off(key)?)));
        let first = pods.next()?;
        let same = pods.take_while(|(window, ..)| *window == first.0).collect::<Vec<_>>();
        let all = std::iter::once(first).chain(same);
        let rank = |attempts: &Attempts| Rank(-attempts.priority, attempts.last);
        all.min_by_key(|(_, _, attempts)| rank(attempts)).map(|(_, key, _)| key.clone())
    }

    /// When pods will have waited too long for a change, if any wait.
    pub fn next_flush(&self) -> Option<Time> {
        let waiting = self.waiting.iter().filter_map(|key| self.attempts.get(key));
        let first = waiting.map(|attempts| attempts.last).min()?;
        let ticks = (first + LEFT_OVER_AFTER).elapsed().as_nanos() / FLUSH_EVERY.as_nanos();
        Some(Time::ZERO + FLUSH_EVERY * u32::try_from(ticks + 1).unwrap_or(u32::MAX))
    }

    /// Takes those that have waited too long for a change.
    pub fn flush(&mut self, now: Time) -> Vec<ObjectKey> {
        let attempts = &self.attempts;
        let is_left_over = |key: &ObjectKey| {
            attempts.get(key).is_none_or(|own| now.since(own.last) > LEFT_OVER_AFTER)
        };
        self.waiting.extract_if(.., is_left_over).collect()
    }

    /// Those that wait for a change that may help.
    pub fn waiting(&self) -> impl Iterator<Item = &ObjectKey> {
        self.waiting.iter()
    }
}

fn window(due: Time) -> u128 {
    due.elapsed().as_nanos() / WINDOW.as_nanos()
}

impl Attempts {
    fn left(&self, now: Time) -> Duration {
        let doublings = self.count.saturating_sub(1).min(8);
        let back_off = (FIRST_BACK_OFF * (1 << doublings)).min(LAST_BACK_OFF);
        (self.last + back_off).since(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Kind;
    use crate::controllers::scheduler::filters::Rejection;

    fn error(reason: Reason) -> FitError {
        let mut error = FitError::default();
        error.count(&Rejection { reasons: vec![reason], resolvable: true });
        error
    }

    #[test]
    fn the_back_off_doubles_from_one_second_to_ten() {
        let (mut pending, key) = (Pending::default(), ObjectKey::new(Kind::Pod, "a", "b"));
        let mut seen = Vec::new();
        for _ in 0..6 {
            pending.failed(&key, 0, &error(Reason::TooManyPods), Time::ZERO);
            let mut woken = Woken::default();
            pending.wake_all(Help::RESOURCES, Time::ZERO, &mut woken);
            seen.extend(woken.later.iter().map(|(_, after)| after.as_secs()));
        }
        assert_eq!(seen, [1, 2, 4, 8, 10, 10]);
    }

    #[test]
    fn what_backs_off_comes_early_in_the_order_of_priorities_within_a_second() {
        let mut pending = Pending::default();
        let key = |name: &str| ObjectKey::new(Kind::Pod, "default", name);
        let pods =
            [("late", 900, 2_100), ("low", 0, 1_100), ("high", 9, 1_800), ("sleeps", 9, 900)];
        let mut woken = Woken::default();
        for (name, priority, _) in &pods {
            pending.failed(&key(name), *priority, &error(Reason::Taints), Time::ZERO);
            if *name != "sleeps" {
                pending.wake(&key(name), Time::ZERO, &mut woken);
            }
        }
        let mut due: Vec<_> =
            pods.iter().map(|(name, _, at)| (key(name), Time::from_millis(*at))).collect();
        due.sort_by_key(|(_, at)| *at);
        let mut order = Vec::new();
        while let Some(next) = pending.comes_early(due.iter().map(|(key, at)| (key, *at))) {
            due.retain(|(key, _)| *key != next);
            order.push(next.name.to_string());
        }
        assert_eq!(order, ["high", "low", "late"]);
    }

    #[test]
    fn who_was_tried_first_stands_before_its_equals_and_behind_a_higher_priority() {
        let mut pending = Pending::default();
        let key = |name: &str| ObjectKey::new(Kind::Pod, "default", name);
        pending.failed(&key("tried"), 0, &error(Reason::Taints), Time::from_secs(1));
        let rank = |name, priority| pending.rank(&key(name), priority, Time::from_secs(3));
        assert!(rank("tried", 0) < rank("new", 0));
        assert!(rank("high", 10) < rank("tried", 0));
    }

    #[test]
    fn what_nothing_woke_for_five_minutes_is_looked_at_at_the_next_half_minute() {
        let mut pending = Pending::default();
        let key = |name: &str| ObjectKey::new(Kind::Pod, "default", name);
        assert_eq!(pending.next_flush(), None);
        pending.failed(&key("a"), 0, &error(Reason::Taints), Time::from_secs(1));
        pending.failed(&key("b"), 0, &error(Reason::Taints), Time::from_secs(40));
        assert_eq!(pending.next_flush(), Some(Time::from_secs(330)));
        assert_eq!(pending.flush(Time::from_secs(330)), [key("a")]);
        assert_eq!(pending.next_flush(), Some(Time::from_secs(360)));
        pending.failed(&key("b"), 0, &error(Reason::Taints), Time::from_secs(100));
        assert_eq!(pending.flush(Time::from_secs(360)), [], "it was tried in between");
        assert_eq!(pending.next_flush(), Some(Time::from_secs(420)), "more than five minutes");
    }

    #[test]
    fn only_a_change_that_may_help_wakes_a_pod_and_only_once() {
        let (mut pending, key) = (Pending::default(), ObjectKey::new(Kind::Pod, "a", "b"));
        pending.failed(&key, 0, &error(Reason::Taints), Time::ZERO);
        let mut woken = Woken::default();
        pending.wake_all(Help::RESOURCES, Time::from_secs(5), &mut woken);
        assert_eq!(woken, Woken::default());
        pending.wake_all(Help::TAINTS, Time::from_secs(5), &mut woken);
        pending.wake_all(Help::TAINTS, Time::from_secs(5), &mut woken);
        assert_eq!(woken.keys, [key]);
    }
}
