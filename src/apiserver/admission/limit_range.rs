//! LimitRange: resources that a container gets where it says nothing, and bounds on what it says
//! (`plugin/pkg/admission/limitranger/admission.go`).
//!
//! Several LimitRanges of a namespace are looked at by name (Kubernetes takes them as they come).
//! Left out: pod-level resources, resize.

use crate::api::{Container, Generic, Kind, Object, Pod, Quantity, Value, amounts};
use crate::apiserver::ApiError;
use crate::apiserver::quota::amounts::Amounts;
use crate::apiserver::quota::usage;
use crate::apiserver::store::Store;

/// The annotation that tells what was filled in.
pub const ANNOTATION: &str = "kubernetes.io/limit-ranger";

fn ranges<'s>(store: &'s Store, namespace: &'s str) -> impl Iterator<Item = &'s Generic> + 's {
    let all = super::in_namespace(store, Kind::LimitRange, namespace);
    all.filter(|range| !range.metadata.is_terminating())
}

fn items(range: &Generic) -> impl Iterator<Item = &Value> {
    range.field("spec/limits").and_then(Value::as_array).into_iter().flatten()
}

fn kind_of(item: &Value) -> &str {
    item.get("type").and_then(Value::as_str).unwrap_or("")
}

/// Fills in what a new pod leaves open.
pub fn admit(store: &Store, object: &mut Object) {
    if let Object::Pod(pod) = object {
        let namespace = pod.metadata.namespace.clone();
        ranges(store, &namespace).for_each(|range| fill_pod(pod, range));
    }
}

fn fill_pod(pod: &mut Pod, range: &Generic) {
    let (mut requests, mut limits) = (Amounts::new(), Amounts::new());
    for item in items(range).filter(|item| kind_of(item) == "Container") {
        requests.extend(amounts(item.get("defaultRequest")));
        limits.extend(amounts(item.get("default")));
    }
    let mut told = Vec::new();
    for container in &mut pod.spec.containers {
        fill_container(container, "container", &requests, &limits, &mut told);
    }
    for container in &mut pod.spec.init_containers {
        fill_container(container, "init container", &requests, &limits, &mut told);
    }
    if !told.is_empty() {
        let text = format!("LimitRanger plugin set: {}", told.join("; "));
        pod.metadata.annotations.insert(ANNOTATION.into(), text.into());
    }
}

fn fill_container(
    container: &mut Container,
    what: &str,
    requests: &Amounts,
    limits: &Amounts,
    told: &mut Vec<String>,
) {
    let name = container.name.clone();
    let resources = &mut container.resources;
    let lists =
        [("request", requests, &mut resources.requests), ("limit", limits, &mut resources.limits)];
    for (word, defaults, own) in lists {
        let missing: Vec<_> =
            defaults.iter().filter(|(name, _)| !own.contains_key(*name)).collect();
        if missing.is_empty() {
            continue;
        }
        let names: Vec<&str> = missing.iter().map(|(name, _)| &***name).collect();
        told.push(format!("{} {word} for {what} {name}", names.join(", ")));
        let missing: Amounts =
            missing.into_iter().map(|(n, amount)| (n.clone(), *amount)).collect();
        own.extend(missing);
    }
}

/// `SetDefaults_LimitRangeItem`: a container's default limit is the maximum, and what it requests
/// by default is its default limit, or the minimum.
pub fn complete(range: &mut Generic) {
    let items = range.rest.get_mut("spec").and_then(|spec| spec.get_mut("limits"));
    let items = items.and_then(Value::as_array_mut).into_iter().flatten();
    for item in items.filter_map(Value::as_object_mut) {
        if item.get("type").and_then(Value::as_str) != Some("Container") {
            continue;
        }
        for (to, from) in
            [("default", "max"), ("defaultRequest", "default"), ("defaultRequest", "min")]
        {
            let source = item.get(from).and_then(Value::as_object).cloned().unwrap_or_default();
            let target = item.entry(to).or_insert_with(|| Value::Object(Default::default()));
            for (name, amount) in source {
                if let Some(target) = target.as_object_mut() {
                    target.entry(name).or_insert(amount);
                }
            }
        }
        item.retain(|_, value| value.as_object().is_none_or(|map| !map.is_empty()));
    }
}

/// Refuses a pod or a claim that is out of bounds.
pub fn validate(store: &Store, object: &Object) -> Result<(), ApiError> {
    let namespace = object.meta().namespace.clone();
    for range in ranges(store, &namespace) {
        let mut errors = Vec::new();
        for item in items(range) {
            match object {
                Object::Pod(pod) => pod_bounds(item, pod, &mut errors),
                Object::Generic(claim) if claim.kind == Kind::PersistentVolumeClaim => {
                    claim_bounds(item, claim, &mut errors);
                }
                _ => {}
            }
        }
        if let Some(why) = aggregate(errors) {
            return Err(super::forbidden(object, &why));
        }
    }
    Ok(())
}

/// `NewAggregate`: one as it is, several in brackets, none twice.
fn aggregate(errors: Vec<String>) -> Option<String> {
    let mut texts: Vec<String> = Vec::new();
    for error in errors {
        if !texts.contains(&error) {
            texts.push(error);
        }
    }
    match &*texts {
        [] => None,
        [one] => Some(one.clone()),
        many => Some(format!("[{}]", many.join(", "))),
    }
}

fn pod_bounds(item: &Value, pod: &Pod, errors: &mut Vec<String>) {
    match kind_of(item) {
        "Container" => {
            for container in pod.spec.containers.iter().chain(&pod.spec.init_containers) {
                let resources = &container.resources;
                bounds(item, &resources.requests, &resources.limits, errors);
            }
        }
        "Pod" => bounds(item, &usage::requests(pod), &usage::limits(pod), errors),
        _ => {}
    }
}

fn bounds(item: &Value, requests: &Amounts, limits: &Amounts, errors: &mut Vec<String>) {
    let kind = kind_of(item);
    let each = |field: &str| amounts(item.get(field));
    for (name, bound) in each("min") {
        errors.extend(below(kind, &name, bound, requests.get(&name), limits.get(&name)));
    }
    for (name, bound) in each("max") {
        errors.extend(above(kind, &name, bound, requests.get(&name), limits.get(&name)));
    }
    for (name, bound) in each("maxLimitRequestRatio") {
        errors.extend(ratio(kind, &name, bound, requests.get(&name), limits.get(&name)));
    }
}

/// `minConstraint`.
fn below(
    kind: &str,
    name: &str,
    bound: Quantity,
    request: Option<&Quantity>,
    limit: Option<&Quantity>,
) -> Option<String> {
    let start = format!("minimum {name} usage per {kind} is {bound}");
    match (request, limit) {
        (None, _) => Some(format!("{start}.  No request is specified")),
        (Some(request), _) if request.nanos < bound.nanos => {
            Some(format!("{start}, but request is {request}"))
        }
        (_, Some(limit)) if limit.nanos < bound.nanos => {
            Some(format!("{start}, but limit is {limit}"))
        }
        _ => None,
    }
}

/// `maxConstraint`.
fn above(
    kind: &str,
    name: &str,
    bound: Quantity,
    request: Option<&Quantity>,
    limit: Option<&Quantity>,
) -> Option<String> {
    let start = format!("maximum {name} usage per {kind} is {bound}");
    match (request, limit) {
        (_, None) => Some(format!("{start}.  No limit is specified")),
        (_, Some(limit)) if limit.nanos > bound.nanos => {
            Some(format!("{start}, but limit is {limit}"))
        }
        (Some(request), _) if request.nanos > bound.nanos => {
            Some(format!("{start}, but request is {request}"))
        }
        _ => None,
    }
}

/// `limitRequestRatioConstraint`, in millionths instead of floating point.
fn ratio(
    kind: &str,
    name: &str,
    bound: Quantity,
    request: Option<&Quantity>,
    limit: Option<&Quantity>,
) -> Option<String> {
    const MILLIONTHS: i128 = 1_000_000;
    let start = format!("{name} max limit to request ratio per {kind} is {bound}, but ");
    let some = |amount: Option<&Quantity>| amount.map(|a| a.nanos).filter(|nanos| *nanos != 0);
    let Some(request) = some(request) else {
        return Some(format!("{start}no request is specified or request is 0"));
    };
    let Some(limit) = some(limit) else {
        return Some(format!("{start}no limit is specified or limit is 0"));
    };
    let times = limit.saturating_mul(MILLIONTHS);
    // The bound is in billionths.
    let most = bound.nanos.saturating_mul(request) / 1_000;
    let rounded = times.saturating_add(request / 2) / request;
    let shown = format!("{}.{:06}", rounded / MILLIONTHS, (rounded % MILLIONTHS).abs());
    (times > most).then(|| format!("{start}provided ratio is {shown}"))
}

/// Storage claims know requests only (`maxRequestConstraint`).
fn claim_bounds(item: &Value, claim: &Generic, errors: &mut Vec<String>) {
    let kind = kind_of(item);
    if kind != "PersistentVolumeClaim" {
        return;
    }
    let requests = claim.amounts("spec/resources/requests");
    for (name, bound) in amounts(item.get("min")) {
        errors.extend(below(kind, &name, bound, requests.get(&name), None));
    }
    for (name, bound) in amounts(item.get("max")) {
        let start = format!("maximum {name} usage per {kind} is {bound}");
        match requests.get(&name) {
            None => errors.push(format!("{start}.  No request is specified")),
            Some(request) if request.nanos > bound.nanos => {
                errors.push(format!("{start}, but request is {request}"));
            }
            _ => {}
        }
    }
}
