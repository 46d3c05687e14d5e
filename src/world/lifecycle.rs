//! Processes and machines that die and come back.

use std::sync::Arc;

use crate::node::Timer;

use super::ControllerId;
use super::record::{Cause, Occurrence};
use super::step::Step;
use super::world::World;

impl World {
    /// Kills a process. Its memory is gone; what it asked for is under way all the same.
    pub fn kill(&mut self, id: ControllerId) {
        self.candidate_died(id);
        self.faults.wake(id);
        let Some(process) = self.processes.get_mut(&id) else { return };
        if !process.alive {
            return;
        }
        let cut = process.die();
        if let ControllerId::Kubelet(node) = id
            && let Some(kubelet) = self.kubelets.get_mut(usize::from(node))
        {
            kubelet.restart();
        }
        for record in cut {
            self.thinking.remove(&record.number);
            self.tell(Occurrence::PassEnded(Arc::new(record)));
        }
        for index in self.streams_owned_by(id) {
            self.break_stream(index);
        }
        self.forget_held(id);
        self.tell(Occurrence::Killed(id));
        self.forget_steps_of_the_dead();
    }

    /// Starts a dead process: it lists what it watches, and begins to work when all lists are
    /// there.
    pub fn start(&mut self, id: ControllerId) {
        let Some(process) = self.processes.get_mut(&id) else { return };
        if process.alive || self.is_powered_off(id) || !self.may_start(id) {
            return;
        }
        let Some(process) = self.processes.get_mut(&id) else { return };
        process.alive = true;
        let order = process.knobs.informer_queue;
        let streams = self.streams_owned_by(id);
        streams.iter().for_each(|index| self.streams[*index].forget(order));
        if let Some(process) = self.processes.get_mut(&id) {
            process.unsynced = u16::try_from(streams.len()).unwrap_or(u16::MAX);
        }
        self.tell(Occurrence::Started(id));
        if let ControllerId::Kubelet(node) = id {
            self.register_kubelet(node);
            self.announce_kubelet(node);
        }
        streams.into_iter().for_each(|index| self.list(index));
        self.schedule_resync(id);
    }

    fn is_powered_off(&self, id: ControllerId) -> bool {
        let ControllerId::Kubelet(node) = id else { return false };
        self.kubelets.get(usize::from(node)).is_some_and(|kubelet| !kubelet.is_powered())
    }

    pub(super) fn streams_owned_by(&self, id: ControllerId) -> Vec<usize> {
        let streams = self.streams.iter().enumerate();
        streams.filter(|(_, stream)| stream.owner == id).map(|(index, _)| index).collect()
    }

    /// What was due for an earlier life of a process keeps nobody busy.
    fn forget_steps_of_the_dead(&mut self) {
        let mut foreground = 0;
        let processes = &self.processes;
        let flights = &self.flights;
        self.agenda.revise(|entry| {
            let meant_for = entry.what.meant_for();
            let lives = meant_for
                .is_none_or(|(id, epoch)| processes.get(&id).is_some_and(|p| p.epoch == epoch));
            let flies = match &entry.what {
                Step::Deliver(flight, _) => flights.contains_key(flight),
                _ => true,
            };
            foreground += u64::from(lives && flies && !entry.what.is_background());
            lives && flies
        });
        self.foreground = foreground;
    }

    /// Turns a node's machine off or on. Off: the kubelet and all containers die at once, and
    /// nobody is told.
    pub fn power(&mut self, node: u16, on: bool) {
        let id = ControllerId::Kubelet(node);
        let Some(kubelet) = self.kubelets.get_mut(usize::from(node)) else { return };
        if kubelet.is_powered() == on {
            return;
        }
        if on {
            kubelet.power_on(self.now);
            self.start(id);
        } else {
            kubelet.power_off();
            self.kill(id);
            self.forget_kubelet_timers(node);
        }
    }

    fn forget_kubelet_timers(&mut self, node: u16) {
        let mut gone = 0;
        self.agenda.revise(|entry| {
            let its = matches!(&entry.what, Step::Kubelet(n, _) if *n == node);
            gone += u64::from(its);
            !its
        });
        self.foreground -= gone;
    }

    /// Cuts a node off from the API server, or connects it again.
    pub fn connect(&mut self, node: u16, connected: bool) {
        let Some(state) = self.connected.get_mut(usize::from(node)) else { return };
        if *state == connected {
            return;
        }
        *state = connected;
        if !connected {
            self.break_streams(ControllerId::Kubelet(node));
        }
    }

    /// A container, pull or probe of a node is due: the runtime tells the kubelet's loop.
    pub(super) fn kubelet_timer(&mut self, node: u16, timer: &Timer) {
        let now = self.now;
        let Some(kubelet) = self.kubelets.get_mut(usize::from(node)) else { return };
        let process = self.processes.get(&ControllerId::Kubelet(node));
        if timer.is_of_process() && process.is_none_or(|process| !process.alive) {
            return;
        }
        let fired = kubelet.on_timer(timer, now);
        for (after, timer) in fired.timers {
            self.put(self.now + after, Step::Kubelet(node, timer));
        }
        self.wake_kubelet(node, fired.keys);
    }

    pub(super) fn wake_kubelet(&mut self, node: u16, keys: Vec<crate::api::ObjectKey>) {
        let id = ControllerId::Kubelet(node);
        if let Some(process) = self.processes.get_mut(&id).filter(|process| process.alive) {
            for key in keys {
                process.enqueue(key, &Cause::Timer, self.now);
            }
        }
        self.pump(id);
    }
}
