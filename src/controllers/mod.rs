//! The loops. A controller reads its cache and writes requests; what a pass decided is a `Plan`.

pub mod change;
pub mod pass_run;
pub mod plan;
pub mod promises;
pub mod replica_set;

pub use change::{Change, ChangeKind, Context, Woken};
pub use pass_run::{Ended, PassRun, Step};
pub use plan::{Batch, Deed, EventNote, Fact, Finish, Intent, Plan, Promise};
