//! A controller for a kind that a user defines, such as people write with controller-runtime: for
//! showing what such controllers get wrong. What it does is data of the scenario
//! (`cluster.operators`). It is level-triggered in both lanes, and starts with the definition of
//! its kind.
//!
//! For each object it makes pods, or one thing outside of the cluster, or only writes a status.
//! What is outside is kept as a ConfigMap in the namespace `outside`, which the scenario must
//! define: no loop watches it, as no controller watches a cloud. The kind must have the subresource
//! `status`. Deletion and finalizers are left out; owned pods are left to the garbage collector.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;

use crate::api::{Container, Generic, Kind, Object, ObjectKey, Pod, PodTemplateSpec, Str, Value};
use crate::apiserver::{Part, Reason, Request};
use crate::controllers::owned::{create, delete, path_of, pod_of};
use crate::controllers::{
    Change, ChangeKind, Context, Deed, Fact, Finish, Intent, Plan, Promise, Woken,
};
use crate::kernel::{Time, stable_hash};

/// The namespace that stands for what is outside of the cluster.
pub const OUTSIDE: &str = "outside";
/// Pods that one object may ask for.
const PODS_MAX: i64 = 500;

/// What an operator does.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct OperatorSpec {
    /// For objects of this kind.
    pub kind: Str,
    /// The field that says how many pods each has: `spec/workers`. They get the image of
    /// `spec/image`, if it is there.
    pub pods: Option<String>,
    /// Whether it waits until its cache shows the pods that it has made (expectations).
    pub expectations: bool,
    /// Whether each object has a thing outside of the cluster, whose name is kept in `status.id`.
    pub outside: Outside,
    /// When it writes the status.
    pub status: StatusWrites,
    /// Which changes of an object wake it.
    pub wakes_on: WakesOn,
}

/// How the thing outside gets its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Outside {
    /// There is none.
    #[default]
    None,
    /// The outside gives it one, another each time.
    Generated,
    /// It follows from the object, so that making it twice is seen.
    Named,
}

/// When a status is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StatusWrites {
    /// If it has changed.
    #[default]
    Changed,
    /// In each pass, the same or not.
    Always,
    /// In each pass, with the time of the pass in it, to the microsecond: one of whole seconds is
    /// now and then the same as before, and then the loop comes to rest.
    Stamped,
}

/// Which changes of an object wake the loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum WakesOn {
    /// Each.
    #[default]
    All,
    /// Those that change its generation: a status does not (`GenerationChangedPredicate`).
    Generation,
}

/// The loop. It remembers nothing but what it is for.
#[derive(Clone, Debug, Default)]
pub struct Operator {
    specs: BTreeMap<Str, OperatorSpec>,
}

impl Operator {
    /// An operator for these kinds.
    pub fn new(specs: &[OperatorSpec]) -> Operator {
        let by_kind = specs.iter().map(|spec| (spec.kind.clone(), spec.clone()));
        Operator { specs: by_kind.collect() }
    }

    fn spec(&self, kind: Kind) -> Option<&OperatorSpec> {
        self.specs.get(kind.info().kind)
    }

    /// What a change wakes: the object, or the owner of the pod.
    pub fn wakes(&self, change: &Change) -> Woken {
        let mut woken = Woken::default();
        if let Some(pod) = change.object.as_pod() {
            let owner = pod.metadata.controller();
            let kind = owner.and_then(|o| Kind::of_manifest(&o.api_version, &o.kind));
            let Some((owner, kind)) =
                owner.zip(kind).filter(|(_, kind)| self.spec(*kind).is_some())
            else {
                return woken;
            };
            let key = ObjectKey::new(kind, pod.metadata.namespace.clone(), owner.name.clone());
            if change.is_deletion() || pod.metadata.is_terminating() {
                woken.deleted.push((key.clone(), path_of(pod)));
            } else if change.kind == ChangeKind::Added {
                woken.created.push(key.clone());
            }
            woken.keys.push(key);
            return woken;
        }
        let Some(spec) = self.spec(change.object.kind()) else { return woken };
        let generation = |object: &Arc<Object>| object.meta().generation;
        let before = change.before.as_ref().map(generation);
        let same = before == Some(generation(&change.object)) && !change.is_deletion();
        if !same || spec.wakes_on == WakesOn::All {
            woken.keys.push(change.key());
        }
        if change.is_deletion() {
            woken.forgotten.push(change.key());
        }
        woken
    }

    /// Looks at one object.
    pub fn sync(&self, key: &ObjectKey, cx: &Context<'_>) -> Plan {
        let spec = self.spec(key.kind);
        let found = cx.cache.get(key).and_then(|object| Some((object, object.as_generic()?)));
        let (Some(spec), Some((object, own))) = (spec, found) else {
            return Plan::nothing(Fact::Gone, Fact::Gone);
        };
        if own.metadata.is_terminating() {
            return Plan::nothing(Fact::Gone, Fact::Gone);
        }
        let mut status = Status::of(own);
        let mut plan = Plan::default();
        if let Some(path) = &spec.pods {
            let wanted = own.whole_number(path).unwrap_or(0).clamp(0, PODS_MAX);
            make_pods(&mut plan, &mut status, object, own, wanted, cx);
            if spec.expectations && !cx.promises_kept {
                plan.batches.clear();
            }
            plan.promise = plan.promise.filter(|_| spec.expectations && cx.promises_kept);
        }
        if spec.outside != Outside::None && status.text("id").is_empty() {
            make_outside(&mut plan, &mut status, own, spec.outside, cx);
        }
        write_status(&mut plan, status, object, own, spec.status, cx);
        plan
    }
}

/// The status as it will be.
struct Status(serde_json::Map<String, Value>);

impl Status {
    fn of(own: &Generic) -> Status {
        let status = own.rest.get("status").and_then(Value::as_object);
        Status(status.cloned().unwrap_or_default())
    }

    fn text(&self, field: &str) -> &str {
        self.0.get(field).and_then(Value::as_str).unwrap_or_default()
    }

    fn set(&mut self, field: &str, value: Value) {
        self.0.insert(field.into(), value);
    }
}

/// What is missing is made, and of what is too much any goes, as far as the cache shows.
fn make_pods(
    plan: &mut Plan,
    status: &mut Status,
    object: &Arc<Object>,
    own: &Generic,
    wanted: i64,
    cx: &Context<'_>,
) {
    let pods = cx.cache.owned_by(Kind::Pod, &own.metadata.uid);
    let active: Vec<&Pod> =
        pods.filter_map(|pod| pod.as_pod()).filter(|pod| pod.is_active()).collect();
    let there = i64::try_from(active.len()).unwrap_or(i64::MAX);
    (plan.sees, plan.wants) = (Fact::Count(there), Fact::Count(wanted));
    status.set("pods", there.into());
    status.set("ready", active.iter().filter(|pod| pod.is_ready()).count().into());
    if there < wanted {
        let missing = usize::try_from(wanted - there).unwrap_or(0);
        plan.promise = Some(Promise::Creations(u32::try_from(missing).unwrap_or(u32::MAX)));
        let pod = pod_for(object, own);
        plan.batches.extend((0..missing).map(|_| vec![create(object, pod.clone())]));
    } else if there > wanted {
        let mut doomed = active;
        doomed.sort_by_key(|pod| stable_hash(cx.seed, pod.metadata.uid.as_bytes()));
        doomed.truncate(usize::try_from(there - wanted).unwrap_or(0));
        let paths = doomed.iter().map(|pod| path_of(pod)).collect();
        plan.promise = Some(Promise::Deletions(paths));
        plan.batches.push(doomed.into_iter().map(|pod| delete(object, pod)).collect());
    }
}

fn pod_for(object: &Arc<Object>, own: &Generic) -> Pod {
    let image = match own.text("spec/image") {
        "" => "registry.example/worker:1",
        image => image,
    };
    let mut template = PodTemplateSpec::default();
    let container =
        Container { name: "main".into(), image: Some(image.into()), ..Container::default() };
    template.spec.containers = [container].into();
    template.metadata.labels.insert("owner".into(), own.metadata.name.clone());
    let mut pod = pod_of(&template, object);
    pod.metadata.generate_name = Some(format!("{}-", own.metadata.name).into());
    pod
}

/// The call that makes the thing outside; its name is known only when the call has returned, so it
/// stands in the status that is written after it.
fn make_outside(
    plan: &mut Plan,
    status: &mut Status,
    own: &Generic,
    how: Outside,
    cx: &Context<'_>,
) {
    let meta = &own.metadata;
    let kind = own.kind.info().kind.to_ascii_lowercase();
    let id = match how {
        Outside::Generated => {
            let text = format!("{}/{:?}", meta.uid, cx.now);
            format!("{kind}-{:08x}", stable_hash(cx.seed, text.as_bytes()) as u32)
        }
        _ => format!("{kind}-{}-{}", meta.namespace, meta.name),
    };
    let thing = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": id, "namespace": OUTSIDE, "labels": {"for": meta.name}},
    });
    status.set("id", id.into());
    let Ok(thing) = Object::from_value(Kind::ConfigMap, thing) else { return };
    let mut intent = Intent::new(Deed::Create, Request::Create(Arc::new(thing)));
    // One of that name is there: it is the one that was to be made.
    intent.tolerates = |error| error.reason == Reason::AlreadyExists;
    plan.then(intent);
}

fn write_status(
    plan: &mut Plan,
    mut status: Status,
    object: &Arc<Object>,
    own: &Generic,
    writes: StatusWrites,
    cx: &Context<'_>,
) {
    status.set("observedGeneration", own.metadata.generation.into());
    let held = own.field("status/conditions/0/lastTransitionTime").cloned();
    if writes == StatusWrites::Stamped {
        status.set("lastReconciled", precise(cx).into());
    }
    let since = match writes {
        StatusWrites::Stamped => json!(cx.timestamp()),
        _ => held.unwrap_or_else(|| json!(cx.timestamp())),
    };
    let ready = json!({
        "type": "Ready", "status": "True", "reason": "Reconciled", "message": "",
        "lastTransitionTime": since,
    });
    status.set("conditions", json!([ready]));
    let mut after = own.clone();
    after.rest.insert("status".into(), Value::Object(status.0));
    let after = Object::Generic(after);
    match writes {
        // Sent as it is, the same or not.
        StatusWrites::Always => {
            let request = Request::Update(Part::Status, Arc::new(after));
            plan.then(Intent::new(Deed::Status, request));
        }
        _ => plan.finish = Some(Finish::plain(object.clone(), after)),
    }
}

/// The time as `MicroTime` writes it.
fn precise(cx: &Context<'_>) -> String {
    let seconds = cx.timestamp().to_string();
    let micros = cx.now.since(Time::ZERO).subsec_micros();
    format!("{}.{micros:06}Z", seconds.trim_end_matches('Z'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::custom;
    use crate::client::Cache;

    fn object(status: Value) -> Object {
        let kind = custom::intern("lab.example/v1", "Gadget", "gadgets", true).expect("a kind");
        let metadata = json!({"name": "a", "namespace": "default", "uid": "u", "generation": 1});
        let spec = json!({"workers": 2});
        Object::from_value(kind, json!({"metadata": metadata, "spec": spec, "status": status}))
            .expect("an object")
    }

    fn plan(spec: OperatorSpec, object: Object, seconds: u64) -> Plan {
        let key = object.key();
        let cache = Cache::of([object]);
        let now = Time::from_secs(seconds);
        let cx = Context { cache: &cache, now, seed: 1, promises_kept: true };
        Operator::new(&[OperatorSpec { kind: "Gadget".into(), ..spec }]).sync(&key, &cx)
    }

    #[test]
    fn what_is_missing_is_made_and_promised_only_by_the_careful() {
        let pods = |expectations| {
            let pods = Some("spec/workers".to_string());
            plan(OperatorSpec { pods, expectations, ..Default::default() }, object(json!({})), 1)
        };
        assert_eq!(pods(false).writes().filter(|(deed, _)| *deed == Deed::CreatePod).count(), 2);
        assert_eq!(pods(false).promise, None);
        assert_eq!(pods(true).promise, Some(Promise::Creations(2)));
    }

    #[test]
    fn a_name_that_is_given_from_outside_is_another_each_time() {
        let id = |outside, seconds| {
            let spec = OperatorSpec { outside, ..Default::default() };
            let finish = plan(spec, object(json!({})), seconds).finish.expect("a status");
            finish.after.as_generic().expect("generic").text("status/id").to_string()
        };
        assert_ne!(id(Outside::Generated, 1), id(Outside::Generated, 2));
        assert_eq!(id(Outside::Named, 1), "gadget-default-a");
        assert_eq!(id(Outside::Named, 1), id(Outside::Named, 2));
    }

    #[test]
    fn a_status_with_the_time_in_it_is_never_the_same() {
        let spec = OperatorSpec { status: StatusWrites::Stamped, ..Default::default() };
        let first = plan(spec.clone(), object(json!({})), 1).finish.expect("a status").after;
        let second = plan(spec, first.clone(), 2).finish.expect("a status").after;
        assert_ne!(first, second);
    }
}
