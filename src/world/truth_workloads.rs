//! What there truly is of Jobs, StatefulSets and DaemonSets.

use std::collections::BTreeMap;

use crate::api::{Condition, Generic, Kind, Str};
use crate::controllers::daemon_set::{DaemonSpec, should_run};
use crate::controllers::job::{JobSpec, JobStatus};
use crate::controllers::owned::REVISION_LABEL;
use crate::controllers::stateful_set::{SetSpec, SetStatus};

use super::truth::{PodCount, Shortfall, differs, key_of};
use super::world::World;

impl World {
    /// The Jobs and sets whose spec is not met.
    pub(super) fn workload_shortfalls(&self, counts: &BTreeMap<Str, PodCount>) -> Vec<Shortfall> {
        let all = self.workloads(counts).into_iter();
        let short = all.filter_map(|(workload, want, have)| {
            let key = key_of(workload.kind, &workload.metadata);
            differs(key, want, have, workload.metadata.is_terminating())
        });
        short.collect()
    }

    /// The Jobs and sets, each with the pods that it wants and that it has.
    pub(super) fn workloads(&self, counts: &BTreeMap<Str, PodCount>) -> Vec<(&Generic, i64, i64)> {
        let kinds = [Kind::StatefulSet, Kind::DaemonSet, Kind::Job].into_iter();
        let objects = kinds.flat_map(|kind| self.store().list(kind));
        let told = objects.filter_map(|object| object.as_generic()).map(|object| {
            let count = counts.get(&object.metadata.uid).copied().unwrap_or_default();
            let (want, have) = match object.kind {
                Kind::StatefulSet => self.of_stateful_set(object, count),
                Kind::DaemonSet => self.of_daemon_set(object, count),
                _ => of_job(object, count),
            };
            (object, want, have)
        });
        told.collect()
    }

    fn of_daemon_set(&self, set: &Generic, count: PodCount) -> (i64, i64) {
        let template = DaemonSpec::of(set).template;
        let nodes = self.store().list(Kind::Node).filter_map(|object| object.as_node());
        let want = nodes.filter(|node| should_run(&template.spec, node).0).count() as i64;
        (want, if count.active == want { count.ready } else { count.active })
    }

    fn of_stateful_set(&self, set: &Generic, count: PodCount) -> (i64, i64) {
        let (spec, status) = (SetSpec::of(set), SetStatus::of(set));
        let want = i64::from(spec.replicas);
        if count.active != want {
            return (want, count.active);
        }
        if spec.on_delete || spec.partition > 0 {
            return (want, count.ready);
        }
        let pods = self.store().list(Kind::Pod).filter_map(|object| object.as_pod());
        let own = pods.filter(|pod| pod.metadata.is_controlled_by(&set.metadata.uid));
        let ready = own.filter(|pod| {
            let revision = pod.metadata.labels.get(REVISION_LABEL);
            revision == Some(&status.update_revision) && self.is_truly_ready(pod)
        });
        (want, ready.count() as i64)
    }
}

/// A Job that has ended wants nothing; one that goes on wants its pods to be there, whether or not
/// they are ready: they are there to end.
fn of_job(job: &Generic, count: PodCount) -> (i64, i64) {
    let (spec, status) = (JobSpec::of(job), JobStatus::of(job));
    let fails = Condition::holds(&status.conditions, "FailureTarget");
    if status.end().is_some() || spec.suspend || fails {
        return (0, count.active);
    }
    let want = match spec.completions {
        Some(completions) => (completions - status.succeeded).clamp(0, spec.parallelism.max(0)),
        None if status.succeeded > 0 => return (count.active, count.active),
        None => spec.parallelism,
    };
    (want.into(), count.active)
}
