//! What the edge flavour does about news of a Deployment. It goes on from its ledger, does what the
//! difference permits, and books what it did: nobody will tell it that its own write arrived.

use crate::api::{Deployment, DeploymentStatus, ObjectKey, ReplicaSet, Str};
use crate::apiserver::Reason;
use crate::controllers::{Context, Deed, Intent, Plan, here};

use super::claim::Seen;
use super::ledger::{Entry, Known, Ledger};
use super::rollout::{Move, Moves, Resize, Running};
use super::{annotations, claim, level, matching, new_set, progress, status, writes};

/// So many rounds of moves at once: each shrinks what is left to do, so this is never reached.
const ROUNDS_MAX: u32 = 64;

/// A reaction that is being thought through.
struct Reaction<'a> {
    cx: &'a Context<'a>,
    entry: &'a mut Entry,
    pods: &'a std::collections::BTreeMap<Str, i64>,
    plan: Plan,
}

/// Does what news of a Deployment permits: pass a new size on, make the next set, move surge and
/// unavailable pods, forget old sets; and tell the status.
pub(super) fn act(key: &ObjectKey, cx: &Context, ledger: &mut Ledger) -> Plan {
    react(key, cx, ledger, |reaction| {
        let terminating = reaction.entry.deployment.metadata.is_terminating();
        if !terminating {
            progress::note_pause(&mut reaction.entry.deployment, progress::since_1970(cx.now));
        }
        for _ in 0..ROUNDS_MAX {
            if !reaction.round(terminating) {
                break;
            }
        }
    })
}

/// The deadline may have passed: only the status can have changed.
pub(super) fn look_at_deadline(key: &ObjectKey, cx: &Context, ledger: &mut Ledger) -> Plan {
    react(key, cx, ledger, |reaction| {
        let deployment = &reaction.entry.deployment;
        let is_rollout = !deployment.spec.paused && !deployment.metadata.is_terminating();
        reaction.update_status(is_rollout);
    })
}

fn react(
    key: &ObjectKey,
    cx: &Context,
    ledger: &mut Ledger,
    act: impl FnOnce(&mut Reaction),
) -> Plan {
    let Ledger { entries, pods, .. } = ledger;
    let Some(entry) = entries.get_mut(key).filter(|e| !e.deployment.spec.selector.is_empty())
    else {
        return Plan::default();
    };
    let before = as_told(&entry.deployment);
    let (sees, wants) = level::facts(&entry.deployment, &entry.all());
    let plan = Plan { sees, wants, ..Plan::default() };
    let mut reaction = Reaction { cx, entry, pods, plan };
    act(&mut reaction);
    reaction.finish(before)
}

/// What a status write tells.
fn as_told(deployment: &Deployment) -> (DeploymentStatus, Option<Str>) {
    let revision = deployment.metadata.annotations.get(annotations::REVISION);
    (deployment.status.clone(), revision.cloned())
}

/// Takes a set that nobody controls, if the Deployment still lives.
pub(super) fn adopt(key: &ObjectKey, set: &ReplicaSet, ledger: &mut Ledger) -> Plan {
    let mut plan = Plan::default();
    if let Some(entry) = ledger.entries.get_mut(key) {
        plan.then(claim::guard(&entry.deployment));
        plan.then(claim::adopt(&entry.deployment, set, Seen::Whatever));
        let known = Known::told(claim::adopted(&entry.deployment, set));
        entry.sets.insert(set.metadata.name.clone(), known);
    }
    plan
}

/// Gives a set up.
pub(super) fn release(key: &ObjectKey, set: &ReplicaSet, ledger: &Ledger) -> Plan {
    let mut plan = Plan::default();
    if let Some(entry) = ledger.entries.get(key) {
        plan.then(claim::release(&entry.deployment, set, Seen::Whatever));
    }
    plan
}

impl Reaction<'_> {
    /// One round; whether there may be more to do.
    fn round(&mut self, terminating: bool) -> bool {
        if self.keep_in_step() {
            return true;
        }
        let moves = if terminating { Some(Moves::default()) } else { self.moves() };
        let Some(Moves { moves, is_rollout }) = moves else {
            return false;
        };
        if moves.is_empty() {
            self.plan.trail.push(here!());
            return self.update_status(is_rollout);
        }
        for step in moves {
            if !self.carry_out(step) {
                break;
            }
        }
        if !is_rollout {
            // What a change of size does to the numbers is no progress of a rollout.
            self.update_status(false);
        }
        true
    }

    /// None if the strategy cannot be read: nothing will change that but another edit.
    fn moves(&self) -> Option<Moves> {
        let running = || -> Running {
            Box::new(
                self.pods
                    .iter()
                    .filter(|(uid, _)| {
                        self.entry.sets.values().any(|known| known.set.metadata.uid == **uid)
                    })
                    .map(|(uid, count)| (uid, *count > 0)),
            )
        };
        self.entry.rollout(&running).moves().ok()
    }

    /// Keeps the present set in step with the Deployment, and the other way round. Whether the set
    /// was changed.
    fn keep_in_step(&mut self) -> bool {
        let Some(new) = self.entry.new_set() else {
            return false;
        };
        let old = matching::find_old(&self.entry.deployment, &self.entry.all());
        let after = new_set::in_step(&self.entry.deployment, new, &old);
        let new = new.clone();
        let Some(after) = after else {
            new_set::note_found(&mut self.entry.deployment, &new, self.cx.timestamp());
            return false;
        };
        self.plan.trail.push(here!());
        self.plan.then(writes::patch(Deed::Update, &new, &after));
        self.book(after);
        true
    }

    fn book(&mut self, set: ReplicaSet) {
        if let Some(known) = self.entry.sets.get_mut(&set.metadata.name) {
            known.set = set;
        }
    }

    /// Adds the request of a move and books it. False if it turned out to be another one.
    fn carry_out(&mut self, step: Move) -> bool {
        match step {
            Move::Create(set) => {
                self.plan.trail.push(here!());
                return self.create(*set);
            }
            Move::Resize(resize) => {
                self.plan.trail.push(here!());
                self.resize(&resize);
            }
            Move::Delete(name) => {
                self.plan.trail.push(here!());
                if let Some(known) = self.entry.sets.remove(&name) {
                    self.plan.then(writes::delete(&known.set));
                }
            }
        }
        true
    }

    fn resize(&mut self, resize: &Resize) {
        let Some(known) = self.entry.sets.get_mut(&resize.name) else {
            return;
        };
        let after = writes::resized(&known.set, resize.to, &self.entry.deployment);
        let mut intent = writes::patch(Deed::ScaleReplicaSet, &known.set, &after);
        intent.on_success = writes::scaling_event(&self.entry.object, resize);
        if resize.from != resize.to {
            known.own_sizes.push_back(resize.to);
        }
        known.set = after;
        self.plan.then(intent);
    }

    fn create(&mut self, mut set: ReplicaSet) -> bool {
        let deployment = &mut self.entry.deployment;
        if new_set::collides(deployment, &set, self.cx.cache) {
            let count = deployment.status.collision_count.unwrap_or(0);
            deployment.status.collision_count = Some(count.saturating_add(1));
            return false;
        }
        let mut intent = writes::create(&self.entry.object, &set);
        // It is there already: made by this very flavour before it lost its memory.
        intent.tolerates = |error| error.reason == Reason::AlreadyExists;
        let about = &self.entry.object;
        let write = writes::patch_status;
        intent.fallbacks = writes::not_made(about, deployment, &set, write, self.cx);
        self.plan.then(intent);
        new_set::note_made(deployment, &set, self.cx.timestamp());
        set.metadata.creation_timestamp = Some(self.cx.timestamp());
        let own_sizes = [set.spec.replicas()].into();
        self.entry.sets.insert(set.metadata.name.clone(), Known { set, own_sizes });
        true
    }

    /// The status that the ledger makes; whether it is another.
    fn update_status(&mut self, is_rollout: bool) -> bool {
        let deployment = &self.entry.deployment;
        let (sets, new) = (self.entry.all(), self.entry.new_set());
        let after = if is_rollout {
            let now = progress::since_1970(self.cx.now);
            progress::rollout_status(deployment, &sets, new, now)
        } else {
            status::calculate(deployment, &sets, new, self.cx.timestamp())
        };
        let differs = after != deployment.status;
        self.entry.deployment.status = after;
        differs
    }

    fn finish(mut self, before: (DeploymentStatus, Option<Str>)) -> Plan {
        let deployment = &self.entry.deployment;
        if as_told(deployment) != before {
            let request = writes::patch_status(deployment);
            self.plan.then(Intent::new(Deed::Status, request));
        }
        self.set_timer();
        self.plan
    }

    /// Asks to be woken at the deadline, unless it will be before.
    fn set_timer(&mut self) {
        let deployment = &self.entry.deployment;
        if deployment.spec.paused || deployment.metadata.is_terminating() {
            return;
        }
        let now = progress::since_1970(self.cx.now);
        let delay = progress::requeue_delay(deployment, &deployment.status, now);
        let Some(after) = delay.map(progress::requeue_after) else {
            return;
        };
        let is_set = self.entry.timer.is_some_and(|at| at > now && at <= now + after);
        if !is_set {
            self.entry.timer = Some(now + after);
            self.plan.requeue_after = Some(after);
            self.plan.limited = delay.is_some_and(|delay| delay.is_zero());
        }
    }
}
