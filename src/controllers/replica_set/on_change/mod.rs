//! The edge-triggered ReplicaSet controller: act on the difference that one change carries, and on
//! nothing else. It is as good as such a controller can be: changes come in order, requests are
//! tried again, and a ledger keeps what it was told and did. What it cannot do is see what it was
//! not told.
//!
//! | change | answer |
//! | --- | --- |
//! | set ADDED | adopt the matching orphans that it was told of, make the rest of `replicas` |
//! | set MODIFIED | make or delete the difference between old and new `replicas` |
//! | pod of the set DELETED | make one, unless its going is settled |
//! | pod of the set turned Failed or Succeeded | make one; its going is settled |
//! | pod of the set stopped matching | give it up, make one; its going is settled |
//! | pod lost its owner | make one, unless its going is settled |
//! | orphan that matches | adopt it; once it is the set's own: delete one, if one too many |
//!
//! Settled is the going of a pod that it asked to be deleted or has made up for. A pod is answered
//! once in its life, and one that is being deleted when it is DELETED (not when its
//! deletionTimestamp appears, as the level-triggered flavour does). A DELETED that comes twice is
//! answered twice: nothing in an event says that it was seen before. A pod that somebody else makes
//! with the set as its owner stands in the status and is not answered: it looks like one of its
//! own.
//!
//! Availability comes without an event, when minReadySeconds have passed: the ledger keeps who
//! waits for it, and `on_timer` counts them when the time has come. A restart forgets them.
//!
//! The cache serves for three things: to look up the set that a pod names (is it still there, what
//! does its template say), to look up an orphan, and to choose which pods to delete. Never to
//! count.

mod conclude;
mod pod_changed;
mod set_changed;

use std::sync::Arc;

use crate::api::{Kind, Object, ObjectKey};
use crate::controllers::{Change, ChangeKind, Context, Fact, Plan, here};

use super::ledger::Ledger;
use conclude::{conclude, refresh};
use pod_changed::pod_changed;
use set_changed::set_changed;

/// What an object was and what it is; `None` where it was not, or is gone.
type Turn<'a> = (Option<&'a Arc<Object>>, Option<&'a Arc<Object>>);

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
        (Some(b), Some(i)) if b.meta().resource_version == i.meta().resource_version => {
            plan.trail.push(here!());
        }
        // Another object of the same name: the end of one, which was not told, and a beginning.
        (Some(b), Some(i)) if b.meta().uid != i.meta().uid => {
            plan.trail.push(here!());
            answer((Some(b), None), cx, ledger, &mut plan);
            answer((None, Some(i)), cx, ledger, &mut plan);
        }
        turn => answer(turn, cx, ledger, &mut plan),
    }
    plan
}

/// Prepares a plan of which a part failed to be tried again. Its requests are the same, but in the
/// meantime other changes may have been answered, so its status is the present one. Of a set that
/// is gone nothing is tried again: it would fail for ever.
pub fn on_resume(key: &ObjectKey, mut plan: Plan, cx: &Context, ledger: &mut Ledger) -> Plan {
    if key.kind == Kind::ReplicaSet && cx.cache.get(key).is_none() {
        return Plan::nothing(Fact::Gone, Fact::Gone).by(here!());
    }
    refresh(&mut plan, cx, ledger);
    plan
}

/// Does what had to wait: pods that are available by now, and what one plan could not carry.
pub fn on_timer(key: &ObjectKey, cx: &Context, ledger: &mut Ledger) -> Plan {
    let mut plan = Plan::default();
    let Some(object) = cx.cache.get(key) else {
        return Plan::nothing(Fact::Gone, Fact::Gone);
    };
    if let (Some(set), Some(account)) = (object.as_replica_set(), ledger.known(&object.meta().uid))
    {
        account.let_pass(cx.now);
        let available = account.tally().available;
        plan = Plan::nothing(Fact::Count(available.into()), Fact::Count(account.wish()));
        plan.trail.push(here!());
        conclude(&mut plan, account, object, set, cx);
    }
    plan
}
