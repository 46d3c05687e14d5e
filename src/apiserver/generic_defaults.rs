//! Defaults of the kinds that are kept as free-form values: Jobs, CronJobs, StatefulSets,
//! DaemonSets, Services, claims, Secrets and bindings
//! (`pkg/apis/{apps,batch,core,rbac}/v1/defaults.go`).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, json};

use crate::api::{Generic, Kind, PodSpec, Value};

use super::defaults::pod_spec;
use super::validation::access::GROUP;

/// Fills in the defaults of a free-form object.
pub fn default_generic(generic: &mut Generic) {
    let kind = generic.kind;
    if kind == Kind::Job {
        take_labels(generic);
    }
    if kind == Kind::Secret {
        secret(generic);
    }
    if matches!(kind, Kind::RoleBinding | Kind::ClusterRoleBinding) {
        binding(generic);
    }
    if kind == Kind::PersistentVolumeClaim {
        let status = generic.rest.entry("status".into()).or_insert_with(|| json!({}));
        if let Some(status) = status.as_object_mut() {
            fill(status, "phase", "Pending".into());
        }
    }
    let Some(spec) = generic.rest.get_mut("spec").and_then(Value::as_object_mut) else {
        return;
    };
    match kind {
        Kind::Job => job(spec),
        Kind::CronJob => cron_job(spec),
        Kind::StatefulSet => stateful_set(spec),
        Kind::DaemonSet => daemon_set(spec),
        Kind::Service => service(spec),
        Kind::PersistentVolumeClaim => fill(spec, "volumeMode", "Filesystem".into()),
        _ => {}
    }
}

/// A Job without labels has those of its template.
fn take_labels(job: &mut Generic) {
    if job.metadata.labels.is_empty() {
        job.metadata.labels = job.spec().at("template").at("metadata").read("labels");
    }
}

/// Plain texts are for writing only: they become data
/// (`Convert_v1_Secret_To_core_Secret`).
fn secret(secret: &mut Generic) {
    if let Some(Value::Object(texts)) = secret.rest.remove("stringData") {
        let data = secret.rest.entry("data".into()).or_insert_with(|| json!({}));
        for (key, text) in texts {
            let text = STANDARD.encode(text.as_str().unwrap_or_default());
            if let Some(data) = data.as_object_mut() {
                data.insert(key, text.into());
            }
        }
    }
    if secret.text("type").is_empty() {
        secret.rest.insert("type".into(), "Opaque".into());
    }
}

/// `SetDefaults_RoleBinding`, `SetDefaults_Subject`.
fn binding(binding: &mut Generic) {
    if let Some(role) = binding.rest.get_mut("roleRef").and_then(Value::as_object_mut) {
        fill(role, "apiGroup", GROUP.into());
    }
    let subjects = binding.rest.get_mut("subjects").and_then(Value::as_array_mut);
    for subject in subjects.into_iter().flatten().filter_map(Value::as_object_mut) {
        if matches!(subject.get("kind").and_then(Value::as_str), Some("User" | "Group")) {
            fill(subject, "apiGroup", GROUP.into());
        }
    }
}

fn fill(object: &mut Map<String, Value>, field: &str, value: Value) {
    let missing = object.get(field).is_none_or(|old| old.is_null() || old == "");
    if missing {
        object.insert(field.into(), value);
    }
}

fn part<'a>(object: &'a mut Map<String, Value>, field: &str) -> Option<&'a mut Map<String, Value>> {
    object.entry(field).or_insert_with(|| json!({})).as_object_mut()
}

fn template(spec: &mut Map<String, Value>) {
    let Some(value) = spec.get_mut("template").and_then(|template| template.get_mut("spec")) else {
        return;
    };
    // What does not fit is for validation to find.
    if let Ok(mut pod) = serde_json::from_value::<PodSpec>(value.clone()) {
        pod_spec(&mut pod);
        *value = json!(pod);
    }
}

fn job(spec: &mut Map<String, Value>) {
    let has = |field: &str| spec.get(field).is_some_and(|value| !value.is_null());
    let has_policy = has("podFailurePolicy");
    let limit = if has("backoffLimitPerIndex") { i32::MAX } else { 6 };
    let (width, all) = (has("parallelism"), has("completions"));
    if !width && !all {
        spec.insert("completions".into(), 1.into());
    }
    if !width {
        spec.insert("parallelism".into(), 1.into());
    }
    fill(spec, "backoffLimit", limit.into());
    fill(spec, "completionMode", "NonIndexed".into());
    fill(spec, "suspend", false.into());
    fill(spec, "manualSelector", false.into());
    let replacement = if has_policy { "Failed" } else { "TerminatingOrFailed" };
    fill(spec, "podReplacementPolicy", replacement.into());
    template(spec);
}

fn cron_job(spec: &mut Map<String, Value>) {
    fill(spec, "concurrencyPolicy", "Allow".into());
    fill(spec, "suspend", false.into());
    fill(spec, "successfulJobsHistoryLimit", 3.into());
    fill(spec, "failedJobsHistoryLimit", 1.into());
    // The Job's own defaults are filled in when it is made; its pod's are shown here already.
    let job = spec.get_mut("jobTemplate").and_then(|job| job.get_mut("spec"));
    if let Some(job) = job.and_then(Value::as_object_mut) {
        template(job);
    }
}

fn stateful_set(spec: &mut Map<String, Value>) {
    fill(spec, "podManagementPolicy", "OrderedReady".into());
    fill(spec, "replicas", 1.into());
    fill(spec, "revisionHistoryLimit", 10.into());
    if let Some(strategy) = part(spec, "updateStrategy") {
        fill(strategy, "type", "RollingUpdate".into());
        if strategy.get("type") == Some(&json!("RollingUpdate"))
            && let Some(rolling) = part(strategy, "rollingUpdate")
        {
            fill(rolling, "partition", 0.into());
            // Off by default in 1.36 (MaxUnavailableStatefulSet).
            rolling.remove("maxUnavailable");
        }
    }
    if let Some(policy) = part(spec, "persistentVolumeClaimRetentionPolicy") {
        fill(policy, "whenDeleted", "Retain".into());
        fill(policy, "whenScaled", "Retain".into());
    }
    template(spec);
}

fn daemon_set(spec: &mut Map<String, Value>) {
    fill(spec, "revisionHistoryLimit", 10.into());
    if let Some(strategy) = part(spec, "updateStrategy") {
        fill(strategy, "type", "RollingUpdate".into());
        if strategy.get("type") == Some(&json!("RollingUpdate"))
            && let Some(rolling) = part(strategy, "rollingUpdate")
        {
            fill(rolling, "maxUnavailable", 1.into());
            fill(rolling, "maxSurge", 0.into());
        }
    }
    template(spec);
}

fn service(spec: &mut Map<String, Value>) {
    fill(spec, "type", "ClusterIP".into());
    fill(spec, "sessionAffinity", "None".into());
    if spec.get("type") == Some(&json!("ExternalName")) {
        return;
    }
    fill(spec, "internalTrafficPolicy", "Cluster".into());
    fill(spec, "ipFamilies", json!(["IPv4"]));
    fill(spec, "ipFamilyPolicy", "SingleStack".into());
    let ports = spec.get_mut("ports").and_then(Value::as_array_mut);
    for port in ports.into_iter().flatten().filter_map(Value::as_object_mut) {
        fill(port, "protocol", "TCP".into());
        let number = port.get("port").cloned().unwrap_or(Value::Null);
        let unset = port.get("targetPort").is_none_or(|target| *target == 0 || *target == "");
        if unset {
            port.insert("targetPort".into(), number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Object;

    fn defaulted(kind: Kind, spec: Value) -> Value {
        let object = Object::from_value(kind, json!({"spec": spec})).expect("an object");
        let Object::Generic(mut generic) = object else { panic!("free-form") };
        default_generic(&mut generic);
        let once = generic.clone();
        default_generic(&mut generic);
        assert_eq!(generic, once, "twice is once");
        json!(generic.rest["spec"])
    }

    #[test]
    fn a_job_wants_one_pod_unless_it_says_otherwise() {
        let template = json!({"spec": {"containers": [{"name": "a", "image": "a:1"}]}});
        let job = defaulted(Kind::Job, json!({"template": template}));
        assert_eq!((&job["completions"], &job["parallelism"]), (&json!(1), &json!(1)));
        assert_eq!(
            (&job["backoffLimit"], &job["completionMode"]),
            (&6.into(), &"NonIndexed".into())
        );
        assert_eq!(job["template"]["spec"]["containers"][0]["imagePullPolicy"], "IfNotPresent");
        let wide = defaulted(Kind::Job, json!({"parallelism": 3}));
        assert_eq!(wide.get("completions"), None);
        let many = defaulted(Kind::Job, json!({"completions": 3}));
        assert_eq!(many["parallelism"], 1);
    }

    #[test]
    fn plain_texts_of_a_secret_become_data() {
        let value = json!({"data": {"a": "MQ=="}, "stringData": {"a": "2", "b": "3"}});
        let Ok(Object::Generic(mut secret)) = Object::from_value(Kind::Secret, value) else {
            panic!("free-form");
        };
        default_generic(&mut secret);
        assert_eq!(secret.rest.get("data"), Some(&json!({"a": "Mg==", "b": "Mw=="})));
        assert_eq!((secret.text("type"), secret.rest.get("stringData")), ("Opaque", None));
    }

    #[test]
    fn a_stateful_set_rolls_from_the_last_to_the_first() {
        let set = defaulted(Kind::StatefulSet, json!({}));
        assert_eq!(
            set["updateStrategy"],
            json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 0}})
        );
        let rolling = json!({"rollingUpdate": {"maxUnavailable": 2, "partition": 1}});
        let set = defaulted(Kind::StatefulSet, json!({"updateStrategy": rolling}));
        assert_eq!(set["updateStrategy"]["rollingUpdate"], json!({"partition": 1}));
        let by_hand = defaulted(Kind::StatefulSet, json!({"updateStrategy": {"type": "OnDelete"}}));
        assert_eq!(by_hand["updateStrategy"], json!({"type": "OnDelete"}));
    }
}
