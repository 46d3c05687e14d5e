//! Benchmarks of the simulation.

// criterion's macros make public functions without a doc.
#![allow(missing_docs)]

use criterion::{Criterion, criterion_group, criterion_main};
fn nothing(_: &mut Criterion) {}
criterion_group!(benches, nothing);
criterion_main!(benches);
