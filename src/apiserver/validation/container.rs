//! Containers (`validateContainers`, `ValidateResourceRequirements`).

use std::collections::{BTreeMap, BTreeSet};

use crate::api::{Container, PodSpec, Quantity, ResourceRequirements, Str, Value, names};

use super::errors::Errors;
use super::probe;
use super::values::{items, text};

/// All containers of a pod.
pub fn containers(spec: &PodSpec, path: &str, volumes: &BTreeSet<String>, errors: &mut Errors) {
    let mut seen = BTreeSet::new();
    let main = format!("{path}.containers");
    if spec.containers.is_empty() {
        errors.required(&main, "");
    }
    for (index, container) in spec.containers.iter().enumerate() {
        let path = format!("{main}[{index}]");
        one(container, &path, volumes, &mut seen, errors);
        probe::probes(container, &path, errors);
    }
    for (index, container) in spec.init_containers.iter().enumerate() {
        let path = format!("{path}.initContainers[{index}]");
        one(container, &path, volumes, &mut seen, errors);
        probe::init_container(container, &path, errors);
    }
    host_ports(&spec.containers, &main, errors);
}

fn one(
    container: &Container,
    path: &str,
    volumes: &BTreeSet<String>,
    seen: &mut BTreeSet<Str>,
    errors: &mut Errors,
) {
    let name = &container.name;
    let at = format!("{path}.name");
    if name.is_empty() {
        errors.required(&at, "");
    } else {
        errors.rules(&at, name, names::dns1123_label(name));
        if !seen.insert(name.clone()) {
            errors.duplicate(&at, name);
        }
    }
    let image = container.image.as_deref().unwrap_or("");
    if image.is_empty() {
        errors.required(&format!("{path}.image"), "");
    } else if image.trim() != image {
        let detail = "must not have leading or trailing whitespace";
        errors.invalid(&format!("{path}.image"), image, detail);
    }
    if let Some(policy) = &container.image_pull_policy {
        let known = ["Always", "IfNotPresent", "Never"];
        errors.one_of(&format!("{path}.imagePullPolicy"), policy, &known);
    }
    ports(container, &format!("{path}.ports"), errors);
    env(container, &format!("{path}.env"), errors);
    mounts(container, &format!("{path}.volumeMounts"), volumes, errors);
    resources(&container.resources, &format!("{path}.resources"), errors);
}

/// The items of a list that the simulation does not read.
fn list<'c>(container: &'c Container, field: &str) -> impl Iterator<Item = (usize, &'c Value)> {
    items(container.rest.get(field))
}

fn ports(container: &Container, path: &str, errors: &mut Errors) {
    let mut seen = BTreeSet::new();
    for (index, port) in list(container, "ports") {
        let path = format!("{path}[{index}]");
        let name = text(port, "name");
        if !name.is_empty() {
            let at = format!("{path}.name");
            let broken = port_name(name);
            if broken.is_empty() && !seen.insert(name) {
                errors.duplicate(&at, name);
            }
            errors.rules(&at, name, broken);
        }
        match port.get("containerPort").and_then(Value::as_i64).unwrap_or(0) {
            0 => errors.required(&format!("{path}.containerPort"), ""),
            number => errors.in_range(&format!("{path}.containerPort"), number, 1, 65_535),
        }
        let host = port.get("hostPort").and_then(Value::as_i64).unwrap_or(0);
        if host != 0 {
            errors.in_range(&format!("{path}.hostPort"), host, 1, 65_535);
        }
        let protocol = text(port, "protocol");
        if !protocol.is_empty() {
            errors.one_of(&format!("{path}.protocol"), protocol, &["SCTP", "TCP", "UDP"]);
        }
    }
}

/// `IsValidPortName`: a service name of RFC 6335.
pub fn port_name(name: &str) -> Vec<String> {
    let mut broken = Vec::new();
    if name.len() > 15 {
        broken.push("must be no more than 15 bytes".to_string());
    }
    let letter = |b: u8| b.is_ascii_lowercase();
    if !name.bytes().all(|b| letter(b) || b.is_ascii_digit() || b == b'-') {
        broken
            .push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)".into());
    }
    if !name.bytes().any(letter) {
        broken.push("must contain at least one letter (a-z)".into());
    }
    if name.contains("--") {
        broken.push("must not contain consecutive hyphens".into());
    }
    if name.starts_with('-') || name.ends_with('-') {
        broken.push("must not begin or end with a hyphen".into());
    }
    broken
}

fn host_ports(containers: &[Container], path: &str, errors: &mut Errors) {
    let mut seen = BTreeSet::new();
    for (index, container) in containers.iter().enumerate() {
        for (at, port) in list(container, "ports") {
            let number = port.get("hostPort").and_then(Value::as_i64).unwrap_or(0);
            let host = (text(port, "protocol"), text(port, "hostIP"), number);
            if number != 0 && !seen.insert(host) {
                let path = format!("{path}[{index}].ports[{at}].hostPort");
                errors.duplicate(&path, &format!("{}/{}/{number}", host.1, host.0));
            }
        }
    }
}

fn env(container: &Container, path: &str, errors: &mut Errors) {
    for (index, variable) in list(container, "env") {
        let path = format!("{path}[{index}]");
        let name = text(variable, "name");
        if name.is_empty() {
            errors.required(&format!("{path}.name"), "");
        } else if let Some(bad) = name.chars().find(|&c| !(' '..='~').contains(&c) || c == '=') {
            let detail = format!(
                "a valid environment variable name must consist only of printable ASCII \
                 characters other than '=' (found {bad:?})"
            );
            errors.invalid(&format!("{path}.name"), name, &detail);
        }
        if variable.get("valueFrom").is_some() && !text(variable, "value").is_empty() {
            let detail = "may not be specified when `value` is not empty";
            errors.invalid(&format!("{path}.valueFrom"), "", detail);
        }
    }
}

fn mounts(container: &Container, path: &str, volumes: &BTreeSet<String>, errors: &mut Errors) {
    let mut seen = BTreeSet::new();
    for (index, mount) in list(container, "volumeMounts") {
        let path = format!("{path}[{index}]");
        let name = text(mount, "name");
        if name.is_empty() {
            errors.required(&format!("{path}.name"), "");
        } else if !volumes.contains(name) {
            errors.not_found(&format!("{path}.name"), name);
        }
        let at = text(mount, "mountPath");
        if at.is_empty() {
            errors.required(&format!("{path}.mountPath"), "");
        } else if !seen.insert(at) {
            errors.invalid(&format!("{path}.mountPath"), at, "must be unique");
        }
    }
}

type Amounts = BTreeMap<Str, Quantity>;

fn resources(resources: &ResourceRequirements, path: &str, errors: &mut Errors) {
    let amounts = |list: &Amounts, at: &str, errors: &mut Errors| {
        for (name, quantity) in list {
            let path = format!("{path}.{at}[{name}]");
            resource_name(name, &path, errors);
            if quantity.nanos < 0 {
                let detail = "must be greater than or equal to 0";
                errors.invalid(&path, quantity.to_string(), detail);
            }
        }
    };
    amounts(&resources.limits, "limits", errors);
    amounts(&resources.requests, "requests", errors);
    for (name, request) in &resources.requests {
        let Some(limit) = resources.limits.get(name) else {
            continue;
        };
        if request.nanos > limit.nanos {
            let detail = format!("must be less than or equal to {name} limit of {limit}");
            errors.invalid(&format!("{path}.requests"), request.to_string(), &detail);
        }
    }
}

/// A name without a `/` must be one of Kubernetes' own.
/// `ValidateContainerResourceName`.
pub fn resource_name(name: &str, path: &str, errors: &mut Errors) {
    let broken = names::qualified_name(name);
    let legal = broken.is_empty();
    errors.rules(path, name, broken);
    let standard =
        ["cpu", "memory", "ephemeral-storage"].contains(&name) || name.starts_with("hugepages-");
    if legal && !name.contains('/') && !standard {
        errors.invalid(path, name, "must be a standard resource type or fully qualified");
        errors.invalid(path, name, "must be a standard resource for containers");
    }
}
