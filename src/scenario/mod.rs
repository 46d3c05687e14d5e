//! A scenario file in, a run out; and the scenarios that ship.

#[cfg(test)]
mod cache_age_tests;
mod checkpoints;
mod complete;
mod crowd;
mod describe;
pub mod expect;
pub mod expectation;
mod follow;
pub mod format;
mod ledger;
mod load;
mod metrics;
mod pending;
mod put_off;
pub mod report;
mod repository;
mod run;
#[allow(clippy::module_inception)]
mod scenario;
pub mod schedule;
mod shell;
mod shipped;
mod story;
mod text;

pub use follow::{Followed, Follower};
pub use format::{FormatError, In};
pub use metrics::Sample;
pub use put_off::PutOff;
pub use run::{Before, INPUTS_MAX, Input, Run};
pub use scenario::Scenario;
pub use shell::{completions, perform, reads_input};
pub use shipped::{DEFAULT, Shipped, shipped};
pub use story::{Entry, Told, Turn};
pub use text::Text;
