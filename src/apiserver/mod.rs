//! The API server: a request in, a response and watch events out.

pub mod admission;
mod admitting;
mod apply;
mod autoscaling_defaults;
mod completion;
pub mod custom;
pub mod defaults;
pub mod deletion;
mod error;
pub mod eviction;
mod field_selector;
mod generate_name;
mod generic_defaults;
mod list;
pub mod managed_fields;
mod merge_patch;
pub mod patch;
pub mod quota;
mod request;
mod server;
mod store;
mod strategy;
pub mod three_way;
pub mod validation;
mod watch;
mod watch_event;

pub use error::{ApiError, Cause, Reason};
pub use field_selector::{FieldSelector, check_field, field_is};
pub use generate_name::{GENERATE_NAME_TRIES, free_name};
pub use list::{ListOptions, Listed, validate_list_options};
pub use patch::{Patch, PatchRequest};
pub use request::{DeleteOptions, Part, Preconditions, Propagation, Request, Response, Verb};
pub use server::ApiServer;
pub use store::{Commit, EVENT_LIMIT, HISTORY_LIMIT, OBJECT_LIMIT, Store};
pub use watch::Watch;
pub use watch_event::{WatchEvent, WatchEventType};
