//! An Order as the controller reads and writes it: the typed form of what `crd.yaml` defines.

use std::sync::Arc;

use serde_json::json;

use crate::api::{
    Condition, ConditionStatus, Generic, Kind, Object, ObjectKey, Str, Timestamp, custom,
};
use crate::controllers::Context;

use super::payment::{Payment, State};

/// Group and version, kind, plural and scope, as `crd.yaml` defines them.
const NAMES: (&str, &str, &str, bool) = ("shop.example/v1", "Order", "orders", true);

/// The kind that the controller is for.
pub fn kind() -> Option<Kind> {
    let (api_version, kind, plural, namespaced) = NAMES;
    custom::intern(api_version, kind, plural, namespaced)
}

/// Holds an order that has, or may have, a payment.
pub const FINALIZER: &str = "shop.example/payment";

/// Whether this is that kind.
pub fn is_order(kind: Kind) -> bool {
    let info = kind.info();
    (info.api_version, info.kind, info.plural, info.namespaced) == NAMES
}

/// An Order.
#[derive(Clone, Debug)]
pub struct Order {
    /// As it was seen.
    pub object: Arc<Object>,
    /// Where the money shall be: `Paid`, `Refunded` or `Cancelled`. One that is on its way out
    /// wants the last, whatever its spec says.
    pub wants: State,
    /// Whether it is on its way out.
    pub is_going: bool,
    /// Whether it has this controller's finalizer.
    pub is_held: bool,
    /// So much, in the smallest unit of the currency.
    pub amount: i64,
    /// `EUR`.
    pub currency: Str,
    /// Whether charges carry an idempotency key.
    pub has_key: bool,
    /// What the controller wrote down last.
    pub status: Status,
}

/// What the controller writes down.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Status {
    /// What the provider said last; nothing before the first charge.
    pub state: Option<State>,
    /// The provider's name for the payment.
    pub payment: Option<Str>,
    /// How new that is: see [`Payment::revision`].
    pub revision: i64,
    /// Payments that the order has been told of.
    pub charges: i64,
    /// The generation of the spec that was acted on.
    pub observed_generation: i64,
}

impl Order {
    /// The Order of this key, as the cache shows it.
    pub fn of(key: &ObjectKey, cx: &Context) -> Option<Order> {
        Order::read(cx.cache.get(key)?)
    }

    /// Reads an Order; nothing if it is none.
    pub fn read(object: &Arc<Object>) -> Option<Order> {
        let own = object.as_generic().filter(|own| is_order(own.kind))?;
        let is_going = own.metadata.is_terminating();
        let asked = State::parse(own.text("spec/state")).unwrap_or(State::Paid);
        Some(Order {
            object: object.clone(),
            wants: if is_going { State::Cancelled } else { asked },
            is_going,
            is_held: own.metadata.finalizers.iter().any(|name| **name == *FINALIZER),
            amount: own.whole_number("spec/amount").unwrap_or(0),
            currency: own.text("spec/currency").into(),
            has_key: own.typed("spec/idempotencyKey").unwrap_or(true),
            status: Status::read(own),
        })
    }

    /// Whether the status says what is wanted. Where nobody shall have paid, it is the same whether
    /// nobody was charged, or that was called off or given back.
    pub fn is_settled(&self) -> bool {
        match self.wants {
            State::Paid => self.status.state == Some(State::Paid),
            _ => self.status.state.is_none_or(State::is_over),
        }
    }

    /// Whether nothing keeps it that is on its way out but the finalizer.
    pub fn may_go(&self) -> bool {
        self.is_going && self.is_held && self.is_settled()
    }

    /// Its finalizers, with that of this controller or without.
    pub fn finalizers(&self, held: bool) -> Vec<Str> {
        let others = self.object.meta().finalizers.iter().filter(|name| ***name != *FINALIZER);
        let own = held.then(|| Str::from(FINALIZER));
        others.cloned().chain(own).collect()
    }

    /// The idempotency key of its next charge: the same until the status tells of that charge.
    pub fn next_key(&self) -> Option<Str> {
        let uid = &self.object.meta().uid;
        self.has_key.then(|| format!("{uid}-{}", self.status.charges + 1).into())
    }

    /// What the status says and what the spec wants, in words.
    pub fn words(&self) -> (Str, Str) {
        (self.status.state.map_or("none", State::word).into(), self.wants.word().into())
    }

    /// The status once it tells of this payment, or, without one, of what it told before.
    pub fn status_with(&self, payment: Option<&Payment>) -> Status {
        let observed_generation = self.object.meta().generation;
        let mut status = Status { observed_generation, ..self.status.clone() };
        if let Some(payment) = payment {
            status.charges += i64::from(status.payment.as_ref() != Some(&payment.id));
            status.state = Some(payment.state);
            status.payment = Some(payment.id.clone());
            status.revision = payment.revision;
        }
        status
    }

    /// The Order with a new status.
    pub fn with_status(&self, status: Status, now: Timestamp) -> Object {
        let mut after = Object::clone(&self.object);
        let Object::Generic(own) = &mut after else { return after };
        let settled = Order { status: status.clone(), ..self.clone() }.is_settled();
        let condition = settled_condition(own, settled, status.state, now);
        let value = json!({
            "state": status.state.map(State::word),
            "payment": status.payment,
            "revision": status.revision,
            "charges": status.charges,
            "observedGeneration": status.observed_generation,
            "conditions": [condition],
        });
        own.rest.insert("status".into(), without_nulls(value));
        after
    }
}

impl Status {
    fn read(own: &Generic) -> Status {
        let number = |field: &str| own.whole_number(field).unwrap_or(0);
        Status {
            state: State::parse(own.text("status/state")),
            payment: Some(own.text("status/payment")).filter(|id| !id.is_empty()).map(Str::from),
            revision: number("status/revision"),
            charges: number("status/charges"),
            observed_generation: number("status/observedGeneration"),
        }
    }

    /// Grows with all that is learned.
    pub fn age(&self) -> (i64, i64, i64) {
        (self.charges, self.revision, self.observed_generation)
    }

    /// Whether a payment tells more than this: an old webhook, or one of another payment, does not.
    pub fn is_older_than(&self, payment: &Payment) -> bool {
        match &self.payment {
            Some(id) => *id == payment.id && self.revision < payment.revision,
            None => true,
        }
    }
}

/// `Settled`, with the time since when it is so.
fn settled_condition(
    own: &Generic,
    settled: bool,
    state: Option<State>,
    now: Timestamp,
) -> Condition {
    let before: Vec<Condition> = own.typed("status/conditions").unwrap_or_default();
    let status = ConditionStatus::from(settled);
    let before = Condition::find(&before, "Settled").filter(|before| before.status == status);
    Condition {
        kind: "Settled".into(),
        status,
        reason: Some(state.map_or("NotCharged", State::word).into()),
        last_transition_time: before.map_or(Some(now), |before| before.last_transition_time),
        ..Condition::default()
    }
}

fn without_nulls(mut value: serde_json::Value) -> serde_json::Value {
    if let Some(map) = value.as_object_mut() {
        map.retain(|_, value| !value.is_null());
    }
    value
}
