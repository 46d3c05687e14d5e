//! What the API server answers when it refuses: `metav1.Status`, with Kubernetes' reasons, codes
//! and words (apimachinery `pkg/api/errors`).

use crate::api::{Kind, Str};

/// A refusal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ApiError {
    /// In one word.
    pub reason: Reason,
    /// In Kubernetes' sentence.
    pub message: String,
    /// What is behind it, where a client looks for that.
    pub cause: Option<Box<Cause>>,
}

/// `metav1.StatusCause`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// In one word, such as `DisruptionBudget`.
    pub reason: Str,
    /// In a sentence.
    pub message: Str,
    /// Which field; may be empty.
    pub field: Str,
}

/// `metav1.StatusReason`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Reason {
    AlreadyExists,
    BadRequest,
    Conflict,
    Expired,
    Forbidden,
    Invalid,
    InternalError,
    MethodNotAllowed,
    NotFound,
    ServiceUnavailable,
    Timeout,
    TooManyRequests,
    UnsupportedMediaType,
}

impl Reason {
    /// The HTTP status code.
    pub fn code(self) -> u16 {
        match self {
            Reason::BadRequest => 400,
            Reason::Forbidden => 403,
            Reason::NotFound => 404,
            Reason::MethodNotAllowed => 405,
            Reason::AlreadyExists | Reason::Conflict => 409,
            Reason::Expired => 410,
            Reason::UnsupportedMediaType => 415,
            Reason::Invalid => 422,
            Reason::TooManyRequests => 429,
            Reason::InternalError => 500,
            Reason::ServiceUnavailable => 503,
            Reason::Timeout => 504,
        }
    }

    /// The word on the wire.
    pub fn word(self) -> &'static str {
        match self {
            Reason::AlreadyExists => "AlreadyExists",
            Reason::BadRequest => "BadRequest",
            Reason::Conflict => "Conflict",
            Reason::Expired => "Expired",
            Reason::Forbidden => "Forbidden",
            Reason::Invalid => "Invalid",
            Reason::InternalError => "InternalError",
            Reason::MethodNotAllowed => "MethodNotAllowed",
            Reason::NotFound => "NotFound",
            Reason::ServiceUnavailable => "ServiceUnavailable",
            Reason::Timeout => "Timeout",
            Reason::TooManyRequests => "TooManyRequests",
            Reason::UnsupportedMediaType => "UnsupportedMediaType",
        }
    }
}

/// `deployments.apps`, or `pods` in the core group: how messages name a resource.
fn resource(kind: Kind) -> String {
    match kind.group() {
        "" => kind.info().plural.to_string(),
        group => format!("{}.{group}", kind.info().plural),
    }
}

impl ApiError {
    /// A refusal of this reason, in these words.
    pub fn new(reason: Reason, message: impl Into<String>) -> ApiError {
        ApiError { reason, message: message.into(), cause: None }
    }

    /// There is no such object.
    pub fn not_found(kind: Kind, name: &str) -> ApiError {
        Self::new(Reason::NotFound, format!("{} {name:?} not found", resource(kind)))
    }

    /// Whether it says that there is no such object.
    pub fn is_not_found(&self) -> bool {
        self.reason == Reason::NotFound
    }

    /// There is one of that name already.
    pub fn already_exists(kind: Kind, name: &str) -> ApiError {
        Self::new(Reason::AlreadyExists, format!("{} {name:?} already exists", resource(kind)))
    }

    /// Somebody else was faster.
    pub fn conflict(kind: Kind, name: &str, why: &str) -> ApiError {
        let what = resource(kind);
        let text = format!("Operation cannot be fulfilled on {what} {name:?}: {why}");
        Self::new(Reason::Conflict, text)
    }

    /// Somebody else changed the object since it was read.
    pub fn modified(kind: Kind, name: &str) -> ApiError {
        let why = "the object has been modified; please apply your changes to the latest version \
                   and try again";
        Self::conflict(kind, name, why)
    }

    /// The version that is asked for is no longer kept.
    pub fn expired(why: impl Into<String>) -> ApiError {
        Self::new(Reason::Expired, why)
    }

    /// The object breaks rules; `errors` are field errors in Kubernetes' words.
    pub fn invalid(kind: Kind, name: &str, errors: &[String]) -> ApiError {
        let what = match kind.group() {
            "" => kind.info().kind.to_string(),
            group => format!("{}.{group}", kind.info().kind),
        };
        let list = match errors {
            [one] => one.clone(),
            many => format!("[{}]", many.join(", ")),
        };
        Self::new(Reason::Invalid, format!("{what} {name:?} is invalid: {list}"))
    }

    /// A rule of the cluster forbids it.
    pub fn forbidden(kind: Kind, name: &str, why: &str) -> ApiError {
        Self::new(Reason::Forbidden, format!("{} {name:?} is forbidden: {why}", resource(kind)))
    }
}
