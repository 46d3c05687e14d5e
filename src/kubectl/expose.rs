//! `kubectl expose` and `autoscale`: a Service or a HorizontalPodAutoscaler for an object that is
//! there (kubectl `pkg/cmd/expose`, `pkg/cmd/autoscale`).

use serde_json::json;

use crate::api::{Kind, Object, Value};

use super::command::{Autoscale, DryRun, Expose, Select};
use super::create::{Making, make};
use super::generators::map;
use super::resources::group_kind;
use super::update::{each, pod_spec_pointer};
use super::{Api, Output};

/// Makes a Service for the pods of each object.
pub fn expose(select: &Select, options: &Expose, api: &mut dyn Api, out: &mut Output) {
    each(select, api, out, |object, api, out| {
        let value = service(object, options)?;
        let making = Making::new("exposed", &object.meta().namespace, &options.shown);
        make(Kind::Service, &value, &making, api, out);
        Ok(())
    });
}

fn service(object: &Object, options: &Expose) -> Result<Value, String> {
    let kind = object.kind();
    let exposable = matches!(
        kind,
        Kind::Pod
            | Kind::Service
            | Kind::ReplicationController
            | Kind::Deployment
            | Kind::ReplicaSet
    );
    if !exposable {
        return Err(format!("error: cannot expose a {}", group_kind(kind)));
    }
    let whole = object.to_value();
    let selector = match options.selector.is_empty() {
        false => map(&options.selector),
        true => pod_labels(kind, &whole)?,
    };
    let protocol = options.protocol.as_deref().unwrap_or("TCP");
    let own: Vec<i64> = container_ports(kind, &whole);
    let given: Vec<i64> = options.port.map(i64::from).into_iter().collect();
    let numbers = if given.is_empty() { &own } else { &given };
    if numbers.is_empty() {
        let message = "error: couldn't find port via --port flag or introspection";
        return Err(message.into());
    }
    let port = |(index, number): (usize, &i64)| {
        let target = match &options.target_port {
            Some(text) => text.parse::<i32>().map_or_else(|_| json!(text), |number| json!(number)),
            None => json!(number),
        };
        let mut port = json!({"port": number, "protocol": protocol, "targetPort": target});
        if numbers.len() > 1 {
            port["name"] = format!("port-{}", index + 1).into();
        }
        port
    };
    let ports: Vec<Value> = numbers.iter().enumerate().map(port).collect();
    let meta = object.meta();
    let name = options.name.as_deref().unwrap_or(&meta.name);
    let labels = match options.labels.is_empty() {
        false => map(&options.labels),
        true => json!(meta.labels),
    };
    let mut spec = json!({"ports": ports, "selector": selector});
    if let Some(kind) = &options.kind {
        if !["ClusterIP", "NodePort", "LoadBalancer", "ExternalName"].contains(&kind.as_str()) {
            return Err(format!("error: invalid service type: {kind}"));
        }
        spec["type"] = kind.as_str().into();
    }
    if let Some(address) = &options.cluster_ip {
        spec["clusterIP"] = address.as_str().into();
    }
    let mut metadata = json!({ "name": name });
    if labels.as_object().is_some_and(|labels| !labels.is_empty()) {
        metadata["labels"] = labels;
    }
    Ok(json!({"metadata": metadata, "spec": spec, "status": {"loadBalancer": {}}}))
}

/// The labels by which a Service finds the object's pods.
fn pod_labels(kind: Kind, value: &Value) -> Result<Value, String> {
    let pointer = match kind {
        Kind::Pod => "/metadata/labels",
        Kind::Service | Kind::ReplicationController => "/spec/selector",
        _ => "/spec/selector/matchLabels",
    };
    let expressions = value.pointer("/spec/selector/matchExpressions").and_then(Value::as_array);
    if expressions.is_some_and(|list| !list.is_empty()) {
        return Err(
            "error: couldn't convert expressions - \"matchExpressions\" cannot be written \
                    as a map of labels"
                .into(),
        );
    }
    let labels = value.pointer(pointer).filter(|labels| labels.is_object());
    labels.cloned().ok_or_else(|| match kind {
        Kind::Pod => "error: the pod has no labels and cannot be exposed".into(),
        _ => "error: couldn't retrieve selectors via --selector flag or introspection".into(),
    })
}

fn container_ports(kind: Kind, value: &Value) -> Vec<i64> {
    let number = |port: &Value, field: &str| port.get(field).and_then(Value::as_i64);
    let list = |value: &Value, pointer: &str| {
        value.pointer(pointer).and_then(Value::as_array).cloned().unwrap_or_default()
    };
    if kind == Kind::Service {
        let ports = list(value, "/spec/ports");
        return ports.iter().filter_map(|port| number(port, "port")).collect();
    }
    let containers = list(value, &format!("{}/containers", pod_spec_pointer(kind)));
    let ports = containers.iter().flat_map(|container| list(container, "/ports"));
    ports.filter_map(|port| number(&port, "containerPort")).collect()
}

/// Makes an autoscaler for each object.
pub fn autoscale(select: &Select, options: &Autoscale, api: &mut dyn Api, out: &mut Output) {
    each(select, api, out, |object, api, out| {
        let kind = object.kind();
        let info = kind.info();
        let scalable = matches!(
            kind,
            Kind::Deployment | Kind::ReplicaSet | Kind::ReplicationController | Kind::StatefulSet
        );
        if !scalable {
            let (group, version) =
                info.api_version.split_once('/').unwrap_or(("", info.api_version));
            return Err(format!(
                "error: cannot autoscale a {}: could not find scale subresource for \
                 {group}/{version}, Resource={} in discovery information",
                group_kind(kind),
                info.plural
            ));
        }
        let meta = object.meta();
        let name = options.name.as_deref().unwrap_or(&meta.name);
        let metric = |(resource, target): &(&str, Value)| {
            let resource = json!({"name": resource, "target": target});
            json!({"resource": resource, "type": "Resource"})
        };
        let mut spec = json!({
            "maxReplicas": options.max,
            "metrics": options.targets.iter().map(metric).collect::<Vec<_>>(),
            "scaleTargetRef": {
                "apiVersion": info.api_version, "kind": info.kind, "name": &*meta.name,
            },
        });
        if let Some(min) = options.min {
            spec["minReplicas"] = min.into();
        }
        let value = json!({"metadata": {"name": name}, "spec": spec, "status": {}});
        let kind = Kind::HorizontalPodAutoscaler;
        // kubectl's word for what it would have done differs.
        let client = options.shown.dry_run == DryRun::Client;
        let words = if client { "created" } else { "autoscaled" };
        let making = Making::new(words, &meta.namespace, &options.shown);
        make(kind, &value, &making, api, out);
        Ok(())
    });
}
