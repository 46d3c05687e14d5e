//! One pod as its node has it: sandbox, containers, and what the kubelet remembers of it.

use std::sync::Arc;
use std::time::Duration;

use crate::api::{Object, ObjectKey, Pod, PodStatus, Str, Timestamp};
use crate::controllers::scheduler::resources::Usage;
use crate::kernel::Time;

use super::admission::Refusal;
use super::container::{Busy, spec_of};
use super::container::{ContainerRecord, NewRun, RunRecord};
use super::host::Host;
use super::pod_actions::{PodRuns, Sandbox, Slot};
use super::probe::ProbeKind;
use super::timer::{Timer, Wait};

/// A pod on a node.
#[derive(Clone, Debug)]
pub(super) struct PodRecord {
    pub key: ObjectKey,
    pub uid: Str,
    /// The pod as it was last seen.
    pub seen: Arc<Object>,
    pub sandbox: Option<SandboxRecord>,
    pub init: Vec<ContainerRecord>,
    pub main: Vec<ContainerRecord>,
    /// The look that is due anyway, and its token.
    pub look: Option<(Time, u64)>,
    /// The status as it was last written, or found to be.
    pub told: Option<Arc<Object>>,
    pub write: Write,
    pub start_time: Option<Timestamp>,
    /// By when its containers must have stopped.
    pub stop_by: Option<Time>,
    /// The object is gone: only containers are left.
    pub is_gone: bool,
    /// The last delete was sent.
    pub is_delete_sent: bool,
    pub ready_override: Option<bool>,
    /// What it takes of the node.
    pub usage: Usage,
    /// Why it was not taken.
    pub refusal: Option<Refusal>,
    /// Bad answers that were not told as Events yet.
    pub unhealthy: Vec<(Slot, ProbeKind)>,
}

/// What stands for containerd's pod sandbox.
#[derive(Clone, Debug)]
pub(super) struct SandboxRecord {
    pub is_ready: bool,
    pub attempt: u32,
    pub ip: Str,
}

/// How far the last status write is known to have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Write {
    /// The cache has shown it, or nothing was written.
    Settled,
    /// Not answered yet.
    Sent,
    /// Stored with this resourceVersion; the cache may be older.
    Stored(u64),
}

impl PodRecord {
    pub fn new(object: &Arc<Object>, pod: &Pod) -> PodRecord {
        let init = pod.spec.init_containers.iter().enumerate();
        let main = pod.spec.containers.iter().enumerate();
        PodRecord {
            key: object.key(),
            uid: pod.metadata.uid.clone(),
            seen: object.clone(),
            sandbox: None,
            init: init.map(|(i, c)| ContainerRecord::new(c, Slot::Init(i))).collect(),
            main: main.map(|(i, c)| ContainerRecord::new(c, Slot::Main(i))).collect(),
            look: None,
            told: None,
            write: Write::Settled,
            start_time: pod.status.start_time,
            stop_by: None,
            is_gone: false,
            is_delete_sent: false,
            ready_override: None,
            usage: Usage::of(&pod.spec),
            refusal: None,
            unhealthy: Vec::new(),
        }
    }

    /// Whether what it asks for is taken on the node.
    pub fn takes_its_place(&self) -> bool {
        let is_over = self.is_gone || self.seen.as_pod().is_none_or(Pod::is_finished);
        self.refusal.is_none() && (!is_over || self.any_running())
    }

    pub fn container(&self, slot: Slot) -> Option<&ContainerRecord> {
        match slot {
            Slot::Init(index) => self.init.get(index),
            Slot::Main(index) => self.main.get(index),
        }
    }

    pub fn container_mut(&mut self, slot: Slot) -> Option<&mut ContainerRecord> {
        match slot {
            Slot::Init(index) => self.init.get_mut(index),
            Slot::Main(index) => self.main.get_mut(index),
        }
    }

    /// All its containers, those that start first in front.
    pub fn containers(&self) -> impl DoubleEndedIterator<Item = (Slot, &ContainerRecord)> {
        let init = self.init.iter().enumerate();
        let main = self.main.iter().enumerate();
        init.map(|(i, c)| (Slot::Init(i), c)).chain(main.map(|(i, c)| (Slot::Main(i), c)))
    }

    pub fn containers_mut(&mut self) -> impl Iterator<Item = &mut ContainerRecord> {
        self.init.iter_mut().chain(self.main.iter_mut())
    }

    pub fn slots(&self) -> Vec<Slot> {
        self.containers().map(|(slot, _)| slot).collect()
    }

    pub fn any_running(&self) -> bool {
        self.containers().any(|(_, c)| c.is_running())
    }

    pub fn has_ever_run(&self) -> bool {
        self.containers().any(|(_, c)| c.run.is_some() || c.previous.is_some())
    }

    /// Whether a container (not an init container) has been started in the present sandbox.
    pub fn has_initialized(&self) -> bool {
        let active = self.active_sandbox();
        let in_active = |run: &RunRecord| active == Some(run.sandbox);
        self.main.iter().any(|c| c.run.as_ref().is_some_and(in_active))
    }

    fn active_sandbox(&self) -> Option<u32> {
        let sandbox = self.sandbox.as_ref()?;
        sandbox.is_ready.then_some(sandbox.attempt)
    }

    pub fn sandbox_stands(&self) -> bool {
        self.active_sandbox().is_some()
    }

    pub fn ip(&self) -> Option<&Str> {
        self.sandbox.as_ref().map(|sandbox| &sandbox.ip)
    }

    /// What the runtime has, as decisions see it.
    pub fn runs(&self, pod: &Pod) -> PodRuns {
        let active = self.active_sandbox();
        let seen = |list: &[ContainerRecord], specs: &[crate::api::Container]| {
            let pairs = list.iter().zip(specs);
            pairs.map(|(c, spec)| c.seen(spec, active)).collect()
        };
        PodRuns {
            sandbox: self.sandbox.as_ref().map(|sandbox| Sandbox {
                ready: sandbox.is_ready,
                has_ip: true,
                attempt: sandbox.attempt,
            }),
            init: seen(&self.init, &pod.spec.init_containers),
            main: seen(&self.main, &pod.spec.containers),
        }
    }

    /// The status that the API has or is about to have, as far as the kubelet knows.
    pub fn known_status<'a>(&'a self, cached: &'a Pod) -> &'a PodStatus {
        let told = self.told.as_ref().and_then(|object| object.as_pod());
        match (self.write, told) {
            (Write::Settled, _) | (_, None) => &cached.status,
            (_, Some(told)) => &told.status,
        }
    }

    /// Compares the last write with what the cache shows now. Once it shows it, the cache's object
    /// is kept in place of the one that was sent: one copy of every pod is enough.
    pub fn settle(&mut self, object: &Arc<Object>, cached: &Pod) {
        let told = self.told.as_ref().and_then(|object| object.as_pod());
        let shows_it = told.is_some_and(|told| told.status == cached.status);
        let is_newer = match self.write {
            Write::Stored(version) => cached.metadata.resource_version >= version,
            Write::Settled | Write::Sent => false,
        };
        if shows_it {
            self.told = Some(object.clone());
        }
        if shows_it || is_newer {
            self.write = Write::Settled;
        }
    }

    /// A timer for one of its containers.
    pub fn container_timer(&mut self, slot: Slot, token: u64) -> Option<Timer> {
        self.container_mut(slot)?.token = token;
        Some(self.timer(Wait::Container(slot), token))
    }

    pub fn timer(&self, what: Wait, token: u64) -> Timer {
        Timer { pod: self.uid.clone(), what, token }
    }

    /// A container runs. Returns the timer for its end, if it ends by itself.
    pub fn start(&mut self, host: &mut Host, slot: Slot, now: Time) -> Option<(Duration, Timer)> {
        let seen = self.seen.clone();
        let pod = seen.as_pod()?;
        let spec = spec_of(&pod.spec, slot)?;
        let new = NewRun {
            number: host.next_number(),
            pod_uid: &self.uid.clone(),
            sandbox: self.sandbox.as_ref().map_or(0, |sandbox| sandbox.attempt),
            now,
            ends: pod.metadata.controller().is_some_and(|owner| &*owner.kind == "Job"),
        };
        let container = self.container_mut(slot)?;
        container.token = 0;
        let span = container.start(spec, new)?;
        let timer = self.container_timer(slot, host.next_number())?;
        Some((span, timer))
    }

    /// In one word, what its containers do: for the sentence.
    pub fn word(&self) -> Str {
        let all = || self.containers().map(|(_, c)| c);
        if let Some((reason, _)) = all().find_map(|c| c.waiting.as_ref()) {
            return reason.clone();
        }
        if self.main.iter().all(ContainerRecord::is_running) {
            return "Running".into();
        }
        if let Some(ended) = all().filter(|c| c.busy == Busy::Idle).find_map(|c| c.ended())
            && !self.any_running()
        {
            return ended.reason.into();
        }
        match (&self.sandbox, self.init.is_empty()) {
            (None, _) => "Pending".into(),
            (Some(_), true) => "ContainerCreating".into(),
            (Some(_), false) => "PodInitializing".into(),
        }
    }
}
