//! The StatefulSet controller of Kubernetes 1.36, level-triggered in both lanes, after
//! <https://github.com/kubernetes/kubernetes/tree/v1.36.0/pkg/controller/statefulset>.
//!
//! Each ordinal has one pod, whose name is the guarantee: it is made again only when the pod of
//! that name is gone from the API server. One at a time, in order, each ready before the next,
//! unless `podManagementPolicy` is Parallel. So a pod that never gets ready holds up everything
//! behind it, the repair of its own template too (kubernetes/kubernetes#67250).
//!
//! One pod at a time is updated: `maxUnavailable` is off by default in 1.36
//! (<https://github.com/kubernetes/kubernetes/pull/137904>), and the API server drops the field.
//! Left out: the retention policy of claims (they stay), the repair of a pod's labels. Claims are
//! stored, and nobody binds them.

mod pods;
mod set_view;
mod sync;
#[cfg(test)]
mod tests;

pub use set_view::{SetSpec, SetStatus};
pub use sync::{sync, wakes};
