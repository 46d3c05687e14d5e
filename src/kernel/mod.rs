//! The discrete-event kernel. It knows no Kubernetes: time, randomness, an agenda and a trace hash.

mod agenda;
mod rng;
mod time;
mod trace;

pub use agenda::{Agenda, Entry};
pub use rng::{Rng, stable_hash};
pub use time::Time;
pub use trace::TraceHash;
