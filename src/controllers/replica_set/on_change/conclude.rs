//! How an answer ends: pods are made and deleted as far as one plan can, and the status is written.

use std::sync::Arc;
use std::time::Duration;

use crate::api::{Object, Pod, ReplicaSet, ReplicaSetStatus};
use crate::apiserver::{Part, Request};
use crate::controllers::{Context, Deed, Finish, Intent, Plan, here};
use crate::kernel::Time;

use super::super::deletion_order::DeletionOrder;
use super::super::ledger::{Account, Ledger};
use super::super::pods::{BURST, creations, deletions};
use super::super::status::{self, Tally};
use super::super::sync::{own_pods, related_pods};

/// Concludes for a set that was told, with what the cache has of it. For one that is gone, nothing
/// is made any more.
pub fn conclude_by_cache(plan: &mut Plan, account: &mut Account, told: &Arc<Object>, cx: &Context) {
    let current = cx.cache.get(&told.key());
    let current = current.filter(|current| current.meta().uid == told.meta().uid);
    match current.and_then(|object| Some((object, object.as_replica_set()?))) {
        Some((object, set)) => conclude(plan, account, object, set, cx),
        None => account.debt = 0,
    }
}

/// Pays the debt as far as one plan can, and writes the status if it is another by now.
pub fn conclude(
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
        plan.trail.push(here!());
        make(plan, account, object, set);
        after_making
    } else if account.debt < 0 {
        plan.trail.push(here!());
        unmake(plan, account, object, set, cx);
        after_deleting
    } else {
        plan.trail.push(here!());
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

/// Deletes as many pods as it has too many. Pods that count and are going anyway come first: they
/// need not be asked, only not be answered. What is left is for pods that were made but are not in
/// the cache yet.
fn unmake(
    plan: &mut Plan,
    account: &mut Account,
    object: &Arc<Object>,
    set: &ReplicaSet,
    cx: &Context,
) {
    let count = usize::try_from(-account.debt).unwrap_or(usize::MAX).min(BURST);
    let candidates = own_pods(set, cx.cache).filter(|p| !account.settled.contains(&p.metadata.uid));
    let stays = |pod: &&Pod| pod.is_active() && set.spec.selector.matches(&pod.metadata.labels);
    let (staying, mut going): (Vec<&Pod>, Vec<&Pod>) = candidates.partition(stays);
    going.retain(|pod| account.was_told_of(&pod.metadata.uid));
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
    let after = with_status(set, account.written());
    if plan.finish.is_none() {
        plan.finish = Some(Finish {
            amend,
            retries: 1,
            ..Finish::plain(Arc::new(with_status(set, before)), after)
        });
    } else if before != account.written() {
        let request = Request::Update(Part::Status, Arc::new(after));
        plan.then(Intent::new(Deed::Status, request));
    }
}

fn with_status(set: &ReplicaSet, (tally, generation): (Tally, i64)) -> Object {
    let mut set = set.clone();
    set.metadata.resource_version = 0;
    tally.put(&mut set.status);
    set.status.observed_generation = generation;
    Object::from(set)
}

/// Brings the status that a plan writes up to what the ledger says now. It is written in any case:
/// nobody knows what became of the first attempt.
pub fn refresh(plan: &mut Plan, cx: &Context, ledger: &mut Ledger) {
    for intent in plan.batches.iter_mut().flatten() {
        if let Request::Update(Part::Status, object) = &mut intent.request
            && let Some(now) = present(object, cx, ledger)
        {
            *object = Arc::new(now);
        }
    }
    plan.finish = plan.finish.take().and_then(|finish| {
        let after = present(&finish.after, cx, ledger)?;
        let mut before = after.clone();
        if let Object::ReplicaSet(set) = &mut before {
            set.status = ReplicaSetStatus::default();
        }
        Some(Finish { before: Arc::new(before), after, ..finish })
    });
}

/// The set with the status as the ledger has it now; nothing if the set is gone.
fn present(object: &Object, cx: &Context, ledger: &mut Ledger) -> Option<Object> {
    let uid = &object.meta().uid;
    let account = ledger.known(uid)?;
    let current = cx.cache.get(&object.key()).filter(|current| current.meta().uid == *uid)?;
    account.write();
    Some(with_status(current.as_replica_set()?, account.written()))
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
