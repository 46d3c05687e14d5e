//! The diagram as SVG text: a few hundred lines and letters that change together are one string,
//! not as many elements of the page's own. Colours and type are in `style/spacetime.css`.

use std::fmt::Write;

use crate::kernel::Time;
use crate::ui::format;
use crate::ui::words;
use crate::view::Divergence;
use crate::view::spacetime::layout::{AXIS, Layout};
use crate::view::spacetime::{Diagram, End, Item, What};

use super::say;

type Point = (f64, f64);

/// Text that is no markup.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

/// A canvas of text. Writing to a string does not fail.
#[derive(Default)]
struct Pen(String);

impl Pen {
    fn line(&mut self, class: &str, (x, y): Point, (to_x, to_y): Point) {
        let _ = write!(
            self.0,
            "<line class='{class}' x1='{x:.1}' y1='{y:.1}' x2='{to_x:.1}' y2='{to_y:.1}'/>"
        );
    }

    fn rect(&mut self, class: &str, (x, y): Point, (width, height): Point) {
        let _ = write!(
            self.0,
            "<rect class='{class}' x='{x:.1}' y='{y:.1}' width='{width:.1}' height='{height:.1}'/>"
        );
    }

    fn circle(&mut self, class: &str, (x, y): Point, radius: f64) {
        let _ = write!(self.0, "<circle class='{class}' cx='{x:.1}' cy='{y:.1}' r='{radius}'/>");
    }

    fn path(&mut self, class: &str, path: &str) {
        let _ = write!(self.0, "<path class='{class}' d='{path}'/>");
    }

    fn text(&mut self, class: &str, (x, y): Point, text: &str) {
        let text = escaped(text);
        let _ = write!(self.0, "<text class='{class}' x='{x:.1}' y='{y:.1}'>{text}</text>");
    }

    fn cross(&mut self, class: &str, (x, y): Point, arm: f64) {
        let (l, r, t, b) = (x - arm, x + arm, y - arm, y + arm);
        self.path(class, &format!("M{l:.1} {t:.1}L{r:.1} {b:.1}M{r:.1} {t:.1}L{l:.1} {b:.1}"));
    }

    /// A line with a head at its end.
    fn arrow(&mut self, class: &str, from: Point, to: Point) {
        self.line(class, from, to);
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let length = dx.hypot(dy);
        if length < 1.0 {
            return;
        }
        let (ux, uy) = (dx / length * 7.0, dy / length * 7.0);
        let (bx, by) = (to.0 - ux, to.1 - uy);
        let (px, py) = (-uy * 0.5, ux * 0.5);
        let head = format!(
            "M{:.1} {:.1}L{:.1} {:.1}L{:.1} {:.1}Z",
            to.0,
            to.1,
            bx + px,
            by + py,
            bx - px,
            by - py
        );
        self.path(&format!("head {class}"), &head);
    }
}

/// The whole drawing, but for what is lit up.
pub fn whole(diagram: &Diagram, layout: &Layout, divergences: &[Divergence]) -> String {
    let mut pen = Pen::default();
    ground(&mut pen, diagram, layout);
    // Arrows below bars, bars below dots.
    for layer in 0..3 {
        let own = diagram.items.iter().filter(|item| layer_of(item) == layer);
        own.for_each(|item| body(&mut pen, layout, item));
    }
    for (at, place) in &diagram.divergences {
        if let Some(found) = divergences.get(*place) {
            rule(&mut pen, layout, layout.axis.y(*at), *place, found);
        }
    }
    for label in &layout.labels {
        let class = diagram.items.get(label.item).map(class).unwrap_or_default();
        pen.text(&format!("label {class}"), (label.x, label.y), &label.text);
    }
    pen.0
}

fn ground(pen: &mut Pen, diagram: &Diagram, layout: &Layout) {
    for lane in &diagram.lanes {
        let (left, right) = layout.edges(*lane);
        pen.rect("lane-ground", (left, 0.0), (right - left, layout.height));
        for column in 0..diagram.columns.len() {
            let x = layout.x(*lane, column);
            pen.line("column", (x, 0.0), (x, layout.height));
        }
    }
    for (wait, y) in &layout.axis.gaps {
        let (top, bottom) = (y - 4.0, y + 4.0);
        pen.rect("cut", (AXIS - 6.0, top), (layout.width - AXIS + 6.0, bottom - top));
        pen.text("when", (AXIS - 10.0, y + 4.0), &format!("⁄⁄ {}", format::span(*wait)));
    }
    for (at, y) in &layout.times {
        pen.line("tick", (AXIS - 5.0, *y), (AXIS - 1.0, *y));
        pen.text("when", (AXIS - 8.0, y + 4.0), &moment(*at));
    }
}

/// A moment to the millisecond: things lie close together here.
fn moment(at: Time) -> String {
    let seconds = at.as_secs_f64();
    if seconds < 999.9995 { format!("{seconds:.3}") } else { format::clock(at) }
}

/// A line across all lanes with one sentence.
fn rule(pen: &mut Pen, layout: &Layout, y: f64, place: usize, found: &Divergence) {
    let x = AXIS - 3.0;
    pen.line("differs", (x, y), (layout.width, y));
    let (l, r, t, b) = (x - 5.0, x + 5.0, y - 5.0, y + 5.0);
    pen.path("diamond", &format!("M{x:.1} {t:.1}L{r:.1} {y:.1}L{x:.1} {b:.1}L{l:.1} {y:.1}Z"));
    let letters = ((layout.width - AXIS - 8.0) / 6.6).max(8.0) as usize;
    let text = format!("{}. {}", place + 1, words::divergence(found));
    pen.text("differs-text", (AXIS + 6.0, y - 7.0), &say::cut(&text, letters));
}

fn layer_of(item: &Item) -> u8 {
    match item.what {
        What::Watch { .. } | What::Request { .. } => 0,
        What::Pass(..) => 1,
        _ => 2,
    }
}

/// For style sheets.
fn class(item: &Item) -> &'static str {
    match &item.what {
        What::Did { .. } => "did",
        What::Fault { .. } | What::Died(_) => "fault",
        What::Watch { end: End::Heard, .. } => "watch",
        What::Watch { end, .. } if end.is_quiet() => "watch quiet",
        What::Watch { end, .. } if end.is_lost() => "watch lost",
        What::Watch { .. } => "watch struck",
        What::Pass(_, pass) if pass.error.is_some() || pass.crashed => "pass failed",
        What::Pass(..) => "pass",
        What::Request { outcome: Err(_), .. } => "request refused",
        What::Request { .. } => "request",
        What::Started(_) => "started",
    }
}

fn body(pen: &mut Pen, layout: &Layout, item: &Item) {
    let (from, to) = layout.ends(item);
    let class = class(item);
    match &item.what {
        What::Did { .. } => {
            pen.arrow(class, from, to);
            pen.circle(class, from, 5.0);
        }
        What::Fault { .. } | What::Died(_) => pen.cross(class, from, 5.0),
        What::Started(_) => pen.circle(class, from, 4.5),
        What::Watch { end, .. } if end.is_lost() => {
            pen.line(class, from, to);
            pen.circle("cross-ground", to, 7.0);
            pen.cross(class, to, 4.5);
        }
        What::Watch { .. } | What::Request { .. } => pen.arrow(class, from, to),
        What::Pass(_, pass) => {
            pen.rect(class, (from.0 - 4.5, from.1), (9.0, (to.1 - from.1).max(4.0)));
            if pass.crashed {
                pen.cross("fault", to, 5.0);
            }
        }
    }
}

/// An item and all that led to it, over the drawing.
pub fn lit(diagram: &Diagram, layout: &Layout, index: usize) -> String {
    let mut pen = Pen::default();
    for (place, at) in diagram.chain(index).into_iter().enumerate() {
        let Some(item) = diagram.items.get(at) else { continue };
        body(&mut pen, layout, item);
        if place == 0 {
            let (from, to) = layout.ends(item);
            let (left, right) = (from.0.min(to.0) - 8.0, from.0.max(to.0) + 8.0);
            pen.rect("ring-around", (left, from.1 - 7.0), (right - left, to.1 - from.1 + 14.0));
        }
    }
    pen.0
}
