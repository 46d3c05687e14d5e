//! What moves, drawn over a lane's circuit: messages on the wires and the arcs of passes. Every
//! drawing is a function of the display time, so that time can run backwards.

mod flights;
mod labels;
mod palette;
mod places;
mod rings;
mod struck;
pub mod track;

use std::cell::Cell;

use wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement, HtmlElement};

use crate::view::Stage;

use super::bridge::{LaneId, Run};
pub use palette::Palette;
use places::Places;

/// A dot, where it was drawn last, to be caught there.
#[derive(Clone, Copy, Debug)]
struct Hit {
    flight: u64,
    x: f64,
    y: f64,
}

/// The canvas of one lane.
pub struct LaneCanvas {
    lane: LaneId,
    canvas: HtmlCanvasElement,
    context: CanvasRenderingContext2d,
    circuit: HtmlElement,
    palette: Palette,
    places: Option<Places>,
    sides: labels::Sides,
    hits: Vec<Hit>,
    /// Whether the context's font is the bold one; none: it is neither.
    bold: Cell<Option<bool>>,
}

/// How far from a dot a finger or a mouse may be.
const REACH: f64 = 22.0;

impl LaneCanvas {
    /// A canvas that covers `circuit`.
    pub fn new(lane: LaneId, canvas: HtmlCanvasElement, circuit: HtmlElement) -> Option<Self> {
        let context = canvas.get_context("2d").ok()??.dyn_into().ok()?;
        Some(LaneCanvas {
            lane,
            palette: Palette::read(),
            canvas,
            context,
            circuit,
            places: None,
            sides: labels::Sides::default(),
            hits: Vec::new(),
            bold: Cell::new(None),
        })
    }

    /// Whose it is.
    pub fn lane(&self) -> LaneId {
        self.lane
    }

    /// The layout or the colours have changed.
    pub fn forget_places(&mut self) {
        self.places = None;
        self.palette = Palette::read();
    }

    /// The message near a point.
    pub fn hit(&self, x: f64, y: f64) -> Option<u64> {
        let near = self.hits.iter().map(|hit| ((hit.x - x).hypot(hit.y - y), hit.flight));
        near.filter(|(distance, _)| *distance <= REACH)
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, flight)| flight)
    }

    /// Where a message was drawn.
    pub fn place(&self, flight: u64) -> Option<(f64, f64)> {
        let hit = self.hits.iter().find(|hit| hit.flight == flight)?;
        Some((hit.x, hit.y))
    }

    /// Draws the moment `shown`.
    pub fn draw(&mut self, run: &Run, stage: &Stage, shown: f64, still: bool) {
        if self.places.is_none() {
            self.places = Places::measure(&self.circuit, &self.canvas, &self.context);
            // A canvas of another size has forgotten its font.
            self.bold.set(None);
        }
        let Some(places) = &self.places else { return };
        let (context, palette, bold) = (&self.context, &self.palette, &self.bold);
        let brush = Brush { context, palette, places, run, shown, bold };
        self.context.clear_rect(0.0, 0.0, places.width, places.height);
        rings::draw(&brush, stage, still);
        self.hits.clear();
        if !still {
            let mut busy = labels::Busy::default();
            flights::draw(&brush, stage, &mut busy, &mut self.sides, &mut self.hits);
            struck::draw(&brush, stage, self.lane, &mut busy);
        }
    }
}

/// All that drawing needs.
struct Brush<'a> {
    context: &'a CanvasRenderingContext2d,
    palette: &'a Palette,
    places: &'a Places,
    run: &'a Run,
    shown: f64,
    bold: &'a Cell<Option<bool>>,
}

impl Brush<'_> {
    /// How far between two moments the shown one is: 0 at the first, 1 at the second.
    fn between(&self, from: f64, to: f64) -> f64 {
        if to <= from {
            return if self.shown < from { 0.0 } else { 1.0 };
        }
        ((self.shown - from) / (to - from)).clamp(0.0, 1.0)
    }

    fn fill(&self, color: &str) {
        self.context.set_fill_style_str(color);
    }

    fn stroke(&self, color: &str, width: f64) {
        self.context.set_stroke_style_str(color);
        self.context.set_line_width(width);
    }

    fn line(&self, points: &[(f64, f64)]) {
        self.context.begin_path();
        for (index, (x, y)) in points.iter().enumerate() {
            if index == 0 {
                self.context.move_to(*x, *y);
            } else {
                self.context.line_to(*x, *y);
            }
        }
        self.context.stroke();
    }

    fn circle(&self, x: f64, y: f64, radius: f64) {
        self.context.begin_path();
        // Fails for a negative radius only.
        let _ = self.context.arc(x, y, radius.max(0.0), 0.0, std::f64::consts::TAU);
    }
}
