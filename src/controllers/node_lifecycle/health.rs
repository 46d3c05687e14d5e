//! When a node was last heard of, and what becomes of its conditions when it is silent too long
//! (`tryUpdateNodeHealth`). The controller goes by its own clock: a lease or a status counts from
//! when it was first seen to have changed, whatever time it says.

use std::sync::Arc;
use std::time::Duration;

use crate::api::{Condition, ConditionStatus, Lease, Node, Object, Timestamp};
use crate::kernel::Time;

use super::PERIOD;

/// How long a node may be silent (`--node-monitor-grace-period`).
pub const GRACE_PERIOD: Duration = Duration::from_secs(50);
/// The same for one that never said anything (`--node-startup-grace-period`).
pub const STARTUP_GRACE_PERIOD: Duration = Duration::from_secs(60);

/// Conditions that nobody can vouch for when the kubelet is silent.
const KUBELET_CONDITIONS: [&str; 4] = ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"];

/// Whether the pods of a node that fell silent must still be marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marking {
    /// No.
    Done,
    /// Yes.
    Wanted,
    /// It was tried: looked at again a round later, in case a write failed.
    Tried(Time),
}

impl Marking {
    /// Whether to try now.
    pub fn is_due(self, now: Time) -> bool {
        match self {
            Marking::Done => false,
            Marking::Wanted => true,
            Marking::Tried(at) => now.since(at) >= PERIOD,
        }
    }
}

/// What is remembered of one node.
#[derive(Clone, Debug)]
pub struct Health {
    /// The Node as last seen.
    pub object: Arc<Object>,
    /// When it last gave a sign of life.
    pub heard: Time,
    /// Its Ready condition at the last round of the monitor.
    pub observed: Option<ConditionStatus>,
    /// Whether its pods must be marked not ready.
    pub marking: Marking,
    /// Whether its coming was told.
    pub registered: bool,
    renewed: Option<Timestamp>,
}

impl Health {
    /// A node that was not known yet.
    pub fn new(object: &Arc<Object>, node: &Node, now: Time) -> Health {
        let created = node.metadata.creation_timestamp.map(Timestamp::to_time);
        let silent = ready(node).is_none();
        Health {
            object: object.clone(),
            heard: created.filter(|_| silent).unwrap_or(now),
            observed: None,
            marking: Marking::Done,
            registered: false,
            renewed: None,
        }
    }

    /// Takes what the cache shows of the node and of its lease.
    pub fn observe(&mut self, object: &Arc<Object>, lease: Option<&Lease>, now: Time) {
        let beat = |object: &Object| {
            let node = object.as_node();
            node.and_then(ready).map(|ready| ready.last_heartbeat_time)
        };
        if beat(object) != beat(&self.object) {
            self.heard = now;
        }
        self.object = object.clone();
        let renewed = lease.and_then(|lease| lease.spec.renew_time);
        if renewed.is_some() && renewed > self.renewed {
            self.renewed = renewed;
            self.heard = now;
        }
    }

    /// Whether the node has been silent too long.
    pub fn is_silent(&self, node: &Node, now: Time) -> bool {
        let never = ready(node).is_none();
        let period = if never { STARTUP_GRACE_PERIOD } else { GRACE_PERIOD };
        now > self.heard + period
    }
}

/// The Ready condition.
pub fn ready(node: &Node) -> Option<&Condition> {
    Condition::find(&node.status.conditions, "Ready")
}

/// Whether a silent node still has to be written off.
pub fn is_trusted(node: &Node) -> bool {
    ready(node).is_none_or(|ready| ready.status != ConditionStatus::Unknown)
}

/// The node with all that its kubelet said put in doubt.
pub fn put_in_doubt(node: &Node, now: Timestamp) -> Node {
    let mut after = node.clone();
    let conditions = &mut after.status.conditions;
    for kind in KUBELET_CONDITIONS {
        let known = conditions.iter_mut().find(|condition| &*condition.kind == kind);
        match known {
            Some(condition) if condition.status == ConditionStatus::Unknown => {}
            Some(condition) => {
                condition.status = ConditionStatus::Unknown;
                condition.reason = Some("NodeStatusUnknown".into());
                condition.message = Some("Kubelet stopped posting node status.".into());
                condition.last_transition_time = Some(now);
            }
            None => conditions.push(Condition {
                kind: kind.into(),
                status: ConditionStatus::Unknown,
                reason: Some("NodeStatusNeverUpdated".into()),
                message: Some("Kubelet never posted node status.".into()),
                last_heartbeat_time: node.metadata.creation_timestamp,
                last_transition_time: Some(now),
                ..Condition::default()
            }),
        }
    }
    after
}
