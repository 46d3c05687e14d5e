//! `probes.json`, put to `node::probe`; defaults to the API server's.

use std::time::Duration;

use loopscope::api::{Container, Object, Pod, PodPhase, PodSpec, Probe};
use loopscope::apiserver::defaults::default_object;
use loopscope::node::probe::{
    Outcome as Answer, ProbeKind, ProbeResult, ProbedContainer, ProbedPod, ProbedState, Prober,
    Thresholds,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Outcome, compare, given};

pub fn check(raw: &Value, expect: &Value) -> Outcome {
    let got = match raw["check"].as_str() {
        Some("defaults") => given(raw).and_then(defaults),
        Some("probeOnce") => given(raw).and_then(probe_once),
        Some("initialDelay") => given(raw).and_then(initial_delay),
        Some("sequence") => given(raw).and_then(sequence),
        Some("stop") => given(raw).and_then(stop),
        other => Err(Outcome::Failed(format!("unknown check {other:?}"))),
    };
    match got {
        Ok(got) => compare(expect, &got),
        Err(outcome) => outcome,
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Defaults {
    #[serde(rename = "check")]
    _check: String,
    probe: Probe,
}

/// The probe as it is stored with its pod. A delay that is not written down is what the prober
/// takes it for.
fn defaults(given: Defaults) -> Result<Value, Outcome> {
    let container = Container { readiness_probe: Some(given.probe), ..Container::default() };
    let spec = PodSpec { containers: [container].into(), ..PodSpec::default() };
    let mut object = Object::from(Pod { spec, ..Pod::default() });
    default_object(&mut object);
    let stored = object.as_pod().and_then(|pod| pod.spec.containers[0].readiness_probe.as_ref());
    let Some(probe) = stored else {
        return Err(Outcome::Failed("the probe is gone".into()));
    };
    let mut fields = json!(probe);
    fields["initialDelaySeconds"] = json!(Thresholds::of(probe).initial_delay.as_secs());
    Ok(fields)
}

fn kind(text: &str) -> Result<ProbeKind, Outcome> {
    match text {
        "liveness" => Ok(ProbeKind::Liveness),
        "readiness" => Ok(ProbeKind::Readiness),
        "startup" => Ok(ProbeKind::Startup),
        other => Err(Outcome::Failed(format!("unknown probe {other:?}"))),
    }
}

fn word(result: Option<ProbeResult>) -> Value {
    result.map_or(Value::Null, |result| json!(format!("{result:?}")))
}

fn result(text: &str) -> Result<ProbeResult, Outcome> {
    match text {
        "Success" => Ok(ProbeResult::Success),
        "Failure" => Ok(ProbeResult::Failure),
        "Unknown" => Ok(ProbeResult::Unknown),
        other => Err(Outcome::Failed(format!("unknown result {other:?}"))),
    }
}

fn answer(text: &str) -> Result<Answer, Outcome> {
    match text {
        "ok" => Ok(Answer::Ok),
        "fail" => Ok(Answer::Fail),
        "error" | "panic" => Ok(Answer::Error),
        other => Err(Outcome::Failed(format!("unknown outcome {other:?}"))),
    }
}

fn prober(kind: ProbeKind, success: u32, failure: u32, delay: f64) -> Prober {
    let thresholds = Thresholds {
        initial_delay: Duration::from_secs_f64(delay.max(0.0)),
        period: Duration::from_secs(10),
        success,
        failure,
    };
    Prober::new(kind, thresholds)
}

fn running(id: u64, running_for: Duration, started: bool) -> ProbedPod {
    ProbedPod {
        phase: Some(PodPhase::Running),
        is_terminating: false,
        never_restarts: false,
        container: Some(ProbedContainer { id, state: ProbedState::Running(running_for), started }),
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ProbeOnce {
    #[serde(rename = "check")]
    _check: String,
    probe_type: String,
    restart_policy: String,
    container_started: bool,
    probe_would_return: String,
    success_threshold: u32,
    failure_threshold: u32,
    #[serde(rename = "podStatus")]
    _pod_status: Option<Value>,
    pod_phase: Option<PodPhase>,
    container: Option<String>,
    #[serde(default)]
    initial_delay_seconds: f64,
    #[serde(default)]
    deletion_timestamp_set: bool,
}

fn probe_once(given: ProbeOnce) -> Result<Value, Outcome> {
    let kind = kind(&given.probe_type)?;
    let (success, failure) = (given.success_threshold, given.failure_threshold);
    let mut prober = prober(kind, success, failure, given.initial_delay_seconds);
    let state = match given.container.as_deref() {
        None | Some("absent") => None,
        Some("waiting") => Some(ProbedState::Waiting),
        Some("running") => Some(ProbedState::Running(Duration::ZERO)),
        Some("terminated") => Some(ProbedState::Terminated),
        Some(other) => return Err(Outcome::Failed(format!("unknown state {other:?}"))),
    };
    let pod = given.pod_phase.map(|phase| ProbedPod {
        phase: Some(phase),
        is_terminating: given.deletion_timestamp_set,
        never_restarts: given.restart_policy == "Never",
        container: state.map(|state| ProbedContainer {
            id: 1,
            state,
            started: given.container_started,
        }),
    });
    let answer = answer(&given.probe_would_return)?;
    let keep_probing = prober.tick(pod.as_ref(), || answer);
    Ok(json!({
        "keepProbing": keep_probing,
        "resultRecorded": prober.result().is_some(),
        "result": word(prober.result()),
    }))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct InitialDelay {
    #[serde(rename = "check")]
    _check: String,
    probe_type: String,
    initial_delay_seconds: f64,
    running_seconds: f64,
}

fn initial_delay(given: InitialDelay) -> Result<Value, Outcome> {
    let kind = kind(&given.probe_type)?;
    let mut prober = prober(kind, 1, 1, given.initial_delay_seconds);
    let started = kind != ProbeKind::Startup;
    let mut keep_probing = true;
    for running_for in [0.0, given.running_seconds] {
        let pod = running(1, Duration::from_secs_f64(running_for), started);
        keep_probing = prober.tick(Some(&pod), || Answer::Ok);
    }
    Ok(json!({"keepProbing": keep_probing, "result": word(prober.result())}))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct GivenStep {
    outcome: String,
    #[serde(default)]
    new_container_id: bool,
    container_started: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Sequence {
    #[serde(rename = "check")]
    _check: String,
    probe_type: String,
    #[serde(default = "one")]
    success_threshold: u32,
    #[serde(default = "one")]
    failure_threshold: u32,
    starts_as: Option<String>,
    container_started: Option<bool>,
    #[serde(default)]
    outcomes: Vec<String>,
    #[serde(default)]
    steps: Vec<GivenStep>,
}

fn one() -> u32 {
    1
}

fn sequence(given: Sequence) -> Result<Value, Outcome> {
    let kind = kind(&given.probe_type)?;
    let mut prober = prober(kind, given.success_threshold, given.failure_threshold, 0.0);
    let plain = given.outcomes.into_iter().map(|outcome| GivenStep {
        outcome,
        new_container_id: false,
        container_started: None,
    });
    // Not said: such that the prober may ask.
    let started = given.container_started.unwrap_or(kind != ProbeKind::Startup);
    let mut pod = running(1, Duration::ZERO, started);
    // A tick that is not answered binds the prober to the container.
    prober.tick(Some(&pod), || Answer::Error);
    if let Some(text) = &given.starts_as {
        prober.set_result(result(text)?);
    }
    let (mut results, mut on_hold, mut keep) = (Vec::new(), Vec::new(), Vec::new());
    for step in plain.chain(given.steps) {
        if step.new_container_id {
            let id = pod.container.map_or(0, |container| container.id);
            pod = running(id + 1, Duration::ZERO, started);
        }
        if let Some(container) = &mut pod.container {
            container.started = step.container_started.unwrap_or(container.started);
        }
        let answer = answer(&step.outcome)?;
        keep.push(prober.tick(Some(&pod), || answer));
        results.push(word(prober.result()));
        on_hold.push(prober.is_on_hold());
    }
    Ok(json!({"results": results, "onHoldAfter": on_hold, "keepProbing": keep}))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Stop {
    #[serde(rename = "check")]
    _check: String,
    probe_types: Vec<String>,
    #[serde(rename = "steps")]
    _steps: Vec<String>,
}

fn stop(given: Stop) -> Result<Value, Outcome> {
    let (mut is_present, mut exits) = (false, true);
    for text in &given.probe_types {
        let kind = kind(text)?;
        let mut prober = prober(kind, 1, 1, 0.0);
        let pod = running(1, Duration::ZERO, kind != ProbeKind::Startup);
        prober.tick(Some(&pod), || Answer::Ok);
        if prober.result() != Some(ProbeResult::Success) {
            return Err(Outcome::Failed(format!("{text} did not succeed")));
        }
        for _ in 0..10 {
            prober.stop();
        }
        exits &= !prober.tick(Some(&pod), || Answer::Ok);
        is_present |= prober.result().is_some();
    }
    Ok(json!({"workerExits": exits, "resultPresent": is_present}))
}
