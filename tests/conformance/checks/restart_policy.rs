//! `restart_policy.json`, put to `node::restart_policy` and `node::pod_actions`.

use loopscope::api::{Container, ObjectMeta, Pod, PodSpec, RestartPolicy};
use loopscope::node::pod_actions::{PodRuns, Run, Sandbox, Slot, compute};
use loopscope::node::restart_policy::{RunState, should_be_restarted};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Outcome, compare, given};

pub fn check(raw: &Value, expect: &Value) -> Outcome {
    let answer = match raw["check"].as_str() {
        Some("shouldStart") => given(raw).and_then(should_start),
        Some("podActions") => given(raw).and_then(pod_actions),
        other => Err(Outcome::Failed(format!("unknown check {other:?}"))),
    };
    match answer {
        Ok(got) => compare(expect, &got),
        Err(outcome) => outcome,
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct GivenState {
    name: Option<String>,
    state: String,
    exit_code: Option<i32>,
    spec_hash_matches: Option<bool>,
    restart_policy: Option<RestartPolicy>,
}

impl GivenState {
    fn run_state(&self) -> Result<Option<RunState>, Outcome> {
        Ok(match self.state.as_str() {
            "none" => None,
            "created" => Some(RunState::Created),
            "running" => Some(RunState::Running),
            "exited" => Some(RunState::Exited(self.exit_code.unwrap_or(0))),
            "unknown" => Some(RunState::Unknown),
            other => return Err(Outcome::Failed(format!("unknown state {other:?}"))),
        })
    }

    fn run(&self) -> Result<Option<Run>, Outcome> {
        let run = self.run_state()?.map(|state| Run {
            is_outdated: self.spec_hash_matches == Some(false),
            ..Run::plain(state)
        });
        Ok(run)
    }

    fn container(&self) -> Container {
        Container {
            name: self.name.clone().unwrap_or_default().into(),
            restart_policy: self.restart_policy,
            ..Container::default()
        }
    }
}

fn pod(spec: PodSpec) -> Pod {
    Pod { metadata: ObjectMeta::default(), spec, ..Pod::default() }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ShouldStart {
    #[serde(rename = "check")]
    _check: String,
    restart_policy: Option<RestartPolicy>,
    history: Vec<GivenState>,
}

fn should_start(given: ShouldStart) -> Result<Value, Outcome> {
    let pod = pod(PodSpec { restart_policy: given.restart_policy, ..PodSpec::default() });
    let newest = match given.history.first() {
        Some(run) => run.run_state()?,
        None => None,
    };
    let start = should_be_restarted(&Container::default(), &pod, newest);
    Ok(json!({"start": start}))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct GivenSandbox {
    state: String,
    ip: Option<String>,
    attempt: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct GivenActions {
    #[serde(rename = "check")]
    _check: String,
    restart_policy: Option<RestartPolicy>,
    sandbox: Option<GivenSandbox>,
    containers: Vec<GivenState>,
    #[serde(default)]
    init_containers: Vec<GivenState>,
    #[serde(default)]
    host_network: bool,
}

fn pod_actions(given: GivenActions) -> Result<Value, Outcome> {
    let mut spec = PodSpec {
        restart_policy: given.restart_policy,
        init_containers: given.init_containers.iter().map(GivenState::container).collect(),
        containers: given.containers.iter().map(GivenState::container).collect(),
        ..PodSpec::default()
    };
    if given.host_network {
        spec.rest.insert("hostNetwork".into(), true.into());
    }
    let sandbox = given.sandbox.as_ref().map(|sandbox| Sandbox {
        ready: sandbox.state == "ready",
        has_ip: sandbox.ip.as_deref().is_some_and(|ip| !ip.is_empty()),
        attempt: sandbox.attempt,
    });
    // In a sandbox that is gone no run is active.
    let is_active = sandbox.is_some_and(|sandbox| sandbox.ready);
    let runs = |list: &[GivenState]| -> Result<Vec<Option<Run>>, Outcome> {
        let runs = list.iter().map(|given| {
            let run = given.run()?;
            Ok(run.map(|run| Run { is_active, ..run }))
        });
        runs.collect()
    };
    let runs =
        PodRuns { sandbox, init: runs(&given.init_containers)?, main: runs(&given.containers)? };
    let pod = pod(spec);
    let actions = compute(&pod, &runs);
    let main_name = |index: &usize| json!(&*pod.spec.containers[*index].name);
    let init_name = |index: &usize| json!(&*pod.spec.init_containers[*index].name);
    let killed = actions.kill.iter().map(|(slot, _)| match slot {
        Slot::Init(index) => init_name(index),
        Slot::Main(index) => main_name(index),
    });
    Ok(json!({
        "killPod": actions.kill_pod,
        "createSandbox": actions.create_sandbox,
        "attempt": actions.attempt,
        "startInit": actions.start_init.first().map(init_name),
        "start": actions.start.iter().map(main_name).collect::<Vec<_>>(),
        "kill": killed.collect::<Vec<_>>(),
    }))
}
