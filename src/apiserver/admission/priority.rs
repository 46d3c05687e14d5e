//! From the name of a PriorityClass to a number in the pod (`plugin/pkg/admission/priority`).

use serde_json::json;

use crate::api::{Generic, Kind, Object, ObjectKey, Pod, Str, Timestamp, Value};
use crate::apiserver::ApiError;
use crate::apiserver::store::Store;

/// The classes that every cluster has, with their values.
pub const SYSTEM: [(&str, i64, &str); 2] = [
    (
        "system-cluster-critical",
        2_000_000_000,
        "Used for system critical pods that must run in the cluster, but can be moved to another \
         node if necessary.",
    ),
    (
        "system-node-critical",
        2_000_001_000,
        "Used for system critical pods that must not be moved from their node.",
    ),
];
const ALWAYS: &str = "PreemptLowerPriority";
/// The field of a pod that names its class.
const CLASS: &str = "priorityClassName";

/// What a class, or its absence, comes to.
struct Resolved {
    class: String,
    value: i64,
    policy: Str,
}

/// Sets a new pod's priority.
pub fn admit(store: &Store, object: &mut Object) -> Result<(), ApiError> {
    let Object::Pod(pod) = object else { return Ok(()) };
    let found = resolve(store, pod).and_then(|found| check(pod, &found).map(|()| found));
    match found {
        Ok(found) => {
            write(pod, found);
            Ok(())
        }
        Err(why) => Err(super::forbidden(object, &why)),
    }
}

/// Fills in the defaults of a PriorityClass itself.
pub fn complete(class: &mut Generic) {
    class.rest.entry("preemptionPolicy".into()).or_insert(ALWAYS.into());
}

fn resolve(store: &Store, pod: &Pod) -> Result<Resolved, String> {
    let name = pod.spec.rest.get(CLASS).and_then(Value::as_str).unwrap_or("");
    if name.is_empty() {
        let default = defaults(store).min_by_key(|class| class.whole_number("value"));
        return Ok(default.map_or_else(
            || Resolved { class: String::new(), value: 0, policy: ALWAYS.into() },
            resolved,
        ));
    }
    let stored = store.get(&ObjectKey::new(Kind::PriorityClass, "", name));
    if let Some(class) = stored.and_then(|object| object.as_generic()) {
        return Ok(resolved(class));
    }
    let system = SYSTEM.iter().find(|(system, ..)| *system == name);
    match system {
        Some((_, value, _)) => {
            Ok(Resolved { class: name.into(), value: *value, policy: ALWAYS.into() })
        }
        None => Err(format!("no PriorityClass with name {name} was found")),
    }
}

fn resolved(class: &Generic) -> Resolved {
    let policy = class.text("preemptionPolicy");
    Resolved {
        class: class.metadata.name.to_string(),
        value: class.whole_number("value").unwrap_or(0),
        policy: if policy.is_empty() { ALWAYS.into() } else { policy.into() },
    }
}

/// The classes that say that they are the default. There is one at most, unless two were made at
/// the same time; then the lowest counts.
fn defaults(store: &Store) -> impl Iterator<Item = &Generic> {
    let classes = store.list(Kind::PriorityClass).filter_map(|object| object.as_generic());
    classes.filter(|class| class.field("globalDefault") == Some(&Value::Bool(true)))
}

/// What the pod says itself must agree.
fn check(pod: &Pod, found: &Resolved) -> Result<(), String> {
    if let Some(said) = pod.spec.priority.filter(|said| *said != found.value) {
        return Err(format!(
            "the integer value of priority ({said}) must not be provided in pod spec; priority \
             admission controller computed {} from the given PriorityClass name",
            found.value
        ));
    }
    let said = pod.spec.preemption_policy.as_ref();
    if let Some(said) = said.filter(|said| !said.is_empty() && **said != found.policy) {
        return Err(format!(
            "the string value of PreemptionPolicy ({said}) must not be provided in pod spec; \
             priority admission controller computed {} from the given PriorityClass name",
            found.policy
        ));
    }
    Ok(())
}

fn write(pod: &mut Pod, found: Resolved) {
    let spec = &mut pod.spec;
    if !found.class.is_empty() {
        spec.rest.insert(CLASS.into(), found.class.into());
    }
    spec.priority = Some(found.value);
    spec.preemption_policy = Some(found.policy);
}

/// A write that says nothing of the priority leaves it.
pub fn keep(stored: &Object, after: &mut Object) {
    let (Object::Pod(stored), Object::Pod(after)) = (stored, after) else { return };
    let (own, before) = (&mut after.spec, &stored.spec);
    own.priority = own.priority.or(before.priority);
    if own.preemption_policy.is_none() {
        own.preemption_policy.clone_from(&before.preemption_policy);
    }
    let class = before.rest.get(CLASS).filter(|_| !own.rest.contains_key(CLASS));
    if let Some(class) = class {
        own.rest.insert(CLASS.into(), class.clone());
    }
}

/// One default at most.
pub fn validate(store: &Store, object: &Object) -> Result<(), ApiError> {
    let Some(class) = object.as_generic().filter(|class| class.kind == Kind::PriorityClass) else {
        return Ok(());
    };
    let other = defaults(store).find(|other| other.metadata.name != class.metadata.name);
    match other.filter(|_| class.field("globalDefault") == Some(&Value::Bool(true))) {
        None => Ok(()),
        Some(other) => Err(super::forbidden(
            object,
            &format!(
                "PriorityClass {} is already marked as default. Only one default can exist",
                other.metadata.name
            ),
        )),
    }
}

/// The classes of a new cluster.
pub fn built_in(now: Timestamp) -> impl Iterator<Item = Object> {
    SYSTEM.into_iter().map(move |(name, value, about)| {
        let mut class = Generic {
            kind: Kind::PriorityClass,
            metadata: Default::default(),
            rest: Default::default(),
        };
        class.metadata.name = name.into();
        class.metadata.creation_timestamp = Some(now);
        class.metadata.generation = 1;
        class.rest.insert("value".into(), json!(value));
        class.rest.insert("preemptionPolicy".into(), ALWAYS.into());
        class.rest.insert("description".into(), about.into());
        Object::Generic(class)
    })
}
