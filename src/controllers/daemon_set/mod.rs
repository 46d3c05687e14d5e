//! The DaemonSet controller of Kubernetes 1.36, level-triggered in both lanes, after
//! <https://github.com/kubernetes/kubernetes/tree/v1.36.0/pkg/controller/daemon>: one pod for each
//! node that fits, which the scheduler binds by the node affinity that the controller writes.
//!
//! Left out: the back-off before a failed pod is made again. A pass makes pods or deletes some, not
//! both; the other follows with the next.

mod nodes;
mod rolling;
mod set_view;
mod sync;
#[cfg(test)]
mod tests;

pub use nodes::should_run;
pub use set_view::DaemonSpec;
pub use sync::{sync, wakes};
