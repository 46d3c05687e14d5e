//! A payment provider outside of the cluster, for the Orders of a shop. It takes charges and
//! refunds, settles each after some seconds, and tells of that by a webhook. It holds the truth: an
//! Order's status is what the controller knows of it.
//!
//! As providers do, it answers an idempotency key that it knows with the payment that is there, and
//! makes another payment for each charge without one. How long each step takes is drawn from a
//! stream of its own, by the name of the order and the number of its payment, so that both lanes
//! have the same weather. Real providers send a webhook again until it is answered; here it is sent
//! once, to an edge-triggered controller that runs.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::api::{Kind, ObjectKey, Str};
use crate::apiserver::{ApiError, Reason, Request, Response, WatchEvent, WatchEventType};
use crate::controllers::order::object::{Order, kind};
use crate::controllers::order::payment::{Payment, State};
use crate::kernel::{Rng, stable_hash};

use super::ControllerId;
use super::step::Step;
use super::truth::Shortfall;
use super::world::World;

/// Payments that it takes in one run.
const PAYMENTS_MAX: usize = 10_000;
/// How long a charge or a refund settles: from, to.
const SETTLES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(4));

/// The provider.
#[derive(Clone, Debug, Default)]
pub struct Provider {
    payments: Vec<Payment>,
    /// Of each payment: its order, and the how many-th of it it is. All that is drawn for it is
    /// drawn by this.
    names: Vec<Str>,
    /// How many payments each order has.
    counts: BTreeMap<Str, u32>,
    by_id: BTreeMap<Str, usize>,
    by_key: BTreeMap<Str, usize>,
}

impl Provider {
    /// All payments, oldest first.
    pub fn ledger(&self) -> &[Payment] {
        &self.payments
    }

    fn name(&mut self, payment: &Payment) -> Str {
        let order: Str = format!("{}/{}", payment.namespace, payment.order).into();
        let count = self.counts.entry(order.clone()).or_default();
        *count += 1;
        format!("{order}#{count}").into()
    }

    /// The payment of this id, or the one that was charged under this key.
    fn find(&self, name: &str) -> Option<&Payment> {
        let number = self.by_id.get(name).or_else(|| self.by_key.get(name))?;
        self.payments.get(*number)
    }
}

fn answer(payment: &Payment) -> Response {
    Ok(Arc::new(payment.object()))
}

fn no_such_payment(id: &str) -> ApiError {
    ApiError::new(Reason::NotFound, format!("No such payment: '{id}'"))
}

impl World {
    /// The payment provider.
    pub fn provider(&self) -> &Provider {
        &self.provider
    }

    /// What the provider answers.
    pub(super) fn ask_provider(&mut self, request: &Request) -> Response {
        match request {
            Request::Get(key) => {
                let found = self.provider.find(&key.name);
                found.map_or_else(|| Err(no_such_payment(&key.name)), answer)
            }
            Request::Create(asked) => self.charge(Payment::read(asked)),
            Request::Update(_, asked) => {
                let calls_off = Payment::read(asked).is_some_and(|p| p.state == State::Cancelled);
                self.give_back(&asked.meta().name, calls_off)
            }
            _ => Err(ApiError::new(Reason::MethodNotAllowed, "Payments are charged and refunded")),
        }
    }

    fn charge(&mut self, asked: Option<Payment>) -> Response {
        let Some(asked) = asked else {
            return Err(ApiError::new(Reason::BadRequest, "This is no charge"));
        };
        let known = asked.key.as_ref().and_then(|key| self.provider.by_key.get(key));
        if let Some(number) = known {
            return answer(&self.provider.payments[*number]);
        }
        let number = self.provider.payments.len();
        if number >= PAYMENTS_MAX {
            let text = format!("The provider takes no more than {PAYMENTS_MAX} payments");
            return Err(ApiError::new(Reason::TooManyRequests, text));
        }
        let name = self.provider.name(&asked);
        let hash = format!("{:016x}", stable_hash(self.options.seed, name.as_bytes()));
        let id: Str = format!("pay-{}", &hash[..10]).into();
        let payment = Payment { id: id.clone(), state: State::Pending, revision: 1, ..asked };
        if let Some(key) = &payment.key {
            self.provider.by_key.insert(key.clone(), number);
        }
        self.provider.by_id.insert(id, number);
        self.provider.names.push(name);
        self.provider.payments.push(payment.clone());
        self.note(&payment);
        self.settles_later(number, &payment);
        answer(&payment)
    }

    /// What is pending can be called off, at once; what has gone through is refunded. A payment
    /// that is over already is answered as it is.
    fn give_back(&mut self, id: &str, calls_off: bool) -> Response {
        let Some(number) = self.provider.by_id.get(id).copied() else {
            return Err(no_such_payment(id));
        };
        let payment = &self.provider.payments[number];
        match payment.state {
            State::Pending if calls_off => {
                let payment = self.change(number, State::Cancelled);
                self.call_shop(&payment);
                answer(&payment)
            }
            State::Pending => {
                let text = format!("Payment '{id}' is still pending");
                Err(ApiError::new(Reason::Conflict, text))
            }
            State::Refunding | State::Refunded | State::Cancelled => answer(payment),
            State::Paid => {
                let payment = self.change(number, State::Refunding);
                self.settles_later(number, &payment);
                answer(&payment)
            }
        }
    }

    /// The payment of this number, now in another state.
    fn change(&mut self, number: usize, state: State) -> Payment {
        let payment = &mut self.provider.payments[number];
        payment.state = state;
        payment.revision += 1;
        let payment = payment.clone();
        self.note(&payment);
        payment
    }

    fn note(&mut self, payment: &Payment) {
        self.hash.text(&format!("{} {}", payment.id, payment.state.word()));
    }

    fn settles_later(&mut self, number: usize, payment: &Payment) {
        let stream = format!("provider/{}/{}", self.provider.names[number], payment.state.word());
        let span = Rng::stream(self.options.seed, &stream).span(SETTLES.0, SETTLES.1);
        self.put(self.now + span, Step::Settle(number as u64));
    }

    /// A charge has gone through, or a refund.
    pub(super) fn settle(&mut self, number: u64) {
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        let Some(payment) = self.provider.payments.get(number) else { return };
        let state = match payment.state {
            State::Pending => State::Paid,
            State::Refunding => State::Refunded,
            // It was called off.
            State::Paid | State::Refunded | State::Cancelled => return,
        };
        let payment = self.change(number, state);
        self.call_shop(&payment);
    }

    /// The webhook.
    fn call_shop(&mut self, payment: &Payment) {
        let Some(stream) = self.news_stream(ControllerId::Order, Kind::Payment) else { return };
        let (kind, object) = (WatchEventType::Modified, Arc::new(payment.object()));
        let event = WatchEvent { kind, object, revision: self.store().revision() };
        self.send(stream, event, false);
    }

    /// The kind of Orders, if there can be any: the controller runs from their definition on.
    pub fn order_kind(&self) -> Option<Kind> {
        if self.processes.contains_key(&ControllerId::Order) { kind() } else { None }
    }

    fn orders(&self) -> impl Iterator<Item = Order> + '_ {
        self.order_kind()
            .into_iter()
            .flat_map(|kind| self.store().list(kind))
            .filter_map(Order::read)
    }

    /// Whether an order's status says what is true, as far as anybody could find out, and that is
    /// what its spec wants.
    fn is_right(&self, order: &Order) -> bool {
        let payment = order.status.payment.as_ref().and_then(|id| self.provider.find(id));
        let untold = order.next_key().and_then(|key| self.provider.find(&key));
        let told = order.status.state == payment.map(|payment| payment.state);
        let stays = !(order.is_going && order.is_held);
        order.is_settled() && stays && told && untold.is_none()
    }

    /// Orders whose money is not where it shall be, or whose status does not know where it is. One
    /// payment is wanted or none; there are so many.
    pub(super) fn order_shortfalls(&self) -> Vec<Shortfall> {
        let mut held: BTreeMap<&Str, (i64, i64)> = BTreeMap::new();
        for payment in &self.provider.payments {
            let (paid, kept) = held.entry(&payment.order_uid).or_default();
            *paid += i64::from(payment.state == State::Paid);
            *kept += i64::from(!payment.state.is_over());
        }
        let short = self.orders().filter_map(|order| {
            let (paid, kept) = held.get(&order.object.meta().uid).copied().unwrap_or_default();
            let want = i64::from(order.wants == State::Paid);
            let have = if want == 1 { paid } else { kept };
            let object: ObjectKey = order.object.key();
            match (have == want, self.is_right(&order)) {
                (true, true) => None,
                (true, false) => Some(Shortfall { object, want, have: 1 - want }),
                (false, _) => Some(Shortfall { object, want, have }),
            }
        });
        short.collect()
    }

    /// Whether the controller would find something to do if it looked. A payment that no status
    /// names is not: nobody will ever look for it.
    pub(super) fn an_order_has_work(&self) -> bool {
        self.orders().any(|order| !self.is_right(&order))
    }
}
