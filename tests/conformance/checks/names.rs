use loopscope::api::names;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Outcome, compare, given};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Given {
    kind: Kind,
    value: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum Kind {
    Dns1123Label,
    Dns1123Subdomain,
    Dns1035Label,
    LabelValue,
    QualifiedName,
}

pub fn check(case: &Value, expect: &Value) -> Outcome {
    let case: Given = match given(case) {
        Ok(case) => case,
        Err(outcome) => return outcome,
    };
    let errors = match case.kind {
        Kind::Dns1123Label => names::dns1123_label(&case.value),
        Kind::Dns1123Subdomain => names::dns1123_subdomain(&case.value),
        Kind::Dns1035Label => names::dns1035_label(&case.value),
        Kind::LabelValue => names::label_value(&case.value),
        Kind::QualifiedName => names::qualified_name(&case.value),
    };
    compare(expect, &json!({ "valid": errors.is_empty() }))
}
