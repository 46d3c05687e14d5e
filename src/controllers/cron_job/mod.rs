//! The CronJob controller of Kubernetes 1.36, level-triggered in both lanes, after
//! <https://github.com/kubernetes/kubernetes/tree/v1.36.0/pkg/controller/cronjob>
//! (`cronjob_controllerv2.go`): of the moments that were missed only the most recent is made good.
//!
//! Simplified: a Job enters `status.active` with the pass that sees it, not with the one that made
//! it, since a plan does not know the uid that the server will give. Time zones are those of a
//! small table (`api::TimeZone`).

mod starts;
mod sync;
#[cfg(test)]
mod tests;

pub use sync::{sync, wakes};
