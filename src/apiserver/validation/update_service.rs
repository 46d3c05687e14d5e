//! What of a Service may change (`ValidateServiceUpdate`): addresses and families may be added and
//! dropped behind the first, which stays, unless the Service is, or was, only a name.

use crate::api::{Fields, Generic, Value};

use super::errors::Errors;

const SET_ONCE: &str = "may not change once set";

/// What is wrong with a Service in the place of another.
pub fn service(old: &Generic, new: &Generic, errors: &mut Errors) {
    let (old, new) = (old.spec(), new.spec());
    let is = |spec: Fields<'_>, kind: &str| spec.text("type").unwrap_or("ClusterIP") == kind;
    let headless = |spec: Fields<'_>| spec.text("clusterIP") == Some("None");
    if !is(old, "ExternalName") && !is(new, "ExternalName") {
        if !(headless(old) && headless(new)) {
            list("clusterIPs", "clusterIP", &addresses(old), &addresses(new), errors);
        }
        let selectorless = |spec: Fields<'_>| spec.at("selector").value().is_none();
        if !(headless(old) && headless(new) && selectorless(old) && selectorless(new)) {
            list(
                "ipFamilies",
                "ipFamily",
                &texts(old, "ipFamilies"),
                &texts(new, "ipFamilies"),
                errors,
            );
        }
    }
    let class = |spec: Fields<'_>| spec.at("loadBalancerClass").value().cloned();
    let (before, after) = (class(old), class(new));
    let path = "spec.loadBalancerClass";
    if is(old, "LoadBalancer") && is(new, "LoadBalancer") && before != after {
        errors.invalid(path, after.unwrap_or(Value::Null), SET_ONCE);
    }
}

fn texts<'v>(spec: Fields<'v>, field: &str) -> Vec<&'v str> {
    spec.items(field).iter().filter_map(Value::as_str).collect()
}

/// All addresses; of a Service from before there could be several, its one.
fn addresses(spec: Fields<'_>) -> Vec<&str> {
    match texts(spec, "clusterIPs") {
        none if none.is_empty() => spec.text("clusterIP").into_iter().collect(),
        all => all,
    }
}

fn list(field: &str, one: &str, old: &[&str], new: &[&str], errors: &mut Errors) {
    let at = |index: usize| format!("spec.{field}[{index}]");
    if new.is_empty() && !old.is_empty() {
        return errors.invalid(&at(0), new, &format!("primary {one} can not be unset"));
    }
    // Behind the first, one that was there may go and one may come, but none may turn into another.
    let compared = if old.len() == new.len() { old.len() } else { 1 };
    for (index, (old, now)) in old.iter().zip(new).take(compared).enumerate() {
        if old != now {
            errors.invalid(&at(index), new, SET_ONCE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::validate_update;
    use crate::api::{Kind, Object, Value};
    use serde_json::json;

    fn said(old: Value, new: Value) -> Vec<String> {
        let service = |more: Value| {
            let mut spec = json!({"ports": [{"port": 80}], "clusterIP": "10.96.0.20",
                "clusterIPs": ["10.96.0.20"], "ipFamilies": ["IPv4"]});
            spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let value = json!({"metadata": {"name": "a", "namespace": "default"}, "spec": spec});
            Object::from_value(Kind::Service, value).unwrap()
        };
        validate_update(&service(old), &service(new))
    }

    #[test]
    fn the_first_address_and_family_stay() {
        let other = json!({"clusterIP": "10.96.0.21", "clusterIPs": ["10.96.0.21"]});
        assert_eq!(
            said(json!({}), other.clone()),
            ["spec.clusterIPs[0]: Invalid value: [\"10.96.0.21\"]: may not change once set"]
        );
        assert_eq!(
            said(json!({}), json!({"clusterIP": "", "clusterIPs": []})),
            ["spec.clusterIPs[0]: Invalid value: []: primary clusterIP can not be unset"]
        );
        assert_eq!(
            said(json!({}), json!({"ipFamilies": ["IPv6"]})),
            ["spec.ipFamilies[0]: Invalid value: [\"IPv6\"]: may not change once set"]
        );
        let two = json!({"ipFamilies": ["IPv4", "IPv6"], "clusterIPs": ["10.96.0.20", "fd00::1"]});
        assert_eq!(said(json!({}), two.clone()), [""; 0]);
        assert_eq!(said(two, json!({})), [""; 0]);
        let name = json!({"type": "ExternalName", "externalName": "a.b", "clusterIP": "",
            "clusterIPs": []});
        assert_eq!(said(json!({}), name.clone()), [""; 0]);
        assert_eq!(said(name, other), [""; 0]);
    }

    #[test]
    fn the_class_of_a_load_balancer_is_set_once() {
        let class = |class: Value| json!({"type": "LoadBalancer", "loadBalancerClass": class});
        let found = said(class(json!("x/a")), class(json!("x/b")));
        assert_eq!(
            found,
            ["spec.loadBalancerClass: Invalid value: \"x/b\": may not change once set"]
        );
        assert_eq!(said(json!({}), class(json!("x/b"))), [""; 0]);
    }
}
