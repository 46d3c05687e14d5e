//! One container as the runtime of a node knows it: what it is doing, its newest run and the one
//! before.
//!
//! Stands for containerd behind the CRI. Of all runs only the last two are kept, which is what a
//! status can show.

use std::time::Duration;

use crate::api::{Container, PodSpec, Str};
use crate::kernel::{Time, stable_hash};

use super::command;
use super::image::{self, ImageBehaviour};
use super::pod_actions::{Run, Slot};
use super::probe::ProbeKind;
use super::probing::Probers;
use super::restart_policy::{RunState, is_sidecar};

/// A container of a pod.
#[derive(Clone, Debug)]
pub(super) struct ContainerRecord {
    pub name: Str,
    pub role: Role,
    /// What is under way towards the next run.
    pub busy: Busy,
    /// The newest run.
    pub run: Option<RunRecord>,
    /// How the run before it ended.
    pub previous: Option<Ended>,
    /// That run, for whoever still reads what it wrote.
    pub before: Option<Box<RunRecord>>,
    pub restart_count: i32,
    /// Why it does not run, if something is in its way (the kubelet's reason cache).
    pub waiting: Option<(Str, Str)>,
    /// The token of the timer that it waits for; 0: none.
    pub token: u64,
    pub probers: Probers,
    pub behaviour: ImageBehaviour,
    has_ever_run: bool,
}

/// What a container is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Init,
    Sidecar,
    Main,
}

/// What is under way towards the next run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Busy {
    Idle,
    Pulling { image: Str, since: Time },
    PullEnded { image: Str, since: Time, error: Option<String> },
    Starting,
}

/// One run of a container.
#[derive(Clone, Debug)]
pub(super) struct RunRecord {
    /// Unique on the node.
    pub number: u64,
    pub container_id: Str,
    pub image: Str,
    pub image_id: Str,
    /// The number of the sandbox in which it runs.
    pub sandbox: u32,
    pub started_at: Time,
    /// From when on it does its work.
    pub ready_at: Time,
    /// When it ends by itself.
    pub ends_at: Option<Time>,
    /// Whether its start was told as an Event.
    pub is_announced: bool,
    pub stopping: Option<Stopping>,
    /// How it ended, if it did.
    pub ended: Option<Ended>,
}

/// A run that was told to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stopping {
    /// When it was told: after its hook.
    pub since: Time,
    /// When it will have ended.
    pub at: Time,
    /// Whether it is killed then, not having ended by itself.
    pub is_killed: bool,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ended {
    pub container_id: Str,
    pub exit_code: i32,
    pub reason: &'static str,
    pub started_at: Time,
    pub finished_at: Time,
}

impl ContainerRecord {
    pub fn new(spec: &Container, slot: Slot) -> ContainerRecord {
        let role = match slot {
            Slot::Main(_) => Role::Main,
            Slot::Init(_) if is_sidecar(spec) => Role::Sidecar,
            Slot::Init(_) => Role::Init,
        };
        ContainerRecord {
            name: spec.name.clone(),
            role,
            busy: Busy::Idle,
            run: None,
            previous: None,
            before: None,
            restart_count: 0,
            waiting: None,
            token: 0,
            probers: Probers::default(),
            behaviour: ImageBehaviour::default(),
            has_ever_run: false,
        }
    }

    pub fn is_running(&self) -> bool {
        self.running().is_some()
    }

    /// The newest run, if it goes on.
    pub fn running(&self) -> Option<&RunRecord> {
        self.run.as_ref().filter(|run| run.ended.is_none())
    }

    pub fn running_mut(&mut self) -> Option<&mut RunRecord> {
        self.run.as_mut().filter(|run| run.ended.is_none())
    }

    /// How the newest run ended.
    pub fn ended(&self) -> Option<&Ended> {
        self.run.as_ref()?.ended.as_ref()
    }

    /// The newest run, as decisions see it.
    pub fn seen(&self, spec: &Container, active_sandbox: Option<u32>) -> Option<Run> {
        let run = self.run.as_ref()?;
        let state = match &run.ended {
            None => RunState::Running,
            Some(ended) => RunState::Exited(ended.exit_code),
        };
        Some(Run {
            state,
            is_active: active_sandbox == Some(run.sandbox),
            is_outdated: spec.image.as_ref() != Some(&run.image),
            liveness: self.probers.result(ProbeKind::Liveness),
            startup: self.probers.result(ProbeKind::Startup),
        })
    }

    /// How long a start takes: the time until it does its work, unless a probe asks for that.
    pub fn start_takes(&self, spec: &Container) -> Duration {
        let probes = [&spec.readiness_probe, &spec.startup_probe, &spec.liveness_probe];
        let is_asked = probes.iter().any(|probe| probe.is_some());
        if is_asked || self.role == Role::Init {
            Duration::ZERO
        } else {
            self.behaviour.ready_after
        }
    }

    /// It runs. Returns after which time it ends by itself.
    pub fn start(&mut self, spec: &Container, new: NewRun) -> Option<Duration> {
        let image = spec.image.clone().unwrap_or_default();
        let waited = self.start_takes(spec);
        match self.role {
            Role::Main if new.ends => {
                self.behaviour = command::to_its_end(self.behaviour, spec);
            }
            Role::Init => self.behaviour = command::of_init(self.behaviour, spec),
            Role::Main | Role::Sidecar => {}
        }
        let runs_for = match self.role {
            Role::Init => Some(self.behaviour.exits_after.unwrap_or(INIT_RUNS_FOR)),
            Role::Sidecar | Role::Main => self.behaviour.exits_after,
        };
        let ready_after = self.behaviour.ready_after.saturating_sub(waited);
        let run = RunRecord {
            number: new.number,
            container_id: container_id(new.pod_uid, &self.name, new.number),
            image_id: image::digest_of(&image).into(),
            image,
            sandbox: new.sandbox,
            started_at: new.now,
            ready_at: new.now + ready_after,
            ends_at: runs_for.map(|span| new.now + span),
            is_announced: false,
            stopping: None,
            ended: None,
        };
        self.put_away();
        self.run = Some(run);
        self.restart_count += i32::from(self.has_ever_run);
        self.has_ever_run = true;
        self.busy = Busy::Idle;
        self.waiting = None;
        self.probers = Probers::default();
        runs_for
    }

    /// The run ended.
    pub fn end(&mut self, exit_code: i32, reason: &'static str, now: Time) {
        self.token = 0;
        self.probers.stop();
        if let Some(run) = self.running_mut() {
            run.ended = Some(Ended {
                container_id: run.container_id.clone(),
                exit_code,
                reason,
                started_at: run.started_at,
                finished_at: now,
            });
        }
    }

    /// The run ended because it was told to, or by itself.
    pub fn end_as_planned(&mut self, now: Time) {
        let stopping = self.running().and_then(|run| run.stopping);
        let exit_code = match stopping {
            Some(stopping) if stopping.at <= now && stopping.is_killed => 137,
            Some(stopping) if stopping.at <= now => 0,
            // It was faster, or nobody told it anything.
            _ => self.behaviour.exit_code,
        };
        let reason = if exit_code == 0 { "Completed" } else { "Error" };
        self.end(exit_code, reason, now);
    }

    /// Gives up what was under way.
    pub fn give_up(&mut self) {
        if self.busy != Busy::Idle {
            self.busy = Busy::Idle;
            self.token = 0;
        }
    }

    /// Removes its runs from the runtime; how often it ran is remembered.
    pub fn purge(&mut self) {
        self.put_away();
    }

    fn put_away(&mut self) {
        if let Some(run) = self.run.take() {
            self.previous = run.ended.clone();
            self.before = Some(Box::new(run));
        }
    }
}

/// An init container that never ended would tell nothing about Kubernetes.
const INIT_RUNS_FOR: Duration = Duration::from_secs(1);

/// Where and when a run begins.
#[derive(Clone, Copy)]
pub(super) struct NewRun<'a> {
    pub number: u64,
    pub pod_uid: &'a str,
    pub sandbox: u32,
    pub now: Time,
    /// Whether it is a Job's, whose containers are meant to end.
    pub ends: bool,
}

fn container_id(pod_uid: &str, name: &str, number: u64) -> Str {
    let [a, b] = [pod_uid, name].map(|text| stable_hash(number, text.as_bytes()));
    let [c, d] = [a, b].map(|word| stable_hash(word, &number.to_le_bytes()));
    format!("containerd://{a:016x}{b:016x}{c:016x}{d:016x}").into()
}

/// The container of a pod's spec that stands in a slot.
pub(super) fn spec_of(spec: &PodSpec, slot: Slot) -> Option<&Container> {
    match slot {
        Slot::Init(index) => spec.init_containers.get(index),
        Slot::Main(index) => spec.containers.get(index),
    }
}

/// As Events name it.
pub(super) fn field_path(name: &str, slot: Slot) -> Str {
    match slot {
        Slot::Init(_) => format!("spec.initContainers{{{name}}}").into(),
        Slot::Main(_) => format!("spec.containers{{{name}}}").into(),
    }
}
