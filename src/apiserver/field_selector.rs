//! Field selectors: `status.phase=Running,spec.nodeName!=node-1`. Kubernetes: apimachinery
//! `pkg/fields/selector.go`. Any field that a kind has can be named here; a real server knows only
//! a few of each kind.

use crate::api::{Object, Value};

/// Conditions on fields, all of which must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSelector {
    terms: Vec<Term>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Term {
    path: String,
    equal: bool,
    value: String,
}

impl FieldSelector {
    /// Reads a selector. The error is the API server's.
    pub fn parse(text: &str) -> Result<FieldSelector, String> {
        let mut terms = Vec::new();
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let (path, equal, value) = match (part.split_once("!="), part.split_once('=')) {
                (Some((path, value)), _) => (path, false, value),
                (None, Some((path, value))) => (path, true, value.trim_start_matches('=')),
                (None, None) => {
                    return Err(format!("invalid selector: {text:?}; can't understand {part:?}"));
                }
            };
            terms.push(Term { path: path.into(), equal, value: value.into() });
        }
        Ok(FieldSelector { terms })
    }

    /// Whether an object is selected.
    pub fn matches(&self, object: &Object) -> bool {
        let mut value = None;
        self.terms.iter().all(|term| {
            let is = match term.path.as_str() {
                "metadata.name" => *object.meta().name == *term.value,
                "metadata.namespace" => *object.meta().namespace == *term.value,
                path => {
                    let value = value.get_or_insert_with(|| object.to_value());
                    text_at(value, path) == term.value
                }
            };
            is == term.equal
        })
    }
}

fn text_at(value: &Value, path: &str) -> String {
    let mut at = Some(value);
    for name in path.split('.') {
        at = at.and_then(|value| value.get(name));
    }
    match at {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}
