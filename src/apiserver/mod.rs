//! The API server: a request in, a response and watch events out.

pub mod defaults;
mod error;
mod request;
pub mod validation;
mod watch_event;

pub use error::{ApiError, Reason};
pub use request::{DeleteOptions, Part, Preconditions, Propagation, Request, Response, Verb};
pub use watch_event::{WatchEvent, WatchEventType};
