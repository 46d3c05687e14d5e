//! The pods of one owner, counted by what decides how a controller counts them. Thousands of pods
//! of one ReplicaSet fall into two or three groups, so a pass need not look at each of them.

use crate::api::{Pod, Str, StrMap};

/// Pods that count alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodGroup {
    /// Their namespace.
    pub namespace: Str,
    /// Their labels.
    pub labels: StrMap,
    /// Whether they ended for good.
    pub finished: bool,
    /// Whether they are being deleted.
    pub terminating: bool,
    /// Whether they are ready.
    pub ready: bool,
    /// How many there are; never none.
    pub count: usize,
}

impl PodGroup {
    fn of(pod: &Pod) -> PodGroup {
        PodGroup {
            namespace: pod.metadata.namespace.clone(),
            labels: pod.metadata.labels.clone(),
            finished: pod.is_finished(),
            terminating: pod.metadata.is_terminating(),
            ready: pod.is_ready(),
            count: 0,
        }
    }

    fn takes(&self, pod: &Pod) -> bool {
        self.ready == pod.is_ready()
            && self.terminating == pod.metadata.is_terminating()
            && self.finished == pod.is_finished()
            && self.namespace == pod.metadata.namespace
            && self.labels == pod.metadata.labels
    }
}

/// All groups of one owner, in the order in which they came up.
#[derive(Clone, Debug, Default)]
pub struct PodGroups(Vec<PodGroup>);

impl PodGroups {
    /// The groups.
    pub fn iter(&self) -> impl Iterator<Item = &PodGroup> + '_ {
        self.0.iter()
    }

    /// Whether there is no pod.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Counts a pod in.
    pub fn add(&mut self, pod: &Pod) {
        match self.0.iter_mut().find(|group| group.takes(pod)) {
            Some(group) => group.count += 1,
            None => self.0.push(PodGroup { count: 1, ..PodGroup::of(pod) }),
        }
    }

    /// Counts a pod out.
    pub fn remove(&mut self, pod: &Pod) {
        if let Some(index) = self.0.iter().position(|group| group.takes(pod)) {
            self.0[index].count -= 1;
            if self.0[index].count == 0 {
                self.0.remove(index);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pod(app: &str, phase: &str) -> Pod {
        serde_json::from_value(json!({
            "metadata": {"labels": {"app": app}}, "status": {"phase": phase},
        }))
        .expect("a pod")
    }

    #[test]
    fn pods_that_count_alike_are_one_group_and_an_empty_group_goes() {
        let mut groups = PodGroups::default();
        for pod in
            [pod("a", "Running"), pod("a", "Pending"), pod("a", "Failed"), pod("b", "Running")]
        {
            groups.add(&pod);
        }
        let counts = |groups: &PodGroups| groups.iter().map(|g| g.count).collect::<Vec<_>>();
        assert_eq!(counts(&groups), [2, 1, 1]);
        groups.remove(&pod("a", "Failed"));
        assert_eq!(counts(&groups), [2, 1]);
        groups.remove(&pod("a", "Running"));
        assert_eq!(counts(&groups), [1, 1]);
    }
}
