//! A payment, as the provider tells of it: what it answers, and what its webhooks carry. It is no
//! object of the cluster; it travels as one of a kind that is never stored.

use serde_json::json;

use crate::api::{Generic, Kind, Object, ObjectMeta, Str, Value};

/// How far a payment has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// The charge was accepted and settles.
    Pending,
    /// The shop has the money.
    Paid,
    /// The refund was accepted and settles.
    Refunding,
    /// The customer has the money back. This is final.
    Refunded,
    /// It was called off before it went through. This is final too.
    Cancelled,
}

impl State {
    const ALL: [State; 5] =
        [State::Pending, State::Paid, State::Refunding, State::Refunded, State::Cancelled];

    /// Its name in a manifest.
    pub fn word(self) -> &'static str {
        match self {
            State::Pending => "Pending",
            State::Paid => "Paid",
            State::Refunding => "Refunding",
            State::Refunded => "Refunded",
            State::Cancelled => "Cancelled",
        }
    }

    /// Whether the shop has no money of it, and will not.
    pub fn is_over(self) -> bool {
        matches!(self, State::Refunded | State::Cancelled)
    }

    /// The state of this name.
    pub fn parse(word: &str) -> Option<State> {
        Self::ALL.into_iter().find(|state| state.word() == word)
    }
}

/// A payment.
#[derive(Clone, Debug, PartialEq)]
pub struct Payment {
    /// The provider's name for it; empty while it is asked for.
    pub id: Str,
    /// For the order of this namespace ...
    pub namespace: Str,
    /// ... and name ...
    pub order: Str,
    /// ... and uid.
    pub order_uid: Str,
    /// So much, in the smallest unit of the currency.
    pub amount: i64,
    /// `EUR`.
    pub currency: Str,
    /// The idempotency key under which it was charged, if there was one.
    pub key: Option<Str>,
    /// How far it has come.
    pub state: State,
    /// Grows with every change, so that an old webhook is known for one.
    pub revision: i64,
}

impl Payment {
    /// Reads an answer, a webhook or a request.
    pub fn read(object: &Object) -> Option<Payment> {
        let own = object.as_generic().filter(|own| own.kind == Kind::Payment)?;
        let text = |field: &str| Str::from(own.text(field));
        Some(Payment {
            id: own.metadata.name.clone(),
            namespace: own.metadata.namespace.clone(),
            order: text("order/name"),
            order_uid: text("order/uid"),
            amount: own.whole_number("amount")?,
            currency: text("currency"),
            key: own.field("idempotencyKey").and_then(Value::as_str).map(Str::from),
            state: State::parse(own.text("state"))?,
            revision: own.whole_number("revision")?,
        })
    }

    /// The payment as it travels.
    pub fn object(&self) -> Object {
        let (name, namespace) = (self.id.clone(), self.namespace.clone());
        let metadata = ObjectMeta { name, namespace, ..ObjectMeta::default() };
        let mut own = Generic { kind: Kind::Payment, metadata, rest: Default::default() };
        let order = json!({"name": self.order, "uid": self.order_uid});
        let mut set = |field: &str, value: Value| own.rest.insert(field.into(), value);
        set("order", order);
        set("amount", self.amount.into());
        set("currency", self.currency.as_ref().into());
        set("idempotencyKey", self.key.as_deref().into());
        set("state", self.state.word().into());
        set("revision", self.revision.into());
        Object::Generic(own)
    }
}
