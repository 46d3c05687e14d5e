//! One pass of the level flavour: what the cache shows of a Deployment, and the requests that it
//! leads to, in the order of Kubernetes.
//!
//! Follows `pkg/controller/deployment/sync.go`. Different: Kubernetes looks for the new set twice
//! in a pass, and so may run into a conflict with itself and start again; here it looks once.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::api::{Deployment, DeploymentStatus, Kind, Object, Pod, ReplicaSet, Str};
use crate::apiserver::Reason;
use crate::controllers::{Context, Deed, EventNote, Fact, Fallback, Finish, Intent, Plan, here};

use super::rollout::{Move, Moves, Resize, Rollout, Running};
use super::{claim, matching, new_set, progress, recreate, status, writes};

/// A pass that is being thought through.
pub(super) struct Pass<'a> {
    cx: &'a Context<'a>,
    seen: &'a Arc<Object>,
    /// As seen, with what the pass has written to it.
    deployment: Deployment,
    /// As seen, with what the pass has written to them, sizes excepted: as in Kubernetes, the
    /// status at the end of a pass tells of the sizes at its beginning.
    sets: Vec<Cow<'a, ReplicaSet>>,
    /// Sets that the pass has resized.
    resized: BTreeMap<Str, ReplicaSet>,
    plan: Plan,
}

/// A Deployment whose selector is empty is left alone: it would select all pods.
pub(super) fn selects_all(seen: &Arc<Object>, deployment: &Deployment) -> Plan {
    let text = "This deployment is selecting all pods. A non-empty selector is required.";
    let mut plan = Plan::default();
    plan.events.push(EventNote::warning(seen, "SelectingAll", text));
    let generation = deployment.metadata.generation;
    if deployment.status.observed_generation < generation {
        let mut after = deployment.clone();
        after.status.observed_generation = generation;
        plan.finish = Some(Finish::plain(seen.clone(), after.into()));
    }
    plan
}

impl<'a> Pass<'a> {
    /// Begins with the sets that are the Deployment's (`getReplicaSetsForDeployment`).
    pub fn new(seen: &'a Arc<Object>, deployment: &Deployment, cx: &'a Context<'a>) -> Pass<'a> {
        let claim = claim::claim(deployment, cx.cache);
        Pass {
            cx,
            seen,
            deployment: deployment.clone(),
            sets: claim.owned,
            resized: BTreeMap::new(),
            plan: Plan { batches: claim.batches, ..Plan::default() },
        }
    }

    /// Notes a pause or its end.
    pub fn note_pause(&mut self) {
        if progress::note_pause(&mut self.deployment, progress::since_1970(self.cx.now)) {
            self.write_status();
        }
    }

    /// Keeps the present set in step with the Deployment, and the other way round.
    pub fn keep_in_step(&mut self) {
        let sets: Vec<&ReplicaSet> = self.sets.iter().map(|set| &**set).collect();
        let Some(new) = matching::find_new(&self.deployment, sets.iter().copied()) else {
            return;
        };
        let old = matching::find_old(&self.deployment, &sets);
        match new_set::in_step(&self.deployment, new, &old) {
            Some(after) => {
                self.plan.trail.push(here!());
                self.plan.then(writes::update(Deed::Update, after.clone()));
                self.replace(after);
            }
            None => {
                let new = new.clone();
                if new_set::note_found(&mut self.deployment, &new, self.cx.timestamp()) {
                    self.write_status();
                }
            }
        }
    }

    /// What the sets should do next.
    pub fn moves(&self) -> Result<Moves, String> {
        let sets: Vec<&ReplicaSet> = self.sets.iter().map(|set| &**set).collect();
        let rollout = Rollout {
            deployment: &self.deployment,
            new: matching::find_new(&self.deployment, sets.iter().copied()),
            old: matching::find_old(&self.deployment, &sets),
            pods: &|| self.running(),
        };
        rollout.moves().map_err(|error| error.to_string())
    }

    fn running(&self) -> Running<'_> {
        let cache = self.cx.cache;
        Box::new(self.sets.iter().map(move |set| {
            let uid = &set.metadata.uid;
            let mut pods = cache.owned_by(Kind::Pod, uid).filter_map(|pod| pod.as_pod());
            (uid, pods.any(|pod: &Pod| recreate::may_run(pod)))
        }))
    }

    /// Adds the requests of a move.
    pub fn carry_out(&mut self, step: Move) {
        match step {
            Move::Create(set) => {
                self.plan.trail.push(here!());
                self.create(*set);
            }
            Move::Resize(resize) => {
                self.plan.trail.push(here!());
                self.resize(&resize);
            }
            Move::Delete(name) => {
                self.plan.trail.push(here!());
                if let Some(set) = self.set(&name) {
                    let intent = writes::delete(set);
                    self.plan.then(intent);
                }
            }
        }
    }

    fn set(&self, name: &Str) -> Option<&ReplicaSet> {
        let seen = || self.sets.iter().map(|set| &**set).find(|set| set.metadata.name == *name);
        self.resized.get(name).or_else(seen)
    }

    fn replace(&mut self, after: ReplicaSet) {
        self.sets.retain(|set| set.metadata.name != after.metadata.name);
        self.sets.push(Cow::Owned(after));
    }

    fn resize(&mut self, resize: &Resize) {
        let Some(set) = self.set(&resize.name) else {
            return;
        };
        let after = writes::resized(set, resize.to, &self.deployment);
        let mut intent = writes::update(Deed::ScaleReplicaSet, after.clone());
        intent.on_success = writes::scaling_event(self.seen, resize);
        self.plan.then(intent);
        self.resized.insert(resize.name.clone(), after);
    }

    fn create(&mut self, set: ReplicaSet) {
        let mut intent = writes::create(self.seen, &set);
        intent.fallbacks.push(self.name_is_taken(&set));
        intent.fallbacks.extend(writes::not_made(
            self.seen,
            &self.deployment,
            &set,
            writes::update_status,
            self.cx,
        ));
        self.plan.then(intent);
        let changed = new_set::note_made(&mut self.deployment, &set, self.cx.timestamp());
        self.sets.push(Cow::Owned(set));
        if changed {
            self.write_status();
        }
    }

    /// A set of that name is there already. If the cache shows whose it is, the hash has clashed,
    /// and the next one is tried. Otherwise it is most likely our own, of which the cache knows
    /// nothing yet: the pass is tried again.
    fn name_is_taken(&self, set: &ReplicaSet) -> Fallback {
        let mut clashed = self.deployment.clone();
        let count = clashed.status.collision_count.unwrap_or(0);
        clashed.status.collision_count = Some(count.saturating_add(1));
        let collides = new_set::collides(&self.deployment, set, self.cx.cache);
        Fallback {
            applies: |error| error.reason == Reason::AlreadyExists,
            write: collides.then(|| writes::update_status(&clashed)),
            event: None,
        }
    }

    fn write_status(&mut self) {
        let request = writes::update_status(&self.deployment);
        self.plan.then(Intent::new(Deed::Status, request));
    }

    /// Ends the pass with an error.
    pub fn fail(mut self, error: String) -> Plan {
        self.tell_facts();
        self.plan.error = Some(error);
        self.plan
    }

    /// Ends the pass with the status. As in Kubernetes it is not written if anything failed before.
    pub fn finish(mut self, is_rollout: bool) -> Plan {
        self.tell_facts();
        let now = progress::since_1970(self.cx.now);
        let status = self.status(is_rollout, now);
        self.plan.preparations = self.plan.batches.len();
        if status == self.deployment.status {
            if is_rollout {
                let delay = progress::requeue_delay(&self.deployment, &status, now);
                self.plan.requeue_after = delay.map(progress::requeue_after);
                self.plan.limited = delay.is_some_and(|delay| delay.is_zero());
            }
            return self.plan;
        }
        let before = Arc::new(Object::Deployment(self.deployment.clone()));
        self.deployment.status = status;
        self.plan.finish = Some(Finish::plain(before, self.deployment.into()));
        self.plan
    }

    fn status(&self, is_rollout: bool, now: std::time::Duration) -> DeploymentStatus {
        let sets: Vec<&ReplicaSet> = self.sets.iter().map(|set| &**set).collect();
        let new = matching::find_new(&self.deployment, sets.iter().copied());
        if is_rollout {
            progress::rollout_status(&self.deployment, &sets, new, now)
        } else {
            status::calculate(&self.deployment, &sets, new, self.cx.timestamp())
        }
    }

    fn tell_facts(&mut self) {
        let sets: Vec<&ReplicaSet> = self.sets.iter().map(|set| &**set).collect();
        (self.plan.sees, self.plan.wants) = facts(&self.deployment, &sets);
    }
}

/// For the sentence: pods of the present template, of all; and the pods wanted.
pub(super) fn facts(deployment: &Deployment, sets: &[&ReplicaSet]) -> (Fact, Fact) {
    let new = matching::find_new(deployment, sets.iter().copied());
    let updated = new.map_or(0, |set| i64::from(set.spec.replicas()));
    let wanted = i64::from(deployment.spec.replicas());
    (Fact::Of(updated, status::size_sum(sets)), Fact::Count(wanted))
}
