//! Cases about whole passes: sync, steps, burst, slowStart, updateStatus.

use std::sync::Arc;

use loopscope::api::{Kind, Object, ObjectKey, Pod, PodPhase, ReplicaSet, StrMap};
use loopscope::apiserver::Request;
use loopscope::client::Cache;
use loopscope::client::expectations::UidTrackingExpectations;
use loopscope::client::work_queue::WorkQueue;
use loopscope::controllers::promises::{self, expectations_key};
use loopscope::controllers::replica_set::status::{self, Tally};
use loopscope::controllers::replica_set::{self, BURST, slow_start, sync_in_bursts};
use loopscope::controllers::{Change, ChangeKind, Context, Deed, Intent, Plan};
use serde::Deserialize;
use serde_json::{Value, json};

use super::scripted::{self, Api, NOW, deletion_timestamp};
use crate::{Outcome, compare};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SetGiven {
    replicas: i32,
    selector: StrMap,
    #[serde(default)]
    status_replicas: i32,
    #[serde(default)]
    deletion_timestamp_set: bool,
    #[serde(default)]
    deletion_timestamp_set_in_cache: bool,
    #[serde(default)]
    deletion_timestamp_set_live: bool,
}

impl SetGiven {
    fn object(&self, is_terminating: bool) -> ReplicaSet {
        let mut set = scripted::replica_set("default", "foobar", Some(&self.selector));
        set.spec.replicas = Some(self.replicas);
        set.status.replicas = self.status_replicas;
        set.metadata.deletion_timestamp = deletion_timestamp(is_terminating);
        set
    }

    fn cached(&self) -> ReplicaSet {
        self.object(self.deletion_timestamp_set || self.deletion_timestamp_set_in_cache)
    }

    fn live(&self) -> ReplicaSet {
        self.object(self.deletion_timestamp_set || self.deletion_timestamp_set_live)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OwnedPod {
    phase: PodPhase,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AnyPod {
    labels: StrMap,
    controller: Option<String>,
    phase: PodPhase,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SyncGiven {
    replica_set: SetGiven,
    #[serde(default)]
    owned_pods: Vec<OwnedPod>,
    #[serde(default)]
    pods: Vec<AnyPod>,
    create_calls_that_succeed: Option<usize>,
    patch_error: Option<String>,
    #[serde(default)]
    status_update_fails: bool,
    burst_replicas: Option<usize>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StepsGiven {
    replica_set: SetGiven,
    #[serde(default)]
    owned_pods: Vec<OwnedPod>,
    steps: Vec<Step>,
}

#[derive(Deserialize, PartialEq)]
#[serde(tag = "do", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
enum Step {
    Sync {
        #[serde(default)]
        create_error: bool,
    },
    CreationObserved,
    Create,
    Delete,
    DeleteReplicaSet,
    DropQueuedKey,
    RecreateWithNewUid,
}

/// The controller with its cache, queue and expectations.
struct Controller {
    key: ObjectKey,
    cache: Cache,
    queue: WorkQueue<ObjectKey>,
    expectations: UidTrackingExpectations,
    burst: usize,
}

impl Controller {
    fn new() -> Controller {
        Controller {
            key: ObjectKey::new(Kind::ReplicaSet, "default", "foobar"),
            cache: Cache::default(),
            queue: WorkQueue::default(),
            expectations: UidTrackingExpectations::default(),
            burst: BURST,
        }
    }

    fn own(&mut self, selector: &StrMap, pods: &[OwnedPod]) {
        for (index, given) in pods.iter().enumerate() {
            let name = format!("own-{index}");
            let mut pod = scripted::pod("default", &name, selector, Some("foobar"));
            pod.status.phase = Some(given.phase);
            self.cache.put(Arc::new(pod.into()));
        }
    }

    fn context(&self, promises_kept: bool) -> Context<'_> {
        Context { cache: &self.cache, now: NOW, seed: 1, promises_kept }
    }

    fn sync(&mut self, api: &mut Api) -> Option<String> {
        let kept = self.expectations.satisfied(&expectations_key(&self.key), NOW);
        let plan = sync_in_bursts(&self.key, &self.context(kept), self.burst);
        api.run(&self.key, plan, &mut self.expectations)
    }

    fn observe(&mut self, kind: ChangeKind, object: Arc<Object>) {
        let before = match kind {
            ChangeKind::Added | ChangeKind::Updated => self.cache.put(object.clone()),
            _ => self.cache.remove(&object.key()),
        };
        let change = Change { kind, before, object };
        let woken = replica_set::wakes(&change, &self.context(true));
        promises::observe(&woken, &mut self.expectations);
        for key in woken.keys {
            self.queue.add(key);
        }
    }
}

pub fn sync(case: SyncGiven, expect: &Value) -> Outcome {
    let mut controller = Controller::new();
    controller.burst = case.burst_replicas.unwrap_or(BURST);
    controller.cache.put(Arc::new(case.replica_set.cached().into()));
    controller.own(&case.replica_set.selector, &case.owned_pods);
    for (index, given) in case.pods.iter().enumerate() {
        let controller_name = given.controller.as_deref();
        let name = format!("pod{index}");
        let mut pod = scripted::pod("default", &name, &given.labels, controller_name);
        pod.status.phase = Some(given.phase);
        controller.cache.put(Arc::new(pod.into()));
    }
    let mut api = Api {
        creations_at_most: case.create_calls_that_succeed,
        patch_error: case.patch_error,
        status_error: case.status_update_fails,
        live: Some(Arc::new(case.replica_set.live().into())),
        ..Api::default()
    };
    let key = controller.key.clone();
    controller.queue.add(key.clone());
    controller.queue.get();
    let error = controller.sync(&mut api);
    controller.queue.done(&key);
    if error.is_some() {
        controller.queue.add(key);
    }
    let most = expect["createCallsAtMost"].as_u64().unwrap_or(u64::MAX);
    let got = json!({
        "creates": api.created.len(),
        "deletes": api.deleted.len(),
        "patches": api.patches,
        "createCallsAtMost": most.max(api.create_calls as u64),
        "error": error.is_some(),
        "requeued": !controller.queue.is_empty(),
        "queueLength": controller.queue.len(),
    });
    compare(expect, &got)
}

pub fn steps(case: StepsGiven, expect: &Value) -> Outcome {
    let mut controller = Controller::new();
    let set = Arc::new(Object::from(case.replica_set.cached()));
    if !case.steps.contains(&Step::Create) {
        controller.cache.put(set.clone());
    }
    controller.own(&case.replica_set.selector, &case.owned_pods);
    let (mut api, mut calls) = (Api::default(), Vec::new());
    let path = expectations_key(&controller.key);
    let (mut exist_afterwards, mut always_unfulfilled) = (Value::Null, true);
    for step in &case.steps {
        match step {
            Step::Sync { create_error } => {
                api.creations_at_most = create_error.then_some(0);
                let before = api.create_calls;
                controller.sync(&mut api);
                calls.push(api.create_calls - before);
                let open = controller.expectations.get(&path);
                always_unfulfilled &= open.is_some_and(|open| !open.is_fulfilled());
            }
            Step::CreationObserved => controller.expectations.creation_observed(&path),
            Step::Create => controller.observe(ChangeKind::Added, set.clone()),
            Step::Delete | Step::DeleteReplicaSet => {
                controller.observe(ChangeKind::Deleted, set.clone());
                exist_afterwards = json!(controller.expectations.get(&path).is_some());
            }
            Step::DropQueuedKey => {
                if let Some(key) = controller.queue.get() {
                    controller.queue.done(&key);
                }
            }
            Step::RecreateWithNewUid => {
                let mut again = Object::clone(&set);
                again.meta_mut().uid = "another".into();
                controller.observe(ChangeKind::Added, Arc::new(again));
            }
        }
    }
    let got = json!({
        "createCallsPerSync": calls,
        "deletes": api.deleted.len(),
        "patches": api.patches,
        "expectationsExistBetween": exist_afterwards,
        "expectationsExistAfterDelete": exist_afterwards,
        "unfulfilledAfterEachSync": always_unfulfilled,
    });
    compare(expect, &got)
}

pub fn burst(burst: usize, up_to: i32, down_to: i32, expect: &Value) -> Outcome {
    let labels: StrMap = [("foo".into(), "bar".into())].into();
    let mut set = scripted::replica_set("default", "foobar", Some(&labels));
    let mut controller = Controller::new();
    controller.burst = burst;
    let mut api = Api::default();
    let (mut rounds, mut early) = ([Vec::new(), Vec::new()], [0, 0]);
    for (turn, replicas) in [up_to, down_to].into_iter().enumerate() {
        set.spec.replicas = Some(replicas);
        controller.cache.put(Arc::new(set.clone().into()));
        loop {
            let events = round(&mut controller, &mut api);
            let Some((last, first)) = events.split_last() else {
                break;
            };
            rounds[turn].push(events.len());
            for (kind, object) in first {
                controller.observe(*kind, object.clone());
            }
            early[turn] += round(&mut controller, &mut api).len();
            controller.observe(last.0, last.1.clone());
        }
    }
    let [creates, deletes] = rounds;
    let got = json!({
        "createsPerRound": creates,
        "deletesPerRound": deletes,
        "syncsBeforeExpectationsMet": {"creates": early[0], "deletes": early[1]},
    });
    compare(expect, &got)
}

/// One sync, and the events that its requests cause.
fn round(controller: &mut Controller, api: &mut Api) -> Vec<(ChangeKind, Arc<Object>)> {
    let (created, deleted) = (api.created.len(), api.deleted.len());
    controller.sync(api);
    let created = api.created[created..].iter();
    let mut events: Vec<_> = created.map(|pod| (ChangeKind::Added, pod.clone())).collect();
    for key in &api.deleted[deleted..] {
        let pod = controller.cache.get(key).cloned();
        events.extend(pod.map(|pod| (ChangeKind::Deleted, pod)));
    }
    events
}

pub fn batches(count: usize, first: usize, succeed: usize, expect: &Value) -> Outcome {
    let mut plan = Plan::default();
    let pod = Arc::new(Object::from(Pod::default()));
    for size in slow_start(count, first) {
        let create = || Intent::new(Deed::CreatePod, Request::Create(pod.clone()));
        plan.batches.push((0..size).map(|_| create()).collect());
    }
    let mut api = Api { creations_at_most: Some(succeed), ..Api::default() };
    let mut controller = Controller::new();
    let error = api.run(&controller.key, plan, &mut controller.expectations);
    let got = json!({
        "successes": api.created.len(),
        "error": error.is_some(),
        "calls": api.create_calls,
        "batches": api.batches,
    });
    compare(expect, &got)
}

pub fn update_status(replicas: i32, every_update_fails: bool, expect: &Value) -> Outcome {
    let set = scripted::replica_set("default", "foobar", None);
    let object = Arc::new(Object::from(set.clone()));
    let tally = Tally { replicas, ..Tally::default() };
    let plan = Plan { finish: Some(status::finish(&object, &set, tally)), ..Plan::default() };
    let mut api = Api { status_error: every_update_fails, live: Some(object), ..Api::default() };
    let mut controller = Controller::new();
    api.run(&controller.key, plan, &mut controller.expectations);
    let in_update = |object: &Arc<Object>| object.as_replica_set().map(|set| set.status.replicas);
    let mut written: Vec<_> = api.status_updates.iter().map(in_update).collect();
    let updates = written.len();
    written.dedup();
    let each = if let [one] = written[..] { json!(one) } else { json!(written) };
    let got = json!({
        "gets": api.gets,
        "updates": updates,
        "statusReplicasInEachUpdate": each,
    });
    compare(expect, &got)
}
