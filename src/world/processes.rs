//! All processes of a cluster, by id. Each step looks some up, and most are kubelets, one for each
//! node: these stand in a list by number, so that a step costs the same however many nodes there
//! are.

use std::collections::BTreeMap;

use super::ControllerId;
use super::process::Process;

/// The processes.
#[derive(Clone, Debug, Default)]
pub struct Processes {
    central: BTreeMap<ControllerId, Process>,
    /// By the number of their node.
    kubelets: Vec<Process>,
}

impl Processes {
    /// The process of this id.
    pub fn get(&self, id: &ControllerId) -> Option<&Process> {
        match id {
            ControllerId::Kubelet(node) => self.kubelets.get(usize::from(*node)),
            _ => self.central.get(id),
        }
    }

    /// The process of this id, to change.
    pub fn get_mut(&mut self, id: &ControllerId) -> Option<&mut Process> {
        match id {
            ControllerId::Kubelet(node) => self.kubelets.get_mut(usize::from(*node)),
            _ => self.central.get_mut(id),
        }
    }

    /// Whether there is a process of this id.
    pub fn contains_key(&self, id: &ControllerId) -> bool {
        self.get(id).is_some()
    }

    /// Takes a new process in. Kubelets come in the order of their nodes.
    pub fn insert(&mut self, process: Process) {
        match process.id {
            ControllerId::Kubelet(node) => {
                debug_assert_eq!(usize::from(node), self.kubelets.len());
                self.kubelets.push(process);
            }
            id => _ = self.central.insert(id, process),
        }
    }

    /// All of them, in the order of their ids, in which kubelets come last.
    pub fn values(&self) -> impl Iterator<Item = &Process> + '_ {
        self.central.values().chain(&self.kubelets)
    }

    /// The ids of all of them, in order.
    pub fn keys(&self) -> impl Iterator<Item = &ControllerId> + '_ {
        self.values().map(|process| &process.id)
    }
}
