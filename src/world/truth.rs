//! What there truly is, beside what controllers believe: read off the store and the machines.

use std::collections::BTreeMap;

use crate::api::{Deployment, Kind, Object, ObjectKey, Pod, ReplicaSet, Str};
use crate::controllers::deployment::matching::equal_ignoring_hash;

use super::world::World;

/// How an object differs from what it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortfall {
    /// The object whose spec is not met.
    pub object: ObjectKey,
    /// Pods that it wants.
    pub want: i64,
    /// Pods that there are: those that exist, if that number is wrong, else those that are ready.
    pub have: i64,
}

/// Pods of one owner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PodCount {
    /// Neither ended nor on their way out.
    pub active: i64,
    /// Of these, those that are truly ready: they say so and their machine runs.
    pub ready: i64,
}

impl World {
    /// The pods of each controlling owner, by its uid; those without owner under the empty uid.
    pub fn pods_by_owner(&self) -> BTreeMap<Str, PodCount> {
        let mut counts: BTreeMap<Str, PodCount> = BTreeMap::new();
        for pod in self.store().list(Kind::Pod).filter_map(|object| object.as_pod()) {
            let owner = pod.metadata.controller().map_or_else(|| "".into(), |o| o.uid.clone());
            let count = counts.entry(owner).or_default();
            count.active += i64::from(pod.is_active());
            count.ready += i64::from(pod.is_active() && self.is_truly_ready(pod));
        }
        counts
    }

    /// Whether a pod is ready and its machine runs.
    pub fn is_truly_ready(&self, pod: &Pod) -> bool {
        let node = pod.spec.node_name.as_ref().and_then(|name| self.node_number(name));
        let runs = node
            .and_then(|node| self.kubelets().get(usize::from(node)))
            .is_some_and(|kubelet| kubelet.is_powered());
        pod.is_ready() && runs
    }

    /// Every object whose spec is not met. Empty: the cluster is as it should be.
    pub fn shortfalls(&self) -> Vec<Shortfall> {
        let counts = self.pods_by_owner();
        let mut short = Vec::new();
        for object in self.store().list(Kind::Deployment).filter_map(|o| o.as_deployment()) {
            short.extend(self.deployment_shortfall(object, &counts));
        }
        for object in self.store().list(Kind::ReplicaSet) {
            if let Object::ReplicaSet(set) = &**object
                && set.metadata.controller().is_none()
            {
                short.extend(set_shortfall(set, &counts));
            }
        }
        short.extend(self.workload_shortfalls(&counts));
        for pod in self.store().list(Kind::Pod).filter_map(|object| object.as_pod()) {
            short.extend(self.pod_shortfall(pod));
        }
        short.extend(self.autoscaler_shortfalls());
        short.extend(self.application_shortfalls());
        short.extend(self.order_shortfalls());
        short
    }

    /// Pods that all workloads want together, those apart that something else owns; and pods that
    /// are truly ready.
    pub fn wanted_and_ready(&self) -> (i64, i64) {
        let counts = self.pods_by_owner();
        let roots = [Kind::Deployment, Kind::ReplicaSet].into_iter();
        let roots = roots.flat_map(|kind| self.store().list(kind));
        let roots = roots.map(|root| match &**root {
            Object::Deployment(deployment) => (root.meta(), deployment.spec.replicas().into()),
            Object::ReplicaSet(set) => (root.meta(), set.spec.replicas().into()),
            _ => (root.meta(), 0),
        });
        let own = roots.filter(|(meta, _)| meta.controller().is_none());
        let others = self.workloads(&counts).into_iter();
        let wanted = own.chain(others.map(|(workload, want, _)| (&workload.metadata, want)));
        let wanted = wanted.filter(|(meta, _)| !meta.is_terminating()).map(|(_, want)| want).sum();
        (wanted, counts.values().map(|count| count.ready).sum())
    }

    /// Whether some Deployment's sets are not as it wants them: work for its own loop. Missing pods
    /// of a set of the right size are not.
    pub fn a_deployment_has_work(&self) -> bool {
        let deployments = self.store().list(Kind::Deployment).filter_map(|o| o.as_deployment());
        deployments.into_iter().any(|deployment| {
            let sets = self.store().list(Kind::ReplicaSet).filter_map(|o| o.as_replica_set());
            let mut right = 0;
            for set in sets.filter(|set| set.metadata.is_controlled_by(&deployment.metadata.uid)) {
                let is_new = equal_ignoring_hash(&set.spec.template, &deployment.spec.template);
                let wanted = if is_new { deployment.spec.replicas() } else { 0 };
                if set.spec.replicas() != wanted {
                    return true;
                }
                right += u32::from(is_new);
            }
            right == 0 || deployment.status.observed_generation < deployment.metadata.generation
        })
    }

    fn deployment_shortfall(
        &self,
        deployment: &Deployment,
        counts: &BTreeMap<Str, PodCount>,
    ) -> Option<Shortfall> {
        let want = i64::from(deployment.spec.replicas());
        let sets = self.store().list(Kind::ReplicaSet).filter_map(|object| object.as_replica_set());
        let (mut active, mut ready) = (0, 0);
        for set in sets.filter(|set| set.metadata.is_controlled_by(&deployment.metadata.uid)) {
            let count = counts.get(&set.metadata.uid).copied().unwrap_or_default();
            active += count.active;
            if deployment.spec.paused
                || equal_ignoring_hash(&set.spec.template, &deployment.spec.template)
            {
                ready += count.ready;
            }
        }
        let have = if active == want { ready } else { active };
        let object = key_of(Kind::Deployment, &deployment.metadata);
        differs(object, want, have, deployment.metadata.is_terminating())
    }

    fn pod_shortfall(&self, pod: &Pod) -> Option<Shortfall> {
        let bare = pod.metadata.controller().is_none() && pod.is_active();
        let object = key_of(Kind::Pod, &pod.metadata);
        (bare && !self.is_truly_ready(pod)).then_some(Shortfall { object, want: 1, have: 0 })
    }
}

fn set_shortfall(set: &ReplicaSet, counts: &BTreeMap<Str, PodCount>) -> Option<Shortfall> {
    let want = i64::from(set.spec.replicas());
    let count = counts.get(&set.metadata.uid).copied().unwrap_or_default();
    let have = if count.active == want { count.ready } else { count.active };
    let object = key_of(Kind::ReplicaSet, &set.metadata);
    differs(object, want, have, set.metadata.is_terminating())
}

pub(super) fn key_of(kind: Kind, meta: &crate::api::ObjectMeta) -> ObjectKey {
    ObjectKey::new(kind, meta.namespace.clone(), meta.name.clone())
}

/// What is being deleted wants nothing any more, and is short until it is gone.
pub(super) fn differs(
    object: ObjectKey,
    want: i64,
    have: i64,
    terminating: bool,
) -> Option<Shortfall> {
    match terminating {
        true => Some(Shortfall { object, want: 0, have }),
        false => (want != have).then_some(Shortfall { object, want, have }),
    }
}
