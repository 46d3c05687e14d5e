//! One requirement on one label, and a selector of several: validation, matching, canonical text.

use std::fmt;

use crate::api::{FieldError, Str, StrMap, names};

/// What is asked of a label (`selection.Operator`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// It has one of the values.
    In,
    /// It has none of the values, or is not there.
    NotIn,
    /// It has the value; written `=`.
    Equals,
    /// The same, written `==`.
    DoubleEquals,
    /// It has another value, or is not there.
    NotEquals,
    /// It is there.
    Exists,
    /// It is not there.
    DoesNotExist,
    /// It is a whole number above the value.
    GreaterThan,
    /// It is a whole number below the value.
    LessThan,
}

impl Operator {
    /// The names under which messages list them, those with a value first.
    pub(super) const KNOWN: [&str; 9] = ["in", "notin", "=", "==", "!=", "gt", "lt", "exists", "!"];

    /// Reads the name of an operator, as objects and as messages spell it.
    pub fn from_name(name: &str) -> Option<Operator> {
        Some(match name {
            "In" | "in" => Operator::In,
            "NotIn" | "notin" => Operator::NotIn,
            "Equals" | "=" => Operator::Equals,
            "DoubleEquals" | "==" => Operator::DoubleEquals,
            "NotEquals" | "!=" => Operator::NotEquals,
            "Exists" | "exists" => Operator::Exists,
            "DoesNotExist" | "!" => Operator::DoesNotExist,
            "Gt" | "gt" => Operator::GreaterThan,
            "Lt" | "lt" => Operator::LessThan,
            _ => return None,
        })
    }
}

/// Whether a label with this value (none: the label is not there) is as the operator asks.
pub(super) fn fulfils(operator: Operator, values: &[Str], label: Option<&Str>) -> bool {
    use Operator::*;
    match operator {
        In | Equals | DoubleEquals => label.is_some_and(|label| values.contains(label)),
        NotIn | NotEquals => label.is_none_or(|label| !values.contains(label)),
        Exists => label.is_some(),
        DoesNotExist => label.is_none(),
        GreaterThan | LessThan => {
            let number = |text: &Str| text.parse::<i64>().ok();
            let bound = if let [bound] = values { number(bound) } else { None };
            let (Some(label), Some(bound)) = (label.and_then(number), bound) else {
                return false;
            };
            if operator == GreaterThan { label > bound } else { label < bound }
        }
    }
}

/// A requirement on one label. Made by [`Requirement::new`], it is a legal one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    key: Str,
    operator: Operator,
    values: Vec<Str>,
}

impl Requirement {
    /// A legal requirement, or all that is wrong with it; paths start at `key` or `values`.
    pub fn new(
        key: Str,
        operator: Operator,
        values: Vec<Str>,
    ) -> Result<Requirement, Vec<FieldError>> {
        let mut errors = key_errors(&key, "key");
        errors.extend(count_errors(operator, &values));
        errors.extend(value_errors(&key, &values));
        if errors.is_empty() { Ok(Requirement { key, operator, values }) } else { Err(errors) }
    }

    /// As [`Requirement::new`], with the operator as text (see [`Operator::from_name`]).
    pub fn from_name(
        key: Str,
        operator: &str,
        values: Vec<Str>,
    ) -> Result<Requirement, Vec<FieldError>> {
        if let Some(operator) = Operator::from_name(operator) {
            return Requirement::new(key, operator, values);
        }
        let mut errors = key_errors(&key, "key");
        errors.push(FieldError::not_supported("operator", operator, &Operator::KNOWN));
        errors.extend(value_errors(&key, &values));
        Err(errors)
    }

    /// The label.
    pub fn key(&self) -> &Str {
        &self.key
    }

    /// What is asked of it.
    pub fn operator(&self) -> Operator {
        self.operator
    }

    /// The values, as given.
    pub fn values(&self) -> &[Str] {
        &self.values
    }

    /// Whether these labels fulfil it.
    pub fn matches(&self, labels: &StrMap) -> bool {
        fulfils(self.operator, &self.values, labels.get(&self.key))
    }
}

pub(super) fn key_errors(key: &str, field: &str) -> Vec<FieldError> {
    let details = names::qualified_name(key);
    let error = || FieldError::invalid(field, key, details.join("; "));
    (!details.is_empty()).then(error).into_iter().collect()
}

fn count_errors(operator: Operator, values: &[Str]) -> Vec<FieldError> {
    use Operator::*;
    let (is_right, detail) = match operator {
        In | NotIn => {
            (!values.is_empty(), "for 'in', 'notin' operators, values set can't be empty")
        }
        Equals | DoubleEquals | NotEquals => {
            (values.len() == 1, "exact-match compatibility requires one single value")
        }
        Exists | DoesNotExist => {
            (values.is_empty(), "values set must be empty for exists and does not exist")
        }
        GreaterThan | LessThan => {
            (values.len() == 1, "for 'Gt', 'Lt' operators, exactly one value is required")
        }
    };
    let all = || values.iter().map(|value| value.to_string()).collect::<Vec<_>>();
    let mut errors = Vec::new();
    if !is_right {
        errors.push(FieldError::invalid("values", all(), detail));
    }
    if matches!(operator, GreaterThan | LessThan) {
        let no_number = |value: &str| value.parse::<i64>().is_err();
        let bad = values.iter().enumerate().filter(|(_, value)| no_number(value));
        errors.extend(bad.map(|(index, value)| {
            let detail = "for 'Gt', 'Lt' operators, the value must be an integer";
            FieldError::invalid(format!("values[{index}]"), &**value, detail)
        }));
    }
    errors
}

fn value_errors(key: &str, values: &[Str]) -> Vec<FieldError> {
    let of_value = |(index, value): (usize, &Str)| {
        let details = names::label_value(value);
        let path = format!("values[{index}][{key}]");
        (!details.is_empty()).then(|| FieldError::invalid(path, &**value, details.join("; ")))
    };
    values.iter().enumerate().filter_map(of_value).collect()
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use Operator::*;
        let sign = match self.operator {
            Exists => return write!(f, "{}", self.key),
            DoesNotExist => return write!(f, "!{}", self.key),
            Equals => "=",
            DoubleEquals => "==",
            NotEquals => "!=",
            GreaterThan => ">",
            LessThan => "<",
            In => " in ",
            NotIn => " notin ",
        };
        let mut values: Vec<&str> = self.values.iter().map(|value| &**value).collect();
        values.sort_unstable();
        let values = values.join(",");
        match self.operator {
            In | NotIn => write!(f, "{}{sign}({values})", self.key),
            _ => write!(f, "{}{sign}{values}", self.key),
        }
    }
}

/// Requirements that must all be fulfilled; without any, everything is selected
/// (`labels.Selector`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selector {
    /// The requirements, in the order in which they are printed.
    pub requirements: Vec<Requirement>,
}

impl Selector {
    /// Reads the text of `-l`. The error is what kubectl and the API server print.
    pub fn parse(text: &str) -> Result<Selector, String> {
        super::parse::parse(text).map(Selector::sorted)
    }

    /// A selector with its requirements in the order of their keys, which its canonical text has.
    pub fn sorted(mut requirements: Vec<Requirement>) -> Selector {
        requirements.sort_by(|a, b| a.key.cmp(&b.key));
        Selector { requirements }
    }

    /// Whether it selects everything.
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }

    /// Whether these labels are selected.
    pub fn matches(&self, labels: &StrMap) -> bool {
        self.requirements.iter().all(|requirement| requirement.matches(labels))
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, requirement) in self.requirements.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma}{requirement}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_requirement_says_all_that_is_wrong_with_it() {
        let errors = Requirement::new("a b".into(), Operator::In, vec![]).unwrap_err();
        let text = FieldError::aggregate(&errors);
        assert!(text.starts_with("[key: Invalid value: \"a b\": name part must consist"), "{text}");
        let end =
            "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty]";
        assert!(text.ends_with(end), "{text}");
    }

    #[test]
    fn an_unknown_operator_is_told_the_known_ones() {
        let errors = Requirement::from_name("a".into(), "~", vec![]).unwrap_err();
        assert_eq!(
            FieldError::aggregate(&errors),
            "operator: Unsupported value: \"~\": supported values: \"in\", \"notin\", \"=\", \
             \"==\", \"!=\", \"gt\", \"lt\", \"exists\", \"!\""
        );
    }

    #[test]
    fn more_and_less_compare_whole_numbers_only() {
        let two: [Str; 1] = ["2".into()];
        let is = |operator, label: &str| fulfils(operator, &two, Some(&label.into()));
        assert!(is(Operator::GreaterThan, "10") && !is(Operator::GreaterThan, "2"));
        assert!(is(Operator::LessThan, "-1") && !is(Operator::LessThan, "1.5"));
        assert!(!fulfils(Operator::LessThan, &two, None));
    }
}
