//! Services.

use serde_json::json;

use super::Named;
use crate::api::Value;
use crate::kubectl::errors::UsageError;

/// A port: `80`, `80:8080` or `80:http`.
fn port(text: &str, node_port: Option<i64>) -> Result<Value, UsageError> {
    let (port, target) = text.split_once(':').unwrap_or((text, ""));
    let valid = |text: &str| text.parse::<u16>().ok().filter(|&port| port > 0);
    let Some(number) = valid(port) else {
        let message = format!("Invalid port: {text:?}: must be between 1 and 65535, inclusive");
        return Err(UsageError::plain(message));
    };
    let target_port = match target {
        "" => json!(number),
        target => valid(target).map_or(json!(target), |number| json!(number)),
    };
    let name = match target {
        "" => port.to_string(),
        target => format!("{port}-{target}"),
    };
    let mut port =
        json!({"name": name, "port": number, "protocol": "TCP", "targetPort": target_port});
    if let Some(node_port) = node_port.filter(|&number| number != 0) {
        port["nodePort"] = node_port.into();
    }
    Ok(port)
}

/// `create service clusterip|externalname|loadbalancer|nodeport`.
pub fn service(named: &Named<'_>) -> Result<Value, UsageError> {
    let (kind, needs_port) = match named.what {
        "service nodeport" => ("NodePort", true),
        "service loadbalancer" => ("LoadBalancer", true),
        "service externalname" => ("ExternalName", false),
        _ => ("ClusterIP", true),
    };
    let flags = named.flags;
    let node_port = flags.number("node-port")?;
    let ports = named.list("tcp").into_iter().map(|text| port(text, node_port));
    let ports = ports.collect::<Result<Vec<Value>, _>>()?;
    let headless = flags.value("clusterip") == Some("None");
    if ports.is_empty() && needs_port && !headless {
        return Err(UsageError::plain("at least one tcp port specifier must be provided"));
    }
    let labels = json!({ "app": named.name });
    let mut spec = json!({"selector": labels, "type": kind});
    if !ports.is_empty() {
        spec["ports"] = json!(ports);
    }
    if let Some(address) = flags.value("clusterip") {
        spec["clusterIP"] = address.into();
    }
    if kind == "ExternalName" {
        spec["externalName"] = named.required("external-name")?.into();
    }
    let metadata = json!({"labels": labels, "name": named.name});
    Ok(json!({"metadata": metadata, "spec": spec, "status": {"loadBalancer": {}}}))
}

/// The Service of `run --expose`.
pub fn of_pod(name: &str, port: i32, labels: &Value) -> Value {
    let ports = json!([{"port": port, "protocol": "TCP", "targetPort": port}]);
    json!({
        "metadata": {"name": name},
        "spec": {"ports": ports, "selector": labels},
        "status": {"loadBalancer": {}},
    })
}
