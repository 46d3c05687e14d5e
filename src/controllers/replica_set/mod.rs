//! The ReplicaSet controller of Kubernetes 1.36, level-triggered (`sync`) and edge-triggered
//! (`on_change`), after
//! <https://github.com/kubernetes/kubernetes/tree/v1.36.0/pkg/controller/replicaset>. Both flavours
//! share how pods are made, chosen, deleted, adopted and released, and what is told of it; they
//! differ only in what they go by.

mod claim;
pub mod deletion_order;
mod handlers;
mod ledger;
mod on_change;
mod pods;
pub mod status;
mod sync;
#[cfg(test)]
mod tests;

pub use claim::Claim;
pub use deletion_order::DeletionOrder;
pub use handlers::{matching_sets, wakes};
pub use ledger::Ledger;
pub use on_change::{on_change, on_resume, on_timer};
pub use pods::{BURST, SLOW_START, creations, slow_start};
pub use sync::{related_pods, siblings, sync, sync_in_bursts};
