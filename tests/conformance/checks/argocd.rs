//! `argocd.json`, put to `controllers::gitops`.

use std::time::Duration;

use loopscope::api::{Kind, Object, custom};
use loopscope::controllers::gitops::auto_sync::{
    Answer, Automated, Compared, LastSync, Question, RECONCILIATION, RECONCILIATION_JITTER,
    RETRY_LIMIT, SELF_HEAL_TIMEOUT, SelfHealBackoff, decide,
};
use loopscope::controllers::gitops::health::health;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{Outcome, compare, given};

pub fn check(raw: &Value, expect: &Value) -> Outcome {
    match raw["op"].as_str() {
        Some("health") => check_health(raw, expect),
        Some("autoSync") => check_auto_sync(raw, expect),
        Some("selfHealRemaining") => check_remaining(raw, expect),
        Some("default") => check_default(raw, expect),
        other => Outcome::Failed(format!("unknown op {other:?}")),
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct HealthGiven {
    #[allow(dead_code)]
    op: String,
    kind: String,
    api_version: Option<String>,
    name: Option<String>,
    generation: Option<i64>,
    observed_generation: Option<i64>,
    spec_replicas: Option<i64>,
    status: Option<Value>,
    paused: Option<bool>,
    progressing: Option<(String, String)>,
    replica_failure: Option<String>,
    restart_policy: Option<String>,
    phase: Option<String>,
    ready_condition: Option<String>,
    container: Option<ContainerGiven>,
    annotations: Option<Value>,
    #[serde(default)]
    deletion_timestamp_set: bool,
    conditions: Option<Vec<Value>>,
    active: Option<i64>,
    succeeded: Option<i64>,
    failed: Option<i64>,
    suspend: Option<bool>,
    update_strategy: Option<Value>,
    message: Option<String>,
    finalizers: Option<Value>,
    #[serde(rename = "type")]
    service_type: Option<String>,
    ingress: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ContainerGiven {
    ready: bool,
    restart_count: i64,
    state: Map<String, Value>,
    last_terminated: Option<String>,
}

fn container(given: &ContainerGiven) -> Value {
    let mut state = Map::new();
    for (word, value) in &given.state {
        match word.as_str() {
            "waiting" => _ = state.insert(word.clone(), json!({"reason": value})),
            "running" => _ = state.insert(word.clone(), json!({})),
            "terminated" => {
                let code = given.state.get("exitCode").cloned().unwrap_or(0.into());
                state.insert(word.clone(), json!({"reason": value, "exitCode": code}));
            }
            _ => {}
        }
    }
    let mut status = json!({
        "name": "main", "image": "x", "ready": given.ready,
        "restartCount": given.restart_count, "state": state,
    });
    if let Some(reason) = &given.last_terminated {
        status["lastState"] = json!({"terminated": {"reason": reason, "exitCode": 1}});
    }
    status
}

/// The kind of these names; one that the simulation does not have is taken as one that a user
/// defined.
fn kind(given: &HealthGiven) -> Option<Kind> {
    let group = |version: &str| version.split_once('/').map_or("", |(group, _)| group).to_string();
    let own = Kind::all().iter().find(|info| info.kind == given.kind);
    let version = given.api_version.as_deref();
    let same = |kind: &Kind| version.is_none_or(|version| group(version) == kind.group());
    let usual = match given.kind.as_str() {
        "Workflow" => "argoproj.io/v1alpha1",
        "APIService" => "apiregistration.k8s.io/v1",
        _ => "example.com/v1",
    };
    let defined = || custom::intern(version.unwrap_or(usual), &given.kind, "customs", true);
    own.map(|info| info.id).filter(same).or_else(defined)
}

/// The flat fields as one object.
fn object(given: &HealthGiven) -> Option<Object> {
    let kind = kind(given)?;
    let mut metadata = json!({"name": given.name.as_deref().unwrap_or("x"), "namespace": "n"});
    let mut put = |field: &str, value: Option<Value>| {
        if let Some(value) = value {
            metadata[field] = value;
        }
    };
    put("generation", given.generation.map(Value::from));
    put("annotations", given.annotations.clone());
    put("finalizers", given.finalizers.clone());
    put("deletionTimestamp", given.deletion_timestamp_set.then(|| "2026-01-01T00:00:00Z".into()));
    let (mut spec, mut status) = (Map::new(), Map::new());
    let mut conditions = Vec::new();
    if let Some(Value::Object(given)) = &given.status {
        status.extend(given.clone());
    }
    let set = |map: &mut Map<String, Value>, field: &str, value: Option<Value>| {
        if let Some(value) = value {
            map.insert(field.into(), value);
        }
    };
    set(&mut spec, "replicas", given.spec_replicas.map(Value::from));
    set(&mut spec, "paused", given.paused.map(Value::from));
    set(&mut spec, "suspend", given.suspend.map(Value::from));
    set(&mut spec, "type", given.service_type.clone().map(Value::from));
    set(&mut spec, "restartPolicy", given.restart_policy.clone().map(Value::from));
    let strategy = given.update_strategy.clone();
    let strategy = strategy.map(|s| if s.is_string() { json!({"type": s}) } else { s });
    set(&mut spec, "updateStrategy", strategy);
    set(&mut status, "message", given.message.clone().map(Value::from));
    set(&mut status, "observedGeneration", given.observed_generation.map(Value::from));
    set(&mut status, "phase", given.phase.clone().map(Value::from));
    set(&mut status, "active", given.active.map(Value::from));
    set(&mut status, "succeeded", given.succeeded.map(Value::from));
    set(&mut status, "failed", given.failed.map(Value::from));
    let balancer = given.ingress.as_ref().map(|ingress| json!({"ingress": ingress}));
    set(&mut status, "loadBalancer", balancer);
    let containers = given.container.as_ref().map(|one| json!([container(one)]));
    set(&mut status, "containerStatuses", containers);
    if let Some((turned, reason)) = &given.progressing {
        conditions.push(json!({"type": "Progressing", "status": turned, "reason": reason}));
    }
    if let Some(turned) = &given.replica_failure {
        conditions.push(json!({"type": "ReplicaFailure", "status": turned}));
    }
    if let Some(turned) = &given.ready_condition {
        conditions.push(json!({"type": "Ready", "status": turned}));
    }
    let listed = given.conditions.iter().flatten().map(|condition| match condition {
        // A Job's conditions are types; the message is the one that its controller writes.
        Value::String(kind) => json!({
            "type": kind, "status": "True",
            "message": if kind == "Suspended" { "Job suspended" } else { "" },
        }),
        other => other.clone(),
    });
    let listed: Vec<Value> = listed.collect();
    let is_v1 = given.api_version.as_deref() == Some("autoscaling/v1");
    if is_v1 && !listed.is_empty() {
        let text = Value::from(listed).to_string();
        metadata["annotations"] = json!({"autoscaling.alpha.kubernetes.io/conditions": text});
    } else {
        conditions.extend(listed);
    }
    if !conditions.is_empty() {
        status.insert("conditions".into(), conditions.into());
    }
    let value = json!({"metadata": metadata, "spec": spec, "status": status});
    Object::from_value(kind, value).ok()
}

fn check_health(raw: &Value, expect: &Value) -> Outcome {
    let given: HealthGiven = match given(raw) {
        Ok(given) => given,
        Err(outcome) => return outcome,
    };
    let Some(object) = object(&given) else {
        return Outcome::Failed(format!("no object of {:?} can be made", given.kind));
    };
    let got = match health(&object) {
        Some((health, message)) => json!({"health": health.word(), "message": message}),
        None => json!({"health": null}),
    };
    compare(expect, &got)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct AutoSyncGiven {
    #[allow(dead_code)]
    op: String,
    automated: bool,
    enabled: Option<bool>,
    #[serde(default)]
    prune: bool,
    #[serde(default)]
    self_heal: bool,
    #[serde(default)]
    allow_empty: bool,
    sync_status: String,
    last_synced_revision: Option<String>,
    last_sync_phase: Option<String>,
    last_attempted_revision: Option<String>,
    target_revision: String,
    resources: Vec<ResourceGiven>,
    #[serde(default)]
    deletion_timestamp_set: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ResourceGiven {
    #[allow(dead_code)]
    kind: String,
    #[allow(dead_code)]
    name: Option<String>,
    status: String,
    #[serde(default)]
    requires_pruning: bool,
}

fn check_auto_sync(raw: &Value, expect: &Value) -> Outcome {
    let given: AutoSyncGiven = match given(raw) {
        Ok(given) => given,
        Err(outcome) => return outcome,
    };
    let automated = Automated {
        prune: given.prune,
        self_heal: given.self_heal,
        allow_empty: given.allow_empty,
    };
    let compared = |resource: &ResourceGiven| Compared {
        synced: resource.status == "Synced",
        requires_pruning: resource.requires_pruning,
    };
    let resources: Vec<Compared> = given.resources.iter().map(compared).collect();
    let phase = given.last_sync_phase.as_deref().unwrap_or("Succeeded");
    let question = Question {
        automated: (given.automated && given.enabled != Some(false)).then_some(automated),
        deleting: given.deletion_timestamp_set,
        busy: false,
        out_of_sync: given.sync_status == "OutOfSync",
        revision: &given.target_revision,
        resources: &resources,
        last: LastSync {
            revision: given.last_attempted_revision.or(given.last_synced_revision),
            succeeded: phase == "Succeeded",
            ..LastSync::default()
        },
    };
    let got = match decide(&question, &SelfHealBackoff::default()) {
        Answer::Sync { prune, .. } => json!({"syncStarted": true, "prune": prune, "error": false}),
        Answer::Refuse(_) => json!({"syncStarted": false, "error": true}),
        Answer::Leave | Answer::Wait(_) => json!({"syncStarted": false, "error": false}),
    };
    compare(expect, &got)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RemainingGiven {
    #[allow(dead_code)]
    op: String,
    backoff_initial_seconds: u64,
    factor: u32,
    cap_seconds: u64,
    attempts: u32,
    finished_seconds_ago: Option<u64>,
}

fn check_remaining(raw: &Value, expect: &Value) -> Outcome {
    let given: RemainingGiven = match given(raw) {
        Ok(given) => given,
        Err(outcome) => return outcome,
    };
    let backoff = SelfHealBackoff {
        first: Duration::from_secs(given.backoff_initial_seconds),
        factor: given.factor,
        cap: Duration::from_secs(given.cap_seconds),
        ..SelfHealBackoff::default()
    };
    let ago = given.finished_seconds_ago.map(Duration::from_secs);
    let left = backoff.remaining(given.attempts, ago);
    compare(expect, &json!({"remainingSeconds": left.as_secs(), "healNow": left.is_zero()}))
}

fn check_default(raw: &Value, expect: &Value) -> Outcome {
    // Names of flags are written with dashes.
    let setting = raw["setting"].as_str().unwrap_or("").replace("app-resync", "reconciliation.");
    let setting =
        setting.replace(".-jitter", ".jitter").replace("self-heal-backoff", "self-heal backoff");
    let backoff = SelfHealBackoff::default();
    // The first of these words that the setting's name has.
    let table = [
        ("reconciliation.jitter", RECONCILIATION_JITTER.as_secs()),
        ("reconciliation", RECONCILIATION.as_secs()),
        ("self-heal-timeout", SELF_HEAL_TIMEOUT.as_secs()),
        ("factor", u64::from(backoff.factor)),
        ("cap", backoff.cap.as_secs()),
        ("cooldown", backoff.cooldown.as_secs()),
        ("retry", RETRY_LIMIT as u64),
        ("self-heal backoff", backoff.first.as_secs()),
    ];
    match table.iter().find(|(word, _)| setting.contains(word)) {
        Some((_, value)) => compare(expect, &json!({"value": value})),
        None => Outcome::Failed(format!("unknown setting {setting:?}")),
    }
}
