use loopscope::api::selector::{LabelSelectorRequirement, Operator, Requirement, Selector};
use loopscope::api::{FieldError, LabelSelector, Str, StrMap};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Outcome, compare, given};

#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
enum Given {
    Parse { selector: String },
    SameCanonical { selectors: Vec<String> },
    Match { selector: String, labels: StrMap },
    MatchLabels { match_labels: StrMap, labels: StrMap },
    MatchExpressions { requirements: Vec<Asked>, labels: StrMap },
    ToString { requirements: Vec<Asked> },
    ParseRequirements { selector: String },
    NewRequirement { key: Str, operator: String, values: Vec<Str> },
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    key: Str,
    operator: String,
    values: Vec<Str>,
}

pub fn check(case: &Value, expect: &Value) -> Outcome {
    match given(case).and_then(answer) {
        Ok(got) => compare(expect, &got),
        Err(outcome) => outcome,
    }
}

fn answer(case: Given) -> Result<Value, Outcome> {
    Ok(match case {
        Given::Parse { selector } => match Selector::parse(&selector) {
            Ok(selector) => json!({ "valid": true, "canonical": selector.to_string() }),
            Err(_) => json!({ "valid": false }),
        },
        Given::SameCanonical { selectors } => {
            let texts: Result<Vec<_>, _> = selectors.iter().map(|text| printed(text)).collect();
            let texts = texts?;
            json!({ "same": texts.windows(2).all(|pair| pair[0] == pair[1]) })
        }
        Given::Match { selector, labels } => {
            let selector = Selector::parse(&selector).map_err(Outcome::Failed)?;
            json!({ "matches": selector.matches(&labels) })
        }
        Given::MatchLabels { match_labels, labels } => {
            matches_both_ways(LabelSelector { match_labels, ..Default::default() }, &labels)?
        }
        Given::MatchExpressions { requirements, labels } => matches(requirements, &labels)?,
        Given::ToString { requirements } => {
            json!({ "text": selector(requirements)?.to_string() })
        }
        Given::ParseRequirements { selector } => match Selector::parse(&selector) {
            Ok(selector) => {
                let listed: Vec<_> = selector.requirements.iter().map(listed).collect();
                json!({ "valid": true, "requirements": listed })
            }
            Err(_) => json!({ "valid": false }),
        },
        Given::NewRequirement { key, operator, values } => {
            new_requirement(Requirement::from_name(key, &operator, values))
        }
    })
}

fn printed(text: &str) -> Result<String, Outcome> {
    Selector::parse(text).map(|selector| selector.to_string()).map_err(Outcome::Failed)
}

fn selector(asked: Vec<Asked>) -> Result<Selector, Outcome> {
    let legal = |asked: Asked| Requirement::from_name(asked.key, &asked.operator, asked.values);
    let requirements: Result<Vec<_>, _> = asked.into_iter().map(legal).collect();
    match requirements {
        Ok(requirements) => Ok(Selector { requirements }),
        Err(errors) => Err(Outcome::Failed(FieldError::aggregate(&errors))),
    }
}

/// Objects can hold only four of the operators; where they can, the data form is asked too.
fn matches(asked: Vec<Asked>, labels: &StrMap) -> Result<Value, Outcome> {
    let data_form = ["In", "NotIn", "Exists", "DoesNotExist"];
    if asked.iter().all(|asked| data_form.contains(&&*asked.operator)) {
        let expression = |asked: Asked| LabelSelectorRequirement {
            key: asked.key,
            operator: asked.operator.into(),
            values: asked.values,
        };
        let match_expressions = asked.into_iter().map(expression).collect();
        let selector = LabelSelector { match_expressions, ..Default::default() };
        return matches_both_ways(selector, labels);
    }
    Ok(json!({ "matches": selector(asked)?.matches(labels) }))
}

fn matches_both_ways(selector: LabelSelector, labels: &StrMap) -> Result<Value, Outcome> {
    let as_text_form = selector.to_selector().map_err(Outcome::Failed)?.matches(labels);
    let matches = selector.matches(labels);
    if matches != as_text_form {
        return Err(Outcome::Failed("the two forms of the selector disagree".into()));
    }
    Ok(json!({ "matches": matches }))
}

fn listed(requirement: &Requirement) -> Value {
    let operator = match requirement.operator() {
        Operator::In => "In",
        Operator::NotIn => "NotIn",
        Operator::Equals => "Equals",
        Operator::DoubleEquals => "DoubleEquals",
        Operator::NotEquals => "NotEquals",
        Operator::Exists => "Exists",
        Operator::DoesNotExist => "DoesNotExist",
        Operator::GreaterThan => "Gt",
        Operator::LessThan => "Lt",
    };
    json!({ "key": requirement.key(), "operator": operator, "values": requirement.values() })
}

fn new_requirement(result: Result<Requirement, Vec<FieldError>>) -> Value {
    let errors = result.err().unwrap_or_default();
    json!({
        "valid": errors.is_empty(),
        "errorField": errors.first().map(|error| &error.field),
        "errorType": errors.first().map(|error| error.kind.as_str()),
    })
}
