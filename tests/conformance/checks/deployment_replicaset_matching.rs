//! New and old ReplicaSets, whose they are, and which Deployments a change wakes.

use std::sync::Arc;

use loopscope::api::{
    Deployment, Kind, Object, ObjectKey, ObjectMeta, OwnerReference, PodTemplateSpec, ReplicaSet,
    Str, StrMap, Timestamp,
};
use loopscope::apiserver::{ApiError, Request, Response, Verb};
use loopscope::client::Cache;
use loopscope::controllers::deployment::{claim, matching, sync, wakes};
use loopscope::controllers::{Change, ChangeKind, Context, Deed, PassRun, Step};
use loopscope::kernel::Time;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{Outcome, compare, given};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Given {
    check: String,
    a: Option<PodTemplateSpec>,
    b: Option<PodTemplateSpec>,
    namespace: Option<Str>,
    deployment: Option<Owner>,
    #[serde(default)]
    deployments: Vec<Owner>,
    #[serde(default)]
    replica_sets: Vec<Set>,
    replica_set_labels: Option<StrMap>,
    before: Option<Set>,
    after: Option<Set>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Owner {
    name: Str,
    replicas: Option<i32>,
    selector: StrMap,
    generation: Option<i64>,
    observed_generation: Option<i64>,
    #[serde(default)]
    deletion_timestamp_set: bool,
    deletion_timestamp_set_in_cache: Option<bool>,
    deletion_timestamp_set_live: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Set {
    #[serde(default)]
    name: Str,
    template_matches: Option<bool>,
    pod_template_hash: Option<Str>,
    created_at_second: Option<i64>,
    spec_replicas: Option<i32>,
    labels: Option<StrMap>,
    controller: Option<Str>,
}

const NAMESPACE: &str = "default";

fn meta(name: &Str, namespace: &str) -> ObjectMeta {
    ObjectMeta {
        name: name.clone(),
        namespace: namespace.into(),
        uid: name.clone(),
        resource_version: 1,
        ..ObjectMeta::default()
    }
}

/// The time does not matter: only whether one is set.
fn gone(is_set: bool) -> Option<Timestamp> {
    is_set.then_some(Timestamp(0))
}

impl Owner {
    fn build(&self, namespace: &str) -> Deployment {
        let metadata = meta(&self.name, namespace);
        let mut deployment = Deployment { metadata, ..Deployment::default() };
        deployment.metadata.generation = self.generation.unwrap_or(0);
        deployment.status.observed_generation = self.observed_generation.unwrap_or(0);
        let in_cache = self.deletion_timestamp_set_in_cache.unwrap_or(self.deletion_timestamp_set);
        deployment.metadata.deletion_timestamp = gone(in_cache);
        deployment.spec.replicas = self.replicas;
        deployment.spec.selector.match_labels = self.selector.clone();
        deployment.spec.template.metadata.labels = self.selector.clone();
        deployment
    }

    fn live(&self) -> Deployment {
        let mut deployment = self.build(NAMESPACE);
        let live = self.deletion_timestamp_set_live.unwrap_or(self.deletion_timestamp_set);
        deployment.metadata.deletion_timestamp = gone(live);
        deployment
    }
}

impl Set {
    fn build(&self, labels: &StrMap) -> ReplicaSet {
        let metadata = meta(&self.name, NAMESPACE);
        let mut set = ReplicaSet { metadata, ..ReplicaSet::default() };
        set.metadata.labels = self.labels.clone().unwrap_or_else(|| labels.clone());
        let second = self.created_at_second;
        set.metadata.creation_timestamp = second.map(|s| Timestamp(1_500_000_000 + s));
        if let Some(owner) = &self.controller {
            let owner = OwnerReference::controller_of(Kind::Deployment, &meta(owner, NAMESPACE));
            set.metadata.owner_references = [owner].into();
        }
        set.spec.replicas = self.spec_replicas;
        set.spec.template = template(self.template_matches.unwrap_or(false));
        if let Some(hash) = &self.pod_template_hash {
            let labels = &mut set.spec.template.metadata.labels;
            labels.insert(matching::HASH_LABEL.into(), hash.clone());
        }
        set
    }
}

/// The template of the Deployment, or another one.
fn template(matches: bool) -> PodTemplateSpec {
    let mut template = PodTemplateSpec::default();
    template.spec.node_name = Some(if matches { "same".into() } else { "other".into() });
    template
}

fn with_context<T>(objects: Vec<Object>, ask: impl FnOnce(&Context) -> T) -> T {
    let cache = Cache::of(objects);
    let now = Time::ZERO;
    ask(&Context { cache: &cache, now, seed: 0, promises_kept: true })
}

fn split(case: &Given) -> Value {
    let mut deployment = Deployment::default();
    deployment.spec.template = template(true);
    let sets: Vec<ReplicaSet> =
        case.replica_sets.iter().map(|set| set.build(&StrMap::new())).collect();
    let sets: Vec<&ReplicaSet> = sets.iter().collect();
    let new = matching::find_new(&deployment, sets.iter().copied());
    let old = matching::find_old(&deployment, &sets);
    let mut all: Vec<&Str> = old.iter().map(|set| &set.metadata.name).collect();
    all.sort();
    let mut with_pods: Vec<Str> =
        matching::active(&old).iter().map(|set| set.metadata.name.clone()).collect();
    with_pods.sort();
    let new = new.map(|set| &set.metadata.name);
    json!({"newReplicaSet": new, "allOld": all, "oldWithPods": with_pods})
}

fn selecting(case: &Given) -> Value {
    let namespace = case.namespace.clone().unwrap_or_else(|| NAMESPACE.into());
    let deployments = case.deployments.iter().map(|d| d.build(&namespace).into()).collect();
    let labels = case.replica_set_labels.clone().unwrap_or_default();
    with_context(deployments, |cx| {
        let found = matching::deployments_selecting(cx.cache, &namespace, &labels);
        let names: Vec<&Str> = found.map(|deployment| &deployment.metadata.name).collect();
        json!({"deployments": names, "error": names.is_empty()})
    })
}

fn owned(case: &Given) -> Value {
    let mut objects: Vec<Object> = Vec::new();
    objects.extend(case.replica_sets.iter().map(|s| Object::from(s.build(&StrMap::new()))));
    with_context(objects, |cx| {
        let (mut owned, mut adopted, mut released) = (Map::new(), Vec::new(), Vec::new());
        for deployment in &case.deployments {
            let claim = claim::claim(&deployment.build(NAMESPACE), cx.cache);
            let names: Vec<&Str> = claim.owned.iter().map(|set| &set.metadata.name).collect();
            owned.insert(deployment.name.to_string(), json!(names));
            for intent in claim.batches.iter().flatten() {
                let name = intent.request.key().name;
                match intent.deed {
                    Deed::Adopt => adopted.push(name),
                    Deed::Release => released.push(name),
                    _ => {}
                }
            }
        }
        json!({"owned": owned, "adopted": adopted, "released": released})
    })
}

/// Answers every request well, and notes it.
struct Recorder {
    live: Deployment,
    reads: Vec<String>,
    writes: Vec<String>,
}

impl Recorder {
    fn answer(&mut self, request: &Request) -> Response {
        let key = request.key();
        let plural = key.kind.info().plural;
        let part = if request.is_status() { "/status" } else { "" };
        let verb = match request.verb() {
            Verb::Create => "create",
            Verb::Update => "update",
            Verb::Patch => "patch",
            Verb::Delete => "delete",
            Verb::Bind => "bind",
            Verb::Evict => "evict",
            Verb::Get => {
                self.reads.push(format!("get {plural}"));
                return Ok(Arc::new(self.live.clone().into()));
            }
        };
        self.writes.push(format!("{verb} {plural}{part}"));
        match request {
            Request::Create(object) | Request::Update(_, object) => Ok(object.clone()),
            _ => Err(ApiError::not_found(key.kind, &key.name)),
        }
    }
}

fn whole_sync(case: &Given) -> Result<Value, Outcome> {
    let Some(owner) = &case.deployment else {
        return Err(Outcome::Failed("no deployment".into()));
    };
    let deployment = owner.build(NAMESPACE);
    // Not said: a set has the labels and the template of the Deployment.
    let set = |given: &Set| {
        let mut set = given.build(&owner.selector);
        if given.template_matches != Some(false) {
            set.spec.template.spec = deployment.spec.template.spec.clone();
            set.spec.template.metadata.labels.extend(owner.selector.clone());
        }
        Object::from(set)
    };
    let mut objects: Vec<Object> = case.replica_sets.iter().map(set).collect();
    objects.push(deployment.into());
    let key = ObjectKey::new(Kind::Deployment, NAMESPACE, owner.name.clone());
    let plan = with_context(objects, |cx| sync(&key, cx));
    let mut api = Recorder { live: owner.live(), reads: Vec::new(), writes: Vec::new() };
    let mut run = PassRun::new(plan);
    loop {
        match run.next(Time::ZERO) {
            Step::Send(requests) => {
                for (index, request) in requests.iter().enumerate() {
                    run.answer(index, &api.answer(request));
                }
            }
            Step::Wait => return Err(Outcome::Failed("the pass hangs".into())),
            Step::Ended(ended) => {
                return Ok(json!({
                    "reads": api.reads, "writes": api.writes, "error": ended.error.is_some(),
                }));
            }
        }
    }
}

fn update_event(case: &Given) -> Option<Value> {
    let set = |given: &Set, version: u64| {
        let mut set = given.build(&StrMap::new());
        set.metadata.name = "set".into();
        set.metadata.resource_version = version;
        Arc::new(Object::from(set))
    };
    let (before, object) = (set(case.before.as_ref()?, 1), set(case.after.as_ref()?, 2));
    let deployments = case.deployments.iter().map(|d| d.build(NAMESPACE).into()).collect();
    let change = Change { kind: ChangeKind::Updated, before: Some(before), object };
    let woken = with_context(deployments, |cx| wakes(&change, cx));
    let names: Vec<Str> = woken.keys.into_iter().map(|key| key.name).collect();
    Some(json!({"enqueued": names}))
}

/// Lists that stand for sets, in order.
fn sorted(expect: &Value) -> Value {
    let mut expect = expect.clone();
    for field in ["allOld", "oldWithPods", "enqueued", "deployments"] {
        if let Some(names) = expect.get_mut(field).and_then(Value::as_array_mut) {
            names.sort_by_key(|name| name.to_string());
        }
    }
    expect
}

pub fn check(case: &Value, expect: &Value) -> Outcome {
    let case: Given = match given(case) {
        Ok(case) => case,
        Err(outcome) => return outcome,
    };
    let got = match case.check.as_str() {
        "templateEqual" => {
            let (a, b) = (case.a.clone().unwrap_or_default(), case.b.clone().unwrap_or_default());
            let equal = matching::equal_ignoring_hash(&a, &b);
            if equal != matching::equal_ignoring_hash(&b, &a) {
                return Outcome::Failed("the two orders differ".into());
            }
            json!({"equal": equal})
        }
        "findNewReplicaSet" | "findOldReplicaSets" => split(&case),
        "deploymentsSelecting" => selecting(&case),
        "ownedReplicaSets" => owned(&case),
        "sync" => match whole_sync(&case) {
            Ok(got) => got,
            Err(outcome) => return outcome,
        },
        "replicaSetUpdateEvent" => match update_event(&case) {
            Some(got) => got,
            None => return Outcome::Failed("no before or after".into()),
        },
        other => return Outcome::Failed(format!("unknown check {other:?}")),
    };
    compare(&sorted(expect), &got)
}
