//! Without faults both flavours end in the same state, whatever people do and however messages
//! overtake each other.

use super::lab::{Flavour, Lab, make_ready, orphan, rest, set_key, web};
use crate::api::{Kind, ObjectKey, Pod, PodPhase, Timestamp};
use crate::controllers::replica_set::status::Tally;
use crate::kernel::{Rng, Time};
use std::time::Duration;

fn pick(rng: &mut Rng, from: &[ObjectKey]) -> Option<ObjectKey> {
    from.get(rng.below(from.len() as u64) as usize).cloned()
}

/// One thing that a person, a node or the garbage collector does.
fn disturb(lab: &mut Lab, op: u64, rng: &mut Rng) {
    let own = lab.own();
    let one = pick(rng, &own);
    let gone = !lab.store.contains_key(&set_key());
    match (op, one) {
        (_, _) if gone && op < 6 => {
            lab.create(web(rng.below(5) as i32));
        }
        (0..=4, _) if !gone => lab.change_set(|set| set.spec.replicas = Some((op * 7 % 6) as i32)),
        (5, Some(pod)) => lab.delete(&pod, false),
        (6, Some(pod)) => lab.delete(&pod, true),
        (7, Some(pod)) => lab.change_pod(&pod, |pod| pod.status.phase = Some(PodPhase::Failed)),
        (8, Some(pod)) => lab.change_pod(&pod, |pod| relabel(pod, "other")),
        (9, _) => {
            let orphans = lab.pods(|pod| pod.metadata.controller().is_none());
            if let Some(pod) = pick(rng, &orphans) {
                lab.change_pod(&pod, |pod| relabel(pod, "web"));
            }
        }
        (10, _) => {
            lab.create(orphan("web"));
        }
        (11, Some(pod)) => {
            let now = lab.now;
            lab.change_pod(&pod, |pod| make_ready(pod, false, now));
        }
        (12, _) => lab.change_set(|set| set.spec.min_ready_seconds = rng.below(4) as i32 * 5),
        (13, _) => lab.change_set(|set| {
            let labels = &mut set.spec.template.metadata.labels;
            labels.insert("version".into(), format!("{}", op + rng.below(3)).into());
        }),
        (14, _) => delete_set(lab, false),
        (15, _) => delete_set(lab, true),
        (16, Some(pod)) => lab.change_pod(&pod, |pod| pod.metadata.owner_references.clear()),
        (17, _) => {
            // Deleting the finished, as the pod garbage collector does.
            let finished = lab.pods(|pod| pod.is_finished());
            if let Some(pod) = pick(rng, &finished) {
                lab.delete(&pod, true);
            }
        }
        _ => {}
    }
}

fn relabel(pod: &mut Pod, app: &str) {
    pod.metadata.labels.insert("app".into(), app.into());
}

/// Deletes the set, and its pods with it or not.
fn delete_set(lab: &mut Lab, orphaning: bool) {
    let own = lab.own();
    lab.remove(&set_key());
    for pod in own {
        if orphaning {
            lab.change_pod(&pod, |pod| pod.metadata.owner_references.clear());
        } else {
            lab.delete(&pod, false);
        }
    }
}

/// What the garbage collector does about pods whose owner is gone.
fn collect_garbage(lab: &mut Lab) {
    let uid = lab.store.get(&set_key()).map(|set| set.meta().uid.clone());
    let lost = lab.pods(|pod| {
        let owner = pod.metadata.controller();
        owner.is_some_and(|owner| Some(&owner.uid) != uid.as_ref())
    });
    for pod in lost {
        lab.delete(&pod, true);
    }
}

fn live(flavour: Flavour, seed: u64) -> Lab {
    let mut lab = Lab::new(flavour);
    let mut ops = Rng::stream(seed, "ops");
    let mut chance = Rng::stream(seed, "chance");
    lab.create(web(ops.below(5) as i32));
    for _ in 0..12 {
        let op = ops.below(18);
        disturb(&mut lab, op, &mut ops);
        for _ in 0..chance.below(25) {
            match chance.below(8) {
                0 | 1 => {
                    lab.deliver(Kind::Pod);
                }
                2 => {
                    lab.deliver(Kind::ReplicaSet);
                }
                3 | 4 => {
                    lab.pass();
                }
                5 => {
                    let pods = lab.pods(|_| true);
                    if let Some(pod) = pick(&mut chance, &pods) {
                        lab.kubelet_step(&pod);
                    }
                }
                6 => collect_garbage(&mut lab),
                _ => {
                    lab.now += Duration::from_millis(chance.below(4_000));
                    lab.ring_timers();
                }
            }
        }
    }
    for _ in 0..5 {
        rest(&mut lab);
        collect_garbage(&mut lab);
        // Longer than an expectation lasts: a set that deletes a pod which loses its owner at the
        // same moment waits for that, as in Kubernetes, and then for the next thing that wakes it.
        lab.now += Duration::from_secs(301);
        lab.ring_timers();
        lab.resync();
    }
    rest(&mut lab);
    lab
}

#[test]
fn without_faults_both_flavours_end_with_what_is_wanted_and_say_so() {
    for seed in 0..1_500 {
        for flavour in [Flavour::Level, Flavour::Edge] {
            let lab = live(flavour, seed);
            if !lab.store.contains_key(&set_key()) {
                assert!(lab.own().is_empty(), "{flavour:?} {seed}");
                continue;
            }
            let set = lab.set();
            let own = lab.own();
            assert_eq!(own.len() as i32, set.spec.replicas(), "{flavour:?}, seed {seed}");
            let pods = own.iter().filter_map(|key| lab.store.get(key)?.as_pod());
            let truth = Tally::count(set, pods, 0, Timestamp::from(lab.now));
            assert_eq!(Tally::of(&set.status), truth, "{flavour:?}, seed {seed}");
            assert_eq!(truth.available, truth.replicas, "{flavour:?}, seed {seed}");
            assert_eq!(set.status.observed_generation, set.metadata.generation);
            assert!(set.status.conditions.is_empty());
        }
    }
}

#[test]
fn time_alone_makes_pods_available_in_both_flavours() {
    for flavour in [Flavour::Level, Flavour::Edge] {
        let mut lab = Lab::new(flavour);
        lab.create(web(2));
        lab.change_set(|set| set.spec.min_ready_seconds = 10);
        rest(&mut lab);
        assert_eq!(lab.numbers(), (2, 2, 0, Some(0)), "{flavour:?}");
        lab.now += Duration::from_secs(9);
        lab.ring_timers();
        lab.settle();
        assert_eq!(lab.numbers().2, 0, "{flavour:?}");
        lab.now = Time::from_secs(11);
        lab.ring_timers();
        lab.settle();
        assert_eq!(lab.numbers(), (2, 2, 2, Some(0)), "{flavour:?}");
    }
}
