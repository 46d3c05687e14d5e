//! How containers are told to stop: signal, grace period, kill; sidecars last, in reverse order.
//!
//! Follows `killContainer` and `killContainersWithSyncResult`
//! (`pkg/kubelet/kuberuntime/kuberuntime_container.go`) and `kuberuntime_termination_order.go`. Of
//! preStop hooks `sleep` takes time, and an `exec` that does nothing but sleep: nothing runs here
//! that another could call. Left out: hooks that fail.

use std::time::Duration;

use crate::api::{Container, Pod};
use crate::kernel::Time;

use super::command;
use super::container::{Role, Stopping, spec_of};
use super::host::Host;
use super::pod_actions::Slot;
use super::pod_record::PodRecord;
use super::timer::Timer;

/// No container gets less time than this.
const LEAST: Duration = Duration::from_secs(2);

/// The time that a pod's containers get to stop.
pub(super) fn grace_period(pod: &Pod) -> Duration {
    let own = pod.spec.termination_grace_period_seconds.unwrap_or(30);
    let seconds = pod.metadata.deletion_grace_period_seconds.unwrap_or(own);
    Duration::from_secs(u64::try_from(seconds).unwrap_or(0)).min(LONGEST)
}

/// Far from overflowing when added to a time.
const LONGEST: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

/// Tells a container to stop within `grace`, or to be quicker than it was told before. Returns
/// whether that is the first time it is told, and the timer for its end.
pub(super) fn stop(
    record: &mut PodRecord,
    host: &mut Host,
    pod: &Pod,
    slot: Slot,
    grace: Duration,
    now: Time,
) -> (bool, Option<(Duration, Timer)>) {
    let hook = spec_of(&pod.spec, slot).map_or(Duration::ZERO, pre_stop_sleep);
    let Some(container) = record.container_mut(slot) else {
        return (false, None);
    };
    // The hook is part of the grace period.
    let hook = hook.min(grace);
    let left = (grace - hook).max(LEAST);
    let takes = container.behaviour.stops_after;
    let Some(run) = container.running_mut() else {
        return (false, None);
    };
    let since = run.stopping.map_or(now + hook, |before| before.since);
    let at = now + hook + takes.min(left);
    let planned = Stopping { since, at, is_killed: takes > left };
    let is_first = run.stopping.is_none();
    if run.stopping.is_some_and(|before| before.at <= planned.at) {
        return (false, None);
    }
    run.stopping = Some(planned);
    if run.ends_at.is_some_and(|own| own <= planned.at) {
        return (is_first, None);
    }
    let timer = record.container_timer(slot, host.next_number());
    let span = planned.at.since(now);
    (is_first, timer.map(|timer| (span, timer)))
}

fn pre_stop_sleep(container: &Container) -> Duration {
    let Some(hook) = container.rest.get("lifecycle").map(|lifecycle| &lifecycle["preStop"]) else {
        return Duration::ZERO;
    };
    let seconds = hook["sleep"]["seconds"].as_u64().map(Duration::from_secs);
    seconds.unwrap_or_else(|| command::sleeps_for(&hook["exec"]["command"]))
}

/// Whether it is this container's turn to stop: all that were started after a sidecar go first.
pub(super) fn is_its_turn(record: &PodRecord, slot: Slot) -> bool {
    let is_sidecar =
        record.container(slot).is_some_and(|container| container.role == Role::Sidecar);
    !is_sidecar
        || !record.containers().any(|(other, container)| other > slot && container.is_running())
}
