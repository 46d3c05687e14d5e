//! Where the labels of messages stand: beside their dots, and never over another label or dot. What
//! finds no room is left out; the list "In flight" has them all.

use std::collections::BTreeMap;

/// A rectangle.
#[derive(Clone, Copy, Debug)]
pub struct Rect {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

impl Rect {
    fn meets(&self, other: &Rect) -> bool {
        self.x < other.x + other.width
            && other.x < self.x + self.width
            && self.y < other.y + other.height
            && other.y < self.y + self.height
    }
}

/// What is taken in this frame.
#[derive(Debug, Default)]
pub struct Busy {
    taken: Vec<Rect>,
}

impl Busy {
    /// Keeps labels off a place.
    pub fn take(&mut self, rect: Rect) {
        self.taken.push(rect);
    }

    /// Whether a place is free and within the canvas.
    fn is_free(&self, rect: &Rect, width: f64, height: f64) -> bool {
        rect.x >= 0.0
            && rect.y >= 0.0
            && rect.x + rect.width <= width
            && rect.y + rect.height <= height
            && !self.taken.iter().any(|other| other.meets(rect))
    }

    /// Takes the first of some places that is free, beginning with the one that `sides` remembers
    /// for this label, so that it does not flutter from side to side.
    pub fn settle(
        &mut self,
        candidates: &[Rect],
        label: u64,
        sides: &mut Sides,
        bounds: (f64, f64),
    ) -> Option<Rect> {
        let before = sides.before.get(&label).copied();
        let order = before.into_iter().chain(0..candidates.len());
        for index in order {
            let Some(rect) = candidates.get(index) else {
                continue;
            };
            if self.is_free(rect, bounds.0, bounds.1) {
                self.take(*rect);
                sides.now.insert(label, index);
                return Some(*rect);
            }
        }
        None
    }
}

/// On which side each label stood in the frame before.
#[derive(Debug, Default)]
pub struct Sides {
    before: BTreeMap<u64, usize>,
    now: BTreeMap<u64, usize>,
}

impl Sides {
    /// A new frame begins.
    pub fn turn(&mut self) {
        self.before = std::mem::take(&mut self.now);
    }
}
