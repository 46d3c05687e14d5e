//! Words that must not stand in the code, and why.

use super::source::Source;

/// Nowhere.
const BANNED: &[(&str, &str)] = &[
    ("SystemTime::now", "the simulation has its own time"),
    ("Instant::now", "the simulation has its own time"),
    ("thread_rng", "randomness comes from the seed"),
    (".unwrap()", "say what to do when there is nothing"),
    ("todo!", "a stub must not claim to be done"),
    ("unimplemented!", "a stub must not claim to be done"),
    ("dbg!", "left over"),
];

/// Nowhere but in the page, where no order is hashed.
const BANNED_BELOW_UI: &[(&str, &str)] = &[
    ("HashMap", "its order differs from run to run: use BTreeMap or Hashed"),
    ("HashSet", "its order differs from run to run: use BTreeSet"),
];

/// Banned words in what is shipped.
pub fn banned(source: &Source) -> Vec<String> {
    let below_ui = source.room() != Some("ui");
    let words = BANNED.iter().chain(BANNED_BELOW_UI.iter().filter(|_| below_ui));
    let shipped = source.shipped();
    let mut problems = Vec::new();
    for (word, why) in words {
        for (at, _) in shipped.match_indices(word) {
            let before = &shipped[..at];
            let inside_a_name = |c: char| c.is_alphanumeric() || c == '_';
            if word.starts_with(inside_a_name) && before.ends_with(inside_a_name) {
                continue;
            }
            let line = before.matches('\n').count() + 1;
            problems.push(format!("{}:{line}: `{word}`: {why}", source.path));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(path: &str, text: &str) -> usize {
        banned(&Source::new(path, text)).len()
    }

    #[test]
    fn a_banned_word_is_told_in_code_and_not_in_comments_or_tests() {
        assert_eq!(problems("src/api/x.rs", "fn f() { a.unwrap() }"), 1);
        assert_eq!(problems("src/api/x.rs", "// a.unwrap()\n"), 0);
        assert_eq!(problems("src/api/x.rs", "#[cfg(test)]\nmod t { fn f() { a.unwrap() } }"), 0);
        assert_eq!(problems("src/api/x.rs", "fn f() { a.unwrap_or(1) }"), 0);
    }

    #[test]
    fn hash_maps_are_for_the_page_only() {
        assert_eq!(problems("src/world/x.rs", "use std::collections::HashMap;"), 1);
        assert_eq!(problems("src/ui/x.rs", "use std::collections::HashMap;"), 0);
        assert_eq!(problems("src/world/x.rs", "use my::OrderedHashMap;"), 0);
    }
}
