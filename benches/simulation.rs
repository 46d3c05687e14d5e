//! How fast a cluster computes: a Deployment of n replicas from nothing to all Ready, one lane.
//! `cargo bench`. Compare within one run; these machines are noisy.

use std::sync::Arc;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use loopscope::api::{Kind, Object};
use loopscope::apiserver::Request;
use loopscope::kernel::Time;
use loopscope::scenario::{Run, shipped};
use loopscope::world::{Options, Verdict, World};
use mimalloc::MiMalloc;
use serde_json::json;

/// What the headless runner uses, too: many small objects come and go.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// Steps after which what happened is taken along.
const STEPS: u64 = 100;

fn deployment(replicas: u32) -> Object {
    let value = json!({
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "web", "image": "registry.example/web:1"}]},
            },
        },
    });
    Object::from_value(Kind::Deployment, value).expect("it is a Deployment")
}

/// From nothing to all Ready.
fn to_ready(nodes: u16, replicas: u32) -> World {
    let mut world = World::new(Options { nodes, ..Options::default() });
    world.request(&Request::Create(Arc::new(deployment(replicas)))).expect("it is valid");
    let mut until = Time::ZERO;
    while world.verdict() != Verdict::Converged {
        assert!(until < Time::from_secs(3_600), "{replicas} pods are not ready after an hour");
        until += Duration::from_secs(1);
        // Whoever shows a cluster takes what happened along, as `Run` does after each moment; else
        // it would pile up.
        while !world.run_until(until, STEPS) {
            world.take_records();
        }
    }
    world
}

fn deployments(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("deployment to ready");
    group.sample_size(10);
    for (nodes, replicas) in [(10, 100), (10, 1_000), (100, 10_000)] {
        let name = format!("{replicas} replicas on {nodes} nodes");
        group.bench_function(BenchmarkId::from_parameter(name), |bencher| {
            bencher.iter_with_large_drop(|| to_ready(nodes, replicas));
        });
    }
    group.finish();
}

fn scenarios(criterion: &mut Criterion) {
    criterion.bench_function("all shipped scenarios, both lanes, 120 s", |bencher| {
        bencher.iter(|| {
            for shipped in shipped() {
                let scenario = Arc::new(shipped.load());
                let seed = scenario.seed();
                let mut run = Run::new(scenario, seed, Vec::new());
                run.run_until(Time::from_secs(120), u64::MAX);
            }
        });
    });
}

// criterion makes a public function of each group and says nothing about it.
#[allow(missing_docs)]
mod groups {
    use super::{criterion_group, deployments, scenarios};
    criterion_group!(benches, deployments, scenarios);
}
use groups::benches;
criterion_main!(benches);
