//! Whole passes: an API server with the target and its pods, a cache that shows them, and the
//! controller's plans carried out by `PassRun`.

use std::sync::Arc;

use loopscope::api::{Kind, Object, ObjectKey, Timestamp};
use loopscope::apiserver::{ApiError, ApiServer, Part, Reason, Request, Response};
use loopscope::client::Cache;
use loopscope::controllers::horizontal_autoscaler::HorizontalAutoscaler;
use loopscope::controllers::{Context, EventNote, PassRun, Step};
use loopscope::kernel::Time;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{NOW, Past};
use crate::{Outcome, given};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Given {
    #[allow(dead_code)]
    op: String,
    min_replicas: i32,
    max_replicas: i32,
    current_replicas: i32,
    metrics_api: Option<String>,
    scale_get: Option<String>,
    scale_update: Option<String>,
    ready: Option<Vec<bool>>,
    past_recommendations: Option<Vec<Past>>,
    /// The controller does not ask.
    #[allow(dead_code)]
    seconds_since_last_scale: Option<i64>,
    metrics: Option<Vec<Metric>>,
    metric_type: Option<String>,
    result: Option<String>,
    target_average_utilization: Option<i32>,
    target_milli: Option<i64>,
    usage_milli: Option<Vec<i64>>,
    request_milli: Option<Vec<i64>>,
    pod_metric_milli: Option<Vec<i64>>,
    reported_milli: Option<Vec<i64>>,
    metric_milli: Option<Vec<i64>>,
}

#[derive(Deserialize, Default, Clone)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Metric {
    metric_type: Option<String>,
    result: Option<String>,
    target_average_utilization: Option<i32>,
    target_milli: Option<i64>,
    usage_milli: Option<Vec<i64>>,
    request_milli: Option<Vec<i64>>,
    pod_metric_milli: Option<Vec<i64>>,
    reported_milli: Option<Vec<i64>>,
    metric_milli: Option<Vec<i64>>,
}

impl Given {
    /// The metrics. What stands beside the list holds for each of them.
    fn metrics(&self) -> Vec<Metric> {
        let own = Metric {
            metric_type: self.metric_type.clone(),
            result: self.result.clone(),
            target_average_utilization: self.target_average_utilization,
            target_milli: self.target_milli,
            usage_milli: self.usage_milli.clone(),
            request_milli: self.request_milli.clone(),
            pod_metric_milli: self.pod_metric_milli.clone(),
            reported_milli: self.reported_milli.clone(),
            metric_milli: self.metric_milli.clone(),
        };
        let Some(list) = self.metrics.clone() else { return vec![own] };
        let common = |metric: Metric| Metric {
            request_milli: metric.request_milli.or_else(|| own.request_milli.clone()),
            reported_milli: metric.reported_milli.or_else(|| own.reported_milli.clone()),
            ..metric
        };
        list.into_iter().map(common).collect()
    }
}

impl Metric {
    fn kind(&self) -> &str {
        self.metric_type.as_deref().unwrap_or("Resource")
    }

    /// The samples of the pods, for whichever metric.
    fn samples(&self) -> &[i64] {
        let lists = [&self.usage_milli, &self.pod_metric_milli, &self.reported_milli];
        lists.into_iter().flatten().next().map_or(&[], Vec::as_slice)
    }

    fn spec(&self) -> Value {
        let name = json!({"name": "m"});
        let value = self.target_milli.map_or("1".into(), |milli| format!("{milli}m"));
        let average = json!({"type": "AverageValue", "averageValue": value});
        let whole = json!({"type": "Value", "value": value});
        match self.kind() {
            "Pods" => json!({"type": "Pods", "pods": {"metric": name, "target": average}}),
            "Object" | "ObjectValue" => json!({"type": "Object", "object": {
                "metric": name, "target": whole,
                "describedObject": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"},
            }}),
            "ObjectAverageValue" => json!({"type": "Object", "object": {
                "metric": name, "target": average,
                "describedObject": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"},
            }}),
            "External" | "ExternalValue" => {
                json!({"type": "External", "external": {"metric": name, "target": whole}})
            }
            "ExternalAverageValue" => {
                json!({"type": "External", "external": {"metric": name, "target": average}})
            }
            "ContainerResource" => json!({"type": "ContainerResource", "containerResource": {
                "name": "cpu", "container": "main", "target": self.utilization(),
            }}),
            "Resource" => {
                json!({"type": "Resource", "resource": {"name": "cpu", "target": self.utilization()}})
            }
            other => json!({"type": other}),
        }
    }

    fn utilization(&self) -> Value {
        let percent = self.target_average_utilization.unwrap_or(100);
        json!({"type": "Utilization", "averageUtilization": percent})
    }

    /// Whether the API server would take it.
    fn is_valid(&self) -> bool {
        let kinds = ["Resource", "ContainerResource", "Pods", "Object", "External"];
        kinds.iter().any(|kind| self.kind().starts_with(kind))
    }
}

fn create(server: &mut ApiServer, kind: Kind, value: Value) -> Arc<Object> {
    let object = Object::from_value(kind, value).expect("well-formed");
    server.handle(&Request::Create(Arc::new(object)), Time::ZERO).expect("valid")
}

/// A cluster: its server, a cache that shows it all, and what the metrics API answers.
struct Lab {
    server: ApiServer,
    cache: Cache,
    key: ObjectKey,
    target: ObjectKey,
    list: Object,
}

fn lab(given: &Given) -> Lab {
    let metrics = given.metrics();
    let mut server = ApiServer::new(1);
    let labels = json!({"app": "a"});
    let target = create(
        &mut server,
        Kind::Deployment,
        json!({"metadata": {"name": "target"}, "spec": {
            "replicas": given.current_replicas,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "main", "image": "x:1"}]},
            },
        }}),
    );
    let mut scaled = target.as_deployment().cloned().expect("a Deployment");
    scaled.status.replicas = given.current_replicas;
    let status = Request::Update(Part::Status, Arc::new(Object::Deployment(scaled)));
    server.handle(&status, Time::ZERO).expect("valid");
    let valid = metrics.iter().filter(|metric| metric.is_valid());
    let specs: Vec<Value> = valid.map(Metric::spec).collect();
    let autoscaler = create(
        &mut server,
        Kind::HorizontalPodAutoscaler,
        json!({"metadata": {"name": "hpa"}, "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "target"},
            "minReplicas": given.min_replicas.max(1), "maxReplicas": given.max_replicas,
            "metrics": specs,
        }}),
    );
    let listed = metrics.iter().map(|metric| {
        metric.samples().len().max(metric.request_milli.as_ref().map_or(0, Vec::len))
    });
    let count = listed.max().unwrap_or(0).max(given.current_replicas.max(0) as usize);
    let mut cache = Cache::default();
    // As if a server with another version, or the gate for zero, had let through what this one
    // refuses.
    let mut seen = autoscaler.to_value();
    seen["spec"]["minReplicas"] = given.min_replicas.into();
    seen["spec"]["metrics"] = metrics.iter().map(Metric::spec).collect();
    let seen = Object::from_value(Kind::HorizontalPodAutoscaler, seen).expect("well-formed");
    cache.put(Arc::new(seen));
    for index in 0..count {
        let ready = given.ready.as_ref().and_then(|all| all.get(index)).copied().unwrap_or(true);
        cache.put(Arc::new(pod(index, ready, &metrics)));
    }
    let (key, target) = (autoscaler.key(), target.key());
    Lab { server, cache, key, target, list: list(given, count) }
}

fn pod(index: usize, ready: bool, metrics: &[Metric]) -> Object {
    let mut container = json!({"name": "main"});
    // Pods without a sample ask for as much as the others.
    let request = metrics.iter().find_map(|metric| {
        let requests = metric.request_milli.as_ref()?;
        requests.get(index).or(requests.last())
    });
    if let Some(request) = request {
        container["resources"] = json!({"requests": {"cpu": format!("{request}m")}});
    }
    let start = Timestamp::from(super::before(500_000)).to_string();
    let status = if ready { "True" } else { "False" };
    let value = json!({
        "metadata":
            {"name": format!("pod-{index}"), "namespace": "default", "labels": {"app": "a"}},
        "spec": {"containers": [container]},
        "status": {
            "phase": "Running",
            "startTime": start,
            "conditions": [{"type": "Ready", "status": status, "lastTransitionTime": start}],
        },
    });
    Object::from_value(Kind::Pod, value).expect("a pod")
}

fn list(given: &Given, count: usize) -> Object {
    let milli = |value: i64| Value::from(format!("{value}m"));
    let (mut items, mut objects, mut external) = (Vec::new(), Map::new(), Map::new());
    let metrics = given.metrics();
    let works = |metric: &&Metric| metric.result.as_deref() != Some("error");
    for index in 0..count {
        let (mut usage, mut custom) = (Map::new(), Map::new());
        for metric in metrics.iter().filter(works) {
            let Some(value) = metric.samples().get(index) else { continue };
            match metric.kind() {
                "Resource" | "ContainerResource" => usage.insert("cpu".into(), milli(*value)),
                _ => custom.insert("m".into(), milli(*value)),
            };
        }
        if usage.is_empty() && custom.is_empty() {
            continue;
        }
        items.push(json!({
            "metadata": {"name": format!("pod-{index}"), "labels": {"app": "a"}},
            "timestamp": Timestamp::from(NOW), "window": "60s",
            "containers": [{"name": "main", "usage": usage}], "custom": custom,
        }));
    }
    let elsewhere = |metric: &&Metric| matches!(metric.kind().get(..3), Some("Obj" | "Ext"));
    for metric in metrics.iter().filter(works).filter(elsewhere) {
        let series = metric.metric_milli.as_deref().unwrap_or(metric.samples());
        if series.is_empty() {
            continue;
        }
        objects.insert("m".into(), milli(series.iter().sum()));
        external.insert("m".into(), series.iter().map(|value| milli(*value)).collect());
    }
    let value = json!({"items": items, "objects": objects, "external": external});
    Object::from_value(Kind::PodMetrics, value).expect("a list")
}

pub fn check(raw: &Value, expect: &Value) -> Outcome {
    let given: Given = match given(raw) {
        Ok(given) => given,
        Err(outcome) => return outcome,
    };
    let mut lab = lab(&given);
    let mut controller = HorizontalAutoscaler::default();
    if let Some(past) = &given.past_recommendations {
        let past = past.iter().map(Past::recommendation).collect();
        controller.recall(&lab.key, past);
    }
    let events = run_once(&given, &mut lab, &mut controller);
    judge(expect, &lab, &events)
}

/// One pass: it reads, decides, and carries out what it decided.
fn run_once(given: &Given, lab: &mut Lab, controller: &mut HorizontalAutoscaler) -> Vec<EventNote> {
    let mut events = Vec::new();
    for _ in 0..2 {
        let cache = lab.cache.clone();
        let cx = Context { cache: &cache, now: NOW, seed: 1, promises_kept: true };
        let mut run = PassRun::new(controller.sync(&lab.key, &cx));
        while let Step::Send(requests) = run.next(NOW) {
            for (index, request) in requests.iter().enumerate() {
                let response = answer(given, lab, request);
                controller.answered(&lab.key, request, &response);
                run.answer(index, &response);
            }
        }
        events.extend(run.take_events());
    }
    events
}

fn answer(given: &Given, lab: &mut Lab, request: &Request) -> Response {
    let fails = |what: &Option<String>| what.as_deref() == Some("error");
    let refused = Err(ApiError::new(Reason::ServiceUnavailable, "something went wrong"));
    match request {
        Request::Get(key) if key.kind == Kind::PodMetrics => match fails(&given.metrics_api) {
            true => refused,
            false => Ok(Arc::new(lab.list.clone())),
        },
        Request::Get(_) if fails(&given.scale_get) => refused,
        Request::Patch(Part::Scale, ..) if fails(&given.scale_update) => refused,
        request => lab.server.handle(request, NOW),
    }
}

fn judge(expect: &Value, lab: &Lab, events: &[EventNote]) -> Outcome {
    let stored = |key| lab.server.store().get(key).map(|object| object.to_value());
    let (Some(target), Some(autoscaler)) = (stored(&lab.target), stored(&lab.key)) else {
        return Outcome::Failed("an object is gone".into());
    };
    if let Some(wanted) = expect.get("desiredReplicas")
        && target["spec"]["replicas"] != *wanted
    {
        return Outcome::Failed(format!("the size is {}", target["spec"]["replicas"]));
    }
    let conditions = autoscaler["status"]["conditions"].as_array().cloned().unwrap_or_default();
    for wanted in expect.get("conditions").and_then(Value::as_array).into_iter().flatten() {
        let agrees = |condition: &&Value| {
            wanted.as_object().is_some_and(|wanted| {
                wanted.iter().all(|(key, value)| condition.get(key) == Some(value))
            })
        };
        if !conditions.iter().any(|condition| agrees(&condition)) {
            return Outcome::Failed(format!("no {wanted} among {conditions:?}"));
        }
    }
    let told: Vec<Value> = events
        .iter()
        .map(|note| json!({"type": note.kind, "reason": note.reason, "message": note.message}))
        .collect();
    match expect.get("event") {
        Some(wanted) if !told.contains(wanted) => {
            Outcome::Failed(format!("the events are {told:?}"))
        }
        _ => Outcome::Passed,
    }
}

/// What the API server fills in.
pub fn default(field: &str, downscale: i64) -> Value {
    let mut spec = json!({
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "target"},
        "maxReplicas": 3,
    });
    let of_behavior = field.starts_with("scale");
    if of_behavior {
        spec["behavior"] = json!({});
    }
    let value = json!({"metadata": {"name": "hpa"}, "spec": spec});
    let stored = create(&mut ApiServer::new(1), Kind::HorizontalPodAutoscaler, value).to_value();
    let prefix = if of_behavior { "/spec/behavior/" } else { "/spec/" };
    let pointer = format!("{prefix}{}", field.replace('.', "/"));
    let mut value = stored.pointer(&pointer).cloned().unwrap_or(Value::Null);
    if field == "metrics" {
        let flat = |metric: &Value| {
            json!({
                "type": metric["type"],
                "resource": metric["resource"]["name"],
                "targetType": metric["resource"]["target"]["type"],
                "averageUtilization": metric["resource"]["target"]["averageUtilization"],
            })
        };
        value = value.as_array().into_iter().flatten().map(flat).collect();
    }
    let effective = if field.starts_with("scaleDown") { downscale } else { 0 };
    json!({"value": value, "effectiveSeconds": effective})
}
