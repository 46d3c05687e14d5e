//! Benchmarks of the simulation.
use criterion::{criterion_group, criterion_main, Criterion};
fn nothing(_: &mut Criterion) {}
criterion_group!(benches, nothing);
criterion_main!(benches);
