//! Probes (`validateProbe`).

use crate::api::{Container, Probe, RestartPolicy, Value};

use super::errors::Errors;

/// The probes of a container.
pub fn probes(container: &Container, path: &str, errors: &mut Errors) {
    if let Some(probe) = &container.liveness_probe {
        one(probe, &format!("{path}.livenessProbe"), true, errors);
    }
    if let Some(probe) = &container.readiness_probe {
        one(probe, &format!("{path}.readinessProbe"), false, errors);
    }
    if let Some(probe) = &container.startup_probe {
        one(probe, &format!("{path}.startupProbe"), true, errors);
    }
}

/// An init container has probes only if it is a sidecar.
pub fn init_container(container: &Container, path: &str, errors: &mut Errors) {
    match container.restart_policy {
        Some(RestartPolicy::Always) => probes(container, path, errors),
        _ => {
            for (field, probe) in [
                ("livenessProbe", &container.liveness_probe),
                ("readinessProbe", &container.readiness_probe),
                ("startupProbe", &container.startup_probe),
            ] {
                if probe.is_some() {
                    let detail = "may not be set for init containers without restartPolicy=Always";
                    errors.forbidden(&format!("{path}.{field}"), detail);
                }
            }
        }
    }
}

fn one(probe: &Probe, path: &str, succeeds_once: bool, errors: &mut Errors) {
    let handlers = ["exec", "httpGet", "tcpSocket", "grpc"];
    let given: Vec<&str> =
        handlers.into_iter().filter(|handler| probe.rest.contains_key(*handler)).collect();
    match given.as_slice() {
        [] => errors.required(path, "must specify a handler type"),
        [_] => {}
        [_, more @ ..] => {
            for handler in more {
                let detail = "may not specify more than 1 handler type";
                errors.forbidden(&format!("{path}.{handler}"), detail);
            }
        }
    }
    if let Some(get) = probe.rest.get("httpGet") {
        port(get, &format!("{path}.httpGet.port"), errors);
    }
    if let Some(socket) = probe.rest.get("tcpSocket") {
        port(socket, &format!("{path}.tcpSocket.port"), errors);
    }
    for (field, number) in [
        ("initialDelaySeconds", probe.initial_delay_seconds),
        ("timeoutSeconds", probe.timeout_seconds),
        ("periodSeconds", probe.period_seconds),
        ("successThreshold", probe.success_threshold),
        ("failureThreshold", probe.failure_threshold),
    ] {
        errors.non_negative(&format!("{path}.{field}"), number.unwrap_or(0));
    }
    if let Some(times) = probe.success_threshold.filter(|&times| succeeds_once && times != 1) {
        errors.invalid(&format!("{path}.successThreshold"), times, "must be 1");
    }
}

fn port(handler: &Value, path: &str, errors: &mut Errors) {
    match handler.get("port") {
        Some(Value::Number(number)) => {
            errors.in_range(path, number.as_i64().unwrap_or(0), 1, 65_535);
        }
        Some(Value::String(name)) => {
            errors.rules(path, name, super::container::port_name(name));
        }
        _ => errors.in_range(path, 0, 1, 65_535),
    }
}
