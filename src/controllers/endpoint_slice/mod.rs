//! The EndpointSlice controller of Kubernetes 1.36, level-triggered in both lanes, after
//! <https://github.com/kubernetes/kubernetes/tree/v1.36.0/pkg/controller/endpointslice>: which pods
//! stand behind a Service, and whether each is ready, serving, or on its way out.
//!
//! Left out: topology hints, IPv6, `Endpoints`, slices for Services without a selector, the look at
//! nodes, and the packing of half-empty slices.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::api::{
    Fields, Generic, Kind, LabelSelector, Object, ObjectKey, OwnerReference, Pod, StrMap,
};
use crate::apiserver::{DeleteOptions, Part, Request};
use crate::controllers::{Change, Context, Deed, Fact, Intent, Plan, Promise, Woken, here};

/// Endpoints in one slice at most.
const MAX_ENDPOINTS: usize = 100;
/// On a slice: its Service.
const SERVICE: &str = "kubernetes.io/service-name";

/// Which Services a change wakes.
pub fn wakes(change: &Change, cx: &Context<'_>) -> Woken {
    let mut woken = Woken::default();
    match change.object.kind() {
        Kind::Service => {
            let uid = &change.object.meta().uid;
            if change.is_deletion() || change.before.as_ref().is_some_and(|b| b.meta().uid != *uid)
            {
                woken.forgotten.push(change.key());
            }
            woken.keys.push(change.key());
        }
        Kind::EndpointSlice => {
            let meta = change.object.meta();
            if let Some(owner) = meta.controller().filter(|owner| &*owner.kind == "Service") {
                let key = ObjectKey::new(Kind::Service, meta.namespace.clone(), owner.name.clone());
                if change.before.is_none() {
                    woken.created.push(key.clone());
                }
                woken.keys.push(key);
            }
        }
        _ => pod_changed(change, cx, &mut woken),
    }
    woken
}

fn pod_changed(change: &Change, cx: &Context<'_>, woken: &mut Woken) {
    let pods = [change.before.as_ref(), Some(&change.object)].into_iter().flatten();
    let pods: Vec<&Pod> = pods.filter_map(|object| object.as_pod()).collect();
    let namespace = &change.object.meta().namespace;
    let services = cx.cache.in_namespace(Kind::Service, namespace);
    let takes = |service: &&Arc<Object>| {
        let selector = service.as_generic().and_then(selector);
        let matches =
            |selector: LabelSelector| pods.iter().any(|pod| selector.matches(&pod.metadata.labels));
        selector.is_some_and(matches)
    };
    woken.keys.extend(services.filter(takes).map(|service| service.key()));
}

/// The selector of a Service; nothing if it has none, or is but a name.
fn selector(service: &Generic) -> Option<LabelSelector> {
    let spec = service.spec();
    let labels: StrMap = spec.read("selector");
    let is_name = spec.text("type") == Some("ExternalName");
    let selector = LabelSelector { match_labels: labels, ..LabelSelector::default() };
    (!selector.is_empty() && !is_name).then_some(selector)
}

/// Decides what to do about the Service of this key.
pub fn sync(key: &ObjectKey, cx: &Context<'_>) -> Plan {
    let Some(object) = cx.cache.get(key) else {
        return Plan::nothing(Fact::Gone, Fact::Gone).by(here!());
    };
    let selector = object.as_generic().and_then(selector);
    let (Some(service), Some(selector)) = (object.as_generic(), selector) else {
        return Plan::default();
    };
    if object.meta().is_terminating() {
        return Plan::nothing(Fact::None, Fact::Gone).by(here!());
    }
    let wanted = wanted(service, &selector, cx);
    let slices = cx.cache.owned_by(Kind::EndpointSlice, &object.meta().uid);
    let slices: Vec<&Generic> = slices.filter_map(|slice| slice.as_generic()).collect();
    let count =
        |slices: &[&Generic]| slices.iter().map(|slice| endpoints(slice).len() as i64).sum::<i64>();
    let total = wanted.values().map(|endpoints| endpoints.len() as i64).sum();
    let mut plan = Plan::nothing(Fact::Count(count(&slices)), Fact::Count(total));
    if cx.promises_kept {
        fit(&mut plan, object, &wanted, slices);
    }
    plan
}

/// The endpoints of a Service, by the ports that its ports mean in the pods.
fn wanted(
    service: &Generic,
    selector: &LabelSelector,
    cx: &Context<'_>,
) -> BTreeMap<String, Vec<Value>> {
    let mut wanted: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    let pods = cx.cache.in_namespace(Kind::Pod, &service.metadata.namespace);
    let publish = service.spec().flag("publishNotReadyAddresses");
    for pod in pods.filter_map(|object| object.as_pod()) {
        let ip = pod.status.pod_ip.as_deref();
        let Some(ip) = ip.filter(|_| !pod.is_finished()) else { continue };
        if selector.matches(&pod.metadata.labels) {
            let ports = ports(service, pod).to_string();
            wanted.entry(ports).or_default().push(endpoint(pod, ip, publish));
        }
    }
    if wanted.is_empty() {
        // A Service with nobody behind it has one empty slice.
        wanted.insert("[]".into(), Vec::new());
    }
    wanted
}

fn endpoint(pod: &Pod, ip: &str, publish: bool) -> Value {
    let (serving, terminating) = (pod.is_ready(), pod.metadata.is_terminating());
    let ready = publish || (serving && !terminating);
    let meta = &pod.metadata;
    let mut endpoint = json!({
        "addresses": [ip],
        "conditions": {"ready": ready, "serving": serving, "terminating": terminating},
        "targetRef": {"kind": "Pod", "namespace": meta.namespace, "name": meta.name,
            "uid": meta.uid},
    });
    if let Some(node) = &pod.spec.node_name {
        endpoint["nodeName"] = json!(node);
    }
    endpoint
}

/// The ports of a Service, those that are names looked up in the pod. What it has not is left out.
fn ports(service: &Generic, pod: &Pod) -> Value {
    let mut found = Vec::new();
    for port in service.spec().items("ports").iter().map(Fields::of) {
        let protocol = port.text("protocol").unwrap_or("TCP");
        let number = match (port.long("targetPort"), port.text("targetPort")) {
            (Some(number), _) => Some(number),
            (None, Some(name)) => named_port(pod, name, protocol),
            (None, None) => port.long("port"),
        };
        if let Some(number) = number {
            let name = port.text("name").unwrap_or_default();
            found.push(json!({"name": name, "port": number, "protocol": protocol}));
        }
    }
    found.into()
}

fn named_port(pod: &Pod, name: &str, protocol: &str) -> Option<i64> {
    let lists = pod.spec.containers.iter().filter_map(|c| c.rest.get("ports")?.as_array());
    let found = lists.flatten().map(Fields::of).find(|port| {
        port.text("name") == Some(name) && port.text("protocol").unwrap_or("TCP") == protocol
    });
    found?.long("containerPort")
}

fn endpoints(slice: &Generic) -> &[Value] {
    slice.rest.get("endpoints").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Fits the slices that there are to the endpoints that shall be, ports by ports.
fn fit(
    plan: &mut Plan,
    service: &Arc<Object>,
    wanted: &BTreeMap<String, Vec<Value>>,
    mut slices: Vec<&Generic>,
) {
    let mut batch = Vec::new();
    let mut created = 0;
    for (ports, endpoints_wanted) in wanted {
        let ports: Value = serde_json::from_str(ports).unwrap_or_default();
        let mut chunks: Vec<&[Value]> = endpoints_wanted.chunks(MAX_ENDPOINTS).collect();
        if chunks.is_empty() {
            chunks.push(&[]);
        }
        for chunk in chunks {
            let same = |slice: &&Generic| slice.rest.get("ports") == Some(&ports);
            match slices.iter().position(same) {
                Some(at) => batch.extend(update(slices.remove(at), chunk)),
                None => {
                    created += 1;
                    batch.push(create(service, &ports, chunk));
                }
            }
        }
    }
    batch.extend(slices.into_iter().map(delete));
    if created > 0 {
        plan.promise = Some(Promise::Creations(created));
    }
    if !batch.is_empty() {
        plan.batches.push(batch);
    }
}

fn update(slice: &Generic, wanted: &[Value]) -> Option<Intent> {
    if endpoints(slice) == wanted {
        return None;
    }
    let mut after = slice.clone();
    after.rest.insert("endpoints".into(), wanted.to_vec().into());
    let request = Request::Update(Part::Main, Arc::new(Object::Generic(after)));
    Some(Intent::new(Deed::Update, request))
}

fn create(service: &Arc<Object>, ports: &Value, endpoints: &[Value]) -> Intent {
    let meta = service.meta();
    let mut slice = Generic {
        kind: Kind::EndpointSlice,
        metadata: Default::default(),
        rest: [
            ("addressType".to_string(), "IPv4".into()),
            ("ports".to_string(), ports.clone()),
            ("endpoints".to_string(), endpoints.to_vec().into()),
        ]
        .into(),
    };
    slice.metadata.generate_name = Some(format!("{}-", meta.name).into());
    slice.metadata.namespace = meta.namespace.clone();
    slice.metadata.labels = meta.labels.clone();
    slice.metadata.labels.insert(SERVICE.into(), meta.name.clone());
    let manager = "endpointslice-controller.k8s.io".into();
    slice.metadata.labels.insert("endpointslice.kubernetes.io/managed-by".into(), manager);
    slice.metadata.owner_references = [OwnerReference::controller_of(Kind::Service, meta)].into();
    Intent::new(Deed::Create, Request::Create(Arc::new(Object::Generic(slice))))
}

fn delete(slice: &Generic) -> Intent {
    let meta = &slice.metadata;
    let key = ObjectKey::new(Kind::EndpointSlice, meta.namespace.clone(), meta.name.clone());
    Intent::tolerant(Deed::Delete, Request::Delete(key, DeleteOptions::default()))
}
