//! How kubectl writes a span of time.

use loopscope::api::Timestamp;
use loopscope::kubectl::{age, human_duration, short_human_duration};
use serde_json::{Value, json};

use crate::{Outcome, compare};

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Given {
    formatter: String,
    duration_nanoseconds: Option<i64>,
    age_seconds: Option<f64>,
    seconds_until: Option<f64>,
}

pub fn check(given: &Value, expect: &Value) -> Outcome {
    let given: Given = match crate::given(given) {
        Ok(given) => given,
        Err(outcome) => return outcome,
    };
    // Division cuts towards zero, as Go's conversion to seconds does.
    let span = given.duration_nanoseconds.unwrap_or(0) / 1_000_000_000;
    let now = Timestamp::EPOCH;
    let since = |seconds: Option<f64>| seconds.map(|seconds| Timestamp(now.0 - seconds as i64));
    let text = match given.formatter.as_str() {
        "HumanDuration" => human_duration(span),
        "ShortHumanDuration" => short_human_duration(span),
        "ageColumn" => age(since(given.age_seconds), now),
        "untilColumn" => age(since(given.seconds_until), now),
        other => return Outcome::Failed(format!("no formatter {other}")),
    };
    compare(expect, &json!({ "text": text }))
}
