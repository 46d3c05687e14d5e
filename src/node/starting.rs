//! Brings a container up: back-off after a crash, then its image, then the container itself.
//!
//! Follows `startContainer` (`pkg/kubelet/kuberuntime/kuberuntime_container.go`) and `doBackOff`
//! (`kuberuntime_manager.go`). Each step that takes time ends the pass. The second look that shows
//! CrashLoopBackOff after Error, and ImagePullBackOff after ErrImagePull, comes a second later; in
//! a cluster something between one and some fifteen seconds.

use std::time::Duration;

use crate::api::{EventType, Pod, Str};
use crate::kernel::Time;

use super::backoff::{RestartHeldBack, may_restart};
use super::container::{Busy, spec_of};
use super::image;
use super::image_manager::{self, Ensured, ImageError, PullPolicy};
use super::pod_actions::Slot;
use super::pod_worker::Pass;

/// After how long a container is looked at again that ended or got no image: the period in which
/// the kubelet asks the runtime what happened (PLEG).
const SECOND_LOOK: Duration = Duration::from_secs(1);
/// The same for what nothing is known to change (`backOffPeriod` of the pod workers).
const LATER_LOOK: Duration = Duration::from_secs(10);

impl Pass<'_> {
    /// Brings a container as far as it goes now.
    pub fn try_start(&mut self, slot: Slot) {
        let Some(container) = self.record.container_mut(slot) else {
            return;
        };
        match std::mem::replace(&mut container.busy, Busy::Idle) {
            busy @ (Busy::Pulling { .. } | Busy::Starting) => container.busy = busy,
            Busy::PullEnded { image, since, error } => self.take_pull(slot, image, since, error),
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
        self.tell(slot, EventType::Warning, RestartHeldBack::EVENT_REASON, event);
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
            container.busy = Busy::Pulling { image: image.clone(), since: self.now };
        }
        self.wait_for(slot, span);
    }

    fn take_pull(&mut self, slot: Slot, image: Str, since: Time, error: Option<String>) {
        if image != self.image(slot) {
            // Meanwhile it shall have another one.
            return self.ensure_image(slot);
        }
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
        match error.reason {
            "ImagePullBackOff" => self.look_again(retry.unwrap_or(self.now + LATER_LOOK)),
            // Another pod's pull may bring it.
            "ErrImageNeverPull" => self.look_again(self.now + LATER_LOOK),
            // Nothing but another name helps, and that wakes by itself.
            "InvalidImageName" => {}
            _ => self.look_again(self.now + SECOND_LOOK),
        }
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
        self.tell(slot, EventType::Normal, "Created", "Container created".into());
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
}

/// A pod as the kubelet's messages name it (`format.Pod`).
fn pod_text(pod: &Pod) -> String {
    let meta = &pod.metadata;
    format!("{}_{}({})", meta.name, meta.namespace, meta.uid)
}
