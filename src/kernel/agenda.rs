//! What is due, and when: the simulator's queue. Entries of the same moment come out in the order
//! in which they went in, so a run has exactly one order.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::Time;

/// Something due at a moment.
#[derive(Clone, Debug)]
pub struct Entry<T> {
    /// When it is due.
    pub at: Time,
    /// Breaks ties: the number of entries that were put in before this one.
    pub sequence: u64,
    /// What is due.
    pub what: T,
}

impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Self) -> bool {
        self.sequence == other.sequence
    }
}
impl<T> Eq for Entry<T> {}
impl<T> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<T> Ord for Entry<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        // The heap keeps its greatest on top; we want the earliest.
        (other.at, other.sequence).cmp(&(self.at, self.sequence))
    }
}

/// The queue of what is due.
#[derive(Clone, Debug)]
pub struct Agenda<T> {
    heap: BinaryHeap<Entry<T>>,
    next_sequence: u64,
}

impl<T> Default for Agenda<T> {
    fn default() -> Self {
        Agenda { heap: BinaryHeap::new(), next_sequence: 0 }
    }
}

impl<T> Agenda<T> {
    /// Puts `what` in, due at `at`.
    pub fn put(&mut self, at: Time, what: T) {
        let sequence = self.next_sequence;
        self.next_sequence += 1;
        self.heap.push(Entry { at, sequence, what });
    }

    /// When the next entry is due.
    pub fn next_time(&self) -> Option<Time> {
        self.heap.peek().map(|entry| entry.at)
    }

    /// Takes the next entry out.
    pub fn take(&mut self) -> Option<Entry<T>> {
        self.heap.pop()
    }

    /// All entries, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = &Entry<T>> {
        self.heap.iter()
    }

    /// How many entries are due.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether nothing is due.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// Changes entries in place: `visit` may move an entry's time or, by returning false, remove
    /// it.
    pub fn revise(&mut self, mut visit: impl FnMut(&mut Entry<T>) -> bool) {
        let entries = std::mem::take(&mut self.heap).into_vec();
        self.heap = entries.into_iter().filter_map(|mut e| visit(&mut e).then_some(e)).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_out_by_time_and_then_in_the_order_they_went_in() {
        let mut agenda = Agenda::default();
        for (ms, what) in [(5, "c"), (1, "a"), (5, "d"), (1, "b")] {
            agenda.put(Time::from_millis(ms), what);
        }
        let order: Vec<_> = std::iter::from_fn(|| agenda.take()).map(|e| e.what).collect();
        assert_eq!(order, ["a", "b", "c", "d"]);
    }
}
