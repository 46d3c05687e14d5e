//! Level: asks the provider what is true, again and again, whatever anybody has told.

use std::time::Duration;

use crate::api::{Kind, ObjectKey};
use crate::apiserver::Request;
use crate::controllers::{Change, Context, Deed, Fact, Intent, Plan, Woken, here};

use super::object::{Order, is_order};
use super::payment::State;
use super::{Orders, call, next, record};

/// From one look to the next.
const POLL: Duration = Duration::from_secs(5);

impl Orders {
    /// An order wakes itself, but not by the status that this loop has written
    /// (`GenerationChangedPredicate`, and the finalizer). A resync, which changes nothing, does.
    pub fn wakes(&self, change: &Change) -> Woken {
        let only_status = change.before.as_ref().is_some_and(|before| {
            let (before, after) = (before.meta(), change.object.meta());
            before.generation == after.generation
                && before.finalizers == after.finalizers
                && before.deletion_timestamp == after.deletion_timestamp
                && before.resource_version != after.resource_version
        });
        let wakes = is_order(change.object.kind()) && (change.is_deletion() || !only_status);
        Woken { keys: wakes.then(|| change.key()).into_iter().collect(), ..Woken::default() }
    }

    /// One pass for an order: ask, and then, with the answer, write it down.
    pub fn sync(&mut self, key: &ObjectKey, cx: &Context) -> Plan {
        let answer = self.answers.remove(key);
        let Some(order) = Order::of(key, cx) else {
            return Plan::nothing(Fact::Gone, Fact::Gone).by(here!());
        };
        let mut plan = match (answer, next(&order), look(&order)) {
            (Some(payment), ..) => record(&order, payment.as_ref(), cx).by(here!()),
            (None, Some(deed), _) => call(&order, deed).by(here!()),
            (None, None, Some(look)) => call(&order, look).by(here!()),
            (None, None, None) => record(&order, None, cx).by(here!()),
        };
        // A look at an order that is settled changes nothing as long as the provider does not.
        plan.upkeep = order.is_settled() && plan.writes().all(|(deed, _)| deed == Deed::Read);
        plan.requeue_after = Some(POLL);
        plan
    }
}

/// Asks for the payment that is known, or, where the next thing could be a charge, whether one was
/// made of which the status does not tell.
fn look(order: &Order) -> Option<Intent> {
    let name = match order.status.state {
        None | Some(State::Refunded | State::Cancelled) => order.next_key()?,
        _ => order.status.payment.clone()?,
    };
    let key = ObjectKey::new(Kind::Payment, order.object.meta().namespace.clone(), name);
    Some(Intent::tolerant(Deed::Read, Request::Get(key)))
}
