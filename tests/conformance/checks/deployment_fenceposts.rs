//! `maxSurge` and `maxUnavailable` as pod counts.

use loopscope::api::{Deployment, DeploymentStrategy, IntOrString, RollingUpdate, StrategyType};
use loopscope::controllers::deployment::fenceposts;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Outcome, compare, given};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Given {
    check: String,
    max_surge: Option<IntOrString>,
    max_unavailable: Option<IntOrString>,
    replicas: Option<i32>,
    strategy_type: Option<StrategyType>,
    value: Option<IntOrString>,
    total: Option<i32>,
    round_up: Option<bool>,
}

impl Given {
    fn deployment(&self) -> Deployment {
        let rolling_update = RollingUpdate {
            max_surge: self.max_surge.clone(),
            max_unavailable: self.max_unavailable.clone(),
        };
        let is_rolling = self.strategy_type == Some(StrategyType::RollingUpdate);
        let mut deployment = Deployment::default();
        deployment.spec.replicas = self.replicas;
        deployment.spec.strategy = DeploymentStrategy {
            kind: self.strategy_type,
            rolling_update: is_rolling.then_some(rolling_update),
        };
        deployment
    }
}

pub fn check(case: &Value, expect: &Value) -> Outcome {
    let case: Given = match given(case) {
        Ok(case) => case,
        Err(outcome) => return outcome,
    };
    let got = match case.check.as_str() {
        "resolve" => resolve(&case),
        "effectiveMaxUnavailable" => {
            json!({"effectiveMaxUnavailable": fenceposts::max_unavailable(&case.deployment())})
        }
        "minAvailable" => json!({"minAvailable": fenceposts::min_available(&case.deployment())}),
        "parse" => match case.value.as_ref().map(IntOrString::parse) {
            Some(Ok((number, is_percent))) => {
                json!({"error": false, "number": number, "isPercent": is_percent})
            }
            _ => json!({"error": true}),
        },
        "scale" => scale(&case),
        other => return Outcome::Failed(format!("unknown check {other:?}")),
    };
    compare(expect, &got)
}

fn resolve(case: &Given) -> Value {
    let (surge, unavailable) = (case.max_surge.as_ref(), case.max_unavailable.as_ref());
    let resolved = fenceposts::resolve(surge, unavailable, case.replicas.unwrap_or(1));
    let (surge, unavailable) = resolved.clone().unwrap_or((0, 0));
    json!({"surge": surge, "unavailable": unavailable, "error": resolved.is_err()})
}

fn scale(case: &Given) -> Value {
    let (total, round_up) = (case.total.unwrap_or(0), case.round_up.unwrap_or(false));
    match case.value.as_ref().map(|value| value.scaled(total, round_up)) {
        Some(Ok(result)) => json!({"error": false, "result": result}),
        _ => json!({"error": true}),
    }
}
