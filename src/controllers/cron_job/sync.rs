//! One look at a CronJob (`syncCronJob`, `cleanupFinishedJobs`).

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, json};

use crate::api::{
    Fields, Generic, Kind, Object, ObjectKey, OwnerReference, Schedule, TimeZone, Timestamp, Value,
};
use crate::apiserver::{DeleteOptions, Propagation, Reason, Request};
use crate::controllers::job::JobStatus;
use crate::controllers::owned::write_status;
use crate::controllers::{
    Change, Context, Deed, EventNote, Fact, Fallback, Finish, Intent, Plan, Woken, here,
};

use super::starts::{due, rfc1123};

/// So long after the moment of a start it is looked at.
const LAG: Duration = Duration::from_millis(100);
/// On a Job: the start that it is for.
const START: &str = "batch.kubernetes.io/cronjob-scheduled-timestamp";

/// Which CronJobs a change wakes.
pub fn wakes(change: &Change, _: &Context<'_>) -> Woken {
    let meta = change.object.meta();
    let key = match change.object.kind() {
        Kind::CronJob => Some(change.key()),
        _ => meta
            .controller()
            .filter(|owner| &*owner.kind == "CronJob")
            .map(|owner| ObjectKey::new(Kind::CronJob, meta.namespace.clone(), owner.name.clone())),
    };
    Woken { keys: key.into_iter().collect(), ..Woken::default() }
}

/// A pass over one CronJob.
struct Pass<'a> {
    object: &'a Arc<Object>,
    spec: Fields<'a>,
    jobs: Vec<&'a Generic>,
    active: Vec<Value>,
    last_schedule: Option<Timestamp>,
    last_success: Option<Timestamp>,
    now: Timestamp,
    plan: Plan,
}

/// Decides what to do about the CronJob of this key.
pub fn sync(key: &ObjectKey, cx: &Context<'_>) -> Plan {
    let Some(object) = cx.cache.get(key) else {
        return Plan::nothing(Fact::Gone, Fact::Gone).by(here!());
    };
    let Some(cron_job) = object.as_generic() else { return Plan::default() };
    let status = cron_job.status();
    let jobs = cx.cache.owned_by(Kind::Job, &object.meta().uid);
    let mut pass = Pass {
        object,
        spec: cron_job.spec(),
        jobs: jobs.filter_map(|job| job.as_generic()).collect(),
        active: status.items("active").to_vec(),
        last_schedule: status.time("lastScheduleTime"),
        last_success: status.time("lastSuccessfulTime"),
        now: cx.timestamp(),
        plan: Plan::default(),
    };
    pass.look_at_jobs();
    pass.plan.sees = Fact::Count(pass.active.len() as i64);
    pass.plan.wants = pass.plan.sees.clone();
    if object.meta().is_terminating() {
        pass.plan.trail.push(here!());
        pass.plan.wants = Fact::Gone;
    } else if !pass.spec.flag("suspend") {
        pass.plan.trail.push(here!());
        pass.start_if_due();
        pass.look_at_the_next(cx);
    }
    pass.clean_up();
    if let Some(Request::Update(_, after)) = pass.write() {
        pass.plan.finish = Some(Finish::plain(object.clone(), Object::clone(&after)));
    }
    pass.plan
}

impl<'a> Pass<'a> {
    fn tell(&mut self, reason: &str, text: String) {
        self.plan.events.push(EventNote::normal(self.object, reason, text));
    }

    fn warn(&mut self, reason: &str, text: String) {
        self.plan.events.push(EventNote::warning(self.object, reason, text));
    }

    fn is_active(&self, job: &Generic) -> bool {
        self.active.iter().any(|active| active["uid"] == *job.metadata.uid)
    }

    /// Which Jobs run, and which have ended since the last look.
    fn look_at_jobs(&mut self) {
        for job in self.jobs.clone() {
            let status = JobStatus::of(job);
            let (name, uid) = (job.metadata.name.clone(), &job.metadata.uid);
            match (self.is_active(job), status.end()) {
                (false, None) if job.metadata.annotations.contains_key(START) => {
                    self.active.push(json!({
                        "apiVersion": "batch/v1",
                        "kind": "Job",
                        "name": name,
                        "namespace": job.metadata.namespace,
                        "uid": uid,
                        "resourceVersion": job.metadata.resource_version.to_string(),
                    }));
                }
                (false, None) => {
                    let text = "Saw a job that the controller did not create or forgot";
                    self.warn("UnexpectedJob", format!("{text}: {name}"));
                }
                (true, Some(end)) => {
                    let text = format!("Saw completed job: {name}, condition: {}", end.kind);
                    self.active.retain(|active| active["uid"] != **uid);
                    self.tell("SawCompletedJob", text);
                }
                _ => {}
            }
            self.last_success = self.last_success.max(status.completion_time);
        }
        for active in std::mem::take(&mut self.active) {
            if self.jobs.iter().any(|job| active["uid"] == *job.metadata.uid) {
                self.active.push(active);
            } else {
                let name = active["name"].as_str().unwrap_or_default();
                self.tell("MissingJob", format!("Active job went missing: {name}"));
            }
        }
    }

    fn schedule(&self) -> Option<Schedule> {
        let schedule = Schedule::parse(self.spec.text("schedule")?).ok()?;
        Some(schedule.in_zone(self.zone()?))
    }

    /// UTC where nothing is said; nothing where the zone is not known.
    fn zone(&self) -> Option<TimeZone> {
        self.spec.text("timeZone").map_or(Some(TimeZone::UTC), TimeZone::named)
    }

    fn start_if_due(&mut self) {
        if self.zone().is_none() {
            let zone = self.spec.text("timeZone").unwrap_or_default();
            let text = format!("invalid timeZone: {zone:?}: unknown time zone {zone}");
            return self.warn("UnknownTimeZone", text);
        }
        let Some(schedule) = self.schedule() else {
            let text = self.spec.text("schedule").unwrap_or_default();
            return self.warn("UnparseableSchedule", format!("unparseable schedule: {text:?}"));
        };
        let created = self.object.meta().creation_timestamp.unwrap_or(self.now);
        let deadline = self.spec.long("startingDeadlineSeconds");
        let mut earliest = self.last_schedule.unwrap_or(created);
        if let Some(seconds) = deadline {
            earliest = earliest.max(Timestamp(self.now.0.saturating_sub(seconds)));
        }
        let Some(due) = due(&schedule, earliest, self.now) else { return };
        if due.many_missed {
            let text = "too many missed start times. Set or decrease \
                        .spec.startingDeadlineSeconds or check clock skew";
            self.warn("TooManyMissedTimes", text.into());
        }
        let late = deadline.is_some_and(|seconds| due.at.0.saturating_add(seconds) < self.now.0);
        if late {
            let text = format!("Missed scheduled time to start a job: {}", rfc1123(due.at));
            return self.warn("MissSchedule", text);
        }
        if self.last_schedule == Some(due.at) {
            return;
        }
        match self.spec.text("concurrencyPolicy") {
            Some("Forbid") if !self.active.is_empty() => {
                let text = "Not starting job because prior execution is running and concurrency \
                            policy is Forbid";
                self.tell("JobAlreadyActive", text.into());
            }
            Some("Replace") => {
                let running: Vec<&Generic> =
                    self.jobs.iter().copied().filter(|job| self.is_active(job)).collect();
                for job in running {
                    self.plan.then(self.deletion(job));
                }
                self.active.clear();
                self.start(due.at);
            }
            _ => self.start(due.at),
        }
    }

    /// The minute is part of the name, so that no start is made twice.
    fn start(&mut self, at: Timestamp) {
        let name = format!("{}-{}", self.object.meta().name, at.0.div_euclid(60));
        let template = self.spec.at("jobTemplate");
        let mut meta = json!({
            "name": name,
            "namespace": self.object.meta().namespace,
            "annotations": {START: self.zone().unwrap_or(TimeZone::UTC).format(at)},
        });
        for field in ["labels", "annotations"] {
            let given = template.at("metadata").at(field).value();
            for (key, value) in given.and_then(Value::as_object).into_iter().flatten() {
                meta[field][key] = value.clone();
            }
        }
        let owner = OwnerReference::controller_of(Kind::CronJob, self.object.meta());
        meta["ownerReferences"] = json!([owner]);
        let spec = template.at("spec").value().cloned().unwrap_or_default();
        let job = json!({"metadata": meta, "spec": spec});
        let Ok(job) = Object::from_value(Kind::Job, job) else { return };
        let fallback = Fallback { applies: |_| true, write: self.write(), event: None };
        let done = format!("Created job {name}");
        self.plan.then(Intent {
            on_success: Some(EventNote::normal(self.object, "SuccessfulCreate", done)),
            on_failure: Some(EventNote::warning(
                self.object,
                "FailedCreate",
                "Error creating job: {error}",
            )),
            // An earlier pass came so far and no further.
            tolerates: |error| error.reason == Reason::AlreadyExists,
            fallbacks: vec![fallback],
            ..Intent::new(Deed::Create, Request::Create(Arc::new(job)))
        });
        self.plan.wants = Fact::Count(self.active.len() as i64 + 1);
        self.last_schedule = Some(at);
    }

    fn look_at_the_next(&mut self, cx: &Context<'_>) {
        let next = self.schedule().and_then(|schedule| schedule.next(self.now));
        let after = next.map(|next| (next.to_time() + LAG).since(cx.now));
        self.plan.requeue_after = after;
    }

    fn deletion(&self, job: &Generic) -> Intent {
        let meta = &job.metadata;
        let key = ObjectKey::new(Kind::Job, meta.namespace.clone(), meta.name.clone());
        let options = DeleteOptions {
            propagation: Some(Propagation::Background),
            ..DeleteOptions::default()
        };
        let done = format!("Deleted job {}", meta.name);
        Intent {
            on_success: Some(EventNote::normal(self.object, "SuccessfulDelete", done)),
            on_failure: Some(EventNote::warning(
                self.object,
                "FailedDelete",
                "Deleted job: {error}",
            )),
            ..Intent::tolerant(Deed::Delete, Request::Delete(key, options))
        }
    }

    /// Deletes the oldest of the Jobs that have ended, beyond the limits.
    fn clean_up(&mut self) {
        for (kind, field) in
            [("Complete", "successfulJobsHistoryLimit"), ("Failed", "failedJobsHistoryLimit")]
        {
            let Some(limit) = self.spec.int(field) else { continue };
            let has_ended = |job: &&&Generic| {
                let status = JobStatus::of(job);
                !job.metadata.is_terminating() && status.end().is_some_and(|end| &*end.kind == kind)
            };
            let mut ended: Vec<&Generic> = self.jobs.iter().filter(has_ended).copied().collect();
            ended.sort_by_key(|job| (JobStatus::of(job).start_time, job.metadata.name.clone()));
            let surplus = ended.len().saturating_sub(limit.max(0) as usize);
            for job in ended.into_iter().take(surplus) {
                self.plan.then(self.deletion(job));
            }
        }
    }

    fn write(&self) -> Option<Request> {
        let mut status = Map::new();
        if !self.active.is_empty() {
            status.insert("active".into(), self.active.clone().into());
        }
        for (name, time) in
            [("lastScheduleTime", self.last_schedule), ("lastSuccessfulTime", self.last_success)]
        {
            if let Some(time) = time {
                status.insert(name.into(), json!(time));
            }
        }
        let is_new = status.is_empty() && self.object.as_generic()?.status().value().is_none();
        if is_new { None } else { write_status(self.object, status.into()) }
    }
}
