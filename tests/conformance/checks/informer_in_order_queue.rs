//! The queue between a reflector and the cache, in order.

use std::sync::Arc;

use loopscope::api::{Kind, Object, ObjectKey};
use loopscope::client::delta::{Delta, DeltaType, KnownObjects};
use loopscope::client::in_order_queue::InOrderQueue;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Outcome, compare, given};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Given {
    #[serde(rename = "check")]
    _check: String,
    known_objects: Option<Vec<Item>>,
    operations: Vec<Operation>,
    #[serde(default)]
    feature_gates: Gates,
}

/// The simulation's queue is the one without the gate; handlers see the same.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Gates {
    #[serde(rename = "AtomicFIFO", default)]
    atomic_fifo: bool,
}

/// An object of the cases: a key and a value.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Item {
    key: String,
    value: i64,
}

/// What is done to a queue.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase", tag = "op", deny_unknown_fields)]
pub enum Operation {
    Add { object: Item },
    Update { object: Item },
    Delete { object: Item },
    Replace { objects: Vec<Item> },
    Resync,
    Pop,
}

const VALUE: &str = "value";

impl Item {
    pub fn object(&self) -> Arc<Object> {
        let meta = json!({"name": self.key, "annotations": {VALUE: self.value.to_string()}});
        let object = Object::from_value(Kind::ConfigMap, json!({"metadata": meta}));
        Arc::new(object.expect("an object"))
    }
}

/// The store behind a queue, in the order of the case.
pub struct Store(Vec<Arc<Object>>);

impl Store {
    pub fn of(items: &[Item]) -> Store {
        Store(items.iter().map(Item::object).collect())
    }
}

impl KnownObjects for Store {
    fn keys(&self) -> Vec<ObjectKey> {
        self.0.iter().map(|object| object.key()).collect()
    }

    fn get(&self, key: &ObjectKey) -> Option<Arc<Object>> {
        self.0.iter().find(|object| object.key() == *key).cloned()
    }
}

/// An event as the cases write it.
pub fn shown(delta: &Delta) -> Value {
    let value = delta.object().and_then(|object| object.meta().annotations.get(VALUE).cloned());
    let value = value.and_then(|value| value.parse::<i64>().ok());
    let kind = format!("{:?}", delta.kind);
    let mut shown = json!({"type": kind, "key": delta.key().name, "value": value});
    if delta.is_tombstone() {
        shown["tombstone"] = json!(true);
    }
    shown
}

pub fn check(case: &Value, expect: &Value) -> Outcome {
    let given: Given = match given(case) {
        Ok(given) => given,
        Err(outcome) => return outcome,
    };
    if given.feature_gates.atomic_fifo {
        return Outcome::NotModelled("a list is split when it comes");
    }
    let known = Store::of(given.known_objects.as_deref().unwrap_or(&[]));
    let mut queue = InOrderQueue::default();
    let mut popped = Vec::new();
    for operation in &given.operations {
        match operation {
            Operation::Add { object } => queue.push(DeltaType::Added, object.object()),
            Operation::Update { object } => queue.push(DeltaType::Updated, object.object()),
            Operation::Delete { object } => queue.push(DeltaType::Deleted, object.object()),
            Operation::Replace { objects } => {
                queue.replace(objects.iter().map(Item::object).collect(), &known);
            }
            Operation::Resync => queue.resync(&known),
            Operation::Pop => popped.extend(queue.pop()),
        }
    }
    let synced = queue.has_synced();
    popped.extend(std::iter::from_fn(|| queue.pop()));
    let got = json!({
        "popped": popped.iter().map(shown).collect::<Vec<_>>(),
        "hasSynced": synced,
    });
    match popped_agrees(expect, &got) {
        Some(outcome) => outcome,
        None => compare(expect, &got),
    }
}

/// Events are compared as a whole: one with a tombstone is not one without.
pub fn popped_agrees(expect: &Value, got: &Value) -> Option<Outcome> {
    let wanted = expect.get("popped")?;
    (*wanted != got["popped"])
        .then(|| Outcome::Failed(format!("expected {wanted}, got {}", got["popped"])))
}
