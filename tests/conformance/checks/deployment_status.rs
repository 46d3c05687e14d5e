//! Completeness, progress, the deadline, conditions and sums.

use std::time::Duration;

use loopscope::api::{
    Condition, ConditionStatus, Deployment, DeploymentStatus, DeploymentStrategy, IntOrString,
    ReplicaSet, RollingUpdate, Str, StrategyType, Timestamp,
};
use loopscope::controllers::deployment::{conditions, progress, status};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Outcome, compare, given};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Given {
    check: String,
    spec: Option<Spec>,
    status: Option<Status>,
    old_status: Option<Status>,
    new_status: Option<Status>,
    progress_deadline_seconds: Option<i32>,
    replicas: Option<i32>,
    strategy_type: Option<StrategyType>,
    condition: Option<Partial>,
    #[serde(default)]
    conditions: Vec<Partial>,
    now: Option<String>,
    new_replica_set: Option<Set>,
    #[serde(default)]
    other_replica_sets: Vec<Set>,
    #[serde(default)]
    replica_sets: Vec<Set>,
    set: Option<Partial>,
    remove: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Spec {
    replicas: i32,
    max_surge: Option<IntOrString>,
    max_unavailable: Option<IntOrString>,
    strategy_type: StrategyType,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct Status {
    replicas: i32,
    updated_replicas: i32,
    ready_replicas: i32,
    available_replicas: i32,
}

/// A condition, of which only some fields are given.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Partial {
    #[serde(rename = "type")]
    kind: Str,
    status: ConditionStatus,
    reason: Option<Str>,
    last_update_time: Option<Timestamp>,
    last_transition_time: Option<Timestamp>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Set {
    #[serde(default)]
    name: Str,
    spec_replicas: i32,
    #[serde(default)]
    status_replicas: i32,
    #[serde(default)]
    available_replicas: i32,
    terminating_replicas: Option<i32>,
    #[serde(default)]
    observed_generation: i64,
}

impl Status {
    fn build(&self) -> DeploymentStatus {
        DeploymentStatus {
            replicas: self.replicas,
            updated_replicas: self.updated_replicas,
            ready_replicas: self.ready_replicas,
            available_replicas: self.available_replicas,
            ..DeploymentStatus::default()
        }
    }
}

impl Partial {
    fn build(&self) -> Condition {
        Condition {
            kind: self.kind.clone(),
            status: self.status,
            reason: self.reason.clone(),
            last_update_time: self.last_update_time,
            last_transition_time: self.last_transition_time,
            ..Condition::default()
        }
    }
}

impl Set {
    fn build(&self) -> ReplicaSet {
        let mut set = ReplicaSet::default();
        set.metadata.name = self.name.clone();
        set.spec.replicas = Some(self.spec_replicas);
        set.status.replicas = self.status_replicas;
        set.status.available_replicas = self.available_replicas;
        set.status.terminating_replicas = self.terminating_replicas;
        set.status.observed_generation = self.observed_generation;
        set
    }
}

impl Given {
    fn deployment(&self) -> Deployment {
        let mut deployment = Deployment::default();
        let spec = &mut deployment.spec;
        spec.replicas = self.replicas;
        spec.strategy.kind = self.strategy_type;
        spec.progress_deadline_seconds = self.progress_deadline_seconds;
        if let Some(given) = &self.spec {
            spec.replicas = Some(given.replicas);
            spec.strategy = DeploymentStrategy {
                kind: Some(given.strategy_type),
                rolling_update: Some(RollingUpdate {
                    max_surge: given.max_surge.clone(),
                    max_unavailable: given.max_unavailable.clone(),
                }),
            };
        }
        deployment.status = self.status.as_ref().map(Status::build).unwrap_or_default();
        let all = self.conditions.iter().chain(&self.condition);
        deployment.status.conditions = all.map(Partial::build).collect();
        deployment
    }

    /// Since 1970; long after everything if it does not matter.
    fn now(&self) -> Option<Duration> {
        let Some(text) = &self.now else {
            return Some(Duration::from_secs(4_000_000_000));
        };
        let seconds = u64::try_from(Timestamp::parse(text)?.0).ok()?;
        let fraction = text.split_once('.').map_or("", |(_, fraction)| fraction);
        let digits = fraction.trim_end_matches('Z');
        let nanos = format!("{digits:0<9}").parse().ok()?;
        Some(Duration::new(seconds, nanos))
    }
}

fn rollout_status(case: &Given, now: Duration) -> Value {
    let deployment = case.deployment();
    let new = case.new_replica_set.as_ref().map(Set::build);
    let others: Vec<ReplicaSet> = case.other_replica_sets.iter().map(Set::build).collect();
    let sets: Vec<&ReplicaSet> = others.iter().chain(&new).collect();
    let after = progress::rollout_status(&deployment, &sets, new.as_ref(), now);
    let find = |list: &[Condition]| Condition::find(list, conditions::PROGRESSING).cloned();
    let (before, after) = (find(&deployment.status.conditions), find(&after.conditions));
    let update = |c: &Option<Condition>| c.as_ref().and_then(|c| c.last_update_time);
    let transition = |c: &Option<Condition>| c.as_ref().and_then(|c| c.last_transition_time);
    json!({
        "progressingCondition": after,
        "lastUpdateTimeKept": update(&before) == update(&after),
        "lastTransitionTimeKept": transition(&before) == transition(&after),
    })
}

fn requeue_delay(case: &Given, now: Duration) -> Value {
    let deployment = case.deployment();
    let delay = progress::requeue_delay(&deployment, &deployment.status, now);
    let nanos = delay.map(|delay| u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX));
    json!({"requeue": delay.is_some(), "requeueAfterNanoseconds": nanos})
}

fn sums(case: &Given) -> Value {
    let sets: Vec<ReplicaSet> = case.replica_sets.iter().map(Set::build).collect();
    let sets: Vec<&ReplicaSet> = sets.iter().collect();
    json!({
        "specReplicas": status::size_sum(&sets),
        "statusReplicas": status::replica_sum(&sets),
        "terminatingReplicas": status::terminating_sum(&sets),
    })
}

pub fn check(case: &Value, expect: &Value) -> Outcome {
    let case: Given = match given(case) {
        Ok(case) => case,
        Err(outcome) => return outcome,
    };
    let Some(now) = case.now() else {
        return Outcome::Failed("cannot read `now`".into());
    };
    let deployment = case.deployment();
    let mut list = deployment.status.conditions.clone();
    let got = match case.check.as_str() {
        "complete" => {
            json!({"complete": progress::is_complete(&deployment, &deployment.status)})
        }
        "progressing" => {
            let status = |s: &Option<Status>| s.as_ref().map(Status::build).unwrap_or_default();
            let (before, after) = (status(&case.old_status), status(&case.new_status));
            json!({"progressing": progress::is_progressing(&before, &after)})
        }
        "timedOut" => {
            json!({"timedOut": progress::is_timed_out(&deployment, &deployment.status, now)})
        }
        "requeueDelay" => requeue_delay(&case, now),
        "rolloutStatus" => rollout_status(&case, now),
        "setCondition" => {
            if let Some(set) = &case.set {
                conditions::set(&mut list, set.build());
            }
            json!({"conditions": list})
        }
        "removeCondition" => {
            conditions::remove(&mut list, case.remove.as_deref().unwrap_or_default());
            json!({"conditions": list})
        }
        "sumReplicas" => sums(&case),
        other => return Outcome::Failed(format!("unknown check {other:?}")),
    };
    compare(expect, &got)
}
