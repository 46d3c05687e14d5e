//! Edge: acts on what one change says, be it of the order or of the provider, and never asks.

use crate::api::{Kind, ObjectKey};
use crate::apiserver::{Part, Request};
use crate::controllers::{Change, Context, Plan, here};

use super::object::{self, Order};
use super::payment::Payment;
use super::{Orders, call, next, record, write};

impl Orders {
    /// The order that a change concerns: itself, or the one that a webhook names.
    pub fn concerns(&self, change: &Change) -> Option<ObjectKey> {
        match Payment::read(&change.object) {
            Some(payment) => {
                Some(ObjectKey::new(object::kind()?, payment.namespace, payment.order))
            }
            None => Some(change.key()),
        }
    }

    /// One change.
    pub fn on_change(&mut self, change: &Change, cx: &Context) -> Plan {
        match change.object.kind() {
            _ if change.is_deletion() => Plan::default(),
            Kind::Payment => self.webhook(change, cx),
            _ => self.order_changed(change, cx),
        }
    }

    /// A webhook: the status that it names is set. One that comes twice or late has no news.
    fn webhook(&self, change: &Change, cx: &Context) -> Plan {
        let payment = Payment::read(&change.object);
        let order = self.concerns(change).and_then(|key| Order::of(&key, cx));
        match payment.zip(order) {
            Some((payment, order)) if order.status.is_older_than(&payment) => {
                record(&order, Some(&payment), cx).by(here!())
            }
            _ => Plan::default(),
        }
    }

    /// An order that is new, wants something else or has come further: the next step, if any.
    fn order_changed(&self, change: &Change, cx: &Context) -> Plan {
        let Some(order) = Order::read(&change.object) else { return Plan::default() };
        let mark = |order: &Order| {
            let generation = order.object.meta().generation;
            (generation, order.status.state, order.is_held, order.is_going)
        };
        let before = change.before.as_ref().and_then(Order::read);
        if before.is_some_and(|before| mark(&before) == mark(&order)) {
            return Plan::default();
        }
        match next(&order) {
            Some(deed) => call(&order, deed).by(here!()),
            None => self.noted(&order.object.key(), cx),
        }
    }

    /// The provider has answered: what it said is written down.
    pub fn go_on(&mut self, key: &ObjectKey, cx: &Context) -> Plan {
        let payment = self.answers.remove(key).flatten();
        let order = Order::of(key, cx);
        order.map_or_else(Plan::default, |order| record(&order, payment.as_ref(), cx).by(here!()))
    }

    /// What is left of a plan that failed. A request to the provider is made again, under the same
    /// key. A status is written on top of what has come since, unless that is newer.
    pub fn on_resume(&mut self, plan: Plan, cx: &Context) -> Plan {
        let mut requests = plan.batches.iter().flatten().map(|intent| &intent.request);
        let written = requests.find_map(|request| match request {
            Request::Update(Part::Status, object) => Order::read(object),
            _ => None,
        });
        let Some(written) = written else { return plan };
        let Some(order) = Order::of(&written.object.key(), cx) else { return Plan::default() };
        if order.status.age() >= written.status.age() {
            return Plan::default();
        }
        write(&order, written.status, cx).by(here!())
    }

    /// Notes that a generation was seen, if there is nothing else to do.
    fn noted(&self, key: &ObjectKey, cx: &Context) -> Plan {
        let plan = Order::of(key, cx).map(|order| record(&order, None, cx));
        plan.filter(|plan| !plan.batches.is_empty()).map_or_else(Plan::default, |p| p.by(here!()))
    }
}
