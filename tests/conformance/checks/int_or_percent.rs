use loopscope::api::IntOrString;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{Outcome, compare, given};

#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
enum Given {
    ParseIntOrPercent { value: IntOrString },
    ScaledValue { value: Option<IntOrString>, total: i32, round_up: bool },
    ParseText { value: String },
    JsonDecode { json: String },
    JsonEncode { value: IntOrString },
}

/// The object with one field of which the vectors speak.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Holder {
    val: IntOrString,
}

pub fn check(case: &Value, expect: &Value) -> Outcome {
    let case: Given = match given(case) {
        Ok(case) => case,
        Err(outcome) => return outcome,
    };
    let got = match case {
        Given::ParseIntOrPercent { value } => match value.parse() {
            Ok((value, percent)) => json!({ "error": false, "value": value, "isPercent": percent }),
            Err(_) => json!({ "error": true }),
        },
        Given::ScaledValue { value, total, round_up } => {
            match IntOrString::scaled_or_missing(value.as_ref(), total, round_up) {
                Ok(value) => json!({ "error": false, "value": value }),
                Err(_) => json!({ "error": true }),
            }
        }
        Given::ParseText { value } => typed(&IntOrString::from_text(&value)),
        Given::JsonDecode { json } => match serde_json::from_str::<Holder>(&json) {
            Ok(holder) => typed(&holder.val),
            Err(error) => json!({ "error": error.to_string() }),
        },
        Given::JsonEncode { value } => match serde_json::to_string(&Holder { val: value }) {
            Ok(json) => json!({ "json": json }),
            Err(error) => json!({ "error": error.to_string() }),
        },
    };
    compare(expect, &got)
}

fn typed(value: &IntOrString) -> Value {
    match value {
        IntOrString::Int(number) => json!({ "type": "int", "value": number }),
        IntOrString::String(text) => json!({ "type": "string", "value": text }),
    }
}
