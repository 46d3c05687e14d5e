//! What can befall a node: its process ends, it loses its power, a container dies or is made
//! unready.

use std::sync::Arc;

use crate::api::ObjectKey;
use crate::kernel::Time;

use super::kubelet::Kubelet;
use super::pod_record::{PodRecord, Write};

impl Kubelet {
    /// The pods that the node has although the API may not: to be looked at after `restart` or
    /// `power_on`, once the cache is filled again, so that what was deleted meanwhile is noticed.
    pub fn known_pods(&self) -> Vec<ObjectKey> {
        self.names.keys().cloned().collect()
    }

    /// The process begins anew: its memory is gone, containers go on. To be called whenever it was
    /// down, since timers that are `is_of_process` were lost meanwhile.
    pub fn restart(&mut self) {
        self.host.forget_process();
        self.is_registered = false;
        for record in self.pods.values_mut().map(Arc::make_mut) {
            forget_process(record);
        }
    }

    /// The node goes off: everything that runs on it is dead.
    pub fn power_off(&mut self) {
        self.is_powered = false;
        self.host.lose_power();
        for record in self.pods.values_mut().map(Arc::make_mut) {
            forget_process(record);
            for container in record.containers_mut() {
                container.give_up();
                container.token = 0;
            }
        }
        self.pods.retain(|_, record| !record.is_gone);
    }

    /// The node comes back: disk and names are as they were, and nothing runs.
    pub fn power_on(&mut self, now: Time) {
        if self.is_powered {
            return;
        }
        self.is_powered = true;
        for record in self.pods.values_mut().map(Arc::make_mut) {
            if let Some(sandbox) = &mut record.sandbox {
                sandbox.is_ready = false;
            }
            for container in record.containers_mut() {
                // What containerd says of a container that it finds dead when it starts.
                container.end(255, "Unknown", now);
            }
        }
    }

    /// A container of the pod dies (the first that runs, if none is named): its program crashes, or
    /// takes more memory than it may. Returns what to look at; nothing if none runs.
    pub fn crash_container(
        &mut self,
        pod: &ObjectKey,
        container: Option<&str>,
        now: Time,
        oom: bool,
    ) -> Vec<ObjectKey> {
        let is_powered = self.is_powered;
        let Some(record) = self.record_mut(pod).filter(|_| is_powered) else {
            return Vec::new();
        };
        let wanted = |name: &str| container.is_none_or(|wanted| wanted == name);
        let mains = record.main.iter_mut();
        let mut all = mains.chain(record.init.iter_mut());
        let Some(hit) = all.find(|c| c.is_running() && wanted(&c.name)) else {
            return Vec::new();
        };
        if oom {
            hit.end(137, "OOMKilled", now);
        } else {
            let own = hit.behaviour.exit_code;
            hit.end(if own == 0 { 1 } else { own }, "Error", now);
        }
        vec![pod.clone()]
    }

    /// Makes a pod ready or unready whatever its probes say; None: as they say. Returns what to
    /// look at.
    pub fn set_ready_override(&mut self, pod: &ObjectKey, ready: Option<bool>) -> Vec<ObjectKey> {
        let Some(record) = self.record_mut(pod) else {
            return Vec::new();
        };
        record.ready_override = ready;
        vec![pod.clone()]
    }
}

fn forget_process(record: &mut PodRecord) {
    record.look = None;
    record.write = Write::Settled;
    record.told = None;
    record.stop_by = None;
    record.is_delete_sent = false;
    record.unhealthy.clear();
    for container in record.containers_mut() {
        container.waiting = None;
        container.probers.stop();
    }
}
