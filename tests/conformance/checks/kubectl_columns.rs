//! The cells that `kubectl get` prints. The vectors' flat fields are put back into an object.

use std::sync::Arc;

use loopscope::api::{Kind, Object, Timestamp};
use loopscope::kubectl::{Look, table};
use serde_json::{Map, Value, json};

use crate::{Outcome, compare};

/// When the table is printed: late enough for objects that are ten years old.
const NOW: Timestamp = Timestamp(2_000_000_000);

pub fn check(given: &Value, expect: &Value) -> Outcome {
    let kind = given["kind"].as_str().unwrap_or("");
    let Some(kind) = Kind::of_argument(kind) else {
        return Outcome::Failed(format!("no kind {kind}"));
    };
    let value = match kind {
        Kind::Pod => pod(given),
        Kind::Node => node(given),
        Kind::Event => event(given),
        Kind::HorizontalPodAutoscaler => autoscaler(given),
        Kind::Job => job(given),
        Kind::Namespace => namespace(given),
        _ => workload(given),
    };
    let object = match Object::from_value(kind, value) {
        Ok(object) => Arc::new(object),
        Err(error) => return Outcome::Failed(error.to_string()),
    };
    let wide = given["wide"] == true;
    let table = table(kind, &[object], NOW, &Look { wide, ..Look::default() });
    let cells: Vec<String> = table.rows.into_iter().flatten().collect();
    if kind == Kind::Pod && !wide {
        let named: Map<String, Value> = table
            .columns
            .into_iter()
            .zip(cells)
            .map(|(column, cell)| (column, cell.into()))
            .collect();
        return compare(&renamed(given, expect), &Value::Object(named));
    }
    compare(&texts(expect, &cells), &json!({ "cells": cells }))
}

/// A phase is one of five words here; the vectors also have made-up ones, which must pass through.
fn phase(given: &Value) -> Option<&str> {
    let known = ["Pending", "Running", "Succeeded", "Failed", "Unknown"];
    let phase = given["phase"].as_str()?;
    Some(known.into_iter().find(|word| *word == phase).unwrap_or("Unknown"))
}

fn renamed(given: &Value, expect: &Value) -> Value {
    let mut expect = expect.clone();
    if given["phase"].is_string() && expect["STATUS"] == given["phase"] {
        expect["STATUS"] = phase(given).into();
    }
    expect
}

/// Cells are text here; "…" stands for the five normal ones, which are not asserted.
fn texts(expect: &Value, cells: &[String]) -> Value {
    let list = expect["cells"].as_array().cloned().unwrap_or_default();
    let text = |cell: &Value| match cell {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let mut list: Vec<String> = list.iter().map(text).collect();
    if list.first().is_some_and(|cell| cell == "…") {
        list.splice(0..1, cells.iter().take(5).cloned());
    }
    json!({ "cells": list })
}

fn ago(seconds: i64) -> Value {
    Timestamp(NOW.0 - seconds).to_string().into()
}

/// A number, cut to the whole.
fn whole(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_f64().map(|number| number as i64))
}

fn metadata(given: &Value) -> Value {
    let mut meta = json!({"name": given["name"].as_str().unwrap_or("")});
    let days = whole(&given["ageDays"]).map(|days| days * 86_400);
    if let Some(age) = whole(&given["ageSeconds"]).or(days) {
        meta["creationTimestamp"] = ago(age);
    }
    if given["deletionTimestampSet"] == true {
        meta["deletionTimestamp"] = ago(0);
    }
    if given["labels"].is_object() {
        meta["labels"] = given["labels"].clone();
    }
    meta
}

fn statuses(list: &Value) -> Value {
    let one = |status: &Value| {
        let mut status = status.clone();
        let map = status.as_object_mut().expect("a status is a map");
        if let Some(seconds) = map.remove("lastTerminatedSecondsAgo") {
            let ended = json!({"exitCode": 0, "finishedAt": ago(seconds.as_i64().unwrap_or(0))});
            map.insert("lastState".into(), json!({ "terminated": ended }));
        }
        map.entry("image").or_insert("".into());
        map.entry("imageID").or_insert("".into());
        status
    };
    list.as_array().into_iter().flatten().map(one).collect()
}

/// `2`, or a list with name and restartPolicy.
fn containers(value: &Value) -> Value {
    match value {
        Value::Number(count) => {
            let count = count.as_u64().unwrap_or(0);
            (0..count).map(|index| json!({"name": format!("c{index}")})).collect()
        }
        Value::Array(_) => value.clone(),
        _ => json!([]),
    }
}

fn pod(given: &Value) -> Value {
    let mut status = json!({
        "containerStatuses": statuses(&given["containerStatuses"]),
        "initContainerStatuses": statuses(&given["initContainerStatuses"]),
    });
    if let Some(phase) = phase(given) {
        status["phase"] = phase.into();
    }
    if let Some(reason) = given["statusReason"].as_str() {
        status["reason"] = reason.into();
    }
    if given["conditions"].is_array() {
        status["conditions"] = given["conditions"].clone();
    }
    if let Some(ips) = given["podIPs"].as_array() {
        status["podIPs"] = ips.iter().map(|ip| json!({ "ip": ip })).collect();
    }
    if given["nominatedNodeName"].is_string() {
        status["nominatedNodeName"] = given["nominatedNodeName"].clone();
    }
    let mut spec = json!({
        "containers": containers(&given["containers"]),
        "initContainers": containers(&given["initContainers"]),
    });
    if given["nodeName"].is_string() {
        spec["nodeName"] = given["nodeName"].clone();
    }
    if let Some(gates) = given["readinessGates"].as_array() {
        spec["readinessGates"] =
            gates.iter().map(|gate| json!({ "conditionType": gate })).collect();
    }
    json!({"metadata": metadata(given), "spec": spec, "status": status})
}

/// The phase stands alone, or in a status.
fn namespace(given: &Value) -> Value {
    let mut value = json!({"metadata": metadata(given)});
    let phases = [&given["phase"], &given["status"]["phase"], &given["status"]];
    if let Some(phase) = phases.into_iter().find(|phase| phase.is_string()) {
        value["status"] = json!({ "phase": phase });
    }
    value
}

/// A pod template of `containers`, `images` and `nodeSelector`.
fn template(given: &Value) -> Value {
    let names = given["containers"].as_array().cloned().unwrap_or_default();
    let images = given["images"].as_array().cloned().unwrap_or_default();
    let pairs = names.iter().zip(&images);
    let containers: Value =
        pairs.map(|(name, image)| json!({"name": name, "image": image})).collect();
    let mut spec = json!({ "containers": containers });
    if given["nodeSelector"].is_object() {
        spec["nodeSelector"] = given["nodeSelector"].clone();
    }
    json!({ "spec": spec })
}

fn workload(given: &Value) -> Value {
    json!({
        "metadata": metadata(given),
        "spec": {
            "replicas": given["replicas"],
            "selector": {"matchLabels": given["selector"]},
            "template": template(given),
        },
        "status": given["status"],
    })
}

fn node(given: &Value) -> Value {
    let list = |field: &str| given[field].as_array().cloned().unwrap_or_default();
    let info = |field: &&str| given[*field].is_string();
    let known =
        ["osImage", "kernelVersion", "architecture", "containerRuntimeVersion", "kubeletVersion"];
    let info: Map<String, Value> =
        known.into_iter().filter(info).map(|field| (field.into(), given[field].clone())).collect();
    json!({
        "metadata": metadata(given),
        "spec": {"unschedulable": given["unschedulable"] == true},
        "status": {
            "conditions": list("conditions"),
            "addresses": list("addresses"),
            "nodeInfo": info,
        },
    })
}

fn event(given: &Value) -> Value {
    let text = |list: &str, at: usize| given[list][at].as_str().unwrap_or("").to_string();
    let mut event = json!({
        "metadata": metadata(given),
        "source": {"component": text("source", 0), "host": text("source", 1)},
        "involvedObject": {
            "kind": text("involvedObject", 0),
            "name": text("involvedObject", 1),
            "fieldPath": text("involvedObject", 2),
        },
        "reason": given["reason"],
        "message": given["message"],
        "type": given["type"],
        "count": given["count"].as_i64().unwrap_or(0),
    });
    for (field, name) in
        [("reportingComponent", "reportingController"), ("reportingInstance", "reportingInstance")]
    {
        if given[name].is_string() {
            event[field] = given[name].clone();
        }
    }
    let days = |value: &Value| whole(value).map(|days| ago(days * 86_400));
    for field in ["firstTimestamp", "lastTimestamp", "eventTime"] {
        if let Some(at) = days(&given[format!("{field}DaysAgo")]) {
            event[field] = at;
        }
    }
    if let Some(at) = days(&given["series"]["lastObservedDaysAgo"]) {
        event["series"] = json!({"count": given["series"]["count"], "lastObservedTime": at});
    }
    event
}

fn autoscaler(given: &Value) -> Value {
    let metrics = given["metrics"].as_array().cloned().unwrap_or_default();
    let values = |metric: &Value, which: &str| {
        let mut map = Map::new();
        for field in ["AverageValue", "Value"] {
            if let Some(milli) = metric[format!("{which}{field}Milli")].as_i64() {
                let name = field[..1].to_lowercase() + &field[1..];
                map.insert(name, format!("{milli}m").into());
            }
        }
        if let Some(percent) = metric[format!("{which}AverageUtilization")].as_i64() {
            map.insert("averageUtilization".into(), percent.into());
        }
        Value::Object(map)
    };
    let metric = |metric: &Value, key: &str, which: &str| {
        let kind = metric["type"].as_str().unwrap_or("");
        let field = kind[..1].to_lowercase() + &kind[1..];
        json!({"type": kind, field: {"name": metric["resource"], key: values(metric, which)}})
    };
    let specs: Value = metrics.iter().map(|m| metric(m, "target", "target")).collect();
    let statuses: Value = metrics.iter().map(|m| metric(m, "current", "current")).collect();
    let mut spec = json!({
        "scaleTargetRef": {"kind": given["scaleTargetRef"][0], "name": given["scaleTargetRef"][1]},
        "maxReplicas": given["maxReplicas"],
        "metrics": specs,
    });
    if given["minReplicas"].is_i64() {
        spec["minReplicas"] = given["minReplicas"].clone();
    }
    let status = json!({"currentReplicas": given["currentReplicas"], "currentMetrics": statuses});
    json!({"metadata": metadata(given), "spec": spec, "status": status})
}

fn job(given: &Value) -> Value {
    let mut status = json!({"succeeded": given["succeeded"]});
    let minutes = |field: &str| whole(&given[field]).map(|minutes| minutes * 60);
    if let Some(span) = minutes("startToCompletionMinutes") {
        status["startTime"] = ago(span);
        status["completionTime"] = ago(0);
    }
    if let Some(since) = minutes("startedMinutesAgo") {
        status["startTime"] = ago(since);
        if let Some(span) = minutes("startToCompletionMinutes") {
            status["completionTime"] = ago(since - span);
        }
    }
    let conditions = given["conditions"].as_array().cloned().unwrap_or_default();
    let condition = |kind: &Value| json!({"type": kind, "status": "True"});
    status["conditions"] = conditions.iter().map(condition).collect();
    let mut spec =
        json!({"template": template(given), "selector": {"matchLabels": given["selector"]}});
    for field in ["completions", "parallelism"] {
        if given[field].is_i64() {
            spec[field] = given[field].clone();
        }
    }
    json!({"metadata": metadata(given), "spec": spec, "status": status})
}
