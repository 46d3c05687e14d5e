//! The decisions as pure functions: an Order, what the provider said, and what comes of it.

use std::sync::Arc;

use serde_json::json;

use super::object::{FINALIZER, Order, is_order, kind};
use super::payment::{Payment, State};
use super::{Orders, next};
use crate::api::{Object, ObjectKey, Value};
use crate::apiserver::{ApiError, Part, Reason, Request};
use crate::client::Cache;
use crate::controllers::{Change, ChangeKind, Context, Deed, Plan};
use crate::kernel::Time;

/// An Order in this state, if it was charged, that wants that one and is held.
fn order(state: Option<&str>, wants: &str) -> Arc<Object> {
    let kind = kind().expect("there is room for a kind");
    assert!(is_order(kind));
    let mut value = json!({
        "metadata": {
            "name": "tea", "namespace": "default", "uid": "u", "generation": 1,
            "resourceVersion": "7", "finalizers": [FINALIZER],
        },
        "spec": {"amount": 5, "currency": "EUR", "state": wants},
    });
    if let Some(state) = state {
        value["status"] = json!({
            "state": state, "payment": "pay-1", "revision": 2, "charges": 1,
            "observedGeneration": 1,
        });
    }
    Arc::new(Object::from_value(kind, value).expect("an Order"))
}

fn key(object: &Object) -> ObjectKey {
    object.key()
}

fn payment(id: &str, state: State, revision: i64) -> Payment {
    Payment {
        id: id.into(),
        namespace: "default".into(),
        order: "tea".into(),
        order_uid: "u".into(),
        amount: 5,
        currency: "EUR".into(),
        key: None,
        state,
        revision,
    }
}

/// The cache shows this Order and nothing else.
fn with_cache<T>(object: &Arc<Object>, decide: impl FnOnce(&Context) -> T) -> T {
    let mut cache = Cache::default();
    cache.put(object.clone());
    let (now, seed) = (Time::from_secs(9), 1);
    decide(&Context { cache: &cache, now, seed, promises_kept: true })
}

fn webhook(payment: &Payment) -> Change {
    let object = Arc::new(payment.object());
    Change { kind: ChangeKind::Updated, before: Some(object.clone()), object }
}

fn deeds(plan: &Plan) -> Vec<Deed> {
    plan.writes().map(|(deed, _)| deed).collect()
}

/// The status that a plan writes.
fn status(plan: &Plan) -> Option<Value> {
    plan.batches.iter().flatten().find_map(|intent| match &intent.request {
        Request::Update(Part::Status, object) => object.as_generic()?.rest.get("status").cloned(),
        _ => None,
    })
}

#[test]
fn what_an_order_needs_follows_from_what_it_is_and_what_it_wants() {
    for (state, wants, deed) in [
        (None, "Paid", Some(Deed::Charge)),
        (Some("Pending"), "Paid", None),
        (Some("Paid"), "Paid", None),
        (Some("Refunding"), "Paid", None),
        (Some("Refunded"), "Paid", Some(Deed::Charge)),
        (None, "Refunded", None),
        (Some("Pending"), "Refunded", None),
        (Some("Paid"), "Refunded", Some(Deed::Refund)),
        (Some("Refunding"), "Refunded", None),
        (Some("Refunded"), "Refunded", None),
        (None, "Cancelled", None),
        (Some("Pending"), "Cancelled", Some(Deed::Cancel)),
        (Some("Paid"), "Cancelled", Some(Deed::Refund)),
        (Some("Refunding"), "Cancelled", None),
        (Some("Refunded"), "Cancelled", None),
        (Some("Cancelled"), "Cancelled", None),
        (Some("Cancelled"), "Refunded", None),
        (Some("Cancelled"), "Paid", Some(Deed::Charge)),
    ] {
        let order = Order::read(&order(state, wants)).expect("an Order");
        let found = next(&order).map(|intent| intent.deed);
        assert_eq!(found, deed, "{state:?} and wants {wants}");
    }
}

#[test]
fn a_charge_that_is_asked_for_again_has_the_same_key_and_the_next_one_another() {
    let key = |state| {
        let order = Order::read(&order(state, "Paid")).expect("an Order");
        let Some(Request::Create(asked)) = next(&order).map(|intent| intent.request) else {
            panic!("{state:?}: no charge");
        };
        Payment::read(&asked).expect("a payment").key
    };
    assert_eq!(key(None).as_deref(), Some("u-1"));
    assert_eq!(key(None), key(None));
    assert_eq!(key(Some("Refunded")).as_deref(), Some("u-2"));
}

#[test]
fn level_asks_for_what_it_knows_and_writes_the_answer_down() {
    let pending = order(Some("Pending"), "Paid");
    let mut orders = Orders::default();
    let asks = with_cache(&pending, |cx| orders.sync(&key(&pending), cx));
    assert_eq!((deeds(&asks), asks.goes_on), (vec![Deed::Read], true));
    let answer = Ok(Arc::new(payment("pay-1", State::Paid, 3).object()));
    let asked = asks.batches[0][0].request.clone();
    orders.answered(&key(&pending), &asked, &answer);
    let writes = with_cache(&pending, |cx| orders.sync(&key(&pending), cx));
    assert_eq!(deeds(&writes), [Deed::Record]);
    let status = status(&writes).expect("a status");
    assert_eq!(status["state"], "Paid");
    assert_eq!(status["conditions"][0]["status"], "True");
    assert!(writes.requeue_after.is_some(), "it looks again");
}

#[test]
fn level_looks_for_a_charge_of_which_no_status_tells() {
    // It was charged, and then, before that was written down, a refund was wanted.
    let untold = order(None, "Refunded");
    let mut orders = Orders::default();
    let asks = with_cache(&untold, |cx| orders.sync(&key(&untold), cx));
    let asked = asks.batches[0][0].request.clone();
    assert_eq!(&*asked.key().name, "u-1", "the idempotency key");
    let found = Ok(Arc::new(payment("pay-1", State::Paid, 2).object()));
    orders.answered(&key(&untold), &asked, &found);
    let writes = with_cache(&untold, |cx| orders.sync(&key(&untold), cx));
    assert_eq!(status(&writes).expect("a status")["state"], "Paid");
    let absent = Err(ApiError::new(Reason::NotFound, "No such payment"));
    orders.answered(&key(&untold), &asked, &absent);
    let writes = with_cache(&untold, |cx| orders.sync(&key(&untold), cx));
    let status = status(&writes).expect("the generation was seen");
    assert_eq!((&status["state"], &status["observedGeneration"]), (&Value::Null, &json!(1)));
}

#[test]
fn what_the_api_server_answers_is_not_taken_for_a_payment() {
    let pending = order(Some("Pending"), "Paid");
    let mut orders = Orders::default();
    let write = Request::Update(Part::Status, pending.clone());
    orders.answered(&key(&pending), &write, &Ok(pending.clone()));
    let asks = with_cache(&pending, |cx| orders.sync(&key(&pending), cx));
    assert_eq!(deeds(&asks), [Deed::Read]);
}

#[test]
fn level_looks_for_ever_and_such_a_look_is_upkeep_once_the_order_is_settled() {
    for (state, upkeep) in [("Pending", false), ("Paid", true)] {
        let object = order(Some(state), "Paid");
        let plan = with_cache(&object, |cx| Orders::default().sync(&key(&object), cx));
        assert_eq!((plan.upkeep, plan.requeue_after.is_some()), (upkeep, true), "{state}");
    }
}

#[test]
fn level_is_not_woken_by_the_status_that_it_wrote() {
    let (before, after) = (order(None, "Paid"), Object::clone(&order(Some("Paid"), "Paid")));
    let mut newer = after;
    newer.meta_mut().resource_version = 8;
    let changed = |object: Arc<Object>| Change {
        kind: ChangeKind::Updated,
        before: Some(before.clone()),
        object,
    };
    let orders = Orders::default();
    assert_eq!(orders.wakes(&changed(Arc::new(newer))).keys, []);
    let resync = changed(before.clone());
    assert_eq!(orders.wakes(&resync).keys, [key(&before)], "a resync changes nothing, and wakes");
}

#[test]
fn edge_sets_the_status_that_a_webhook_names_and_asks_nobody() {
    let pending = order(Some("Pending"), "Paid");
    let told = webhook(&payment("pay-1", State::Paid, 3));
    let mut orders = Orders::default();
    assert_eq!(orders.concerns(&told), Some(key(&pending)));
    let plan = with_cache(&pending, |cx| orders.on_change(&told, cx));
    assert_eq!(deeds(&plan), [Deed::Record]);
    assert_eq!(status(&plan).expect("a status")["state"], "Paid");
}

#[test]
fn edge_has_no_use_for_a_webhook_that_is_old_doubled_or_of_another_payment() {
    let paid = order(Some("Paid"), "Paid");
    for (id, state, revision) in
        [("pay-1", State::Paid, 2), ("pay-1", State::Pending, 1), ("pay-9", State::Paid, 5)]
    {
        let told = webhook(&payment(id, state, revision));
        let plan = with_cache(&paid, |cx| Orders::default().on_change(&told, cx));
        assert_eq!(deeds(&plan), [], "{id} {state:?} {revision}");
    }
}

#[test]
fn edge_acts_on_an_order_that_is_new_and_not_on_one_that_is_the_same() {
    let new = order(None, "Paid");
    let added = Change { kind: ChangeKind::Added, before: None, object: new.clone() };
    let plan = with_cache(&new, |cx| Orders::default().on_change(&added, cx));
    assert_eq!((deeds(&plan), plan.goes_on), (vec![Deed::Charge], true));
    assert_eq!(Orders::default().concerns(&added), Some(key(&new)));
    let same = Change { kind: ChangeKind::Updated, before: Some(new.clone()), object: new.clone() };
    let plan = with_cache(&new, |cx| Orders::default().on_change(&same, cx));
    assert_eq!(deeds(&plan), []);
}

#[test]
fn edge_does_not_write_an_old_status_over_a_newer_one_when_it_tries_again() {
    let pending = order(Some("Pending"), "Paid");
    let mut orders = Orders::default();
    let told = webhook(&payment("pay-1", State::Paid, 3));
    let failed = with_cache(&pending, |cx| orders.on_change(&told, cx));
    let again = with_cache(&pending, |cx| orders.on_resume(failed.clone(), cx));
    assert_eq!(deeds(&again), [Deed::Record]);
    let mut newer = Object::clone(&pending);
    if let Object::Generic(own) = &mut newer {
        own.set_field("status", "revision", 4.into());
    }
    let again = with_cache(&Arc::new(newer), |cx| orders.on_resume(failed, cx));
    assert_eq!(deeds(&again), []);
}

/// The order without the finalizer.
fn let_loose(object: &Arc<Object>) -> Arc<Object> {
    let mut object = Object::clone(object);
    object.meta_mut().finalizers.clear();
    Arc::new(object)
}

/// The order once somebody has deleted it.
fn deleted(object: &Arc<Object>) -> Arc<Object> {
    let mut object = Object::clone(object);
    object.meta_mut().deletion_timestamp = Some(crate::api::Timestamp(1));
    Arc::new(object)
}

fn updated(before: &Arc<Object>, object: &Arc<Object>) -> Change {
    Change { kind: ChangeKind::Updated, before: Some(before.clone()), object: object.clone() }
}

#[test]
fn no_charge_is_made_before_the_order_is_held_and_then_at_once() {
    let (loose, held) = (let_loose(&order(None, "Paid")), order(None, "Paid"));
    let mut orders = Orders::default();
    let level = with_cache(&loose, |cx| orders.sync(&key(&loose), cx));
    let added = Change { kind: ChangeKind::Added, before: None, object: loose.clone() };
    let edge = with_cache(&loose, |cx| orders.on_change(&added, cx));
    for plan in [level, edge] {
        assert_eq!((deeds(&plan), plan.goes_on), (vec![Deed::Update], false));
        let Request::Patch(Part::Main, _, patch) = &plan.batches[0][0].request else {
            panic!("{plan:?}");
        };
        assert_eq!(patch, &json!({"metadata": {"finalizers": [FINALIZER]}}));
    }
    let now_held = updated(&loose, &held);
    let mut newer = Object::clone(&held);
    newer.meta_mut().resource_version = 8;
    assert_eq!(orders.wakes(&updated(&loose, &Arc::new(newer))).keys, [key(&held)]);
    let edge = with_cache(&held, |cx| orders.on_change(&now_held, cx));
    assert_eq!(deeds(&edge), [Deed::Charge]);
}

#[test]
fn an_order_that_is_deleted_wants_to_be_cancelled_and_goes_when_nothing_is_left_to_give_back() {
    for (state, deed) in [("Pending", Deed::Cancel), ("Paid", Deed::Refund)] {
        let before = order(Some(state), "Paid");
        let going = deleted(&before);
        let plan =
            with_cache(&going, |cx| Orders::default().on_change(&updated(&before, &going), cx));
        assert_eq!(deeds(&plan), [deed], "edge, {state}");
        let plan = with_cache(&going, |cx| Orders::default().sync(&key(&going), cx));
        assert_eq!(deeds(&plan), [deed], "level, {state}");
    }
    let before = order(Some("Refunding"), "Paid");
    let going = deleted(&before);
    let told = webhook(&payment("pay-1", State::Refunded, 4));
    let plan = with_cache(&going, |cx| Orders::default().on_change(&told, cx));
    assert_eq!(deeds(&plan), [Deed::Unblock]);
    let Request::Patch(Part::Main, _, patch) = &plan.batches[0][0].request else { panic!() };
    assert_eq!(patch, &json!({"metadata": {"finalizers": []}}));
}

#[test]
fn level_looks_for_money_that_nobody_told_of_before_it_lets_an_order_go() {
    let going = deleted(&order(None, "Paid"));
    let mut orders = Orders::default();
    let asks = with_cache(&going, |cx| orders.sync(&key(&going), cx));
    assert_eq!(deeds(&asks), [Deed::Read]);
    let asked = asks.batches[0][0].request.clone();
    let absent = Err(ApiError::new(Reason::NotFound, "No such payment"));
    orders.answered(&key(&going), &asked, &absent);
    let goes = with_cache(&going, |cx| orders.sync(&key(&going), cx));
    assert_eq!(deeds(&goes), [Deed::Unblock]);
    let found = Ok(Arc::new(payment("pay-1", State::Paid, 2).object()));
    orders.answered(&key(&going), &asked, &found);
    let stays = with_cache(&going, |cx| orders.sync(&key(&going), cx));
    assert_eq!(deeds(&stays), [Deed::Record]);
    // Edge asks nobody: it forgets the money that it was never told of.
    let edge = with_cache(&going, |cx| {
        Orders::default().on_change(&updated(&order(None, "Paid"), &going), cx)
    });
    assert_eq!(deeds(&edge), [Deed::Unblock]);
}
