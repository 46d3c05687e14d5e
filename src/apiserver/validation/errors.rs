//! A list of field errors, and the checks that come back everywhere.

use serde::Serialize;

use crate::api::{FieldError, FieldErrorKind, Value};

/// Field errors in the order in which they were found.
#[derive(Default)]
pub struct Errors(Vec<FieldError>);

/// How many errors are kept.
const MAX_ERRORS: usize = 64;

impl Errors {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// In Kubernetes' words.
    pub fn into_words(self) -> Vec<String> {
        self.0.iter().map(FieldError::to_string).collect()
    }

    /// Adds errors found elsewhere.
    pub fn extend(&mut self, errors: impl IntoIterator<Item = FieldError>) {
        let room = MAX_ERRORS.saturating_sub(self.0.len());
        self.0.extend(errors.into_iter().take(room));
    }

    fn push(&mut self, kind: FieldErrorKind, path: &str, value: Value, detail: &str) {
        self.extend([FieldError { kind, field: path.into(), value, detail: detail.into() }]);
    }

    /// The field must be there.
    pub fn required(&mut self, path: &str, detail: &str) {
        self.extend([FieldError::required(path, detail)]);
    }

    /// The value breaks a rule.
    pub fn invalid(&mut self, path: &str, value: impl Serialize, detail: &str) {
        let value = serde_json::to_value(value).unwrap_or(Value::Null);
        self.push(FieldErrorKind::Invalid, path, value, detail);
    }

    /// The value is there already.
    pub fn duplicate(&mut self, path: &str, value: &str) {
        self.push(FieldErrorKind::Duplicate, path, value.into(), "");
    }

    /// The value names nothing.
    pub fn not_found(&mut self, path: &str, value: &str) {
        self.push(FieldErrorKind::NotFound, path, value.into(), "");
    }

    /// The field may not be set like this.
    pub fn forbidden(&mut self, path: &str, detail: &str) {
        self.extend([FieldError::forbidden(path, detail)]);
    }

    /// The value has more than `max` bytes.
    pub fn too_long(&mut self, path: &str, max: usize) {
        let detail = format!("may not be more than {max} bytes");
        self.push(FieldErrorKind::TooLong, path, Value::Null, &detail);
    }

    /// The number must not be below 0.
    pub fn non_negative(&mut self, path: &str, number: impl Into<i64>) {
        let number = number.into();
        if number < 0 {
            self.invalid(path, number, "must be greater than or equal to 0");
        }
    }

    /// The number must lie between these two.
    pub fn in_range(&mut self, path: &str, number: i64, min: i64, max: i64) {
        if !(min..=max).contains(&number) {
            let detail = format!("must be between {min} and {max}, inclusive");
            self.invalid(path, number, &detail);
        }
    }

    /// The value must be one of these.
    pub fn one_of(&mut self, path: &str, value: &str, supported: &[&str]) {
        if !supported.contains(&value) {
            self.extend([FieldError::not_supported(path, value, supported)]);
        }
    }

    /// Each rule that a value breaks.
    pub fn rules(&mut self, path: &str, value: &str, broken: Vec<String>) {
        for detail in broken {
            self.invalid(path, value, &detail);
        }
    }
}
