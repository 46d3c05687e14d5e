//! The loops. A controller reads its cache and writes requests; what a pass decided is a `Plan`.

pub mod change;
pub mod cron_job;
pub mod daemon_set;
pub mod deployment;
pub mod disruption;
pub mod endpoint_slice;
pub mod fallback;
pub mod garbage_collector;
pub mod gitops;
pub mod horizontal_autoscaler;
pub mod job;
#[cfg(test)]
mod lockstep;
pub mod namespace;
pub mod node_lifecycle;
pub mod operator;
pub mod order;
pub mod owned;
pub mod pass_run;
pub mod plan;
pub mod pod_garbage_collector;
pub mod promises;
pub mod replica_set;
pub mod resource_quota;
pub mod scheduler;
pub mod stateful_set;
pub mod taints;

pub use change::{Change, ChangeKind, Context, Woken};
pub use fallback::Fallback;
pub use pass_run::{Ended, PassRun, Step};
pub(crate) use plan::here;
pub use plan::{Batch, Deed, EventNote, Fact, Finish, Intent, Plan, Promise, Spot};
