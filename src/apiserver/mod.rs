//! The API server: a request in, a response and watch events out.

mod completion;
pub mod defaults;
pub mod deletion;
mod error;
mod generic_defaults;
mod merge_patch;
mod request;
mod server;
mod store;
mod strategy;
pub mod validation;
mod watch_event;

pub use error::{ApiError, Reason};
pub use request::{DeleteOptions, Part, Preconditions, Propagation, Request, Response, Verb};
pub use server::ApiServer;
pub use store::{Commit, EVENT_LIMIT, HISTORY_LIMIT, OBJECT_LIMIT, Store};
pub use watch_event::{WatchEvent, WatchEventType};
