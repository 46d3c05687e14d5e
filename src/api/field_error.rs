//! What validation says about one field of an object: which field, what is wrong, the bad value and
//! why, in the words that Kubernetes sends.
//!
//! Follows `pkg/util/validation/field/errors.go` of
//! <https://github.com/kubernetes/apimachinery/tree/release-1.36>. Left out: where an error comes
//! from (handwritten or declarative validation), which no user sees.

use std::fmt;

use super::Value;

/// One thing wrong with one field (`field.Error`).
#[derive(Clone, Debug, PartialEq)]
pub struct FieldError {
    /// What sort of wrong.
    pub kind: FieldErrorKind,
    /// The path, such as `spec.containers[0].image`.
    pub field: String,
    /// The bad value; not printed for the kinds that have none.
    pub value: Value,
    /// More words; may be empty.
    pub detail: String,
}

/// The sorts of wrong (`field.ErrorType`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldErrorKind {
    /// A referenced value does not exist.
    NotFound,
    /// A value is missing.
    Required,
    /// A value is there twice.
    Duplicate,
    /// A value is malformed or out of bounds.
    Invalid,
    /// A value is none of those that are known.
    NotSupported,
    /// A value is well formed, but not allowed here.
    Forbidden,
    /// A value is too long.
    TooLong,
    /// A list has too many items.
    TooMany,
}

impl FieldErrorKind {
    /// The word with which a message starts.
    pub const fn as_str(self) -> &'static str {
        match self {
            FieldErrorKind::NotFound => "Not found",
            FieldErrorKind::Required => "Required value",
            FieldErrorKind::Duplicate => "Duplicate value",
            FieldErrorKind::Invalid => "Invalid value",
            FieldErrorKind::NotSupported => "Unsupported value",
            FieldErrorKind::Forbidden => "Forbidden",
            FieldErrorKind::TooLong => "Too long",
            FieldErrorKind::TooMany => "Too many",
        }
    }

    /// The reason of the cause in a `Status` (`metav1.CauseType`).
    pub const fn reason(self) -> &'static str {
        match self {
            FieldErrorKind::NotFound => "FieldValueNotFound",
            FieldErrorKind::Required => "FieldValueRequired",
            FieldErrorKind::Duplicate => "FieldValueDuplicate",
            FieldErrorKind::Invalid => "FieldValueInvalid",
            FieldErrorKind::NotSupported => "FieldValueNotSupported",
            FieldErrorKind::Forbidden => "FieldValueForbidden",
            FieldErrorKind::TooLong => "FieldValueTooLong",
            FieldErrorKind::TooMany => "FieldValueTooMany",
        }
    }

    const fn shows_value(self) -> bool {
        !matches!(
            self,
            FieldErrorKind::Required | FieldErrorKind::Forbidden | FieldErrorKind::TooLong
        )
    }
}

impl FieldError {
    /// A value that is malformed or out of bounds.
    pub fn invalid(
        field: impl Into<String>,
        value: impl Into<Value>,
        detail: impl Into<String>,
    ) -> FieldError {
        FieldError {
            kind: FieldErrorKind::Invalid,
            field: field.into(),
            value: value.into(),
            detail: detail.into(),
        }
    }

    /// A value that is missing.
    pub fn required(field: impl Into<String>, detail: impl Into<String>) -> FieldError {
        let value = Value::Null;
        let kind = FieldErrorKind::Required;
        FieldError { kind, field: field.into(), value, detail: detail.into() }
    }

    /// A value that is not allowed here.
    pub fn forbidden(field: impl Into<String>, detail: impl Into<String>) -> FieldError {
        let value = Value::Null;
        let kind = FieldErrorKind::Forbidden;
        FieldError { kind, field: field.into(), value, detail: detail.into() }
    }

    /// A value that is none of `known`.
    pub fn not_supported(
        field: impl Into<String>,
        value: impl Into<Value>,
        known: &[&str],
    ) -> FieldError {
        let known: Vec<_> = known.iter().map(|value| quoted(value)).collect();
        FieldError {
            kind: FieldErrorKind::NotSupported,
            field: field.into(),
            value: value.into(),
            detail: format!("supported values: {}", known.join(", ")),
        }
    }

    /// All of them in one text (`field.ErrorList.ToAggregate`): alone as it is, several in
    /// brackets, none twice.
    pub fn aggregate(errors: &[FieldError]) -> String {
        let mut texts: Vec<String> = Vec::new();
        for text in errors.iter().map(FieldError::to_string) {
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        if let [text] = &mut *texts {
            std::mem::take(text)
        } else {
            format!("[{}]", texts.join(", "))
        }
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.kind.as_str())?;
        if self.kind.shows_value() {
            match &self.value {
                Value::String(text) => write!(f, ": {}", quoted(text))?,
                Value::Object(fields) => write!(f, ": {}", in_go_order(fields))?,
                value => write!(f, ": {value}")?,
            }
        }
        if self.detail.is_empty() { Ok(()) } else { write!(f, ": {}", self.detail) }
    }
}

/// Go writes the fields of a struct in the order in which they are declared. Those of the server's
/// own types, which begin with a capital, begin with their type.
fn in_go_order(fields: &serde_json::Map<String, Value>) -> String {
    let kind = fields.iter().filter(|(name, _)| *name == "Type");
    let others = fields.iter().filter(|(name, _)| *name != "Type");
    let field = |(name, value): (&String, &Value)| format!("{}:{value}", Value::from(&**name));
    let all: Vec<String> = kind.chain(others).map(field).collect();
    format!("{{{}}}", all.join(","))
}

impl std::error::Error for FieldError {}

/// A text in double quotes as Go's `%q` prints it.
pub fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\x07' => out.push_str("\\a"),
            '\x08' => out.push_str("\\b"),
            '\x0c' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\x0b' => out.push_str("\\v"),
            c if c.is_ascii_control() => out.push_str(&format!("\\x{:02x}", u32::from(c))),
            c if c.is_control() => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_reads_as_kubernetes_writes_it() {
        let errors = [
            FieldError::invalid("spec.replicas", -1, "must be greater than or equal to 0"),
            FieldError::invalid("metadata.name", "A\n", ""),
            FieldError::required("spec.selector", ""),
            FieldError::forbidden("spec.strategy.rollingUpdate", "may not be specified"),
            FieldError::not_supported("spec.restartPolicy", "Maybe", &["Always", "Never"]),
        ];
        assert_eq!(
            errors.each_ref().map(FieldError::to_string),
            [
                "spec.replicas: Invalid value: -1: must be greater than or equal to 0",
                "metadata.name: Invalid value: \"A\\n\"",
                "spec.selector: Required value",
                "spec.strategy.rollingUpdate: Forbidden: may not be specified",
                "spec.restartPolicy: Unsupported value: \"Maybe\": supported values: \"Always\", \
                 \"Never\"",
            ]
        );
    }

    #[test]
    fn several_errors_stand_in_brackets_and_none_stands_twice() {
        let one = FieldError::required("a", "");
        let two = FieldError::required("b", "");
        assert_eq!(FieldError::aggregate(&[one.clone(), one.clone()]), "a: Required value");
        assert_eq!(FieldError::aggregate(&[one, two]), "[a: Required value, b: Required value]");
    }

    #[test]
    fn quotes_are_those_of_go() {
        assert_eq!(quoted("웹 \"x\"\u{1}\u{85}\\"), "\"웹 \\\"x\\\"\\x01\\u0085\\\\\"");
    }
}
