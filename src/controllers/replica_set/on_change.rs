//! The edge-triggered ReplicaSet controller: act on the difference that one change carries, and on
//! nothing else. It is as good as such a controller can be: changes come in order, requests are tried
//! again, and a ledger keeps what it was told and did. What it cannot do is see what it was not told.
//!
//! | change | answer |
//! | --- | --- |
//! | set ADDED | take in the orphans that it was told of and that match, make the rest of `replicas` |
//! | set MODIFIED | make or delete the difference between old and new `replicas` |
//! | pod of the set DELETED | make one, unless its going is settled |
//! | pod of the set turned Failed or Succeeded | make one; its going is settled |
//! | pod of the set stopped matching | give it up, make one; its going is settled |
//! | pod lost its owner | make one, unless its going is settled |
//! | orphan that matches | adopt it; when it has become the set's own: delete one, if one too many |
//!
//! Settled is the going of a pod that it asked to be deleted or has made up for. A pod is answered
//! once in its life, and one that is being deleted when it is DELETED (not when its
//! deletionTimestamp appears, as the level-triggered flavour does). A DELETED that comes twice is
//! answered twice: nothing in an event says that it was seen before.
//!
//! The cache serves for three things: to look up the set that a pod names (is it still there, what
//! does its template say), to look up an orphan, and to choose which pods to delete. Never to count.

use std::sync::Arc;
use std::time::Duration;

use crate::api::{Kind, Object, ObjectKey, Pod, ReplicaSet};
use crate::apiserver::{Part, Request};
use crate::controllers::{Change, ChangeKind, Context, Deed, Fact, Finish, Intent, Plan};
use crate::kernel::Time;

use super::claim::{adopt, is_another, may_adopt, release};
use super::deletion_order::DeletionOrder;
use super::handlers::{matching_sets, owning_set};
use super::ledger::{Account, Ledger};
use super::pods::{BURST, creations, deletions};
use super::status::{self, Tally};
use super::sync::{own_pods, related_pods};

/// Answers one change.
pub fn on_change(change: &Change, cx: &Context, ledger: &mut Ledger) -> Plan {
    let mut plan = Plan::default();
    let is = (!change.is_deletion()).then_some(&change.object);
    let before = match change.kind {
        ChangeKind::Added => None,
        ChangeKind::Updated => change.before.as_ref(),
        _ => change.before.as_ref().or(Some(&change.object)),
    };
    let answer = match change.object.kind() {
        Kind::ReplicaSet => set_changed,
        Kind::Pod => pod_changed,
        _ => return plan,
    };
    match (before, is) {
        // A resync tells nothing new.
        (Some(b), Some(i)) if b.meta().resource_version == i.meta().resource_version => {}
        // Another object of the same name: the end of one, which was not told, and a beginning.
        (Some(b), Some(i)) if b.meta().uid != i.meta().uid => {
            answer(Some(b), None, cx, ledger, &mut plan);
            answer(None, Some(i), cx, ledger, &mut plan);
        }
        (before, is) => answer(before, is, cx, ledger, &mut plan),
    }
    plan
}

/// Does what had to wait: pods that are available by now, and what one plan could not carry.
pub fn on_timer(key: &ObjectKey, cx: &Context, ledger: &mut Ledger) -> Plan {
    let mut plan = Plan::default();
    let Some(object) = cx.cache.get(key) else {
        return Plan::nothing(Fact::Gone, Fact::Gone);
    };
    if let (Some(set), Some(account)) = (object.as_replica_set(), ledger.known(&object.meta().uid)) {
        account.let_pass(cx.now);
        let available = account.tally().available;
        plan = Plan::nothing(Fact::Count(available.into()), Fact::Count(account.wish()));
        conclude(&mut plan, account, object, set, cx);
    }
    plan
}

fn set_changed(
    before: Option<&Arc<Object>>,
    is: Option<&Arc<Object>>,
    cx: &Context,
    ledger: &mut Ledger,
    plan: &mut Plan,
) {
    match (before, is) {
        (before, None) => {
            if let Some(before) = before {
                ledger.close(&before.meta().uid);
            }
            (plan.sees, plan.wants) = (Fact::Gone, Fact::Gone);
        }
        (None, Some(told)) => set_added(told, cx, ledger, plan),
        (Some(before), Some(told)) => set_modified(before, told, cx, ledger, plan),
    }
}

fn set_added(told: &Arc<Object>, cx: &Context, ledger: &mut Ledger, plan: &mut Plan) {
    let Some(set) = told.as_replica_set() else {
        return;
    };
    let wish = i64::from(set.spec.replicas());
    (plan.sees, plan.wants) = (Fact::Count(0), Fact::Count(wish));
    let adopted = adopt_known_orphans(set, cx, ledger, plan);
    let account = ledger.account(told, set);
    account.announce(told);
    let missing = (wish - adopted).max(0);
    account.have += missing;
    account.debt += missing;
    conclude_by_cache(plan, account, told, cx);
}

/// Takes in orphans that were there before the set. Each counts when it has become the set's own.
fn adopt_known_orphans(set: &ReplicaSet, cx: &Context, ledger: &mut Ledger, plan: &mut Plan) -> i64 {
    let wanted = |key: &ObjectKey| {
        let pod = cx.cache.pod(key)?;
        let is_orphan = pod.metadata.controller().is_none() && pod.is_active();
        let matches = set.spec.selector.matches(&pod.metadata.labels);
        (is_orphan && matches && may_adopt(set, pod)).then(|| (key.clone(), pod))
    };
    let takes: Vec<_> = ledger.orphans().filter_map(wanted).collect();
    let mut batch = Vec::new();
    for (key, pod) in &takes {
        ledger.forget_orphan(key);
        batch.push(adopt_if_there(set, pod));
    }
    let count = batch.len();
    if count > 0 {
        plan.batches.push(batch);
    }
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn set_modified(
    before: &Arc<Object>,
    told: &Arc<Object>,
    cx: &Context,
    ledger: &mut Ledger,
    plan: &mut Plan,
) {
    let (Some(old), Some(new)) = (before.as_replica_set(), told.as_replica_set()) else {
        return;
    };
    let (was, wish) = (i64::from(old.spec.replicas()), i64::from(new.spec.replicas()));
    (plan.sees, plan.wants) = (Fact::Count(was), Fact::Count(wish));
    let account = ledger.account(before, old);
    account.turn(told, cx.now);
    account.have += wish - was;
    account.debt += wish - was;
    conclude_by_cache(plan, account, told, cx);
}

fn pod_changed(
    before: Option<&Arc<Object>>,
    is: Option<&Arc<Object>>,
    cx: &Context,
    ledger: &mut Ledger,
    plan: &mut Plan,
) {
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
    orphan_changed(before, is, cx, ledger, plan);
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
            (None, Some(pod)) => self.came(pod, account, set, plan),
            (Some(was), Some(pod)) => changed(was, pod, account, set, plan),
            (Some(was), None) => self.went(was, account, set),
            (None, None) => {}
        }
    }

    fn came(&self, pod: &Pod, account: &mut Account, set: &ReplicaSet, plan: &mut Plan) {
        if !pod.is_active() {
            if self.is_first {
                answer_end(pod, account);
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

fn orphan_changed(
    before: Option<&Arc<Object>>,
    is: Option<&Arc<Object>>,
    cx: &Context,
    ledger: &mut Ledger,
    plan: &mut Plan,
) {
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
            plan.then(adopt_if_there(set, orphan));
        }
        None => ledger.remember_orphan(key),
    }
}

/// Adopts a pod. If it is gone by then, there is nothing to adopt, and nothing was counted yet.
fn adopt_if_there(set: &ReplicaSet, pod: &Pod) -> Intent {
    Intent {
        tolerates: is_another,
        ..adopt(set, pod)
    }
}

/// Concludes for a set that was told, with what the cache has of it. For one that is gone, nothing
/// is made any more.
fn conclude_by_cache(plan: &mut Plan, account: &mut Account, told: &Arc<Object>, cx: &Context) {
    let current = cx.cache.get(&told.key());
    let current = current.filter(|current| current.meta().uid == told.meta().uid);
    match current.and_then(|object| Some((object, object.as_replica_set()?))) {
        Some((object, set)) => conclude(plan, account, object, set, cx),
        None => account.debt = 0,
    }
}

/// Pays the debt as far as one plan can, and writes the status if it is another by now.
fn conclude(
    plan: &mut Plan,
    account: &mut Account,
    object: &Arc<Object>,
    set: &ReplicaSet,
    cx: &Context,
) {
    if account.is_terminating() || set.metadata.is_terminating() {
        account.debt = 0;
    }
    let amend = if account.debt > 0 {
        make(plan, account, object, set);
        after_making
    } else if account.debt < 0 {
        unmake(plan, account, object, set, cx);
        after_deleting
    } else {
        |_: &mut Object, _: Option<&str>, _: Time| {}
    };
    if plan.requeue_after.is_none() {
        plan.requeue_after = account.next_look(cx.now);
    }
    write_status(plan, account, set, amend);
}

fn make(plan: &mut Plan, account: &mut Account, object: &Arc<Object>, set: &ReplicaSet) {
    let count = usize::try_from(account.debt).unwrap_or(usize::MAX).min(BURST);
    plan.batches.extend(creations(object, set, count));
    account.debt -= as_i64(count);
    if account.debt > 0 {
        plan.requeue_after = Some(Duration::ZERO);
    }
}

/// Deletes as many pods as it has too many. Pods that are going anyway come first: they need not be
/// asked, only not be answered. What is left is for pods that were made but are not in the cache yet.
fn unmake(
    plan: &mut Plan,
    account: &mut Account,
    object: &Arc<Object>,
    set: &ReplicaSet,
    cx: &Context,
) {
    let count = usize::try_from(-account.debt).unwrap_or(usize::MAX).min(BURST);
    let candidates = own_pods(set, cx.cache).filter(|p| !account.settled.contains(&p.metadata.uid));
    let (staying, mut going): (Vec<&Pod>, Vec<&Pod>) =
        candidates.partition(|pod| pod.is_active() && matches(set, pod));
    going.truncate(count);
    let order = DeletionOrder::standard(cx.now, cx.seed);
    let doomed = order.choose(staying, &related_pods(set, cx.cache), count - going.len());
    let paid = going.len() + doomed.len();
    let chosen = going.iter().chain(&doomed);
    account.settled.extend(chosen.map(|pod| pod.metadata.uid.clone()));
    account.debt += as_i64(paid);
    if !doomed.is_empty() {
        plan.batches.push(deletions(object, doomed));
    }
    if account.debt < 0 && paid == BURST {
        plan.requeue_after = Some(Duration::ZERO);
    }
}

/// Writes the status without regard to its version: what it adds up is all it knows, and a conflict
/// would tell it nothing. If the plan writes another set's status already, this one goes before it.
fn write_status(
    plan: &mut Plan,
    account: &mut Account,
    set: &ReplicaSet,
    amend: fn(&mut Object, Option<&str>, Time),
) {
    let before = account.write();
    if before == account.written() && plan.batches.is_empty() {
        return;
    }
    let with = |(tally, generation): (Tally, i64)| {
        let mut set = set.clone();
        set.metadata.resource_version = 0;
        tally.put(&mut set.status);
        set.status.observed_generation = generation;
        Object::from(set)
    };
    let after = with(account.written());
    if plan.finish.is_none() {
        plan.finish = Some(Finish {
            amend,
            retries: 1,
            ..Finish::plain(Arc::new(with(before)), after)
        });
    } else if before != account.written() {
        let request = Request::Update(Part::Status, Arc::new(after));
        plan.then(Intent::new(Deed::Status, request));
    }
}

fn after_making(object: &mut Object, error: Option<&str>, now: Time) {
    if let Object::ReplicaSet(set) = object {
        status::amend(&mut set.status, "FailedCreate", error, now);
    }
}

fn after_deleting(object: &mut Object, error: Option<&str>, now: Time) {
    if let Object::ReplicaSet(set) = object {
        status::amend(&mut set.status, "FailedDelete", error, now);
    }
}

fn as_i64(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
