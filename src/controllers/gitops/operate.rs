//! A pass's plan: the status that a comparison comes to, and a sync carried out.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::api::{Generic, Kind, Object, ObjectKey};
use crate::apiserver::{ApiError, Part, Request};
use crate::controllers::{Deed, EventNote, Fact, Finish, Intent, Plan};
use crate::kernel::Time;

use super::application::{Operation, Spec};
use super::auto_sync::{Compared, RETRY_LIMIT};
use super::compare::{Resource, apply, prune, status_of, worst};
use super::health::stamp;

/// An Application with what was found of it.
pub struct Found<'a> {
    /// The Application.
    pub object: &'a Arc<Object>,
    /// The same.
    pub generic: &'a Generic,
    /// What it says.
    pub spec: &'a Spec,
    /// The revision that was compared.
    pub revision: &'a str,
    /// The objects.
    pub resources: &'a [Resource],
    /// The time.
    pub now: Time,
}

impl Found<'_> {
    /// Whether anything differs.
    pub fn is_out_of_sync(&self) -> bool {
        self.resources.iter().any(|resource| !resource.synced)
    }

    /// The resources as the decision minds them.
    pub fn compared(&self) -> Vec<Compared> {
        let compared = |resource: &Resource| Compared {
            synced: resource.synced,
            requires_pruning: resource.requires_pruning(),
        };
        self.resources.iter().map(compared).collect()
    }

    /// A plan that writes the status, if it has changed.
    pub fn look(&self, refused: Option<String>) -> Plan {
        let after = self.with_status(refused, None);
        let mut plan = self.said();
        plan.events = self.events(&after);
        if after != **self.object {
            plan.finish = Some(Finish::plain(self.object.clone(), after));
        }
        plan
    }

    /// A plan that carries a sync out; `retries`: how often it was tried before.
    pub fn carry_out(&self, operation: &Operation, retries: i64) -> Plan {
        let mut plan = self.said();
        let name = &self.object.meta().name;
        let asked = |resource: &&Resource| is_asked(operation, &resource.key);
        let mut changes: Vec<(u8, Deed, Request)> = Vec::new();
        let mut deletions = Vec::new();
        for resource in self.resources.iter().filter(asked) {
            if resource.requires_pruning() {
                deletions.extend(prune(resource).filter(|_| operation.prune));
            } else if let Some(request) = apply(name, self.spec, resource) {
                changes.push((rank(resource.key.kind), Deed::Apply, request));
            }
        }
        changes.sort_by_key(|(rank, ..)| *rank);
        if self.generic.rest.contains_key("operation") {
            plan.then(self.patch(json!({"operation": null})));
        }
        let changes: Vec<Intent> =
            changes.into_iter().map(|(_, deed, request)| self.intent(deed, request)).collect();
        let deletions: Vec<Intent> = deletions
            .into_iter()
            .map(|request| {
                let mut intent = self.intent(Deed::Prune, request);
                intent.tolerates = ApiError::is_not_found;
                intent
            })
            .collect();
        plan.batches.extend([changes, deletions].into_iter().filter(|batch| !batch.is_empty()));
        let after = self.with_status(None, Some((operation, retries)));
        let by = if operation.automated { "Initiated automated sync" } else { "Initiated sync" };
        let text = format!("{by} to '{}'", self.revision);
        plan.events = self.events(&after);
        plan.events.push(EventNote::normal(self.object, "OperationStarted", text));
        let last = plan.batches.last_mut().and_then(|batch| batch.last_mut());
        if let Some(intent) = last {
            let text = format!("Sync operation to {} succeeded", self.revision);
            intent.on_success = Some(EventNote::normal(self.object, "OperationCompleted", text));
        }
        let (before, retries) = (self.object.clone(), 0);
        plan.finish = Some(Finish { before, after, amend: ended, retries });
        plan
    }

    /// A write to the Application itself.
    pub fn patch(&self, patch: Value) -> Intent {
        Intent::new(Deed::Update, Request::Patch(Part::Main, self.object.key(), patch))
    }

    fn intent(&self, deed: Deed, request: Request) -> Intent {
        let mut intent = Intent::new(deed, request);
        let text = format!("Sync operation to {} failed: {{error}}", self.revision);
        intent.on_failure = Some(EventNote::warning(self.object, "OperationCompleted", text));
        intent
    }

    fn said(&self) -> Plan {
        let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        let synced = self.resources.iter().filter(|resource| resource.synced).count();
        let all = count(self.resources.len());
        Plan { sees: Fact::Of(count(synced), all), wants: Fact::Of(all, all), ..Plan::default() }
    }

    fn with_status(&self, refused: Option<String>, operation: Option<(&Operation, i64)>) -> Object {
        let mut status = match self.generic.rest.get("status") {
            Some(Value::Object(status)) => status.clone(),
            _ => Map::new(),
        };
        let word = if self.is_out_of_sync() { "OutOfSync" } else { "Synced" };
        status.insert("sync".into(), json!({"status": word, "revision": self.revision}));
        status.insert("health".into(), json!({"status": worst(self.resources).word()}));
        let resources: Vec<Value> = self.resources.iter().map(status_of).collect();
        status.insert("resources".into(), resources.into());
        match refused {
            Some(message) => {
                let condition = json!([{"type": "SyncError", "message": message}]);
                status.insert("conditions".into(), condition);
            }
            None => _ = status.remove("conditions"),
        }
        if let Some((operation, retries)) = operation {
            status.insert("operationState".into(), self.state(operation, retries));
        }
        self.object_with(status)
    }

    fn state(&self, operation: &Operation, retries: i64) -> Value {
        let resources: Vec<Value> = operation
            .resources
            .iter()
            .map(|(group, kind, name)| json!({"group": group, "kind": kind, "name": name}))
            .collect();
        let mut sync = json!({"revision": self.revision, "prune": operation.prune});
        if !resources.is_empty() {
            sync["resources"] = resources.into();
        }
        if operation.attempt > 0 {
            sync["autoHealAttemptsCount"] = operation.attempt.into();
        }
        json!({
            "phase": "Succeeded",
            "message": "successfully synced (all tasks run)",
            "startedAt": stamp(self.now),
            "retryCount": retries,
            "operation": {"sync": sync, "initiatedBy": {"automated": operation.automated}},
            "syncResult": {"revision": self.revision},
        })
    }

    fn object_with(&self, status: Map<String, Value>) -> Object {
        let mut generic = self.generic.clone();
        generic.rest.insert("status".into(), Value::Object(status));
        Object::Generic(generic)
    }

    /// `ResourceUpdated`: what turned.
    fn events(&self, after: &Object) -> Vec<EventNote> {
        let word = |object: &Object, what: &str| {
            let pointer = format!("/{what}/status");
            let status = object.as_generic().and_then(|object| object.rest.get("status"));
            let word = status.and_then(|status| status.pointer(&pointer)?.as_str());
            word.unwrap_or("").to_string()
        };
        let turned = ["sync", "health"].into_iter().filter_map(|what| {
            let (old, new) = (word(self.object, what), word(after, what));
            let text = format!("Updated {what} status: {old} -> {new}");
            (old != new).then(|| EventNote::normal(self.object, "ResourceUpdated", text))
        });
        turned.collect()
    }
}

/// An Application whose repository could not be read.
pub fn unknown(object: &Arc<Object>, generic: &Generic, error: &str) -> Plan {
    let mut status = match generic.rest.get("status") {
        Some(Value::Object(status)) => status.clone(),
        _ => Map::new(),
    };
    let text = format!("Failed to load target state: failed to generate manifest: {error}");
    status.insert("sync".into(), json!({"status": "Unknown"}));
    status.insert("conditions".into(), json!([{"type": "ComparisonError", "message": text}]));
    let mut after = generic.clone();
    after.rest.insert("status".into(), Value::Object(status));
    let finish = Some(Finish::plain(object.clone(), Object::Generic(after)));
    Plan { finish, wants: Fact::Word("Unknown".into()), ..Plan::default() }
}

fn is_asked(operation: &Operation, key: &ObjectKey) -> bool {
    let named = |(group, kind, name): &(crate::api::Str, crate::api::Str, crate::api::Str)| {
        **group == *key.kind.group() && **kind == *key.kind.info().kind && *name == key.name
    };
    operation.resources.is_empty() || operation.resources.iter().any(named)
}

/// Namespaces and what others refer to first, what sends traffic or scales last, as in
/// `gitops-engine/pkg/sync/sync_tasks.go`.
fn rank(kind: Kind) -> u8 {
    match kind {
        Kind::Namespace | Kind::CustomResourceDefinition => 0,
        Kind::ResourceQuota | Kind::LimitRange | Kind::PriorityClass => 1,
        Kind::ServiceAccount | Kind::Secret | Kind::ConfigMap | Kind::Role | Kind::RoleBinding => 2,
        Kind::PersistentVolume | Kind::PersistentVolumeClaim | Kind::Service => 3,
        Kind::HorizontalPodAutoscaler | Kind::Ingress => 5,
        _ => 4,
    }
}

/// The operation's end: well, to be tried again, or failed for good.
fn ended(after: &mut Object, error: Option<&str>, now: Time) {
    let Object::Generic(generic) = after else { return };
    let state = generic.rest.get_mut("status").and_then(|s| s.get_mut("operationState"));
    let Some(Value::Object(state)) = state else { return };
    state.insert("finishedAt".into(), stamp(now));
    let Some(error) = error else { return };
    let retries = state.get("retryCount").and_then(Value::as_i64).unwrap_or(0);
    let automated = state.get("operation").and_then(|o| o.pointer("/initiatedBy/automated"));
    let again = automated == Some(&Value::Bool(true)) && retries < RETRY_LIMIT;
    let mut text = format!("one or more objects failed to apply, reason: {error}");
    if again {
        text = format!("{text}. Retrying attempt #{}", retries + 1);
        state.insert("retryCount".into(), (retries + 1).into());
    }
    state.insert("phase".into(), if again { "Running" } else { "Failed" }.into());
    state.insert("message".into(), text.into());
}
