//! Vectors whose cases say by `check` which question they ask: the key is taken out, and what a
//! question does not take is an error, so that no part of a case is passed over.

use loopscope::api::Value;
use serde_json::Map;

use crate::Outcome;

/// The outcome, or what is wrong with the case.
pub type Answer = Result<Outcome, String>;

/// Asks the question of a case.
pub fn by_check(
    given: &Value,
    ask: impl FnOnce(&str, &mut Map<String, Value>) -> Answer,
) -> Outcome {
    let mut given = given.as_object().cloned().unwrap_or_default();
    let check = text(&mut given, "check");
    match ask(&check, &mut given) {
        Err(why) => Outcome::Failed(why),
        Ok(_) if !given.is_empty() => Outcome::Failed(format!("unknown keys in {given:?}")),
        Ok(outcome) => outcome,
    }
}

/// Takes a key out of a case.
pub fn take(given: &mut Map<String, Value>, key: &str) -> Value {
    given.remove(key).unwrap_or(Value::Null)
}

/// Takes a text out of a case; empty if there is none.
pub fn text(given: &mut Map<String, Value>, key: &str) -> String {
    take(given, key).as_str().unwrap_or("").to_string()
}
