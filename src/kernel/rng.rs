//! Named random streams. A stream is a function of the seed and its name alone, so one draw more in
//! one place moves no other; both lanes draw the same numbers from streams of the same name.

use std::time::Duration;

use xxhash_rust::xxh64::xxh64;

/// A hash of bytes that is the same on every machine and in every version of the program.
pub fn stable_hash(seed: u64, bytes: &[u8]) -> u64 {
    xxh64(bytes, seed)
}

/// One named stream of random numbers.
#[derive(Clone, Debug)]
pub struct Rng(oorandom::Rand64);

impl Rng {
    /// The stream called `name` under `seed`.
    pub fn stream(seed: u64, name: &str) -> Rng {
        let state = u128::from(stable_hash(seed, name.as_bytes()));
        Rng(oorandom::Rand64::new(state << 64 | u128::from(seed)))
    }

    /// A number from `0` to `bound - 1`; `0` for a bound of `0`.
    pub fn below(&mut self, bound: u64) -> u64 {
        if bound == 0 { 0 } else { self.0.rand_range(0..bound) }
    }

    /// A span between `low` and `high`, both included, to the microsecond.
    pub fn span(&mut self, low: Duration, high: Duration) -> Duration {
        let (low, high) = (low.as_micros() as u64, high.as_micros() as u64);
        Duration::from_micros(low + self.below(high.saturating_sub(low) + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_depends_on_its_name_and_the_seed_only() {
        let draw = |seed, name| Rng::stream(seed, name).below(1 << 40);
        assert_eq!(draw(7, "latency/replicaset"), draw(7, "latency/replicaset"));
        assert_ne!(draw(7, "latency/replicaset"), draw(7, "latency/deployment"));
        assert_ne!(draw(7, "latency/replicaset"), draw(8, "latency/replicaset"));
    }

    #[test]
    fn a_span_stays_within_its_bounds() {
        let mut rng = Rng::stream(1, "spans");
        let (low, high) = (Duration::from_millis(5), Duration::from_millis(20));
        assert!((0..1_000).map(|_| rng.span(low, high)).all(|s| (low..=high).contains(&s)));
        assert_eq!(rng.span(high, high), high);
    }
}
