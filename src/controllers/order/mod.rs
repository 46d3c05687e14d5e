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
//! Left out: declined cards, partial refunds, disputes; webhooks that are sent again until they are
//! answered; an order that is deleted keeps its payment (a finalizer would refund it first).

mod edge;
mod level;
pub mod object;
pub mod payment;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::api::{Kind, ObjectKey};
use crate::apiserver::{Part, Request, Response};

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

/// What an order needs from the provider now, if anything.
fn next(order: &Order) -> Option<Intent> {
    match (order.status.state, order.wants) {
        // A refund is final: who wants to pay again is charged again.
        (None | Some(State::Refunded), State::Paid) => Some(charge(order)),
        (Some(State::Paid), State::Refunded) => Some(refund(order)),
        _ => None,
    }
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

/// A refund names the payment, so asking twice is harmless by itself.
fn refund(order: &Order) -> Intent {
    let meta = order.object.meta();
    let payment = Payment {
        id: order.status.payment.clone().unwrap_or_default(),
        namespace: meta.namespace.clone(),
        order: meta.name.clone(),
        order_uid: meta.uid.clone(),
        amount: order.amount,
        currency: order.currency.clone(),
        key: None,
        state: State::Refunded,
        revision: order.status.revision,
    };
    let request = Request::Update(Part::Main, Arc::new(payment.object()));
    let mut intent = Intent::new(Deed::Refund, request);
    let told = format!("Refunding {} {} of {{name}}", order.amount, order.currency);
    intent.on_success = Some(EventNote::normal(&order.object, "Refunding", told));
    intent
}

/// Asks the provider for something. Its answer is decided on in the same pass.
fn call(order: &Order, intent: Intent) -> Plan {
    let mut plan = Plan { goes_on: true, ..told(order) };
    plan.then(intent);
    plan
}

/// Writes down what the provider said, if it is news.
fn record(order: &Order, payment: Option<&Payment>, cx: &Context) -> Plan {
    write(order, order.status_with(payment), cx)
}

fn write(order: &Order, status: Status, cx: &Context) -> Plan {
    let mut plan = told(&Order { status: status.clone(), ..order.clone() });
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
