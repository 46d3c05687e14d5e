//! Validation as a whole: what a change to a sound object leads to.

use serde_json::{Value, json};

use super::{validate_create, validate_update};
use crate::api::{Kind, Object};
use crate::apiserver::defaults::default_object;

fn deployment() -> Value {
    json!({
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "web", "image": "nginx:1.25"}]},
            },
        },
    })
}

fn pod() -> Value {
    let spec = deployment().pointer("/spec/template/spec").cloned();
    json!({"metadata": {"name": "web-1", "namespace": "default"}, "spec": spec})
}

/// The object with the value at `pointer` replaced; null takes it out.
fn object(kind: Kind, mut value: Value, pointer: &str, new: Value) -> Object {
    let (parent, last) = pointer.rsplit_once('/').unwrap_or(("", pointer));
    match value.pointer_mut(parent) {
        Some(Value::Object(map)) if new.is_null() => {
            map.remove(last);
        }
        Some(Value::Array(items)) => items[last.parse::<usize>().expect("an index")] = new,
        Some(parent) => parent[last] = new,
        None => panic!("{pointer} leads nowhere"),
    }
    let mut object = Object::from_value(kind, value).expect("typed");
    default_object(&mut object);
    object
}

#[test]
fn a_sound_object_breaks_no_rule() {
    for (kind, value) in [(Kind::Deployment, deployment()), (Kind::Pod, pod())] {
        let sound = object(kind, value, "/metadata/name", json!("web"));
        assert_eq!(validate_create(&sound), [""; 0]);
        assert_eq!(validate_update(&sound, &sound), [""; 0]);
    }
}

/// What is broken, with what, and what is said of it.
type Broken = (&'static str, Value, &'static str);

fn broken_specs() -> Vec<Broken> {
    let container = "/spec/template/spec/containers";
    vec![
        ("/metadata/name", Value::Null, "metadata.name: Required value: name or generateName"),
        ("/spec/replicas", json!(-1), "spec.replicas: Invalid value: -1: must be greater than or"),
        ("/spec/selector", Value::Null, "spec.selector: Required value"),
        (
            "/spec/selector",
            json!({"matchLabels": {"app": "x"}}),
            "spec.template.metadata.labels: Invalid value: {\"app\":\"web\"}: `selector` does not \
             match template `labels`",
        ),
        (
            "/spec/selector",
            json!({"matchExpressions": [{"key": "app", "operator": "In"}]}),
            "spec.selector.matchExpressions[0].values: Required value: must be specified when",
        ),
        (
            "/spec/strategy",
            json!({"type": "Recreate", "rollingUpdate": {}}),
            "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is",
        ),
        (
            "/spec/strategy",
            json!({"rollingUpdate": {"maxSurge": "0%", "maxUnavailable": 0}}),
            "maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0",
        ),
        (
            "/spec/strategy",
            json!({"rollingUpdate": {"maxSurge": "20Percent"}}),
            "maxSurge: Invalid value: \"20Percent\": a valid percent string must be",
        ),
        (
            "/spec/progressDeadlineSeconds",
            json!(0),
            "spec.progressDeadlineSeconds: Invalid value: 0: must be greater than minReadySeconds",
        ),
        (container, json!([]), "spec.template.spec.containers: Required value"),
    ]
}

fn broken_containers() -> Vec<Broken> {
    let container = "/spec/template/spec/containers";
    vec![
        (
            container,
            json!([{"name": "a", "image": "b"}, {"name": "a", "image": " c"}]),
            "spec.template.spec.containers[1].name: Duplicate value: \"a\"",
        ),
        (container, json!([{"name": "A_b", "image": "b"}]), "a lowercase RFC 1123 label must"),
        (
            container,
            json!([{"name": "a", "image": "b", "ports": [{"containerPort": 70000}]}]),
            "ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive",
        ),
        (
            container,
            json!([{"name": "a", "image": "b", "volumeMounts": [{"name": "v", "mountPath": "/"}]}]),
            "volumeMounts[0].name: Not found: \"v\"",
        ),
        (
            container,
            json!([{"name": "a", "image": "b", "readinessProbe": {}}]),
            "readinessProbe: Required value: must specify a handler type",
        ),
        (
            container,
            json!([{"name": "a", "image": "b",
                    "resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}}]),
            "requests: Invalid value: \"2\": must be less than or equal to cpu limit of 1",
        ),
        (
            container,
            json!([{"name": "a", "image": "b", "resources": {"requests": {"cpus": "2"}}}]),
            "requests[cpus]: Invalid value: \"cpus\": must be a standard resource",
        ),
    ]
}

#[test]
fn each_broken_rule_is_told_in_kubernetes_words() {
    for (pointer, new, words) in broken_specs().into_iter().chain(broken_containers()) {
        let broken = object(Kind::Deployment, deployment(), pointer, new.clone());
        let errors = validate_create(&broken);
        assert!(errors.iter().any(|error| error.contains(words)), "{new}: {words}\n{errors:#?}");
    }
}

#[test]
fn what_is_immutable_stays() {
    let labels = json!({"app": "web", "tier": "front"});
    let mut other = deployment();
    other["spec"]["template"]["metadata"]["labels"] = labels.clone();
    let old = object(Kind::Deployment, deployment(), "/spec/replicas", json!(1));
    let new = object(Kind::Deployment, other, "/spec/selector", json!({"matchLabels": labels}));
    let words = "spec.selector: Invalid value: {\"matchLabels\":{\"app\":\"web\",\"tier\":\
                 \"front\"}}: field is immutable";
    assert_eq!(validate_update(&old, &new), [words]);
}

#[test]
fn of_a_pod_only_little_may_change() {
    let change = |pointer, new| {
        let old = object(Kind::Pod, pod(), "/spec/restartPolicy", json!("Always"));
        validate_update(&old, &object(Kind::Pod, pod(), pointer, new))
    };
    assert_eq!(change("/spec/containers/0", json!({"name": "web", "image": "nginx:2"})), [""; 0]);
    assert_eq!(change("/spec/activeDeadlineSeconds", json!(9)), [""; 0]);
    let more = json!([{"key": "a", "operator": "Exists"}]);
    assert_eq!(change("/spec/tolerations", more), [""; 0]);
    let errors = change("/spec/terminationGracePeriodSeconds", json!(9));
    assert!(errors[0].starts_with("spec: Forbidden: pod updates may not change fields"));
}
