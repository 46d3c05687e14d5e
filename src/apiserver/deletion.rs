//! What a delete does to an object: remove it, or mark it and let finalizers or the kubelet finish.
//! Kubernetes: apiserver `pkg/registry/rest/delete.go`, `pkg/registry/generic/registry/store.go`,
//! `pkg/registry/core/pod/strategy.go`.
//!
//! Simplified: an object that is marked and can go at once goes in one step, where Kubernetes
//! commits the mark first (a MODIFIED event) and then the removal.

use crate::api::{Kind, Object, ObjectMeta, Pod, Str, Timestamp};

use super::{DeleteOptions, Propagation};

/// The finalizer of a foreground deletion.
pub const FOREGROUND: &str = "foregroundDeletion";
/// The finalizer of an orphaning deletion.
pub const ORPHAN: &str = "orphan";

/// What a delete comes to.
#[derive(Debug)]
pub enum Deletion {
    /// It goes at once.
    Remove,
    /// It stays, marked like this, until somebody finishes it.
    Mark(Box<Object>),
    /// A graceful deletion is under way, and this request changes nothing about it.
    Pending,
}

/// What a delete means for a graceful deletion (`rest.BeforeDelete`). Neither graceful nor pending:
/// the object may go at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grace {
    /// This request begins a graceful deletion, or shortens it.
    pub graceful: bool,
    /// One is under way, and this request changes nothing.
    pub pending: bool,
    /// Seconds that the request leaves, once the object was looked at.
    pub period: Option<i64>,
}

/// Begins the deletion of `stored`, or shortens one that has begun.
pub fn begin(stored: &Object, options: &DeleteOptions, now: Timestamp) -> Deletion {
    let mut after = stored.clone();
    let grace = before_delete(&mut after, options.grace_period_seconds, now);
    if grace.pending {
        // Finalizers cannot be changed by a second delete either.
        return Deletion::Pending;
    }
    let kind = after.kind();
    set_propagation_finalizers(kind, after.meta_mut(), options.propagation);
    let held = !after.meta().finalizers.is_empty();
    if !grace.graceful && held {
        mark_deleting(after.meta_mut(), now);
    }
    let goes_on = grace.graceful && grace.period != Some(0);
    if held || goes_on { Deletion::Mark(Box::new(after)) } else { Deletion::Remove }
}

/// Looks at the grace periods of request and object, and marks an object of a kind that is deleted
/// gracefully (pods).
pub fn before_delete(object: &mut Object, asked: Option<i64>, now: Timestamp) -> Grace {
    let not_negative = |period: i64| if period < 0 { 1 } else { period };
    let asked = asked.map(not_negative);
    let Object::Pod(pod) = object else {
        return Grace { period: asked, ..Grace::default() };
    };
    let meta = &mut pod.metadata;
    meta.deletion_grace_period_seconds = meta.deletion_grace_period_seconds.map(not_negative);
    if let Some(ends) = meta.deletion_timestamp {
        return shorten(meta, ends, asked, now);
    }
    let period = pod_grace_period(pod, asked);
    grow(&mut pod.metadata);
    pod.metadata.deletion_timestamp = Some(Timestamp(now.0.saturating_add(period)));
    pod.metadata.deletion_grace_period_seconds = Some(period);
    Grace { graceful: true, pending: false, period: Some(period) }
}

/// A repeated delete can only shorten what is left, and not into the past.
fn shorten(meta: &mut ObjectMeta, ends: Timestamp, asked: Option<i64>, now: Timestamp) -> Grace {
    let period = meta.deletion_grace_period_seconds.unwrap_or(0);
    if period == 0 {
        return Grace { period: asked, ..Grace::default() };
    }
    let Some(asked) = asked.filter(|asked| *asked < period) else {
        return Grace { pending: true, period: asked.or(Some(period)), graceful: false };
    };
    let earlier = ends.0.saturating_sub(period).saturating_add(asked);
    let is_over = earlier < now.0;
    meta.deletion_timestamp = Some(Timestamp(earlier.max(now.0)));
    meta.deletion_grace_period_seconds = Some(if is_over { asked.min(1) } else { asked });
    Grace { graceful: true, pending: false, period: Some(asked) }
}

/// Seconds that a first delete leaves a pod (`CheckGracefulDelete`): the request's, else the pod's
/// own; none if it is not scheduled or has ended.
fn pod_grace_period(pod: &Pod, asked: Option<i64>) -> i64 {
    if pod.spec.node_name.as_deref().unwrap_or("").is_empty() || pod.is_finished() {
        return 0;
    }
    let period = asked.or(pod.spec.termination_grace_period_seconds).unwrap_or(30);
    if period < 0 { 1 } else { period }
}

/// Marks an object that finalizers hold: it is gone, but for them (`markAsDeleting`).
pub fn mark_deleting(meta: &mut ObjectMeta, now: Timestamp) {
    grow(meta);
    let since = meta.deletion_timestamp.filter(|since| since.0 <= now.0);
    meta.deletion_timestamp = Some(since.unwrap_or(now));
    meta.deletion_grace_period_seconds = Some(0);
}

/// The wish to be gone is a change of the desired state.
fn grow(meta: &mut ObjectMeta) {
    if meta.deletion_timestamp.is_none() && meta.generation > 0 {
        meta.generation += 1;
    }
}

/// What becomes of dependents if neither request nor finalizers say so
/// (`DefaultGarbageCollectionPolicy`).
fn default_policy(kind: Kind) -> Propagation {
    match kind {
        Kind::ReplicationController | Kind::Job => Propagation::Orphan,
        _ => Propagation::Background,
    }
}

/// The finalizers that stand for what becomes of the dependents
/// (`deletionFinalizersForGarbageCollection`): the request's wish comes first, then the finalizer
/// that is there, then what the kind does. One that is there already keeps its place.
fn set_propagation_finalizers(kind: Kind, meta: &mut ObjectMeta, asked: Option<Propagation>) {
    let named = |name: &Str| match &**name {
        ORPHAN => Some(Propagation::Orphan),
        FOREGROUND => Some(Propagation::Foreground),
        _ => None,
    };
    let there = || meta.finalizers.iter().find_map(named);
    let wanted = asked.or_else(there).unwrap_or_else(|| default_policy(kind));
    let is_there = there() == Some(wanted);
    meta.finalizers.retain(|name| named(name).is_none_or(|policy| policy == wanted));
    let missing = match wanted {
        _ if is_there => None,
        Propagation::Orphan => Some(ORPHAN),
        Propagation::Foreground => Some(FOREGROUND),
        Propagation::Background => None,
    };
    meta.finalizers.extend(missing.map(Str::from));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{Pod, ReplicaSet};

    const NOW: Timestamp = Timestamp(1_000);

    fn running_pod() -> Object {
        let mut pod = Pod::default();
        pod.spec.node_name = Some("node-1".into());
        Object::Pod(pod)
    }

    fn mark(object: &Object, grace: Option<i64>) -> Object {
        let options = DeleteOptions { grace_period_seconds: grace, ..DeleteOptions::default() };
        match begin(object, &options, NOW) {
            Deletion::Mark(after) => *after,
            Deletion::Pending => object.clone(),
            Deletion::Remove => panic!("removed at once"),
        }
    }

    #[test]
    fn a_running_pod_is_given_its_grace_period() {
        let meta = mark(&running_pod(), None).meta().clone();
        assert_eq!(meta.deletion_timestamp, Some(Timestamp(1_030)));
        assert_eq!(meta.deletion_grace_period_seconds, Some(30));
    }

    #[test]
    fn a_repeated_delete_can_only_shorten_the_grace_period() {
        let once = mark(&running_pod(), Some(10));
        assert_eq!(mark(&once, Some(20)).meta().deletion_grace_period_seconds, Some(10));
        assert_eq!(mark(&once, Some(5)).meta().deletion_grace_period_seconds, Some(5));
        assert_eq!(mark(&once, Some(-1)).meta().deletion_grace_period_seconds, Some(1));
    }

    #[test]
    fn an_unscheduled_pod_and_a_forced_deletion_go_at_once() {
        let now = |object: &Object, grace| {
            let options = DeleteOptions { grace_period_seconds: grace, ..Default::default() };
            matches!(begin(object, &options, NOW), Deletion::Remove)
        };
        assert!(now(&Object::Pod(Pod::default()), None));
        assert!(now(&running_pod(), Some(0)));
        assert!(now(&Object::ReplicaSet(ReplicaSet::default()), None));
    }

    #[test]
    fn a_foreground_deletion_waits_for_its_finalizer() {
        let set = Object::ReplicaSet(ReplicaSet::default());
        let propagation = Some(Propagation::Foreground);
        let options = DeleteOptions { propagation, ..DeleteOptions::default() };
        let Deletion::Mark(after) = begin(&set, &options, NOW) else { panic!("removed at once") };
        assert_eq!(*after.meta().finalizers, [Str::from(FOREGROUND)]);
        assert_eq!(after.meta().deletion_timestamp, Some(NOW));
    }

    #[test]
    fn a_second_delete_changes_no_finalizers_while_a_grace_period_runs() {
        let once = mark(&running_pod(), Some(10));
        let propagation = Some(Propagation::Foreground);
        let options = DeleteOptions { propagation, ..DeleteOptions::default() };
        assert!(matches!(begin(&once, &options, NOW), Deletion::Pending));
    }

    #[test]
    fn a_job_orphans_its_pods_unless_the_request_says_otherwise() {
        let finalizers = |asked| {
            let mut meta = ObjectMeta::default();
            set_propagation_finalizers(Kind::Job, &mut meta, asked);
            meta.finalizers
        };
        assert_eq!(*finalizers(None), [Str::from(ORPHAN)]);
        assert!(finalizers(Some(Propagation::Background)).is_empty());
    }
}
