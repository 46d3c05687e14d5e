//! What differs from kind to kind when an object is stored: which parts a write reaches, when the
//! generation grows, what a new object starts with.
//! Kubernetes: `pkg/registry/*/strategy.go`.

use crate::api::{
    Condition, ConditionStatus, Kind, Object, Pod, PodPhase, PodStatus, ReplicaSetStatus, Timestamp,
};

use super::defaults::default_object;
use super::{ApiError, Part, validation};

/// Whether a kind counts its generations.
pub fn has_generation(kind: Kind) -> bool {
    !matches!(kind, Kind::Node | Kind::Event | Kind::Lease | Kind::Namespace)
}

/// Whether an update makes an object that is not there.
pub fn allows_create_on_update(kind: Kind) -> bool {
    use Kind::{
        ClusterRole, ClusterRoleBinding, Event, Lease, LimitRange, Role, RoleBinding, Service,
    };
    matches!(
        kind,
        Lease
            | Event
            | Service
            | LimitRange
            | Role
            | RoleBinding
            | ClusterRole
            | ClusterRoleBinding
    )
}

/// A new object carries no status and no server-made metadata, whatever the client sent.
pub fn prepare_for_create(object: &mut Object) {
    let kind = object.kind();
    let meta = object.meta_mut();
    meta.uid = "".into();
    meta.resource_version = 0;
    meta.deletion_timestamp = None;
    meta.deletion_grace_period_seconds = None;
    if kind.info().namespaced && meta.namespace.is_empty() {
        meta.namespace = "default".into();
    } else if !kind.info().namespaced {
        meta.namespace = "".into();
    }
    default_object(object);
    match object {
        Object::Pod(pod) => {
            let phase = Some(PodPhase::Pending);
            pod.status = PodStatus { phase, ..PodStatus::default() };
        }
        Object::ReplicaSet(set) => set.status = ReplicaSetStatus::default(),
        Object::Deployment(deployment) => deployment.status = Default::default(),
        Object::Generic(generic) if kind != Kind::Namespace => {
            generic.rest.remove("status");
        }
        _ => {}
    }
}

/// Notes a pod's class of service, which follows from its resources.
pub fn note_qos_class(pod: &mut Pod) {
    pod.status.qos_class = Some(qos_class(pod).into());
}

/// `v1.PodQOSClass`: Guaranteed if every container limits what it requests, BestEffort if none
/// says anything.
fn qos_class(pod: &Pod) -> &'static str {
    let containers = || pod.spec.containers.iter().chain(&pod.spec.init_containers);
    let silent =
        containers().all(|c| c.resources.requests.is_empty() && c.resources.limits.is_empty());
    let guaranteed = containers().all(|c| {
        ["cpu", "memory"].iter().all(|resource| {
            let limit = c.resources.limits.get(*resource);
            limit.is_some() && c.resources.requests.get(*resource).is_none_or(|r| Some(r) == limit)
        })
    });
    match (silent, guaranteed) {
        (true, _) => "BestEffort",
        (_, true) => "Guaranteed",
        _ => "Burstable",
    }
}

/// The stored object with the part that the write reaches taken from `asked`.
pub fn merge_update(part: Part, stored: &Object, asked: &Object) -> Object {
    match part {
        Part::Main => {
            let mut after = keep_status(stored, asked.clone());
            default_object(&mut after);
            after
        }
        Part::Status => take_status(stored.clone(), asked),
        Part::Scale => take_replicas(stored.clone(), asked),
        Part::Finalize => take_finalizers(stored.clone(), asked),
    }
}

/// What the server has given out cannot be taken back by a client.
fn keep_status(stored: &Object, mut after: Object) -> Object {
    let (kept, meta) = (stored.meta(), after.meta_mut());
    meta.uid = kept.uid.clone();
    meta.generate_name = kept.generate_name.clone();
    meta.creation_timestamp = kept.creation_timestamp;
    meta.generation = kept.generation;
    meta.resource_version = kept.resource_version;
    meta.deletion_timestamp = kept.deletion_timestamp;
    meta.deletion_grace_period_seconds = kept.deletion_grace_period_seconds;
    meta.managed_fields = kept.managed_fields.clone();
    match (&mut after, stored) {
        (Object::Pod(after), Object::Pod(stored)) => after.status = stored.status.clone(),
        (Object::ReplicaSet(after), Object::ReplicaSet(stored)) => {
            after.status = stored.status.clone();
        }
        (Object::Deployment(after), Object::Deployment(stored)) => {
            after.status = stored.status.clone();
        }
        (Object::Node(after), Object::Node(stored)) => after.status = stored.status.clone(),
        (Object::Generic(after), Object::Generic(stored)) if after.kind != Kind::Event => {
            match stored.rest.get("status") {
                Some(status) => after.rest.insert("status".into(), status.clone()),
                None => after.rest.remove("status"),
            };
        }
        _ => {}
    }
    after
}

/// A write of the status reaches labels and annotations too: strategies reset the spec, and
/// `deploymentStatusStrategy` the labels as well. (Of other kinds only the status is taken, and so
/// it is where no version is named, since that stands for a patch.)
fn take_metadata(after: &mut Object, asked: &Object) {
    let (kind, asked) = (after.kind(), asked.meta());
    let meta = after.meta_mut();
    if kind == Kind::Deployment || (kind == Kind::ReplicaSet && asked.resource_version != 0) {
        meta.annotations = asked.annotations.clone();
    }
    if kind == Kind::ReplicaSet && asked.resource_version != 0 {
        meta.labels = asked.labels.clone();
    }
}

fn take_status(mut after: Object, asked: &Object) -> Object {
    take_metadata(&mut after, asked);
    match (&mut after, asked) {
        (Object::Pod(after), Object::Pod(asked)) => after.status = asked.status.clone(),
        (Object::ReplicaSet(after), Object::ReplicaSet(asked)) => {
            after.status = asked.status.clone();
        }
        (Object::Deployment(after), Object::Deployment(asked)) => {
            after.status = asked.status.clone();
        }
        (Object::Node(after), Object::Node(asked)) => after.status = asked.status.clone(),
        (Object::Generic(after), Object::Generic(asked)) => {
            if let Some(status) = asked.rest.get("status") {
                after.rest.insert("status".into(), status.clone());
            }
        }
        _ => {}
    }
    after
}

fn take_finalizers(mut after: Object, asked: &Object) -> Object {
    if let (Object::Generic(after), Object::Generic(asked)) = (&mut after, asked)
        && let Some(finalizers) = asked.field("spec/finalizers")
    {
        after.set_field("spec", "finalizers", finalizers.clone());
    }
    after
}

fn take_replicas(mut after: Object, asked: &Object) -> Object {
    match (&mut after, asked) {
        (Object::ReplicaSet(after), Object::ReplicaSet(asked)) => {
            after.spec.replicas = asked.spec.replicas;
        }
        (Object::Deployment(after), Object::Deployment(asked)) => {
            after.spec.replicas = asked.spec.replicas;
        }
        (Object::Generic(after), Object::Generic(asked)) => {
            let spec = after.rest.get_mut("spec").and_then(|spec| spec.as_object_mut());
            if let (Some(spec), Some(replicas)) = (spec, asked.spec().int("replicas")) {
                spec.insert("replicas".into(), replicas.into());
            }
        }
        _ => {}
    }
    after
}

/// The generation grows with the spec; a Deployment's with its annotations too.
pub fn bump_generation(stored: &Object, after: &mut Object) {
    let changed = match (&*after, stored) {
        (Object::Pod(a), Object::Pod(s)) => a.spec != s.spec,
        (Object::ReplicaSet(a), Object::ReplicaSet(s)) => a.spec != s.spec,
        (Object::Deployment(a), Object::Deployment(s)) => {
            a.spec != s.spec || a.metadata.annotations != s.metadata.annotations
        }
        // Those count otherwise: see `custom::objects`.
        (Object::Generic(a), _) if a.kind.is_custom() => false,
        (Object::Generic(a), Object::Generic(s)) => a.rest.get("spec") != s.rest.get("spec"),
        _ => false,
    };
    if changed && has_generation(stored.kind()) {
        after.meta_mut().generation += 1;
    }
}

/// Refuses a new object that breaks rules.
pub fn validate_create(object: &Object) -> Result<(), ApiError> {
    refuse(object, &validation::validate_create(object))
}

/// Refuses a change that breaks rules.
pub fn validate_update(stored: &Object, after: &Object) -> Result<(), ApiError> {
    refuse(after, &validation::validate_update(stored, after))
}

/// Refuses a status that breaks rules: a few comparisons of numbers, as statuses are written often.
pub fn validate_status(stored: &Object, after: &Object) -> Result<(), ApiError> {
    refuse(after, &validation::validate_status(stored, after))
}

fn refuse(object: &Object, errors: &[String]) -> Result<(), ApiError> {
    match errors {
        [] => Ok(()),
        errors => Err(ApiError::invalid(object.kind(), &object.meta().name, errors)),
    }
}

/// Notes that a pod has its node.
pub fn set_pod_scheduled(pod: &mut Pod, now: Timestamp) {
    pod.status.conditions.retain(|condition| &*condition.kind != "PodScheduled");
    pod.status.conditions.push(Condition {
        kind: "PodScheduled".into(),
        status: ConditionStatus::True,
        last_transition_time: Some(now),
        ..Condition::default()
    });
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn stored(kind: Kind) -> Object {
        let metadata = json!({"name": "web", "labels": {"a": "1"}, "resourceVersion": "7"});
        Object::from_value(kind, json!({ "metadata": metadata })).expect("an object")
    }

    #[test]
    fn a_status_write_reaches_the_labels_of_a_replica_set_and_of_a_deployment_the_annotations() {
        let named = |kind, version: u64| {
            let mut asked = stored(kind);
            let meta = asked.meta_mut();
            meta.labels = [("a".into(), "2".into())].into_iter().collect();
            meta.annotations = [("b".into(), "3".into())].into_iter().collect();
            meta.resource_version = version;
            let after = merge_update(Part::Status, &stored(kind), &asked);
            let meta = after.meta();
            (meta.labels.get("a").cloned(), meta.annotations.get("b").cloned())
        };
        let (old, new, note) = (Some("1".into()), Some("2".into()), Some("3".into()));
        assert_eq!(named(Kind::ReplicaSet, 7), (new, note.clone()));
        assert_eq!(named(Kind::ReplicaSet, 0), (old.clone(), None), "it stands for a patch");
        assert_eq!(named(Kind::Deployment, 7), (old.clone(), note));
        assert_eq!(named(Kind::Pod, 7), (old, None));
    }
}
