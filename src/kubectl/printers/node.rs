//! Nodes (`printNode`).

use crate::api::{Condition, Node, Timestamp, Value};
use crate::kubectl::duration::age;

pub const COLUMNS: &[&str] = &["NAME", "STATUS", "ROLES", "AGE", "VERSION"];
pub const WIDE: &[&str] =
    &["INTERNAL-IP", "EXTERNAL-IP", "OS-IMAGE", "KERNEL-VERSION", "CONTAINER-RUNTIME"];

const ROLE: &str = "node-role.kubernetes.io/";

pub fn row(node: &Node, now: Timestamp, wide: bool) -> Vec<String> {
    let info = |field: &str| {
        let info = node.status.rest.get("nodeInfo");
        info.and_then(|info| info.get(field)).and_then(Value::as_str).unwrap_or("")
    };
    let mut row = vec![
        node.metadata.name.to_string(),
        status(node),
        roles(node),
        age(node.metadata.creation_timestamp, now),
        info("kubeletVersion").to_string(),
    ];
    if wide {
        row.extend(["InternalIP", "ExternalIP"].map(|kind| super::or_none(address(node, kind))));
        let or_unknown = |text: &str| match text {
            "" => "<unknown>".to_string(),
            text => text.into(),
        };
        for field in ["osImage", "kernelVersion", "containerRuntimeVersion"] {
            row.push(or_unknown(info(field)));
        }
    }
    row
}

fn status(node: &Node) -> String {
    let mut words = vec![match Condition::find(&node.status.conditions, "Ready") {
        Some(condition) if condition.status == crate::api::ConditionStatus::True => "Ready",
        Some(_) => "NotReady",
        None => "Unknown",
    }];
    if node.spec.unschedulable {
        words.push("SchedulingDisabled");
    }
    words.join(",")
}

fn roles(node: &Node) -> String {
    let mut roles: Vec<&str> = Vec::new();
    for (key, value) in &node.metadata.labels {
        match key.strip_prefix(ROLE) {
            Some(role) if !role.is_empty() => roles.push(role),
            None if &**key == "kubernetes.io/role" && !value.is_empty() => roles.push(value),
            _ => {}
        }
    }
    roles.sort_unstable();
    roles.dedup();
    super::or_none(&roles.join(","))
}

fn address<'n>(node: &'n Node, kind: &str) -> &'n str {
    let list = node.status.rest.get("addresses").and_then(Value::as_array);
    let of_kind = |address: &&Value| address.get("type").and_then(Value::as_str) == Some(kind);
    let found = list.into_iter().flatten().find(of_kind);
    found.and_then(|address| address.get("address")).and_then(Value::as_str).unwrap_or("")
}
