//! Services and Ingresses (`ValidateService`, `ValidateIngress` of
//! `pkg/apis/{core,networking}/validation`), as far as is often got wrong. Left out: addresses,
//! traffic policies and source ranges of Services; TLS and the class of Ingresses.

use std::collections::BTreeSet;

use serde_json::json;

use crate::api::selector::validate_labels;
use crate::api::{FieldError, FieldErrorKind, Fields, Generic, Kind, StrMap, Value, names};

use super::container::port_name;
use super::errors::Errors;
use super::values::{items, text};

const KUBELET_PORT: i64 = 10_250;
/// `--service-node-port-range`.
const NODE_PORTS: std::ops::RangeInclusive<i64> = 30_000..=32_767;

/// One of these kinds.
pub fn network(object: &Generic, errors: &mut Errors) {
    match object.kind {
        Kind::Service => service(object, errors),
        Kind::Ingress => ingress(object, errors),
        _ => {}
    }
}

fn number(value: &Value, field: &str) -> i64 {
    value.get(field).and_then(Value::as_i64).unwrap_or(0)
}

fn service(service: &Generic, errors: &mut Errors) {
    let before = errors.is_empty();
    let spec = service.spec();
    let kind = spec.text("type").unwrap_or("ClusterIP");
    let headless = spec.text("clusterIP") == Some("None");
    let ports: Vec<(usize, &Value)> = items(service.field("spec/ports")).collect();
    if ports.is_empty() && !headless && kind != "ExternalName" {
        errors.required("spec.ports", "");
    }
    by_type(kind, headless, spec, &ports, errors);
    let mut seen = BTreeSet::new();
    for (index, port) in &ports {
        let path = format!("spec.ports[{index}]");
        service_port(port, &path, ports.len() > 1, &mut seen, errors);
    }
    let selector: StrMap = spec.read("selector");
    errors.extend(validate_labels(&selector, "spec.selector"));
    let affinity = spec.text("sessionAffinity").unwrap_or("None");
    errors.one_of("spec.sessionAffinity", affinity, &["ClientIP", "None"]);
    errors.one_of("spec.type", kind, &["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"]);
    if kind == "ClusterIP" {
        for (index, _) in ports.iter().filter(|(_, port)| number(port, "nodePort") != 0) {
            let path = format!("spec.ports[{index}].nodePort");
            errors.forbidden(&path, "may not be used when `type` is 'ClusterIP'");
        }
    }
    twice(&ports, errors);
    if before && errors.is_empty() {
        node_ports(&ports, errors);
    }
}

fn by_type(
    kind: &str,
    headless: bool,
    spec: Fields<'_>,
    ports: &[(usize, &Value)],
    errors: &mut Errors,
) {
    match kind {
        "LoadBalancer" | "NodePort" if headless => {
            let detail = format!("may not be set to 'None' for {kind} services");
            errors.invalid("spec.clusterIPs[0]", "None", &detail);
        }
        "ExternalName" => {
            if spec.text("clusterIP").is_some() {
                let detail = "may not be set for ExternalName services";
                errors.forbidden("spec.clusterIPs", detail);
            }
            match spec.text("externalName") {
                None => errors.required("spec.externalName", ""),
                Some(name) => {
                    let broken = names::dns1123_subdomain(name.strip_suffix('.').unwrap_or(name));
                    errors.rules("spec.externalName", name, broken);
                }
            }
        }
        _ => {}
    }
    let exposed = |port: &Value| kind == "LoadBalancer" && number(port, "port") == KUBELET_PORT;
    for (index, _) in ports.iter().filter(|(_, port)| exposed(port)) {
        let detail =
            format!("may not expose port {KUBELET_PORT} externally since it is used by kubelet");
        errors.invalid(&format!("spec.ports[{index}]"), KUBELET_PORT, &detail);
    }
}

/// `validateServicePort`.
fn service_port<'v>(
    port: &'v Value,
    path: &str,
    named: bool,
    seen: &mut BTreeSet<&'v str>,
    errors: &mut Errors,
) {
    let (name, at) = (text(port, "name"), format!("{path}.name"));
    if name.is_empty() {
        if named {
            errors.required(&at, "");
        }
    } else {
        errors.rules(&at, name, names::dns1123_label(name));
        if !seen.insert(name) {
            errors.duplicate(&at, name);
        }
    }
    errors.in_range(&format!("{path}.port"), number(port, "port"), 1, 65_535);
    let protocol = text(port, "protocol");
    if !protocol.is_empty() {
        errors.one_of(&format!("{path}.protocol"), protocol, &["SCTP", "TCP", "UDP"]);
    }
    let at = format!("{path}.targetPort");
    match port.get("targetPort") {
        Some(Value::String(name)) => errors.rules(&at, name, port_name(name)),
        Some(target) => errors.in_range(&at, target.as_i64().unwrap_or(0), 1, 65_535),
        None => {}
    }
}

/// No port of a protocol may be there twice, neither the Service's nor the node's.
fn twice(ports: &[(usize, &Value)], errors: &mut Errors) {
    let protocol = |port: &Value| match text(port, "protocol") {
        "" => "TCP".to_string(),
        protocol => protocol.to_string(),
    };
    let mut add = |field: String, value: Value| {
        let (kind, detail) = (FieldErrorKind::Duplicate, String::new());
        errors.extend([FieldError { kind, field, value, detail }]);
    };
    let mut seen = BTreeSet::new();
    for (index, port) in ports.iter().filter(|(_, port)| number(port, "nodePort") != 0) {
        let node_port = number(port, "nodePort");
        if !seen.insert((protocol(port), node_port)) {
            add(format!("spec.ports[{index}].nodePort"), node_port.into());
        }
    }
    let mut seen = BTreeSet::new();
    for (index, port) in ports {
        let (protocol, port) = (protocol(port), number(port, "port"));
        if !seen.insert((protocol.clone(), port)) {
            let key = json!({
                "Name": "", "Protocol": protocol, "AppProtocol": null, "Port": port,
                "TargetPort": 0, "NodePort": 0,
            });
            add(format!("spec.ports[{index}]"), key);
        }
    }
}

/// What the allocator of node ports says, once the rest is sound.
fn node_ports(ports: &[(usize, &Value)], errors: &mut Errors) {
    for (index, port) in ports {
        let wanted = number(port, "nodePort");
        if wanted != 0 && !NODE_PORTS.contains(&wanted) {
            let (first, last) = (NODE_PORTS.start(), NODE_PORTS.end());
            let detail = format!(
                "provided port is not in the valid range. The range of valid ports is \
                 {first}-{last}"
            );
            errors.invalid(&format!("spec.ports[{index}].nodePort"), wanted, &detail);
        }
    }
}

fn ingress(ingress: &Generic, errors: &mut Errors) {
    let default = ingress.field("spec/defaultBackend");
    let rules = ingress.field("spec/rules");
    if default.is_none() && items(rules).next().is_none() {
        let detail = "either `defaultBackend` or `rules` must be specified";
        errors.invalid("spec", Value::Null, detail);
    }
    if let Some(default) = default {
        backend(default, "spec.defaultBackend", errors);
    }
    for (index, rule) in items(rules) {
        let path = format!("spec.rules[{index}]");
        host(text(rule, "host"), &format!("{path}.host"), errors);
        let Some(http) = rule.get("http").filter(|http| !http.is_null()) else { continue };
        if items(http.get("paths")).next().is_none() {
            errors.required(&format!("{path}.http.paths"), "");
        }
        for (index, one) in items(http.get("paths")) {
            http_path(one, &format!("{path}.http.paths[{index}]"), errors);
        }
    }
}

fn host(host: &str, path: &str, errors: &mut Errors) {
    if host.parse::<std::net::IpAddr>().is_ok() {
        errors.invalid(path, host, "must be a DNS name, not an IP address");
    }
    if !host.is_empty() && !host.contains('*') {
        errors.rules(path, host, names::dns1123_subdomain(host));
    }
}

/// `validateHTTPIngressPath`.
fn http_path(one: &Value, path: &str, errors: &mut Errors) {
    let (kind, route) = (text(one, "pathType"), text(one, "path"));
    let at = format!("{path}.path");
    match kind {
        "" => {
            return errors.required(&format!("{path}.pathType"), "pathType must be specified");
        }
        "Exact" | "Prefix" => {
            if !route.starts_with('/') {
                errors.invalid(&at, route, "must be an absolute path");
            }
            for part in ["//", "/./", "/../", "%2f", "%2F"] {
                if route.contains(part) {
                    errors.invalid(&at, route, &format!("must not contain '{part}'"));
                }
            }
            for end in ["/..", "/."] {
                if route.ends_with(end) {
                    errors.invalid(&at, route, &format!("cannot end with '{end}'"));
                }
            }
        }
        "ImplementationSpecific" if route.is_empty() || route.starts_with('/') => {}
        "ImplementationSpecific" => errors.invalid(&at, route, "must be an absolute path"),
        other => {
            let known = ["Exact", "ImplementationSpecific", "Prefix"];
            errors.one_of(&format!("{path}.pathType"), other, &known);
        }
    }
    let null = Value::Null;
    backend(one.get("backend").unwrap_or(&null), &format!("{path}.backend"), errors);
}

/// `validateIngressBackend`.
fn backend(backend: &Value, path: &str, errors: &mut Errors) {
    let part = |field: &str| backend.get(field).filter(|part| !part.is_null());
    match (part("service"), part("resource")) {
        (Some(_), Some(_)) => {
            errors.invalid(path, "", "cannot set both resource and service backends");
        }
        (None, None) => errors.invalid(path, "", "resource or service backend is required"),
        (None, Some(resource)) => {
            for field in ["kind", "name"] {
                if text(resource, field).is_empty() {
                    errors.required(&format!("{path}.resource.{field}"), "");
                }
            }
        }
        (Some(service), None) => {
            let name = text(service, "name");
            let at = format!("{path}.service.name");
            match name {
                "" => errors.required(&at, ""),
                name => errors.rules(&at, name, names::dns1035_label(name)),
            }
            let port = service.get("port").cloned().unwrap_or_default();
            let (name, number) = (text(&port, "name"), number(&port, "number"));
            let at = format!("{path}.service.port");
            match (name, number) {
                ("", 0) => errors.required(path, "port name or number is required"),
                ("", number) => errors.in_range(&format!("{at}.number"), number, 1, 65_535),
                (name, 0) => errors.rules(&format!("{at}.name"), name, port_name(name)),
                _ => errors.invalid(path, "", "cannot set both port name & port number"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Object;

    fn said(kind: Kind, spec: Value) -> Vec<String> {
        let value = json!({"metadata": {"name": "web"}, "spec": spec});
        let object = Object::from_value(kind, value).expect("an object");
        let mut errors = Errors::default();
        network(object.as_generic().expect("free-form"), &mut errors);
        errors.into_words()
    }

    fn of_service(spec: Value) -> Vec<String> {
        said(Kind::Service, spec)
    }

    fn of_path(path: Value) -> Vec<String> {
        said(Kind::Ingress, json!({"rules": [{"http": {"paths": [path]}}]}))
    }

    #[test]
    fn a_service_has_ports_unless_it_is_headless_or_a_name() {
        assert_eq!(of_service(json!({})), ["spec.ports: Required value"]);
        assert_eq!(of_service(json!({"clusterIP": "None"})), [""; 0]);
        let name = json!({"type": "ExternalName", "externalName": "a.example.com"});
        assert_eq!(of_service(name), [""; 0]);
    }

    #[test]
    fn several_ports_have_names_and_differ() {
        let words = of_service(json!({"ports": [{"port": 80}, {"port": 80, "name": "b"}]}));
        assert_eq!(words[0], "spec.ports[0].name: Required value");
        assert!(words[1].starts_with("spec.ports[1]: Duplicate value: {"), "{words:?}");
    }

    #[test]
    fn ports_types_and_protocols_are_those_that_there_are() {
        let words = of_service(json!({"type": "Loadbalancer", "ports": [
            {"port": 0, "protocol": "HTTP", "targetPort": "Not_A_Name"},
        ]}));
        let starts = [
            "spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive",
            "spec.ports[0].protocol: Unsupported value: \"HTTP\"",
            "spec.ports[0].targetPort: Invalid value: \"Not_A_Name\"",
            "spec.type: Unsupported value: \"Loadbalancer\": supported values: \"ClusterIP\", \
             \"ExternalName\", \"LoadBalancer\", \"NodePort\"",
        ];
        for start in starts {
            assert!(words.iter().any(|word| word.starts_with(start)), "{start}: {words:?}");
        }
    }

    #[test]
    fn a_node_port_is_one_of_the_nodes_and_not_of_a_cluster_address() {
        let with = |kind: &str, port: i64| {
            of_service(json!({"type": kind, "ports": [{"port": 80, "nodePort": port}]}))
        };
        assert_eq!(with("NodePort", 30_080), [""; 0]);
        let detail = "provided port is not in the valid range. The range of valid ports is \
            30000-32767";
        let wanted = format!("spec.ports[0].nodePort: Invalid value: 80: {detail}");
        assert_eq!(with("NodePort", 80), [wanted]);
        let wanted = "spec.ports[0].nodePort: Forbidden: may not be used when `type` is \
            'ClusterIP'";
        assert_eq!(with("ClusterIP", 30_080), [wanted]);
    }

    #[test]
    fn an_ingress_says_how_a_path_is_meant_and_whereto() {
        let service = json!({"service": {"name": "web", "port": {"number": 80}}});
        let sound = json!({"path": "/", "pathType": "Prefix", "backend": service});
        assert_eq!(of_path(sound), [""; 0]);
        let at = "spec.rules[0].http.paths[0]";
        let wanted = format!("{at}.pathType: Required value: pathType must be specified");
        assert_eq!(of_path(json!({"path": "/"})), [wanted]);
        let wanted = [
            format!("{at}.path: Invalid value: \"a\": must be an absolute path"),
            format!("{at}.backend: Invalid value: \"\": resource or service backend is required"),
        ];
        assert_eq!(of_path(json!({"path": "a", "pathType": "Exact"})), wanted);
        let wanted = "spec: Invalid value: null: either `defaultBackend` or `rules` must be \
            specified";
        assert_eq!(said(Kind::Ingress, json!({})), [wanted]);
    }
}
