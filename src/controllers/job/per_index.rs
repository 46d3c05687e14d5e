//! Indexed Jobs whose indexes fail one by one (`backoffLimitPerIndex`, `maxFailedIndexes`), and
//! those that are content with some of their indexes (`successPolicy`); `indexed_job_utils.go` and
//! `success_policy.go`.
//!
//! How often an index has failed stands on its newest pod. So the last failed pod of an index is
//! not freed before its successor is there and carries the number on.

use std::collections::{BTreeMap, BTreeSet};

use crate::api::{Fields, Pod, Value};
use crate::kernel::Time;

use super::backoff::Backoff;
use super::handlers::{Memory, is_tracked};
use super::indexes::{Indexes, index_of};
use super::policy;
use super::sync::Pass;

/// The annotation that counts the failures of a pod's index before it.
const FAILURES: &str = "batch.kubernetes.io/job-index-failure-count";
/// The same for failures that the policy ignores.
const IGNORED: &str = "batch.kubernetes.io/job-index-ignored-failure-count";

/// What is known of the indexes that have failed; only with `backoffLimitPerIndex`.
#[derive(Clone, Debug, Default)]
pub(super) struct PerIndex<'a> {
    /// Those that are given up, if they are counted at all.
    pub failed: Option<Indexes>,
    /// The last failed pod of each index that waits for its successor.
    pub kept: BTreeMap<i32, &'a Pod>,
}

impl<'a> Pass<'a> {
    /// Looks which indexes have failed, and whether that, or what has succeeded, ends the Job.
    pub fn look_at_indexes(&mut self, memory: &Memory) {
        if !self.spec.indexed {
            return;
        }
        if let Some(limit) = self.spec.backoff_limit_per_index {
            let failed = self.failed_indexes(limit);
            self.find_failed_end(&failed);
            self.per_index.kept = self.kept(&failed, memory);
            self.per_index.failed = Some(failed);
        }
        if self.end.is_none()
            && let Some(rule) = self.matched_success_rule()
        {
            let text = format!("Matched rules at index {rule}");
            self.end = Some(self.condition("SuccessCriteriaMet", "SuccessPolicy", &text));
        }
    }

    fn find_failed_end(&mut self, failed: &Indexes) {
        let (lost, all) = (failed.total(), self.spec.completions.unwrap_or(0));
        let (reason, text) = if self.spec.max_failed_indexes.is_some_and(|most| lost > most) {
            let text = "Job has exceeded the specified maximal number of failed indexes";
            ("MaxFailedIndexesExceeded", text)
        } else if lost > 0 && lost.saturating_add(self.done.total()) >= all {
            ("FailedIndexes", "Job has failed indexes")
        } else {
            return;
        };
        if self.end.is_none() {
            self.end = Some(self.condition("FailureTarget", reason, text));
        }
    }

    /// Those in the status, and those of pods that are still to be counted
    /// (`calculateFailedIndexes`).
    fn failed_indexes(&self, limit: i32) -> Indexes {
        let completions = self.spec.completions.unwrap_or(0);
        let known = self.status.failed_indexes.as_deref().unwrap_or_default();
        let pods = self.pods.iter().filter(|pod| is_tracked(pod) && self.is_failed(pod));
        let given_up = pods.filter(|pod| {
            let judged = policy::judge(self.spec.failure_rules.as_deref(), pod);
            judged.fails_index || (judged.counts && number(pod, FAILURES) >= limit)
        });
        let fresh = given_up.filter_map(|pod| self.index(pod)).collect();
        Indexes::parse(known, completions).with(&fresh)
    }

    /// `getPodsWithDelayedDeletionPerIndex`.
    fn kept(&self, failed: &Indexes, memory: &Memory) -> BTreeMap<i32, &'a Pod> {
        let mut kept: BTreeMap<i32, &Pod> = BTreeMap::new();
        let waits = |pod: &&Pod| {
            let known = self.status.uncounted_failed.contains(&pod.metadata.uid);
            self.is_failed(pod) && is_tracked(pod) && !known && !memory.is_counted(pod)
        };
        let busy: BTreeSet<i32> = self.active.iter().filter_map(|pod| index_of(pod)).collect();
        for pod in self.pods.iter().copied().filter(waits) {
            let Some(index) = self.index(pod) else { continue };
            if busy.contains(&index) || self.done.has(index) || failed.has(index) {
                continue;
            }
            let newer = |before: &&Pod| failures(before) <= failures(pod);
            if kept.get(&index).is_none_or(newer) {
                kept.insert(index, pod);
            }
        }
        kept
    }

    /// Whether a failed pod must stay until its successor is there.
    pub fn is_kept(&self, pod: &Pod) -> bool {
        let kept = self.index(pod).and_then(|index| self.per_index.kept.get(&index));
        kept.is_some_and(|kept| kept.metadata.uid == pod.metadata.uid)
    }

    /// Of these indexes, those that may get a pod now; if none may, it is looked again when the
    /// first may.
    pub fn ready_indexes(&mut self, indexes: Vec<i32>, now: Time) -> Vec<i32> {
        if self.spec.backoff_limit_per_index.is_none() {
            return indexes;
        }
        let wait = |index: &i32| {
            let kept = self.per_index.kept.get(index);
            kept.map(|pod| Backoff::of(failures(pod) + 1, pod, now).remaining(now))
                .unwrap_or_default()
        };
        let soonest = indexes.iter().map(wait).min();
        let ready: Vec<i32> =
            indexes.iter().copied().filter(|index| wait(index).is_zero()).collect();
        if let Some(wait) = soonest.filter(|wait| !wait.is_zero()) {
            self.look_after(wait);
        }
        ready
    }

    /// Carries the number of failures on to the successor of the pod that failed last.
    pub fn count_on(&self, index: i32, pod: &mut Pod) {
        if self.spec.backoff_limit_per_index.is_none() {
            return;
        }
        let (mut counted, mut ignored) = (0, 0);
        if let Some(before) = self.per_index.kept.get(&index) {
            (counted, ignored) = (number(before, FAILURES), number(before, IGNORED));
            let judged = policy::judge(self.spec.failure_rules.as_deref(), before);
            *if judged.counts { &mut counted } else { &mut ignored } += 1;
        }
        let annotations = &mut pod.metadata.annotations;
        annotations.insert(FAILURES.into(), counted.to_string().into());
        if ignored > 0 {
            annotations.insert(IGNORED.into(), ignored.to_string().into());
        }
    }

    /// The first rule of the success policy that holds (`matchSuccessPolicy`).
    fn matched_success_rule(&self) -> Option<usize> {
        let rules = self.spec.success_rules.as_deref()?;
        let completions = self.spec.completions.unwrap_or(0);
        let holds = |rule: &Value| {
            let rule = Fields::of(rule);
            let count = rule.int("succeededCount");
            let enough = |have: i32| count.is_some_and(|count| have >= count);
            let Some(text) = rule.text("succeededIndexes") else {
                return enough(self.done.total());
            };
            let wanted = Indexes::parse(text, completions);
            let have = wanted.shared_with(&self.done);
            wanted.total() > 0 && (have == wanted.total() || enough(have))
        };
        (self.done.total() > 0).then(|| rules.iter().position(holds)).flatten()
    }
}

/// A number in an annotation; 0 if there is none.
fn number(pod: &Pod, annotation: &str) -> i32 {
    let text = pod.metadata.annotations.get(annotation);
    text.and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// All failures of the index before this pod.
fn failures(pod: &Pod) -> i32 {
    number(pod, FAILURES).saturating_add(number(pod, IGNORED))
}
