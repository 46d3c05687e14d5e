//! What a simulated container would have said: a few lines, made of what is known of its run.
//!
//! The errors are those of `kubectl logs` (`validateContainerLogStatus` in
//! `pkg/kubelet/kubelet_pods.go`). Left out: times, and `--tail`.

use crate::api::ObjectKey;
use crate::kernel::Time;

use super::container::{ContainerRecord, Ended, RunRecord};
use super::go_duration;
use super::pod_record::PodRecord;

/// What one run of a container writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Each line with its moment; one may lie ahead.
    pub lines: Vec<(Time, String)>,
    /// When the run ended, if it did.
    pub ended: Option<Time>,
}

/// The lines of the newest run of a container, or of the one before.
pub(super) fn of(
    record: Option<&PodRecord>,
    pod: &ObjectKey,
    container: Option<&str>,
    previous: bool,
) -> Result<Vec<String>, String> {
    let pod = &pod.name;
    let record = record.ok_or_else(|| format!("pod {pod:?} is not on this node"))?;
    let wanted = |c: &&ContainerRecord| container.is_none_or(|wanted| wanted == &*c.name);
    let mut all = record.main.iter().chain(&record.init);
    let Some(found) = all.find(wanted) else {
        let name = container.unwrap_or_default();
        return Err(format!("container {name} is not valid for pod {pod}"));
    };
    let name = &found.name;
    if previous {
        let ended = match found.is_running() {
            true => found.previous.as_ref(),
            false => found.ended().or(found.previous.as_ref()),
        };
        return match ended {
            Some(ended) => Ok(lines_of_ended(ended)),
            None => Err(format!("previous terminated container {name:?} in pod {pod:?} not found")),
        };
    }
    match &found.run {
        Some(run) => Ok(lines_of_run(run)),
        None => Err(waits(found, pod)),
    }
}

fn waits(container: &ContainerRecord, pod: &str) -> String {
    let name = &container.name;
    let reason = container.waiting.as_ref().map(|(reason, _)| &**reason);
    let why = match reason {
        Some("ErrImagePull") => "image can't be pulled",
        Some("ImagePullBackOff") => "trying and failing to pull image",
        Some(reason) => reason,
        None => "ContainerCreating",
    };
    format!("container {name:?} in pod {pod:?} is waiting to start: {why}")
}

/// What a run wrote, if it is one of those that are known.
pub(super) fn written<'a>(
    records: impl Iterator<Item = &'a PodRecord>,
    container_id: &str,
) -> Option<Written> {
    let containers = records.flat_map(PodRecord::containers).map(|(_, container)| container);
    let mut runs =
        containers.flat_map(|container| container.run.iter().chain(container.before.as_deref()));
    let run = runs.find(|run| *run.container_id == *container_id)?;
    let ended = run.ended.as_ref().map(|ended| ended.finished_at);
    Some(Written { lines: timed_lines(run), ended })
}

fn lines_of_run(run: &RunRecord) -> Vec<String> {
    timed_lines(run).into_iter().map(|(_, line)| line).collect()
}

fn timed_lines(run: &RunRecord) -> Vec<(Time, String)> {
    let mut lines = vec![(run.started_at, format!("starting {}", run.image))];
    let last = run.ended.as_ref().map_or(Time::MAX, |e| e.finished_at);
    if run.ready_at <= last {
        let took = go_duration::text(run.ready_at.since(run.started_at));
        lines.push((run.ready_at, format!("ready after {took}")));
    }
    if let Some(stopping) = run.stopping {
        lines.push((stopping.since, "received SIGTERM, stopping".into()));
    }
    lines.extend(run.ended.as_ref().map(|ended| (ended.finished_at, last_line(ended))));
    lines
}

fn lines_of_ended(ended: &Ended) -> Vec<String> {
    let ran = go_duration::text(ended.finished_at.since(ended.started_at));
    vec![format!("ran for {ran}"), last_line(ended)]
}

fn last_line(ended: &Ended) -> String {
    match (ended.reason, ended.exit_code) {
        ("OOMKilled", _) => "out of memory".into(),
        (_, 0) => "bye".into(),
        (_, code) => format!("fatal: exit code {code}"),
    }
}
