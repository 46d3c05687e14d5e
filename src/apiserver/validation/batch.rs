//! Jobs and CronJobs (`pkg/apis/batch/validation/validation.go`).

use serde_json::from_value;

use crate::api::{Fields, Generic, PodTemplateSpec, RestartPolicy, Value};

use super::errors::Errors;
use super::workload::template_alone;

/// A name leaves room for the number of minutes that its Jobs add.
const LONGEST_CRON_JOB_NAME: usize = 52;

/// `ValidateJob`.
pub fn job(job: &Generic, errors: &mut Errors) {
    job_spec(job.spec(), "spec", errors);
}

/// `ValidateCronJob`.
pub fn cron_job(cron_job: &Generic, errors: &mut Errors) {
    let spec = cron_job.spec();
    match spec.text("schedule") {
        None => errors.required("spec.schedule", ""),
        Some(schedule) => {
            if schedule.contains("TZ") {
                let detail = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead";
                errors.invalid("spec.schedule", schedule, detail);
            } else if let Err(why) = crate::api::Schedule::parse(schedule) {
                errors.invalid("spec.schedule", schedule, &why);
            }
        }
    }
    if let Some(zone) = spec.text("timeZone").filter(|zone| !is_utc(zone)) {
        let detail = "this simulation knows no time zone but UTC";
        errors.invalid("spec.timeZone", zone, detail);
    }
    for field in ["startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"]
    {
        if let Some(number) = spec.long(field) {
            errors.non_negative(&format!("spec.{field}"), number);
        }
    }
    let policy = spec.text("concurrencyPolicy").unwrap_or_default();
    errors.one_of("spec.concurrencyPolicy", policy, &["Allow", "Forbid", "Replace"]);
    if cron_job.metadata.name.len() > LONGEST_CRON_JOB_NAME {
        let detail = format!("must be no more than {LONGEST_CRON_JOB_NAME} characters");
        errors.invalid("metadata.name", &cron_job.metadata.name, &detail);
    }
    job_spec(spec.at("jobTemplate").at("spec"), "spec.jobTemplate.spec", errors);
}

fn is_utc(zone: &str) -> bool {
    ["UTC", "Etc/UTC"].contains(&zone)
}

fn job_spec(spec: Fields<'_>, path: &str, errors: &mut Errors) {
    for field in [
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
        "ttlSecondsAfterFinished",
    ] {
        if let Some(number) = spec.long(field) {
            errors.non_negative(&format!("{path}.{field}"), number);
        }
    }
    if let Some(mode) = spec.text("completionMode") {
        errors.one_of(&format!("{path}.completionMode"), mode, &["NonIndexed", "Indexed"]);
        if mode == "Indexed" && spec.long("completions").is_none() {
            let detail = "when completion mode is Indexed";
            errors.required(&format!("{path}.completions"), detail);
        }
    }
    let policy = spec.text("podReplacementPolicy").unwrap_or("Failed");
    let known = ["Failed", "TerminatingOrFailed"];
    errors.one_of(&format!("{path}.podReplacementPolicy"), policy, &known);
    let path = format!("{path}.template");
    let Some(value) = spec.at("template").value() else {
        return errors.required(&path, "");
    };
    match from_value::<PodTemplateSpec>(value.clone()) {
        Ok(template) => {
            template_alone(&template, &path, errors);
            restart_policy(&template, spec, &path, errors);
        }
        Err(error) => errors.invalid(&path, Value::Null, &error.to_string()),
    }
}

/// A pod that always restarts never ends.
fn restart_policy(template: &PodTemplateSpec, spec: Fields<'_>, path: &str, errors: &mut Errors) {
    let at = format!("{path}.spec.restartPolicy");
    match template.spec.restart_policy {
        None | Some(RestartPolicy::Always) => {
            errors.required(&at, "valid values: \"OnFailure\", \"Never\"");
        }
        Some(RestartPolicy::OnFailure) if spec.at("podFailurePolicy").value().is_some() => {
            let detail = "only \"Never\" is supported when podFailurePolicy is specified";
            errors.invalid(&at, "OnFailure", detail);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{Kind, Object};
    use serde_json::json;

    fn errors(kind: Kind, value: Value) -> Vec<String> {
        let object = Object::from_value(kind, value).expect("an object");
        super::super::validate_create(&object)
    }

    #[test]
    fn a_jobs_pods_must_not_restart_for_ever() {
        let containers = json!([{"name": "a", "image": "a:1"}]);
        let template = json!({"spec": {"containers": containers, "restartPolicy": "Always"}});
        let job = json!({"metadata": {"name": "a"}, "spec": {"template": template,
            "completionMode": "Indexed", "backoffLimit": -1}});
        let found = errors(Kind::Job, job);
        for wanted in [
            "spec.backoffLimit: Invalid value: -1: must be greater than or equal to 0",
            "spec.completions: Required value: when completion mode is Indexed",
            "spec.template.spec.restartPolicy: Required value: valid values: \"OnFailure\", \
             \"Never\"",
        ] {
            assert!(found.iter().any(|error| error == wanted), "{wanted}\n{found:?}");
        }
    }

    #[test]
    fn a_schedule_must_be_one() {
        let job = json!({"metadata": {"name": "a"}, "spec": {"schedule": "61 * * * *"}});
        let found = errors(Kind::CronJob, job);
        assert!(found.iter().any(|error| error.starts_with("spec.schedule: Invalid value")));
    }
}
