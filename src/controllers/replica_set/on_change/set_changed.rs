//! Changes of a ReplicaSet itself.

use std::sync::Arc;

use crate::api::{Object, ObjectKey, ReplicaSet};
use crate::controllers::{Context, Fact, Plan, here};

use super::super::claim::may_adopt;
use super::super::ledger::Ledger;
use super::Turn;
use super::conclude::conclude_by_cache;
use super::pod_changed::adopt_if_there;

/// Answers a change of a set.
pub fn set_changed((before, is): Turn, cx: &Context, ledger: &mut Ledger, plan: &mut Plan) {
    match (before, is) {
        (before, None) => {
            plan.trail.push(here!());
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
    plan.trail.push(here!());
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
fn adopt_known_orphans(
    set: &ReplicaSet,
    cx: &Context,
    ledger: &mut Ledger,
    plan: &mut Plan,
) -> i64 {
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
        ledger.await_adoption(pod, set);
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
    plan.trail.push(here!());
    (plan.sees, plan.wants) = (Fact::Count(was), Fact::Count(wish));
    let account = ledger.account(before, old);
    account.turn(told, cx.now);
    account.have += wish - was;
    account.debt += wish - was;
    conclude_by_cache(plan, account, told, cx);
}
