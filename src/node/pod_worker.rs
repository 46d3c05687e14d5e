//! One pass over one pod: compares what the API wants with what the runtime has, acts, and says
//! what it found.
//!
//! Follows `SyncPod`, `SyncTerminatingPod` and `SyncTerminatedPod` (`pkg/kubelet/kubelet.go`) and
//! `SyncPod` of the runtime manager. The kubelet waits within a sync until an image is there or a
//! container has stopped; here the pass ends and a timer leads to the next one. Left out:
//! volumes, `activeDeadlineSeconds`, eviction for lack of resources.

use std::sync::Arc;
use std::time::Duration;

use crate::api::{EventType, Object, Pod, PodStatus, Timestamp};
use crate::apiserver::{DeleteOptions, Part, Preconditions, Reason, Request};
use crate::controllers::{Deed, EventNote, Fact, Intent, Plan};
use crate::kernel::Time;

use super::admission;
use super::container::{Role, field_path, spec_of};
use super::host::Host;
use super::image::Images;
use super::pod_actions::{self, Slot};
use super::pod_record::{PodRecord, SandboxRecord, Write};
use super::probe::ProbeKind;
use super::probing;
use super::status::{self, Stage};
use super::stopping::{grace_period, is_its_turn, stop};
use super::timer::{Timer, Wait};

/// What a pass works with, and what it has come to so far.
pub(super) struct Pass<'a> {
    pub host: &'a mut Host,
    pub record: &'a mut PodRecord,
    /// The pod as the API has it; of a pod that is gone, as it was last seen.
    pub object: &'a Arc<Object>,
    pub pod: &'a Pod,
    pub images: &'a Images,
    pub now: Time,
    pub plan: Plan,
    pub timers: Vec<(Duration, Timer)>,
    /// When to look again, at the latest.
    pub look_at: Option<Time>,
}

impl<'a> Pass<'a> {
    /// A pass over this pod.
    pub fn new(
        host: &'a mut Host,
        record: &'a mut PodRecord,
        object: &'a Arc<Object>,
        pod: &'a Pod,
        images: &'a Images,
        now: Time,
    ) -> Pass<'a> {
        let sees = Fact::Word(record.word());
        Pass {
            host,
            record,
            object,
            pod,
            images,
            now,
            plan: Plan::nothing(sees, Fact::None),
            timers: Vec::new(),
            look_at: None,
        }
    }

    /// Decides.
    pub fn run(mut self) -> (Plan, Vec<(Duration, Timer)>) {
        self.record.settle(self.object, self.pod);
        self.record.seen = self.object.clone();
        self.record.start_time.get_or_insert(Timestamp::from(self.now));
        if self.pod.metadata.is_terminating() {
            self.terminate();
        } else if self.pod.is_finished() {
            self.clean_up();
        } else if self.record.refusal.is_some() {
            self.reject();
        } else {
            self.bring_up();
        }
        self.tell_bad_answers();
        self.tell_starts();
        self.arm_probers();
        self.arm_look();
        (self.plan, self.timers)
    }

    /// The pod shall run.
    fn bring_up(&mut self) {
        self.plan.wants = Fact::Word("Running".into());
        let actions = pod_actions::compute(self.pod, &self.record.runs(self.pod));
        if actions.kill_pod {
            self.stop_all(grace_period(self.pod));
            if self.record.any_running() {
                return self.write_status(Stage::Active);
            }
            self.change_sandbox(actions.create_sandbox, actions.attempt);
        }
        for (slot, message) in &actions.kill {
            self.stop_one(*slot, Some(message), grace_period(self.pod));
        }
        for index in actions.start_init {
            self.try_start(Slot::Init(index));
        }
        for index in actions.start {
            self.try_start(Slot::Main(index));
        }
        self.write_status(Stage::Active);
    }

    /// The pod was not taken: it is told so once, and has failed.
    fn reject(&mut self) {
        self.plan.wants = Fact::Word("Failed".into());
        // What was written is not in the cache yet.
        let waits = self.record.write != Write::Settled;
        let Some(refusal) = self.record.refusal.clone().filter(|_| !waits) else {
            return;
        };
        let (reason, message) = (refusal.reason.as_str(), refusal.message.as_str());
        self.plan.events.push(EventNote::warning(self.object, reason, message));
        self.send_status(admission::rejected(self.pod, &refusal, self.now));
    }

    /// The pod is over: what still runs of it is stopped.
    fn clean_up(&mut self) {
        self.plan.wants = Fact::Word(format!("{:?}", self.pod.phase()).into());
        self.give_up_starts();
        self.stop_all(grace_period(self.pod));
        if self.record.has_ever_run() {
            self.write_status(Stage::Ending);
        }
    }

    /// The pod shall go: containers stop, the last status is written, and only then is it deleted.
    fn terminate(&mut self) {
        self.plan.wants = Fact::Gone;
        self.give_up_starts();
        let deadline = self.now + grace_period(self.pod);
        let deadline = self.record.stop_by.map_or(deadline, |by| by.min(deadline));
        self.record.stop_by = Some(deadline);
        self.stop_all(deadline.since(self.now));
        if self.record.any_running() {
            self.write_status(Stage::Ending);
            self.look_again(deadline);
            return;
        }
        if let Some(sandbox) = &mut self.record.sandbox {
            sandbox.is_ready = false;
        }
        if !self.pod.is_finished() || self.record.has_ever_run() {
            self.write_status(Stage::Ended);
        }
        if !self.record.is_delete_sent {
            self.record.is_delete_sent = true;
            self.plan.then(delete_for_good(self.object));
        }
    }

    /// The pod is gone from the API, whatever its containers do: they are stopped.
    pub fn let_go(mut self) -> (Plan, Vec<(Duration, Timer)>) {
        self.plan.wants = Fact::Gone;
        self.record.is_gone = true;
        self.record.look = None;
        self.give_up_starts();
        let grace = grace_period(self.pod);
        for slot in self.record.slots() {
            self.stop_one(slot, None, grace);
        }
        (self.plan, self.timers)
    }

    fn give_up_starts(&mut self) {
        for container in self.record.containers_mut() {
            container.give_up();
        }
    }

    fn stop_all(&mut self, grace: Duration) {
        for slot in self.record.slots().into_iter().rev() {
            if grace.is_zero() || is_its_turn(self.record, slot) {
                self.stop_one(slot, None, grace);
            }
        }
    }

    fn stop_one(&mut self, slot: Slot, message: Option<&str>, grace: Duration) {
        let (is_first, timer) = stop(self.record, self.host, self.pod, slot, grace, self.now);
        self.timers.extend(timer);
        if is_first && let Some(container) = self.record.container(slot) {
            let default = || format!("Stopping container {}", container.name);
            let message = message.map_or_else(default, str::to_string);
            self.tell(slot, EventType::Normal, "Killing", message);
        }
    }

    fn change_sandbox(&mut self, create: bool, attempt: u32) {
        let had_one = self.record.sandbox.is_some();
        if let Some(sandbox) = &mut self.record.sandbox {
            sandbox.is_ready = false;
        }
        if !create {
            return;
        }
        if had_one {
            let text = "Pod sandbox changed, it will be killed and re-created.";
            let note = EventNote::normal(self.object, "SandboxChanged", text);
            self.plan.events.push(note);
            self.record.init.iter_mut().for_each(|c| c.purge());
        }
        let ip = match pod_actions::is_on_host_network(self.pod) {
            true => self.host.ip.clone(),
            false => self.host.next_address(),
        };
        self.record.sandbox = Some(SandboxRecord { is_ready: true, attempt, ip });
    }

    pub fn look_again(&mut self, at: Time) {
        let earlier = self.look_at.map_or(at, |other| other.min(at));
        self.look_at = Some(earlier);
    }

    fn arm_look(&mut self) {
        let Some(at) = self.look_at.filter(|at| *at > self.now) else {
            return;
        };
        if self.record.look.is_some_and(|(due, _)| due <= at) {
            return;
        }
        let token = self.host.next_number();
        self.record.look = Some((at, token));
        let timer = self.record.timer(Wait::Look, token);
        self.timers.push((at.since(self.now), timer));
    }

    fn arm_probers(&mut self) {
        let is_terminating = self.pod.metadata.is_terminating();
        for slot in self.record.slots() {
            let spec = spec_of(&self.pod.spec, slot);
            let (Some(container), Some(spec)) = (self.record.container_mut(slot), spec) else {
                continue;
            };
            if !container.is_running() || container.role == Role::Init {
                continue;
            }
            container.probers.fit(spec);
            for kind in ProbeKind::ALL {
                if !is_terminating || kind == ProbeKind::Readiness {
                    self.arm_prober(slot, kind);
                }
            }
        }
    }

    fn arm_prober(&mut self, slot: Slot, kind: ProbeKind) {
        let Some(container) = self.record.container_mut(slot) else {
            return;
        };
        let run = container.running();
        let span = run.and_then(|run| container.probers.next_tick(kind, run, self.now));
        if let Some(span) = span {
            let token = self.host.next_number();
            container.probers.expect_tick(kind, token);
            let timer = self.record.timer(Wait::Probe(slot, kind), token);
            self.timers.push((span, timer));
        }
    }

    fn tell_bad_answers(&mut self) {
        for (slot, kind) in std::mem::take(&mut self.record.unhealthy) {
            let ip = self.record.ip().cloned().unwrap_or_default();
            let spec = spec_of(&self.pod.spec, slot);
            let text = spec.map(|spec| probing::failure_message(spec, kind, &ip));
            if let Some(text) = text {
                self.tell(slot, EventType::Warning, "Unhealthy", text);
            }
        }
    }

    fn tell_starts(&mut self) {
        for slot in self.record.slots() {
            let container = self.record.container_mut(slot);
            let run = container.and_then(|container| container.run.as_mut());
            if let Some(run) = run.filter(|run| !run.is_announced) {
                run.is_announced = true;
                self.tell(slot, EventType::Normal, "Started", "Container started".into());
            }
        }
    }

    pub fn tell(&mut self, slot: Slot, kind: EventType, reason: &str, message: String) {
        let name = self.record.container(slot).map(|c| c.name.clone());
        self.plan.events.push(EventNote {
            about: self.object.clone(),
            field_path: name.map(|name| field_path(&name, slot)),
            kind,
            reason: reason.into(),
            message,
        });
    }

    /// Writes the status if it is another than the one that is known.
    fn write_status(&mut self, stage: Stage) {
        let known = self.record.known_status(self.pod);
        let (host_ip, now) = (&self.host.ip, self.now);
        let changed = status::changed(self.record, self.pod, known, host_ip, stage, now);
        let Some(status) = changed else {
            return;
        };
        self.send_status(status);
    }

    fn send_status(&mut self, status: PodStatus) {
        let after = Arc::new(with_status(self.pod, status));
        self.record.told = Some(after.clone());
        self.record.write = Write::Sent;
        let request = Request::Update(Part::Status, after);
        self.plan.then(Intent::tolerant(Deed::Status, request));
    }
}

/// The pod with this status, to be written whatever its version is; only its uid must agree.
fn with_status(pod: &Pod, status: PodStatus) -> Object {
    let mut metadata = pod.metadata.clone();
    metadata.resource_version = 0;
    Object::Pod(Pod { metadata, spec: pod.spec.clone(), status })
}

fn delete_for_good(object: &Arc<Object>) -> Intent {
    let options = DeleteOptions {
        grace_period_seconds: Some(0),
        propagation: None,
        preconditions: Preconditions {
            uid: Some(object.meta().uid.clone()),
            resource_version: None,
        },
    };
    Intent {
        tolerates: |error| matches!(error.reason, Reason::NotFound | Reason::Conflict),
        ..Intent::new(Deed::Delete, Request::Delete(object.key(), options))
    }
}
