//! Orders of a shop: a controller for a custom resource (`crd.yaml`), to be read as an example of
//! how one is written. The spec says where the money of an order shall be; the truth is with a
//! payment provider outside of the cluster (`world/provider.rs`), which takes a few seconds for
//! everything, and which is asked, or tells by webhook.
//!
//! Level (`sync`): the provider is asked every five seconds, and the answer written down. Edge
//! (`on_change`): a webhook is believed, and nobody is asked. What is to be done about an order is
//! the same for both: [`next`].
//!
//! A charge takes money, so it must not be made twice, and the controller may die between the
//! charge and the status that tells of it. Hence the idempotency key: it follows from the order and
//! from the number of the charge, so whoever asks again asks for the same. The provider answers a
//! key that it knows with the payment that is there, and can be asked for it. `idempotencyKey:
//! false` shows what comes without it.
//!
//! Nor must money be forgotten: who deletes an order wants it cancelled. So a finalizer holds the
//! order from before its first charge until nothing is left to give back ([`hold`], [`let_go`]).
//! `Cancelled` is wanted sooner than `Refunded`: a payment that is pending is called off, and only
//! one that has gone through is given back. The provider takes either as often as it is asked.
//!
//! Left out: declined cards, partial refunds, disputes; webhooks that are sent again until they are
//! answered.

mod edge;
mod level;
pub mod object;
pub mod payment;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::json;

use crate::api::{Kind, ObjectKey};
use crate::apiserver::{Part, Reason, Request, Response};

use super::{Context, Deed, EventNote, Fact, Intent, Plan, here};
use object::{Order, Status};
use payment::{Payment, State};

/// What the controller watches from the start. Orders follow when they are defined.
pub const KINDS: &[Kind] = &[Kind::Payment];

/// The controller. Its memory lasts from an answer to the decision that follows it.
#[derive(Clone, Debug, Default)]
pub struct Orders {
    answers: BTreeMap<ObjectKey, Option<Payment>>,
}

impl Orders {
    /// What became of a request of a pass for `key`: a payment, or the word that there is none.
    pub fn answered(&mut self, key: &ObjectKey, request: &Request, response: &Response) {
        match response {
            _ if request.kind() != Kind::Payment => {}
            Ok(object) => _ = self.answers.insert(key.clone(), Payment::read(object)),
            Err(error) if error.is_not_found() => _ = self.answers.insert(key.clone(), None),
            Err(_) => {}
        }
    }
}

/// What an order needs now, if anything: from the provider, but for the finalizer.
fn next(order: &Order) -> Option<Intent> {
    use State::{Cancelled, Paid, Pending, Refunded};
    match (order.status.state, order.wants) {
        (None | Some(Refunded | Cancelled), Paid) if !order.is_held => Some(hold(order)),
        // What was given back is over: who wants to pay again is charged again.
        (None | Some(Refunded | Cancelled), Paid) => Some(charge(order)),
        (Some(Paid), Refunded | Cancelled) => Some(give_back(order, Deed::Refund)),
        (Some(Pending), Cancelled) => Some(give_back(order, Deed::Cancel)),
        _ => None,
    }
}

/// From now on the order cannot vanish while its money is somewhere. That it is so is told by the
/// next change, so that no charge is made before.
fn hold(order: &Order) -> Intent {
    finalizers(order, Deed::Update, true)
}

/// Nothing is left to give back.
fn let_go(order: &Order) -> Intent {
    finalizers(order, Deed::Unblock, false)
}

fn finalizers(order: &Order, deed: Deed, held: bool) -> Intent {
    let patch = json!({"metadata": {"finalizers": order.finalizers(held)}});
    let mut intent = Intent::new(deed, Request::Patch(Part::Main, order.object.key(), patch));
    // It is gone, or on its way out: no finalizer can be added any more.
    intent.tolerates = |error| matches!(error.reason, Reason::NotFound | Reason::Invalid);
    intent
}

fn charge(order: &Order) -> Intent {
    let meta = order.object.meta();
    let payment = Payment {
        id: meta.name.clone(),
        namespace: meta.namespace.clone(),
        order: meta.name.clone(),
        order_uid: meta.uid.clone(),
        amount: order.amount,
        currency: order.currency.clone(),
        key: order.next_key(),
        state: State::Pending,
        revision: 0,
    };
    let mut intent = Intent::new(Deed::Charge, Request::Create(Arc::new(payment.object())));
    let told = format!("Charged {} {} as {{name}}", order.amount, order.currency);
    intent.on_success = Some(EventNote::normal(&order.object, "Charged", told));
    let told = "Error charging: {error}";
    intent.on_failure = Some(EventNote::warning(&order.object, "ChargeFailed", told));
    intent
}

/// What is called off or given back is named, so asking twice is harmless by itself. To call off
/// what has gone through meanwhile is to give it back.
fn give_back(order: &Order, deed: Deed) -> Intent {
    let (state, reason, does) = match deed {
        Deed::Cancel => (State::Cancelled, "Cancelling", "Calling off"),
        _ => (State::Refunded, "Refunding", "Refunding"),
    };
    let meta = order.object.meta();
    let payment = Payment {
        id: order.status.payment.clone().unwrap_or_default(),
        namespace: meta.namespace.clone(),
        order: meta.name.clone(),
        order_uid: meta.uid.clone(),
        amount: order.amount,
        currency: order.currency.clone(),
        key: None,
        state,
        revision: order.status.revision,
    };
    let request = Request::Update(Part::Main, Arc::new(payment.object()));
    let mut intent = Intent::new(deed, request);
    let told = format!("{does} {} {} of {{name}}", order.amount, order.currency);
    intent.on_success = Some(EventNote::normal(&order.object, reason, told));
    intent
}

/// Asks for something. What the provider answers is decided on in the same pass.
fn call(order: &Order, intent: Intent) -> Plan {
    let goes_on = intent.request.kind() == Kind::Payment;
    let mut plan = Plan { goes_on, ..told(order) };
    plan.then(intent);
    plan
}

/// Writes down what the provider said, if it is news.
fn record(order: &Order, payment: Option<&Payment>, cx: &Context) -> Plan {
    write(order, order.status_with(payment), cx)
}

fn write(order: &Order, status: Status, cx: &Context) -> Plan {
    let now = Order { status: status.clone(), ..order.clone() };
    let mut plan = told(&now);
    if now.may_go() {
        plan.then(let_go(order));
        return plan.by(here!());
    }
    if status == order.status {
        return plan.by(here!());
    }
    let after = order.with_status(status, cx.timestamp());
    plan.then(Intent::new(Deed::Record, Request::Update(Part::Status, Arc::new(after))));
    plan.by(here!())
}

/// A pass that does nothing yet: "sees Pending · wants Paid".
fn told(order: &Order) -> Plan {
    let (sees, wants) = order.words();
    Plan::nothing(Fact::Word(sees), Fact::Word(wants))
}
