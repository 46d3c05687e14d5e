//! Jobs (`printJob`).

use crate::api::{Generic, Timestamp, Value};
use crate::kubectl::duration::{age, human_duration};

pub const COLUMNS: &[&str] = &["NAME", "STATUS", "COMPLETIONS", "DURATION", "AGE"];

pub fn row(job: &Generic, now: Timestamp, wide: bool) -> Vec<String> {
    let at = |section: &str, field: &str| job.rest.get(section).and_then(|value| value.get(field));
    let number = |section, field| at(section, field).and_then(Value::as_i64);
    let time = |field| at("status", field).and_then(Value::as_str).and_then(Timestamp::parse);
    let succeeded = number("status", "succeeded").unwrap_or(0);
    let completions = match (number("spec", "completions"), number("spec", "parallelism")) {
        (Some(all), _) => format!("{succeeded}/{all}"),
        (None, Some(width)) if width > 1 => format!("{succeeded}/1 of {width}"),
        (None, _) => format!("{succeeded}/1"),
    };
    let duration = match (time("startTime"), time("completionTime")) {
        (None, _) => String::new(),
        (Some(start), None) => human_duration(now.seconds_since(start)),
        (Some(start), Some(end)) => human_duration(end.seconds_since(start)),
    };
    let mut row = vec![
        job.metadata.name.to_string(),
        status(job).into(),
        completions,
        duration,
        age(job.metadata.creation_timestamp, now),
    ];
    if wide {
        row.extend(super::workload::wide_cells_of(job));
    }
    row
}

fn status(job: &Generic) -> &'static str {
    let conditions = job.rest.get("status").and_then(|status| status.get("conditions"));
    let conditions = conditions.and_then(Value::as_array);
    let holds = |kind: &str| {
        conditions.into_iter().flatten().any(|condition| {
            let is = |field: &str, text: &str| {
                condition.get(field).and_then(Value::as_str) == Some(text)
            };
            is("type", kind) && is("status", "True")
        })
    };
    if holds("Complete") {
        "Complete"
    } else if holds("Failed") {
        "Failed"
    } else if job.metadata.is_terminating() {
        "Terminating"
    } else if holds("Suspended") {
        "Suspended"
    } else if holds("FailureTarget") {
        "FailureTarget"
    } else if holds("SuccessCriteriaMet") {
        "SuccessCriteriaMet"
    } else {
        "Running"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{Kind, Object};
    use serde_json::json;

    #[test]
    fn a_wide_row_has_containers_images_and_selector() {
        let job = json!({"spec": {
            "selector": {"matchLabels": {"a": "b"}},
            "template": {"spec": {"containers": [{"name": "c", "image": "i"}]}},
        }});
        let Ok(Object::Generic(job)) = Object::from_value(Kind::Job, job) else {
            panic!("a Job");
        };
        assert_eq!(row(&job, Timestamp(0), true)[5..], ["c", "i", "a=b"]);
    }
}
