//! The Job controller of Kubernetes 1.36, level-triggered in both lanes, after
//! <https://github.com/kubernetes/kubernetes/tree/v1.36.0/pkg/controller/job>; the deletion of
//! finished Jobs (pkg/controller/ttlafterfinished) is done by the same loop.
//!
//! A pod of a Job carries a finalizer until it was counted: its uid is written into the status, the
//! finalizer goes, the number rises. So a controller that dies in between counts no pod twice and
//! none too few. What is kept in memory only, as in Kubernetes, is the back-off between pods.
//!
//! Left out: `managedBy`, metrics.

mod backoff;
mod handlers;
mod indexes;
mod job_view;
mod manage;
mod per_index;
mod policy;
mod sync;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_per_index;
mod tracking;

pub use handlers::Memory;
pub use indexes::Indexes;
pub use job_view::{JobSpec, JobStatus};
