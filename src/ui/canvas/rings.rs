//! The three arcs of a pass, one after another: observe, compare, act. Around them, the time until
//! the loop looks again by itself closes as a thin arc.

use std::f64::consts::{FRAC_PI_2, TAU};

use crate::view::{LoopView, PassView, Stage};

use super::Brush;
use super::places::LoopPlace;

/// Half of the room between two arcs, in radians: as `ring.rs` draws it.
const GAP: f64 = 0.16;
/// How long a finished pass stays lit, in display milliseconds.
const AFTERGLOW_MS: f64 = 1600.0;
const AFTERGLOW: f64 = 0.5;

pub(super) fn draw(brush: &Brush, stage: &Stage, still: bool) {
    for view in &stage.loops {
        let Some(place) = brush.places.of(view.id) else {
            continue;
        };
        if !view.alive {
            continue;
        }
        if let Some(pass) = &view.pass {
            arcs(brush, place, pass, still);
        } else if let Some(pass) = &view.last {
            afterglow(brush, place, pass);
        }
        due(brush, place, view);
    }
    brush.context.set_global_alpha(1.0);
}

/// The three arcs, each as far as it has come.
fn arcs(brush: &Brush, place: &LoopPlace, pass: &PassView, still: bool) {
    let from = brush.run.shown_of(pass.started);
    let to = brush.run.shown_of(pass.decided);
    let done = if still { 1.0 } else { brush.between(from, to) };
    for third in 0..3 {
        let share = (done * 3.0 - f64::from(third)).clamp(0.0, 1.0);
        // What lights up now is bright, what is behind a little less.
        let behind = share >= 1.0 && done < 1.0;
        brush.context.set_global_alpha(if behind { 0.72 } else { 1.0 });
        arc(brush, place, third, share, color(brush, third, pass));
    }
}

fn afterglow(brush: &Brush, place: &LoopPlace, pass: &PassView) {
    let ended = brush.run.shown_of(pass.ended.unwrap_or(pass.decided));
    let faded = brush.between(ended, ended + AFTERGLOW_MS);
    if brush.shown < ended || faded >= 1.0 {
        return;
    }
    brush.context.set_global_alpha(AFTERGLOW * (1.0 - faded * faded));
    for third in 0..3 {
        arc(brush, place, third, 1.0, color(brush, third, pass));
    }
}

fn color<'a>(brush: &'a Brush, third: u32, pass: &PassView) -> &'a str {
    let palette = brush.palette;
    match third {
        2 if pass.crashed || pass.error.is_some() => &palette.trouble,
        0 => &palette.observed,
        1 => &palette.desired,
        _ => &palette.ink,
    }
}

fn arc(brush: &Brush, place: &LoopPlace, third: u32, share: f64, color: &str) {
    if share <= 0.0 {
        return;
    }
    let from = -FRAC_PI_2 + f64::from(third) * TAU / 3.0 + GAP;
    let to = from + (TAU / 3.0 - 2.0 * GAP) * share;
    brush.stroke(color, 6.0 * place.radius / 28.0);
    brush.context.set_line_cap("round");
    brush.context.begin_path();
    let (x, y) = place.ring;
    let _ = brush.context.arc(x, y, place.radius, from, to);
    brush.context.stroke();
}

/// The wait for a retry or a timer of the loop's own.
fn due(brush: &Brush, place: &LoopPlace, view: &LoopView) {
    let Some(due) = view.due.first().filter(|due| due.back_off) else {
        return;
    };
    let set = view.last.as_ref().and_then(|pass| pass.ended);
    let from = set.map_or(0.0, |at| brush.run.shown_of(at));
    let to = brush.run.shown_of(due.at);
    if to <= from {
        return;
    }
    let closed = brush.between(from, to);
    brush.context.set_global_alpha(1.0);
    brush.stroke(&brush.palette.warn, 2.0 * brush.places.unit);
    brush.context.begin_path();
    let (x, y) = place.ring;
    let radius = place.radius + 6.0 * brush.places.unit;
    let _ = brush.context.arc(x, y, radius, -FRAC_PI_2, -FRAC_PI_2 + TAU * closed);
    brush.context.stroke();
}
