//! Messages on the wires: watch events fall, requests rise, answers come back down. Their shapes
//! differ as well as their colours.

use crate::apiserver::WatchEventType;
use crate::kernel::Time;
use crate::ui::format;
use crate::ui::words;
use crate::view::{Fate, Flight, FlightKind, Stage};

use super::labels::{Busy, Rect, Sides};
use super::{Brush, Hit};

/// A message and where it is.
struct Dot<'a> {
    flight: &'a Flight,
    x: f64,
    y: f64,
    /// Messages drawn as this one, because they are too close to be told apart.
    bundle: u32,
}

const FLIES_MS: f64 = 450.0;
const RADIUS: f64 = 6.5;
const TAIL: f64 = 30.0;
/// Closer than this on one wire, messages become a bundle.
const BUNDLE: f64 = 9.0;
/// Shown at most; more are bundles already.
const LABELS: usize = 6;

pub(super) fn draw(
    brush: &Brush,
    stage: &Stage,
    busy: &mut Busy,
    sides: &mut Sides,
    hits: &mut Vec<Hit>,
) {
    let dots = bundle(stage.flights.iter().filter_map(|flight| place(brush, flight)));
    for dot in &dots {
        tail(brush, dot);
        body(brush, dot);
        hits.push(Hit { flight: dot.flight.id, x: dot.x, y: dot.y });
        let room = (RADIUS + 2.0) * brush.places.unit;
        busy.take(Rect { x: dot.x - room, y: dot.y - room, width: 2.0 * room, height: 2.0 * room });
    }
    // What stands below the wires is not to be written over.
    if let Some(door) = brush.places.door_y() {
        let (width, height) = (brush.places.width, brush.places.height - door);
        busy.take(Rect { x: 0.0, y: door, width, height });
    }
    sides.turn();
    labels(brush, &dots, busy, sides);
}

fn place<'a>(brush: &Brush, flight: &'a Flight) -> Option<Dot<'a>> {
    let place = brush.places.of(flight.lane_loop)?;
    let from = brush.run.shown_of(flight.sent);
    let done = if flight.arrives == Time::MAX {
        // It comes to where it stands as fast as any, and stays there.
        stands_at(flight.fate) * ease(brush.between(from, from + FLIES_MS))
    } else {
        ease(brush.between(from, brush.run.shown_of(flight.arrives)))
    };
    let top = 8.0 * brush.places.unit;
    let foot = place.ring.1 - place.radius;
    let (x, y) = match flight.what {
        FlightKind::Watch(_) => (place.down_x, top + (place.door_y - top) * done),
        FlightKind::Request(_) => (place.up_x, foot + (top - foot) * done),
        FlightKind::Answer(..) => (place.up_x, top + (foot - top) * done),
    };
    Some(Dot { flight, x, y, bundle: 1 })
}

/// How far a message has come that moves on only when somebody says so.
fn stands_at(fate: Fate) -> f64 {
    match fate {
        Fate::HeldAtDoor => 0.94,
        Fate::Behind => 0.3,
        _ => 0.55,
    }
}

/// Slow at both ends: a message leaves and arrives, it is not thrown.
fn ease(t: f64) -> f64 {
    t * t * (3.0 - 2.0 * t)
}

fn bundle<'a>(dots: impl Iterator<Item = Dot<'a>>) -> Vec<Dot<'a>> {
    let mut out: Vec<Dot> = Vec::new();
    for dot in dots {
        let same = out.iter_mut().find(|other| {
            other.x == dot.x
                && (other.y - dot.y).abs() < BUNDLE
                && other.flight.what == dot.flight.what
        });
        match same {
            Some(other) => other.bundle += 1,
            None => out.push(dot),
        }
    }
    out
}

fn color<'a>(brush: &'a Brush, flight: &Flight) -> &'a str {
    let palette = brush.palette;
    match (flight.fate, flight.what) {
        (Fate::DroppedAtDoor | Fate::DroppedOnWire, _) => &palette.trouble,
        (Fate::Delayed | Fate::Swapped | Fate::HeldAtDoor | Fate::HeldOnWire | Fate::Behind, _) => {
            &palette.warn
        }
        (_, FlightKind::Answer(_, Some(_))) => &palette.trouble,
        (_, FlightKind::Answer(_, None)) => &palette.muted,
        (_, FlightKind::Request(_)) => &palette.desired,
        (_, FlightKind::Watch(_)) => &palette.observed,
    }
}

/// The way it has come, fading.
fn tail(brush: &Brush, dot: &Dot) {
    let unit = brush.places.unit;
    let up = matches!(dot.flight.what, FlightKind::Request(_));
    let back = if up { TAIL } else { -TAIL } * unit;
    let color = color(brush, dot.flight);
    let context = brush.context;
    if dot.flight.fate == Fate::DroppedOnWire {
        dashes(brush, &[3.0, 4.0]);
    }
    for (share, alpha) in [(1.0, 0.18), (0.66, 0.3), (0.33, 0.5)] {
        context.set_global_alpha(alpha);
        brush.stroke(color, 2.5 * unit);
        brush.line(&[(dot.x, dot.y + back * share), (dot.x, dot.y)]);
    }
    context.set_global_alpha(1.0);
    dashes(brush, &[]);
}

fn dashes(brush: &Brush, lengths: &[f64]) {
    let list = js_sys::Array::new();
    for length in lengths {
        list.push(&(length * brush.places.unit).into());
    }
    let _ = brush.context.set_line_dash(&list);
}

fn body(brush: &Brush, dot: &Dot) {
    let color = color(brush, dot.flight);
    match dot.flight.what {
        FlightKind::Request(_) => arrow(brush, dot, color, -1.0, true),
        FlightKind::Answer(_, refused) => arrow(brush, dot, color, 1.0, refused.is_some()),
        FlightKind::Watch(event) => disc(brush, dot, color, event),
    }
    if dot.bundle > 1 {
        count(brush, dot, color);
    }
}

/// A watch event: a disc with the sign of what happened.
fn disc(brush: &Brush, dot: &Dot, color: &str, event: WatchEventType) {
    let unit = brush.places.unit;
    let radius = RADIUS * unit;
    // A rim of the ground lifts it off the wire.
    brush.fill(&brush.palette.surface);
    brush.circle(dot.x, dot.y, radius + 1.5 * unit);
    brush.context.fill();
    if is_doomed(dot.flight.fate) {
        brush.stroke(color, 2.0 * unit);
        brush.circle(dot.x, dot.y, radius - unit);
        brush.context.stroke();
        brush.stroke(color, 1.8 * unit);
    } else {
        brush.fill(color);
        brush.circle(dot.x, dot.y, radius);
        brush.context.fill();
        brush.stroke(&brush.palette.on_accent, 1.8 * unit);
    }
    sign(brush, dot, event);
    if dot.flight.fate.is_held() {
        held(brush, dot, color);
    }
    if dot.flight.fate == Fate::Doubled {
        brush.stroke(color, 1.5 * unit);
        brush.circle(dot.x, dot.y, radius + 3.0 * unit);
        brush.context.stroke();
    }
}

/// Two bars beside it, as on a key that stops a tape.
fn held(brush: &Brush, dot: &Dot, color: &str) {
    let unit = brush.places.unit;
    brush.stroke(color, 2.0 * unit);
    for away in [11.0, 15.0] {
        let x = dot.x - away * unit;
        brush.line(&[(x, dot.y - 5.0 * unit), (x, dot.y + 5.0 * unit)]);
    }
}

fn sign(brush: &Brush, dot: &Dot, event: WatchEventType) {
    let arm = 3.2 * brush.places.unit;
    let (x, y) = (dot.x, dot.y);
    match event {
        WatchEventType::Added => {
            brush.line(&[(x - arm, y), (x + arm, y)]);
            brush.line(&[(x, y - arm), (x, y + arm)]);
        }
        WatchEventType::Deleted => brush.line(&[(x - arm, y), (x + arm, y)]),
        WatchEventType::Modified => brush.line(&[
            (x - arm, y + arm * 0.35),
            (x - arm * 0.4, y - arm * 0.4),
            (x + arm * 0.4, y + arm * 0.4),
            (x + arm, y - arm * 0.35),
        ]),
        WatchEventType::Bookmark => {}
    }
}

/// A request or an answer: an arrow head.
fn arrow(brush: &Brush, dot: &Dot, color: &str, way: f64, filled: bool) {
    let size = RADIUS * brush.places.unit;
    let context = brush.context;
    context.begin_path();
    context.move_to(dot.x, dot.y + way * size * 1.25);
    context.line_to(dot.x - size, dot.y - way * size * 0.6);
    context.line_to(dot.x + size, dot.y - way * size * 0.6);
    context.close_path();
    brush.fill(if filled { color } else { &brush.palette.surface });
    context.fill();
    brush.stroke(color, 1.6 * brush.places.unit);
    context.stroke();
}

fn count(brush: &Brush, dot: &Dot, color: &str) {
    let unit = brush.places.unit;
    font(brush, true);
    brush.fill(color);
    brush.context.set_text_align("right");
    let text = format!("×{}", dot.bundle);
    let _ = brush.context.fill_text(&text, dot.x - 11.0 * unit, dot.y + 4.0 * unit);
}

/// Whether a message will be lost.
pub(super) fn is_doomed(fate: Fate) -> bool {
    matches!(fate, Fate::DroppedAtDoor | Fate::DroppedOnWire)
}

pub(super) fn font(brush: &Brush, bold: bool) {
    // To set it works out the style of the page.
    if brush.bold.replace(Some(bold)) == Some(bold) {
        return;
    }
    let size = 12.0 * brush.places.unit;
    let weight = if bold { 650 } else { 400 };
    let family = &brush.palette.mono;
    brush.context.set_font(&format!("{weight} {size}px {family}"));
}

/// One label for all messages that tell the same of the same object at the same time: a change fans
/// out to every loop that watches.
fn labels(brush: &Brush, dots: &[Dot], busy: &mut Busy, sides: &mut Sides) {
    let mut told: Vec<(FlightKind, &crate::api::ObjectKey, u64)> = Vec::new();
    for dot in dots {
        let flight = dot.flight;
        let moment = brush.run.shown_of(flight.sent) as u64 / 250;
        let known = told.iter().any(|(what, object, at)| {
            *what == flight.what && **object == flight.object && at.abs_diff(moment) <= 1
        });
        if known || told.len() >= LABELS {
            continue;
        }
        told.push((flight.what, &flight.object, moment));
        let fan: Vec<&Dot> = dots
            .iter()
            .filter(|other| {
                other.flight.what == flight.what && other.flight.object == flight.object
            })
            .collect();
        label(brush, &fan, busy, sides);
    }
}

fn label(brush: &Brush, fan: &[&Dot], busy: &mut Busy, sides: &mut Sides) {
    let unit = brush.places.unit;
    let flight = fan[0].flight;
    let lines = [words::flight_kind(flight.what), format::short(&flight.object.name, 20)];
    font(brush, true);
    let width = lines.iter().map(|line| measure(brush, line)).fold(0.0, f64::max);
    let (width, height) = (width + 8.0 * unit, 31.0 * unit);
    let beside = 12.0 * unit;
    let lowest = brush.places.door_y().unwrap_or(brush.places.height) - height - unit;
    if lowest < 0.0 {
        // Large type on a low stage: the wires are shorter than a label.
        return;
    }
    let rect = |x: f64, y: f64| Rect { x, y: (y - height / 2.0).clamp(0.0, lowest), width, height };
    let mut candidates = Vec::with_capacity(fan.len() * 2);
    let last = fan.iter().max_by(|a, b| a.x.total_cmp(&b.x));
    let first = fan.iter().min_by(|a, b| a.x.total_cmp(&b.x));
    for dot in last.into_iter().chain(fan.iter()) {
        candidates.push(rect(dot.x + beside, dot.y));
    }
    for dot in first.into_iter().chain(fan.iter()) {
        candidates.push(rect(dot.x - beside - width, dot.y));
    }
    let bounds = (brush.places.width, brush.places.height);
    if let Some(place) = busy.settle(&candidates, flight.id, sides, bounds) {
        write(brush, place, &lines, color(brush, flight));
    }
}

pub(super) fn measure(brush: &Brush, text: &str) -> f64 {
    let measured = brush.context.measure_text(text);
    measured.map_or(0.0, |measured| measured.width())
}

pub(super) fn write(brush: &Brush, place: Rect, lines: &[String; 2], color: &str) {
    let unit = brush.places.unit;
    let context = brush.context;
    context.set_global_alpha(0.86);
    brush.fill(&brush.palette.surface);
    context.fill_rect(place.x, place.y, place.width, place.height);
    context.set_global_alpha(1.0);
    context.set_text_align("left");
    font(brush, true);
    brush.fill(color);
    let x = place.x + 3.0 * unit;
    let _ = context.fill_text(&lines[0], x, place.y + 12.5 * unit);
    font(brush, false);
    brush.fill(&brush.palette.muted);
    let _ = context.fill_text(&lines[1], x, place.y + 26.5 * unit);
}
