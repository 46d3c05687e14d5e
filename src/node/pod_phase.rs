//! Where in its life a pod stands, from its spec and the statuses of its containers.
//!
//! Follows `getPhase` in `pkg/kubelet/kubelet_pods.go`, with the gate ContainerRestartRules on.
//! Left out: static pods.

use crate::api::{Container, ContainerState, ContainerStatus, PodPhase, PodSpec, RestartPolicy};

use super::restart_policy::{is_sidecar, restarts_after_exit};

/// The statuses of a pod's containers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Statuses<'a> {
    /// Those of init containers.
    pub init: &'a [ContainerStatus],
    /// Those of the others.
    pub main: &'a [ContainerStatus],
}

impl<'a> Statuses<'a> {
    /// The status of the container of this name.
    pub fn find(&self, name: &str) -> Option<&'a ContainerStatus> {
        let mut both = self.main.iter().chain(self.init);
        both.find(|status| &*status.name == name)
    }

    /// Whether one of the containers (not an init container) runs or has run.
    pub fn any_main_started(&self, spec: &PodSpec) -> bool {
        spec.containers.iter().any(|container| {
            let state = self.find(&container.name).map(|status| &status.state);
            state.is_some_and(|s| s.running.is_some() || s.terminated.is_some())
        })
    }
}

/// A container as the phase counts it.
enum Counted {
    Unknown,
    Waiting,
    Running {
        started: bool,
    },
    /// It ended, and may be waiting to run again.
    Stopped {
        exit_code: i32,
    },
}

fn counted(status: Option<&ContainerStatus>) -> Counted {
    let Some(status) = status else {
        return Counted::Unknown;
    };
    let ended = |state: &ContainerState| state.terminated.as_ref().map(|t| t.exit_code);
    if status.state.running.is_some() {
        let started = status.started.unwrap_or(false);
        Counted::Running { started }
    } else if let Some(exit_code) = ended(&status.state) {
        Counted::Stopped { exit_code }
    } else if status.state.waiting.is_none() {
        Counted::Unknown
    } else if let Some(exit_code) = ended(&status.last_state) {
        Counted::Stopped { exit_code }
    } else {
        Counted::Waiting
    }
}

#[derive(Default)]
struct Tally {
    pending_init: u32,
    pending_sidecars: u32,
    init_failed_for_good: bool,
    unknown: u32,
    running: u32,
    waiting: u32,
    stopped: u32,
    stopped_for_good: u32,
    succeeded: u32,
}

/// The phase. `is_terminal`: no container will be started again, whatever the policies say.
/// `has_initialized`: a container has been started in the present sandbox.
pub fn phase(
    spec: &PodSpec,
    statuses: Statuses,
    is_terminal: bool,
    has_initialized: bool,
) -> PodPhase {
    let mut tally = Tally::default();
    let policy = spec.restart_policy.unwrap_or_default();
    for container in &spec.init_containers {
        let counted = counted(statuses.find(&container.name));
        if is_sidecar(container) {
            tally.add_sidecar(counted);
        } else {
            tally.add_init(container, policy, counted);
        }
    }
    for container in &spec.containers {
        let counted = counted(statuses.find(&container.name));
        tally.add_main(container, policy, counted);
    }
    tally.phase(is_terminal, has_initialized)
}

impl Tally {
    fn add_init(&mut self, container: &Container, policy: RestartPolicy, counted: Counted) {
        match counted {
            Counted::Stopped { exit_code: 0 } => {}
            Counted::Stopped { exit_code } => {
                let again = restarts_after_exit(container, policy, exit_code);
                self.init_failed_for_good |= !again;
            }
            Counted::Unknown | Counted::Waiting | Counted::Running { .. } => self.pending_init += 1,
        }
    }

    fn add_sidecar(&mut self, counted: Counted) {
        match counted {
            // No status at all does not keep a pod pending as a sidecar, only as unknown.
            Counted::Unknown => self.unknown += 1,
            Counted::Waiting => {
                self.pending_sidecars += 1;
                self.waiting += 1;
            }
            Counted::Running { started } => {
                self.pending_sidecars += u32::from(!started);
                self.running += 1;
            }
            // A sidecar that ended says nothing about the pod.
            Counted::Stopped { .. } => {}
        }
    }

    fn add_main(&mut self, container: &Container, policy: RestartPolicy, counted: Counted) {
        match counted {
            Counted::Unknown => self.unknown += 1,
            Counted::Waiting => self.waiting += 1,
            Counted::Running { .. } => self.running += 1,
            Counted::Stopped { exit_code } => {
                let again = restarts_after_exit(container, policy, exit_code);
                self.stopped += 1;
                self.stopped_for_good += u32::from(!again);
                self.succeeded += u32::from(exit_code == 0);
            }
        }
    }

    fn phase(&self, is_terminal: bool, has_initialized: bool) -> PodPhase {
        if self.init_failed_for_good {
            return PodPhase::Failed;
        }
        let sidecars_pend = self.pending_sidecars > 0 && !has_initialized;
        if self.pending_init > 0 || sidecars_pend || self.waiting > 0 || self.unknown > 0 {
            return PodPhase::Pending;
        }
        if self.running > 0 {
            return PodPhase::Running;
        }
        if self.stopped == 0 {
            return PodPhase::Pending;
        }
        if !is_terminal && self.stopped != self.stopped_for_good {
            // At least one of them is about to run again.
            return PodPhase::Running;
        }
        if self.stopped == self.succeeded { PodPhase::Succeeded } else { PodPhase::Failed }
    }
}
