//! The API server: a request in, a response and watch events out.

pub mod admission;
mod admitting;
pub mod custom;
pub mod defaults;
pub mod deletion;
mod error;
pub mod eviction;
mod merge_patch;
pub mod quota;
mod request;
mod server;
mod store;
mod strategy;
pub mod validation;
mod watch_event;

pub use error::{ApiError, Cause, Reason};
pub use request::{DeleteOptions, Part, Preconditions, Propagation, Request, Response, Verb};
pub use server::ApiServer;
pub use store::{Commit, EVENT_LIMIT, HISTORY_LIMIT, OBJECT_LIMIT, Store};
pub use watch_event::{WatchEvent, WatchEventType};
