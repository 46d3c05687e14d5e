//! Jobs and CronJobs (`pkg/apis/batch/validation/validation.go`).

use serde_json::from_value;

use crate::api::{Fields, Generic, PodTemplateSpec, RestartPolicy, TimeZone, Value};

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
    if let Some(zone) = spec.text("timeZone").filter(|zone| TimeZone::named(zone).is_none()) {
        let detail = format!(
            "unknown time zone {zone} (this simulation knows some fifty, such as UTC, Asia/Seoul, \
             Europe/Berlin and America/New_York)"
        );
        errors.invalid("spec.timeZone", zone, &detail);
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
    per_index(spec, path, errors);
    success_policy(spec, path, errors);
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

/// Failures of single indexes.
fn per_index(spec: Fields<'_>, path: &str, errors: &mut Errors) {
    let (limit, most) = (spec.long("backoffLimitPerIndex"), spec.long("maxFailedIndexes"));
    let indexed = spec.text("completionMode") == Some("Indexed");
    for (field, number) in [("backoffLimitPerIndex", limit), ("maxFailedIndexes", most)] {
        let Some(number) = number else { continue };
        let at = format!("{path}.{field}");
        errors.non_negative(&at, number);
        if !indexed {
            errors.invalid(&at, number, "requires indexed completion mode");
        }
    }
    if most.is_some() && limit.is_none() {
        let at = format!("{path}.backoffLimitPerIndex");
        errors.required(&at, "when maxFailedIndexes is specified");
    }
    if let (Some(most), Some(all)) = (most, spec.long("completions"))
        && indexed
        && most > all
    {
        let detail = "must be less than or equal to completions";
        errors.invalid(&format!("{path}.maxFailedIndexes"), most, detail);
    }
    for (at, rule) in spec.at("podFailurePolicy").items("rules").iter().enumerate() {
        if rule["action"] == "FailIndex" && limit.is_none() {
            let at = format!("{path}.podFailurePolicy.rules[{at}].action");
            errors.invalid(&at, "FailIndex", "requires the backoffLimitPerIndex to be set");
        }
    }
}

fn success_policy(spec: Fields<'_>, path: &str, errors: &mut Errors) {
    let policy = spec.at("successPolicy");
    let Some(value) = policy.value() else { return };
    let path = format!("{path}.successPolicy");
    if spec.text("completionMode") != Some("Indexed") {
        return errors.invalid(&path, value, "requires indexed completion mode");
    }
    let rules = policy.items("rules");
    if rules.is_empty() {
        let detail = "at least one rules must be specified when the successPolicy is specified";
        errors.required(&format!("{path}.rules"), detail);
    }
    for (at, rule) in rules.iter().enumerate() {
        if rule["succeededCount"].is_null() && rule["succeededIndexes"].is_null() {
            let detail = "at least one of succeededCount or succeededIndexes must be specified";
            errors.required(&format!("{path}.rules[{at}]"), detail);
        }
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
    fn what_is_said_of_single_indexes_must_fit_together() {
        let containers = json!([{"name": "a", "image": "a:1"}]);
        let template = json!({"spec": {"containers": containers, "restartPolicy": "Never"}});
        let rules = json!([{"action": "FailIndex", "onExitCodes": {"operator": "In",
            "values": [1]}}]);
        let plain = json!({"metadata": {"name": "a"}, "spec": {"template": template.clone(),
            "maxFailedIndexes": 1, "podFailurePolicy": {"rules": rules}}});
        let found = errors(Kind::Job, plain);
        for wanted in [
            "spec.maxFailedIndexes: Invalid value: 1: requires indexed completion mode",
            "spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified",
            "spec.podFailurePolicy.rules[0].action: Invalid value: \"FailIndex\": requires the \
             backoffLimitPerIndex to be set",
        ] {
            assert!(found.iter().any(|error| error == wanted), "{wanted}\n{found:?}");
        }
        let indexed = json!({"metadata": {"name": "a"}, "spec": {"template": template,
            "completionMode": "Indexed", "completions": 2, "maxFailedIndexes": 3,
            "backoffLimitPerIndex": 1, "successPolicy": {"rules": [{}]}}});
        let found = errors(Kind::Job, indexed);
        for wanted in [
            "spec.maxFailedIndexes: Invalid value: 3: must be less than or equal to completions",
            "spec.successPolicy.rules[0]: Required value: at least one of succeededCount or \
             succeededIndexes must be specified",
        ] {
            assert!(found.iter().any(|error| error == wanted), "{wanted}\n{found:?}");
        }
    }

    #[test]
    fn a_schedule_must_be_one() {
        let job = json!({"metadata": {"name": "a"}, "spec": {"schedule": "61 * * * *"}});
        let found = errors(Kind::CronJob, job);
        assert!(found.iter().any(|error| error.starts_with("spec.schedule: Invalid value")));
        let zoned = |zone: &str| {
            let spec = json!({"schedule": "1 * * * *", "timeZone": zone});
            let found = errors(Kind::CronJob, json!({"metadata": {"name": "a"}, "spec": spec}));
            found.into_iter().find(|error| error.starts_with("spec.timeZone"))
        };
        assert_eq!(zoned("Asia/Seoul"), None);
        let unknown = zoned("Mars/Olympus").expect("it is refused");
        assert!(unknown.contains("unknown time zone Mars/Olympus"), "{unknown}");
    }
}
