//! Changes of a pod, as the sets see them that own it or may come to.

use std::sync::Arc;

use crate::api::{Object, Pod, ReplicaSet};
use crate::controllers::{Context, Fact, Intent, Plan, here};

use super::super::claim::{adopt, is_another, may_adopt, release};
use super::super::handlers::{matching_sets, owning_set};
use super::super::ledger::{Account, Ledger};
use super::Turn;
use super::conclude::{conclude, conclude_by_cache};

/// Answers a change of a pod.
pub fn pod_changed((before, is): Turn, cx: &Context, ledger: &mut Ledger, plan: &mut Plan) {
    let word = match (before, is) {
        (None, _) => "ADDED",
        (_, Some(_)) => "MODIFIED",
        (_, None) => "DELETED",
    };
    plan.sees = Fact::Word(word.into());
    let former = before.and_then(|pod| owner_of(pod, cx));
    let present = is.and_then(|pod| owner_of(pod, cx));
    let is_new = |set: &&Arc<Object>| former.is_none_or(|f| f.meta().uid != set.meta().uid);
    for object in former.into_iter().chain(present.filter(is_new)) {
        let uid = &object.meta().uid;
        let own = |pod: &&Arc<Object>| pod.meta().is_controlled_by(uid);
        if let Some(set) = object.as_replica_set() {
            let account = ledger.account(object, set);
            let (was, is_own) = (before.filter(own), is.filter(own));
            account.tell(was, is_own, cx.now);
            plan.wants = Fact::Count(account.wish());
            let step = Step {
                was: was.and_then(|pod| pod.as_pod()),
                is: is_own.and_then(|pod| pod.as_pod()),
                is_first: before.is_none(),
                is_last: is.is_none(),
            };
            step.take(account, set, plan);
            conclude(plan, account, object, set, cx);
        }
    }
    adoption_failed((before, is), cx, ledger, plan);
    orphan_changed((before, is), cx, ledger, plan);
}

/// A pod that a new set adopted in place of making one never became its own: make one after all.
fn adoption_failed((before, is): Turn, cx: &Context, ledger: &mut Ledger, plan: &mut Plan) {
    let Some(pod) = is.or(before) else { return };
    let now = is.and_then(|object| object.as_pod());
    if let Some(account) = ledger.failed_adoption(&pod.meta().uid, now)
        && account.have < account.wish()
    {
        account.have += 1;
        account.debt += 1;
        let told = account.set().clone();
        conclude_by_cache(plan, account, &told, cx);
    }
}

fn owner_of<'a>(pod: &Arc<Object>, cx: &Context<'a>) -> Option<&'a Arc<Object>> {
    let pod = pod.as_pod()?;
    owning_set(pod, pod.metadata.controller()?, cx.cache)
}

/// What happened to a pod, as one set sees it: `None` where it was or is not the set's own.
struct Step<'a> {
    was: Option<&'a Pod>,
    is: Option<&'a Pod>,
    /// Whether this is the first that is told of the pod.
    is_first: bool,
    /// Whether the pod is gone.
    is_last: bool,
}

impl Step<'_> {
    fn take(&self, account: &mut Account, set: &ReplicaSet, plan: &mut Plan) {
        match (self.was, self.is) {
            (None, Some(pod)) => {
                plan.trail.push(here!());
                self.came(pod, account, set, plan);
            }
            (Some(was), Some(pod)) => {
                plan.trail.push(here!());
                changed(was, pod, account, set, plan);
            }
            (Some(was), None) => {
                plan.trail.push(here!());
                self.went(was, account, set);
            }
            (None, None) => {}
        }
    }

    fn came(&self, pod: &Pod, account: &mut Account, set: &ReplicaSet, plan: &mut Plan) {
        if !pod.is_active() {
            if self.is_first {
                answer_end(pod, account);
            } else {
                // It was never counted.
                account.settled.insert(pod.metadata.uid.clone());
            }
        } else if !matches(set, pod) {
            account.settled.insert(pod.metadata.uid.clone());
            give_up(pod, account, set, plan);
        } else if !self.is_first {
            count_in(account);
        }
    }

    fn went(&self, was: &Pod, account: &mut Account, set: &ReplicaSet) {
        let counted = self.is_last || (matches(set, was) && !was.is_finished());
        if !account.settled.remove(&was.metadata.uid) && counted {
            account.debt += 1;
        }
    }
}

fn changed(was: &Pod, pod: &Pod, account: &mut Account, set: &ReplicaSet, plan: &mut Plan) {
    if pod.is_finished() {
        if !was.is_finished() {
            answer_end(pod, account);
        }
        return;
    }
    if !pod.is_active() {
        return;
    }
    match (matches(set, was), matches(set, pod)) {
        (true, false) => {
            if account.settled.insert(pod.metadata.uid.clone()) {
                account.debt += 1;
            }
            give_up(pod, account, set, plan);
        }
        (false, true) if !account.settled.contains(&pod.metadata.uid) => count_in(account),
        _ => {}
    }
}

/// A pod that ended by itself is made up for at once; one that is being deleted, when it is gone.
fn answer_end(pod: &Pod, account: &mut Account) {
    let ended = pod.is_finished() && !pod.metadata.is_terminating();
    if ended && account.settled.insert(pod.metadata.uid.clone()) {
        account.debt += 1;
    }
}

/// A pod that was not made here became the set's own.
fn count_in(account: &mut Account) {
    account.have += 1;
    if account.have > account.wish() {
        account.have -= 1;
        account.debt -= 1;
    }
}

fn give_up(pod: &Pod, account: &Account, set: &ReplicaSet, plan: &mut Plan) {
    if !account.is_terminating() && !set.metadata.is_terminating() {
        plan.then(release(set, pod));
    }
}

fn matches(set: &ReplicaSet, pod: &Pod) -> bool {
    set.spec.selector.matches(&pod.metadata.labels)
}

fn orphan_changed((before, is): Turn, cx: &Context, ledger: &mut Ledger, plan: &mut Plan) {
    let key = match is.or(before) {
        Some(object) => object.key(),
        None => return,
    };
    let orphan = is.and_then(|object| object.as_pod());
    let orphan = orphan.filter(|pod| pod.metadata.controller().is_none() && pod.is_active());
    let Some(orphan) = orphan else {
        ledger.forget_orphan(&key);
        return;
    };
    let same = |before: &Arc<Object>| {
        before.meta().labels == orphan.metadata.labels && before.meta().controller().is_none()
    };
    if before.is_some_and(same) {
        return;
    }
    let mut takers = matching_sets(orphan, cx.cache).filter_map(|set| set.as_replica_set());
    match takers.find(|set| may_adopt(set, orphan)) {
        Some(set) => {
            ledger.forget_orphan(&key);
            plan.trail.push(here!());
            plan.then(adopt_if_there(set, orphan));
        }
        None => ledger.remember_orphan(key),
    }
}

/// Adopts a pod. If it is gone by then, there is nothing to adopt, and nothing was counted yet.
pub fn adopt_if_there(set: &ReplicaSet, pod: &Pod) -> Intent {
    Intent { tolerates: is_another, ..adopt(set, pod) }
}
