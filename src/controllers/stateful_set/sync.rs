//! One look at a StatefulSet (`stateful_set_control.go`).

use std::sync::Arc;
use std::time::Duration;

use crate::api::{Kind, Object, ObjectKey, Pod, PodTemplateSpec};
use crate::apiserver::Request;
use crate::controllers::owned::{Owner, Reach, Revisions, claim, pod_wakes, write_status};
use crate::controllers::replica_set::status::available_at;
use crate::controllers::{Batch, Change, Context, Fact, Fallback, Finish, Plan, Woken, here};

use super::pods::{creation, deletion, is_healthy, is_ready, new_pod, ordinal, revision, selects};
use super::set_view::{SetSpec, SetStatus};

const REACH: Reach = Reach { kind: Kind::StatefulSet, selects, collects: Duration::ZERO };

/// Which sets a change wakes.
pub fn wakes(change: &Change, cx: &Context<'_>) -> Woken {
    if change.object.kind() == Kind::StatefulSet {
        return Woken { keys: vec![change.key()], ..Woken::default() };
    }
    pod_wakes(change, cx, REACH)
}

/// A pass over one set.
struct Pass<'a> {
    object: &'a Arc<Object>,
    spec: SetSpec,
    revisions: Revisions<'a>,
    /// The current revision, and its template.
    current: (String, PodTemplateSpec),
    /// The pod of each ordinal, from the first.
    replicas: Vec<Option<&'a Pod>>,
    /// Pods of other ordinals, the highest first.
    condemned: Vec<&'a Pod>,
    status: SetStatus,
    plan: Plan,
    cx: Context<'a>,
}

/// Decides what to do about the StatefulSet of this key.
pub fn sync(key: &ObjectKey, cx: &Context<'_>) -> Plan {
    let Some(object) = cx.cache.get(key) else {
        return Plan::nothing(Fact::Gone, Fact::Gone).by(here!());
    };
    let Some(set) = object.as_generic() else { return Plan::default() };
    let spec = SetSpec::of(set);
    let owner = Owner { object, selector: &spec.selector, finalizer: None };
    let claim = claim(owner, cx.cache, |pod| ordinal(object, pod).is_some());
    let mut pass = Pass::new(object, spec, claim.pods, cx);
    let prepared = claim.batches.into_iter().chain(std::mem::take(&mut pass.revisions.batches));
    pass.plan.batches = prepared.collect();
    pass.plan.preparations = pass.plan.batches.len();
    if object.meta().is_terminating() {
        pass.plan.trail.push(here!());
        pass.plan.wants = Fact::Gone;
    } else {
        pass.work();
    }
    pass.finish()
}

impl<'a> Pass<'a> {
    fn new(
        object: &'a Arc<Object>,
        spec: SetSpec,
        pods: Vec<&'a Pod>,
        cx: &Context<'a>,
    ) -> Pass<'a> {
        let revisions = Revisions::of(object, cx.cache);
        let before = object.as_generic().map(SetStatus::of).unwrap_or_default();
        let known = revisions.template(&before.current_revision);
        let current = match known {
            Some(template) => (before.current_revision.to_string(), template),
            None => (revisions.update.to_string(), spec.template.clone()),
        };
        let mut replicas = vec![None; spec.replicas as usize];
        let mut condemned = Vec::new();
        for pod in pods {
            let Some(ordinal) = ordinal(object, pod) else { continue };
            let place = usize::try_from(ordinal - spec.start).ok();
            match place.and_then(|place| replicas.get_mut(place)) {
                Some(place) => *place = Some(pod),
                None => condemned.push(pod),
            }
        }
        condemned.sort_by_key(|pod| std::cmp::Reverse(ordinal(object, pod)));
        let wants = Fact::Count(spec.replicas.into());
        let mut pass = Pass {
            object,
            spec,
            current,
            replicas,
            condemned,
            status: SetStatus {
                update_revision: revisions.update.clone(),
                observed_generation: object.meta().generation,
                conditions: before.conditions,
                ..SetStatus::default()
            },
            revisions,
            plan: Plan::nothing(Fact::None, wants),
            cx: *cx,
        };
        pass.status.current_revision = pass.current.0.as_str().into();
        pass.count();
        pass.plan.sees = Fact::Count(pass.status.replicas.into());
        pass
    }

    fn pods(&self) -> impl Iterator<Item = &'a Pod> + '_ {
        self.replicas.iter().flatten().copied().chain(self.condemned.iter().copied())
    }

    fn count(&mut self) {
        let pods: Vec<&Pod> = self.pods().collect();
        for pod in pods {
            let status = &mut self.status;
            status.replicas += 1;
            if is_ready(pod) {
                status.ready += 1;
                let seconds = self.spec.min_ready_seconds;
                status.available += i32::from(pod.is_available(seconds, self.cx.timestamp()));
            }
            if !pod.metadata.is_terminating() {
                self.count_revision(revision(pod), 1);
            }
        }
    }

    fn count_revision(&mut self, revision: &str, by: i32) {
        self.status.current += if *revision == *self.current.0 { by } else { 0 };
        self.status.updated += if *revision == *self.revisions.update { by } else { 0 };
    }

    /// The replicas, then those that are too many, then the update. In order, the first that is
    /// not as it should be ends the pass.
    fn work(&mut self) {
        let first_unhealthy = self.first_unhealthy();
        for place in 0..self.replicas.len() {
            if self.work_on(place) {
                return;
            }
        }
        for pod in self.condemned.clone() {
            if self.condemn(pod, first_unhealthy) {
                return;
            }
        }
        if !self.spec.on_delete {
            self.update();
        }
    }

    /// The unhealthy pod of the lowest ordinal, or the first of those that are too many.
    fn first_unhealthy(&self) -> Option<&'a Pod> {
        self.pods().find(|pod| !is_healthy(pod))
    }

    /// Whether the pass ends here.
    fn work_on(&mut self, place: usize) -> bool {
        let ordered = self.spec.ordered;
        let Some(pod) = self.replicas[place] else {
            self.plan.trail.push(here!());
            self.create(place);
            return ordered;
        };
        if pod.is_finished() {
            self.plan.trail.push(here!());
            if !pod.metadata.is_terminating() {
                self.plan.then(deletion(self.object, pod));
            }
            return ordered;
        }
        let seconds = self.spec.min_ready_seconds;
        let stands = is_healthy(pod) && pod.is_available(seconds, self.cx.timestamp());
        ordered && !stands
    }

    fn create(&mut self, place: usize) {
        let (start, update) = (self.spec.start, self.revisions.update.to_string());
        let ordinal = start + place as i32;
        let stays = !self.spec.on_delete && (place as i32) < self.spec.partition;
        let (name, template) = if stays {
            (self.current.0.clone(), self.current.1.clone())
        } else {
            (update, self.spec.template.clone())
        };
        let pod = new_pod(self.object, &self.spec, &template, &name, ordinal);
        let write = write_status(self.object, self.status.to_value());
        let mut batches = creation(self.object, &self.spec, pod, self.cx.cache);
        for intent in batches.iter_mut().flatten() {
            let write = write.clone();
            intent.fallbacks = vec![Fallback { applies: |_| true, write, event: None }];
        }
        self.plan.batches.extend(batches);
        self.status.replicas += 1;
        self.count_revision(&name, 1);
    }

    fn condemn(&mut self, pod: &'a Pod, first_unhealthy: Option<&Pod>) -> bool {
        let ordered = self.spec.ordered;
        if pod.metadata.is_terminating() {
            return ordered;
        }
        let is_first = first_unhealthy.is_some_and(|first| first.metadata.uid == pod.metadata.uid);
        let seconds = self.spec.min_ready_seconds;
        let stands = is_ready(pod) && pod.is_available(seconds, self.cx.timestamp());
        if ordered && !stands && !is_first {
            return true;
        }
        self.plan.trail.push(here!());
        self.delete(pod);
        ordered
    }

    fn delete(&mut self, pod: &Pod) {
        self.plan.then(deletion(self.object, pod));
        self.count_revision(revision(pod), -1);
    }

    /// Deletes the pod of the highest ordinal that is of another revision, unless one behind it is
    /// not well (`updateStatefulSetAfterInvariantEstablished`).
    fn update(&mut self) {
        let first = (self.spec.partition as usize).min(self.replicas.len());
        for place in (first..self.replicas.len()).rev() {
            let Some(pod) = self.replicas[place] else { return };
            let outdated = *revision(pod) != *self.revisions.update;
            if outdated && !pod.metadata.is_terminating() {
                self.plan.trail.push(here!());
                return self.delete(pod);
            }
            if !is_healthy(pod) {
                self.plan.trail.push(here!());
                return;
            }
        }
    }

    fn finish(mut self) -> Plan {
        let (wanted, status) = (self.spec.replicas, &mut self.status);
        let all = status.updated == wanted && status.ready == wanted && status.replicas == wanted;
        if !self.spec.on_delete && all {
            status.current = status.updated;
            status.current_revision = status.update_revision.clone();
        }
        self.look_when_available();
        let spent = self.spent();
        if !spent.is_empty() {
            self.plan.batches.push(spent);
        }
        if let Some(Request::Update(_, after)) = write_status(self.object, self.status.to_value()) {
            self.plan.finish = Some(Finish::plain(self.object.clone(), Object::clone(&after)));
        }
        self.plan
    }

    fn spent(&self) -> Batch {
        let current = self.status.current_revision.clone();
        let is_live = |found: &crate::api::Generic| {
            let name = &found.metadata.name;
            *name == current
                || **name == *self.current.0
                || self.pods().any(|pod| *revision(pod) == **name)
        };
        self.revisions.truncate(is_live, self.spec.history_limit)
    }

    fn look_when_available(&mut self) {
        let seconds = self.spec.min_ready_seconds;
        if seconds > 0 && self.status.ready != self.status.available {
            let now = self.cx.now;
            let waits = self.pods().filter_map(|pod| Some(available_at(pod, seconds)?.since(now)));
            self.plan.requeue_after = waits.filter(|wait| !wait.is_zero()).min();
        }
    }
}
