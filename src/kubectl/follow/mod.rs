//! Lines that go on printing while time passes: `get -w`, `events -w`, `wait`, `rollout status` and
//! `logs -f`. What such a line has printed is a function of the cluster at the moment at which it
//! was entered and of the changes since, so whoever has these can tell it for any moment.
//!
//! As in kubectl, several objects are waited for one after the other, and each change is a row,
//! also if it reads as the one before. Left out: watches that break.

mod logs;
mod rollout;
mod wait;
mod watch;

use std::collections::VecDeque;
use std::time::Duration;

use crate::api::Timestamp;
use crate::apiserver::Commit;
use crate::kernel::Time;

use super::command::{Command, RolloutAction};
use super::{Api, Output, parse, resources};

use logs::Tail;
use rollout::Rollout;
use wait::Waiting;
use watch::Watch;

/// Lines that are kept, the newest; the older ones are counted.
const LINES_MAX: usize = 400;

/// A line that goes on printing, up to some moment.
#[derive(Clone, Debug)]
pub struct Following {
    task: Task,
    deadline: Option<Time>,
    lines: VecDeque<String>,
    left_out: usize,
    /// What was printed and is not yet a line of its own.
    out: Output,
    is_over: bool,
}

#[derive(Clone, Debug)]
enum Task {
    Watch(Box<Watch>),
    Wait(Waiting),
    Rollout(Rollout),
    Logs(Tail),
}

impl Following {
    /// Begins to follow, if the line is one that does. `api` is the cluster at that moment.
    pub fn begin(line: &str, stdin: Option<&str>, at: Time, api: &dyn Api) -> Option<Following> {
        let mut command = parse(line).ok()?;
        let mut out = Output::default();
        if let Some(select) = command.select_mut().filter(|select| select.from_text) {
            for refused in resources::from_text(select, stdin) {
                out.fail(refused);
            }
        }
        let (task, lasts, is_over) = task(&command, at, api, &mut out)?;
        let deadline = Some(lasts).filter(|lasts| !lasts.is_zero()).map(|lasts| at + lasts);
        let lines = VecDeque::new();
        let mut following = Following { task, deadline, lines, left_out: 0, out, is_over };
        following.take_lines();
        Some(following)
    }

    /// Takes a change of the cluster.
    pub fn change(&mut self, commit: &Commit) {
        self.pass(commit.at);
        if self.is_over {
            return;
        }
        let out = &mut self.out;
        self.is_over = match &mut self.task {
            Task::Watch(watch) => watch.change(commit, out),
            Task::Wait(waiting) => waiting.change(commit, out),
            Task::Rollout(rollout) => rollout.change(commit, out),
            Task::Logs(_) => false,
        };
        self.take_lines();
    }

    /// Reads on what containers have written by now; `api` is the cluster at that moment, or later.
    pub fn read_on(&mut self, now: Time, api: &dyn Api) {
        if let (false, Task::Logs(tail)) = (self.is_over, &mut self.task) {
            self.is_over = tail.go_on(now, api, &mut self.out);
            self.take_lines();
        }
    }

    /// It has become so late.
    pub fn pass(&mut self, now: Time) {
        if self.is_over || self.deadline.is_none_or(|deadline| now < deadline) {
            return;
        }
        match &self.task {
            Task::Watch(_) | Task::Logs(_) => {}
            Task::Wait(waiting) => waiting.is_late(&mut self.out),
            Task::Rollout(_) => self.out.fail("error: timed out waiting for the condition"),
        }
        self.is_over = true;
        self.take_lines();
    }

    /// Whether it waits for something, and does not merely watch.
    pub fn waits(&self) -> bool {
        matches!(self.task, Task::Wait(_) | Task::Rollout(_))
    }

    /// Whether nothing more will come.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Whether kubectl would exit with an error.
    pub fn has_failed(&self) -> bool {
        self.out.error
    }

    /// How many lines it has printed.
    pub fn printed(&self) -> usize {
        self.left_out + self.lines.len()
    }

    /// What it has printed, the newest lines of it.
    pub fn text(&self) -> String {
        let mut text = match self.left_out {
            0 => String::new(),
            left_out => format!("# {left_out} earlier lines are left out\n"),
        };
        for line in &self.lines {
            text.push_str(line);
            text.push('\n');
        }
        text
    }

    fn take_lines(&mut self) {
        let text = std::mem::take(&mut self.out.text);
        self.lines.extend(text.lines().map(str::to_string));
        let surplus = self.lines.len().saturating_sub(LINES_MAX);
        self.lines.drain(..surplus);
        self.left_out += surplus;
    }
}

/// What a line follows, for how long at most (zero: for ever), and whether that is over already.
fn task(
    command: &Command,
    at: Time,
    api: &dyn Api,
    out: &mut Output,
) -> Option<(Task, Duration, bool)> {
    const FOR_EVER: Duration = Duration::ZERO;
    match command {
        Command::Get(select, view) if view.watch => {
            let (watch, is_over) = Watch::objects(select, view, api, out);
            Some((Task::Watch(Box::new(watch)), FOR_EVER, is_over))
        }
        Command::Events(select, view, types) if view.watch => {
            let watch = Watch::events(select, view, types, api, out);
            Some((Task::Watch(Box::new(watch)), FOR_EVER, false))
        }
        Command::Wait(select, wait, timeout) if !timeout.is_zero() => {
            let (waiting, is_over) = Waiting::begin(select, wait, api, out);
            Some((Task::Wait(waiting), *timeout, is_over))
        }
        Command::Rollout(select, RolloutAction::Status(revision, Some(timeout))) => {
            let (rollout, is_over) = Rollout::begin(select, *revision, api, out);
            Some((Task::Rollout(rollout), *timeout, is_over))
        }
        Command::Logs(logs) if logs.follow && !logs.previous => {
            let (tail, is_over) = Tail::begin(logs, at, api, out);
            Some((Task::Logs(tail), FOR_EVER, is_over))
        }
        _ => None,
    }
}

fn clock(commit: &Commit) -> Timestamp {
    Timestamp::from(commit.at)
}
