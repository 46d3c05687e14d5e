//! Which drawn row of a list may show which new line. To make hundreds of rows anew at each jump in
//! time is slow; a row that is there can show another line as well.

/// For each of the `new` lines the place of the old row that it takes: its own if it has one,
/// else one of those that go, from between the same neighbours, so that no row is ever moved.
pub fn rows<K: PartialEq>(old: &[K], new: &[K]) -> Vec<Option<usize>> {
    let mut taken = vec![None; new.len()];
    // What lies between two rows that stay: the next old one, and the first of the new.
    let (mut free, mut first) = (0, 0);
    for (place, key) in new.iter().enumerate() {
        let Some(own) = (free..old.len()).find(|own| old[*own] == *key) else { continue };
        hand_on(&mut taken[first..place], free..own);
        taken[place] = Some(own);
        (free, first) = (own + 1, place + 1);
    }
    hand_on(&mut taken[first..], free..old.len());
    taken
}

fn hand_on(lines: &mut [Option<usize>], rows: std::ops::Range<usize>) {
    for (line, row) in lines.iter_mut().zip(rows) {
        *line = Some(row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reused(old: &str, new: &str) -> String {
        let (old, new): (Vec<char>, Vec<char>) = (old.chars().collect(), new.chars().collect());
        let taken = rows(&old, &new).into_iter();
        taken.map(|row| row.map_or('+', |row| old[row])).collect()
    }

    #[test]
    fn a_line_keeps_its_row_and_a_new_one_takes_a_row_that_goes_from_the_same_gap() {
        for (old, new, expected) in [
            ("", "abc", "+++"),
            ("abc", "", ""),
            ("abc", "abc", "abc"),
            // As time runs: what goes stands before those that stay, what comes after them.
            ("abc", "bcd", "bc+"),
            // A jump: nothing stays.
            ("abc", "xy", "ab"),
            ("ab", "xyz", "ab+"),
            // A short jump: `b` and `e` stay.
            ("abcde", "bxyze", "bcd+e"),
            ("abcde", "xbe", "abe"),
            // `a` would have to be moved past `b`, which stays.
            ("ab", "ba", "b+"),
        ] {
            assert_eq!(reused(old, new), expected, "{old} → {new}");
        }
    }

    #[test]
    fn rows_stay_in_their_order() {
        let old: Vec<u32> = (0..40).collect();
        for step in 1..9 {
            let new: Vec<u32> = (0..40).map(|n| n * step % 47 + step).collect();
            let taken: Vec<usize> = rows(&old, &new).into_iter().flatten().collect();
            assert!(taken.is_sorted_by(|a, b| a < b), "{taken:?}");
        }
    }
}
