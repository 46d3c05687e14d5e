//! Services and EndpointSlices (`describeService`, `describeEndpointSliceV1`).

use crate::api::{Generic, Kind, StrMap, Value};
use crate::kubectl::Api;
use crate::kubectl::printers::pairs;

use super::sheet::Sheet;

/// How many addresses are named.
const ENDPOINTS_MAX: usize = 3;

/// Describes an object of one of these kinds, but for its Events; false if it is of another.
pub fn run(object: &Generic, api: &dyn Api, sheet: &mut Sheet) -> bool {
    match object.kind {
        Kind::Service => service(object, api, sheet),
        Kind::EndpointSlice => slice(object, sheet),
        _ => return false,
    }
    true
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

fn service(service: &Generic, api: &dyn Api, sheet: &mut Sheet) {
    let spec = service.spec();
    sheet.name(&service.metadata);
    sheet.marks(&service.metadata);
    let labels: StrMap = spec.read("selector");
    sheet.field("Selector", pairs(labels.iter().map(|(key, value)| (&**key, &**value))));
    sheet.field("Type", spec.text("type").unwrap_or("ClusterIP"));
    let list = |field: &str| {
        let all: Vec<&str> = spec.items(field).iter().filter_map(Value::as_str).collect();
        all.join(",")
    };
    if let Some(policy) = spec.text("ipFamilyPolicy") {
        sheet.field("IP Family Policy", policy);
    }
    let or_none = |text: String| if text.is_empty() { "<none>".into() } else { text };
    sheet.field("IP Families", or_none(list("ipFamilies")));
    sheet.field("IP", spec.text("clusterIP").unwrap_or_default());
    sheet.field("IPs", or_none(list("clusterIPs")));
    if !list("externalIPs").is_empty() {
        sheet.field("External IPs", list("externalIPs"));
    }
    if let Some(address) = spec.text("loadBalancerIP") {
        sheet.field("Desired LoadBalancer IP", address);
    }
    if let Some(name) = spec.text("externalName") {
        sheet.field("External Name", name);
    }
    let ingress = service.status().at("loadBalancer").items("ingress");
    let address = |one: &Value| {
        let of = |field: &str| one[field].as_str().map(str::to_string);
        of("ip").or_else(|| of("hostname")).unwrap_or_default()
    };
    if !ingress.is_empty() {
        let all: Vec<String> = ingress.iter().map(address).collect();
        sheet.field("LoadBalancer Ingress", all.join(", "));
    }
    let slices = slices_of(service, api);
    spec.items("ports").iter().for_each(|port| service_port(port, &slices, sheet));
    sheet.field("Session Affinity", spec.text("sessionAffinity").unwrap_or("None"));
    for (name, field) in [
        ("External Traffic Policy", "externalTrafficPolicy"),
        ("Internal Traffic Policy", "internalTrafficPolicy"),
    ] {
        spec.text(field).into_iter().for_each(|policy| sheet.field(name, policy));
    }
}

fn service_port(port: &Value, slices: &[Value], sheet: &mut Sheet) {
    let name = port["name"].as_str().filter(|name| !name.is_empty());
    let protocol = port["protocol"].as_str().unwrap_or("TCP");
    let shown = name.unwrap_or("<unset>");
    sheet.field("Port", format!("{shown}\t{}/{protocol}", plain(&port["port"])));
    let target = match &port["targetPort"] {
        Value::Null => &port["port"],
        target => target,
    };
    sheet.field("TargetPort", format!("{}/{protocol}", plain(target)));
    if port["nodePort"].as_i64().is_some_and(|port| port != 0) {
        sheet.field("NodePort", format!("{shown}\t{}/{protocol}", plain(&port["nodePort"])));
    }
    sheet.field("Endpoints", endpoints(slices, name.unwrap_or_default()));
}

fn slices_of(service: &Generic, api: &dyn Api) -> Vec<Value> {
    let slices = api.list(Kind::EndpointSlice, Some(&service.metadata.namespace));
    let is_own = |labels: &StrMap| {
        labels.get("kubernetes.io/service-name").is_some_and(|name| *name == service.metadata.name)
    };
    let own = slices.iter().filter(|slice| is_own(&slice.meta().labels));
    own.map(|slice| slice.to_value()).collect()
}

/// The addresses behind a port that are ready, the first of them.
fn endpoints(slices: &[Value], port: &str) -> String {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut all = Vec::new();
    for slice in slices {
        let ports = list(&slice["ports"]);
        let own = ports.iter().filter(|own| own["name"].as_str().unwrap_or_default() == port);
        for number in own.map(|own| plain(&own["port"])) {
            for endpoint in list(&slice["endpoints"]) {
                if endpoint["conditions"]["ready"] == Value::Bool(false) {
                    continue;
                }
                let addresses = list(&endpoint["addresses"]);
                all.extend(addresses.iter().map(|address| format!("{}:{number}", plain(address))));
            }
        }
    }
    let more = all.len().saturating_sub(ENDPOINTS_MAX);
    all.truncate(ENDPOINTS_MAX);
    match (all.join(","), more) {
        (none, _) if none.is_empty() => "<none>".into(),
        (all, 0) => all,
        (all, more) => format!("{all} + {more} more..."),
    }
}

fn slice(slice: &Generic, sheet: &mut Sheet) {
    sheet.name(&slice.metadata);
    sheet.marks(&slice.metadata);
    sheet.field("AddressType", slice.text("addressType"));
    let list = |path: &str| slice.field(path).and_then(Value::as_array).cloned();
    let text = |value: &Value, none: &str| match value {
        Value::Null => none.to_string(),
        value => Some(plain(value)).filter(|text| !text.is_empty()).unwrap_or_else(|| none.into()),
    };
    let row = |port: &Value| {
        vec![
            text(&port["name"], "<unset>"),
            text(&port["port"], "<unset>"),
            text(&port["protocol"], "TCP"),
        ]
    };
    let rows: Vec<Vec<String>> = list("ports").unwrap_or_default().iter().map(row).collect();
    match rows.is_empty() {
        true => sheet.line(0, "Ports: <unset>"),
        false => sheet.table("Ports", &["Name", "Port", "Protocol"], &rows),
    }
    let endpoints = list("endpoints").unwrap_or_default();
    sheet.line(0, if endpoints.is_empty() { "Endpoints: <none>" } else { "Endpoints:" });
    for endpoint in &endpoints {
        let addresses = endpoint["addresses"].as_array().into_iter().flatten();
        let addresses: Vec<&str> = addresses.filter_map(Value::as_str).collect();
        sheet.line(1, format!("- Addresses:\t{}", addresses.join(", ")));
        sheet.line(2, "Conditions:");
        sheet.line(3, format!("Ready:\t{}", text(&endpoint["conditions"]["ready"], "<nil>")));
        sheet.line(2, format!("Hostname:\t{}", text(&endpoint["hostname"], "<unset>")));
        let target = &endpoint["targetRef"];
        if target.is_object() {
            let (kind, name) = (text(&target["kind"], ""), text(&target["name"], ""));
            sheet.line(2, format!("TargetRef:\t{kind}/{name}"));
        }
        sheet.line(2, format!("NodeName:\t{}", text(&endpoint["nodeName"], "<unset>")));
        sheet.line(2, format!("Zone:\t{}", text(&endpoint["zone"], "<unset>")));
    }
}
