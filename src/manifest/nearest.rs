//! The nearest right word for a wrong one.

/// The candidate that needs the fewest changes to become `word`, if they are few.
pub fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let letters = word.chars().count();
    if letters > 64 {
        return None;
    }
    let allowed = (letters / 3).clamp(1, 3);
    candidates
        .into_iter()
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|&(changes, _)| changes <= allowed)
        .min()
        .map(|(_, candidate)| candidate)
}

/// How many letters to insert, remove, replace or swap with their neighbour (optimal string
/// alignment); case counts nothing.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().flat_map(char::to_lowercase).collect();
    let b: Vec<char> = b.chars().flat_map(char::to_lowercase).collect();
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let at = |line: &[usize], j: usize| line.get(j).copied().unwrap_or(usize::MAX / 2);
            let replace = at(&above, j) + usize::from(x != y);
            let mut best = replace.min(at(&above, j + 1) + 1).min(at(&row, j) + 1);
            let swapped = i > 0 && j > 0 && a.get(i - 1) == Some(y) && b.get(j - 1) == Some(x);
            if swapped {
                best = best.min(at(&before, j - 1) + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut above, row);
    }
    above.last().copied().unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_recognised_and_another_word_is_not() {
        let fields = ["replicas", "selector", "template", "paused"];
        assert_eq!(nearest("replcias", fields), Some("replicas"));
        assert_eq!(nearest("replica", fields), Some("replicas"));
        assert_eq!(nearest("Paused", fields), Some("paused"));
        assert_eq!(nearest("image", fields), None);
        assert_eq!(nearest("", fields), None);
    }
}
