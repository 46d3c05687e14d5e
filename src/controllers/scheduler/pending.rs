//! Pods for which no node was found, and when to look again (`pkg/scheduler/backend/queue`): a
//! change that may help against what rejected a pod moves it back to the queue, at once or, if its
//! last attempt is too recent, after its back-off of 1 s, 2 s, 4 s ... 10 s; without such a change
//! after five minutes. Queueing hints are by filter, not by amount: any freed pod wakes all that
//! lacked resources. Of those that one change wakes, the highest priority is looked at first; it
//! does not overtake what is in the queue already.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::api::ObjectKey;
use crate::controllers::Woken;
use crate::kernel::Time;

use super::filters::Reason;
use super::fit_error::FitError;

/// How long a pod waits at most for a change that may help.
pub const LEFT_OVER_AFTER: Duration = Duration::from_secs(300);
const FIRST_BACK_OFF: Duration = Duration::from_secs(1);
const LAST_BACK_OFF: Duration = Duration::from_secs(10);

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
        let mut keys: Vec<_> = self.waiting.iter().filter(helped).cloned().collect();
        let rank = |key: &ObjectKey| self.attempts.get(key).map_or(0, |a| a.priority);
        keys.sort_by_key(|key| Reverse(rank(key)));
        for key in &keys {
            self.wake(key, now, woken);
        }
    }
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
