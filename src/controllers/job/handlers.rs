//! What the controller remembers, and what wakes it (`addPod`, `updatePod`, `deletePod`,
//! `updateJob` of `job_controller.go`).

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::api::{Generic, Kind, Object, ObjectKey, Pod, Str};
use crate::apiserver::{Request, Response};
use crate::controllers::owned::{Reach, pod_wakes};
use crate::controllers::{Change, Context, Plan, Woken};

use super::backoff::Backoff;
use super::job_view::{JobSpec, JobStatus};
use super::sync;

/// What a Job puts on its pods until they were counted.
pub const FINALIZER: &str = "batch.kubernetes.io/job-tracking";

/// Changes of pods are collected for so long (`SyncJobBatchPeriod`).
const COLLECTS: Duration = Duration::from_secs(1);

const REACH: Reach = Reach { kind: Kind::Job, selects, collects: COLLECTS };

/// The controller's memory, wiped when its process is killed.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    backoffs: BTreeMap<ObjectKey, Backoff>,
    /// What the back-off becomes when the failures that it comes from are in the status.
    pending: BTreeMap<ObjectKey, Backoff>,
    /// Pods whose finalizer is gone, though the cache may show it still.
    counted: BTreeSet<Str>,
}

impl Memory {
    /// Which Jobs a change wakes, and which pods that have lost theirs.
    pub fn wakes(&mut self, change: &Change, cx: &Context<'_>) -> Woken {
        match &*change.object {
            object if object.kind() == Kind::Job => {
                let mut woken = Woken { keys: vec![change.key()], ..Woken::default() };
                let uid = &object.meta().uid;
                let replaced = change.before.as_ref().is_some_and(|b| b.meta().uid != *uid);
                if change.is_deletion() || replaced {
                    woken.forgotten.push(change.key());
                }
                // `cleanupPodFinalizers`
                if change.is_deletion() || replaced || is_finished(object) {
                    let pods = cx.cache.owned_by(Kind::Pod, uid);
                    woken.keys.extend(pods.map(|pod| pod.key()));
                }
                woken
            }
            object => {
                let Some(pod) = object.as_pod() else { return Woken::default() };
                let mut woken = pod_wakes(change, cx, REACH);
                let has_finalizer = is_tracked(pod);
                if !has_finalizer || change.is_deletion() {
                    self.counted.remove(&pod.metadata.uid);
                } else if has_finalizer && is_orphan(pod, cx) {
                    woken.keys.push(change.key());
                }
                woken
            }
        }
    }

    /// Looks at a Job, or at a pod that has lost its Job.
    pub fn sync(&mut self, key: &ObjectKey, cx: &Context<'_>) -> Plan {
        if key.kind == Kind::Pod {
            return sync::release_orphan(key, cx);
        }
        self.pending.remove(key);
        sync::sync(self, key, cx)
    }

    /// What became of a request of a pass for `key`.
    pub fn answered(&mut self, key: &ObjectKey, request: &Request, response: &Response) -> Woken {
        if let Ok(object) = response {
            if request.is_status()
                && let Some(backoff) = self.pending.remove(key)
            {
                self.backoffs.insert(key.clone(), backoff);
            }
            let is_removal = matches!(request, Request::Patch(_, key, _) if key.kind == Kind::Pod);
            if is_removal && object.as_pod().is_some_and(|pod| !is_tracked(pod)) {
                self.counted.insert(object.meta().uid.clone());
            }
        }
        Woken::default()
    }

    /// Whether this pod was counted, whatever the cache shows.
    pub(super) fn is_counted(&self, pod: &Pod) -> bool {
        self.counted.contains(&pod.metadata.uid)
    }

    pub(super) fn backoff(&self, key: &ObjectKey) -> Backoff {
        self.backoffs.get(key).copied().unwrap_or_default()
    }

    pub(super) fn expect_backoff(&mut self, key: &ObjectKey, backoff: Backoff) {
        self.pending.insert(key.clone(), backoff);
    }

    pub(super) fn forget(&mut self, key: &ObjectKey) {
        self.backoffs.remove(key);
        self.pending.remove(key);
    }
}

/// Whether a pod waits to be counted.
pub fn is_tracked(pod: &Pod) -> bool {
    pod.metadata.finalizers.iter().any(|finalizer| **finalizer == *FINALIZER)
}

/// Whether a pod that waits to be counted has nobody who will count it.
pub fn is_orphan(pod: &Pod, cx: &Context<'_>) -> bool {
    let Some(owner) = pod.metadata.controller().filter(|owner| &*owner.kind == "Job") else {
        return pod.metadata.controller().is_none();
    };
    let key = ObjectKey::new(Kind::Job, pod.metadata.namespace.clone(), owner.name.clone());
    let job = cx.cache.get(&key).filter(|job| job.meta().uid == owner.uid);
    job.is_none_or(|job| is_finished(job))
}

/// A Job that has ended counts nobody any more.
fn is_finished(job: &Object) -> bool {
    job.as_generic().is_some_and(|job| JobStatus::of(job).end().is_some())
}

fn selects(job: &Generic, pod: &Pod) -> bool {
    let selector = JobSpec::of(job).selector;
    !selector.is_empty() && selector.matches(&pod.metadata.labels)
}
