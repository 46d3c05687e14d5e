//! A fault of single requests: the next ones that match are refused, or carried out while their
//! answer is lost.

use std::fmt;

use crate::api::{Kind, Str};
use crate::apiserver::{ApiError, Reason, Request};

use super::fault::{FaultError, Fields, Target, error};

/// A trap for requests.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestTrap {
    /// Of whom.
    pub from: Target,
    /// Only with this verb: create, update, patch, delete, get, bind, evict.
    pub verb: Option<Str>,
    /// Only for this kind of object.
    pub kind: Option<Kind>,
    /// How it is refused.
    pub with: Refusal,
    /// Whether it is carried out all the same: the answer is what is lost.
    pub applied: bool,
    /// How many.
    pub count: u32,
}

/// How a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Refusal {
    Timeout,
    Conflict,
    Forbidden,
    Throttled,
    Internal,
    Unavailable,
}

impl Refusal {
    const ALL: [(Refusal, &'static str); 6] = [
        (Refusal::Timeout, "timeout"),
        (Refusal::Conflict, "conflict"),
        (Refusal::Forbidden, "forbidden"),
        (Refusal::Throttled, "throttled"),
        (Refusal::Internal, "internal"),
        (Refusal::Unavailable, "unavailable"),
    ];

    fn word(self) -> &'static str {
        Self::ALL.iter().find(|(own, _)| *own == self).map_or("", |(_, word)| word)
    }

    fn parse(text: &str) -> Result<Refusal, FaultError> {
        let found = Self::ALL.iter().find(|(_, word)| *word == text);
        let words = Self::ALL.map(|(_, word)| word).join(", ");
        found.map(|(refusal, _)| *refusal).map_or_else(
            || error(Some("with"), format!("with: {text:?} is not one of {words}")),
            Ok,
        )
    }
}

impl RequestTrap {
    pub(super) fn read(fields: &mut Fields) -> Result<RequestTrap, FaultError> {
        if let Some(controller) = fields.0.remove("controller") {
            fields.0.insert("from".into(), controller);
        }
        let verbs = ["create", "update", "patch", "delete", "get", "bind", "evict"];
        let verb = fields.text("verb")?;
        if let Some(verb) = verb.as_ref().filter(|verb| !verbs.contains(&verb.as_str())) {
            let words = verbs.join(", ");
            return error(Some("verb"), format!("verb: {verb:?} is not one of {words}"));
        }
        let with = fields.text("with")?.unwrap_or_else(|| "timeout".into());
        let applied = match fields.text("applied")?.as_deref() {
            None | Some("off" | "false") => false,
            Some("on" | "true") => true,
            Some(text) => {
                return error(Some("applied"), format!("applied: {text:?} is not true or false"));
            }
        };
        Ok(RequestTrap {
            from: fields.target("from")?,
            verb: verb.map(Str::from),
            kind: fields.kind()?,
            with: Refusal::parse(&with)?,
            applied,
            count: fields.count()?,
        })
    }

    /// Whether a request is caught.
    pub fn matches(&self, request: &Request) -> bool {
        let verb = || format!("{:?}", request.verb()).to_ascii_lowercase();
        self.kind.is_none_or(|kind| request.key().kind == kind)
            && self.verb.as_ref().is_none_or(|own| **own == *verb())
    }

    /// What it is answered.
    pub fn answer(&self, request: &Request) -> ApiError {
        let key = request.key();
        let (kind, name) = (key.kind, &*key.name);
        match self.with {
            Refusal::Timeout => ApiError::new(
                Reason::Timeout,
                "Timeout: request did not complete within the allotted timeout",
            ),
            Refusal::Conflict => ApiError::modified(kind, name),
            Refusal::Forbidden => ApiError::forbidden(kind, name, "it is not allowed"),
            Refusal::Throttled => {
                let text =
                    "the server has received too many requests and has asked us to try again later";
                ApiError::new(Reason::TooManyRequests, text)
            }
            Refusal::Internal => ApiError::new(Reason::InternalError, "Internal error occurred"),
            Refusal::Unavailable => {
                let text = "the server is currently unable to handle the request";
                ApiError::new(Reason::ServiceUnavailable, text)
            }
        }
    }
}

impl fmt::Display for RequestTrap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "fail from={}", self.from)?;
        if let Some(verb) = &self.verb {
            write!(f, " verb={verb}")?;
        }
        if let Some(kind) = self.kind {
            write!(f, " kind={}", kind.info().kind)?;
        }
        write!(f, " with={}", self.with.word())?;
        if self.applied {
            f.write_str(" applied=true")?;
        }
        if self.count == 1 { Ok(()) } else { write!(f, " count={}", self.count) }
    }
}
