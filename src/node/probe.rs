//! One prober: it asks a container a question again and again, and stores an answer only when
//! enough equal answers came in a row.
//!
//! Follows `doProbe` in `pkg/kubelet/prober/worker.go`. Who ticks it, and what the container
//! answers, is not its business: see `probing.rs`.

use std::time::Duration;

use crate::api::{PodPhase, Probe};

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProbeKind {
    /// Does it still work? If not, it is restarted.
    Liveness,
    /// Is it of use? If not, it gets no traffic.
    Readiness,
    /// Has it come up? Until then nothing else is asked.
    Startup,
}

impl ProbeKind {
    /// All kinds.
    pub const ALL: [ProbeKind; 3] = [Self::Liveness, Self::Readiness, Self::Startup];

    /// As Events say it.
    pub fn word(self) -> &'static str {
        match self {
            ProbeKind::Liveness => "Liveness",
            ProbeKind::Readiness => "Readiness",
            ProbeKind::Startup => "Startup",
        }
    }

    /// What is stored before the first decision.
    pub fn initial_result(self) -> ProbeResult {
        match self {
            ProbeKind::Liveness => ProbeResult::Success,
            ProbeKind::Readiness => ProbeResult::Failure,
            ProbeKind::Startup => ProbeResult::Unknown,
        }
    }
}

/// A stored result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeResult {
    /// All is well.
    Success,
    /// It is not.
    Failure,
    /// Not decided yet.
    Unknown,
}

/// What one question gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A good answer.
    Ok,
    /// A bad one.
    Fail,
    /// The question could not be asked: it does not count.
    Error,
}

/// The times and thresholds of a probe, defaults included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// From the container's start to the first question.
    pub initial_delay: Duration,
    /// From one question to the next.
    pub period: Duration,
    /// Good answers in a row that count.
    pub success: u32,
    /// Bad answers in a row that count.
    pub failure: u32,
}

impl Thresholds {
    /// Those of a probe.
    pub fn of(probe: &Probe) -> Thresholds {
        let number = |value: Option<i32>, default: i32, least: i32| {
            u32::try_from(value.unwrap_or(default).max(least)).unwrap_or(0)
        };
        let seconds = |number: u32| Duration::from_secs(number.into());
        Thresholds {
            initial_delay: seconds(number(probe.initial_delay_seconds, 0, 0)),
            // A period of 0 cannot be stored; were it, it would ask without end.
            period: seconds(number(probe.period_seconds, 10, 1)),
            success: number(probe.success_threshold, 1, 1),
            failure: number(probe.failure_threshold, 3, 1),
        }
    }
}

/// What a prober sees of its pod at a tick.
#[derive(Clone, Copy, Debug)]
pub struct ProbedPod {
    /// The phase.
    pub phase: Option<PodPhase>,
    /// Whether it is being deleted.
    pub is_terminating: bool,
    /// Whether containers are started again at all.
    pub never_restarts: bool,
    /// The container; None while the status has no entry for it.
    pub container: Option<ProbedContainer>,
}

/// What a prober sees of its container at a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbedContainer {
    /// Another number means another run.
    pub id: u64,
    /// What it does.
    pub state: ProbedState,
    /// Whether its startup probe is over (or it has none).
    pub started: bool,
}

/// What a probed container does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbedState {
    /// It does not run yet, or again.
    Waiting,
    /// It has been running for so long.
    Running(Duration),
    /// It ended.
    Terminated,
}

/// The memory of one prober.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prober {
    kind: ProbeKind,
    thresholds: Thresholds,
    container: Option<u64>,
    result: Option<ProbeResult>,
    last: Option<Outcome>,
    in_a_row: u32,
    on_hold: bool,
    is_stopped: bool,
}

impl Prober {
    /// A prober that has asked nothing yet.
    pub fn new(kind: ProbeKind, thresholds: Thresholds) -> Prober {
        Prober {
            kind,
            thresholds,
            container: None,
            result: None,
            last: None,
            in_a_row: 0,
            on_hold: false,
            is_stopped: false,
        }
    }

    /// What it asks.
    pub fn kind(&self) -> ProbeKind {
        self.kind
    }

    /// When it asks, and how often it must hear the same.
    pub fn thresholds(&self) -> Thresholds {
        self.thresholds
    }

    /// The stored result for the container that it watches.
    pub fn result(&self) -> Option<ProbeResult> {
        self.result
    }

    /// Stores a result, whatever was answered.
    pub fn set_result(&mut self, result: ProbeResult) {
        self.result = Some(result);
    }

    /// Whether it pauses until there is another container.
    pub fn is_on_hold(&self) -> bool {
        self.on_hold
    }

    /// Ends it: the result goes with it, and the next tick is the last.
    pub fn stop(&mut self) {
        self.is_stopped = true;
        self.container = None;
        self.result = None;
    }

    /// One tick; `ask` is called if the question is really asked. Returns whether to go on.
    pub fn tick(&mut self, pod: Option<&ProbedPod>, ask: impl FnOnce() -> Outcome) -> bool {
        if self.is_stopped {
            return false;
        }
        let Some(pod) = pod else {
            return true;
        };
        if matches!(pod.phase, Some(PodPhase::Failed | PodPhase::Succeeded)) {
            return false;
        }
        let Some(container) = pod.container else {
            return true;
        };
        if self.container != Some(container.id) {
            self.container = Some(container.id);
            self.result = Some(self.kind.initial_result());
            self.on_hold = false;
        }
        if self.on_hold {
            return true;
        }
        let ProbedState::Running(running_for) = container.state else {
            self.result = Some(ProbeResult::Failure);
            return container.state != ProbedState::Terminated || !pod.never_restarts;
        };
        if pod.is_terminating && self.kind != ProbeKind::Readiness {
            // So that a pod that is going is not disturbed by restarts.
            self.result = Some(ProbeResult::Success);
            return false;
        }
        let too_early = running_for.as_secs() < self.thresholds.initial_delay.as_secs();
        let others_turn = container.started == (self.kind == ProbeKind::Startup);
        if !too_early && !others_turn {
            self.hear(ask());
        }
        true
    }

    fn hear(&mut self, outcome: Outcome) {
        let (threshold, result) = match outcome {
            Outcome::Ok => (self.thresholds.success, ProbeResult::Success),
            Outcome::Fail => (self.thresholds.failure, ProbeResult::Failure),
            Outcome::Error => return,
        };
        if self.last == Some(outcome) {
            self.in_a_row = self.in_a_row.saturating_add(1);
        } else {
            self.last = Some(outcome);
            self.in_a_row = 1;
        }
        if self.in_a_row < threshold {
            return;
        }
        self.result = Some(result);
        let restarts = self.kind != ProbeKind::Readiness && result == ProbeResult::Failure;
        let came_up = self.kind == ProbeKind::Startup && result == ProbeResult::Success;
        if restarts || came_up {
            self.on_hold = true;
            self.in_a_row = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(started: bool) -> ProbedPod {
        let state = ProbedState::Running(Duration::ZERO);
        ProbedPod {
            phase: Some(PodPhase::Running),
            is_terminating: false,
            never_restarts: false,
            container: Some(ProbedContainer { id: 1, state, started }),
        }
    }

    #[test]
    fn until_a_container_has_started_only_its_startup_probe_asks_and_afterwards_only_the_others() {
        for (kind, before, after) in [
            (ProbeKind::Liveness, ProbeResult::Success, ProbeResult::Failure),
            (ProbeKind::Readiness, ProbeResult::Failure, ProbeResult::Failure),
        ] {
            let thresholds =
                Thresholds { success: 1, failure: 1, ..Thresholds::of(&Probe::default()) };
            let mut prober = Prober::new(kind, thresholds);
            let asked_too_early = || panic!("{kind:?} asks before the container has started");
            prober.tick(Some(&pod(false)), asked_too_early);
            assert_eq!(prober.result(), Some(before));
            prober.tick(Some(&pod(true)), || Outcome::Fail);
            assert_eq!(prober.result(), Some(after));
        }
        let mut startup = Prober::new(ProbeKind::Startup, Thresholds::of(&Probe::default()));
        startup.tick(Some(&pod(true)), || panic!("it asks although the container has started"));
        assert_eq!(startup.result(), Some(ProbeResult::Unknown));
    }
}
