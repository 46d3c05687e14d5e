//! Puts the parts together: a cluster that runs, its network, its faults, and what becomes of it.

mod active_faults;
mod cache_age;
mod election;
mod events;
pub mod fault;
mod flights;
mod git;
mod heartbeat;
mod held;
mod id;
mod knob;
mod knobs_turned;
#[cfg(test)]
mod lab;
mod lane;
mod lifecycle;
mod memory;
mod metrics;
mod mind;
#[cfg(test)]
mod node_tests;
mod on_demand;
mod options;
mod passes;
mod process;
mod processes;
mod provider;
mod record;
mod request_trap;
mod requests;
#[cfg(test)]
mod scheduling_tests;
mod server_limit;
mod step;
mod stream;
#[cfg(test)]
mod tests;
mod trap;
mod truth;
mod truth_workloads;
mod verdict;
mod watching;
mod with_open_eyes;
#[allow(clippy::module_inception)]
mod world;

pub use active_faults::ActiveFaults;
pub use election::{Candidate, lease_of};
pub use fault::{
    ContainerTrouble, CrashPoint, Fault, FaultError, How, ServerTrouble, Target, Trap,
};
pub use git::Repository;
pub use held::Release;
pub use id::ControllerId;
pub use knob::{KNOBS, KnobChange, Manner};
pub use lane::{Lane, LaneId, Simulation};
pub use metrics::{LOADS_MAX, Load};
pub use options::{Flavour, Knobs, Network, Options};
pub use passes::THINK;
pub use process::{ActivePass, EdgeItem, Process};
pub use provider::Provider;
pub use record::{ACTS_KEPT, Act, Arrival, Cause, Occurrence, PassRecord, Record, Trip};
pub use request_trap::{Refusal, RequestTrap};
pub use requests::RequestInFlight;
pub use server_limit::{QUEUE_MAX, SEATS_MAX, ServerLimit};
pub use stream::{Fate, Flight, Stream};
pub use truth::{PodCount, Shortfall};
pub use verdict::Verdict;
pub use world::{Activity, Totals, World};
