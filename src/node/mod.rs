//! The kubelet of a node and what it needs: pods, containers, probes, image pulls, back-off.
//!
//! Pure and on a virtual clock. `Kubelet::sync` decides one pass over one pod; what takes time is a
//! `Timer` that the caller gives back when it is due. Level-triggered in both lanes: an event names
//! a pod, and the pass looks at all of it.

mod admission;
pub mod backoff;
mod command;
mod container;
mod faults;
pub mod go_duration;
mod host;
pub mod image;
pub mod image_manager;
pub mod image_name;
mod kubelet;
mod logs;
pub mod pod_actions;
pub mod pod_conditions;
pub mod pod_phase;
mod pod_record;
mod pod_worker;
pub mod probe;
mod probing;
pub mod registration;
pub mod restart_policy;
mod starting;
mod status;
mod stopping;
mod timer;

#[cfg(test)]
mod life_tests;

pub use image::{ImageBehaviour, Images, Pull};
pub use kubelet::Kubelet;
pub use logs::Written;
pub use timer::{Fired, Timer};
