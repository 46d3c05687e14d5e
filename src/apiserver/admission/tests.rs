use std::sync::Arc;

use serde_json::{Value, json};

use crate::api::{Kind, Object, ObjectKey};
use crate::apiserver::{ApiError, ApiServer, DeleteOptions, Part, Reason, Request, Response};
use crate::kernel::Time;

struct Server(ApiServer);

impl Server {
    fn new() -> Server {
        Server(ApiServer::new(1).with_built_in_objects())
    }

    fn send(&mut self, request: Request) -> Response {
        self.0.handle(&request, Time::from_secs(5))
    }

    fn create(&mut self, kind: Kind, value: Value) -> Response {
        let object = Object::from_value(kind, value).unwrap();
        self.send(Request::Create(Arc::new(object)))
    }

    fn delete(&mut self, kind: Kind, namespace: &str, name: &str) -> Response {
        let key = ObjectKey::new(kind, namespace, name);
        self.send(Request::Delete(key, DeleteOptions::default()))
    }

    fn set_status(&mut self, object: &Object, status: Value) {
        let mut value = object.to_value();
        value["status"] = status;
        let object = Object::from_value(object.kind(), value).unwrap();
        self.send(Request::Update(Part::Status, Arc::new(object))).unwrap();
    }

    fn get(&self, kind: Kind, name: &str) -> Value {
        let namespace = if kind.info().namespaced { "default" } else { "" };
        self.0.store().get(&ObjectKey::new(kind, namespace, name)).unwrap().to_value()
    }
}

fn pod(name: &str, resources: Value) -> Value {
    let container = json!({"name": "main", "image": "web:1", "resources": resources});
    json!({"metadata": {"name": name}, "spec": {"containers": [container]}})
}

fn words(response: Response) -> String {
    response.unwrap_err().message
}

#[test]
fn nothing_is_put_into_a_namespace_that_is_not_there_or_on_its_way_out() {
    let mut server = Server::new();
    let mut there = pod("a", json!({}));
    there["metadata"]["namespace"] = "shop".into();
    let error: ApiError = server.create(Kind::Pod, there.clone()).unwrap_err();
    assert_eq!(
        (error.reason, &*error.message),
        (Reason::NotFound, "namespaces \"shop\" not found")
    );

    server.create(Kind::Namespace, json!({"metadata": {"name": "shop"}})).unwrap();
    server.create(Kind::Pod, there.clone()).unwrap();
    let marked = server.delete(Kind::Namespace, "", "shop").unwrap().to_value();
    assert_eq!(marked["status"]["phase"], "Terminating");
    there["metadata"] = json!({"generateName": "b-", "namespace": "shop"});
    assert_eq!(
        words(server.create(Kind::Pod, there)),
        "pods \"b-\" is forbidden: unable to create new content in namespace shop because it is \
         being terminated"
    );
    assert_eq!(
        words(server.delete(Kind::Namespace, "", "default")),
        "namespaces \"default\" is forbidden: this namespace may not be deleted"
    );
}

#[test]
fn a_quota_refuses_what_is_too_much_and_books_what_is_not() {
    let mut server = Server::new();
    let hard = json!({"pods": "2", "requests.cpu": "1"});
    let quota = json!({"metadata": {"name": "q"}, "spec": {"hard": hard}});
    let quota = server.create(Kind::ResourceQuota, quota).unwrap();
    // Until the controller has looked at it, it limits nothing.
    server.create(Kind::Pod, pod("early", json!({}))).unwrap();
    server.set_status(&quota, json!({"hard": hard, "used": {"pods": "1", "requests.cpu": "0"}}));
    assert_eq!(
        words(server.create(Kind::Pod, pod("a", json!({})))),
        "pods \"a\" is forbidden: failed quota: q: must specify requests.cpu for: main"
    );
    let resources = json!({"requests": {"cpu": "600m"}});
    server.create(Kind::Pod, pod("a", resources.clone())).unwrap();
    let used = server.get(Kind::ResourceQuota, "q")["status"]["used"].clone();
    assert_eq!(used, json!({"pods": "2", "requests.cpu": "600m"}));
    assert_eq!(
        words(server.create(Kind::Pod, pod("b", resources))),
        "pods \"b\" is forbidden: exceeded quota: q, requested: pods=1,requests.cpu=600m, used: \
         pods=2,requests.cpu=600m, limited: pods=2,requests.cpu=1"
    );
}

#[test]
fn a_quota_with_a_scope_is_about_the_pods_in_it_only() {
    let mut server = Server::new();
    let hard = json!({"pods": "0"});
    let quota = json!({
        "metadata": {"name": "q"}, "spec": {"hard": hard, "scopes": ["BestEffort"]},
    });
    let quota = server.create(Kind::ResourceQuota, quota).unwrap();
    server.set_status(&quota, json!({"hard": hard, "used": {"pods": "0"}}));
    let resources = json!({"requests": {"cpu": "1"}});
    server.create(Kind::Pod, pod("a", resources)).unwrap();
    assert!(words(server.create(Kind::Pod, pod("b", json!({})))).contains("exceeded quota: q"));
}

#[test]
fn a_quota_counts_objects_of_any_kind() {
    let mut server = Server::new();
    let hard = json!({"count/configmaps": "1", "services.nodeports": "1"});
    let quota = json!({"metadata": {"name": "q"}, "spec": {"hard": hard}});
    let quota = server.create(Kind::ResourceQuota, quota).unwrap();
    let used = json!({"count/configmaps": "0", "services.nodeports": "0"});
    server.set_status(&quota, json!({"hard": hard, "used": used}));
    server.create(Kind::ConfigMap, json!({"metadata": {"name": "a"}})).unwrap();
    let ports = json!([{"name": "a", "port": 80}, {"name": "b", "port": 81}]);
    let service = json!({
        "metadata": {"name": "s"}, "spec": {"type": "NodePort", "ports": ports},
    });
    assert_eq!(
        words(server.create(Kind::Service, service)),
        "services \"s\" is forbidden: exceeded quota: q, requested: services.nodeports=2, used: \
         services.nodeports=0, limited: services.nodeports=1"
    );
    assert_eq!(
        words(server.create(Kind::ConfigMap, json!({"metadata": {"name": "b"}}))),
        "configmaps \"b\" is forbidden: exceeded quota: q, requested: count/configmaps=1, used: \
         count/configmaps=1, limited: count/configmaps=1"
    );
}

#[test]
fn a_limit_range_fills_in_what_a_container_leaves_open() {
    let mut server = Server::new();
    let item = json!({
        "type": "Container", "max": {"cpu": "2"}, "defaultRequest": {"cpu": "100m"},
        "default": {"memory": "1Gi"},
    });
    let range = json!({"metadata": {"name": "l"}, "spec": {"limits": [item]}});
    server.create(Kind::LimitRange, range).unwrap();
    let made = server.create(Kind::Pod, pod("a", json!({}))).unwrap().to_value();
    let resources = &made["spec"]["containers"][0]["resources"];
    assert_eq!(resources["limits"], json!({"cpu": "2", "memory": "1Gi"}));
    assert_eq!(resources["requests"], json!({"cpu": "100m", "memory": "1Gi"}));
    assert_eq!(
        made["metadata"]["annotations"]["kubernetes.io/limit-ranger"],
        "LimitRanger plugin set: cpu, memory request for container main; cpu, memory limit for \
         container main"
    );
    assert_eq!(made["status"]["qosClass"], "Burstable");
}

#[test]
fn a_limit_range_refuses_what_is_out_of_bounds() {
    let mut server = Server::new();
    let item = json!({
        "type": "Container", "min": {"cpu": "100m"}, "max": {"cpu": "1"},
        "maxLimitRequestRatio": {"cpu": "3"},
    });
    let range = json!({"metadata": {"name": "l"}, "spec": {"limits": [item]}});
    server.create(Kind::LimitRange, range).unwrap();
    let mut refused = |request: &str, limit: &str| {
        let resources = json!({"requests": {"cpu": request}, "limits": {"cpu": limit}});
        words(server.create(Kind::Pod, pod("a", resources)))
    };
    assert_eq!(
        refused("50m", "100m"),
        "pods \"a\" is forbidden: minimum cpu usage per Container is 100m, but request is 50m"
    );
    assert_eq!(
        refused("1", "2"),
        "pods \"a\" is forbidden: maximum cpu usage per Container is 1, but limit is 2"
    );
    assert_eq!(
        refused("150m", "1"),
        "pods \"a\" is forbidden: cpu max limit to request ratio per Container is 3, but provided \
         ratio is 6.666667"
    );
    assert_eq!(
        refused("50m", "2"),
        "pods \"a\" is forbidden: [minimum cpu usage per Container is 100m, but request is 50m, \
         maximum cpu usage per Container is 1, but limit is 2, cpu max limit to request ratio per \
         Container is 3, but provided ratio is 40.000000]"
    );
}

#[test]
fn a_pod_gets_the_number_of_its_priority_class() {
    let mut server = Server::new();
    let made = server.create(Kind::Pod, pod("a", json!({}))).unwrap().to_value();
    assert_eq!(made["spec"]["priority"], 0);
    assert_eq!(made["spec"]["preemptionPolicy"], "PreemptLowerPriority");
    let class = json!({
        "metadata": {"name": "high"}, "value": 1000, "globalDefault": true,
        "preemptionPolicy": "Never",
    });
    server.create(Kind::PriorityClass, class.clone()).unwrap();
    let made = server.create(Kind::Pod, pod("b", json!({}))).unwrap().to_value();
    assert_eq!(made["spec"]["priority"], 1000);
    assert_eq!(made["spec"]["priorityClassName"], "high");
    assert_eq!(made["spec"]["preemptionPolicy"], "Never");
    let mut named = pod("c", json!({}));
    named["spec"]["priorityClassName"] = "system-node-critical".into();
    let made = server.create(Kind::Pod, named.clone()).unwrap().to_value();
    assert_eq!(made["spec"]["priority"], 2_000_001_000);

    named["metadata"]["name"] = "d".into();
    named["spec"]["priorityClassName"] = "nobody".into();
    assert_eq!(
        words(server.create(Kind::Pod, named.clone())),
        "pods \"d\" is forbidden: no PriorityClass with name nobody was found"
    );
    named["spec"]["priorityClassName"] = "high".into();
    named["spec"]["priority"] = 7.into();
    assert_eq!(
        words(server.create(Kind::Pod, named)),
        "pods \"d\" is forbidden: the integer value of priority (7) must not be provided in pod \
         spec; priority admission controller computed 1000 from the given PriorityClass name"
    );
    let mut second = class;
    second["metadata"]["name"] = "other".into();
    assert_eq!(
        words(server.create(Kind::PriorityClass, second)),
        "priorityclasses.scheduling.k8s.io \"other\" is forbidden: PriorityClass high is already \
         marked as default. Only one default can exist"
    );
    let system = json!({"metadata": {"name": "system-mine"}, "value": 1});
    assert!(words(server.create(Kind::PriorityClass, system)).contains(
        "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved"
    ));
}

fn running(server: &mut Server, name: &str, ready: bool) {
    let mut value = pod(name, json!({}));
    value["metadata"]["labels"] = json!({"app": "web"});
    let made = server.create(Kind::Pod, value).unwrap();
    let word = if ready { "True" } else { "False" };
    let conditions = json!([{"type": "Ready", "status": word}]);
    server.set_status(&made, json!({"phase": "Running", "conditions": conditions}));
}

fn budget(server: &mut Server, name: &str, status: Value) {
    let spec = json!({"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}});
    let value = json!({"metadata": {"name": name}, "spec": spec});
    let made = server.create(Kind::PodDisruptionBudget, value).unwrap();
    if !status.is_null() {
        server.set_status(&made, status);
    }
}

fn evict(server: &mut Server, name: &str) -> Response {
    let key = ObjectKey::new(Kind::Pod, "default", name);
    server.send(Request::Evict(key, DeleteOptions::default()))
}

const VIOLATES: &str = "Cannot evict pod as it would violate the pod's disruption budget.";

fn status(allowed: i64, healthy: i64, desired: i64) -> Value {
    json!({
        "observedGeneration": 1, "disruptionsAllowed": allowed, "currentHealthy": healthy,
        "desiredHealthy": desired, "expectedPods": 2,
    })
}

#[test]
fn an_eviction_takes_its_share_of_the_budget() {
    let mut server = Server::new();
    running(&mut server, "a", true);
    running(&mut server, "b", true);
    budget(&mut server, "web", Value::Null);
    let error = evict(&mut server, "a").unwrap_err();
    assert_eq!((error.reason, &*error.message), (Reason::TooManyRequests, VIOLATES));
    let why = error.cause.unwrap();
    assert_eq!(&*why.reason, "DisruptionBudget");
    assert_eq!(&*why.message, "The disruption budget web is still being processed by the server.");

    let key = ObjectKey::new(Kind::PodDisruptionBudget, "default", "web");
    let stored = server.0.store().get(&key).unwrap().clone();
    server.set_status(&stored, status(1, 2, 1));
    evict(&mut server, "a").unwrap();
    let after = server.get(Kind::PodDisruptionBudget, "web")["status"].clone();
    assert_eq!(after["disruptionsAllowed"], 0);
    assert_eq!(after["disruptedPods"], json!({"a": "2026-01-01T00:00:05Z"}));
    assert_eq!(after["conditions"][0]["reason"], "InsufficientPods");
    let error = evict(&mut server, "b").unwrap_err();
    assert_eq!(
        &*error.cause.unwrap().message,
        "The disruption budget web needs 1 healthy pods and has 2 currently"
    );
}

#[test]
fn two_budgets_of_one_pod_are_more_than_an_eviction_can_ask() {
    let mut server = Server::new();
    running(&mut server, "a", true);
    budget(&mut server, "web", status(1, 2, 1));
    budget(&mut server, "web2", status(1, 2, 1));
    let error = evict(&mut server, "a").unwrap_err();
    assert_eq!(error.reason.code(), 500);
    assert_eq!(
        error.message,
        "This pod has more than one PodDisruptionBudget, which the eviction subresource does not \
         support."
    );
}

#[test]
fn a_pod_that_serves_nobody_goes_without_asking() {
    let mut server = Server::new();
    server.create(Kind::Pod, pod("pending", json!({}))).unwrap();
    running(&mut server, "unready", false);
    budget(&mut server, "web", status(0, 1, 1));
    evict(&mut server, "pending").unwrap();
    // Not ready, and there are as many healthy ones as are wanted: it is not counted.
    evict(&mut server, "unready").unwrap();
    let after = server.get(Kind::PodDisruptionBudget, "web")["status"].clone();
    assert_eq!(after.get("disruptedPods"), None);

    running(&mut server, "unready", false);
    let key = ObjectKey::new(Kind::PodDisruptionBudget, "default", "web");
    let stored = server.0.store().get(&key).unwrap().clone();
    server.set_status(&stored, status(0, 0, 1));
    assert_eq!(words(evict(&mut server, "unready")), VIOLATES);
}
