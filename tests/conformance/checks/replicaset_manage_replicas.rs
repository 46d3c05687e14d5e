mod lookups;
mod scripted;
mod syncs;

use std::collections::BTreeMap;

use loopscope::api::Str;
use serde::Deserialize;
use serde_json::Value;

use crate::{Outcome, given};
use lookups::{ClaimGiven, DeleteEvent, PodGiven, SetGiven};
use syncs::{StepsGiven, SyncGiven};

#[derive(Deserialize)]
#[serde(
    tag = "action",
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
enum Given {
    Sync(Box<SyncGiven>),
    Steps(Box<StepsGiven>),
    SlowStart { count: usize, initial_batch_size: usize, calls_that_succeed: usize },
    Burst { burst_replicas: usize, scale_up_to: i32, then_scale_down_to: i32 },
    UpdateStatus { status_replicas: i32, every_update_fails: bool },
    PodAddEvent { replica_sets: Vec<Str>, same_selector: bool, pod_controller: Option<Str> },
    PodUpdateEvent { replica_sets: Vec<SetGiven>, before: Box<PodGiven>, after: Box<PodGiven> },
    PodDeleteEvent { event: Box<DeleteEvent> },
    ReplicaSetForPod { replica_set: Box<SetGiven>, pod: Box<PodGiven> },
    Siblings { replica_sets: Vec<SetGiven>, of: Str },
    RelatedPods { replica_sets: Vec<SetGiven>, of: Str, pod_owners: BTreeMap<Str, Str> },
    Claim(Box<ClaimGiven>),
}

pub fn check(case: &Value, expect: &Value) -> Outcome {
    let case: Given = match given(case) {
        Ok(case) => case,
        Err(outcome) => return outcome,
    };
    match case {
        Given::Sync(case) => syncs::sync(*case, expect),
        Given::Steps(case) => syncs::steps(*case, expect),
        Given::SlowStart { count, initial_batch_size, calls_that_succeed } => {
            syncs::batches(count, initial_batch_size, calls_that_succeed, expect)
        }
        Given::Burst { burst_replicas, scale_up_to, then_scale_down_to } => {
            syncs::burst(burst_replicas, scale_up_to, then_scale_down_to, expect)
        }
        Given::UpdateStatus { status_replicas, every_update_fails } => {
            syncs::update_status(status_replicas, every_update_fails, expect)
        }
        Given::PodAddEvent { replica_sets, same_selector: true, pod_controller } => {
            lookups::pod_added(&replica_sets, pod_controller.as_deref(), expect)
        }
        Given::PodAddEvent { .. } => Outcome::Failed("selectors that differ are not given".into()),
        Given::PodUpdateEvent { replica_sets, before, after } => {
            lookups::pod_updated(&replica_sets, &before, &after, expect)
        }
        Given::PodDeleteEvent { event } => lookups::pod_deleted(&event, expect),
        Given::ReplicaSetForPod { replica_set, pod } => {
            lookups::set_for_pod(&replica_set, &pod, expect)
        }
        Given::Siblings { replica_sets, of } => lookups::siblings_of(&replica_sets, &of, expect),
        Given::RelatedPods { replica_sets, of, pod_owners } => {
            lookups::related_pods(&replica_sets, &of, &pod_owners, expect)
        }
        Given::Claim(case) => lookups::claim(&case, expect),
    }
}
