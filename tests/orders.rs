//! A shop at work: Orders, their controller in both flavours, the payment provider beside the
//! cluster, and what goes wrong between them.

use std::collections::BTreeSet;

use loopscope::apiserver::Verb;
use loopscope::controllers::order::payment::Payment;
use loopscope::kernel::Time;
use loopscope::scenario::{In, Scenario, shipped};
use loopscope::view::{LoopId, PassFilter, Reason, Session};
use loopscope::world::{LaneId, Verdict, World};

const LANES: [LaneId; 2] = [LaneId::Edge, LaneId::Level];
const DEFINITION: &str = include_str!("../src/controllers/order/crd.yaml");

/// The definition, as it stands in a scenario.
fn definition() -> String {
    DEFINITION.lines().map(|line| format!("  {line}\n")).collect()
}

/// A shop with nothing in it but the definition of an Order.
fn shop(cluster: &str) -> Session {
    let text = format!("title: shop\nseed: 7\n{cluster}\nobjects: |\n{}", definition());
    let mut session = Session::open(Scenario::read("shop", &text).expect("a scenario"), None);
    session.seek(Time::from_secs(1));
    session
}

fn order(session: &mut Session, name: &str, spec: &str) {
    let manifest = format!(
        "apiVersion: shop.example/v1\nkind: Order\nmetadata: {{name: {name}}}\n\
         spec: {{amount: 5, currency: EUR{spec}}}\n"
    );
    for (lane, output) in session.apply(&manifest, In::Both) {
        assert!(!output.error, "{lane:?}: {}", output.text);
    }
}

fn want(session: &mut Session, name: &str, state: &str) {
    let patch = format!(r#"{{"spec":{{"state":"{state}"}}}}"#);
    let line = format!("kubectl patch order {name} --type=merge -p '{patch}'");
    for (lane, text) in say(session, &line) {
        assert!(text.contains("patched"), "{lane:?}: {text}");
    }
}

fn say(session: &mut Session, line: &str) -> Vec<(LaneId, String)> {
    let said = session.act(line, None, In::Both);
    said.into_iter().map(|(lane, output)| (lane, output.text)).collect()
}

fn inflict(session: &mut Session, line: &str) {
    for (lane, output) in session.act(line, None, In::Both) {
        assert!(!output.error, "{lane:?}: {line}: {}", output.text);
    }
}

fn world(session: &Session, lane: LaneId) -> &World {
    &session.run().lane(lane).expect("both lanes run").world
}

/// `state` of each payment of a lane, oldest first.
fn ledger(session: &Session, lane: LaneId) -> Vec<&'static str> {
    let payments = world(session, lane).provider().ledger();
    payments.iter().map(|payment| payment.state.word()).collect()
}

fn verdict(session: &Session, lane: LaneId) -> &'static str {
    session.run().verdict(lane).word()
}

fn run_to(session: &mut Session, seconds: u64) {
    session.seek(Time::from_secs(seconds));
}

#[test]
fn an_order_is_charged_and_given_back_in_both_flavours() {
    let mut session = shop("");
    order(&mut session, "tea", "");
    run_to(&mut session, 20);
    for lane in LANES {
        assert_eq!(ledger(&session, lane), ["Paid"], "{lane:?}");
        assert_eq!(verdict(&session, lane), "converged", "{lane:?}");
    }
    want(&mut session, "tea", "Refunded");
    run_to(&mut session, 40);
    want(&mut session, "tea", "Paid");
    run_to(&mut session, 60);
    for lane in LANES {
        assert_eq!(ledger(&session, lane), ["Refunded", "Paid"], "a refund is final, {lane:?}");
        assert_eq!(verdict(&session, lane), "converged", "{lane:?}");
    }
}

#[test]
fn the_weather_at_the_provider_is_the_same_in_both_lanes() {
    let mut session = shop("");
    order(&mut session, "tea", "");
    order(&mut session, "milk", "");
    run_to(&mut session, 20);
    let ids = |lane| {
        let payments = world(&session, lane).provider().ledger().iter();
        let name = |payment: &Payment| (payment.order.clone(), payment.id.clone());
        payments.map(name).collect::<BTreeSet<_>>()
    };
    assert_eq!(ids(LaneId::Edge).len(), 2);
    assert_eq!(ids(LaneId::Edge), ids(LaneId::Level));
}

#[test]
fn a_refund_that_is_wanted_while_the_charge_settles_comes_after_it() {
    let mut session = shop("");
    order(&mut session, "tea", "");
    session.seek(Time::from_millis(1_500));
    want(&mut session, "tea", "Refunded");
    run_to(&mut session, 30);
    for lane in LANES {
        assert_eq!(ledger(&session, lane), ["Refunded"], "{lane:?}");
        assert_eq!(verdict(&session, lane), "converged", "{lane:?}");
    }
}

fn delete(session: &mut Session, name: &str) {
    let line = format!("kubectl delete order {name} --wait=false");
    for (lane, text) in say(session, &line) {
        assert!(text.contains("deleted"), "{lane:?}: {text}");
    }
}

fn is_there(session: &Session, lane: LaneId, name: &str) -> bool {
    let world = world(session, lane);
    let kind = world.order_kind().expect("they are defined");
    world.store().list(kind).any(|order| &*order.meta().name == name)
}

#[test]
fn an_order_that_is_cancelled_while_its_charge_settles_is_called_off_and_afterwards_given_back() {
    for (millis, found) in [(2_000, "Cancelled"), (20_000, "Refunded")] {
        let mut session = shop("");
        order(&mut session, "tea", "");
        session.seek(Time::from_millis(millis));
        want(&mut session, "tea", "Cancelled");
        run_to(&mut session, 40);
        for lane in LANES {
            assert_eq!(ledger(&session, lane), [found], "{lane:?}");
            assert_eq!(verdict(&session, lane), "converged", "{lane:?}");
        }
        want(&mut session, "tea", "Paid");
        run_to(&mut session, 60);
        for lane in LANES {
            assert_eq!(ledger(&session, lane), [found, "Paid"], "it is over, {lane:?}");
        }
    }
}

#[test]
fn an_order_that_is_cancelled_before_anything_happens_is_never_charged() {
    let mut session = shop("");
    order(&mut session, "tea", ", state: Cancelled");
    run_to(&mut session, 30);
    delete(&mut session, "tea");
    run_to(&mut session, 31);
    for lane in LANES {
        assert_eq!(ledger(&session, lane), [""; 0], "{lane:?}");
        assert!(!is_there(&session, lane, "tea"), "nothing holds it, {lane:?}");
    }
}

#[test]
fn an_order_that_is_deleted_stays_until_its_money_is_back() {
    for (millis, found) in [(2_000, "Cancelled"), (20_000, "Refunded")] {
        let mut session = shop("");
        order(&mut session, "tea", "");
        session.seek(Time::from_millis(millis));
        delete(&mut session, "tea");
        session.seek(Time::from_millis(millis + 20));
        assert!(
            LANES.iter().all(|lane| is_there(&session, *lane, "tea")),
            "the finalizer holds it"
        );
        session.seek(Time::from_millis(millis + 15_000));
        for lane in LANES {
            assert_eq!(ledger(&session, lane), [found], "{lane:?}");
            assert!(!is_there(&session, lane, "tea"), "{lane:?}");
            assert_eq!(verdict(&session, lane), "converged", "{lane:?}");
        }
    }
}

#[test]
fn a_lost_webhook_of_a_refund_keeps_a_deleted_order_for_ever_where_nobody_asks() {
    let mut session = shop("");
    order(&mut session, "tea", "");
    run_to(&mut session, 20);
    delete(&mut session, "tea");
    session.seek(Time::from_millis(20_200));
    inflict(&mut session, "fault drop to=order kind=Payment");
    run_to(&mut session, 40);
    for lane in LANES {
        assert_eq!(ledger(&session, lane), ["Refunded"], "{lane:?}");
    }
    assert!(!is_there(&session, LaneId::Level, "tea"));
    assert!(is_there(&session, LaneId::Edge, "tea"));
    assert_eq!(verdict(&session, LaneId::Level), "converged");
    assert_eq!(verdict(&session, LaneId::Edge), "stuck");
}

#[test]
fn a_refund_that_is_asked_for_twice_is_made_once() {
    let mut session = shop("");
    order(&mut session, "tea", "");
    run_to(&mut session, 20);
    inflict(&mut session, "fault fail from=order verb=update kind=Payment applied=true");
    delete(&mut session, "tea");
    run_to(&mut session, 40);
    for lane in LANES {
        assert_eq!(ledger(&session, lane), ["Refunded"], "{lane:?}");
        assert_eq!(world(&session, lane).provider().ledger()[0].revision, 4, "{lane:?}");
        assert!(!is_there(&session, lane, "tea"), "{lane:?}");
    }
}

#[test]
fn an_order_that_is_born_refunded_is_never_charged() {
    let mut session = shop("");
    order(&mut session, "tea", ", state: Refunded");
    run_to(&mut session, 30);
    for lane in LANES {
        assert_eq!(ledger(&session, lane), [""; 0], "{lane:?}");
        assert_eq!(verdict(&session, lane), "converged", "{lane:?}");
    }
}

#[test]
fn level_heals_a_lost_webhook_within_five_seconds_and_edge_is_stuck() {
    let mut session = shop("");
    inflict(&mut session, "fault drop to=order kind=Payment");
    order(&mut session, "tea", "");
    run_to(&mut session, 8);
    assert_eq!(verdict(&session, LaneId::Level), "converged");
    assert_eq!(verdict(&session, LaneId::Edge), "stuck");
    let Verdict::Stuck { short, .. } = session.run().verdict(LaneId::Edge) else { unreachable!() };
    assert_eq!((&*short[0].object.name, short[0].want, short[0].have), ("tea", 1, 0));
    assert_eq!(ledger(&session, LaneId::Edge), ["Paid"], "the money is there");
}

#[test]
fn a_late_or_doubled_webhook_costs_edge_time_and_nothing_else() {
    for fault in ["delay to=order kind=Payment by=9s", "duplicate to=order kind=Payment count=9"] {
        let mut session = shop("");
        inflict(&mut session, &format!("fault {fault}"));
        order(&mut session, "tea", "");
        run_to(&mut session, 30);
        assert_eq!(ledger(&session, LaneId::Edge), ["Paid"], "{fault}");
        assert_eq!(verdict(&session, LaneId::Edge), "converged", "{fault}");
    }
}

#[test]
fn an_order_that_is_told_twice_is_charged_once_under_its_key() {
    for (spec, edge) in [("", 1), (", idempotencyKey: false", 2)] {
        let mut session = shop("");
        // What tells that the order is held, and can be charged.
        inflict(&mut session, "fault duplicate to=order type=MODIFIED");
        order(&mut session, "tea", spec);
        run_to(&mut session, 20);
        assert_eq!(ledger(&session, LaneId::Edge).len(), edge, "{spec:?}");
    }
}

#[test]
fn a_lost_answer_charges_again_and_the_key_makes_that_one_payment() {
    for (spec, has_key) in [("", true), (", idempotencyKey: false", false)] {
        let mut session = shop("");
        inflict(&mut session, "fault fail from=order verb=create kind=Payment applied=true");
        order(&mut session, "tea", spec);
        run_to(&mut session, 40);
        for lane in LANES {
            // The regular look may come before the cache knows, and then a third time is charged.
            let payments = ledger(&session, lane).len();
            assert_eq!(payments == 1, has_key, "{spec:?} {lane:?}: {payments}");
            let word = if has_key { "converged" } else { "stuck" };
            assert_eq!(verdict(&session, lane), word, "{spec:?} {lane:?}");
        }
    }
}

#[test]
fn a_controller_that_dies_between_charge_and_status_charges_once_under_its_key() {
    let relist = "cluster: {controllers: {order: {edge: {relistOnStart: true}}}}";
    for (spec, payments) in [("", 1), (", idempotencyKey: false", 2)] {
        let mut session = shop(relist);
        inflict(&mut session, "fault crash order point=beforeStatus");
        order(&mut session, "tea", spec);
        run_to(&mut session, 3);
        inflict(&mut session, "fault restart order");
        run_to(&mut session, 30);
        for lane in LANES {
            assert_eq!(ledger(&session, lane).len(), payments, "{spec:?} {lane:?}");
        }
    }
}

#[test]
fn edge_does_not_hear_of_what_it_missed_while_it_was_dead() {
    let mut session = shop("");
    order(&mut session, "tea", "");
    session.seek(Time::from_millis(1_500));
    inflict(&mut session, "fault kill order for=20s");
    run_to(&mut session, 60);
    assert_eq!(verdict(&session, LaneId::Level), "converged");
    assert_eq!(verdict(&session, LaneId::Edge), "stuck");
}

#[test]
fn the_api_server_has_no_part_in_what_the_provider_does() {
    let mut session = shop("");
    order(&mut session, "tea", "");
    session.seek(Time::from_millis(1_200));
    inflict(&mut session, "fault apiserver down for=10s");
    run_to(&mut session, 8);
    for lane in LANES {
        assert_eq!(ledger(&session, lane), ["Paid"], "{lane:?}");
    }
}

#[test]
fn kubectl_and_the_ledger_tell_of_an_order() {
    let mut session = shop("");
    assert!(say(&mut session, "ledger").iter().all(|(_, text)| text == "No payments.\n"));
    assert!(say(&mut session, "ledger tea")[0].1.contains("ledger takes none"));
    order(&mut session, "tea", "");
    run_to(&mut session, 20);
    for (line, words) in [
        ("kubectl get orders", vec!["WANTS", "STATE", "AMOUNT", "Paid", "pay-"]),
        ("kubectl get ord tea -o name", vec!["order.shop.example/tea"]),
        ("kubectl describe order tea", vec!["state: Paid", "Settled", "Charged 5 EUR as pay-"]),
        ("kubectl wait order/tea --for=condition=Settled", vec!["condition met"]),
        ("kubectl explain order.spec.state", vec!["Where the money shall be"]),
        ("ledger", vec!["PAYMENT", "default/tea", "5 EUR", "Paid", "-1"]),
    ] {
        for (lane, text) in say(&mut session, line) {
            for word in &words {
                assert!(text.contains(word), "{lane:?} {line}: no {word:?} in\n{text}");
            }
        }
    }
    let bad = "apiVersion: shop.example/v1\nkind: Order\nmetadata: {name: bad}\n\
               spec: {amount: 0, currency: euro, state: Stolen}\n";
    for (lane, output) in session.apply(bad, In::Both) {
        for path in ["spec.amount", "spec.currency", "spec.state"] {
            assert!(output.text.contains(path), "{lane:?}: no {path} in\n{}", output.text);
        }
    }
}

#[test]
fn the_stage_shows_a_desk_for_the_loop_and_what_each_order_says_and_wants() {
    let mut session = shop("");
    order(&mut session, "tea", "");
    session.seek(Time::from_millis(1_500));
    let stage = session.stage(LaneId::Level);
    assert!(stage.loops.iter().any(|view| view.id == LoopId::Order && view.cache.sees == 1));
    let row = stage.board.iter().find(|row| &*row.key.name == "tea").expect("it hangs there");
    assert!(row.simulated);
    assert_eq!(row.words, Some(("Pending".into(), "Paid".into())));
}

#[test]
fn a_webhook_leads_back_to_the_pass_that_charged() {
    let mut session = shop("");
    order(&mut session, "tea", "");
    run_to(&mut session, 20);
    let filter = PassFilter { lane: Some(LaneId::Edge), id: Some(LoopId::Order), idle: false };
    let last = session.passes(filter, 50, 0).pop().expect("the webhook was acted on");
    let chain = session.why(LaneId::Edge, last.pass.number);
    let [
        Reason::Queued { .. },
        Reason::Watch { .. },
        Reason::Asked(act),
        Reason::Pass(charged),
        ..,
    ] = &chain[..]
    else {
        panic!("{chain:?}")
    };
    assert_eq!((act.verb, act.object.kind.info().kind), (Verb::Create, "Payment"));
    assert!(charged.pass.acts.iter().any(|act| act.object.kind.info().kind == "Payment"));
    assert!(matches!(chain.last(), Some(Reason::Did { .. })), "{chain:?}");
}

#[test]
fn the_first_difference_of_a_lost_webhook_is_that_level_wrote_the_answer_down() {
    let mut session = Session::open_shipped("order-lost-webhook", None);
    run_to(&mut session, 30);
    let found = session.log(500).iter().find_map(|line| match &line.what {
        loopscope::view::Happening::Divergence(found) => Some(found.clone()),
        _ => None,
    });
    let found = found.expect("the lanes differ");
    assert!(found.level.is_some() && found.edge.is_none(), "{found:?}");
    assert!(found.because.is_some_and(|line| line.contains("drop")));
}

#[test]
fn every_scenario_that_defines_orders_defines_them_as_the_controller_reads_them() {
    let indented = definition();
    let with = shipped().iter().filter(|one| one.text.contains("kind: Order"));
    let mut count = 0;
    for one in with {
        assert!(one.text.contains(&indented), "{}: not as in crd.yaml", one.id);
        count += 1;
    }
    assert!(count >= 2);
}
