//! What the page shows, as data. No web types: all of it is tested natively.

mod board;
mod branches;
mod build;
mod catch;
mod costs;
mod divergence;
mod follow;
#[cfg(test)]
mod follow_tests;
pub mod futures;
pub mod inspect;
mod known;
mod link;
pub mod log;
pub mod news;
mod nodes;
pub mod pacing;
mod passes;
mod places;
pub mod range;
pub mod reuse;
mod session;
pub mod spacetime;
pub mod stage;
mod story;

pub use crate::scenario::{Followed, reads_input};
pub use crate::world::{Act, Cause, KNOBS, Manner};
pub use costs::{Cost, LaneCost, Outcome};
pub use futures::Future;
pub use link::{LINK_MAX, Link, Notice, TooLong};
pub use log::{Band, Divergence, Happening, LaneId, LogLine, Mark, MarkKind};
pub use pacing::Gap;
pub use passes::{PassFilter, PassRow, Reason};
pub use session::{Pace, Session};
pub use stage::{
    Bead, BoardRow, CacheView, Due, Fate, Flight, FlightKind, LoopFlavour, LoopId, LoopView,
    NodeView, PassView, PodCell, PodLook, QUEUE_SHOWN, Shortfall, Stage, Totals, VerdictView,
};
