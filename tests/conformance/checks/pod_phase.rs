//! `pod_phase.json`, put to `node::pod_phase`.

use std::collections::BTreeMap;

use loopscope::api::{ContainerStatus, PodSpec, RestartPolicy};
use loopscope::node::pod_phase::{Statuses, phase};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Outcome, compare, given};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Given {
    check: String,
    spec: PodSpec,
    init_container_statuses: Vec<ContainerStatus>,
    container_statuses: Vec<ContainerStatus>,
    pod_is_terminal: bool,
    pod_has_initialized: bool,
    #[serde(default)]
    feature_gates: BTreeMap<String, bool>,
}

pub fn check(raw: &Value, expect: &Value) -> Outcome {
    let mut given: Given = match given(raw) {
        Ok(given) => given,
        Err(outcome) => return outcome,
    };
    if given.check != "podPhase" {
        return Outcome::Failed(format!("unknown check {:?}", given.check));
    }
    if given.feature_gates.get("ContainerRestartRules") != Some(&true) {
        forget_own_policies(&mut given.spec);
    }
    let statuses =
        Statuses { init: &given.init_container_statuses, main: &given.container_statuses };
    let terminal = given.pod_is_terminal;
    let phase = phase(&given.spec, statuses, terminal, given.pod_has_initialized);
    compare(expect, &json!({"phase": phase}))
}

/// The gate is on in 1.36 and the simulation knows no other; a case without it is one in which
/// containers have no policy of their own (sidecars have theirs anyway).
fn forget_own_policies(spec: &mut PodSpec) {
    for container in &mut spec.containers {
        container.restart_policy = None;
    }
    for container in &mut spec.init_containers {
        let sidecar = container.restart_policy == Some(RestartPolicy::Always);
        container.restart_policy = sidecar.then_some(RestartPolicy::Always);
    }
}
