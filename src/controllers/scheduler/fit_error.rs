//! The sentence of a FailedScheduling event (`pkg/scheduler/framework/types.go`, `FitError`;
//! `pkg/scheduler/framework/preemption`). Before preemption the plugin for dynamic resources is
//! asked, which has nothing to give back.

use std::collections::BTreeMap;

use super::filters::{Reason, Rejection};

/// What the scheduler says when there is no node at all.
pub const NO_NODES: &str = "no nodes available to schedule pods";

/// What the plugin for dynamic resources says of a pod that has no claims.
const NO_CLAIMS: &str = "no new claims to deallocate";

/// Why no node fits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FitError {
    nodes: usize,
    reasons: BTreeMap<Reason, usize>,
    /// Rejected by something that evicting pods would help against.
    resolvable: usize,
}

impl FitError {
    /// Counts one node's rejection.
    pub fn count(&mut self, rejection: &Rejection) {
        self.nodes += 1;
        self.resolvable += usize::from(rejection.resolvable);
        for reason in &rejection.reasons {
            *self.reasons.entry(reason.clone()).or_default() += 1;
        }
    }

    /// How many nodes were looked at.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// The reasons that were met.
    pub fn reasons(&self) -> impl Iterator<Item = &Reason> + '_ {
        self.reasons.keys()
    }

    /// How many of them evicting pods would help against.
    pub fn resolvable(&self) -> usize {
        self.resolvable
    }

    /// The whole sentence, with what preemption says; nothing if it has found victims.
    pub fn message(&self, preemption: Option<&str>) -> String {
        if self.nodes == 0 {
            return NO_NODES.to_string();
        }
        let after = preemption.map(|text| format!("{NO_CLAIMS}, preemption: {text}"));
        // That is known before any node is looked at, and said once.
        let conflict = Reason::NamesConflict;
        let before = self.reasons.contains_key(&conflict).then(|| conflict.to_string());
        sentence(self.nodes, &self.reasons, before.as_deref(), after.as_deref())
    }
}

/// Why no node fits, and which nodes evicting pods may help with.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Unfit {
    /// The reasons.
    pub error: FitError,
    /// Places in the cluster.
    pub candidates: Vec<usize>,
}

impl Unfit {
    /// Counts the rejection of the node at a place.
    pub fn count(&mut self, place: usize, rejection: &Rejection) {
        self.error.count(rejection);
        if rejection.resolvable {
            self.candidates.push(place);
        }
    }
}

/// Kubernetes' sentence: each reason with the number of nodes that gave it in front, sorted as
/// text.
pub fn sentence(
    nodes: usize,
    reasons: &BTreeMap<Reason, usize>,
    pre_filter: Option<&str>,
    post_filter: Option<&str>,
) -> String {
    let mut text = format!("0/{nodes} nodes are available:");
    match pre_filter {
        Some(message) => text += &format!(" {message}."),
        None => {
            let mut counted: Vec<_> = reasons.iter().map(|(r, n)| format!("{n} {r}")).collect();
            counted.sort();
            if !counted.is_empty() {
                text += &format!(" {}.", counted.join(", "));
            }
        }
    }
    if let Some(message) = post_filter {
        text += &format!(" {message}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rejection(reason: Reason, resolvable: bool) -> Rejection {
        Rejection { reasons: vec![reason], resolvable }
    }

    #[test]
    fn the_sentence_is_the_one_that_kubectl_describe_shows() {
        let mut error = FitError::default();
        error.count(&rejection(Reason::Insufficient("cpu".into()), true));
        error.count(&rejection(Reason::Taints, false));
        error.count(&rejection(Reason::Taints, false));
        let expected = "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated \
            taint(s).";
        assert_eq!(error.message(None), expected);
        let expected = format!("{expected} no new claims to deallocate, preemption: so it is.");
        assert_eq!(error.message(Some("so it is.")), expected);
    }

    #[test]
    fn without_nodes_the_sentence_says_so() {
        assert_eq!(FitError::default().message(Some("nothing")), NO_NODES);
    }

    #[test]
    fn names_that_contradict_each_other_are_told_once() {
        let mut error = FitError::default();
        error.count(&rejection(Reason::NamesConflict, false));
        error.count(&rejection(Reason::NamesConflict, false));
        assert_eq!(error.message(None), "0/2 nodes are available: pod affinity terms conflict.");
    }
}
