//! What the random tests share.

/// The seeds of a law: 1 to `many`; `SEEDS=n` for so many, `SEED=n` for that one alone, as a failure
/// names it.
pub fn seeds(many: u64) -> impl Iterator<Item = u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    match number("SEED") {
        Some(seed) => seed..=seed,
        None => 1..=number("SEEDS").unwrap_or(many),
    }
}
