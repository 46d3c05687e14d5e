//! How long it takes to go to any moment of a long session: ten simulated minutes of a cluster of a
//! hundred pods, both lanes, with something done every half minute. `cargo bench --bench seek`.
//! The page is to show any moment within 50 ms.

use criterion::{Criterion, criterion_group, criterion_main};
use loopscope::kernel::Time;
use loopscope::scenario::{In, Scenario};
use loopscope::view::Session;
use oorandom::Rand64;

const MINUTES: u64 = 10;

const SCENARIO: &str = "\
title: a hundred pods
cluster: {nodes: 10}
objects: |
  apiVersion: apps/v1
  kind: Deployment
  metadata: {name: web}
  spec:
    replicas: 100
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {containers: [{name: web, image: 'registry.example/web:1'}]}
";

const LINES: [&str; 5] = [
    "kubectl delete pod -l app=web --limit=10 --grace-period=0 --force",
    "kubectl set image deployment/web web=registry.example/web:2",
    "fault kill replicaset for=5s",
    "kubectl scale deployment web --replicas=80",
    "kubectl scale deployment web --replicas=100",
];

fn session() -> Session {
    let scenario = Scenario::read("", SCENARIO).expect("it is well formed");
    let mut session = Session::open(scenario, Some(1));
    for half_minute in 1..MINUTES * 2 {
        session.seek(Time::from_secs(half_minute * 30));
        session.act(LINES[half_minute as usize % LINES.len()], None, In::Both);
    }
    session.seek(Time::from_secs(MINUTES * 60));
    session
}

fn seeks(criterion: &mut Criterion) {
    let mut session = session();
    let mut dice = Rand64::new(1);
    criterion.bench_function("any moment of ten minutes of 100 pods", |bencher| {
        bencher.iter(|| session.seek(Time::from_millis(dice.rand_range(0..MINUTES * 60_000))));
    });
    criterion.bench_function("one pass back, from any moment", |bencher| {
        bencher.iter_batched_ref(
            || Time::from_millis(dice.rand_range(0..MINUTES * 60_000)),
            |at| {
                session.seek(*at);
                session.step_back()
            },
            criterion::BatchSize::SmallInput,
        );
    });
}

// criterion makes a public function of each group and says nothing about it.
#[allow(missing_docs)]
mod groups {
    use super::{criterion_group, seeks};
    criterion_group!(benches, seeks);
}
use groups::benches;
criterion_main!(benches);
