//! Where a workload stopped: a Deployment, a set of pods, a Job.

use std::sync::Arc;

use crate::api::{Condition, Deployment, Generic, Kind, Object, ReplicaSet};
use crate::controllers::deployment::fenceposts::min_available;
use crate::controllers::deployment::matching::equal_ignoring_hash;
use crate::controllers::job::{JobSpec, JobStatus};
use crate::controllers::stateful_set::SetSpec;
use crate::world::{ControllerId, World};

use super::super::finding::{Finding, Next, Step, What};
use super::{Walk, with_condition};

/// The ReplicaSets of a Deployment: that of the present template first.
pub fn sets_of(world: &World, deployment: &Deployment) -> Vec<Arc<Object>> {
    let uid = &deployment.metadata.uid;
    let own = world.store().list(Kind::ReplicaSet).filter(|o| o.meta().is_controlled_by(uid));
    let mut own: Vec<Arc<Object>> = own.cloned().collect();
    own.sort_by_key(|object| !is_new(object, deployment));
    own
}

/// Whether a set has the present template of its Deployment.
pub fn is_new(set: &Object, deployment: &Deployment) -> bool {
    let set = set.as_replica_set();
    set.is_some_and(|s| equal_ignoring_hash(&s.spec.template, &deployment.spec.template))
}

impl Walk<'_> {
    pub(super) fn deployment(&mut self, object: &Object, deployment: &Deployment) {
        let (generation, observed) =
            (deployment.metadata.generation, deployment.status.observed_generation);
        let sets = sets_of(self.world(), deployment);
        // One that was refused has been seen, whatever the status says.
        let (role, key) = (ControllerId::Deployment, object.key());
        let state = self.state_of(role, &key);
        let unseen = observed < generation && self.refusal(role, &key, &state).is_none();
        if unseen {
            let what = What::Unobserved { generation, observed };
            let finding = self.of(object, Step::Controller, what);
            let finding = self.with_reason(finding, ControllerId::Deployment);
            self.note(finding);
        }
        let new = sets.first().filter(|set| is_new(set, deployment)).cloned();
        let paused = deployment.spec.paused && (new.is_none() || sets.len() > 1);
        if paused {
            let next = Next::ByHand;
            self.note(Finding { next, ..self.of(object, Step::Controller, What::Paused) });
        }
        if past_deadline(deployment) {
            let finding = self.of(object, Step::Controller, What::Deadline);
            self.note(with_condition(finding, object, "Progressing"));
        }
        match &new {
            None if !paused && !unseen => {
                let finding = self.of(object, Step::ReplicaSet, What::NoSet);
                let finding = self.with_reason(finding, ControllerId::Deployment);
                self.note(finding);
            }
            _ => self.sizes(object, deployment, &sets),
        }
        for set in sets {
            if let Some(inner) = set.as_replica_set() {
                self.replica_set(&set, inner);
            }
        }
    }

    /// Whether the ReplicaSets together ask for what the Deployment wants; and if not, whether the
    /// budget of the rollout holds it back.
    fn sizes(&mut self, object: &Object, deployment: &Deployment, sets: &[Arc<Object>]) {
        let counts = self.world().pods_by_owner();
        let want = i64::from(deployment.spec.replicas());
        let of_new = |object: &&Arc<Object>| is_new(object, deployment);
        let asked = |object: &Arc<Object>| {
            object.as_replica_set().map_or(0, |set| i64::from(set.spec.replicas()))
        };
        let count =
            |object: &Arc<Object>| counts.get(&object.meta().uid).copied().unwrap_or_default();
        let have: i64 = sets.iter().filter(of_new).map(asked).sum();
        let old: i64 = sets.iter().filter(|set| !of_new(set)).map(asked).sum();
        if deployment.spec.paused || (have == want && old == 0) {
            return;
        }
        let available: i64 = sets.iter().map(count).map(|count| count.ready).sum();
        let least = i64::from(min_available(deployment));
        let unready: i64 =
            sets.iter().filter(of_new).map(|set| asked(set) - count(set).ready).sum();
        let what = match old > 0 && available <= least && unready > 0 {
            true => What::Blocked { available, least, unready },
            false => What::SetSize { want, have },
        };
        let held = matches!(what, What::Blocked { .. });
        let finding = self.of(object, Step::ReplicaSet, what);
        let finding = match held {
            true => finding,
            false => self.with_reason(finding, ControllerId::Deployment),
        };
        self.note(finding);
    }

    pub(super) fn replica_set(&mut self, object: &Object, set: &ReplicaSet) {
        if set.metadata.is_terminating() {
            return;
        }
        let counts = self.world().pods_by_owner();
        let count = counts.get(&set.metadata.uid).copied().unwrap_or_default();
        let want = i64::from(set.spec.replicas());
        self.number(object, ControllerId::ReplicaSet, want, count.active);
        self.pods_of(&set.metadata.uid);
    }

    /// Too few or too many pods.
    fn number(&mut self, object: &Object, role: ControllerId, want: i64, have: i64) {
        let what = match have.cmp(&want) {
            std::cmp::Ordering::Equal => return,
            std::cmp::Ordering::Less => What::Missing { want, have },
            std::cmp::Ordering::Greater => What::Surplus { want, have },
        };
        let finding = self.with_reason(self.of(object, Step::Pods, what), role);
        self.note(finding);
    }

    /// A StatefulSet or a DaemonSet.
    pub(super) fn set_of_pods(&mut self, object: &Object, set: &Generic) {
        let role = match set.kind {
            Kind::DaemonSet => ControllerId::DaemonSet,
            _ => ControllerId::StatefulSet,
        };
        let counts = self.world().pods_by_owner();
        let active = counts.get(&set.metadata.uid).map_or(0, |count| count.active);
        let want = self.short(object).map_or(active, |(want, _)| want);
        let ordered = set.kind == Kind::StatefulSet && SetSpec::of(set).ordered;
        match self.first_broken(set).filter(|_| ordered && want != 0) {
            Some(pod) => {
                let what = What::InOrder { pod };
                self.note(self.of(object, Step::Pods, what));
            }
            None => self.number(object, role, want, active),
        }
        self.pods_of(&set.metadata.uid);
        if set.kind == Kind::StatefulSet {
            self.ending_pods_of(&set.metadata.uid);
        }
    }

    /// The pod with the lowest ordinal for which the others wait.
    fn first_broken(&self, set: &Generic) -> Option<crate::api::Str> {
        let pods = self.world().store().list(Kind::Pod).filter_map(|object| object.as_pod());
        let own = pods.filter(|pod| pod.metadata.is_controlled_by(&set.metadata.uid));
        let ordinal = |name: &str| name.rsplit('-').next().and_then(|n| n.parse::<u32>().ok());
        let broken =
            own.filter(|pod| pod.metadata.is_terminating() || !self.world().is_truly_ready(pod));
        broken.min_by_key(|pod| ordinal(&pod.metadata.name)).map(|pod| pod.metadata.name.clone())
    }

    /// A name is free only when its pod is gone: what ends holds up a StatefulSet.
    fn ending_pods_of(&mut self, uid: &str) {
        let pods = self.lane.world.store().list(Kind::Pod);
        let ending = pods.filter(|o| o.meta().is_controlled_by(uid) && o.meta().is_terminating());
        for object in ending.cloned().collect::<Vec<_>>() {
            self.terminating(&object);
        }
    }

    pub(super) fn job(&mut self, object: &Object, job: &Generic) {
        let (spec, status) = (JobSpec::of(job), JobStatus::of(job));
        if let Some(end) = status.end() {
            if &*end.kind == "Failed" {
                let reason = end.reason.clone().unwrap_or_else(|| "".into());
                let what = What::JobFailed { reason };
                let next = Next::ByHand;
                let finding = Finding { next, ..self.of(object, Step::Controller, what) };
                self.note(with_condition(finding, object, "Failed"));
            }
            return;
        }
        if spec.suspend {
            let next = Next::ByHand;
            let finding = self.of(object, Step::Controller, What::Suspended);
            return self.note(Finding { next, ..finding });
        }
        let counts = self.world().pods_by_owner();
        let have = counts.get(&job.metadata.uid).map_or(0, |count| count.active);
        let want = self.short(object).map_or(have, |(want, _)| want);
        if status.failed > 0 && have < want {
            let (failed, limit) = (i64::from(status.failed), i64::from(spec.backoff_limit));
            let finding = self.of(object, Step::Pods, What::JobBackOff { failed, limit });
            let finding = self.with_reason(finding, ControllerId::Job);
            self.note(finding);
        } else {
            self.number(object, ControllerId::Job, want, have);
        }
        self.pods_of(&job.metadata.uid);
    }
}

fn past_deadline(deployment: &Deployment) -> bool {
    let found = Condition::find(&deployment.status.conditions, "Progressing");
    found.is_some_and(|held| held.reason.as_deref() == Some("ProgressDeadlineExceeded"))
}
