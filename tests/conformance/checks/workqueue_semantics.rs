use serde_json::Value;

use crate::Outcome;

pub fn check(_given: &Value, _expect: &Value) -> Outcome {
    Outcome::Failed("no runner yet".into())
}
