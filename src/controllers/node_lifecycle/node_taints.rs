//! The taints that follow from a node's conditions (`doNoScheduleTaintingPass`,
//! `processTaintBaseEviction`).

use crate::api::{ConditionStatus, Node, Taint, TaintEffect, Timestamp};
use crate::controllers::taints::{NOT_READY, UNREACHABLE, UNSCHEDULABLE, taint};

/// The key of the taint that a condition of this status leads to.
pub fn taint_for_condition(condition: &str, status: ConditionStatus) -> Option<&'static str> {
    match (condition, status) {
        ("Ready", ConditionStatus::False) => Some(NOT_READY),
        ("Ready", ConditionStatus::Unknown) => Some(UNREACHABLE),
        ("MemoryPressure", ConditionStatus::True) => Some("node.kubernetes.io/memory-pressure"),
        ("DiskPressure", ConditionStatus::True) => Some("node.kubernetes.io/disk-pressure"),
        ("PIDPressure", ConditionStatus::True) => Some("node.kubernetes.io/pid-pressure"),
        ("NetworkUnavailable", ConditionStatus::True) => {
            Some("node.kubernetes.io/network-unavailable")
        }
        _ => None,
    }
}

/// The effects of a taint of this key: only a node that is not ready or not reachable loses pods.
pub fn effects(key: &str) -> &'static [TaintEffect] {
    match key {
        NOT_READY | UNREACHABLE => &[TaintEffect::NoSchedule, TaintEffect::NoExecute],
        _ => &[TaintEffect::NoSchedule],
    }
}

/// Keys that the controller sets and takes away with the effect NoSchedule.
const MANAGED: [&str; 7] = [
    NOT_READY,
    UNREACHABLE,
    UNSCHEDULABLE,
    "node.kubernetes.io/memory-pressure",
    "node.kubernetes.io/disk-pressure",
    "node.kubernetes.io/pid-pressure",
    "node.kubernetes.io/network-unavailable",
];

/// What a node's NoExecute taints shall be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expulsion {
    /// As they are.
    Keep,
    /// None of the controller's.
    None,
    /// The one of this key, and not the other.
    By(&'static str),
}

/// The taints that the node shall have; absent if it has them.
pub fn taints_after(node: &Node, expulsion: Expulsion, now: Timestamp) -> Option<Vec<Taint>> {
    let wanted: Vec<Taint> = no_schedule(node)
        .map(|key| taint(key, TaintEffect::NoSchedule))
        .chain(match expulsion {
            Expulsion::By(key) => Some(taint(key, TaintEffect::NoExecute)),
            Expulsion::Keep | Expulsion::None => None,
        })
        .collect();
    let same = |one: &Taint, other: &Taint| one.key == other.key && one.effect == other.effect;
    let is_ours = |own: &Taint| match own.effect {
        TaintEffect::NoSchedule => MANAGED.contains(&&*own.key),
        TaintEffect::NoExecute => {
            expulsion != Expulsion::Keep && matches!(&*own.key, NOT_READY | UNREACHABLE)
        }
        TaintEffect::PreferNoSchedule => false,
    };
    let has = &node.spec.taints;
    let stays = |own: &&Taint| !is_ours(own) || wanted.iter().any(|w| same(w, own));
    let missing = wanted.iter().filter(|w| !has.iter().any(|own| same(w, own)));
    let mut missing = missing.cloned().peekable();
    if missing.peek().is_none() && has.iter().all(|own| stays(&own)) {
        return None;
    }
    let added = missing.map(|taint| Taint { time_added: Some(now), ..taint });
    Some(has.iter().filter(stays).cloned().chain(added).collect())
}

fn no_schedule(node: &Node) -> impl Iterator<Item = &'static str> + '_ {
    let conditions = node.status.conditions.iter();
    let of_conditions = conditions.filter_map(|c| taint_for_condition(&c.kind, c.status));
    of_conditions.chain(node.spec.unschedulable.then_some(UNSCHEDULABLE))
}

/// Whether one of the controller's taints makes the node's pods go.
pub fn is_expelled(node: &Node) -> bool {
    let ours = |t: &Taint| matches!(&*t.key, NOT_READY | UNREACHABLE);
    let mut taints = node.spec.taints.iter();
    taints.any(|t| ours(t) && t.effect == TaintEffect::NoExecute)
}
