//! The scrubber's drawing: bands of verdicts above and below the line, marks on it.

use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};

use crate::kernel::Time;
use crate::ui::bridge::Story;
use crate::ui::dom;
use crate::ui::format;
use crate::view::{Band, LaneId, Mark, MarkKind};

use super::Palette;

/// How display time is laid along the line. The line is longer than the run, and grows in leaps:
/// marks that crept to the left all the time could not be clicked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    length: f64,
}

const SHORTEST_MS: f64 = 20_000.0;
const GROWTH: f64 = 1.5;

impl Scale {
    /// For a run whose end is shown at `end`.
    pub fn of(end: f64) -> Scale {
        let mut length = SHORTEST_MS;
        while length < end * 1.04 && length < 1e12 {
            length *= GROWTH;
        }
        Scale { length }
    }

    /// Where a moment stands: 0 at the left, 1 at the right.
    pub fn share(&self, shown: f64) -> f64 {
        (shown / self.length).clamp(0.0, 1.0)
    }

    /// The moment that stands there.
    pub fn shown(&self, share: f64) -> f64 {
        share * self.length
    }
}

/// How large the drawing is, in CSS pixels.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sheet {
    width: f64,
    height: f64,
    /// A sixteenth of the type size.
    unit: f64,
}

impl Sheet {
    /// Measures the element that the drawing fills.
    pub fn measure(element: &web_sys::Element) -> Sheet {
        let frame = element.get_bounding_client_rect();
        Sheet { width: frame.width(), height: frame.height(), unit: dom::rem() / 16.0 }
    }
}

struct Pen<'a> {
    context: CanvasRenderingContext2d,
    palette: &'a Palette,
    width: f64,
    height: f64,
    unit: f64,
}

/// Draws it all.
pub fn draw(
    canvas: &HtmlCanvasElement,
    sheet: Sheet,
    palette: &Palette,
    scale: Scale,
    story: &Story,
    shown_of: impl Fn(Time) -> f64,
) {
    let Some(pen) = Pen::new(canvas, sheet, palette) else {
        return;
    };
    pen.context.clear_rect(0.0, 0.0, pen.width, pen.height);
    pen.rect(&palette.line, 0.0, pen.height / 2.0 - 0.5, pen.width, 1.0);
    let x_of = |at: Time| scale.share(shown_of(at)) * pen.width;
    for band in &story.bands {
        pen.band(band, x_of(band.from), x_of(band.to));
    }
    for gap in &story.gaps {
        pen.gap((x_of(gap.from) + x_of(gap.to)) / 2.0);
    }
    let gaps = story.gaps.iter().map(|gap| {
        let middle = (x_of(gap.from) + x_of(gap.to)) / 2.0;
        (middle, format::span(gap.to.since(gap.from)))
    });
    let gaps: Vec<(f64, String)> = gaps.collect();
    let mut last = [f64::MIN; 2];
    for mark in story.marks.iter() {
        let x = x_of(mark.at);
        if mark.what == MarkKind::Pass {
            // Closer than this they are one mark to the eye.
            let place = usize::from(mark.lane == Some(LaneId::Level));
            if x - last[place] < 2.5 * pen.unit {
                continue;
            }
            last[place] = x;
        }
        pen.mark(mark, x);
    }
    pen.gap_words(&gaps);
}

impl<'a> Pen<'a> {
    fn new(
        canvas: &HtmlCanvasElement,
        Sheet { width, height, unit }: Sheet,
        palette: &'a Palette,
    ) -> Option<Pen<'a>> {
        if width < 1.0 {
            return None;
        }
        let ratio = window().device_pixel_ratio().clamp(1.0, 3.0);
        canvas.set_width((width * ratio).round() as u32);
        canvas.set_height((height * ratio).round() as u32);
        let context: CanvasRenderingContext2d = canvas.get_context("2d").ok()??.dyn_into().ok()?;
        context.set_transform(ratio, 0.0, 0.0, ratio, 0.0, 0.0).ok()?;
        Some(Pen { context, palette, width, height, unit })
    }

    fn rect(&self, color: &str, x: f64, y: f64, width: f64, height: f64) {
        self.context.set_fill_style_str(color);
        self.context.fill_rect(x, y, width, height);
    }

    /// Verdicts differ by shape as well: full, half, dotted, striped.
    fn band(&self, band: &Band, from: f64, to: f64) {
        let thick = 6.0 * self.unit;
        let y = match band.lane {
            LaneId::Edge => 6.0 * self.unit,
            LaneId::Level => self.height - 12.0 * self.unit,
        };
        let width = (to - from).max(1.0);
        let palette = self.palette;
        match band.verdict {
            "converged" => self.rect(&palette.observed, from, y, width, thick),
            "stuck" => {
                self.rect(&palette.trouble, from, y, width, thick);
                self.stripes(&palette.surface, from, to, y, thick);
            }
            "oscillating" => self.dots(&palette.warn, from, to, y, thick),
            "waiting" => self.dots(&palette.observed, from, to, y, thick),
            _ => {
                let inner = match band.lane {
                    LaneId::Edge => y + thick - 2.0 * self.unit,
                    LaneId::Level => y,
                };
                self.rect(&palette.observed, from, inner, width, 2.0 * self.unit);
            }
        }
    }

    /// A wait that was shortened: the line is cut.
    fn gap(&self, x: f64) {
        let unit = self.unit;
        let middle = self.height / 2.0;
        self.context.set_stroke_style_str(&self.palette.muted);
        self.context.set_line_width(1.3 * unit);
        for shift in [-2.0, 2.0] {
            let x = x + shift * unit;
            self.context.begin_path();
            self.context.move_to(x - 2.0 * unit, middle + 5.0 * unit);
            self.context.line_to(x + 2.0 * unit, middle - 5.0 * unit);
            self.context.stroke();
        }
    }

    /// How long the waits are, in words, where there is room; each to the right of its cut.
    fn gap_words(&self, gaps: &[(f64, String)]) {
        let (unit, context) = (self.unit, &self.context);
        context.set_font(&format!("{}px system-ui, sans-serif", 12.0 * unit));
        context.set_text_baseline("middle");
        let mut free = 0.0;
        for (number, (middle, words)) in gaps.iter().enumerate() {
            let width = context.measure_text(words).map_or(f64::MAX, |size| size.width());
            let from = middle + 6.0 * unit;
            let next = gaps.get(number + 1).map_or(self.width, |gap| gap.0 - 6.0 * unit);
            if middle - 6.0 * unit < free || from + width + 4.0 * unit > next.min(self.width) {
                continue;
            }
            let (top, tall) = (self.height / 2.0 - 7.0 * unit, 14.0 * unit);
            self.rect(&self.palette.surface, from, top, width + 4.0 * unit, tall);
            context.set_fill_style_str(&self.palette.muted);
            // It fails only for a font that cannot be had; the cut itself is there.
            let _ = context.fill_text(words, from + 2.0 * unit, self.height / 2.0);
            free = from + width + 4.0 * unit;
        }
    }

    /// A branch that leaves the line.
    fn fork(&self, color: &str, x: f64) {
        let (unit, middle) = (self.unit, self.height / 2.0);
        let context = &self.context;
        context.set_stroke_style_str(color);
        context.set_line_width(2.0 * unit);
        context.begin_path();
        context.move_to(x - 5.0 * unit, middle);
        context.line_to(x + 5.0 * unit, middle);
        context.move_to(x, middle);
        context.line_to(x + 5.0 * unit, middle - 9.0 * unit);
        context.stroke();
    }

    fn stripes(&self, color: &str, from: f64, to: f64, y: f64, thick: f64) {
        self.context.set_stroke_style_str(color);
        self.context.set_line_width(1.5 * self.unit);
        let step = 9.0 * self.unit;
        let mut x = from + step;
        while x < to {
            self.context.begin_path();
            self.context.move_to(x - 2.0 * self.unit, y + thick);
            self.context.line_to(x + 2.0 * self.unit, y);
            self.context.stroke();
            x += step;
        }
    }

    fn dots(&self, color: &str, from: f64, to: f64, y: f64, thick: f64) {
        let step = 7.0 * self.unit;
        let mut x = from;
        while x < to {
            self.rect(color, x, y, (4.0 * self.unit).min(to - x), thick);
            x += step;
        }
    }

    fn mark(&self, mark: &Mark, x: f64) {
        let middle = self.height / 2.0;
        let unit = self.unit;
        let palette = self.palette;
        match mark.what {
            MarkKind::Pass => {
                let (from, to) = match mark.lane {
                    Some(LaneId::Edge) => (middle - 9.0 * unit, middle - 2.0 * unit),
                    Some(LaneId::Level) => (middle + 2.0 * unit, middle + 9.0 * unit),
                    None => (middle - 9.0 * unit, middle + 9.0 * unit),
                };
                self.rect(&palette.muted, x, from, 1.3 * unit, to - from);
            }
            MarkKind::You => self.pin(&palette.ink, x, false),
            MarkKind::Script => self.pin(&palette.muted, x, false),
            MarkKind::Fault => self.pin(&palette.trouble, x, true),
            MarkKind::Failed => self.failed(x),
            MarkKind::Fork => self.fork(&palette.desired, x),
            MarkKind::Divergence => {
                self.rect(&palette.desired, x - unit, 2.0, 2.0 * unit, self.height - 4.0);
                self.diamond(&palette.desired, x);
            }
        }
    }

    /// A dashed line over both lanes, with a head on it.
    fn pin(&self, color: &str, x: f64, cross: bool) {
        let unit = self.unit;
        let mut y = 2.0;
        while y < self.height - 2.0 {
            self.rect(color, x - 0.5 * unit, y, unit, 2.0 * unit);
            y += 5.0 * unit;
        }
        let context = &self.context;
        let middle = self.height / 2.0;
        context.set_stroke_style_str(color);
        context.set_fill_style_str(color);
        context.set_line_width(2.0 * unit);
        context.begin_path();
        if cross {
            let arm = 3.2 * unit;
            context.move_to(x - arm, middle - arm);
            context.line_to(x + arm, middle + arm);
            context.move_to(x + arm, middle - arm);
            context.line_to(x - arm, middle + arm);
            context.stroke();
        } else {
            let _ = context.arc(x, middle, 3.5 * unit, 0.0, std::f64::consts::TAU);
            context.fill();
        }
    }

    /// As what somebody did, struck out.
    fn failed(&self, x: f64) {
        self.pin(&self.palette.trouble, x, false);
        let (unit, middle) = (self.unit, self.height / 2.0);
        let (arm, context) = (2.0 * unit, &self.context);
        context.set_stroke_style_str(&self.palette.surface);
        context.set_line_width(1.5 * unit);
        context.begin_path();
        context.move_to(x - arm, middle - arm);
        context.line_to(x + arm, middle + arm);
        context.stroke();
    }

    fn diamond(&self, color: &str, x: f64) {
        let size = 6.0 * self.unit;
        let middle = self.height / 2.0;
        let context = &self.context;
        context.set_fill_style_str(color);
        context.begin_path();
        context.move_to(x, middle - size);
        context.line_to(x + size, middle);
        context.line_to(x, middle + size);
        context.line_to(x - size, middle);
        context.close_path();
        context.fill();
    }
}
