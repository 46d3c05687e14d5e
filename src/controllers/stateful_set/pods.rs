//! The pods of a StatefulSet: names, states, and the requests that make and delete them
//! (`stateful_set_utils.go`, `stateful_pod_control.go`).

use std::sync::Arc;

use serde_json::json;

use crate::api::{Fields, Generic, Kind, Object, ObjectKey, Pod, PodPhase, PodTemplateSpec, Str};
use crate::apiserver::{DeleteOptions, Reason, Request};
use crate::client::Cache;
use crate::controllers::owned::{REVISION_LABEL, key_of, pod_of};
use crate::controllers::{Batch, Deed, EventNote, Intent};

use super::set_view::SetSpec;

/// The set and the ordinal that a pod's name says: `web-2`.
pub fn parent_and_ordinal(name: &str) -> Option<(&str, i32)> {
    let (parent, ordinal) = name.rsplit_once('-')?;
    let digits = !ordinal.is_empty() && ordinal.bytes().all(|byte| byte.is_ascii_digit());
    Some((parent, ordinal.parse().ok().filter(|_| digits)?))
}

/// The ordinal of a pod of this set.
pub fn ordinal(set: &Object, pod: &Pod) -> Option<i32> {
    let (parent, ordinal) = parent_and_ordinal(&pod.metadata.name)?;
    (*parent == *set.meta().name).then_some(ordinal)
}

/// The revision that a pod says it is of.
pub fn revision(pod: &Pod) -> &str {
    pod.metadata.labels.get(REVISION_LABEL).map_or("", |revision| revision)
}

pub fn is_ready(pod: &Pod) -> bool {
    pod.status.phase == Some(PodPhase::Running) && pod.is_ready()
}

pub fn is_healthy(pod: &Pod) -> bool {
    is_ready(pod) && !pod.metadata.is_terminating()
}

/// The pod of an ordinal, as this template describes it.
pub fn new_pod(
    set: &Object,
    spec: &SetSpec,
    template: &PodTemplateSpec,
    revision: &str,
    ordinal: i32,
) -> Pod {
    let mut pod = pod_of(template, set);
    let name: Str = format!("{}-{ordinal}", set.meta().name).into();
    let meta = &mut pod.metadata;
    meta.name = name.clone();
    meta.labels.insert("statefulset.kubernetes.io/pod-name".into(), name.clone());
    meta.labels.insert("apps.kubernetes.io/pod-index".into(), ordinal.to_string().into());
    meta.labels.insert(REVISION_LABEL.into(), revision.into());
    pod.spec.rest.insert("hostname".into(), json!(name));
    if !spec.service_name.is_empty() {
        pod.spec.rest.insert("subdomain".into(), json!(spec.service_name));
    }
    let claims = spec.claims.iter().filter_map(|claim| claim_name(Fields::of(claim)));
    let claims: Vec<&str> = claims.collect();
    if !claims.is_empty() {
        let volumes = pod.spec.rest.entry("volumes".into()).or_insert_with(|| json!([]));
        if let Some(volumes) = volumes.as_array_mut() {
            let is_claim = |volume: &serde_json::Value| {
                volume["name"].as_str().is_some_and(|name| claims.contains(&name))
            };
            volumes.retain(|volume| !is_claim(volume));
            volumes.extend(claims.into_iter().map(|claim| {
                let of_pod = json!({"claimName": format!("{claim}-{name}")});
                json!({"name": claim, "persistentVolumeClaim": of_pod})
            }));
        }
    }
    pod
}

fn claim_name<'a>(claim: Fields<'a>) -> Option<&'a str> {
    claim.at("metadata").text("name")
}

/// The requests that make a pod and the claims that it lacks: the claims first.
pub fn creation(set: &Arc<Object>, spec: &SetSpec, pod: Pod, cache: &Cache) -> Vec<Batch> {
    let (name, of) = (pod.metadata.name.clone(), &set.meta().name);
    let mut claims = Batch::new();
    for template in &spec.claims {
        claims.extend(new_claim(set, spec, template, &name, cache));
    }
    let done = format!("create Pod {name} in StatefulSet {of} successful");
    let failed = format!("create Pod {name} in StatefulSet {of} failed error: {{error}}");
    let create = Intent {
        on_success: Some(EventNote::normal(set, "SuccessfulCreate", done)),
        on_failure: Some(EventNote::warning(set, "FailedCreate", failed)),
        // The cache is behind: what is there will show itself, and go, if it must.
        tolerates: |error| error.reason == Reason::AlreadyExists,
        ..Intent::new(Deed::CreatePod, Request::Create(Arc::new(pod.into())))
    };
    [claims, vec![create]].into_iter().filter(|batch| !batch.is_empty()).collect()
}

fn new_claim(
    set: &Arc<Object>,
    spec: &SetSpec,
    template: &serde_json::Value,
    pod: &str,
    cache: &Cache,
) -> Option<Intent> {
    let kind = Kind::PersistentVolumeClaim;
    let name: Str = format!("{}-{pod}", claim_name(Fields::of(template))?).into();
    let namespace = set.meta().namespace.clone();
    if cache.get(&ObjectKey::new(kind, namespace.clone(), name.clone())).is_some() {
        return None;
    }
    let Ok(Object::Generic(mut claim)) = Object::from_value(kind, template.clone()) else {
        return None;
    };
    claim.metadata.name = name.clone();
    claim.metadata.namespace = namespace;
    claim.metadata.labels.extend(spec.selector.match_labels.clone());
    let of = &set.meta().name;
    let done = format!("create Claim {name} Pod {pod} in StatefulSet {of} success");
    Some(Intent {
        on_success: Some(EventNote::normal(set, "SuccessfulCreate", done)),
        tolerates: |error| error.reason == Reason::AlreadyExists,
        ..Intent::new(Deed::Create, Request::Create(Arc::new(Object::Generic(claim))))
    })
}

/// The request that deletes a pod.
pub fn deletion(set: &Arc<Object>, pod: &Pod) -> Intent {
    let (name, of) = (&pod.metadata.name, &set.meta().name);
    let done = format!("delete Pod {name} in StatefulSet {of} successful");
    let failed = format!("delete Pod {name} in StatefulSet {of} failed error: {{error}}");
    Intent {
        on_success: Some(EventNote::normal(set, "SuccessfulDelete", done)),
        on_failure: Some(EventNote::warning(set, "FailedDelete", failed)),
        ..Intent::tolerant(Deed::DeletePod, Request::Delete(key_of(pod), DeleteOptions::default()))
    }
}

/// Whether the set would take this orphan, by its labels. Its name is looked at later.
pub fn selects(set: &Generic, pod: &Pod) -> bool {
    let selector: crate::api::LabelSelector = set.spec().read("selector");
    !selector.is_empty() && selector.matches(&pod.metadata.labels)
}
