//! The indexes of an Indexed Job, and the text in which they are kept: `0-3,5`.

use std::collections::BTreeSet;

use crate::api::Pod;

/// The annotation, and the label, that hold a pod's index.
pub const INDEX: &str = "batch.kubernetes.io/job-completion-index";

/// A set of indexes, as ranges in order; the last of a range belongs to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Indexes(Vec<(i32, i32)>);

impl Indexes {
    /// Reads the text. What cannot be read, and indexes from `completions` on, are left out.
    pub fn parse(text: &str, completions: i32) -> Indexes {
        let mut found = Indexes::default();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (Ok(first), Ok(last)) = (first.parse::<i32>(), last.parse::<i32>()) else {
                continue;
            };
            let last = last.min(completions.saturating_sub(1));
            if first <= last && first >= 0 {
                found.push(first, last);
            }
        }
        found
    }

    fn push(&mut self, first: i32, last: i32) {
        match self.0.last_mut() {
            Some(before) if first <= before.1.saturating_add(1) => before.1 = before.1.max(last),
            _ => self.0.push((first, last)),
        }
    }

    /// The same with these added.
    pub fn with(&self, more: &BTreeSet<i32>) -> Indexes {
        let mut ranges = self.0.clone();
        ranges.extend(more.iter().map(|index| (*index, *index)));
        ranges.sort_unstable();
        let mut all = Indexes::default();
        ranges.into_iter().for_each(|(first, last)| all.push(first, last));
        all
    }

    /// Whether it holds this index.
    pub fn has(&self, index: i32) -> bool {
        let after = self.0.partition_point(|(first, _)| *first <= index);
        after.checked_sub(1).is_some_and(|at| index <= self.0[at].1)
    }

    /// How many are in both.
    pub fn shared_with(&self, other: &Indexes) -> i32 {
        let shared = |(first, last): &(i32, i32)| {
            let overlaps = other.0.iter().map(|(f, l)| last.min(l) - first.max(f) + 1);
            overlaps.filter(|overlap| *overlap > 0).sum::<i32>()
        };
        self.0.iter().map(shared).sum()
    }

    /// How many there are.
    pub fn total(&self) -> i32 {
        self.0.iter().fold(0, |sum: i32, (first, last)| sum.saturating_add(last - first + 1))
    }
}

impl std::fmt::Display for Indexes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (at, (first, last)) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str(",")?;
            }
            match last - first {
                0 => write!(f, "{first}")?,
                // Two neighbours are not called a range.
                1 => write!(f, "{first},{last}")?,
                _ => write!(f, "{first}-{last}")?,
            }
        }
        Ok(())
    }
}

/// The index of a pod, if it has one.
pub fn index_of(pod: &Pod) -> Option<i32> {
    let text = pod.metadata.annotations.get(INDEX)?;
    text.parse().ok().filter(|index| *index >= 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_are_written_as_kubernetes_writes_them() {
        for (text, written) in [
            ("", ""),
            ("0", "0"),
            ("0,1", "0,1"),
            ("0,1,2", "0-2"),
            ("0-3,5", "0-3,5"),
            ("0-3,4,7-9", "0-4,7-9"),
            ("0,x,2", "0,2"),
        ] {
            assert_eq!(Indexes::parse(text, 100).to_string(), written, "{text}");
        }
    }

    #[test]
    fn indexes_beyond_the_completions_do_not_count() {
        let indexes = Indexes::parse("0-9,12", 5);
        assert_eq!((indexes.total(), indexes.has(4), indexes.has(5)), (5, true, false));
        assert_eq!(indexes.shared_with(&Indexes::parse("1,3-7", 10)), 3);
        let more = indexes.with(&[7, 8, 9].into());
        assert_eq!(more.to_string(), "0-4,7-9");
    }
}
