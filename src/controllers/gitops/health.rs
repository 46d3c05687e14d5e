//! How well an object is, as Argo CD's built-in checks say (`gitops-engine/pkg/health`). Custom
//! checks in Lua are left out.

use crate::api::{Condition, Generic, Kind, Object, Pod, PodPhase, RestartPolicy, Value};
use crate::kernel::Time;

/// How well something is; the later, the worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum HealthStatus {
    Healthy,
    Suspended,
    Progressing,
    Missing,
    Degraded,
    Unknown,
}

impl HealthStatus {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            HealthStatus::Healthy => "Healthy",
            HealthStatus::Suspended => "Suspended",
            HealthStatus::Progressing => "Progressing",
            HealthStatus::Missing => "Missing",
            HealthStatus::Degraded => "Degraded",
            HealthStatus::Unknown => "Unknown",
        }
    }
}

/// How well an object is, and why.
pub type Health = (HealthStatus, String);

use HealthStatus::{Degraded, Healthy, Progressing, Suspended, Unknown};

const IGNORE_RESTART_POLICY: &str = "argocd.argoproj.io/ignore-restart-policy";
/// Makes an object a hook: it runs at its moment of a sync, and ends.
const HOOK: &str = "argocd.argoproj.io/hook";
/// The same for Helm.
const HELM_HOOK: &str = "helm.sh/hook";
/// Keeps a hook until its phase of the sync is over.
const HOOK_FINALIZER: &str = "argocd.argoproj.io/hook-finalizer";
/// Where `autoscaling/v1` keeps the conditions of an autoscaler.
const V1_CONDITIONS: &str = "autoscaling.alpha.kubernetes.io/conditions";

/// How well an object is; none for kinds without a check.
pub fn health(object: &Object) -> Option<Health> {
    let meta = object.meta();
    if meta.is_terminating() && !meta.finalizers.iter().any(|name| &**name == HOOK_FINALIZER) {
        return Some((Progressing, "Pending deletion".into()));
    }
    if let Object::Pod(pod) = object {
        return Some(self::pod(pod));
    }
    if !is_checked(object.kind()) {
        return None;
    }
    let value = object.to_value();
    let at = At(&value);
    Some(match object.kind() {
        Kind::Deployment => deployment(&at),
        Kind::ReplicaSet => replica_set(&at),
        Kind::StatefulSet => stateful_set(&at),
        Kind::DaemonSet => daemon_set(&at),
        Kind::Job => job(&at),
        Kind::Service if at.text("/spec/type") != "LoadBalancer" => (Healthy, String::new()),
        Kind::Service | Kind::Ingress => {
            let ingress = at.list("/status/loadBalancer/ingress");
            (if ingress.is_empty() { Progressing } else { Healthy }, String::new())
        }
        Kind::PersistentVolumeClaim => {
            let health = match at.text("/status/phase") {
                "Lost" => Degraded,
                "Pending" => Progressing,
                "Bound" => Healthy,
                _ => Unknown,
            };
            (health, String::new())
        }
        Kind::HorizontalPodAutoscaler => autoscaler(object.as_generic(), &at),
        kind if is_workflow(kind) => workflow(&at),
        _ => api_service(&at),
    })
}

/// Whether there is a check for this kind.
fn is_checked(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Deployment
            | Kind::ReplicaSet
            | Kind::StatefulSet
            | Kind::DaemonSet
            | Kind::Job
            | Kind::Service
            | Kind::Ingress
            | Kind::PersistentVolumeClaim
            | Kind::HorizontalPodAutoscaler
    ) || is_workflow(kind)
        || (kind.group() == "apiregistration.k8s.io" && kind.info().kind == "APIService")
}

/// Of Argo Workflows, if its kinds are defined.
fn is_workflow(kind: Kind) -> bool {
    kind.group() == "argoproj.io" && kind.info().kind == "Workflow"
}

/// An object's fields.
struct At<'a>(&'a Value);

impl At<'_> {
    fn number(&self, pointer: &str) -> i64 {
        self.0.pointer(pointer).and_then(Value::as_i64).unwrap_or(0)
    }

    fn text(&self, pointer: &str) -> &str {
        self.0.pointer(pointer).and_then(Value::as_str).unwrap_or("")
    }

    fn list(&self, pointer: &str) -> &[Value] {
        self.0.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    fn conditions(&self) -> Vec<Condition> {
        let conditions = self.0.pointer("/status/conditions").cloned();
        conditions.and_then(|c| serde_json::from_value(c).ok()).unwrap_or_default()
    }

    /// Whether the controller has seen the spec.
    fn is_observed(&self) -> bool {
        self.number("/metadata/generation") <= self.number("/status/observedGeneration")
    }
}

fn waiting(what: std::fmt::Arguments) -> Health {
    (Progressing, format!("Waiting for rollout to finish: {what}"))
}

fn deployment(at: &At) -> Health {
    if at.0.pointer("/spec/paused") == Some(&Value::Bool(true)) {
        return (Suspended, "Deployment is paused".into());
    }
    if !at.is_observed() {
        return waiting(format_args!(
            "observed deployment generation less than desired generation"
        ));
    }
    let conditions = at.conditions();
    let progressing = Condition::find(&conditions, "Progressing");
    if progressing.is_some_and(|c| c.reason.as_deref() == Some("ProgressDeadlineExceeded")) {
        let name = at.text("/metadata/name");
        return (Degraded, format!("Deployment {name:?} exceeded its progress deadline"));
    }
    let wanted = at.0.pointer("/spec/replicas").and_then(Value::as_i64);
    let (replicas, updated, available) = (
        at.number("/status/replicas"),
        at.number("/status/updatedReplicas"),
        at.number("/status/availableReplicas"),
    );
    match wanted {
        Some(wanted) if updated < wanted => {
            waiting(format_args!("{updated} out of {wanted} new replicas have been updated..."))
        }
        _ if replicas > updated => {
            let old = replicas - updated;
            waiting(format_args!("{old} old replicas are pending termination..."))
        }
        _ if available < updated => {
            waiting(format_args!("{available} of {updated} updated replicas are available..."))
        }
        _ => (Healthy, String::new()),
    }
}

fn replica_set(at: &At) -> Health {
    if !at.is_observed() {
        return waiting(format_args!(
            "observed replica set generation less than desired generation"
        ));
    }
    let conditions = at.conditions();
    if Condition::holds(&conditions, "ReplicaFailure") {
        let failure = Condition::find(&conditions, "ReplicaFailure");
        let message = failure.and_then(|c| c.message.as_deref()).unwrap_or("");
        return (Degraded, message.into());
    }
    let available = at.number("/status/availableReplicas");
    match at.0.pointer("/spec/replicas").and_then(Value::as_i64) {
        Some(wanted) if available < wanted => {
            waiting(format_args!("{available} out of {wanted} new replicas are available..."))
        }
        _ => (Healthy, String::new()),
    }
}

fn stateful_set(at: &At) -> Health {
    let (ready, updated) =
        (at.number("/status/readyReplicas"), at.number("/status/updatedReplicas"));
    if at.number("/status/observedGeneration") == 0 || !at.is_observed() {
        let text = "Waiting for statefulset spec update to be observed...";
        return (Progressing, text.into());
    }
    let wanted = at.0.pointer("/spec/replicas").and_then(Value::as_i64);
    if let Some(missing) = wanted.map(|wanted| wanted - ready).filter(|missing| *missing > 0) {
        return (Progressing, format!("Waiting for {missing} pods to be ready..."));
    }
    let strategy = at.text("/spec/updateStrategy/type");
    let rolling = at.0.pointer("/spec/updateStrategy/rollingUpdate").filter(|r| r.is_object());
    if let (Some(rolling), "RollingUpdate") = (rolling, strategy) {
        let partition = rolling.get("partition").and_then(Value::as_i64);
        return partitioned(updated, wanted.zip(partition).map(|(wanted, from)| wanted - from));
    }
    if strategy == "OnDelete" {
        return (Healthy, format!("statefulset has {ready} ready pods"));
    }
    let (new, old) = (at.text("/status/updateRevision"), at.text("/status/currentRevision"));
    match new == old {
        false => {
            let text = format!(
                "waiting for statefulset rolling update to complete {updated} pods at revision \
                 {new}..."
            );
            (Progressing, text)
        }
        true => {
            let at_new = at.number("/status/currentReplicas");
            let text =
                format!("statefulset rolling update complete {at_new} pods at revision {old}...");
            (Healthy, text)
        }
    }
}

/// With a partition (the API server sets it to 0), the pods from its ordinal on are to be new.
fn partitioned(updated: i64, due: Option<i64>) -> Health {
    match due.filter(|due| updated < *due) {
        Some(due) => {
            let text = format!(
                "Waiting for partitioned roll out to finish: {updated} out of {due} new pods have \
                 been updated..."
            );
            (Progressing, text)
        }
        None => {
            let text =
                format!("partitioned roll out complete: {updated} new pods have been updated...");
            (Healthy, text)
        }
    }
}

fn daemon_set(at: &At) -> Health {
    if !at.is_observed() {
        return waiting(format_args!(
            "observed daemon set generation less than desired generation"
        ));
    }
    let name = at.text("/metadata/name");
    let (updated, wanted, available) = (
        at.number("/status/updatedNumberScheduled"),
        at.number("/status/desiredNumberScheduled"),
        at.number("/status/numberAvailable"),
    );
    let wait = |what: String| {
        (Progressing, format!("Waiting for daemon set {name:?} rollout to finish: {what}"))
    };
    if at.text("/spec/updateStrategy/type") == "OnDelete" {
        let text = format!("daemon set {updated} out of {wanted} new pods have been updated");
        return (Healthy, text);
    }
    if updated < wanted {
        return wait(format!("{updated} out of {wanted} new pods have been updated..."));
    }
    if available < wanted {
        return wait(format!("{available} of {wanted} updated pods are available..."));
    }
    (Healthy, String::new())
}

/// A failure counts, whatever else there is; of the other conditions the last one speaks.
fn job(at: &At) -> Health {
    let conditions = at.conditions();
    let said = |condition: &Condition| condition.message.as_deref().unwrap_or("").to_string();
    if let Some(failure) = conditions.iter().rfind(|condition| &*condition.kind == "Failed") {
        return (Degraded, said(failure));
    }
    let ends = |condition: &&Condition| matches!(&*condition.kind, "Complete" | "Suspended");
    match conditions.iter().rfind(ends) {
        None => (Progressing, String::new()),
        Some(end) if Condition::holds(&conditions, "Suspended") => (Suspended, said(end)),
        Some(end) => (Healthy, said(end)),
    }
}

fn workflow(at: &At) -> Health {
    let health = match at.text("/status/phase") {
        "" | "Pending" | "Running" => Progressing,
        "Succeeded" => Healthy,
        "Failed" | "Error" => Degraded,
        _ => Unknown,
    };
    (health, at.text("/status/message").into())
}

fn api_service(at: &At) -> Health {
    let conditions = at.conditions();
    let Some(available) = Condition::find(&conditions, "Available") else {
        return (Progressing, "Waiting to be processed".into());
    };
    let part = |text: &Option<crate::api::Str>| text.as_deref().unwrap_or("").to_string();
    let text = format!("{}: {}", part(&available.reason), part(&available.message));
    let holds = Condition::holds(&conditions, "Available");
    (if holds { Healthy } else { Progressing }, text)
}

/// Whether it belongs to a sync, at whose moment it runs, and not to what is to stay.
fn is_hook(annotations: &crate::api::StrMap) -> bool {
    match annotations.get(HOOK) {
        Some(kinds) => kinds.split(',').any(|kind| kind.trim() != "Skip"),
        None => annotations.get(HELM_HOOK).is_some_and(|kinds| &**kinds != "crd-install"),
    }
}

fn pod(pod: &Pod) -> Health {
    let annotation = pod.metadata.annotations.get(IGNORE_RESTART_POLICY);
    let ignored =
        annotation.is_some_and(|value| &**value == "true") && !is_hook(&pod.metadata.annotations);
    let always = pod.spec.restart_policy.unwrap_or_default() == RestartPolicy::Always;
    let statuses = &pod.status.container_statuses;
    if always || ignored {
        let troubles: Vec<&str> = statuses
            .iter()
            .filter_map(|status| status.state.waiting.as_ref())
            .filter(|waiting| {
                let reason = waiting.reason.as_deref().unwrap_or("");
                let ends = ["Error", "BackOff"].iter().any(|end| reason.ends_with(end));
                reason.starts_with("Err") || ends
            })
            .map(|waiting| waiting.message.as_deref().unwrap_or(""))
            .collect();
        if !troubles.is_empty() {
            return (Degraded, troubles.join(", "));
        }
    }
    let message = pod.status.message.as_deref().unwrap_or("").to_string();
    match pod.phase() {
        PodPhase::Pending => (Progressing, message),
        PodPhase::Succeeded => (Healthy, message),
        PodPhase::Failed if !message.is_empty() => (Degraded, message),
        PodPhase::Failed => {
            let all = pod.status.init_container_statuses.iter().chain(statuses);
            (Degraded, all.filter_map(failure).next().unwrap_or_default())
        }
        PodPhase::Running if always || ignored => {
            if pod.is_ready() {
                (Healthy, message)
            } else if statuses.iter().any(|status| status.last_state.terminated.is_some()) {
                (Degraded, message)
            } else {
                (Progressing, message)
            }
        }
        // It has an end, so that running is on the way to it.
        PodPhase::Running => (Progressing, message),
        _ => (Unknown, message),
    }
}

fn failure(status: &crate::api::ContainerStatus) -> Option<String> {
    let ended = status.state.terminated.as_ref()?;
    let message = ended.message.as_deref().unwrap_or("");
    if !message.is_empty() {
        return Some(message.into());
    }
    if ended.reason.as_deref() == Some("OOMKilled") {
        return Some("OOMKilled".into());
    }
    let (name, code) = (&status.name, ended.exit_code);
    (code != 0).then(|| format!("container {name:?} failed with exit code {code}"))
}

fn autoscaler(object: Option<&Generic>, at: &At) -> Health {
    let own = object.and_then(|object| object.metadata.annotations.get(V1_CONDITIONS));
    let v1 = own.and_then(|text| serde_json::from_str::<Vec<Condition>>(text).ok());
    let conditions = v1.unwrap_or_else(|| at.conditions());
    let message = |condition: &Condition| condition.message.as_deref().unwrap_or("").to_string();
    let is_degraded = |condition: &&Condition| {
        let reason = condition.reason.as_deref().unwrap_or("");
        match &*condition.kind {
            "AbleToScale" => matches!(reason, "FailedGetScale" | "FailedUpdateScale"),
            // Not that of a container's resource: Argo CD does not know it.
            "ScalingActive" => matches!(
                reason,
                "FailedGetResourceMetric"
                    | "FailedGetObjectMetric"
                    | "FailedGetPodsMetric"
                    | "FailedGetExternalMetric"
                    | "FailedComputeMetricsReplicas"
                    | "InvalidSelector"
            ),
            _ => false,
        }
    };
    let is_healthy = |condition: &&Condition| {
        matches!(&*condition.kind, "AbleToScale" | "ScalingLimited")
            && condition.status == crate::api::ConditionStatus::True
    };
    if let Some(condition) = conditions.iter().find(is_degraded) {
        (Degraded, message(condition))
    } else if let Some(condition) = conditions.iter().find(is_healthy) {
        (Healthy, message(condition))
    } else {
        (Progressing, "Waiting to Autoscale".into())
    }
}

/// The time, as a status carries it.
pub fn stamp(now: Time) -> Value {
    crate::api::Timestamp::from(now).to_string().into()
}

#[cfg(test)]
mod tests;
