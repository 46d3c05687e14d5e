//! The trace hash: one number that two runs share only if they did the same things in the same
//! order.

use xxhash_rust::xxh64::Xxh64;

/// A running hash over everything that happened. Feed it with fixed-width numbers and text, never
/// with `usize`, so that it is the same natively and in WebAssembly.
#[derive(Clone)]
pub struct TraceHash(Xxh64);

impl Default for TraceHash {
    fn default() -> Self {
        TraceHash(Xxh64::new(0))
    }
}

impl std::fmt::Debug for TraceHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TraceHash({:016x})", self.digest())
    }
}

impl TraceHash {
    /// Adds a number.
    pub fn number(&mut self, n: u64) {
        self.0.update(&n.to_le_bytes());
    }

    /// Adds a text, with its length, so that two texts never run together.
    pub fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.update(text.as_bytes());
    }

    /// The hash of all that was added so far.
    pub fn digest(&self) -> u64 {
        self.0.digest()
    }
}
