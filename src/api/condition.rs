//! Conditions: what a controller says about an object, and since when.

use serde::{Deserialize, Serialize};

use super::{Rest, Str, Timestamp};

/// The condition of a pod that somebody ends.
pub const DISRUPTION_TARGET: &str = "DisruptionTarget";

/// Whether a condition holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ConditionStatus {
    /// It holds.
    True,
    /// It does not.
    False,
    /// Nobody can tell.
    #[default]
    Unknown,
}

impl From<bool> for ConditionStatus {
    fn from(holds: bool) -> Self {
        if holds { ConditionStatus::True } else { ConditionStatus::False }
    }
}

/// A condition of a Pod, Node, ReplicaSet or Deployment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Condition {
    /// Such as `Ready`.
    #[serde(rename = "type")]
    pub kind: Str,
    /// Whether it holds.
    pub status: ConditionStatus,
    /// Why, in one word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Str>,
    /// Why, in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Str>,
    /// When the status last turned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_transition_time: Option<Timestamp>,
    /// When anything of it last changed (Deployment only).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_update_time: Option<Timestamp>,
    /// When it was last looked at (Node only).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_heartbeat_time: Option<Timestamp>,
    /// Other fields.
    #[serde(flatten)]
    pub rest: Rest,
}

impl Condition {
    /// The condition of this type in a list.
    pub fn find<'a>(conditions: &'a [Condition], kind: &str) -> Option<&'a Condition> {
        conditions.iter().find(|condition| &*condition.kind == kind)
    }

    /// Says of a pod that it is about to be ended by somebody else: DisruptionTarget, in the place
    /// of what was said before.
    pub fn mark_disrupted(
        conditions: &mut Vec<Condition>,
        reason: &str,
        message: &str,
        since: Option<Timestamp>,
    ) {
        conditions.retain(|condition| &*condition.kind != DISRUPTION_TARGET);
        conditions.push(Condition {
            kind: DISRUPTION_TARGET.into(),
            status: ConditionStatus::True,
            reason: Some(reason.into()),
            message: Some(message.into()),
            last_transition_time: since,
            ..Condition::default()
        });
    }

    /// Whether the condition of this type is there and True.
    pub fn holds(conditions: &[Condition], kind: &str) -> bool {
        Self::find(conditions, kind).is_some_and(|c| c.status == ConditionStatus::True)
    }
}
