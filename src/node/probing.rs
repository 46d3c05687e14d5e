//! When a container's probers tick, and what it answers them.
//!
//! A prober ticks first at the container's start plus `initialDelaySeconds` (or as soon as the
//! startup probe is over), then every period. The kubelet starts its ticker with the pod, at any
//! point of the period; that is left out. One that is content stops ticking until something happens
//! to the container: nothing that the simulation knows would change its answer. The answer comes
//! from the image: good from `readyAfter` on.

use std::time::Duration;

use crate::api::{Container, Pod, RestartPolicy, Value};
use crate::kernel::Time;

use super::container::{ContainerRecord, RunRecord};
use super::probe::{
    Outcome, ProbeKind, ProbeResult, ProbedContainer, ProbedPod, ProbedState, Prober, Thresholds,
};

/// The probers of one container; none for one without probes.
#[derive(Clone, Debug, Default)]
pub(super) struct Probers(Vec<Entry>);

#[derive(Clone, Debug)]
struct Entry {
    prober: Prober,
    /// The token of the tick that is due; 0: none.
    token: u64,
    last_tick: Option<Time>,
    goes_on: bool,
    /// The question cannot be asked at all.
    errs: bool,
}

/// What became of a tick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ticked {
    /// The stored result changed.
    pub is_news: bool,
    /// The question was asked and the answer was bad, or it could not be asked.
    pub has_failed: bool,
}

impl Probers {
    /// The stored result of a probe.
    pub fn result(&self, kind: ProbeKind) -> Option<ProbeResult> {
        self.of(kind).and_then(|entry| entry.prober.result())
    }

    fn of(&self, kind: ProbeKind) -> Option<&Entry> {
        self.0.iter().find(|entry| entry.prober.kind() == kind)
    }

    fn of_mut(&mut self, kind: ProbeKind) -> Option<&mut Entry> {
        self.0.iter_mut().find(|entry| entry.prober.kind() == kind)
    }

    /// The container or the process ended: nothing is remembered and no tick is due.
    pub fn stop(&mut self) {
        self.0.clear();
    }

    /// Adds the probers that the container should have and lacks.
    pub fn fit(&mut self, spec: &Container) {
        for kind in ProbeKind::ALL {
            let probe = probe_of(spec, kind);
            if let (Some(probe), None) = (probe, self.of(kind)) {
                self.0.push(Entry {
                    prober: Prober::new(kind, Thresholds::of(probe)),
                    token: 0,
                    last_tick: None,
                    goes_on: true,
                    errs: port_error(spec, kind).is_some(),
                });
            }
        }
    }

    /// After which time this prober should tick next, if no tick is due and one is needed.
    pub fn next_tick(&self, kind: ProbeKind, run: &RunRecord, now: Time) -> Option<Duration> {
        let entry = self.of(kind)?;
        if entry.token != 0 || !entry.goes_on || self.rests(kind, run, now) {
            return None;
        }
        let thresholds = entry.prober.thresholds();
        let due = match entry.last_tick {
            None => run.started_at + thresholds.initial_delay,
            Some(last) => last + thresholds.period,
        };
        Some(due.since(now))
    }

    /// Whether a tick could change nothing.
    fn rests(&self, kind: ProbeKind, run: &RunRecord, now: Time) -> bool {
        let Some(entry) = self.of(kind) else {
            return true;
        };
        let content = entry.prober.result() == Some(ProbeResult::Success)
            && entry.last_tick.is_some()
            && now >= run.ready_at
            && !entry.errs;
        let must_wait = kind != ProbeKind::Startup && !self.has_started();
        content || entry.prober.is_on_hold() || must_wait
    }

    /// Whether the startup probe is over, or there is none.
    pub fn has_started(&self) -> bool {
        self.of(ProbeKind::Startup)
            .is_none_or(|entry| entry.prober.result() == Some(ProbeResult::Success))
    }

    /// Notes that a tick is due.
    pub fn expect_tick(&mut self, kind: ProbeKind, token: u64) {
        if let Some(entry) = self.of_mut(kind) {
            entry.token = token;
        }
    }

    /// Whether this is the tick that is due; it is not afterwards.
    pub fn take_tick(&mut self, kind: ProbeKind, token: u64) -> bool {
        match self.of_mut(kind) {
            Some(entry) if entry.token == token => {
                entry.token = 0;
                true
            }
            _ => false,
        }
    }
}

/// Ticks a prober of a container.
pub(super) fn tick(record: &mut ContainerRecord, pod: &Pod, kind: ProbeKind, now: Time) -> Ticked {
    let Some(seen) = seen_by_prober(record, pod, now) else {
        return Ticked::default();
    };
    let answers = record.running().is_some_and(|run| now >= run.ready_at);
    let Some(entry) = record.probers.of_mut(kind) else {
        return Ticked::default();
    };
    let outcome = match (entry.errs, answers) {
        (true, _) => Outcome::Error,
        (_, true) => Outcome::Ok,
        (_, false) => Outcome::Fail,
    };
    let before = entry.prober.result();
    let mut was_asked = false;
    entry.last_tick = Some(now);
    entry.goes_on = entry.prober.tick(Some(&seen), || {
        was_asked = true;
        outcome
    });
    Ticked {
        is_news: entry.prober.result() != before,
        has_failed: was_asked && outcome != Outcome::Ok,
    }
}

fn seen_by_prober(record: &ContainerRecord, pod: &Pod, now: Time) -> Option<ProbedPod> {
    let run = record.run.as_ref()?;
    let state = match run.ended {
        None => ProbedState::Running(now.since(run.started_at)),
        Some(_) => ProbedState::Terminated,
    };
    Some(ProbedPod {
        phase: Some(pod.phase()),
        is_terminating: pod.metadata.is_terminating(),
        never_restarts: pod.spec.restart_policy == Some(RestartPolicy::Never),
        container: Some(ProbedContainer {
            id: run.number,
            state,
            started: record.probers.has_started(),
        }),
    })
}

/// The probe of a container's spec.
pub(super) fn probe_of(spec: &Container, kind: ProbeKind) -> Option<&crate::api::Probe> {
    match kind {
        ProbeKind::Liveness => spec.liveness_probe.as_ref(),
        ProbeKind::Readiness => spec.readiness_probe.as_ref(),
        ProbeKind::Startup => spec.startup_probe.as_ref(),
    }
}

/// The Event's text for a bad answer: what a program that does not listen yet gives.
pub(super) fn failure_message(spec: &Container, kind: ProbeKind, pod_ip: &str) -> String {
    if let Some(error) = port_error(spec, kind) {
        return format!("{} probe errored and resulted in unknown state: {error}", kind.word());
    }
    let head = format!("{} probe failed: ", kind.word());
    let Some(probe) = probe_of(spec, kind) else {
        return head;
    };
    let refused = |port: &Value| {
        let port = port_number(spec, port);
        (port.clone(), format!("dial tcp {pod_ip}:{port}: connect: connection refused"))
    };
    if let Some(http) = probe.rest.get("httpGet") {
        let (port, refused) = refused(&http["port"]);
        let path = http["path"].as_str().unwrap_or("/");
        return format!("{head}Get \"http://{pod_ip}:{port}{path}\": {refused}");
    }
    match probe.rest.get("tcpSocket") {
        Some(tcp) => head + &refused(&tcp["port"]).1,
        None => head + "not ready yet",
    }
}

/// Why a probe cannot be asked: it names a port that the container does not have, which then is
/// taken for a number.
fn port_error(spec: &Container, kind: ProbeKind) -> Option<String> {
    let probe = probe_of(spec, kind)?;
    let at = |field: &str| probe.rest.get(field).map(|how| &how["port"]);
    let name = at("httpGet").or_else(|| at("tcpSocket"))?.as_str()?;
    let number = port_number(spec, &Value::from(name));
    let is_number = number.parse::<u16>().is_ok();
    (!is_number).then(|| format!("strconv.Atoi: parsing {name:?}: invalid syntax"))
}

/// A port may be given by the name that the container has for it.
fn port_number(spec: &Container, port: &Value) -> String {
    let Some(name) = port.as_str() else {
        return port.to_string();
    };
    let ports = spec.rest.get("ports").and_then(Value::as_array);
    let named = ports.into_iter().flatten().find(|p| p["name"] == name);
    named.map_or_else(|| name.to_string(), |p| p["containerPort"].to_string())
}
