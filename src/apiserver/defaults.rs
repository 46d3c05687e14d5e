//! What the API server fills in where a manifest says nothing, and what its built-in admission
//! adds. Filling in twice changes nothing more.
//!
//! Follows `pkg/apis/{core,apps}/v1/defaults.go` and
//! `plugin/pkg/admission/defaulttolerationseconds` of
//! <https://github.com/kubernetes/kubernetes/tree/release-1.36>. Left out: kinds that are only
//! kept, what admission adds for service accounts (nothing here reads it, and every pod would
//! carry it), and defaults of volumes other than those below.

use std::sync::LazyLock;

use serde_json::{Map, json};

use crate::api::{
    Container, Deployment, IntOrString, Kind, Object, Pod, PodSpec, Probe, ReplicaSet, Rest,
    RestartPolicy, RollingUpdate, SharedList, StrategyType, TaintEffect, Toleration, Value,
};

use super::autoscaling_defaults::horizontal_pod_autoscaler;
use super::generic_defaults::default_generic;

/// Seconds that a pod stays on a node that is not ready or not reachable.
pub const TOLERATION_SECONDS: i64 = 300;

/// Fills in the defaults of an object, on create and on update alike.
pub fn default_object(object: &mut Object) {
    match object {
        Object::Pod(pod) => self::pod(pod),
        Object::ReplicaSet(set) => replica_set(set),
        Object::Deployment(deployment) => self::deployment(deployment),
        Object::Node(node) => {
            if node.status.allocatable.is_empty() {
                node.status.allocatable = node.status.capacity.clone();
            }
        }
        Object::Generic(generic) if generic.kind == Kind::Namespace => {
            generic.rest.entry("status".into()).or_insert(json!({"phase": "Active"}));
        }
        Object::Generic(generic) if generic.kind == Kind::HorizontalPodAutoscaler => {
            horizontal_pod_autoscaler(&mut generic.rest);
        }
        Object::Generic(generic) => {
            super::admission::default_generic(generic);
            default_generic(generic);
        }
        Object::Event(_) | Object::Lease(_) => {}
    }
}

fn deployment(deployment: &mut Deployment) {
    let spec = &mut deployment.spec;
    spec.replicas.get_or_insert(1);
    spec.revision_history_limit.get_or_insert(10);
    spec.progress_deadline_seconds.get_or_insert(600);
    let kind = *spec.strategy.kind.get_or_insert(StrategyType::RollingUpdate);
    if kind == StrategyType::RollingUpdate {
        let update = spec.strategy.rolling_update.get_or_insert_default();
        rolling_update(update);
    }
    pod_spec(&mut spec.template.spec);
}

fn rolling_update(update: &mut RollingUpdate) {
    let quarter = || IntOrString::String("25%".into());
    update.max_surge.get_or_insert_with(quarter);
    update.max_unavailable.get_or_insert_with(quarter);
}

fn replica_set(set: &mut ReplicaSet) {
    set.spec.replicas.get_or_insert(1);
    pod_spec(&mut set.spec.template.spec);
}

fn pod(pod: &mut Pod) {
    pod_spec(&mut pod.spec);
    // Most pods bring none along, and have these in common.
    static DEFAULT: LazyLock<SharedList<Toleration>> = LazyLock::new(|| {
        let mut tolerations = SharedList::new();
        default_tolerations(&mut tolerations);
        tolerations
    });
    match pod.spec.tolerations.is_empty() {
        true => pod.spec.tolerations = DEFAULT.clone(),
        false => pod.spec.tolerations.revise(default_tolerations),
    }
}

/// Admission `DefaultTolerationSeconds`: in pods only, not in templates.
fn default_tolerations(tolerations: &mut Vec<Toleration>) {
    for key in ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] {
        let tolerated = tolerations.iter().any(|toleration| {
            let key_fits = toleration.key.as_deref().is_none_or(|k| k == key || k.is_empty());
            key_fits && matches!(toleration.effect, None | Some(TaintEffect::NoExecute))
        });
        if !tolerated {
            tolerations.push(Toleration {
                key: Some(key.into()),
                operator: Some("Exists".into()),
                effect: Some(TaintEffect::NoExecute),
                toleration_seconds: Some(TOLERATION_SECONDS),
                ..Toleration::default()
            });
        }
    }
}

/// The defaults of a pod's spec, alone or in a template.
pub(super) fn pod_spec(spec: &mut PodSpec) {
    spec.restart_policy.get_or_insert(RestartPolicy::Always);
    spec.termination_grace_period_seconds.get_or_insert(30);
    set(&mut spec.rest, "dnsPolicy", "ClusterFirst".into());
    set(&mut spec.rest, "schedulerName", "default-scheduler".into());
    set(&mut spec.rest, "securityContext", json!({}));
    let on_host = spec.rest.get("hostNetwork") == Some(&Value::Bool(true));
    for containers in [&mut spec.init_containers, &mut spec.containers] {
        // A template has them all already: its pods share its containers.
        containers.revise(|all| all.iter_mut().for_each(|one| container(one, on_host)));
    }
    if let Some(Value::Array(volumes)) = spec.rest.get_mut("volumes") {
        volumes.iter_mut().filter_map(Value::as_object_mut).for_each(volume);
    }
}

fn set(rest: &mut Rest, field: &str, value: Value) {
    let missing = rest.get(field).is_none_or(|old| old.is_null() || old == "");
    if missing {
        rest.insert(field.into(), value);
    }
}

fn container(container: &mut Container, on_host: bool) {
    if container.image_pull_policy.as_deref().unwrap_or("").is_empty() {
        let image = container.image.as_deref().unwrap_or("");
        container.image_pull_policy = Some(pull_policy(image).into());
    }
    set(&mut container.rest, "terminationMessagePath", "/dev/termination-log".into());
    set(&mut container.rest, "terminationMessagePolicy", "File".into());
    let probes = [
        &mut container.readiness_probe,
        &mut container.liveness_probe,
        &mut container.startup_probe,
    ];
    probes.into_iter().flatten().for_each(probe);
    for (name, limit) in &container.resources.limits {
        container.resources.requests.entry(name.clone()).or_insert(*limit);
    }
    if let Some(Value::Array(ports)) = container.rest.get_mut("ports") {
        for port in ports.iter_mut().filter_map(Value::as_object_mut) {
            fill(port, "protocol", "TCP".into());
            let number = port.get("containerPort").cloned();
            if let Some(number) = number.filter(|_| on_host) {
                fill(port, "hostPort", number);
            }
        }
    }
    if let Some(Value::Array(variables)) = container.rest.get_mut("env") {
        for variable in variables {
            let field = variable.pointer_mut("/valueFrom/fieldRef");
            if let Some(field) = field.and_then(Value::as_object_mut) {
                fill(field, "apiVersion", "v1".into());
            }
        }
    }
}

fn fill(object: &mut Map<String, Value>, field: &str, value: Value) {
    let missing = object.get(field).is_none_or(|old| old.is_null() || old == "");
    if missing {
        object.insert(field.into(), value);
    }
}

/// Always for `latest`, which is what an image without tag and digest is.
fn pull_policy(image: &str) -> &'static str {
    let (name, digest) = match image.split_once('@') {
        Some((name, _)) => (name, true),
        None => (image, false),
    };
    let last = name.rsplit('/').next().unwrap_or(name);
    match last.split_once(':') {
        Some((_, "latest")) => "Always",
        None if !digest => "Always",
        _ => "IfNotPresent",
    }
}

fn probe(probe: &mut Probe) {
    let or = |field: &mut Option<i32>, number| {
        if field.unwrap_or(0) == 0 {
            *field = Some(number);
        }
    };
    or(&mut probe.timeout_seconds, 1);
    or(&mut probe.period_seconds, 10);
    or(&mut probe.success_threshold, 1);
    or(&mut probe.failure_threshold, 3);
    if let Some(get) = probe.rest.get_mut("httpGet").and_then(Value::as_object_mut) {
        fill(get, "path", "/".into());
        fill(get, "scheme", "HTTP".into());
    }
}

fn volume(volume: &mut Map<String, Value>) {
    if volume.len() == 1 && volume.contains_key("name") {
        volume.insert("emptyDir".into(), json!({}));
    }
    for kind in ["configMap", "secret", "projected", "downwardAPI"] {
        if let Some(source) = volume.get_mut(kind).and_then(Value::as_object_mut) {
            source.entry("defaultMode").or_insert(0o644.into());
        }
    }
    if let Some(source) = volume.get_mut("hostPath").and_then(Value::as_object_mut) {
        source.entry("type").or_insert("".into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn defaulted(kind: Kind, value: Value) -> Value {
        let mut object = Object::from_value(kind, value).unwrap();
        default_object(&mut object);
        let once = object.to_value();
        default_object(&mut object);
        assert_eq!(object.to_value(), once, "twice is once");
        once
    }

    #[test]
    fn a_deployment_rolls_by_a_quarter_unless_told_otherwise() {
        let template = json!({"spec": {"containers": [{"name": "web", "image": "nginx:1.25"}]}});
        let value = defaulted(Kind::Deployment, json!({"spec": {"template": template}}));
        let spec = &value["spec"];
        assert_eq!(spec["replicas"], 1);
        assert_eq!(spec["revisionHistoryLimit"], 10);
        assert_eq!(spec["progressDeadlineSeconds"], 600);
        assert_eq!(
            spec["strategy"],
            json!({"type": "RollingUpdate",
                   "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}})
        );
        let pod = &spec["template"]["spec"];
        assert_eq!(pod["restartPolicy"], "Always");
        assert_eq!(pod["terminationGracePeriodSeconds"], 30);
        assert_eq!(pod["containers"][0]["imagePullPolicy"], "IfNotPresent");
        assert_eq!(pod.get("tolerations"), None);
    }

    #[test]
    fn recreate_gets_no_rolling_update() {
        let strategy = json!({"type": "Recreate"});
        let value = defaulted(Kind::Deployment, json!({"spec": {"strategy": strategy}}));
        assert_eq!(value["spec"]["strategy"], json!({"type": "Recreate"}));
    }

    #[test]
    fn a_pod_tolerates_a_node_that_is_away_for_five_minutes() {
        let own = json!([{"key": "node.kubernetes.io/not-ready", "operator": "Exists"}]);
        let value = defaulted(Kind::Pod, json!({"spec": {"tolerations": own}}));
        let tolerations = value["spec"]["tolerations"].as_array().unwrap();
        assert_eq!(tolerations.len(), 2);
        assert_eq!(tolerations[1]["key"], "node.kubernetes.io/unreachable");
        assert_eq!(tolerations[1]["tolerationSeconds"], 300);
    }

    #[test]
    fn the_pull_policy_follows_the_tag() {
        for (image, policy) in [
            ("nginx", "Always"),
            ("nginx:latest", "Always"),
            ("registry.example:5000/web", "Always"),
            ("registry.example:5000/web:1", "IfNotPresent"),
            ("nginx@sha256:abc", "IfNotPresent"),
            ("nginx:latest@sha256:abc", "Always"),
        ] {
            assert_eq!(pull_policy(image), policy, "{image}");
        }
    }

    #[test]
    fn a_zero_in_a_probe_counts_as_not_said() {
        let zeros = json!({"periodSeconds": 0, "timeoutSeconds": 0, "failureThreshold": 0});
        let said = json!({"periodSeconds": 5, "failureThreshold": 1});
        let container = json!({"name": "a", "livenessProbe": zeros, "readinessProbe": said});
        let value = defaulted(Kind::Pod, json!({"spec": {"containers": [container]}}));
        let container = &value["spec"]["containers"][0];
        let filled = json!({"periodSeconds": 10, "timeoutSeconds": 1, "successThreshold": 1,
            "failureThreshold": 3});
        assert_eq!(container["livenessProbe"], filled);
        let kept = json!({"periodSeconds": 5, "timeoutSeconds": 1, "successThreshold": 1,
            "failureThreshold": 1});
        assert_eq!(container["readinessProbe"], kept);
    }

    #[test]
    fn limits_are_requested_where_nothing_else_is() {
        let resources = json!({"limits": {"cpu": "2", "memory": "1Gi"}, "requests": {"cpu": "1"}});
        let container = json!({"name": "a", "resources": resources, "readinessProbe": {}});
        let value = defaulted(Kind::Pod, json!({"spec": {"containers": [container]}}));
        let container = &value["spec"]["containers"][0];
        assert_eq!(container["resources"]["requests"], json!({"cpu": "1", "memory": "1Gi"}));
        assert_eq!(container["readinessProbe"]["periodSeconds"], 10);
    }
}
