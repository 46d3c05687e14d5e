//! Laws of Orders, whose money lies with a payment provider beside the cluster.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use loopscope::api::{Kind, Object, ObjectKey, Value};
use loopscope::apiserver::{DeleteOptions, Part, Request};
use loopscope::controllers::order::object::{Order, kind};
use loopscope::kernel::{Rng, Time};
use loopscope::world::{Fault, Flavour, Knobs, Options, Verdict, World};
use serde_json::json;

use super::{PLENTY, create, some_seeds};

/// The definition that the scenarios use.
fn definition() -> Value {
    let text = include_str!("../../src/controllers/order/crd.yaml");
    serde_yaml::from_str(text).expect("it is YAML")
}

/// A shop's day: orders come, and minds are changed, some on the heels of each other.
fn shop(seed: u64, flavour: Flavour, faults: &[(Time, Fault)], watch: fn(&World, u64)) -> World {
    let mut rng = Rng::stream(seed, "shop");
    let mut options = Options { seed, flavour, nodes: 1, ..Options::default() };
    // A restart that goes on from now is one of the losses that edge is known for.
    options.knobs.insert("order".into(), Knobs { relist_on_start: true, ..Knobs::default() });
    let mut world = World::new(options);
    create(&mut world, Kind::CustomResourceDefinition, definition());
    let orders = 1 + rng.below(4);
    let mut steps: Vec<(Time, u64, &str)> = Vec::new();
    for order in 0..orders {
        let mut at = Time::from_millis(rng.below(20_000));
        for turn in 0..1 + rng.below(4) {
            // Mostly by turns.
            let odd = (turn + rng.below(5) / 4) % 2 == 1;
            let back = ["Refunded", "Refunded", "Cancelled", GONE][rng.below(4) as usize];
            steps.push((at, order, if odd { back } else { "Paid" }));
            // When it is gone differs by how its controller hears of the money.
            if odd && back == GONE {
                break;
            }
            at += Duration::from_millis(match rng.below(3) {
                0 => 1 + rng.below(80),
                1 => rng.below(6_000),
                _ => 15_000,
            });
        }
    }
    steps.sort();
    let mut faults = faults.iter().peekable();
    for (at, order, wants) in steps {
        while let Some((when, fault)) = faults.next_if(|(when, _)| *when <= at) {
            assert!(world.run_until(*when, PLENTY), "too much happens");
            world.inflict(fault);
        }
        assert!(world.run_until(at, PLENTY), "too much happens");
        watch(&world, seed);
        want(&mut world, order, wants);
    }
    for (when, fault) in faults {
        assert!(world.run_until(*when, PLENTY), "too much happens");
        world.inflict(fault);
    }
    while world.now() < Time::from_secs(180) {
        let until = world.now() + Duration::from_secs(1);
        assert!(world.run_until(until, PLENTY), "too much happens");
        watch(&world, seed);
    }
    world
}

/// The order is deleted.
const GONE: &str = "gone";

fn want(world: &mut World, order: u64, wants: &str) {
    let kind = kind().expect("there is room for a kind");
    let key = ObjectKey::new(kind, "default", format!("order-{order}"));
    if wants == GONE {
        let _ = world.request(&Request::Delete(key, DeleteOptions::default()));
        return;
    }
    if world.store().get(&key).is_some() {
        let patch = json!({"spec": {"state": wants}});
        world.request(&Request::Patch(Part::Main, key, patch)).expect("valid");
        return;
    }
    let value = json!({
        "metadata": {"name": key.name, "namespace": key.namespace},
        "spec": {"amount": 100 + order, "currency": "EUR", "state": wants},
    });
    let object = Object::from_value(kind, value).expect("an Order");
    world.request(&Request::Create(Arc::new(object))).expect("valid");
}

fn orders(world: &World) -> Vec<Order> {
    let kind = world.order_kind().expect("they are defined");
    world.store().list(kind).filter_map(Order::read).collect()
}

/// How many payments each order holds that were not given back.
fn held(world: &World) -> BTreeMap<String, u32> {
    let mut held = BTreeMap::new();
    for payment in world.provider().ledger() {
        let count = held.entry(payment.order.to_string()).or_default();
        *count += u32::from(!payment.state.is_over());
    }
    held
}

/// What both flavours must agree on: what each order wants, whether its status says so, and how
/// many payments it holds. Money that went there and back is history: of two minds that are changed
/// on the heels of each other, level may have seen only the second.
fn state(world: &World) -> Vec<String> {
    let held = held(world);
    let line = |order: Order| {
        let name = order.object.meta().name.to_string();
        let payments = held.get(&name).copied().unwrap_or(0);
        let seen = order.status.observed_generation == order.object.meta().generation;
        format!("{name} {:?} {} {payments} {seen}", order.wants, order.is_settled())
    };
    orders(world).into_iter().map(line).collect()
}

#[test]
fn without_faults_both_flavours_of_an_order_come_to_the_same_state() {
    for seed in some_seeds() {
        let level = shop(seed, Flavour::Level, &[], |_, _| ());
        let edge = shop(seed, Flavour::Edge, &[], |_, _| ());
        assert_eq!(level.verdict(), Verdict::Converged, "level, SEED={seed}: {:#?}", state(&level));
        assert_eq!(edge.verdict(), Verdict::Converged, "edge, SEED={seed}: {:#?}", state(&edge));
        assert_eq!(state(&level), state(&edge), "SEED={seed}");
        let settled = orders(&level).iter().all(Order::is_settled);
        assert!(settled, "SEED={seed}: {:#?}", state(&level));
    }
}

/// Faults that end.
fn faults(seed: u64) -> Vec<(Time, Fault)> {
    let mut rng = Rng::stream(seed, "faults of a shop");
    let mut faults = Vec::new();
    for _ in 0..1 + rng.below(6) {
        let at = Time::from_millis(rng.below(50_000));
        let kind = ["kind=Payment", "type=ADDED", "type=MODIFIED"][rng.below(3) as usize];
        let line = match rng.below(8) {
            0 => format!("drop to=order {kind} count={}", 1 + rng.below(3)),
            1 => format!("duplicate to=order {kind} count={}", 1 + rng.below(3)),
            2 => format!("delay to=order {kind} by={}ms", rng.below(9_000)),
            3 => format!("reorder to=order {kind}"),
            4 => format!("kill order for={}ms", 1 + rng.below(20_000)),
            5 => {
                let point = ["beforeRead", "beforeWrite", "betweenWrites", "beforeStatus"];
                faults.push((at + Duration::from_secs(20), "restart order".into()));
                format!("crash order point={}", point[rng.below(4) as usize])
            }
            6 => {
                let verb = ["create", "update", "get"][rng.below(3) as usize];
                let applied = rng.below(2) == 0;
                format!("fail from=order verb={verb} kind=Payment applied={applied}")
            }
            _ => format!("apiserver down for={}ms", 1 + rng.below(10_000)),
        };
        faults.push((at, line));
    }
    // All machinery runs again in the end.
    faults.push((Time::from_secs(90), "restart order".into()));
    faults.sort();
    let read = |(at, line): (Time, String)| (at, Fault::parse_line(&line).expect(&line));
    faults.into_iter().map(read).collect()
}

fn told(seed: u64, faults: &[(Time, Fault)]) -> String {
    let lines: Vec<String> = faults.iter().map(|(at, fault)| format!("{at:?} {fault}")).collect();
    format!("SEED={seed}: {lines:#?}")
}

#[test]
fn level_brings_every_order_right_once_faults_end() {
    for seed in some_seeds() {
        let faults = faults(seed);
        let world = shop(seed, Flavour::Level, &faults, |_, _| ());
        let told = told(seed, &faults);
        assert_eq!(world.verdict(), Verdict::Converged, "{told} {:#?}", state(&world));
        let left: Vec<String> =
            orders(&world).iter().map(|order| order.object.meta().name.to_string()).collect();
        let kept = held(&world);
        let forgotten = kept.iter().find(|(name, count)| **count > 0 && !left.contains(name));
        assert_eq!(forgotten, None, "{told}: its order is gone");
    }
}

#[test]
fn with_idempotency_keys_no_fault_makes_an_order_hold_two_payments() {
    let watch = |world: &World, seed: u64| {
        let held = held(world);
        assert!(held.values().all(|count| *count <= 1), "SEED={seed}: {held:?}");
    };
    for seed in some_seeds() {
        for flavour in [Flavour::Level, Flavour::Edge] {
            shop(seed, flavour, &faults(seed), watch);
        }
    }
}

#[test]
fn a_world_with_orders_that_is_copied_goes_on_like_the_one_it_was_copied_from() {
    for seed in some_seeds().take(20) {
        let mut one = shop(seed, Flavour::Level, &faults(seed), |_, _| ());
        let mut copy = one.clone();
        want(&mut one, 0, "Refunded");
        want(&mut copy, 0, "Refunded");
        for world in [&mut one, &mut copy] {
            let until = world.now() + Duration::from_secs(30);
            assert!(world.run_until(until, PLENTY), "too much happens");
        }
        assert_eq!(one.trace_hash(), copy.trace_hash(), "SEED={seed}");
        assert_eq!(one.provider().ledger(), copy.provider().ledger(), "SEED={seed}");
    }
}
