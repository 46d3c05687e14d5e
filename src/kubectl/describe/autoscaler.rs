//! `kubectl describe` of HorizontalPodAutoscalers (`describeHorizontalPodAutoscalerV2`).

use serde_json::Value;

use crate::api::Generic;

use crate::kubectl::Output;
use crate::kubectl::apply::LAST_APPLIED;
use crate::kubectl::printers::autoscaler::source_field;

use super::policy::Tabs;
use super::sheet::long_time;

/// Describes an autoscaler, but for its Events.
pub(super) fn run(object: &Generic, mut tabs: Tabs, out: &mut Output) {
    let meta = &object.metadata;
    let mut annotations = meta.annotations.clone();
    annotations.remove(LAST_APPLIED);
    let marks = [("Labels:", &meta.labels, "="), ("Annotations:", &annotations, ": ")];
    for (name, map, between) in marks {
        let mut name = name;
        for (key, value) in map {
            tabs.line([name, &format!("{key}{between}{value}")]);
            name = "";
        }
        if map.is_empty() {
            tabs.line([name, "<none>"]);
        }
    }
    let created = meta.creation_timestamp.map(long_time).unwrap_or_default();
    tabs.line(["CreationTimestamp:", &created]);
    let kind = object.text("spec/scaleTargetRef/kind");
    let target = format!("{kind}/{}", object.text("spec/scaleTargetRef/name"));
    tabs.line(["Reference:", &target]);
    tabs.line(["Metrics:", "( current / target )"]);
    let list = |path: &str| object.field(path).and_then(Value::as_array).cloned();
    let (specs, statuses) = (list("spec/metrics"), list("status/currentMetrics"));
    let statuses = statuses.unwrap_or_default();
    for (index, spec) in specs.unwrap_or_default().iter().enumerate() {
        let (name, numbers) = metric(spec, statuses.get(index));
        tabs.line([&format!("  {name}:"), &numbers]);
    }
    let number = |path: &str| object.whole_number(path).unwrap_or(0).to_string();
    let least = object.whole_number("spec/minReplicas").map(|least| least.to_string());
    tabs.line(["Min replicas:", least.as_deref().unwrap_or("<unset>")]);
    tabs.line(["Max replicas:", &number("spec/maxReplicas")]);
    let (current, desired) = (number("status/currentReplicas"), number("status/desiredReplicas"));
    let pods = format!("{current} current / {desired} desired");
    tabs.line([&format!("{kind} pods:"), &pods]);
    tabs.print(out);
    conditions(object, out);
}

fn conditions(object: &Generic, out: &mut Output) {
    let list = object.field("status/conditions").and_then(Value::as_array);
    let Some(list) = list.filter(|list| !list.is_empty()) else { return };
    out.line("Conditions:");
    let mut tabs = Tabs::default();
    tabs.line(["  Type", "Status", "Reason", "Message"]);
    tabs.line(["  ----", "------", "------", "-------"]);
    for condition in list {
        let text = |field: &str| condition.get(field).and_then(Value::as_str).unwrap_or_default();
        let kind = format!("  {}", text("type"));
        tabs.line([&kind, text("status"), text("reason"), text("message")]);
    }
    tabs.print(out);
}

/// What a metric is called, and `current / target`.
fn metric(spec: &Value, status: Option<&Value>) -> (String, String) {
    let kind = spec["type"].as_str().unwrap_or_default();
    let field = source_field(kind);
    let source = &spec[field];
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_string);
    let target = |name: &str| Some(&source["target"][name]).filter(|v| !v.is_null()).map(text);
    let current = |name: &str| {
        let found = status.map(|status| &status[field]["current"][name]);
        found.filter(|value| !value.is_null()).map(text)
    };
    let unknown = || "<unknown>".to_string();
    let plain = |name: &str| {
        let target = target(name).unwrap_or_else(|| "<auto>".into());
        format!("{} / {target}", current(name).unwrap_or_else(unknown))
    };
    let name = source["metric"]["name"].as_str().unwrap_or_default();
    let is_average = target("averageValue").is_some();
    let numbers = plain(if is_average { "averageValue" } else { "value" });
    match kind {
        "Pods" => (format!("{name:?} on pods"), plain("averageValue")),
        "External" if is_average => (format!("{name:?} (target average value)"), numbers),
        "External" => (format!("{name:?} (target value)"), numbers),
        "Object" => {
            let object = &source["describedObject"];
            let part = |field: &str| object[field].as_str().unwrap_or_default();
            let how = if is_average { "target average value" } else { "target value" };
            (format!("{name:?} on {}/{} ({how})", part("kind"), part("name")), numbers)
        }
        _ => {
            let resource = source["name"].as_str().unwrap_or_default();
            let of = match source["container"].as_str() {
                Some(container) => {
                    format!("resource {resource} of container {container:?} on pods")
                }
                None => format!("resource {resource} on pods"),
            };
            if is_average {
                return (of, numbers);
            }
            let average = current("averageUtilization")
                .map(|share| format!("{share}% ({})", current("averageValue").unwrap_or_default()));
            let target = target("averageUtilization").map(|share| format!("{share}%"));
            let target = target.unwrap_or_else(|| "<auto>".into());
            let average = average.unwrap_or_else(unknown);
            (format!("{of}  (as a percentage of request)"), format!("{average} / {target}"))
        }
    }
}
