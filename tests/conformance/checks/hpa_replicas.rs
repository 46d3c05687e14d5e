//! `hpa_replicas.json`, put to the calculator of `controllers::horizontal_autoscaler`.

use loopscope::api::{Kind, Object, Pod, StrMap, Timestamp};
use loopscope::controllers::horizontal_autoscaler::calculator::{
    Proposal, Seen, Tolerances, one_value, one_value_per_pod, pods_value, resource_utilization,
};
use loopscope::controllers::horizontal_autoscaler::pods::{StartUp, group};
use loopscope::controllers::horizontal_autoscaler::readings::{PodReading, Readings};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Outcome, compare, given};

const NOW: i64 = 1_767_225_600 + 1_000_000;
/// Long before any initialization period.
const LONG_AGO: i64 = 500_000;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Given {
    op: Option<String>,
    metric_type: Option<String>,
    resource: Option<String>,
    #[serde(default)]
    current_replicas: i32,
    target_average_utilization: Option<i32>,
    target_milli: Option<i64>,
    tolerance: Option<Value>,
    #[serde(default = "long")]
    cpu_initialization_period_seconds: i64,
    #[serde(default = "short")]
    initial_readiness_delay_seconds: i64,
    pods: Vec<PodGiven>,
    #[serde(default)]
    pod_metrics: Vec<MetricGiven>,
    pod_metric_milli: Option<Vec<i64>>,
    metric_milli: Option<Vec<i64>>,
}

fn long() -> i64 {
    StartUp::default().cpu_initialization
}

fn short() -> i64 {
    StartUp::default().initial_readiness
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PodGiven {
    name: String,
    phase: String,
    ready: Option<bool>,
    request_milli: Option<i64>,
    started_seconds_ago: Option<i64>,
    ready_condition: Option<String>,
    ready_last_transition_seconds_ago: Option<i64>,
    #[serde(default)]
    deletion_timestamp_set: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct MetricGiven {
    pod: String,
    usage_milli: Option<i64>,
    timestamp_seconds_ago: Option<i64>,
    window_seconds: Option<i64>,
}

fn stamp(ago: i64) -> String {
    Timestamp(NOW - ago).to_string()
}

fn pod(given: &PodGiven, resource: &str, grouping: bool) -> Pod {
    let mut metadata = json!({"name": given.name, "namespace": "default"});
    if given.deletion_timestamp_set {
        metadata["deletionTimestamp"] = stamp(0).into();
    }
    let mut container = json!({"name": "main"});
    if let Some(milli) = given.request_milli {
        container["resources"] = json!({"requests": {resource: format!("{milli}m")}});
    }
    let started = match (given.started_seconds_ago, grouping) {
        (Some(ago), _) => Some(ago),
        (None, true) => None,
        (None, false) => Some(LONG_AGO),
    };
    let ready = given.ready.map(|ready| if ready { "True" } else { "False" }.to_string());
    let mut status = json!({"phase": given.phase});
    if let Some(ready) = ready.or(given.ready_condition.clone()) {
        let turned = given.ready_last_transition_seconds_ago.or(started).unwrap_or(0);
        status["conditions"] =
            json!([{"type": "Ready", "status": ready, "lastTransitionTime": stamp(turned)}]);
    }
    if let Some(ago) = started {
        status["startTime"] = stamp(ago).into();
    }
    let value =
        json!({"metadata": metadata, "spec": {"containers": [container]}, "status": status});
    match Object::from_value(Kind::Pod, value) {
        Ok(Object::Pod(pod)) => pod,
        other => panic!("a pod of the vector is no pod: {other:?}"),
    }
}

fn reading(metric: &MetricGiven, resource: &str, grouping: bool) -> PodReading {
    let (ago, window) = match grouping {
        true => (metric.timestamp_seconds_ago.unwrap_or(NOW), metric.window_seconds.unwrap_or(0)),
        false => (metric.timestamp_seconds_ago.unwrap_or(0), metric.window_seconds.unwrap_or(60)),
    };
    let usage = metric.usage_milli.unwrap_or(1);
    PodReading {
        name: metric.pod.as_str().into(),
        timestamp: Timestamp(NOW - ago),
        window,
        containers: vec![("main".into(), [(resource.into(), usage)].into())],
        ..PodReading::default()
    }
}

fn tolerances(given: &Given) -> Tolerances {
    match &given.tolerance {
        Some(Value::Object(both)) => {
            let side = |name: &str| both.get(name).and_then(Value::as_f64).unwrap_or(0.1);
            Tolerances { down: side("scaleDown"), up: side("scaleUp") }
        }
        Some(one) => {
            let both = one.as_f64().unwrap_or(0.1);
            Tolerances { down: both, up: both }
        }
        None => Tolerances::default(),
    }
}

pub fn check(raw: &Value, expect: &Value) -> Outcome {
    let given: Given = match given(raw) {
        Ok(given) => given,
        Err(outcome) => return outcome,
    };
    let grouping = given.op.as_deref() == Some("groupPods");
    let resource = given.resource.as_deref().unwrap_or("cpu");
    let pods: Vec<Pod> = given.pods.iter().map(|one| pod(one, resource, grouping)).collect();
    let pods: Vec<&Pod> = pods.iter().collect();
    let mut readings = Readings {
        pods: given.pod_metrics.iter().map(|one| reading(one, resource, grouping)).collect(),
        ..Readings::default()
    };
    let start_up = StartUp {
        cpu_initialization: given.cpu_initialization_period_seconds,
        initial_readiness: given.initial_readiness_delay_seconds,
    };
    if grouping {
        let samples = readings.resource(resource, None, |_| true).unwrap_or_default();
        let groups = group(&pods, &samples, resource, start_up, Timestamp(NOW));
        return compare(
            expect,
            &json!({
                "readyPodCount": groups.ready,
                "unreadyPods": groups.unready,
                "missingPods": groups.missing,
                "ignoredPods": groups.ignored,
            }),
        );
    }
    for (pod, milli) in given.pods.iter().zip(given.pod_metric_milli.iter().flatten()) {
        let custom = [("m".into(), *milli)].into();
        let (name, timestamp) = (pod.name.as_str().into(), Timestamp(NOW));
        readings.pods.push(PodReading { name, timestamp, custom, ..PodReading::default() });
    }
    if let Some(series) = &given.metric_milli {
        readings.objects.insert("m".into(), series.iter().sum());
        readings.external.insert("m".into(), series.clone());
    }
    let selects = |_: &StrMap| true;
    let seen = Seen {
        pods: &pods,
        readings: &readings,
        selects: &selects,
        current: given.current_replicas,
        reported: given.current_replicas,
        tolerances: tolerances(&given),
        start_up,
        now: Timestamp(NOW),
    };
    outcome(ask(&given, &seen, resource), expect)
}

fn ask(given: &Given, seen: &Seen, resource: &str) -> Result<Proposal, String> {
    let target = given.target_milli.unwrap_or(0);
    match given.metric_type.as_deref() {
        Some("Resource") => {
            let target = given.target_average_utilization.unwrap_or(0);
            resource_utilization(seen, resource, None, target)
        }
        Some("Pods") => pods_value(seen, "m", target),
        Some("ObjectValue") => one_value(seen, seen.readings.object("m")?, target),
        Some("ObjectAverageValue") => {
            Ok(one_value_per_pod(seen, seen.readings.object("m")?, target))
        }
        Some("ExternalValue") => one_value(seen, seen.readings.external("m")?, target),
        Some("ExternalAverageValue") => {
            Ok(one_value_per_pod(seen, seen.readings.external("m")?, target))
        }
        other => Err(format!("unknown metricType {other:?}")),
    }
}

fn outcome(answer: Result<Proposal, String>, expect: &Value) -> Outcome {
    let wanted = expect.get("error").and_then(Value::as_str);
    match (answer, wanted) {
        (Err(error), Some(wanted)) if error.contains(wanted) => Outcome::Passed,
        (Err(error), _) => Outcome::Failed(format!("the error is {error:?}")),
        (Ok(proposal), Some(_)) => Outcome::Failed(format!("no error but {proposal:?}")),
        (Ok(proposal), None) => compare(
            expect,
            &json!({
                "desiredReplicas": proposal.replicas,
                "averageUtilization": proposal.utilization,
                "averageValueMilli": proposal.value,
                "currentValueMilli": proposal.value,
            }),
        ),
    }
}
