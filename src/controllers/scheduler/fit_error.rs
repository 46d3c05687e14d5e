//! The sentence of a FailedScheduling event (`pkg/scheduler/framework/types.go`, `FitError`;
//! `pkg/scheduler/framework/preemption`). Pods are not preempted, so no node has victims. Before
//! preemption the plugin for dynamic resources is asked, which has nothing to give back.

use std::collections::BTreeMap;

use crate::api::Pod;

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

    /// The whole sentence for a pod.
    pub fn message(&self, pod: &Pod) -> String {
        if self.nodes == 0 {
            return NO_NODES.to_string();
        }
        sentence(self.nodes, &self.reasons, None, Some(&self.preemption(pod)))
    }

    fn preemption(&self, pod: &Pod) -> String {
        let policy = pod.spec.rest.get("preemptionPolicy");
        if policy.and_then(|policy| policy.as_str()) == Some("Never") {
            return format!("{NO_CLAIMS}, preemption: not eligible due to preemptionPolicy=Never.");
        }
        let victims = "No preemption victims found for incoming pod";
        let helpless = "Preemption is not helpful for scheduling";
        let counts = [(victims, self.resolvable), (helpless, self.nodes - self.resolvable)];
        let reasons = counts.into_iter().filter(|(_, count)| *count > 0);
        let reasons = reasons.map(|(text, count)| (Reason::Other(text.into()), count));
        let sentence = sentence(self.nodes, &reasons.collect(), None, None);
        format!("{NO_CLAIMS}, preemption: {sentence}")
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
            taint(s). no new claims to deallocate, preemption: 0/3 nodes are available: 1 No \
            preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling.";
        assert_eq!(error.message(&Pod::default()), expected);
    }

    #[test]
    fn without_nodes_the_sentence_says_so() {
        assert_eq!(FitError::default().message(&Pod::default()), NO_NODES);
    }
}
