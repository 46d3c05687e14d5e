//! Kinds of which the table shows little.

use crate::api::{Generic, Kind, Timestamp, Value};
use crate::kubectl::duration::{age, human_duration};

/// The columns of a kind.
pub fn columns(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Namespace => &["NAME", "STATUS", "AGE"],
        Kind::Lease => &["NAME", "HOLDER", "AGE"],
        Kind::ConfigMap => &["NAME", "DATA", "AGE"],
        Kind::Secret => &["NAME", "TYPE", "DATA", "AGE"],
        Kind::Service => &["NAME", "TYPE", "CLUSTER-IP", "EXTERNAL-IP", "PORT(S)", "AGE"],
        Kind::PodDisruptionBudget => {
            &["NAME", "MIN AVAILABLE", "MAX UNAVAILABLE", "ALLOWED DISRUPTIONS", "AGE"]
        }
        Kind::CronJob => {
            &["NAME", "SCHEDULE", "TIMEZONE", "SUSPEND", "ACTIVE", "LAST SCHEDULE", "AGE"]
        }
        Kind::ControllerRevision => &["NAME", "CONTROLLER", "REVISION", "AGE"],
        Kind::EndpointSlice => &["NAME", "ADDRESSTYPE", "PORTS", "ENDPOINTS", "AGE"],
        Kind::PriorityClass => &["NAME", "VALUE", "GLOBAL-DEFAULT", "AGE", "PREEMPTIONPOLICY"],
        _ => &["NAME", "AGE"],
    }
}

pub fn row(object: &Generic, now: Timestamp) -> Vec<String> {
    let at = |pointer: &str| {
        let (section, rest) = pointer.split_at(pointer.find('/').unwrap_or(pointer.len()));
        object.rest.get(section).and_then(|value| value.pointer(rest))
    };
    let text = |pointer: &str| match at(pointer) {
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => String::new(),
    };
    let or = |pointer: &str, other: &str| match text(pointer) {
        text if text.is_empty() => other.to_string(),
        text => text,
    };
    let count = |pointer: &str| at(pointer).and_then(Value::as_object).map_or(0, |map| map.len());
    let mut row = vec![object.metadata.name.to_string()];
    match object.kind {
        Kind::Namespace => row.push(text("status/phase")),
        Kind::ConfigMap => row.push((count("data") + count("binaryData")).to_string()),
        Kind::Secret => {
            let data = count("data").max(count("stringData"));
            row.extend([or("type", "Opaque"), data.to_string()]);
        }
        Kind::Service => {
            let kind = or("spec/type", "ClusterIP");
            let outside = match kind.as_str() {
                "LoadBalancer" => "<pending>",
                _ => "<none>",
            };
            row.extend([kind, or("spec/clusterIP", "<none>"), outside.into()]);
            row.push(ports(at("spec/ports")));
        }
        Kind::PodDisruptionBudget => {
            row.extend([or("spec/minAvailable", "N/A"), or("spec/maxUnavailable", "N/A")]);
            row.push(or("status/disruptionsAllowed", "0"));
        }
        Kind::CronJob => {
            let suspend = if object.spec().flag("suspend") { "True" } else { "False" };
            let last = object.status().time("lastScheduleTime");
            let last = last.map_or("<none>".into(), |last| human_duration(now.seconds_since(last)));
            row.extend([text("spec/schedule"), or("spec/timeZone", "<none>"), suspend.into()]);
            row.extend([object.status().items("active").len().to_string(), last]);
        }
        Kind::ControllerRevision => {
            let owner = object.metadata.controller().map_or("<none>".into(), |owner| {
                let group = owner.api_version.split_once('/').map_or("", |(group, _)| group);
                format!("{}.{group}/{}", owner.kind.to_ascii_lowercase(), owner.name)
            });
            row.extend([owner, or("revision", "0")]);
        }
        Kind::EndpointSlice => row.extend(endpoints(object)),
        Kind::PriorityClass => row.extend([or("value", "0"), or("globalDefault", "false")]),
        _ => {}
    }
    row.push(age(object.metadata.creation_timestamp, now));
    if object.kind == Kind::PriorityClass {
        row.push(text("preemptionPolicy"));
    }
    row
}

/// Address type, ports, and at most three addresses.
fn endpoints(slice: &Generic) -> [String; 3] {
    const SHOWN: usize = 3;
    let list = |field: &str| slice.rest.get(field).and_then(Value::as_array);
    let kind = slice.rest.get("addressType").and_then(Value::as_str).unwrap_or("");
    let ports = list("ports").into_iter().flatten().map(|port| port["port"].to_string());
    let ports: Vec<String> = ports.collect();
    let endpoints = list("endpoints").into_iter().flatten();
    let addresses = endpoints.filter_map(|endpoint| endpoint["addresses"][0].as_str());
    let addresses: Vec<&str> = addresses.collect();
    let or_unset = |text: String| if text.is_empty() { "<unset>".to_string() } else { text };
    let mut shown = or_unset(addresses[..addresses.len().min(SHOWN)].join(","));
    if addresses.len() > SHOWN {
        shown.push_str(&format!(" + {} more...", addresses.len() - SHOWN));
    }
    [kind.into(), or_unset(ports.join(",")), shown]
}

fn ports(ports: Option<&Value>) -> String {
    let list = ports.and_then(Value::as_array);
    let port = |port: &Value| {
        let number = |field: &str| port.get(field).and_then(Value::as_i64);
        let protocol = port.get("protocol").and_then(Value::as_str).unwrap_or("TCP");
        match (number("port").unwrap_or(0), number("nodePort")) {
            (port, Some(node)) => format!("{port}:{node}/{protocol}"),
            (port, None) => format!("{port}/{protocol}"),
        }
    };
    let ports: Vec<String> = list.into_iter().flatten().map(port).collect();
    super::or_none(&ports.join(","))
}
