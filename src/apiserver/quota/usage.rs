//! What an object counts against a quota (`pkg/quota/v1/evaluator/core`).
//!
//! Left out: pod-level resources, resize, storage classes that are given by annotation.

use std::collections::{BTreeMap, BTreeSet};

use crate::api::{
    Container, Generic, Kind, Object, Pod, Quantity, QuantityFormat, RestartPolicy, Str, Timestamp,
    Value, amounts,
};

use super::amounts::{Amounts, add, raise};

const COMPUTE: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];
/// What each container must say if a quota limits it.
const MUST_BE_SAID: [&str; 6] =
    ["cpu", "limits.cpu", "limits.memory", "memory", "requests.cpu", "requests.memory"];

fn one() -> Quantity {
    Quantity::from_value(1, QuantityFormat::DecimalSi)
}

/// `count/deployments.apps`, `count/pods`.
fn count_name(kind: Kind) -> Str {
    match kind.group() {
        "" => format!("count/{}", kind.info().plural).into(),
        group => format!("count/{}.{group}", kind.info().plural).into(),
    }
}

/// The older name under which some kinds are counted.
fn alias(kind: Kind) -> Option<&'static str> {
    matches!(
        kind,
        Kind::Service
            | Kind::ConfigMap
            | Kind::Secret
            | Kind::ReplicationController
            | Kind::ResourceQuota
            | Kind::PersistentVolumeClaim
    )
    .then(|| kind.info().plural)
}

/// What an object counts. A pod that has ended, or should have, counts as an object only.
pub fn usage(object: &Object, now: Timestamp) -> Amounts {
    let kind = object.kind();
    let mut used = Amounts::from([(count_name(kind), one())]);
    used.extend(alias(kind).map(|name| (name.into(), one())));
    match object {
        Object::Pod(pod) if counts_in_full(pod, now) => {
            let (requests, limits) = (requests(pod), limits(pod));
            used.extend(compute(&requests, &limits));
            used.insert("pods".into(), one());
        }
        Object::Generic(service) if kind == Kind::Service => used.extend(ports(service)),
        Object::Generic(claim) if kind == Kind::PersistentVolumeClaim => {
            used.extend(storage(claim))
        }
        _ => {}
    }
    used
}

/// `QuotaV1Pod`: neither ended, nor past the grace period of its deletion.
fn counts_in_full(pod: &Pod, now: Timestamp) -> bool {
    let meta = &pod.metadata;
    let overdue = meta.deletion_timestamp.is_some_and(|deadline| {
        // The deletion timestamp already holds the grace period; the evaluator adds it once more.
        now.0 > deadline.0.saturating_add(meta.deletion_grace_period_seconds.unwrap_or(0))
    });
    !pod.is_finished() && !overdue
}

/// `podComputeUsageHelper`.
fn compute(requests: &Amounts, limits: &Amounts) -> Amounts {
    let mut used = Amounts::new();
    for (name, amount) in requests {
        let plain = COMPUTE.contains(&&**name) || name.starts_with("hugepages-");
        if plain {
            used.insert(name.clone(), *amount);
        }
        if plain || name.contains('/') {
            used.insert(format!("requests.{name}").into(), *amount);
        }
    }
    for (name, amount) in limits.iter().filter(|(name, _)| COMPUTE.contains(&&***name)) {
        used.insert(format!("limits.{name}").into(), *amount);
    }
    used
}

/// What a pod requests: its containers together, or its neediest initialization, and overhead.
pub fn requests(pod: &Pod) -> Amounts {
    together(pod, |container| &container.resources.requests)
}

/// What a pod is limited to, in the same way.
pub fn limits(pod: &Pod) -> Amounts {
    together(pod, |container| &container.resources.limits)
}

fn together(pod: &Pod, of: fn(&Container) -> &BTreeMap<Str, Quantity>) -> Amounts {
    let mut sum = Amounts::new();
    pod.spec.containers.iter().for_each(|container| add(&mut sum, of(container)));
    let (mut sidecars, mut most) = (Amounts::new(), Amounts::new());
    for container in &pod.spec.init_containers {
        if container.restart_policy == Some(RestartPolicy::Always) {
            add(&mut sum, of(container));
            add(&mut sidecars, of(container));
            raise(&mut most, &sidecars);
        } else {
            let mut alone = of(container).clone();
            add(&mut alone, &sidecars);
            raise(&mut most, &alone);
        }
    }
    raise(&mut sum, &most);
    let overhead = amounts(pod.spec.rest.get("overhead"));
    let limited = |name: &Str| sum.contains_key(name);
    let overhead: Amounts = overhead.into_iter().filter(|(name, _)| limited(name)).collect();
    add(&mut sum, &overhead);
    sum
}

fn ports(service: &Generic) -> Amounts {
    let count = service.field("spec/ports").and_then(Value::as_array).map_or(0, Vec::len);
    let number = |n: usize| Quantity::from_value(n as i64, QuantityFormat::DecimalSi);
    let (balancers, ports) = match service.text("spec/type") {
        "NodePort" => (0, count),
        "LoadBalancer" => {
            let none = service.field("spec/allocateLoadBalancerNodePorts");
            (1, if none == Some(&Value::Bool(false)) { 0 } else { count })
        }
        _ => (0, 0),
    };
    Amounts::from([
        ("services.loadbalancers".into(), number(balancers)),
        ("services.nodeports".into(), number(ports)),
    ])
}

fn storage(claim: &Generic) -> Amounts {
    let mut used = Amounts::new();
    let class = claim.text("spec/storageClassName");
    let of_class = |name: &str| format!("{class}.storageclass.storage.k8s.io/{name}").into();
    if !class.is_empty() {
        used.insert(of_class("persistentvolumeclaims"), one());
    }
    if let Some(amount) = claim.amounts("spec/resources/requests").get("storage") {
        used.insert("requests.storage".into(), *amount);
        if !class.is_empty() {
            used.insert(of_class("requests.storage"), *amount);
        }
    }
    used
}

/// Whether a resource that a quota names is one that objects of this kind use
/// (`MatchingResources`).
pub fn concerns(kind: Kind, resource: &str) -> bool {
    if *resource == *count_name(kind) || alias(kind) == Some(resource) {
        return true;
    }
    match kind {
        Kind::Pod => {
            let bare = resource.strip_prefix("requests.").unwrap_or(resource);
            let limited = resource.strip_prefix("limits.").unwrap_or("");
            resource == "pods"
                || COMPUTE.contains(&bare)
                || COMPUTE.contains(&limited)
                || bare.starts_with("hugepages-")
                || (bare != resource && bare.contains('/'))
        }
        Kind::Service => matches!(resource, "services.loadbalancers" | "services.nodeports"),
        Kind::PersistentVolumeClaim => {
            let (class, name) = resource.rsplit_once('/').unwrap_or(("", resource));
            name == "requests.storage"
                || (class.ends_with(".storageclass.storage.k8s.io")
                    && name == "persistentvolumeclaims")
        }
        _ => false,
    }
}

/// Which of the limited resources some container of a pod says nothing of: `cpu for: a,b; ...`.
pub fn unsaid(object: &Object, limited: &BTreeSet<Str>) -> Option<String> {
    let pod = object.as_pod()?;
    let mut missing: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for container in pod.spec.containers.iter().chain(&pod.spec.init_containers) {
        let said = compute(&container.resources.requests, &container.resources.limits);
        for name in MUST_BE_SAID {
            if limited.contains(name) && !said.contains_key(name) {
                missing.entry(name).or_default().insert(&container.name);
            }
        }
    }
    let one = |(name, containers): (&&str, &BTreeSet<&str>)| {
        let list: Vec<&str> = containers.iter().copied().collect();
        format!("{name} for: {}", list.join(","))
    };
    let words: Vec<String> = missing.iter().map(one).collect();
    (!words.is_empty()).then(|| words.join("; "))
}
