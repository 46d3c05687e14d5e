//! What a delete does to an object: remove it, or mark it and let finalizers or the kubelet finish.
//! Kubernetes: apiserver `pkg/registry/rest/delete.go`, `pkg/registry/core/pod/strategy.go`.

use crate::api::{Object, Str, Timestamp};

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
}

/// Begins the deletion of `stored`, or shortens one that has begun.
pub fn begin(stored: &Object, options: &DeleteOptions, now: Timestamp) -> Deletion {
    let mut after = stored.clone();
    set_propagation_finalizers(&mut after, options.propagation);
    let grace = grace_period(stored, options.grace_period_seconds);
    let meta = after.meta_mut();
    match meta.deletion_timestamp {
        // A repeated delete can only shorten what is left.
        Some(_) if grace >= meta.deletion_grace_period_seconds.unwrap_or(0) => {}
        _ => {
            if meta.deletion_timestamp.is_none() && meta.generation > 0 {
                meta.generation += 1;
            }
            meta.deletion_timestamp = Some(Timestamp(now.0 + grace));
            meta.deletion_grace_period_seconds = Some(grace);
        }
    }
    let meta = after.meta();
    let waits = !meta.finalizers.is_empty() || meta.deletion_grace_period_seconds != Some(0);
    if waits { Deletion::Mark(Box::new(after)) } else { Deletion::Remove }
}

/// Seconds that a delete leaves: the request's, else the pod's own; none for a pod that is not
/// scheduled or has ended, and for all other kinds.
fn grace_period(object: &Object, asked: Option<i64>) -> i64 {
    let Some(pod) = object.as_pod() else { return 0 };
    if pod.spec.node_name.is_none() || pod.is_finished() {
        return 0;
    }
    let period = asked.or(pod.spec.termination_grace_period_seconds).unwrap_or(30);
    if period < 0 { 1 } else { period }
}

fn set_propagation_finalizers(object: &mut Object, propagation: Option<Propagation>) {
    let Some(propagation) = propagation else {
        return;
    };
    let finalizers = &mut object.meta_mut().finalizers;
    finalizers.retain(|name| **name != *FOREGROUND && **name != *ORPHAN);
    match propagation {
        Propagation::Foreground => finalizers.push(Str::from(FOREGROUND)),
        Propagation::Orphan => finalizers.push(Str::from(ORPHAN)),
        Propagation::Background => {}
    }
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
        assert_eq!(after.meta().finalizers, [Str::from(FOREGROUND)]);
        assert_eq!(after.meta().deletion_timestamp, Some(NOW));
    }
}
