//! Where everything of a diagram stands, in pixels: one time axis for all lanes, on which long
//! waits are cut to marked gaps, and labels that do not cover each other.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::kernel::Time;
use crate::world::LaneId;

use super::{Diagram, Item, ItemId, What};

/// Room above the first and below the last thing.
const PAD: f64 = 22.0;
/// The longest stretch in which nothing is drawn, in shown milliseconds; a longer one is cut.
const CUT_MS: f64 = 2_000.0;
/// A cut stretch.
const GAP: f64 = 34.0;
/// A wait of this length is marked as a gap however short it is shown.
const WAIT: Duration = Duration::from_millis(1_500);
/// Two moments that differ stand apart at least so far.
const APART: f64 = 2.0;
/// Room for the sentence over the line of a differing decision.
const SENTENCE: f64 = 24.0;
/// What happens at once stands so far apart.
const STACKED: f64 = 30.0;
/// The height of a line of text.
const LINE: f64 = 15.0;
/// The width of a letter at 12 pixels, and of one of the wide scripts.
const LETTER: f64 = 7.3;
const WIDE_LETTER: f64 = 12.5;

/// How much room there is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Room {
    /// Wanted width; it may become more.
    pub width: f64,
    /// A column is not narrower.
    pub column_min: f64,
    /// Pixels of a shown millisecond.
    pub scale: f64,
}

/// The left edge of the lanes: the axis' own column.
pub const AXIS: f64 = 60.0;
/// Between two lanes.
const BETWEEN: f64 = 14.0;

/// The time axis: a rising line through knots.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// (moment, pixels from the top), both rising.
    pub knots: Vec<(Time, f64)>,
    /// Waits that were cut: their length and where they stand.
    pub gaps: Vec<(Duration, f64)>,
}

impl Axis {
    /// Through these moments, with so much room `before` some of them; `shown` says how long a
    /// stretch is shown on the stage, in ms.
    pub fn through(
        mut times: Vec<Time>,
        before: &BTreeMap<Time, f64>,
        shown: &dyn Fn(Time) -> f64,
        scale: f64,
    ) -> Axis {
        times.sort_unstable();
        times.dedup();
        let mut axis = Axis::default();
        for at in times {
            let extra = before.get(&at).copied().unwrap_or(0.0);
            let Some((last, y)) = axis.knots.last().copied() else {
                axis.knots.push((at, PAD + extra));
                continue;
            };
            let room = ((shown(at) - shown(last)) * scale).max(APART);
            let wait = at.since(last);
            if wait > WAIT || room > CUT_MS * scale {
                axis.gaps.push((wait, y + GAP / 2.0));
                axis.knots.push((at, y + GAP + extra));
            } else {
                axis.knots.push((at, y + room + extra));
            }
        }
        axis
    }

    /// Where a moment stands; what is before the first stands above it, what is after the last
    /// below.
    pub fn y(&self, at: Time) -> f64 {
        let after = self.knots.partition_point(|knot| knot.0 < at);
        let (low, high) =
            (after.checked_sub(1).and_then(|i| self.knots.get(i)), self.knots.get(after));
        match (low, high) {
            (Some(low), Some(high)) => {
                let share = at.since(low.0).as_secs_f64() / high.0.since(low.0).as_secs_f64();
                low.1 + (high.1 - low.1) * share
            }
            (None, Some(first)) if first.0 == at => first.1,
            (None, Some(_)) => PAD / 2.0,
            (Some(last), None) => last.1 + PAD / 2.0,
            (None, None) => PAD,
        }
    }

    /// The whole height.
    pub fn height(&self) -> f64 {
        self.knots.last().map_or(0.0, |last| last.1) + PAD
    }
}

/// A diagram with its places.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// The whole width.
    pub width: f64,
    /// The whole height.
    pub height: f64,
    /// The time axis.
    pub axis: Axis,
    /// The width of a column.
    pub column: f64,
    /// Columns of a lane.
    columns: usize,
    /// The lanes from left to right.
    lanes: Vec<LaneId>,
    /// How far above their moment stand those of the items that happen at once in one column.
    shifts: BTreeMap<(LaneId, ItemId), f64>,
    /// Moments written beside the axis.
    pub times: Vec<(Time, f64)>,
    /// What is written beside the items.
    pub labels: Vec<Label>,
}

/// A label.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// Of which item.
    pub item: usize,
    /// Its left end.
    pub x: f64,
    /// Its base line.
    pub y: f64,
    /// The words.
    pub text: String,
}

#[derive(Clone, Copy)]
struct Box {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Box {
    fn meets(&self, other: &Box) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }
}

impl Layout {
    /// Lays a diagram out. `shown` is the stage's own time scale, `words` what is written beside an
    /// item in so many letters, if anything.
    pub fn of(
        diagram: &Diagram,
        room: Room,
        shown: &dyn Fn(Time) -> f64,
        words: &dyn Fn(&Item, usize) -> String,
    ) -> Layout {
        // The many events that changed nothing take no room: they lie between the rest.
        let drawn = diagram.items.iter().filter(|item| !is_quiet(item));
        let moments = drawn.flat_map(|item| [item.from.1, item.to.1]);
        let marked = diagram.divergences.iter().map(|(at, _)| *at);
        let moments = moments.chain(marked.clone()).collect();
        let (shifts, mut before) = shifts(diagram);
        marked.for_each(|at| *before.entry(at).or_default() += SENTENCE);
        let axis = Axis::through(moments, &before, shown, room.scale);
        let (lanes, columns) = (diagram.lanes.len().max(1), diagram.columns.len().max(1));
        let between = BETWEEN * (lanes - 1) as f64;
        let free = room.width - AXIS - between;
        let column = (free / (lanes * columns) as f64).clamp(room.column_min, 150.0);
        let mut layout = Layout {
            width: AXIS + between + column * (lanes * columns) as f64,
            height: axis.height(),
            times: times(&axis),
            axis,
            column,
            columns,
            lanes: diagram.lanes.clone(),
            shifts,
            labels: Vec::new(),
        };
        layout.labels = layout.place(diagram, words);
        layout
    }

    /// The left and right edge of a lane.
    pub fn edges(&self, lane: LaneId) -> (f64, f64) {
        let place = self.lanes.iter().position(|own| *own == lane).unwrap_or(0) as f64;
        let wide = self.column * self.columns as f64;
        let left = AXIS + place * (wide + BETWEEN);
        (left, left + wide)
    }

    /// The middle of a lane's column.
    pub fn x(&self, lane: LaneId, column: usize) -> f64 {
        self.edges(lane).0 + (column as f64 + 0.5) * self.column
    }

    /// Where an item begins and ends. A message that is lost ends before its loop.
    pub fn ends(&self, item: &Item) -> ((f64, f64), (f64, f64)) {
        let shift = self.shifts.get(&(item.lane, item.id)).copied().unwrap_or(0.0);
        let point =
            |(column, at): (usize, Time)| (self.x(item.lane, column), self.axis.y(at) - shift);
        let (from, to) = (point(item.from), point(item.to));
        let share = match &item.what {
            What::Watch { end: super::End::LostOnWire, .. } => 0.55,
            What::Watch { end: super::End::LostAtDoor | super::End::Held, .. } => {
                1.0 - (12.0 / (to.0 - from.0).abs().max(24.0))
            }
            _ => return (from, to),
        };
        (from, (from.0 + (to.0 - from.0) * share, from.1 + (to.1 - from.1) * share))
    }

    /// The item that comes nearest to a point, if one is near.
    pub fn hit(&self, diagram: &Diagram, x: f64, y: f64) -> Option<usize> {
        const REACH: f64 = 14.0;
        let all = diagram.items.iter().enumerate();
        let all = all.map(|(at, item)| (self.distance(item, x, y), at));
        let near = all.filter(|(distance, _)| *distance <= REACH);
        near.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, at)| at)
    }

    /// How far an item is from a point.
    pub(super) fn distance(&self, item: &Item, x: f64, y: f64) -> f64 {
        let (from, to) = self.ends(item);
        // What is small is caught before what is large and lies under it.
        let bonus = match &item.what {
            What::Pass(..) => 3.0,
            // One change goes to many loops along one line: the one whose end is near is meant.
            What::Watch { .. } if is_quiet(item) => 2.0 + 0.002 * (x - to.0).hypot(y - to.1),
            _ => 0.0,
        };
        to_segment((x, y), from, to) + bonus
    }

    /// Puts labels where there is room, the most telling first.
    fn place(&self, diagram: &Diagram, words: &dyn Fn(&Item, usize) -> String) -> Vec<Label> {
        let mut order: Vec<usize> = (0..diagram.items.len()).collect();
        order.sort_by_key(|at| diagram.items.get(*at).map(|item| (weight(item), *at)));
        let mut taken: Vec<Box> = diagram.items.iter().filter_map(|item| self.body(item)).collect();
        taken.extend(diagram.divergences.iter().map(|(at, _)| {
            let line = self.axis.y(*at);
            Box { left: 0.0, top: line - SENTENCE + 2.0, right: self.width, bottom: line + 1.0 }
        }));
        let mut labels = Vec::new();
        for at in order {
            let Some(item) = diagram.items.get(at) else { continue };
            let text = words(item, self.letters(item));
            if text.is_empty() || is_quiet(item) {
                continue;
            }
            let found = self.candidates(item, width(&text)).into_iter().find(|place| {
                let (left, right) = self.edges(item.lane);
                let inside = place.left >= left - 2.0
                    && place.right <= right + 2.0
                    && place.top >= 0.0
                    && place.bottom <= self.height;
                inside && !taken.iter().any(|other| other.meets(place))
            });
            if let Some(place) = found {
                taken.push(place);
                labels.push(Label { item: at, x: place.left, y: place.bottom - 4.0, text });
            }
        }
        labels.sort_by_key(|label| label.item);
        labels
    }

    /// How many letters there may be room for beside an item.
    fn letters(&self, item: &Item) -> usize {
        let (left, right) = self.edges(item.lane);
        let x = self.x(item.lane, item.from.0);
        let room = match item.what {
            What::Watch { .. } | What::Request { .. } => 2.0 * self.column,
            _ => (right - x).max(x - left) - 9.0,
        };
        (room / LETTER).max(0.0) as usize
    }

    /// What of an item must not be written over.
    fn body(&self, item: &Item) -> Option<Box> {
        let (from, to) = self.ends(item);
        let around = |(x, top): (f64, f64), bottom: f64| Box {
            left: x - 6.0,
            top: top - 3.0,
            right: x + 6.0,
            bottom: bottom + 3.0,
        };
        match &item.what {
            What::Request { .. } => None,
            What::Watch { end, .. } => end.is_lost().then(|| around(to, to.1)),
            What::Pass(..) => Some(around(from, to.1)),
            _ => Some(around(from, from.1)),
        }
    }

    fn candidates(&self, item: &Item, width: f64) -> Vec<Box> {
        let (from, to) = self.ends(item);
        let at = |left: f64, middle: f64| Box {
            left,
            top: middle - LINE / 2.0,
            right: left + width,
            bottom: middle + LINE / 2.0,
        };
        let beside = |x: f64, y: f64| [at(x + 9.0, y), at(x - 9.0 - width, y)];
        match &item.what {
            What::Pass(..) => {
                let (top, middle) = (from.1 + 9.0, (from.1 + to.1) / 2.0);
                let right = [middle, top, to.1 - 2.0].map(|y| at(from.0 + 9.0, y));
                let left = [top, middle, to.1 - 2.0].map(|y| at(from.0 - 9.0 - width, y));
                right.into_iter().chain(left).collect()
            }
            What::Watch { end, .. } if end.is_lost() => {
                let ys = [to.1, to.1 + LINE, to.1 - LINE];
                ys.into_iter().flat_map(|y| beside(to.0, y)).collect()
            }
            What::Watch { .. } | What::Request { .. } => {
                // Beside the line: above or below one that lies, left or right of one that stands.
                let (x, y) = ((from.0 + to.0) / 2.0, (from.1 + to.1) / 2.0);
                let (half, rise) = (width / 2.0, (to.1 - from.1).abs());
                let slope = rise / (to.0 - from.0).abs().max(1.0);
                let up = LINE / 2.0 + 2.0 + half * slope;
                let aside = 4.0 + LINE / 2.0 / slope.max(0.05);
                match slope < 0.5 {
                    true => vec![at(x - half, y - up), at(x - half, y + up)],
                    false => vec![at(x + aside, y), at(x - aside - width, y)],
                }
            }
            // Over its arrow or under it.
            What::Did { .. } => {
                [-11.0, 11.0].into_iter().map(|shift| at(from.0 - 5.0, from.1 + shift)).collect()
            }
            _ => {
                let ys = [from.1, from.1 - LINE, from.1 + LINE];
                ys.into_iter().flat_map(|y| beside(from.0, y)).collect()
            }
        }
    }
}

/// What happens at one moment in one column stands one below the other, the last at the moment
/// itself: how far above it the others stand, and how much room that takes before it.
fn shifts(diagram: &Diagram) -> (BTreeMap<(LaneId, ItemId), f64>, BTreeMap<Time, f64>) {
    let mut stacks: BTreeMap<(LaneId, usize, Time), Vec<ItemId>> = BTreeMap::new();
    let is_dot = |item: &&Item| matches!(item.what, What::Did { .. } | What::Fault { .. });
    for item in diagram.items.iter().filter(is_dot) {
        stacks.entry((item.lane, item.from.0, item.from.1)).or_default().push(item.id);
    }
    let (mut shifts, mut before) = (BTreeMap::new(), BTreeMap::new());
    for ((lane, _, at), ids) in stacks {
        let room: &mut f64 = before.entry(at).or_default();
        *room = room.max(STACKED * (ids.len() - 1) as f64);
        for (place, id) in ids.iter().rev().enumerate() {
            shifts.insert((lane, *id), STACKED * place as f64);
        }
    }
    (shifts, before)
}

fn is_quiet(item: &Item) -> bool {
    matches!(&item.what, What::Watch { end, .. } if end.is_quiet())
}

/// What is written first.
fn weight(item: &Item) -> u8 {
    match &item.what {
        What::Watch { end, .. } if end.is_lost() => 0,
        What::Did { .. } | What::Fault { .. } | What::Died(_) => 1,
        What::Pass(..) | What::Started(_) => 2,
        What::Request { outcome: Err(_), .. } => 3,
        What::Watch { .. } => 4,
        What::Request { .. } => 5,
    }
}

/// About how wide a text is.
pub fn width(text: &str) -> f64 {
    text.chars().map(|c| if c < '\u{1100}' { LETTER } else { WIDE_LETTER }).sum()
}

/// Moments to be written beside the axis: as many as stand apart.
fn times(axis: &Axis) -> Vec<(Time, f64)> {
    let mut out: Vec<(Time, f64)> = Vec::new();
    for (at, y) in &axis.knots {
        let free = out.last().is_none_or(|(_, last)| y - last >= LINE);
        let clear = axis.gaps.iter().all(|(_, gap)| (gap - y).abs() >= LINE);
        if free && clear {
            out.push((*at, *y));
        }
    }
    out
}

fn to_segment(point: (f64, f64), from: (f64, f64), to: (f64, f64)) -> f64 {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx * dx + dy * dy;
    let share = if length > 0.0 {
        (((point.0 - from.0) * dx + (point.1 - from.1) * dy) / length).clamp(0.0, 1.0)
    } else {
        0.0
    };
    (point.0 - from.0 - dx * share).hypot(point.1 - from.1 - dy * share)
}
