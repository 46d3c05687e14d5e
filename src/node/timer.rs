//! What a kubelet and its containers wait for.

use std::time::Duration;

use crate::api::{ObjectKey, Str};

use super::pod_actions::Slot;
use super::probe::ProbeKind;

/// Something that is due some time. Give it back to `Kubelet::on_timer` then. One that no longer
/// counts is recognised by its token and ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timer {
    /// The pod's uid: a new pod of the same name has nothing to do with it.
    pub(super) pod: Str,
    pub(super) what: Wait,
    pub(super) token: u64,
}

impl Timer {
    /// Whether it belongs to the kubelet's process (a probe, a second look) and so is lost while
    /// that is down. The others belong to containers, which go on.
    pub fn is_of_process(&self) -> bool {
        matches!(self.what, Wait::Look | Wait::Probe(..))
    }

    /// The token, for hashing a run.
    pub fn token(&self) -> u64 {
        self.token
    }
}

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// A container's image arrives, it starts, or it ends: it waits for one of these at a time.
    Container(Slot),
    /// A container is asked.
    Probe(Slot, ProbeKind),
    /// The pod is looked at again.
    Look,
}

/// What a timer led to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fired {
    /// Pods to look at.
    pub keys: Vec<ObjectKey>,
    /// What is due afterwards, after these times.
    pub timers: Vec<(Duration, Timer)>,
}
