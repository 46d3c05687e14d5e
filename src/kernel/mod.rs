//! The discrete-event kernel. It knows no Kubernetes: time, randomness, an agenda, a trace hash and
//! a map by hash.

mod agenda;
mod hashed;
mod rng;
mod time;
mod trace;

pub use agenda::{Agenda, Entry};
pub use hashed::Hashed;
pub use rng::{Rng, stable_hash};
pub use time::Time;
pub use trace::TraceHash;
