//! Names that the server makes from `generateName`: prefix and suffix, tried until one is free.
//! Kubernetes: apiserver `pkg/storage/names/generate.go`, `pkg/registry/generic/registry/store.go`.

use crate::api::{Kind, Str};
use crate::kernel::stable_hash;

use super::ApiError;

/// How many names are tried.
pub const GENERATE_NAME_TRIES: u32 = 8;
const NAME_ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
/// 63 less the suffix, as `names.maxGeneratedNameLength`.
const PREFIX_LENGTH: usize = 58;

/// The part of a prefix that names are made from.
pub fn prefix_of(text: &str) -> Str {
    text.chars().take(PREFIX_LENGTH).collect::<String>().into()
}

/// The first of the candidates that is free; after [`GENERATE_NAME_TRIES`] the server gives up.
pub fn free_name(
    kind: Kind,
    candidates: impl IntoIterator<Item = Str>,
    taken: impl Fn(&Str) -> bool,
) -> Result<Str, ApiError> {
    let mut last: Str = "".into();
    for name in candidates.into_iter().take(GENERATE_NAME_TRIES as usize) {
        if !taken(&name) {
            return Ok(name);
        }
        last = name;
    }
    let mut error = ApiError::already_exists(kind, &last);
    error.message += ", the server was not able to generate a unique name for the object";
    Err(error)
}

/// The names that a server of this seed tries for its `count`-th name from a prefix.
pub fn candidates(seed: u64, prefix: &Str, count: u64) -> impl Iterator<Item = Str> {
    let first_salt = count * u64::from(GENERATE_NAME_TRIES);
    let prefix = prefix.clone();
    (0..u64::from(GENERATE_NAME_TRIES)).map(move |attempt| {
        let mut hash = stable_hash(seed ^ (first_salt + attempt), prefix.as_bytes());
        let suffix: String = std::iter::repeat_with(|| {
            let letter = NAME_ALPHABET[(hash % NAME_ALPHABET.len() as u64) as usize];
            hash /= NAME_ALPHABET.len() as u64;
            char::from(letter)
        })
        .take(5)
        .collect();
        format!("{prefix}{suffix}").into()
    })
}
