//! What the page shows, as data. No web types: all of it is tested natively.

pub mod log;
pub mod stage;

pub use log::{Band, Divergence, Happening, LaneId, LogLine, Mark, MarkKind};
pub use stage::{
    Bead, BoardRow, CacheView, Due, Fate, Flight, FlightKind, LoopFlavour, LoopId, LoopView,
    NodeView, PassView, PodCell, PodLook, QUEUE_SHOWN, Shortfall, Stage, Totals, VerdictView, Wake,
};
