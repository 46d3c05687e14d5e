//! Label selectors: as the data of an object ([`LabelSelector`]) and as the text of `-l`
//! ([`Selector`]).
//!
//! Follows `pkg/labels/selector.go`, `pkg/apis/meta/v1/helpers.go` and
//! `pkg/apis/meta/v1/validation/validation.go` of
//! <https://github.com/kubernetes/apimachinery/tree/release-1.36>. Left out: field selectors.

mod parse;
mod requirement;

use serde::{Deserialize, Serialize};

pub use requirement::{Operator, Requirement, Selector};

use super::field_error::quoted;
use super::{FieldError, Str, StrMap, names};

/// `metav1.LabelSelector`: all of it must match; an empty one matches everything.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LabelSelector {
    /// Labels with exactly these values.
    #[serde(skip_serializing_if = "StrMap::is_empty")]
    pub match_labels: StrMap,
    /// Requirements.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub match_expressions: Vec<LabelSelectorRequirement>,
}

/// `metav1.LabelSelectorRequirement`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LabelSelectorRequirement {
    /// The label.
    pub key: Str,
    /// In, NotIn, Exists or DoesNotExist.
    pub operator: Str,
    /// For In and NotIn.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<Str>,
}

impl LabelSelector {
    /// Whether it selects everything.
    pub fn is_empty(&self) -> bool {
        self.match_labels.is_empty() && self.match_expressions.is_empty()
    }

    /// Whether these labels are selected.
    pub fn matches(&self, labels: &StrMap) -> bool {
        self.match_labels.iter().all(|(key, value)| labels.get(key) == Some(value))
            && self.match_expressions.iter().all(|requirement| requirement.matches(labels))
    }

    /// The same as a [`Selector`], with its requirements in the order of their keys
    /// (`LabelSelectorAsSelector`). The error is for people.
    pub fn to_selector(&self) -> Result<Selector, String> {
        let mut requirements = Vec::new();
        for (key, value) in &self.match_labels {
            requirements.push(Requirement::new(key.clone(), Operator::Equals, vec![value.clone()]));
        }
        for expression in &self.match_expressions {
            let operator = expression.operator().ok_or_else(|| {
                format!("{} is not a valid label selector operator", quoted(&expression.operator))
            })?;
            let (key, values) = (expression.key.clone(), expression.values.clone());
            requirements.push(Requirement::new(key, operator, values));
        }
        let requirements: Result<Vec<_>, _> = requirements.into_iter().collect();
        let requirements = requirements.map_err(|errors| FieldError::aggregate(&errors))?;
        Ok(Selector::sorted(requirements))
    }

    /// How a table or a description shows it (`FormatLabelSelector`).
    pub fn format(&self) -> String {
        match self.to_selector() {
            Err(_) => "<error>".into(),
            Ok(selector) if selector.is_empty() => "<none>".into(),
            Ok(selector) => selector.to_string(),
        }
    }

    /// What the API server holds against it, `field` being the path of the selector
    /// (`ValidateLabelSelector`).
    pub fn validate(&self, field: &str) -> Vec<FieldError> {
        let mut errors = validate_labels(&self.match_labels, &format!("{field}.matchLabels"));
        for (index, requirement) in self.match_expressions.iter().enumerate() {
            errors.extend(requirement.validate(&format!("{field}.matchExpressions[{index}]")));
        }
        errors
    }
}

/// What the API server holds against a map of labels (`ValidateLabels`).
pub fn validate_labels(labels: &StrMap, field: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (key, value) in labels {
        let bad = |text: &Str, detail| FieldError::invalid(field, &**text, detail);
        errors.extend(names::qualified_name(key).into_iter().map(|detail| bad(key, detail)));
        errors.extend(names::label_value(value).into_iter().map(|detail| bad(value, detail)));
    }
    errors
}

impl LabelSelectorRequirement {
    /// Whether these labels fulfil it.
    pub fn matches(&self, labels: &StrMap) -> bool {
        self.operator().is_some_and(|operator| {
            requirement::fulfils(operator, &self.values, labels.get(&self.key))
        })
    }

    /// The operator, if it is one that an object may use.
    fn operator(&self) -> Option<Operator> {
        match &*self.operator {
            "In" => Some(Operator::In),
            "NotIn" => Some(Operator::NotIn),
            "Exists" => Some(Operator::Exists),
            "DoesNotExist" => Some(Operator::DoesNotExist),
            _ => None,
        }
    }

    /// What the API server holds against it (`ValidateLabelSelectorRequirement`).
    fn validate(&self, field: &str) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let values = || format!("{field}.values");
        match self.operator() {
            Some(Operator::In | Operator::NotIn) if self.values.is_empty() => {
                let detail = "must be specified when `operator` is 'In' or 'NotIn'";
                errors.push(FieldError::required(values(), detail));
            }
            Some(Operator::Exists | Operator::DoesNotExist) if !self.values.is_empty() => {
                let detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
                errors.push(FieldError::forbidden(values(), detail));
            }
            Some(_) => {}
            None => {
                let detail = "not a valid selector operator";
                let path = format!("{field}.operator");
                errors.push(FieldError::invalid(path, &*self.operator, detail));
            }
        }
        for detail in names::qualified_name(&self.key) {
            errors.push(FieldError::invalid(format!("{field}.key"), &*self.key, detail));
        }
        for (index, value) in self.values.iter().enumerate() {
            for detail in names::label_value(value) {
                let path = format!("{field}.values[{index}]");
                errors.push(FieldError::invalid(path, &**value, detail));
            }
        }
        errors
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selector(yaml: &str) -> LabelSelector {
        serde_yaml::from_str(yaml).unwrap_or_else(|error| panic!("{yaml}: {error}"))
    }

    fn labels(pairs: &[(&str, &str)]) -> StrMap {
        pairs.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect()
    }

    #[test]
    fn labels_and_expressions_must_all_match() {
        let both = selector(
            "{matchLabels: {app: web}, \
             matchExpressions: [{key: tier, operator: NotIn, values: [x]}]}",
        );
        assert!(both.matches(&labels(&[("app", "web")])));
        assert!(both.matches(&labels(&[("app", "web"), ("tier", "y")])));
        assert!(!both.matches(&labels(&[("app", "web"), ("tier", "x")])));
        assert!(!both.matches(&labels(&[("tier", "y")])));
        assert!(LabelSelector::default().matches(&labels(&[])));
    }

    #[test]
    fn an_operator_that_nobody_knows_matches_nothing() {
        for operator in ["Gt", "in", ""] {
            let unknown = selector(&format!(
                "matchExpressions: [{{key: a, operator: '{operator}', values: ['1']}}]"
            ));
            assert!(!unknown.matches(&labels(&[("a", "2")])));
            assert_eq!(unknown.format(), "<error>");
        }
    }

    #[test]
    fn a_selector_is_shown_in_the_order_of_its_keys() {
        let shown = selector(
            "{matchLabels: {z: '1', b: '2'}, \
             matchExpressions: [{key: c, operator: In, values: [y, x]}, \
             {key: a, operator: DoesNotExist}]}",
        );
        assert_eq!(shown.format(), "!a,b=2,c in (x,y),z=1");
        assert_eq!(LabelSelector::default().format(), "<none>");
    }

    #[test]
    fn the_api_server_names_each_field_that_is_wrong() {
        let wrong = selector(
            "{matchLabels: {-a: b c}, matchExpressions: [{key: a, operator: In}, \
             {key: a, operator: Exists, values: ['$']}, {key: '', operator: Gt}]}",
        );
        let errors: Vec<_> =
            wrong.validate("spec.selector").iter().map(|e| e.to_string()).collect();
        let starts = [
            "spec.selector.matchLabels: Invalid value: \"-a\": name part must consist of",
            "spec.selector.matchLabels: Invalid value: \"b c\": a valid label must be an empty",
            "spec.selector.matchExpressions[0].values: Required value: must be specified when",
            "spec.selector.matchExpressions[1].values: Forbidden: may not be specified when",
            "spec.selector.matchExpressions[1].values[0]: Invalid value: \"$\": a valid label",
            "spec.selector.matchExpressions[2].operator: Invalid value: \"Gt\": not a valid",
            "spec.selector.matchExpressions[2].key: Invalid value: \"\": name part must be non",
            "spec.selector.matchExpressions[2].key: Invalid value: \"\": name part must consist of",
        ];
        assert_eq!(errors.len(), starts.len(), "{errors:#?}");
        for (error, start) in errors.iter().zip(starts) {
            assert!(error.starts_with(start), "{error}\nshould start with\n{start}");
        }
    }
}
