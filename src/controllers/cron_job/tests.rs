//! The controller beside a real API server, Jobs being ended by hand.

use std::time::Duration;

use serde_json::{Value, json};

use crate::api::{Generic, Kind, Object, ObjectKey, Str};
use crate::apiserver::{Part, Request};
use crate::controllers::lockstep::{Lockstep, stateless_loop};

stateless_loop!(Controller, crate::controllers::cron_job);

type Bench = Lockstep<Controller>;

fn bench(more: Value) -> Bench {
    let mut bench = Bench::new();
    let containers = json!([{"name": "main", "image": "task:1"}]);
    let template = json!({"spec": {"restartPolicy": "Never", "containers": containers}});
    let mut spec =
        json!({"schedule": "* * * * *", "jobTemplate": {"spec": {"template": template}}});
    for (field, value) in more.as_object().expect("fields") {
        spec[field] = value.clone();
    }
    let metadata = json!({"name": "minutely", "namespace": "default"});
    bench.create(Kind::CronJob, json!({"metadata": metadata, "spec": spec}));
    bench
}

fn minutes(bench: &mut Bench, minutes: u64) {
    bench.advance(Duration::from_secs(60 * minutes));
}

fn jobs(bench: &Bench) -> Vec<Generic> {
    let jobs = bench.server.store().list(Kind::Job);
    jobs.filter_map(|object| object.as_generic().cloned()).collect()
}

fn names(bench: &Bench) -> Vec<Str> {
    jobs(bench).into_iter().map(|job| job.metadata.name).collect()
}

fn end(bench: &mut Bench, mut job: Generic, kind: &str) {
    let now = crate::api::Timestamp::from(bench.now);
    job.metadata.resource_version = 0;
    let condition = json!([{"type": kind, "status": "True"}]);
    job.rest.insert("status".into(), json!({"conditions": condition, "startTime": now}));
    bench.ask(Request::Update(Part::Status, Object::Generic(job).into())).expect("written");
}

fn said(bench: &Bench, words: &str) -> usize {
    bench.events.iter().filter(|event| event.contains(words)).count()
}

fn status(bench: &Bench) -> Value {
    let key = ObjectKey::new(Kind::CronJob, "default", "minutely");
    bench.stored(&key).expect("it").to_value()["status"].clone()
}

#[test]
fn every_minute_makes_a_job_named_after_it() {
    let mut bench = bench(json!({}));
    minutes(&mut bench, 3);
    // 1 January 2026 is minute 29453760 since 1970.
    let wanted = ["minutely-29453761", "minutely-29453762"];
    assert_eq!(names(&bench), wanted.map(Str::from));
    assert_eq!(status(&bench)["active"].as_array().map(Vec::len), Some(2));
    assert_eq!(status(&bench)["lastScheduleTime"], "2026-01-01T00:02:00Z");
    assert_eq!(said(&bench, "SuccessfulCreate: Created job minutely-29453761"), 1);
}

#[test]
fn forbid_waits_and_replace_takes_over() {
    let mut forbid = bench(json!({"concurrencyPolicy": "Forbid"}));
    minutes(&mut forbid, 4);
    assert_eq!(names(&forbid), ["minutely-29453761".into()]);
    assert!(said(&forbid, "JobAlreadyActive") > 0);
    let job = jobs(&forbid).remove(0);
    end(&mut forbid, job, "Complete");
    assert_eq!(said(&forbid, "Saw completed job: minutely-29453761, condition: Complete"), 1);
    assert_eq!(jobs(&forbid).len(), 2, "what was held up begins at once");

    let mut replace = bench(json!({"concurrencyPolicy": "Replace"}));
    minutes(&mut replace, 4);
    assert_eq!(names(&replace), ["minutely-29453763".into()]);
    assert_eq!(said(&replace, "SuccessfulDelete: Deleted job"), 2);
}

#[test]
fn of_a_hundred_missed_starts_only_the_last_is_made_good() {
    let mut bench = bench(json!({}));
    minutes(&mut bench, 2);
    bench.now += Duration::from_secs(60 * 102);
    bench.restart();
    assert_eq!(jobs(&bench).len(), 2);
    assert_eq!(said(&bench, "TooManyMissedTimes"), 1);
    minutes(&mut bench, 3);
    assert_eq!(jobs(&bench).len(), 4, "and it goes on");
}

#[test]
fn with_a_deadline_only_what_lies_within_it_counts_as_missed() {
    let mut bench = bench(json!({"startingDeadlineSeconds": 200}));
    minutes(&mut bench, 2);
    bench.now += Duration::from_secs(60 * 102);
    bench.restart();
    assert_eq!((jobs(&bench).len(), said(&bench, "TooManyMissedTimes")), (2, 0));
}

#[test]
fn a_suspended_one_starts_nothing() {
    let mut bench = bench(json!({"suspend": true}));
    minutes(&mut bench, 5);
    assert!(jobs(&bench).is_empty());
}

#[test]
fn ended_jobs_are_kept_up_to_the_limits() {
    let mut bench = bench(json!({"successfulJobsHistoryLimit": 2, "failedJobsHistoryLimit": 0}));
    for round in 0..5 {
        minutes(&mut bench, 1);
        let kind = if round == 2 { "Failed" } else { "Complete" };
        let open = jobs(&bench).into_iter().find(|job| job.status().value().is_none());
        if let Some(job) = open {
            end(&mut bench, job, kind);
        }
    }
    let ended = jobs(&bench).iter().filter(|job| job.status().value().is_some()).count();
    assert_eq!(ended, 2);
}

#[test]
fn a_time_zone_says_by_which_clock() {
    let mut bench = bench(json!({"schedule": "5 9 * * *", "timeZone": "Asia/Seoul"}));
    minutes(&mut bench, 4);
    assert_eq!(jobs(&bench).len(), 0);
    minutes(&mut bench, 2);
    let job = jobs(&bench).remove(0);
    let start = &job.metadata.annotations["batch.kubernetes.io/cronjob-scheduled-timestamp"];
    assert_eq!(&**start, "2026-01-01T09:05:00+09:00");
}
