//! The kubelet of one node, and the node itself as far as it runs containers.
//!
//! Follows `pkg/kubelet/kubelet.go` and `pod_workers.go`. Two things live in it that die apart: the
//! process (back-offs, probe results, what it believes to have written), which `restart` forgets,
//! and the machine (containers, sandboxes, images), which goes on without the process and stops
//! with `power_off`.
//!
//! The caller's part: watch the pods whose `spec.nodeName` is this node's; put the keys that
//! `wakes`, `on_timer` and the faults name into a queue; give each key to `sync`, one pass for a
//! key at a time and none before the cache holds its first list (a pod that is not in it counts as
//! deleted); send what the plan says and hand every answer to `answered`; give every timer back
//! when it is due, also while the process is down (but not those that are `is_of_process`).

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use crate::api::{Object, ObjectKey, Pod, Str};
use crate::apiserver::Response;
use crate::controllers::{Change, ChangeKind, Context, Plan, Woken};
use crate::kernel::Time;

use super::admission;
use super::container::Busy;
use super::host::Host;
use super::image::Images;
use super::logs::{self, Written};
use super::pod_actions::Slot;
use super::pod_record::{PodRecord, Write};
use super::pod_worker::Pass;
use super::probe::ProbeKind;
use super::probing;
use super::timer::{Fired, Timer, Wait};

/// The kubelet of one node.
#[derive(Clone, Debug)]
pub struct Kubelet {
    pub(super) host: Host,
    /// By uid: of two pods with one name, the old one may still be stopping. Shared with copies of
    /// the kubelet until one of them changes it, so that a copy is cheap.
    pub(super) pods: BTreeMap<Str, Arc<PodRecord>>,
    /// The uid of the pod that the API has under a name.
    pub(super) names: BTreeMap<ObjectKey, Str>,
    /// Pods that are gone, for whoever still reads what their containers wrote.
    gone: VecDeque<Arc<PodRecord>>,
    pub(super) is_powered: bool,
    pub(super) is_registered: bool,
}

/// So many of them.
const GONE_KEPT: usize = 16;

/// What a pass decided, and what it will wait for, after these times.
pub type PodPass = (Plan, Vec<(Duration, Timer)>);

impl Kubelet {
    /// A kubelet on a node that has run nothing yet.
    pub fn new(node_name: impl Into<Str>) -> Kubelet {
        Kubelet {
            host: Host::new(node_name.into()),
            pods: BTreeMap::new(),
            names: BTreeMap::new(),
            gone: VecDeque::new(),
            is_powered: true,
            is_registered: false,
        }
    }

    /// The name of its node.
    pub fn node_name(&self) -> &Str {
        &self.host.node_name
    }

    /// The address of its node.
    pub fn node_ip(&self) -> &Str {
        &self.host.ip
    }

    /// Whether the node is on.
    pub fn is_powered(&self) -> bool {
        self.is_powered
    }

    /// Whether it has made its Node known since it started. It does so once: if the Node is deleted
    /// afterwards, it goes on without one.
    pub fn is_registered(&self) -> bool {
        self.is_registered
    }

    /// Its Node is known.
    pub fn note_registration(&mut self) {
        self.is_registered = true;
    }

    /// Whether a pod belongs to this node.
    pub fn has(&self, object: &Object) -> bool {
        object.as_pod().is_some_and(|pod| pod.spec.node_name.as_ref() == Some(&self.host.node_name))
    }

    /// Which pods to look at after a change. The echo of its own status writes wakes nobody.
    pub fn wakes(&self, change: &Change) -> Woken {
        let is_ours = self.has(&change.object) || self.names.contains_key(&change.key());
        let mut woken = Woken::default();
        if is_ours && !self.is_own_echo(change) {
            woken.keys.push(change.key());
        }
        woken
    }

    fn is_own_echo(&self, change: &Change) -> bool {
        let (ChangeKind::Updated, Some(before)) = (change.kind, &change.before) else {
            return false;
        };
        let (Some(before), Some(after)) = (before.as_pod(), change.object.as_pod()) else {
            return false;
        };
        let (old, new) = (&before.metadata, &after.metadata);
        let record = self.pods.get(&new.uid);
        let told = record.and_then(|record| record.told.as_ref()?.as_pod());
        old.resource_version != new.resource_version
            && told.is_some_and(|told| told.status == after.status)
            && old.uid == new.uid
            && old.deletion_timestamp == new.deletion_timestamp
            && old.deletion_grace_period_seconds == new.deletion_grace_period_seconds
            && old.labels == new.labels
            && old.annotations == new.annotations
            && before.spec == after.spec
    }

    /// One pass over one pod.
    pub fn sync(&mut self, key: &ObjectKey, cx: &Context, images: &Images) -> PodPass {
        if !self.is_powered {
            return Default::default();
        }
        let object = cx.cache.get(key).filter(|object| self.has(object)).cloned();
        let uid = object.as_ref().map(|object| object.meta().uid.clone());
        let mut before = Default::default();
        if let Some(known) = self.names.get(key).cloned()
            && uid.as_ref() != Some(&known)
        {
            self.names.remove(key);
            before = self.let_go(&known, images, cx.now);
        }
        let Some(object) = object else {
            return before;
        };
        let (mut plan, mut timers) = self.sync_pod(key, &object, images, cx.now);
        plan.events.splice(0..0, before.0.events);
        timers.extend(before.1);
        (plan, timers)
    }

    fn sync_pod(
        &mut self,
        key: &ObjectKey,
        object: &Arc<Object>,
        images: &Images,
        now: Time,
    ) -> PodPass {
        let Some(pod) = object.as_pod() else {
            return Default::default();
        };
        let uid = &pod.metadata.uid;
        if !self.names.contains_key(key) {
            self.names.insert(key.clone(), uid.clone());
        }
        if !self.pods.contains_key(uid) {
            let record = self.taken_in(object, pod);
            self.pods.insert(uid.clone(), Arc::new(record));
        }
        let Some(record) = self.pods.get_mut(uid).map(Arc::make_mut) else {
            return Default::default();
        };
        Pass::new(&mut self.host, record, object, pod, images, now).run()
    }

    /// A pod that is new to the node, with the reason if it does not fit.
    fn taken_in(&self, object: &Arc<Object>, pod: &Pod) -> PodRecord {
        let mut record = PodRecord::new(object, pod);
        let is_new = !pod.is_finished() && !pod.metadata.is_terminating();
        if is_new && !admission::needs_no_look(&record.usage, self.pods.len()) {
            let others = self.pods.values().filter(|record| record.takes_its_place());
            let others = others.map(|record| &record.usage);
            record.refusal = admission::admit(&record.usage, others).err();
        }
        record
    }

    fn let_go(&mut self, uid: &Str, images: &Images, now: Time) -> PodPass {
        let Some(record) = self.pods.get_mut(uid).map(Arc::make_mut) else {
            return Default::default();
        };
        let object = record.seen.clone();
        let Some(pod) = object.as_pod() else {
            return Default::default();
        };
        let pass = Pass::new(&mut self.host, record, &object, pod, images, now);
        let decided = pass.let_go();
        self.bury(uid);
        decided
    }

    /// Forgets a pod that is gone when its last container has stopped.
    fn bury(&mut self, uid: &Str) {
        let is_over = |record: &PodRecord| record.is_gone && !record.any_running();
        let Some(record) = self.pods.get(uid).filter(|record| is_over(record)) else {
            return;
        };
        for (_, container) in record.containers() {
            if let Some(run) = &container.run {
                let key = (uid.clone(), container.name.clone(), run.image.clone());
                self.host.restarts.reset(&key);
            }
        }
        let images: Vec<Str> = images_of(record);
        for image in images {
            self.host.image_manager.forget(&(uid.clone(), image));
        }
        self.gone.extend(self.pods.remove(uid));
        let surplus = self.gone.len().saturating_sub(GONE_KEPT);
        self.gone.drain(..surplus);
    }

    /// Takes the answer to a request of a plan. Without it a write that failed would be taken for
    /// one that is on its way.
    pub fn answered(&mut self, key: &ObjectKey, response: &Response) {
        let Some(record) = self.record_mut(key) else {
            return;
        };
        match response {
            Ok(object) if record.write == Write::Sent && object.meta().uid == record.uid => {
                record.write = Write::Stored(object.meta().resource_version);
            }
            Ok(_) => {}
            Err(_) => {
                record.write = Write::Settled;
                record.is_delete_sent = false;
            }
        }
    }

    /// Something that was waited for is due.
    pub fn on_timer(&mut self, timer: &Timer, now: Time) -> Fired {
        let mut fired = Fired::default();
        if !self.is_powered {
            return fired;
        }
        match timer.what {
            Wait::Container(slot) => self.container_is_due(timer, slot, now, &mut fired),
            Wait::Probe(slot, kind) => self.probe_is_due(timer, slot, kind, now, &mut fired),
            Wait::Look => {
                if let Some(record) = self.pods.get_mut(&timer.pod).map(Arc::make_mut)
                    && record.look.is_some_and(|(_, token)| token == timer.token)
                {
                    record.look = None;
                    fired.keys.push(record.key.clone());
                }
            }
        }
        fired
    }

    fn container_is_due(&mut self, timer: &Timer, slot: Slot, now: Time, fired: &mut Fired) {
        let Some(record) = self.pods.get_mut(&timer.pod).map(Arc::make_mut) else {
            return;
        };
        let Some(container) = record.container_mut(slot) else {
            return;
        };
        if container.token != timer.token {
            return;
        }
        container.token = 0;
        match std::mem::replace(&mut container.busy, Busy::Idle) {
            Busy::Pulling { image, since } => {
                let error = container.behaviour.pull.error(&image);
                if error.is_none() {
                    self.host.image_arrived(&image);
                }
                container.busy = Busy::PullEnded { image, since, error };
            }
            Busy::Starting => {
                let ends = record.start(&mut self.host, slot, now);
                fired.timers.extend(ends);
            }
            Busy::Idle | Busy::PullEnded { .. } => container.end_as_planned(now),
        }
        if record.is_gone {
            self.bury(&timer.pod);
        } else {
            fired.keys.push(record.key.clone());
        }
    }

    fn probe_is_due(
        &mut self,
        timer: &Timer,
        slot: Slot,
        kind: ProbeKind,
        now: Time,
        fired: &mut Fired,
    ) {
        let Some(record) = self.pods.get_mut(&timer.pod).map(Arc::make_mut) else {
            return;
        };
        let seen = record.seen.clone();
        let (Some(pod), Some(container)) = (seen.as_pod(), record.container_mut(slot)) else {
            return;
        };
        if !container.probers.take_tick(kind, timer.token) {
            return;
        }
        let ticked = probing::tick(container, pod, kind, now);
        if ticked.has_failed {
            record.unhealthy.push((slot, kind));
        }
        if ticked.is_news || ticked.has_failed {
            // The pass that follows also sees to the next tick.
            fired.keys.push(record.key.clone());
            return;
        }
        let container = record.container_mut(slot);
        let next = container.and_then(|container| {
            let run = container.running()?;
            container.probers.next_tick(kind, run, now)
        });
        if let Some(span) = next {
            let token = self.host.next_number();
            if let Some(container) = record.container_mut(slot) {
                container.probers.expect_tick(kind, token);
            }
            fired.timers.push((span, record.timer(Wait::Probe(slot, kind), token)));
        }
    }

    /// What a container has said; the first of the pod, if none is named. The error is kubectl's.
    pub fn logs(
        &self,
        pod: &ObjectKey,
        container: Option<&str>,
        previous: bool,
    ) -> Result<Vec<String>, String> {
        let uid = self.names.get(pod);
        let record = uid.and_then(|uid| self.pods.get(uid));
        logs::of(record.map(Arc::as_ref), pod, container, previous)
    }

    /// What the run of a container with this ID wrote, as long as it is known.
    pub fn written(&self, container_id: &str) -> Option<Written> {
        let records = self.pods.values().chain(&self.gone);
        logs::written(records.map(Arc::as_ref), container_id)
    }

    /// When a container that could not be pulled, or crashed, is tried again: the end of its
    /// back-off.
    pub fn tries_again_at(&self, pod: &str, container: &str, image: &str) -> Option<Time> {
        let (uid, image): (Str, Str) = (pod.into(), image.into());
        let restart = self.host.restarts.ends_at(&(uid.clone(), container.into(), image.clone()));
        let pull = self.host.image_manager.retry_at(&(uid, image));
        restart.max(pull)
    }

    /// How many containers run on the node, those of pods that are gone included.
    pub fn running_containers(&self) -> usize {
        if !self.is_powered {
            return 0;
        }
        let all = self.pods.values().flat_map(|record| record.containers());
        all.filter(|(_, container)| container.is_running()).count()
    }

    /// The pods of which a container runs, those that are gone included.
    pub fn running_pods(&self) -> impl Iterator<Item = &ObjectKey> {
        let powered = self.pods.values().filter(|_| self.is_powered);
        powered.filter(|record| record.any_running()).map(|record| &record.key)
    }

    pub(super) fn record_mut(&mut self, key: &ObjectKey) -> Option<&mut PodRecord> {
        let uid = self.names.get(key)?;
        self.pods.get_mut(uid).map(Arc::make_mut)
    }
}

fn image_of(object: &Object, slot: Slot) -> Str {
    let spec = object.as_pod().map(|pod: &Pod| &pod.spec);
    let container = spec.and_then(|spec| super::container::spec_of(spec, slot));
    container.and_then(|c| c.image.clone()).unwrap_or_default()
}

fn images_of(record: &PodRecord) -> Vec<Str> {
    let slots = record.slots();
    slots.into_iter().map(|slot| image_of(&record.seen, slot)).collect()
}
