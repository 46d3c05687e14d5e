//! Lines of the run's log ("what just happened"), the marks on the scrubber and the divergence.

use crate::api::{ObjectKey, Str};
use crate::kernel::Time;

pub use crate::world::LaneId;

use super::stage::{LoopId, PassView};

/// Something that happened, for the log.
#[derive(Clone, Debug, PartialEq)]
pub struct LogLine {
    /// When.
    pub at: Time,
    /// In which lane; `None`: in all of them.
    pub lane: Option<LaneId>,
    /// What.
    pub what: Happening,
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::large_enum_variant)] // one divergence a run
pub enum Happening {
    /// Somebody did something, by its console line.
    You(Str),
    /// A step of the scenario, by its console line.
    Script(Str),
    /// Something that somebody put off until then, by its console line.
    PutOff(Str),
    /// What a line that was put off answered when its time had come and it failed.
    Failed(Str),
    /// A fault took effect: which loop, what was lost, delayed or doubled, by its console line.
    Fault(Str),
    /// A watch event met a fault on its way to a loop.
    Struck {
        /// Whose event.
        to: LoopId,
        /// `DELETED`.
        event: Str,
        /// Of which object.
        object: ObjectKey,
        /// `drop`, `delay`, `duplicate`.
        how: Str,
    },
    /// A pass that did something.
    Pass(LoopId, Box<PassView>),
    /// A decision in which the lanes differ.
    Divergence(Divergence),
    /// The verdict changed.
    Verdict(super::stage::VerdictView),
}

/// A decision in which the lanes differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Divergence {
    /// When.
    pub at: Time,
    /// Which loop decided.
    pub controller: LoopId,
    /// For which object.
    pub object: ObjectKey,
    /// The pass that decided: its lane and number.
    pub pass: (LaneId, u64),
    /// The pass of the level lane: the deciding one, or its counterpart if there was one.
    pub level: Option<PassView>,
    /// The pass of the edge lane, likewise.
    pub edge: Option<PassView>,
    /// Decisions that differ as well because they followed from this one.
    pub echoes: u32,
    /// The fault at the root of it, by its console line.
    pub because: Option<Str>,
}

/// A mark on the scrubber.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// When.
    pub at: Time,
    /// In which lane; `None`: both.
    pub lane: Option<LaneId>,
    /// What.
    pub what: MarkKind,
}

/// What a mark stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MarkKind {
    /// A pass.
    Pass,
    /// Something that a person did.
    You,
    /// A step of the scenario.
    Script,
    /// A fault.
    Fault,
    /// Something that was put off and failed when its time had come.
    Failed,
    /// Another future leaves the run here.
    Fork,
    /// A differing decision.
    Divergence,
}

/// A stretch of the run in which a lane's verdict stayed the same, for the bands of the scrubber.
#[derive(Clone, Debug, PartialEq)]
pub struct Band {
    /// In which lane.
    pub lane: LaneId,
    /// From.
    pub from: Time,
    /// To.
    pub to: Time,
    /// The verdict's word: `converged`, `converging`, `waiting`, `stuck`, `oscillating`.
    pub verdict: &'static str,
}
