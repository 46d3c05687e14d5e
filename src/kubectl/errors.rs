//! kubectl's words for what went wrong (`pkg/cmd/util/helpers.go`).

use std::fmt;

use crate::apiserver::{ApiError, Reason};

/// A line that kubectl does not understand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageError {
    /// In kubectl's words.
    pub message: String,
    /// The nearest line, word or flag that would be right.
    pub suggestion: Option<String>,
}

impl UsageError {
    /// An error without a suggestion.
    pub fn plain(message: impl Into<String>) -> UsageError {
        UsageError { message: message.into(), suggestion: None }
    }
}

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.message)?;
        match &self.suggestion {
            Some(word) => write!(f, "\n\nDid you mean this?\n\t{word}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for UsageError {}

/// What kubectl prints when the API server refuses. `doing` is what it was about, such as
/// `creating "STDIN"`; it stands in the message unless the object was invalid.
pub fn refused(error: &ApiError, doing: Option<&str>) -> String {
    if error.reason == Reason::Invalid {
        return invalid(&error.message);
    }
    let message = match doing {
        Some(doing) => format!("error when {doing}: {}", error.message),
        None => error.message.clone(),
    };
    format!("Error from server ({}): {message}", error.reason.word())
}

/// `Deployment.apps "web" is invalid: [a, b]`, which kubectl prints with each error on its own
/// line.
fn invalid(message: &str) -> String {
    let Some((about, errors)) = message.split_once(" is invalid: ") else {
        return format!("The request is invalid: {message}");
    };
    let (kind, name) = about.split_once(' ').unwrap_or((about, ""));
    let kind = kind.split('.').next().unwrap_or(kind);
    let start = format!("The {kind} {name} is invalid: ");
    let Some(list) = errors.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) else {
        return start + errors;
    };
    let mut text = start;
    for error in separate(list) {
        text.push_str("\n* ");
        text.push_str(error);
    }
    text
}

/// Takes a list of field errors apart: each begins with a path and one of Kubernetes' words.
fn separate(list: &str) -> Vec<&str> {
    const WORDS: [&str; 10] = [
        "Required value",
        "Invalid value",
        "Unsupported value",
        "Duplicate value",
        "Forbidden",
        "Not found",
        "Too long",
        "Too many",
        "Too few",
        "Internal error",
    ];
    let begins = |text: &str| {
        let Some((path, rest)) = text.split_once(": ") else {
            return false;
        };
        !path.contains([' ', ',', '"']) && WORDS.iter().any(|word| rest.starts_with(word))
    };
    let mut errors = Vec::new();
    let mut start = 0;
    for (at, _) in list.match_indices(", ") {
        if list.get(at + 2..).is_some_and(begins) {
            errors.extend(list.get(start..at));
            start = at + 2;
        }
    }
    errors.extend(list.get(start..));
    errors
}

/// An object that is not there.
pub fn not_found(resource: &str, name: &str) -> String {
    format!("Error from server (NotFound): {resource} {name:?} not found")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Kind;

    #[test]
    fn one_error_stands_on_the_line_and_several_below_it() {
        let one = ["spec.replicas: Invalid value: -1: must be, at least, 0".to_string()];
        let error = ApiError::invalid(Kind::Deployment, "web", &one);
        let line = format!("The Deployment \"web\" is invalid: {}", one[0]);
        assert_eq!(refused(&error, None), line);
        let two = [one[0].clone(), "spec.selector: Required value".into()];
        let error = ApiError::invalid(Kind::Deployment, "web", &two);
        let lines = format!("The Deployment \"web\" is invalid: \n* {}\n* {}", two[0], two[1]);
        assert_eq!(refused(&error, None), lines);
    }
}
