//! `kubectl wait`: whether what is waited for holds now. No time passes while a line runs, so what
//! does not hold has timed out, unless somebody follows it (`follow`).

use crate::api::{Object, Value};

use super::command::{Select, Wait};
use super::resources::{find, printed, resource};
use super::{Api, Output};

const NO_TIME: &str = "# no time passes while a line runs";

/// Says of each object whether it is as wanted.
pub fn run(select: &Select, wait: &Wait, at_once: bool, api: &dyn Api, out: &mut Output) {
    let mut any = false;
    let mut late = false;
    for found in find(select, api) {
        if let Some(missing) = found.missing {
            match wait {
                // What is not there is gone.
                Wait::Delete => any = true,
                Wait::Create => late = true,
                _ => return out.fail(missing),
            }
        }
        for object in found.objects {
            any = true;
            match holds(&object, wait) {
                Ok(true) => out.line(format!("{} condition met", printed(&object))),
                Ok(false) => {
                    let name = format!("{}/{}", resource(object.kind()), object.meta().name);
                    match at_once {
                        true => out.fail(format!("error: condition not met for {name}")),
                        false => {
                            let words = "timed out waiting for the condition on";
                            out.fail(format!("error: {words} {name}"));
                            late = true;
                        }
                    }
                }
                Err(error) => out.fail(format!("error: {error}")),
            }
        }
    }
    if late {
        if !any {
            out.fail("error: timed out waiting for the condition");
        }
        out.line(NO_TIME);
    } else if !any {
        out.fail("error: no matching resources found");
    }
}

pub fn holds(object: &Object, wait: &Wait) -> Result<bool, String> {
    let value = object.to_value();
    Ok(match wait {
        Wait::Create => true,
        Wait::Delete => false,
        Wait::Condition(name, status) => condition(&value, name, status),
        Wait::Path(path, wanted) => {
            let found = path.find(&value)?;
            match (found.as_slice(), wanted) {
                ([], _) => false,
                (_, None) => true,
                ([one], Some(wanted)) => match one {
                    Value::Array(_) | Value::Object(_) => {
                        return Err("jsonpath leads to a nested object or list, which cannot be \
                                    compared"
                            .into());
                    }
                    Value::String(text) => text == wanted,
                    other => {
                        let text = other.to_string();
                        text == *wanted
                    }
                },
                _ => return Err("given jsonpath expression matches more than one value".into()),
            }
        }
    })
}

/// A condition counts only if it was found after the last change of the spec.
fn condition(value: &Value, name: &str, status: &str) -> bool {
    let generation = value.pointer("/metadata/generation").and_then(Value::as_i64);
    let conditions = value.pointer("/status/conditions").and_then(Value::as_array);
    let text = |condition: &Value, field: &str| {
        condition.get(field).and_then(Value::as_str).unwrap_or("").to_ascii_lowercase()
    };
    let mut named = conditions.into_iter().flatten();
    let Some(found) = named.find(|condition| text(condition, "type") == name.to_ascii_lowercase())
    else {
        return false;
    };
    let observed = found.get("observedGeneration").and_then(Value::as_i64);
    let observed =
        observed.or_else(|| value.pointer("/status/observedGeneration").and_then(Value::as_i64));
    let stale = matches!((observed, generation), (Some(seen), Some(now)) if seen < now);
    !stale && text(found, "status") == status.to_ascii_lowercase()
}
