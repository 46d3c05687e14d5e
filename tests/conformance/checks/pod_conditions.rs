//! `pod_conditions.json`, put to `node::pod_conditions`.

use loopscope::api::{Condition, ContainerStatus, PodPhase, PodSpec};
use loopscope::node::pod_conditions::{containers_ready, initialized, ready};
use loopscope::node::pod_phase::Statuses;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Outcome, compare, given};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Given {
    condition: String,
    spec: PodSpec,
    container_statuses: Option<Vec<ContainerStatus>>,
    pod_conditions: Vec<Condition>,
    pod_phase: PodPhase,
}

pub fn check(raw: &Value, expect: &Value) -> Outcome {
    let given: Given = match given(raw) {
        Ok(given) => given,
        Err(outcome) => return outcome,
    };
    // The vectors hold one list, the functions two: a name is looked up in both.
    let statuses =
        given.container_statuses.as_deref().map(|list| Statuses { init: list, main: list });
    let (spec, phase) = (&given.spec, given.pod_phase);
    let condition = match given.condition.as_str() {
        "ContainersReady" => containers_ready(spec, statuses, phase),
        "Ready" => ready(spec, &given.pod_conditions, statuses, phase),
        "Initialized" => initialized(spec, statuses, phase),
        other => return Outcome::Failed(format!("unknown condition {other:?}")),
    };
    let got = json!({
        "type": &*condition.kind,
        "status": condition.status,
        "reason": condition.reason.as_deref().unwrap_or_default(),
        "message": condition.message.as_deref().unwrap_or_default(),
    });
    compare(expect, &got)
}
