//! `logs -f`: what containers write, until the last of them has ended.

use crate::api::{Str, Timestamp};
use crate::kernel::Time;
use crate::kubectl::command::Logs;
use crate::kubectl::logs::{containers_of, pods_of, run_of};
use crate::kubectl::{Api, Output};

const LOST: &str = "# what it wrote later is no longer kept";

/// The runs of containers that are read on.
#[derive(Clone, Debug)]
pub(super) struct Tail {
    logs: Logs,
    runs: Vec<Run>,
}

#[derive(Clone, Debug)]
struct Run {
    /// `containerID`.
    id: Str,
    prefix: String,
    printed: usize,
    is_over: bool,
}

impl Tail {
    /// Prints what they have written. True: nobody will write more.
    pub fn begin(logs: &Logs, at: Time, api: &dyn Api, out: &mut Output) -> (Tail, bool) {
        let mut runs = Vec::new();
        for pod in pods_of(logs, api, out) {
            let Ok(pod) = pod else { continue };
            let name = &pod.meta().name;
            for container in containers_of(&pod, logs, out) {
                let prefix = match logs.prefix {
                    true => format!("[pod/{name}/{container}] "),
                    false => String::new(),
                };
                match run_of(&pod, &container, false) {
                    Some(id) => runs.push(Run { id, prefix, printed: 0, is_over: false }),
                    None => out.fail(format!(
                        "Error from server (BadRequest): container {:?} in pod {:?} is waiting to \
                         start: ContainerCreating",
                        &*container, &**name
                    )),
                }
            }
        }
        let mut tail = Tail { logs: logs.clone(), runs };
        for run in &mut tail.runs {
            let written = run.lines(at, api).map(|(lines, _)| lines).unwrap_or_default();
            let is_old =
                |(line_at, _): &&(Time, String)| !logs.reaches(*line_at, Timestamp::from(at));
            let old = written.iter().take_while(is_old).count();
            let kept = logs.tail.map_or(0, |kept| written.len().saturating_sub(kept));
            run.printed = old.max(kept);
        }
        let is_over = tail.go_on(at, api, out);
        (tail, is_over)
    }

    /// Prints what was written since. True: nobody will write more.
    pub fn go_on(&mut self, now: Time, api: &dyn Api, out: &mut Output) -> bool {
        let mut new: Vec<(Time, String)> = Vec::new();
        for run in self.runs.iter_mut().filter(|run| !run.is_over) {
            let Some((lines, has_ended)) = run.lines(now, api) else {
                run.is_over = true;
                new.push((now, LOST.into()));
                continue;
            };
            let all = lines.len();
            let fresh = lines.into_iter().skip(run.printed);
            let printed =
                |(at, line)| (at, format!("{}{}", run.prefix, self.logs.stamped(at, line)));
            new.extend(fresh.map(printed));
            (run.printed, run.is_over) = (all, has_ended);
        }
        new.sort_by_key(|(at, _)| *at);
        new.into_iter().for_each(|(_, line)| out.line(line));
        self.runs.iter().all(|run| run.is_over)
    }
}

impl Run {
    /// What it had written by then, and whether it had ended.
    fn lines(&self, now: Time, api: &dyn Api) -> Option<(Vec<(Time, String)>, bool)> {
        let written = api.written(&self.id)?;
        let mut lines = written.lines;
        let last = written.ended.unwrap_or(now).min(now);
        lines.retain(|(at, _)| *at <= last);
        lines.sort_by_key(|(at, _)| *at);
        Some((lines, written.ended.is_some_and(|ended| ended <= now)))
    }
}
