//! A change of size in the middle of a rollout.

use loopscope::api::{
    Deployment, DeploymentStrategy, IntOrString, ReplicaSet, RollingUpdate, Str, StrategyType,
    Timestamp,
};
use loopscope::controllers::deployment::{annotations, proportional};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{Outcome, compare, given};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Given {
    check: String,
    deployment: Sizes,
    new_replica_set: Option<Set>,
    #[serde(default)]
    old_replica_sets: Vec<Set>,
    replica_set: Option<Set>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Sizes {
    replicas: i32,
    #[serde(default)]
    status_replicas: i32,
    strategy_type: StrategyType,
    max_surge: Option<IntOrString>,
    max_unavailable: Option<IntOrString>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Set {
    #[serde(default)]
    name: Str,
    spec_replicas: i32,
    creation_timestamp: Option<Timestamp>,
    desired_replicas_annotation: Option<Str>,
    max_replicas_annotation: Option<Str>,
    #[serde(default)]
    available_replicas: i32,
}

impl Sizes {
    fn build(&self) -> Deployment {
        let mut deployment = Deployment::default();
        deployment.spec.replicas = Some(self.replicas);
        deployment.status.replicas = self.status_replicas;
        deployment.spec.strategy = DeploymentStrategy {
            kind: Some(self.strategy_type),
            rolling_update: Some(RollingUpdate {
                max_surge: self.max_surge.clone(),
                max_unavailable: self.max_unavailable.clone(),
            }),
        };
        deployment
    }
}

impl Set {
    fn build(&self) -> ReplicaSet {
        let mut set = ReplicaSet::default();
        set.metadata.name = self.name.clone();
        set.metadata.creation_timestamp = self.creation_timestamp;
        let sizes = [
            (annotations::DESIRED, &self.desired_replicas_annotation),
            (annotations::MAX, &self.max_replicas_annotation),
        ];
        for (name, value) in sizes {
            if let Some(value) = value {
                set.metadata.annotations.insert(name.into(), value.clone());
            }
        }
        set.spec.replicas = Some(self.spec_replicas);
        set.status.available_replicas = self.available_replicas;
        set
    }
}

fn scale(case: &Given) -> Value {
    let new = case.new_replica_set.as_ref().map(Set::build);
    let old: Vec<ReplicaSet> = case.old_replica_sets.iter().map(Set::build).collect();
    let old: Vec<&ReplicaSet> = old.iter().collect();
    let mut sizes: Map<String, Value> = old
        .iter()
        .copied()
        .chain(&new)
        .map(|set| (set.metadata.name.to_string(), json!(set.spec.replicas())))
        .collect();
    for resize in proportional::scale(&case.deployment.build(), new.as_ref(), &old) {
        sizes.insert(resize.name.to_string(), json!(resize.to));
    }
    json!({"specReplicasByName": sizes})
}

pub fn check(case: &Value, expect: &Value) -> Outcome {
    let case: Given = match given(case) {
        Ok(case) => case,
        Err(outcome) => return outcome,
    };
    let got = match (case.check.as_str(), &case.replica_set) {
        ("scale", _) => scale(&case),
        ("fraction", Some(set)) => {
            json!({"fraction": proportional::fraction(&case.deployment.build(), &set.build())})
        }
        (other, _) => return Outcome::Failed(format!("unknown check {other:?}")),
    };
    compare(expect, &got)
}
