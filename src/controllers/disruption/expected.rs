//! How many pods a budget expects, and how many of them must be healthy: from the budget's numbers,
//! and from the sizes that the controllers of its pods ask for (`getExpectedPodCount`).

use std::collections::BTreeMap;

use crate::api::{Generic, IntOrString, Kind, Object, ObjectKey, OwnerReference, Pod, Str};
use crate::controllers::Context;

/// What a budget expects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    /// Pods that there should be.
    pub count: i32,
    /// Pods that must be healthy.
    pub desired_healthy: i32,
    /// Pods that no controller looks after, where that matters.
    pub unmanaged: Vec<Str>,
}

/// What `budget` expects, if it can be told.
pub fn expected(budget: &Generic, pods: &[&Pod], cx: &Context) -> Result<Expected, String> {
    if let Some(most) = budget.typed::<IntOrString>("spec/maxUnavailable") {
        let (count, unmanaged) = scale_of(pods, cx)?;
        let most = most.scaled(count, true).map_err(|error| error.to_string())?;
        let desired_healthy = count.saturating_sub(most).max(0);
        return Ok(Expected { count, desired_healthy, unmanaged });
    }
    match budget.typed::<IntOrString>("spec/minAvailable") {
        None => Ok(Expected::default()),
        Some(IntOrString::Int(desired_healthy)) => {
            let count = i32::try_from(pods.len()).unwrap_or(i32::MAX);
            Ok(Expected { count, desired_healthy, unmanaged: Vec::new() })
        }
        Some(percent) => {
            let (count, unmanaged) = scale_of(pods, cx)?;
            let desired_healthy = percent.scaled(count, true).map_err(|error| error.to_string())?;
            Ok(Expected { count, desired_healthy, unmanaged })
        }
    }
}

/// The sizes of all controllers of these pods together, each once, and the pods that have none.
fn scale_of(pods: &[&Pod], cx: &Context) -> Result<(i32, Vec<Str>), String> {
    let mut scales: BTreeMap<Str, i32> = BTreeMap::new();
    let (mut unmanaged, mut seen) = (Vec::new(), BTreeMap::new());
    for pod in pods {
        let Some(owner) = pod.metadata.controller() else {
            unmanaged.push(pod.metadata.name.clone());
            continue;
        };
        if seen.insert(owner.uid.clone(), ()).is_some() {
            continue;
        }
        let (uid, scale) = find(owner, &pod.metadata.namespace, cx)?
            .ok_or_else(|| format!("found no controllers for pod {:?}", &*pod.metadata.name))?;
        scales.insert(uid, scale);
    }
    let sum = scales.values().fold(0i32, |sum, scale| sum.saturating_add(*scale));
    Ok((sum, unmanaged))
}

fn get<'a>(
    kind: Kind,
    owner: &OwnerReference,
    namespace: &Str,
    cx: &Context<'a>,
) -> Option<&'a Object> {
    let key = ObjectKey::new(kind, namespace.clone(), owner.name.clone());
    let found = cx.cache.get(&key).filter(|object| object.meta().uid == owner.uid);
    found.map(|object| &**object)
}

type Found = Result<Option<(Str, i32)>, String>;

/// The one that decides how many pods there are: a pod's ReplicaSet, or the Deployment above it.
fn find(owner: &OwnerReference, namespace: &Str, cx: &Context) -> Found {
    let kind = Kind::of_manifest(&owner.api_version, &owner.kind);
    match kind {
        Some(Kind::ReplicaSet) => {
            let Some(Object::ReplicaSet(set)) = get(Kind::ReplicaSet, owner, namespace, cx) else {
                return Ok(None);
            };
            let above = set.metadata.controller().filter(|above| &*above.kind == "Deployment");
            let Some(above) = above else {
                return Ok(Some((set.metadata.uid.clone(), set.spec.replicas())));
            };
            Ok(match get(Kind::Deployment, above, namespace, cx) {
                Some(Object::Deployment(deployment)) => {
                    Some((deployment.metadata.uid.clone(), deployment.spec.replicas()))
                }
                _ => None,
            })
        }
        Some(kind @ (Kind::StatefulSet | Kind::ReplicationController)) => {
            let object = get(kind, owner, namespace, cx);
            Ok(object.map(|object| (object.meta().uid.clone(), replicas(object))))
        }
        Some(kind) => {
            let plural = kind.info().plural;
            let resource = match kind.group() {
                "" => plural.to_string(),
                group => format!("{plural}.{group}"),
            };
            Err(format!("{resource} does not implement the scale subresource"))
        }
        None => Ok(None),
    }
}

/// `spec.replicas`, read off the written form so that it does not matter how a kind is held.
fn replicas(object: &Object) -> i32 {
    let value = object.to_value();
    let replicas = value.pointer("/spec/replicas").and_then(|replicas| replicas.as_i64());
    replicas.map_or(1, |replicas| i32::try_from(replicas).unwrap_or(i32::MAX))
}
