//! Jobs, CronJobs, DaemonSets and StatefulSets (`describeJob` and the like).

use crate::api::{
    Generic, Kind, LabelSelector, Object, PodPhase, PodTemplateSpec, Timestamp, Value,
};
use crate::kubectl::Api;
use crate::kubectl::duration::human_duration;

use super::sheet::{Sheet, long_time};
use super::template;

/// Describes an object of one of these kinds, but for its Events; false if it is of another.
pub fn run(object: &Generic, api: &dyn Api, sheet: &mut Sheet) -> bool {
    match object.kind {
        Kind::Job => job(object, sheet),
        Kind::CronJob => cron_job(object, sheet),
        Kind::DaemonSet => daemon_set(object, api, sheet),
        Kind::StatefulSet => stateful_set(object, api, sheet),
        _ => return false,
    }
    true
}

fn selector(object: &Generic, sheet: &mut Sheet) {
    let selector = object.typed::<LabelSelector>("spec/selector");
    sheet.field("Selector", selector.map_or("<unset>".into(), |selector| selector.format()));
}

fn pod_template(object: &Generic, path: &str, sheet: &mut Sheet) {
    if let Some(template) = object.typed::<PodTemplateSpec>(path) {
        template::template(&template, sheet);
    }
}

fn number(object: &Generic, path: &str) -> i64 {
    object.whole_number(path).unwrap_or(0)
}

fn number_or(object: &Generic, path: &str, none: &str) -> String {
    object.whole_number(path).map_or_else(|| none.into(), |number| number.to_string())
}

fn yes(object: &Generic, path: &str) -> bool {
    object.field(path) == Some(&Value::Bool(true))
}

/// How many pods of a controller are in which phase.
pub fn pods_status(uid: &str, namespace: &str, api: &dyn Api) -> String {
    let pods = api.list(Kind::Pod, Some(namespace));
    let own: Vec<PodPhase> = pods
        .iter()
        .filter(|pod| pod.meta().is_controlled_by(uid))
        .filter_map(|pod| Object::as_pod(pod).map(|pod| pod.phase()))
        .collect();
    let count = |phase: PodPhase| own.iter().filter(|own| **own == phase).count();
    let (running, waiting) = (count(PodPhase::Running), count(PodPhase::Pending));
    let (succeeded, failed) = (count(PodPhase::Succeeded), count(PodPhase::Failed));
    format!("{running} Running / {waiting} Waiting / {succeeded} Succeeded / {failed} Failed")
}

fn daemon_set(set: &Generic, api: &dyn Api, sheet: &mut Sheet) {
    let meta = &set.metadata;
    sheet.name(meta);
    selector(set, sheet);
    let nodes = set.typed("spec/template/spec/nodeSelector").unwrap_or_default();
    sheet.labels("Node-Selector", &nodes);
    sheet.marks(meta);
    for (name, field) in [
        ("Desired Number of Nodes Scheduled", "desiredNumberScheduled"),
        ("Current Number of Nodes Scheduled", "currentNumberScheduled"),
        ("Number of Nodes Scheduled with Up-to-date Pods", "updatedNumberScheduled"),
        ("Number of Nodes Scheduled with Available Pods", "numberAvailable"),
        ("Number of Nodes Misscheduled", "numberMisscheduled"),
    ] {
        // In the cells of no column, as kubectl has it.
        let count = number(set, &format!("status/{field}"));
        sheet.line(0, format!("{name}: {count}"));
    }
    sheet.field("Pods Status", pods_status(&meta.uid, &meta.namespace, api));
    pod_template(set, "spec/template", sheet);
}

fn stateful_set(set: &Generic, api: &dyn Api, sheet: &mut Sheet) {
    let meta = &set.metadata;
    sheet.name(meta);
    sheet.field("CreationTimestamp", meta.creation_timestamp.map(long_time).unwrap_or_default());
    selector(set, sheet);
    sheet.marks(meta);
    let (wanted, total) =
        (set.whole_number("spec/replicas").unwrap_or(1), number(set, "status/replicas"));
    sheet.field("Replicas", format!("{wanted} desired | {total} total"));
    sheet.field("Update Strategy", set.text("spec/updateStrategy/type"));
    if let Some(partition) = set.whole_number("spec/updateStrategy/rollingUpdate/partition") {
        sheet.line(1, format!("Partition:\t{partition}"));
    }
    sheet.field("Pods Status", pods_status(&meta.uid, &meta.namespace, api));
    pod_template(set, "spec/template", sheet);
    volume_claims(set, sheet);
}

fn volume_claims(set: &Generic, sheet: &mut Sheet) {
    let claims = set.spec().items("volumeClaimTemplates");
    if claims.is_empty() {
        return sheet.line(0, "Volume Claims:\t<none>");
    }
    sheet.line(0, "Volume Claims:");
    for claim in claims {
        let text = |pointer: &str| claim.pointer(pointer).and_then(Value::as_str).unwrap_or("");
        sheet.line(1, format!("Name:\t{}", text("/metadata/name")));
        sheet.line(1, format!("StorageClass:\t{}", text("/spec/storageClassName")));
        let modes = claim.pointer("/spec/accessModes").and_then(Value::as_array);
        let modes: Vec<&str> = modes.into_iter().flatten().filter_map(Value::as_str).collect();
        let capacity = claim.pointer("/spec/resources/requests/storage").and_then(Value::as_str);
        sheet.line(1, format!("Capacity:\t{}", capacity.unwrap_or("<default>")));
        sheet.line(1, format!("Access Modes:\t[{}]", modes.join(" ")));
    }
}

fn job(job: &Generic, sheet: &mut Sheet) {
    let meta = &job.metadata;
    sheet.name(meta);
    selector(job, sheet);
    sheet.marks(meta);
    sheet.controller(meta);
    sheet.field("Parallelism", number_or(job, "spec/parallelism", "<unset>"));
    sheet.field("Completions", number_or(job, "spec/completions", "<unset>"));
    let mode = job.spec().text("completionMode").unwrap_or("NonIndexed");
    sheet.field("Completion Mode", mode);
    sheet.field("Suspend", yes(job, "spec/suspend").to_string());
    sheet.field("Backoff Limit", number_or(job, "spec/backoffLimit", "6"));
    if let Some(seconds) = job.whole_number("spec/ttlSecondsAfterFinished") {
        sheet.field("TTL Seconds After Finished", seconds.to_string());
    }
    let time = |field: &str| job.status().time(field);
    let (began, ended) = (time("startTime"), time("completionTime"));
    for (name, at) in [("Start Time", began), ("Completed At", ended)] {
        at.into_iter().for_each(|at: Timestamp| sheet.field(name, long_time(at)));
    }
    if let (Some(began), Some(ended)) = (began, ended) {
        sheet.field("Duration", human_duration(ended.seconds_since(began)));
    }
    if let Some(seconds) = job.whole_number("spec/activeDeadlineSeconds") {
        sheet.field("Active Deadline Seconds", format!("{seconds}s"));
    }
    let count = |field: &str| number(job, &format!("status/{field}"));
    let (active, done, failed) = (count("active"), count("succeeded"), count("failed"));
    let ready = job.whole_number("status/ready");
    let ready = ready.map_or(String::new(), |ready| format!(" ({ready} Ready)"));
    let statuses = format!("{active} Active{ready} / {done} Succeeded / {failed} Failed");
    sheet.field("Pods Statuses", statuses);
    if mode == "Indexed" {
        let indexes = job.status().text("completedIndexes").unwrap_or("<none>");
        sheet.field("Completed Indexes", indexes);
    }
    pod_template(job, "spec/template", sheet);
}

fn cron_job(cron_job: &Generic, sheet: &mut Sheet) {
    let spec = cron_job.spec();
    sheet.name(&cron_job.metadata);
    sheet.marks(&cron_job.metadata);
    sheet.field("Schedule", spec.text("schedule").unwrap_or_default());
    if let Some(zone) = spec.text("timeZone") {
        sheet.field("Time Zone", zone);
    }
    sheet.field("Concurrency Policy", spec.text("concurrencyPolicy").unwrap_or("Allow"));
    sheet.field("Suspend", if spec.flag("suspend") { "True" } else { "False" });
    for (name, path, none) in [
        ("Successful Job History Limit", "spec/successfulJobsHistoryLimit", "<unset>"),
        ("Failed Job History Limit", "spec/failedJobsHistoryLimit", "<unset>"),
    ] {
        sheet.field(name, number_or(cron_job, path, none));
    }
    let seconds = spec.long("startingDeadlineSeconds");
    let seconds = seconds.map_or("<unset>".into(), |seconds| format!("{seconds}s"));
    sheet.field("Starting Deadline Seconds", seconds);
    let selector = cron_job.typed::<LabelSelector>("spec/jobTemplate/spec/selector");
    sheet.field("Selector", selector.map_or("<unset>".into(), |selector| selector.format()));
    for (name, field) in [("Parallelism", "parallelism"), ("Completions", "completions")] {
        let path = format!("spec/jobTemplate/spec/{field}");
        sheet.field(name, number_or(cron_job, &path, "<unset>"));
    }
    if let Some(seconds) = cron_job.whole_number("spec/jobTemplate/spec/activeDeadlineSeconds") {
        sheet.field("Active Deadline Seconds", format!("{seconds}s"));
    }
    pod_template(cron_job, "spec/jobTemplate/spec/template", sheet);
    let last = cron_job.status().time("lastScheduleTime");
    sheet.field("Last Schedule Time", last.map_or("<unset>".into(), long_time));
    let active = cron_job.status().items("active").iter();
    let names: Vec<&str> = active.filter_map(|job| job["name"].as_str()).collect();
    sheet.field("Active Jobs", if names.is_empty() { "<none>".into() } else { names.join(", ") });
}
