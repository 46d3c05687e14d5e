//! The Deployment controller: brings the pods of a new template in and those of the old ones out, a
//! ReplicaSet for each template.
//!
//! Follows <https://github.com/kubernetes/kubernetes/tree/release-1.36/pkg/controller/deployment>.
//! Left out: rollback by the server (`rollbackTo`, gone since apps/v1), `podReplacementPolicy`
//! (alpha), the live list behind pod deletions.
//!
//! Two flavours stand next to each other. `sync` is what Kubernetes does: it compares what is
//! wanted with what its cache shows, whatever woke it. `on_change` acts on what one change tells:
//!
//! | told | does |
//! | --- | --- |
//! | a Deployment is new | makes its ReplicaSet |
//! | its template changed | makes the next set, or goes back to one that has this template |
//! | its size changed | passes the difference on, in mid-rollout to each set its part |
//! | it was paused, resumed | lets changes of the template wait, picks them up |
//! | the strategy, a limit changed | does what is permitted now and was not before |
//! | pods became available, or went | moves as many as surge and unavailable permit |
//! | the last old pod is gone (Recreate) | makes the new set |
//! | a set was deleted, or resized by somebody else | makes it again, puts it back |
//! | a set has no owner, or the wrong labels | adopts it, releases it |
//! | nothing that differs (a resync, its own write) | nothing |
//!
//! What it works with is its ledger: what it was told and what it did. Both flavours ask the same
//! helpers, so that the only difference is where their numbers come from.

pub mod annotations;
mod booking;
pub mod claim;
pub mod conditions;
mod edge;
pub mod fenceposts;
mod handlers;
pub mod history;
mod ledger;
mod level;
pub mod matching;
pub mod new_set;
pub mod progress;
pub mod proportional;
pub mod recreate;
pub mod rolling;
pub mod rollout;
pub mod status;
pub mod template_hash;
mod writes;

#[cfg(test)]
mod tests;

use crate::api::{Kind, ObjectKey};

use super::{Change, Context, Fact, Plan, here};

use booking::News;
use level::Pass;

pub use handlers::wakes;
pub use ledger::Ledger;

/// Level: one pass over one Deployment (`syncDeployment`).
pub fn sync(key: &ObjectKey, cx: &Context) -> Plan {
    let seen = cx.cache.get(key);
    let Some((seen, deployment)) = seen.and_then(|seen| Some((seen, seen.as_deployment()?))) else {
        return Plan::nothing(Fact::Gone, Fact::Gone).by(here!());
    };
    if deployment.spec.selector.is_empty() {
        return level::selects_all(seen, deployment).by(here!());
    }
    let mut pass = Pass::new(seen, deployment, cx);
    if deployment.metadata.is_terminating() {
        pass.keep_in_step();
        return pass.finish(false).by(here!());
    }
    pass.note_pause();
    pass.keep_in_step();
    let moves = match pass.moves() {
        Ok(moves) => moves,
        Err(error) => return pass.fail(error).by(here!()),
    };
    for step in moves.moves {
        pass.carry_out(step);
    }
    pass.finish(moves.is_rollout).by(here!())
}

/// Edge: one change, in the order in which they are told.
pub fn on_change(change: &Change, cx: &Context, ledger: &mut Ledger) -> Plan {
    let mut plan = Plan::default();
    for news in ledger.book(change, cx) {
        let reaction = match news {
            News::Differs(key) => edge::act(&key, cx, ledger).by(here!()),
            News::Orphan(key, set) => {
                plan = joined(plan, edge::adopt(&key, &set, ledger));
                edge::act(&key, cx, ledger).by(here!())
            }
            News::Stray(key, set) => edge::release(&key, &set, ledger).by(here!()),
        };
        plan = joined(plan, reaction);
    }
    plan
}

/// Edge: what is left of a plan that failed. Of a Deployment that is known to be gone nothing is:
/// its requests would fail again and again, for ever.
pub fn on_resume(key: &ObjectKey, plan: Plan, ledger: &Ledger) -> Plan {
    if key.kind == Kind::Deployment && !ledger.entries.contains_key(key) {
        return Plan::nothing(Fact::Gone, Fact::Gone).by(here!());
    }
    plan
}

/// Edge: the time that a plan asked to be woken at. A deadline is no change; nobody else tells of
/// it.
pub fn on_timer(key: &ObjectKey, cx: &Context, ledger: &mut Ledger) -> Plan {
    edge::look_at_deadline(key, cx, ledger).by(here!())
}

/// One change may concern two Deployments, if a set goes from one to the other.
fn joined(mut plan: Plan, next: Plan) -> Plan {
    plan.batches.extend(next.batches);
    plan.events.extend(next.events);
    plan.limited |= next.limited;
    plan.trail.extend(next.trail);
    (plan.sees, plan.wants) = (next.sees, next.wants);
    plan.requeue_after = match (plan.requeue_after, next.requeue_after) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    };
    plan
}
