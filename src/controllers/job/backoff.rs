//! How long a Job waits before it makes another pod after failures (`backoff_utils.go`).

use std::time::Duration;

use crate::api::{Condition, ConditionStatus, ContainerStatus, Pod};
use crate::kernel::Time;

/// After the first failure.
const FIRST: Duration = Duration::from_secs(10);
/// At most.
const LONGEST: Duration = Duration::from_secs(600);

/// Failures since the last success.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backoff {
    failures: u32,
    last: Option<Time>,
}

impl Backoff {
    /// The same after these pods, which were not counted before, have ended.
    pub fn after(self, succeeded: &[&Pod], failed: &[&Pod], now: Time) -> Backoff {
        let times =
            |pods: &[&Pod]| -> Vec<Time> { pods.iter().map(|pod| finished_at(pod, now)).collect() };
        let (failed, success) = (times(failed), times(succeeded).into_iter().max());
        let start = if success.is_some() { Backoff::default() } else { self };
        let later = |at: &&Time| success.is_none_or(|success| **at > success);
        let fresh: Vec<Time> = failed.iter().filter(later).copied().collect();
        if fresh.is_empty() {
            return start;
        }
        let count = u32::try_from(fresh.len()).unwrap_or(u32::MAX);
        let last = fresh.into_iter().chain(start.last).max();
        Backoff { failures: start.failures.saturating_add(count), last }
    }

    /// So many failures, of which this pod's was the last.
    pub fn of(failures: i32, pod: &Pod, now: Time) -> Backoff {
        let failures = u32::try_from(failures).unwrap_or(0);
        Backoff { failures, last: Some(finished_at(pod, now)) }
    }

    /// How long it still takes until a pod may be made.
    pub fn remaining(self, now: Time) -> Duration {
        let Some(last) = self.last.filter(|_| self.failures > 0) else {
            return Duration::ZERO;
        };
        let doublings = (self.failures - 1).min(16);
        let wait = FIRST.saturating_mul(1 << doublings).min(LONGEST);
        wait.saturating_sub(now.since(last))
    }
}

/// When a pod ended: the latest end of a container, else when it stopped being ready or was told to
/// go.
fn finished_at(pod: &Pod, now: Time) -> Time {
    let ended = |status: &ContainerStatus| {
        let state = status.state.terminated.as_ref()?;
        state.finished_at
    };
    let statuses = &pod.status.container_statuses;
    let ends: Option<Vec<_>> = statuses.iter().map(ended).collect();
    let latest = ends.and_then(|ends| ends.into_iter().max());
    let unready = Condition::find(&pod.status.conditions, "Ready")
        .filter(|ready| ready.status == ConditionStatus::False)
        .and_then(|ready| ready.last_transition_time);
    let at = latest.or(unready).or(pod.metadata.deletion_timestamp);
    at.map_or(now, |at| at.to_time())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{ContainerState, ContainerStateTerminated, Timestamp};

    fn ended(seconds: u64) -> Pod {
        let mut pod = Pod::default();
        let at = Some(Timestamp::from(Time::from_secs(seconds)));
        let terminated = ContainerStateTerminated { finished_at: at, ..Default::default() };
        let state = ContainerState { terminated: Some(terminated), ..Default::default() };
        pod.status.container_statuses = [ContainerStatus { state, ..Default::default() }].into();
        pod
    }

    #[test]
    fn the_wait_doubles_from_ten_seconds_to_ten_minutes() {
        let now = Time::from_secs(100);
        let mut waits = Vec::new();
        let mut backoff = Backoff::default();
        for _ in 0..8 {
            backoff = backoff.after(&[], &[&ended(100)], now);
            waits.push(backoff.remaining(now).as_secs());
        }
        assert_eq!(waits, [10, 20, 40, 80, 160, 320, 600, 600]);
        assert_eq!(backoff.remaining(Time::from_secs(650)), Duration::from_secs(50));
    }

    #[test]
    fn a_success_ends_the_wait_but_for_failures_after_it() {
        let now = Time::from_secs(100);
        let three = [&ended(90), &ended(91), &ended(92)];
        let backoff = Backoff::default().after(&[], &three, now);
        assert_eq!(backoff.after(&[&ended(95)], &[], now), Backoff::default());
        let again = backoff.after(&[&ended(95)], &[&ended(94), &ended(99)], now);
        assert_eq!(again.remaining(now), Duration::from_secs(9));
    }
}
