//! What a new object gets that depends on its uid or on what is stored already: a Job's selector, a
//! Service's address (`generateSelector` in `pkg/registry/batch/job/strategy.go`,
//! `pkg/registry/core/service/ipallocator`).

use serde_json::{Map, json};

use crate::api::{Generic, Kind, Object, Str, Value};
use crate::kernel::stable_hash;

use super::store::Store;

/// Completes a new object that has its uid.
pub fn complete(object: &mut Object, store: &Store, seed: u64) {
    let Object::Generic(generic) = object else { return };
    match generic.kind {
        Kind::Job => generate_selector(generic),
        Kind::Service => allocate_address(generic, store, seed),
        _ => {}
    }
}

/// Completes an object that takes the place of another one.
pub fn complete_update(stored: &Object, after: &mut Object, store: &Store, seed: u64) {
    let (Object::Generic(stored), Object::Generic(after)) = (stored, after) else { return };
    if after.kind == Kind::Service {
        keep_allocated(stored, after);
        allocate_address(after, store, seed);
    }
}

/// What an update of a Service that is silent about its addresses means: those that it has. With
/// another type goes what belongs to the old one, unless it was changed as well
/// (`patchAllocatedValues`, `dropTypeDependentFields` of `pkg/registry/core/service`).
fn keep_allocated(stored: &Generic, after: &mut Generic) {
    const ADDRESS: [&str; 4] = ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"];
    let is = |service: &Generic, kind: &str| service.spec().text("type") == Some(kind);
    let (old, new) = (stored.clone(), after.clone());
    let Some(spec) = after.rest.get_mut("spec").and_then(Value::as_object_mut) else { return };
    let same = |field: &str| old.spec().at(field).value() == new.spec().at(field).value();
    if is(&old, "LoadBalancer") && !is(&new, "LoadBalancer") && same("loadBalancerClass") {
        spec.remove("loadBalancerClass");
    }
    if is(&old, "ExternalName") {
        return;
    }
    if is(&new, "ExternalName") {
        spec.retain(|field, _| !(ADDRESS.contains(&field.as_str()) && same(field)));
        return;
    }
    let address = old.spec().text("clusterIP");
    let wanted = new.spec().text("clusterIP");
    let Some(address) = address.filter(|address| wanted.is_none_or(|wanted| wanted == *address))
    else {
        // A client that does not know of several changes its one.
        if let Some(wanted) = wanted.filter(|_| same("clusterIPs")) {
            spec.insert("clusterIPs".into(), json!([wanted]));
        }
        return;
    };
    spec.insert("clusterIP".into(), address.into());
    let all = old.spec().at("clusterIPs").value();
    if let Some(all) = all.filter(|_| new.spec().items("clusterIPs").is_empty()) {
        spec.insert("clusterIPs".into(), all.clone());
    }
}

/// Unless its writer looks after that, a Job's pods are known by its uid.
fn generate_selector(job: &mut Generic) {
    if job.spec().flag("manualSelector") {
        return;
    }
    let (uid, name) = (job.metadata.uid.clone(), job.metadata.name.clone());
    let Some(spec) = job.rest.get_mut("spec").and_then(Value::as_object_mut) else { return };
    let labels: [(&str, &Str); 4] = [
        ("batch.kubernetes.io/controller-uid", &uid),
        ("batch.kubernetes.io/job-name", &name),
        ("controller-uid", &uid),
        ("job-name", &name),
    ];
    spec.insert("selector".into(), json!({"matchLabels": {labels[0].0: uid}}));
    let Some(meta) = part(spec, "template").and_then(|template| part(template, "metadata")) else {
        return;
    };
    if let Some(own) = part(meta, "labels") {
        own.extend(labels.map(|(label, value)| (label.to_string(), json!(value))));
    }
}

fn part<'a>(object: &'a mut Map<String, Value>, field: &str) -> Option<&'a mut Map<String, Value>> {
    let value = object.entry(field).or_insert_with(|| json!({}));
    if value.is_null() {
        *value = json!({});
    }
    value.as_object_mut()
}

/// An address from 10.96.0.0/12 that no other Service has. Headless ones and names have none.
fn allocate_address(service: &mut Generic, store: &Store, seed: u64) {
    let given = service.spec().text("clusterIP").is_some();
    if given || service.spec().text("type") == Some("ExternalName") {
        return;
    }
    let taken = |address: &str| {
        store
            .list(Kind::Service)
            .filter_map(|other| other.as_generic())
            .any(|other| other.spec().text("clusterIP") == Some(address))
    };
    let text = format!("{}/{}", service.metadata.namespace, service.metadata.name);
    let start = stable_hash(seed, text.as_bytes());
    // A cluster holds fewer objects than there are addresses.
    let address = (0..u64::from(u16::MAX)).map(|n| address_of(start.wrapping_add(n)));
    let Some(address) = address.into_iter().find(|address| !taken(address)) else { return };
    if let Some(spec) = service.rest.get_mut("spec").and_then(Value::as_object_mut) {
        spec.insert("clusterIPs".into(), json!([address]));
        spec.insert("clusterIP".into(), address.into());
    }
}

/// One of the addresses, the network's own and its first few left out.
fn address_of(number: u64) -> String {
    let number = 11 + number % ((1 << 20) - 12);
    format!("10.{}.{}.{}", 96 + (number >> 16), (number >> 8) & 0xff, number & 0xff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_those_of_the_service_network() {
        assert_eq!(address_of(0), "10.96.0.11");
        assert!(address_of(u64::MAX).starts_with("10."));
    }

    #[test]
    fn a_service_keeps_its_address_for_as_long_as_it_needs_one() {
        let service = |spec: Value| {
            let value = json!({"metadata": {"name": "a", "namespace": "b"}, "spec": spec});
            Object::from_value(Kind::Service, value).expect("a Service")
        };
        let address = json!({"type": "ClusterIP", "clusterIP": "10.96.0.20",
            "clusterIPs": ["10.96.0.20"]});
        let with = |more: Value| {
            let mut spec = address.clone();
            spec.as_object_mut().expect("it").extend(more.as_object().expect("it").clone());
            spec
        };
        let after = |new: Value| {
            let mut new = service(new);
            complete_update(&service(address.clone()), &mut new, &Store::default(), 1);
            new.to_value()["spec"].clone()
        };
        assert_eq!(after(json!({"type": "ClusterIP"})), address);
        assert_eq!(after(with(json!({"type": "ExternalName"}))), json!({"type": "ExternalName"}));
        let moved = after(with(json!({"clusterIP": "10.96.0.21"})));
        assert_eq!(moved["clusterIPs"], json!(["10.96.0.21"]));
        let mut back = service(json!({"type": "ClusterIP"}));
        let name = service(json!({"type": "ExternalName"}));
        complete_update(&name, &mut back, &Store::default(), 1);
        assert!(back.to_value()["spec"]["clusterIP"].is_string(), "it gets one again");
    }

    #[test]
    fn a_job_knows_its_pods_by_its_uid() {
        let job = json!({"metadata": {"name": "a", "uid": "u1"}, "spec": {"template": {}}});
        let mut object = Object::from_value(Kind::Job, job).expect("a job");
        complete(&mut object, &Store::default(), 1);
        let spec = object.to_value()["spec"].clone();
        assert_eq!(spec["selector"]["matchLabels"]["batch.kubernetes.io/controller-uid"], "u1");
        assert_eq!(spec["template"]["metadata"]["labels"]["job-name"], "a");
    }
}
