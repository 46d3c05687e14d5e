//! The Recreate strategy.

use std::collections::BTreeMap;

use loopscope::api::{
    Deployment, Kind, Object, ObjectMeta, OwnerReference, Pod, ReplicaSet, Str, StrategyType,
};
use loopscope::client::Cache;
use loopscope::controllers::deployment::{recreate, wakes};
use loopscope::controllers::{Change, ChangeKind, Context};
use loopscope::kernel::Time;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Outcome, compare, given};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Given {
    action: String,
    #[allow(dead_code)]
    replicas: Option<i32>,
    strategy_type: Option<StrategyType>,
    #[serde(default)]
    old_replica_set_spec_replicas: Vec<i32>,
    new_replica_set: Option<Set>,
    #[serde(default)]
    old_replica_sets: Vec<Set>,
    #[serde(default)]
    pods_by_replica_set_uid: BTreeMap<Str, Vec<Phase>>,
    #[serde(default)]
    owned_replica_sets: Vec<Str>,
    #[serde(default)]
    orphan_replica_sets: Vec<Str>,
    #[serde(default)]
    other_pods_of_deployment: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Set {
    uid: Option<Str>,
    name: Option<Str>,
    #[serde(default)]
    spec_replicas: i32,
    #[serde(default)]
    status_replicas: i32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Phase {
    phase: String,
}

impl Set {
    fn build(&self) -> ReplicaSet {
        let mut set = sized(self.spec_replicas);
        set.metadata.uid = self.uid.clone().unwrap_or_default();
        set.metadata.name = self.name.clone().or_else(|| self.uid.clone()).unwrap_or_default();
        set.status.replicas = self.status_replicas;
        set
    }
}

fn sized(size: i32) -> ReplicaSet {
    let mut set = ReplicaSet::default();
    set.spec.replicas = Some(size);
    set
}

fn pod(phase: &str) -> Pod {
    let mut pod = Pod::default();
    // An empty text is no phase: it is not reported yet.
    pod.status.phase = serde_json::from_value(json!(phase)).ok();
    pod
}

fn old_pods_running(case: &Given) -> Value {
    let new = case.new_replica_set.as_ref().map(Set::build);
    let old: Vec<ReplicaSet> = case.old_replica_sets.iter().map(Set::build).collect();
    let old: Vec<&ReplicaSet> = old.iter().collect();
    let pods = case.pods_by_replica_set_uid.iter().map(|(uid, phases)| {
        (uid, phases.iter().any(|phase| recreate::may_run(&pod(&phase.phase))))
    });
    json!({"oldPodsRunning": recreate::old_pods_run(new.as_ref(), &old, pods)})
}

fn owned(meta: &mut ObjectMeta, name: &str, owner: Option<(Kind, &ObjectMeta)>) {
    meta.name = name.into();
    meta.namespace = "default".into();
    meta.uid = name.into();
    meta.labels.insert("foo".into(), "bar".into());
    let owner = owner.map(|(kind, owner)| OwnerReference::controller_of(kind, owner));
    meta.owner_references = owner.into_iter().collect();
}

fn pod_delete_event(case: &Given) -> Value {
    let mut deployment = Deployment::default();
    owned(&mut deployment.metadata, "foo", None);
    deployment.spec.selector.match_labels.insert("foo".into(), "bar".into());
    deployment.spec.strategy.kind = case.strategy_type;
    let set = |name: &Str, owner: Option<&Deployment>| {
        let mut set = sized(1);
        let owner = owner.map(|d| (Kind::Deployment, &d.metadata));
        owned(&mut set.metadata, name, owner);
        set
    };
    let mine: Vec<ReplicaSet> =
        case.owned_replica_sets.iter().map(|name| set(name, Some(&deployment))).collect();
    let orphans = case.orphan_replica_sets.iter().map(|name| set(name, None));
    let Some(first) = mine.first() else {
        return json!({"deploymentEnqueued": false});
    };
    let pod_of = |name: String, set: &ReplicaSet| {
        let mut pod = pod("Running");
        owned(&mut pod.metadata, &name, Some((Kind::ReplicaSet, &set.metadata)));
        pod
    };
    let mut objects: Vec<Object> = vec![deployment.clone().into()];
    for index in 0..case.other_pods_of_deployment {
        objects.push(pod_of(format!("other-{index}"), first).into());
    }
    // A pod of a set that is not the Deployment's does not count.
    for (index, orphan) in orphans.enumerate() {
        objects.push(pod_of(format!("foreign-{index}"), &orphan).into());
        objects.push(orphan.into());
    }
    let gone = pod_of("gone".into(), first);
    objects.extend(mine.into_iter().map(Object::from));
    let cache = Cache::of(objects);
    let change = Change {
        kind: ChangeKind::Deleted,
        before: None,
        object: std::sync::Arc::new(gone.into()),
    };
    let cx = Context { cache: &cache, now: Time::ZERO, seed: 0, promises_kept: true };
    json!({"deploymentEnqueued": !wakes(&change, &cx).keys.is_empty()})
}

pub fn check(case: &Value, expect: &Value) -> Outcome {
    let case: Given = match given(case) {
        Ok(case) => case,
        Err(outcome) => return outcome,
    };
    let got = match case.action.as_str() {
        "scaleDownOldReplicaSets" => {
            let sets = case.old_replica_set_spec_replicas.iter().enumerate().map(|(i, size)| {
                let mut set = sized(*size);
                set.metadata.name = i.to_string().into();
                set
            });
            let sets: Vec<ReplicaSet> = sets.collect();
            let old: Vec<&ReplicaSet> = sets.iter().collect();
            let resizes = recreate::scale_down_old(&old);
            let after = sets.iter().map(|set| {
                let resize = resizes.iter().find(|resize| resize.name == set.metadata.name);
                resize.map_or(set.spec.replicas(), |resize| resize.to)
            });
            json!({"oldReplicaSetSpecReplicas": after.collect::<Vec<i32>>()})
        }
        "oldPodsRunning" => old_pods_running(&case),
        "podDeleteEvent" => pod_delete_event(&case),
        other => return Outcome::Failed(format!("unknown action {other:?}")),
    };
    compare(expect, &got)
}
