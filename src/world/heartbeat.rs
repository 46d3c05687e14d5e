//! How a node says that it lives: its kubelet renews the lease every ten seconds, and writes the
//! Node's status when that says anything else than it should (such as Ready Unknown, after a
//! silence), or when it is five minutes old. The Node itself it makes when it starts and at no
//! other time (`registerWithAPIServer`): one that somebody deletes stays away until the kubelet
//! starts anew, whose containers run on until their pods are deleted too.
//!
//! Simplified: the kubelet reads the Node and the lease as they are stored, and the writes take no
//! time. What fails is tried again with the next heartbeat. The lease of a deleted Node stays,
//! since no Node owns it.

use crate::api::{Kind, Node, ObjectKey};
use crate::controllers::EventNote;
use crate::node::Kubelet;
use crate::node::registration::{lease_key, register, renew, report, says_the_same};

use super::ControllerId;
use super::step::{HEARTBEAT, Step};
use super::world::World;

impl World {
    /// A kubelet has started, and says so if anybody hears it.
    pub(super) fn announce_kubelet(&mut self, node: u16) {
        let key = ObjectKey::new(Kind::Node, "", self.node_name(node));
        let object = self.store().get(&key).cloned();
        let id = ControllerId::Kubelet(node);
        if self.refusal(id).is_none()
            && let Some(object) = object
        {
            self.record_event(id, EventNote::normal(&object, "Starting", "Starting kubelet."));
        }
    }

    /// A kubelet that has started makes its Node known, unless it is; what is there already, it
    /// takes for its own.
    pub(super) fn register_kubelet(&mut self, node: u16) {
        let id = ControllerId::Kubelet(node);
        let refused = self.refusal(id).is_some();
        let new = |kubelet: &&Kubelet| !refused && !kubelet.is_registered();
        let Some(kubelet) = self.kubelets.get(usize::from(node)).filter(new) else { return };
        let key = ObjectKey::new(Kind::Node, "", kubelet.node_name().clone());
        if self.store().get(&key).is_none() {
            let plan = register(&key.name, kubelet.node_ip(), self.now);
            for intent in plan.batches.iter().flatten() {
                let _ = self.handle(&intent.request, id.name());
            }
        }
        let is_known = self.store().get(&key).is_some();
        let kubelet = self.kubelets.get_mut(usize::from(node)).filter(|_| is_known);
        kubelet.into_iter().for_each(Kubelet::note_registration);
    }

    /// A kubelet's heartbeat is due.
    pub(super) fn heartbeat(&mut self, node: u16) {
        self.put(self.now + HEARTBEAT, Step::Heartbeat(node));
        self.kill_for_memory(node);
        let id = ControllerId::Kubelet(node);
        let runs = self.kubelets.get(usize::from(node)).is_some_and(Kubelet::is_powered)
            && self.is_connected(node)
            && self.processes.get(&id).is_some_and(|process| process.alive);
        if !runs || self.faults.server_is_down() {
            return;
        }
        self.register_kubelet(node);
        let (name, now) = (self.node_name(node), self.now);
        let lease = self.store().get(&lease_key(&name)).cloned();
        let renewal = renew(&name, lease.as_ref().and_then(|l| l.as_lease()), now);
        let node = self.store().get(&ObjectKey::new(Kind::Node, "", name));
        let report = node.map(|node| report(node, now)).unwrap_or_default();
        for intent in renewal.batches.iter().chain(&report.batches).flatten() {
            // What fails is tried again ten seconds later.
            let _ = self.handle(&intent.request, id.name());
        }
        report.events.into_iter().for_each(|note| self.record_event(id, note));
    }
}

/// Whether a node merely says again what it said before.
pub(super) fn is_heartbeat(before: &Node, after: &Node) -> bool {
    let mut same = after.clone();
    same.metadata.resource_version = before.metadata.resource_version;
    if !says_the_same(&before.status.conditions, &after.status.conditions) {
        return false;
    }
    same.status.conditions = before.status.conditions.clone();
    same == *before
}
