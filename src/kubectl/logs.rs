//! `kubectl logs`.

use std::sync::Arc;

use crate::api::{Kind, LabelSelector, Object, Str, Timestamp};
use crate::kernel::Time;

use super::command::{Logs, Since};
use super::resources::{find, nothing_found};
use super::{Api, Output};

/// Prints what containers wrote.
pub fn run(logs: &Logs, api: &dyn Api, out: &mut Output) {
    let pods = pods_of(logs, api, out);
    for pod in &pods {
        let Ok(pod) = pod else { return };
        for name in containers_of(pod, logs, out) {
            container(pod, &name, logs, api, out);
        }
    }
    if logs.follow && !pods.is_empty() {
        out.line("# -f: these are the lines of this moment");
    }
}

/// The pods that a line means; an error is said, and ends it.
pub fn pods_of(logs: &Logs, api: &dyn Api, out: &mut Output) -> Vec<Result<Arc<Object>, ()>> {
    let mut pods = Vec::new();
    for found in find(&logs.select, api) {
        if let Some(missing) = found.missing {
            let namespace = logs.select.namespace.as_deref().unwrap_or("default");
            let missing = missing.replace("Error from", "error: error from");
            out.fail(format!("{missing} in namespace {namespace:?}"));
            pods.push(Err(()));
            return pods;
        }
        for object in found.objects {
            match &*object {
                Object::Pod(_) => pods.push(Ok(object)),
                _ => match pod_of(&object, api) {
                    Some(pod) => pods.push(Ok(pod)),
                    None => out.fail("error: timed out waiting for the condition"),
                },
            }
        }
    }
    if pods.is_empty() && !out.error {
        nothing_found(&logs.select, out);
    }
    pods
}

/// The first pod that a workload's or a Service's selector selects.
fn pod_of(object: &Object, api: &dyn Api) -> Option<Arc<Object>> {
    let value = object.to_value();
    let selector = value.pointer("/spec/selector")?;
    let of_labels = matches!(object.kind(), Kind::Service | Kind::ReplicationController);
    let selector: LabelSelector = match of_labels {
        true => serde_json::from_value(serde_json::json!({ "matchLabels": selector })).ok()?,
        false => serde_json::from_value(selector.clone()).ok()?,
    };
    let pods = api.list(Kind::Pod, Some(&object.meta().namespace));
    pods.into_iter().find(|pod| selector.matches(&pod.meta().labels))
}

/// The containers of a pod that a line means.
pub fn containers_of(pod: &Object, logs: &Logs, out: &mut Output) -> Vec<Str> {
    let Some(pod) = pod.as_pod() else { return Vec::new() };
    let all = pod.spec.init_containers.iter().chain(&pod.spec.containers);
    let names: Vec<Str> = match &logs.container {
        Some(name) => {
            if !all.clone().any(|container| container.name == *name) {
                let pod = &pod.metadata.name;
                out.fail(format!("error: container {name} is not valid for pod {pod}"));
                return Vec::new();
            }
            vec![name.clone()]
        }
        None if logs.all_containers => all.map(|container| container.name.clone()).collect(),
        None => pod.spec.containers.iter().take(1).map(|c| c.name.clone()).collect(),
    };
    if logs.container.is_none() && !logs.all_containers && pod.spec.containers.len() > 1 {
        let list: Vec<&str> = pod.spec.containers.iter().map(|c| &*c.name).collect();
        let first = list.first().copied().unwrap_or("");
        let list = list.join(", ");
        out.line(format!("Defaulted container {first:?} out of: {list}"));
    }
    names
}

fn container(pod: &Object, name: &Str, logs: &Logs, api: &dyn Api, out: &mut Output) {
    let key = pod.key();
    let lines = match api.read_logs(&key, name, logs.previous) {
        Ok(lines) => lines,
        Err(why) => return out.fail(format!("Error from server (BadRequest): {why}")),
    };
    let timed = logs.timestamps || logs.since.is_some();
    let lines = match timed.then(|| timed_lines(pod, name, logs, api)).flatten() {
        Some(timed) => timed.into_iter().map(|(at, line)| logs.stamped(at, line)).collect(),
        None => lines,
    };
    let pod = &key.name;
    let skip = logs.tail.map_or(0, |tail| lines.len().saturating_sub(tail));
    let mut left = logs.limit_bytes.unwrap_or(usize::MAX);
    for line in lines.iter().skip(skip) {
        let mut end = line.len().min(left);
        while !line.is_char_boundary(end) {
            end -= 1;
        }
        left = left.saturating_sub(line.len() + 1);
        let line = line.get(..end).unwrap_or(line);
        match logs.prefix {
            true => out.line(format!("[pod/{pod}/{name}] {line}")),
            false => out.line(line),
        }
        if left == 0 {
            break;
        }
    }
}

/// What a run of a container has written by now and since a moment, with when; nothing if no run is
/// known whose moments are.
fn timed_lines(
    pod: &Object,
    name: &str,
    logs: &Logs,
    api: &dyn Api,
) -> Option<Vec<(Time, String)>> {
    let id = run_of(pod, name, logs.previous)?;
    let mut lines = api.written(&id)?.lines;
    let now = api.now();
    lines.retain(|(at, _)| Timestamp::from(*at) <= now && logs.reaches(*at, now));
    lines.sort_by_key(|(at, _)| *at);
    Some(lines)
}

/// The newest run of a container that the pod's status knows of, or the one before it.
pub fn run_of(pod: &Object, name: &str, previous: bool) -> Option<Str> {
    let status = &pod.as_pod()?.status;
    let mut all = status.container_statuses.iter().chain(&status.init_container_statuses);
    let own = all.find(|own| *own.name == *name)?;
    let value = serde_json::to_value(own).ok()?;
    let path = if previous { "/lastState/terminated/containerID" } else { "/containerID" };
    let id = value.pointer(path)?.as_str()?;
    (!id.is_empty()).then(|| id.into())
}

impl Logs {
    /// Whether a line of this moment is recent enough.
    pub fn reaches(&self, at: Time, now: Timestamp) -> bool {
        let at = Timestamp::from(at);
        match self.since {
            None => true,
            Some(Since::At(since)) => at >= since,
            Some(Since::Ago(span)) => {
                // Rounded to whole seconds, as the request carries it.
                let seconds = (span.as_millis() + 500) / 1_000;
                at.0 >= now.0.saturating_sub(i64::try_from(seconds).unwrap_or(i64::MAX))
            }
        }
    }

    /// A line as it is printed.
    pub fn stamped(&self, at: Time, line: String) -> String {
        if !self.timestamps {
            return line;
        }
        let second = Timestamp::from(at).to_string();
        let part = at.as_nanos() % 1_000_000_000;
        format!("{}.{part:09}Z {line}", second.trim_end_matches('Z'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kubectl::{Command, parse};

    fn logs(line: &str) -> Logs {
        match parse(line) {
            Ok(Command::Logs(logs)) => logs,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn of_selected_pods_the_last_ten_lines_are_printed_unless_a_number_is_given() {
        for (line, tail) in [
            ("logs web", None),
            ("logs -l app=web", Some(10)),
            ("logs -l app=web --tail=3", Some(3)),
            ("logs -l app=web --tail=-1", None),
        ] {
            assert_eq!(logs(line).tail, tail, "{line}");
        }
    }

    #[test]
    fn lines_are_left_out_by_their_age_and_stamped() {
        let at = Time::from_millis(61_250);
        let now = Timestamp::from(Time::from_secs(70));
        for (line, is_shown) in [
            ("logs web --since=10s", true),
            ("logs web --since=8s", false),
            ("logs web --since=0.1m", false),
            ("logs web --since-time=2026-01-01T00:01:01Z", true),
            ("logs web --since-time=2026-01-01T00:01:02Z", false),
        ] {
            assert_eq!(logs(line).reaches(at, now), is_shown, "{line}");
        }
        let stamped = logs("logs web --timestamps").stamped(at, "x".into());
        assert_eq!(stamped, "2026-01-01T00:01:01.250000000Z x");
        for (line, why) in [
            ("logs web --since=1s --since-time=2026-01-01T00:00:00Z", "at most one of"),
            ("logs web --since=-1s", "--since must be greater than 0"),
            ("logs web --since=1", "missing unit in duration \"1\""),
        ] {
            assert!(parse(line).expect_err(line).to_string().contains(why), "{line}");
        }
    }
}
