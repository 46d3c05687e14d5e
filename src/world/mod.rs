//! Puts the parts together: a cluster that runs, its network, its faults, and what becomes of it.

mod active_faults;
mod events;
pub mod fault;
mod id;
mod lane;
mod latecomers;
mod lifecycle;
mod mind;
mod options;
mod passes;
mod process;
mod record;
mod requests;
mod step;
mod stream;
#[cfg(test)]
mod tests;
mod truth;
mod truth_workloads;
mod verdict;
mod watching;
#[allow(clippy::module_inception)]
mod world;

pub use active_faults::ActiveFaults;
pub use fault::{
    ContainerTrouble, CrashPoint, Fault, FaultError, How, ServerTrouble, Target, Trap,
};
pub use id::ControllerId;
pub use lane::{Lane, LaneId, Simulation};
pub use options::{Flavour, Knobs, Network, Options};
pub use passes::THINK;
pub use process::{ActivePass, EdgeItem, Process};
pub use record::{Cause, Occurrence, PassRecord, Record};
pub use requests::RequestInFlight;
pub use stream::{Fate, Flight, Stream};
pub use truth::{PodCount, Shortfall};
pub use verdict::Verdict;
pub use world::{Activity, Totals, World, lease_key};
