//! One pass over one pod: compares what the API wants with what the runtime has, acts, and says what
//! it found.
//!
//! Follows `SyncPod`, `SyncTerminatingPod` and `SyncTerminatedPod` (`pkg/kubelet/kubelet.go`) and
//! `SyncPod` of the runtime manager. The kubelet waits within a sync until an image is there or a
//! container has stopped; here the pass ends and a timer leads to the next one. Left out: admission,
//! volumes, `activeDeadlineSeconds`, eviction for lack of resources.

use std::sync::Arc;
use std::time::Duration;

use crate::api::{EventType, Object, Pod, PodStatus, Str, Timestamp};
use crate::apiserver::{DeleteOptions, Part, Preconditions, Reason, Request};
use crate::controllers::{Deed, EventNote, Fact, Intent, Plan};
use crate::kernel::Time;

use super::backoff::{RestartHeldBack, may_restart};
use super::container::{Busy, Role, field_path, spec_of};
use super::host::Host;
use super::image::{self, Images};
use super::image_manager::{self, Ensured, ImageError, PullPolicy};
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
    look_at: Option<Time>,
}

/// After how long a container is looked at again that ended or got no image: the period in which the
/// kubelet asks the runtime what happened (PLEG).
const SECOND_LOOK: Duration = Duration::from_secs(1);
/// The same for what nothing is known to change (`backOffPeriod` of the pod workers).
const LATER_LOOK: Duration = Duration::from_secs(10);

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
        self.record.settle(self.pod);
        self.record.seen = self.object.clone();
        self.record
            .start_time
            .get_or_insert(Timestamp::from(self.now));
        if self.pod.metadata.is_terminating() {
            self.terminate();
        } else if self.pod.is_finished() {
            self.clean_up();
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
        self.record.sandbox = Some(SandboxRecord {
            is_ready: true,
            attempt,
            ip: self.host.next_address(),
        });
    }

    /// Brings a container as far as it goes now.
    fn try_start(&mut self, slot: Slot) {
        let Some(container) = self.record.container_mut(slot) else {
            return;
        };
        match std::mem::replace(&mut container.busy, Busy::Idle) {
            busy @ (Busy::Pulling { .. } | Busy::Starting) => container.busy = busy,
            Busy::PullEnded { since, error } => self.take_pull(slot, since, error),
            // It stops first.
            Busy::Idle if container.is_running() => {}
            Busy::Idle => {
                if self.is_held_back(slot) {
                    return;
                }
                self.ensure_image(slot);
            }
        }
    }

    fn is_held_back(&mut self, slot: Slot) -> bool {
        let Some(container) = self.record.container(slot) else {
            return true;
        };
        let Some(finished) = container.ended().map(|ended| ended.finished_at) else {
            return false;
        };
        let image = self.image(slot);
        let key = (self.record.uid.clone(), container.name.clone(), image);
        match may_restart(&mut self.host.restarts, &key, finished, self.now) {
            Ok(()) => false,
            Err(held_back) => {
                self.hold_back(slot, held_back, finished);
                true
            }
        }
    }

    /// First it is seen how it ended, then that it is held back.
    fn hold_back(&mut self, slot: Slot, held_back: RestartHeldBack, finished: Time) {
        let second_look = finished + SECOND_LOOK;
        if self.now < second_look {
            return self.look_again(second_look.min(held_back.until));
        }
        self.look_again(held_back.until);
        let pod = pod_text(self.pod);
        let Some(container) = self.record.container_mut(slot) else {
            return;
        };
        let message: Str = held_back.message(&container.name, &pod).into();
        let waiting = (RestartHeldBack::REASON.into(), message);
        if container.waiting.as_ref() == Some(&waiting) {
            return;
        }
        let event = RestartHeldBack::event_message(&container.name, &pod);
        container.waiting = Some(waiting);
        self.tell(
            slot,
            EventType::Warning,
            RestartHeldBack::EVENT_REASON,
            event,
        );
    }

    fn image(&self, slot: Slot) -> Str {
        let spec = spec_of(&self.pod.spec, slot);
        spec.and_then(|spec| spec.image.clone()).unwrap_or_default()
    }

    fn ensure_image(&mut self, slot: Slot) {
        let image = self.image(slot);
        let spec = spec_of(&self.pod.spec, slot);
        let policy = spec.and_then(|spec| spec.image_pull_policy.as_deref());
        let policy = PullPolicy::of(policy, &image);
        let key = (self.record.uid.clone(), image.clone());
        let present = self.host.has_image(&image);
        let manager = &mut self.host.image_manager;
        match manager.ensure(&key, policy, |_| Ok(present), self.now) {
            Ensured::Present => {
                let text = image_manager::present_message(&image);
                self.tell(slot, EventType::Normal, "Pulled", text);
                self.create(slot);
            }
            Ensured::Pull => self.begin_pull(slot, &image),
            Ensured::Refused(error) => self.refuse(slot, error),
        }
    }

    fn begin_pull(&mut self, slot: Slot, image: &Str) {
        let text = format!("Pulling image {:?}", &**image);
        self.tell(slot, EventType::Normal, "Pulling", text);
        let behaviour = self.images.behaviour(image);
        let span = self.host.begin_pull(image, behaviour, self.now);
        if let Some(container) = self.record.container_mut(slot) {
            container.behaviour = behaviour;
            container.busy = Busy::Pulling { since: self.now };
        }
        self.wait_for(slot, span);
    }

    fn take_pull(&mut self, slot: Slot, since: Time, error: Option<String>) {
        let image = self.image(slot);
        let key = (self.record.uid.clone(), image.clone());
        let result = error.as_deref().map_or(Ok(()), Err);
        match self.host.image_manager.pull_ended(&key, result, self.now) {
            Ok(()) => {
                let took = self.now.since(since);
                let size = image::size_of(&image);
                let text = image_manager::pulled_message(&image, took, took, size);
                self.tell(slot, EventType::Normal, "Pulled", text);
                self.create(slot);
            }
            Err(error) => self.refuse(slot, error),
        }
    }

    /// There is no image: says so, and looks again when that may have changed.
    fn refuse(&mut self, slot: Slot, error: ImageError) {
        let key = (self.record.uid.clone(), self.image(slot));
        let retry = self.host.image_manager.retry_at(&key);
        self.look_again(match error.reason {
            "ImagePullBackOff" => retry.unwrap_or(self.now + LATER_LOOK),
            "ErrImageNeverPull" | "ImageInspectError" => self.now + LATER_LOOK,
            _ => self.now + SECOND_LOOK,
        });
        let waiting = (error.reason.into(), error.message.into());
        let Some(container) = self.record.container_mut(slot) else {
            return;
        };
        if container.waiting.as_ref() == Some(&waiting) {
            return;
        }
        container.waiting = Some(waiting);
        let (kind, reason, message) = error.event;
        self.tell(slot, kind, reason, message);
        let text = format!("Error: {}", error.reason);
        self.tell(slot, EventType::Warning, "Failed", text);
    }

    fn create(&mut self, slot: Slot) {
        self.tell(
            slot,
            EventType::Normal,
            "Created",
            "Container created".into(),
        );
        let behaviour = self.images.behaviour(&self.image(slot));
        let spec = spec_of(&self.pod.spec, slot);
        let (Some(container), Some(spec)) = (self.record.container_mut(slot), spec) else {
            return;
        };
        container.behaviour = behaviour;
        container.busy = Busy::Starting;
        let span = container.start_takes(spec);
        if span.is_zero() {
            let ends = self.record.start(self.host, slot, self.now);
            self.timers.extend(ends);
        } else {
            self.wait_for(slot, span);
        }
    }

    fn wait_for(&mut self, slot: Slot, span: Duration) {
        let token = self.host.next_number();
        let timer = self.record.container_timer(slot, token);
        self.timers.extend(timer.map(|timer| (span, timer)));
    }

    fn look_again(&mut self, at: Time) {
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
                self.tell(
                    slot,
                    EventType::Normal,
                    "Started",
                    "Container started".into(),
                );
            }
        }
    }

    fn tell(&mut self, slot: Slot, kind: EventType, reason: &str, message: String) {
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
        let status = status::of(self.record, self.pod, known, &self.host.ip, stage, self.now);
        if status == *known {
            return;
        }
        let after = Arc::new(with_status(self.pod, status));
        self.record.told = Some(after.clone());
        self.record.write = Write::Sent;
        let request = Request::Update(Part::Status, after);
        self.plan.then(Intent {
            tolerates: |error| error.reason == Reason::NotFound,
            ..Intent::new(Deed::Status, request)
        });
    }
}

/// The pod with this status, to be written whatever its version is; only its uid must agree.
fn with_status(pod: &Pod, status: PodStatus) -> Object {
    let mut metadata = pod.metadata.clone();
    metadata.resource_version = 0;
    Object::Pod(Pod {
        metadata,
        spec: pod.spec.clone(),
        status,
    })
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

/// A pod as the kubelet's messages name it (`format.Pod`).
fn pod_text(pod: &Pod) -> String {
    let meta = &pod.metadata;
    format!("{}_{}({})", meta.name, meta.namespace, meta.uid)
}
