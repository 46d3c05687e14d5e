//! One step of a rolling update.

use loopscope::api::{
    Deployment, DeploymentStrategy, IntOrString, ReplicaSet, RollingUpdate, StrategyType,
};
use loopscope::controllers::deployment::rolling;
use loopscope::controllers::deployment::rollout::Resize;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Outcome, compare, given};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Given {
    action: String,
    replicas: i32,
    strategy_type: Option<StrategyType>,
    max_surge: Option<IntOrString>,
    max_unavailable: Option<IntOrString>,
    old_replica_set_spec_replicas: Option<i32>,
    new_replica_set_spec_replicas: Option<i32>,
    all_replica_sets_spec_replicas: Option<Vec<i32>>,
    old_replica_set: Option<Sizes>,
    new_replica_set: Option<Sizes>,
    max_cleanup_count: Option<i64>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Sizes {
    spec_replicas: i32,
    available_replicas: i32,
}

fn set(name: &str, sizes: Sizes) -> ReplicaSet {
    let mut set = ReplicaSet::default();
    set.metadata.name = name.into();
    set.spec.replicas = Some(sizes.spec_replicas);
    set.status.available_replicas = sizes.available_replicas;
    set
}

impl Given {
    fn deployment(&self) -> Deployment {
        let mut deployment = Deployment::default();
        deployment.spec.replicas = Some(self.replicas);
        deployment.spec.strategy = DeploymentStrategy {
            kind: self.strategy_type,
            rolling_update: Some(RollingUpdate {
                max_surge: self.max_surge.clone(),
                max_unavailable: self.max_unavailable.clone(),
            }),
        };
        deployment
    }

    fn new_size(&self) -> i32 {
        self.new_replica_set_spec_replicas.unwrap_or(0)
    }
}

fn size_after(resizes: &[Resize], before: i32) -> i32 {
    resizes.last().map_or(before, |resize| resize.to)
}

fn old_size(resizes: &[Resize], old: &ReplicaSet) -> Value {
    json!({
        "scaled": !resizes.is_empty(),
        "oldReplicaSetSpecReplicas": size_after(resizes, old.spec.replicas()),
    })
}

pub fn check(case: &Value, expect: &Value) -> Outcome {
    let case: Given = match given(case) {
        Ok(case) => case,
        Err(outcome) => return outcome,
    };
    let deployment = case.deployment();
    let old = set("old", case.old_replica_set.unwrap_or_default());
    let new = set("new", case.new_replica_set.unwrap_or_default());
    let got = match case.action.as_str() {
        "reconcileNewReplicaSet" => {
            let spec_replicas = case.new_size();
            let new = set("new", Sizes { spec_replicas, ..Sizes::default() });
            let total = case.old_replica_set_spec_replicas.unwrap_or(0) + spec_replicas;
            match rolling::reconcile_new(&deployment, total.into(), &new) {
                Ok(resize) => json!({
                    "scaled": resize.is_some(),
                    "newReplicaSetSpecReplicas": resize.map_or(spec_replicas, |r| r.to),
                }),
                Err(error) => return Outcome::Failed(error.to_string()),
            }
        }
        "newReplicaSetSize" => {
            let all = case.all_replica_sets_spec_replicas.clone().unwrap_or_default();
            let total = all.into_iter().map(i64::from).sum();
            match rolling::new_set_size(&deployment, total, case.new_size()) {
                Ok(size) => json!({"newReplicaSetSpecReplicas": size}),
                Err(error) => return Outcome::Failed(error.to_string()),
            }
        }
        "reconcileOldReplicaSets" => {
            old_size(&rolling::reconcile_old(&deployment, &new, &[&old]), &old)
        }
        "cleanupUnhealthyReplicas" => {
            let max = case.max_cleanup_count.unwrap_or(0);
            let resizes = rolling::clean_up_unhealthy(&[&old], max).unwrap_or_default();
            let count: i32 = resizes.iter().map(|resize| resize.from - resize.to).sum();
            json!({"cleanedUp": count})
        }
        "scaleDownOldReplicaSets" => {
            let available = old.status.available_replicas.into();
            let sizes = [old.spec.replicas()];
            old_size(&rolling::scale_down_old(&deployment, available, &[&old], &sizes), &old)
        }
        other => return Outcome::Failed(format!("unknown action {other:?}")),
    };
    compare(expect, &got)
}
