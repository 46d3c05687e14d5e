//! The ReplicaSet of a Deployment's present template: made if there is none, kept in step with the
//! Deployment if there is.
//!
//! Follows `getNewReplicaSet` in `pkg/controller/deployment/sync.go`.

use crate::api::{
    Condition, ConditionStatus, Deployment, Kind, ObjectKey, ObjectMeta, OwnerReference,
    ReplicaSet, ReplicaSetSpec, ScaleError, Str, StrMap, Timestamp,
};
use crate::client::Cache;

use super::{annotations, conditions, history, matching, progress, rolling, status, template_hash};

/// A set for the present template, of the size that the update leaves room for.
pub fn build(deployment: &Deployment, old: &[&ReplicaSet]) -> Result<ReplicaSet, ScaleError> {
    let meta = &deployment.metadata;
    let template = &deployment.spec.template;
    let hash = template_hash::hash(template, deployment.status.collision_count);
    let with_hash = |labels: &StrMap| -> StrMap {
        let mut labels = labels.clone();
        labels.insert(matching::HASH_LABEL.into(), hash.as_str().into());
        labels
    };
    let labels = with_hash(&template.metadata.labels);
    let mut template = template.clone();
    template.metadata.labels = labels.clone();
    let mut selector = deployment.spec.selector.clone();
    selector.match_labels = with_hash(&selector.match_labels);
    let mut set = ReplicaSet {
        metadata: ObjectMeta {
            name: template_hash::set_name(&meta.name, &hash).into(),
            namespace: meta.namespace.clone(),
            labels,
            owner_references: [OwnerReference::controller_of(Kind::Deployment, meta)].into(),
            ..ObjectMeta::default()
        },
        spec: ReplicaSetSpec {
            replicas: Some(0),
            min_ready_seconds: deployment.spec.min_ready_seconds,
            selector,
            template,
            ..ReplicaSetSpec::default()
        },
        ..ReplicaSet::default()
    };
    let size = rolling::new_set_size(deployment, status::size_sum(old), 0)?;
    set.spec.replicas = Some(size);
    annotations::set_of_new_set(
        deployment,
        &mut set,
        history::max_revision(old.iter().copied()) + 1,
    );
    let (desired, max) = annotations::sizes_for(deployment);
    annotations::set_sizes(&mut set.metadata.annotations, desired, max);
    Ok(set)
}

/// Whether a set of this name stands in the way of `made`: another owner's, or of another template,
/// or one that is about to be released.
pub fn collides(deployment: &Deployment, made: &ReplicaSet, cache: &Cache) -> bool {
    let (meta, template) = (&made.metadata, &deployment.spec.template);
    let key = ObjectKey::new(Kind::ReplicaSet, meta.namespace.clone(), meta.name.clone());
    cache.replica_set(&key).is_some_and(|there| {
        !there.metadata.is_controlled_by(&deployment.metadata.uid)
            || !deployment.spec.selector.matches(&there.metadata.labels)
            || !matching::equal_ignoring_hash(&there.spec.template, template)
    })
}

/// The present set with what it should take over from the Deployment: annotations, the highest
/// revision of all, minReadySeconds. None if it has it all.
pub fn in_step(
    deployment: &Deployment,
    set: &ReplicaSet,
    old: &[&ReplicaSet],
) -> Option<ReplicaSet> {
    let mut after = set.clone();
    let revision = history::max_revision(old.iter().copied()) + 1;
    let annotated = annotations::set_of_new_set(deployment, &mut after, revision);
    let min_ready_seconds = deployment.spec.min_ready_seconds;
    if !annotated && set.spec.min_ready_seconds == min_ready_seconds {
        return None;
    }
    after.spec.min_ready_seconds = min_ready_seconds;
    Some(after)
}

/// Notes in the Deployment that this set is its present one. Whether anything changed.
pub fn note_found(deployment: &mut Deployment, set: &ReplicaSet, now: Timestamp) -> bool {
    let revision = set.metadata.annotations.get(annotations::REVISION);
    let mut changed = note_revision(deployment, revision.cloned().unwrap_or_default());
    let list = &deployment.status.conditions;
    let is_new = Condition::find(list, conditions::PROGRESSING).is_none();
    if progress::has_deadline(deployment) && is_new {
        let text = format!("Found new replica set {:?}", set.metadata.name);
        note_progress(deployment, ConditionStatus::True, conditions::FOUND_NEW_SET, text, now);
        changed = true;
    }
    changed
}

/// Notes in the Deployment that this set was made for it. Whether anything changed.
pub fn note_made(deployment: &mut Deployment, set: &ReplicaSet, now: Timestamp) -> bool {
    let revision = set.metadata.annotations.get(annotations::REVISION);
    let mut changed = note_revision(deployment, revision.cloned().unwrap_or_default());
    if progress::has_deadline(deployment) {
        let text = format!("Created new replica set {:?}", set.metadata.name);
        note_progress(deployment, ConditionStatus::True, conditions::NEW_SET_CREATED, text, now);
        changed = true;
    }
    changed
}

/// Notes in the Deployment that this set could not be made; `{error}` stands for the reason.
pub fn note_not_made(deployment: &mut Deployment, set: &ReplicaSet, now: Timestamp) -> String {
    let text = format!("Failed to create new replica set {:?}: {{error}}", set.metadata.name);
    if progress::has_deadline(deployment) {
        let (status, reason) = (ConditionStatus::False, conditions::SET_CREATE_ERROR);
        note_progress(deployment, status, reason, text.clone(), now);
    }
    text
}

fn note_progress(
    deployment: &mut Deployment,
    status: ConditionStatus,
    reason: &str,
    text: String,
    now: Timestamp,
) {
    let condition = conditions::new(conditions::PROGRESSING, status, reason, text, now);
    conditions::set(&mut deployment.status.conditions, condition);
}

/// The Deployment carries the revision of its present set (`SetDeploymentRevision`).
fn note_revision(deployment: &mut Deployment, revision: Str) -> bool {
    let before =
        deployment.metadata.annotations.insert(annotations::REVISION.into(), revision.clone());
    before != Some(revision)
}
