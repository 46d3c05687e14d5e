//! Nodes (`printNode`).

use crate::api::{ConditionStatus, Node, Timestamp, Value};
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
        let kernel = match info("architecture") {
            "" => or_unknown(info("kernelVersion")),
            machine => format!("{} ({machine})", or_unknown(info("kernelVersion"))),
        };
        row.extend([or_unknown(info("osImage")), kernel]);
        row.push(or_unknown(info("containerRuntimeVersion")));
    }
    row
}

fn status(node: &Node) -> String {
    // Of two conditions of one type the last counts.
    let ready = node.status.conditions.iter().rev().find(|condition| &*condition.kind == "Ready");
    let mut words = vec![match ready {
        Some(condition) if condition.status == ConditionStatus::True => "Ready",
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_machine_stands_behind_the_kernel_and_the_last_condition_of_a_type_counts() {
        let node: Node = serde_json::from_value(json!({
            "metadata": {"name": "n"},
            "status": {
                "conditions": [
                    {"type": "Ready", "status": "True"},
                    {"type": "Ready", "status": "False"},
                ],
                "nodeInfo": {"architecture": "arm64"},
            },
        }))
        .expect("a node");
        let row = row(&node, Timestamp(0), true);
        assert_eq!((&*row[1], &*row[8]), ("NotReady", "<unknown> (arm64)"));
    }
}
