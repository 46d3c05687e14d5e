//! The patches that the server carries out beside JSON merge patch (`merge_patch.rs`): JSON patch,
//! strategic merge patch, and server-side apply.

mod json_patch;
mod strategic;

use crate::api::{ObjectKey, Value};

use super::{ApiError, Part, Reason};

pub use json_patch::json_patch;
pub use strategic::{merge_key, strategic};

/// A patch with its type.
#[derive(Clone, Debug, PartialEq)]
pub struct PatchRequest {
    /// The part that it reaches.
    pub part: Part,
    /// The object.
    pub key: ObjectKey,
    /// What to do to it.
    pub patch: Patch,
}

/// A patch, by its type.
#[derive(Clone, Debug, PartialEq)]
pub enum Patch {
    /// `application/json-patch+json`: operations, in order.
    Json(Value),
    /// `application/merge-patch+json`.
    Merge(Value),
    /// `application/strategic-merge-patch+json`: lists are merged by their keys.
    Strategic(Value),
    /// `application/apply-patch+yaml`: everything that the manager wants.
    Apply {
        /// The configuration.
        config: Value,
        /// Whether fields of others are taken over.
        force: bool,
    },
}

/// How long a JSON patch may be.
const MAX_OPERATIONS: usize = 10_000;

/// `value` with a patch on it; an application is not made here.
pub fn patched(patch: &Patch, mut value: Value) -> Result<Value, ApiError> {
    match patch {
        Patch::Json(operations) => {
            let count = operations.as_array().map_or(0, Vec::len);
            if count > MAX_OPERATIONS {
                let text = format!(
                    "Request entity too large: limit is {MAX_OPERATIONS}: The allowed maximum \
                     operations in a JSON patch is {MAX_OPERATIONS}, got {count}"
                );
                return Err(ApiError::new(Reason::BadRequest, text));
            }
            json_patch(operations, &mut value)?;
        }
        Patch::Merge(patch) => super::merge_patch::merge(&mut value, patch),
        Patch::Strategic(patch) => strategic(patch, &mut value)?,
        Patch::Apply { .. } => {}
    }
    Ok(value)
}

/// What the server answers to a patch that does not fit the object.
fn unprocessable(why: &str) -> ApiError {
    let text = format!("the server rejected our request due to an error in our request: {why}");
    ApiError::new(Reason::Invalid, text)
}
