//! The fields of a Job that the controller reads, and the status that it writes.

use serde_json::{Map, json};

use crate::api::{Condition, Generic, LabelSelector, PodTemplateSpec, Str, Timestamp, Value};

/// `batch/v1.JobSpec`, as far as it is read.
#[derive(Clone, Debug)]
pub struct JobSpec {
    /// Pods at the same time.
    pub parallelism: i32,
    /// Pods that shall end well; absent: one is enough, and all that run shall end.
    pub completions: Option<i32>,
    /// Failures that are borne.
    pub backoff_limit: i32,
    /// Failures of each index that are borne.
    pub backoff_limit_per_index: Option<i32>,
    /// Failed indexes that are borne.
    pub max_failed_indexes: Option<i32>,
    /// When it has met what it was made for: the rules of `successPolicy`.
    pub success_rules: Option<Vec<Value>>,
    /// Seconds after which it is stopped.
    pub active_deadline_seconds: Option<i64>,
    /// Seconds after its end when it is deleted.
    pub ttl_seconds_after_finished: Option<i32>,
    /// Whether each pod has an index, and each index must end well.
    pub indexed: bool,
    /// Whether it shall not run now.
    pub suspend: bool,
    /// Whether a pod is replaced only when it has failed, not when it is being deleted.
    pub replaces_failed_only: bool,
    /// What failures mean: the rules of `podFailurePolicy`.
    pub failure_rules: Option<Vec<Value>>,
    /// Which pods are its own.
    pub selector: LabelSelector,
    /// What its pods look like.
    pub template: PodTemplateSpec,
}

impl JobSpec {
    /// The spec of a Job.
    pub fn of(job: &Generic) -> JobSpec {
        let spec = job.spec();
        let rules = |policy| {
            let policy = spec.at(policy);
            policy.value().map(|_| policy.items("rules").to_vec())
        };
        JobSpec {
            parallelism: spec.int("parallelism").unwrap_or(1),
            completions: spec.int("completions"),
            backoff_limit: spec.int("backoffLimit").unwrap_or(6),
            backoff_limit_per_index: spec.int("backoffLimitPerIndex"),
            max_failed_indexes: spec.int("maxFailedIndexes"),
            success_rules: rules("successPolicy"),
            active_deadline_seconds: spec.long("activeDeadlineSeconds"),
            ttl_seconds_after_finished: spec.int("ttlSecondsAfterFinished"),
            indexed: spec.text("completionMode") == Some("Indexed"),
            suspend: spec.flag("suspend"),
            replaces_failed_only: spec.text("podReplacementPolicy") == Some("Failed"),
            failure_rules: rules("podFailurePolicy"),
            selector: spec.read("selector"),
            template: spec.read("template"),
        }
    }
}

/// `batch/v1.JobStatus`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobStatus {
    /// When it began, or was resumed.
    pub start_time: Option<Timestamp>,
    /// When it ended well.
    pub completion_time: Option<Timestamp>,
    /// Pods that run or are about to.
    pub active: i32,
    /// Those that are ready.
    pub ready: i32,
    /// Those that are being deleted.
    pub terminating: i32,
    /// Pods, or indexes, that ended well and were counted.
    pub succeeded: i32,
    /// Pods that failed and were counted.
    pub failed: i32,
    /// `0-3,5`.
    pub completed_indexes: String,
    /// `1,4`; only with `backoffLimitPerIndex`.
    pub failed_indexes: Option<String>,
    /// Pods that ended well and are not counted yet.
    pub uncounted_succeeded: Vec<Str>,
    /// Pods that failed and are not counted yet.
    pub uncounted_failed: Vec<Str>,
    /// Suspended, FailureTarget, SuccessCriteriaMet, Failed, Complete.
    pub conditions: Vec<Condition>,
}

impl JobStatus {
    /// The status of a Job.
    pub fn of(job: &Generic) -> JobStatus {
        let status = job.status();
        let uncounted = status.at("uncountedTerminatedPods");
        let number = |name| status.int(name).unwrap_or(0);
        JobStatus {
            start_time: status.time("startTime"),
            completion_time: status.time("completionTime"),
            active: number("active"),
            ready: number("ready"),
            terminating: number("terminating"),
            succeeded: number("succeeded"),
            failed: number("failed"),
            completed_indexes: status.text("completedIndexes").unwrap_or_default().to_string(),
            failed_indexes: status.read("failedIndexes"),
            uncounted_succeeded: uncounted.read("succeeded"),
            uncounted_failed: uncounted.read("failed"),
            conditions: status.read("conditions"),
        }
    }

    /// As it is kept.
    pub fn to_value(&self) -> Value {
        let mut map = Map::new();
        let mut put = |name: &str, value: Value| {
            let empty = value.is_null() || value == 0 || value == "" || value == json!([]);
            if !empty {
                map.insert(name.into(), value);
            }
        };
        put("conditions", json!(self.conditions));
        put("startTime", json!(self.start_time));
        put("completionTime", json!(self.completion_time));
        put("active", self.active.into());
        put("succeeded", self.succeeded.into());
        put("failed", self.failed.into());
        put("completedIndexes", self.completed_indexes.as_str().into());
        let mut uncounted = Map::new();
        for (name, pods) in
            [("succeeded", &self.uncounted_succeeded), ("failed", &self.uncounted_failed)]
        {
            if !pods.is_empty() {
                uncounted.insert(name.into(), json!(pods));
            }
        }
        map.insert("uncountedTerminatedPods".into(), uncounted.into());
        // Pointers in Kubernetes: a zero is written, and an empty text.
        if let Some(failed) = &self.failed_indexes {
            map.insert("failedIndexes".into(), failed.as_str().into());
        }
        map.insert("ready".into(), self.ready.into());
        map.insert("terminating".into(), self.terminating.into());
        Value::Object(map)
    }

    /// The condition by which the Job has ended: Complete or Failed.
    pub fn end(&self) -> Option<&Condition> {
        let held = |kind| {
            let found = Condition::find(&self.conditions, kind);
            found.filter(|_| Condition::holds(&self.conditions, kind))
        };
        held("Complete").or_else(|| held("Failed"))
    }
}
