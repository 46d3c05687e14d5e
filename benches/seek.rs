//! How long it takes to go to any moment of a long session: ten simulated minutes of a cluster of a
//! hundred pods, both lanes, with something done every half minute. `cargo bench --bench seek`.
//! The page is to show any moment within 50 ms.

use criterion::{Criterion, criterion_group, criterion_main};
use loopscope::kernel::Time;
use loopscope::scenario::{In, Scenario};
use loopscope::view::Session;
use oorandom::Rand64;
use serde::Deserialize;

/// The session, which `tests/e2e/measure.mjs` has too: a line is done every half minute.
#[derive(Deserialize)]
struct Long {
    minutes: u64,
    lines: Vec<String>,
    text: String,
}

fn long() -> Long {
    serde_json::from_str(include_str!("long-session.json")).expect("it is well formed")
}

fn session(long: &Long) -> Session {
    let scenario = Scenario::read("", &long.text).expect("it is well formed");
    let mut session = Session::open(scenario, Some(1));
    for (half_minute, line) in (1..long.minutes * 2).zip(long.lines.iter().cycle()) {
        session.seek(Time::from_secs(half_minute * 30));
        session.act(line, None, In::Both);
    }
    session.seek(Time::from_secs(long.minutes * 60));
    session
}

fn seeks(criterion: &mut Criterion) {
    let long = long();
    let mut session = session(&long);
    let end = long.minutes * 60_000;
    let mut dice = Rand64::new(1);
    criterion.bench_function("any moment of ten minutes of 100 pods", |bencher| {
        bencher.iter(|| session.seek(Time::from_millis(dice.rand_range(0..end))));
    });
    criterion.bench_function("one pass back, from any moment", |bencher| {
        bencher.iter_batched_ref(
            || Time::from_millis(dice.rand_range(0..end)),
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
