//! Where a fault struck a message: a cross at the door of its loop, for a while.

use leptos::prelude::GetUntracked;

use crate::ui::bridge::LaneId;
use crate::ui::format;
use crate::ui::i18n::tr;
use crate::view::{Happening, Stage};

use super::Brush;
use super::flights::{self, is_doomed};
use super::labels::{Busy, Rect, Sides};

const STAYS_MS: f64 = 2600.0;
const FADES_MS: f64 = 500.0;
const LOOKED_AT: usize = 40;

pub(super) fn draw(brush: &Brush, stage: &Stage, lane: LaneId, busy: &mut Busy) {
    let story = brush.run.story.get_untracked();
    for line in story.log.iter().rev().take(LOOKED_AT) {
        let Happening::Struck { to, event, object, how } = &line.what else {
            continue;
        };
        let at = brush.run.shown_of(line.at);
        let age = brush.shown - at;
        let here = line.lane.is_none_or(|own| own == lane);
        if !here || &**how != "drop" || !(0.0..STAYS_MS).contains(&age) {
            continue;
        }
        let Some(place) = brush.places.of(*to) else {
            continue;
        };
        // A message is struck when it leaves; the cross comes when it should have arrived.
        let flies = stage.flights.iter().any(|flight| {
            flight.lane_loop == *to && flight.object == *object && is_doomed(flight.fate)
        });
        if flies {
            continue;
        }
        let fading = ((STAYS_MS - age) / FADES_MS).min(1.0);
        brush.context.set_global_alpha(fading);
        let center = (place.down_x, place.door_y - 19.0 * brush.places.unit);
        cross(brush, center);
        let lines = [
            format!("{event} {}", format::short(&object.name, 8)),
            tr!(fate.struck, at = format::clock(line.at)),
        ];
        beside(brush, center, &lines, busy);
        brush.context.set_global_alpha(1.0);
    }
}

fn cross(brush: &Brush, (x, y): (f64, f64)) {
    let unit = brush.places.unit;
    let arm = 3.6 * unit;
    brush.fill(&brush.palette.surface);
    brush.circle(x, y, 9.0 * unit);
    brush.context.fill();
    brush.stroke(&brush.palette.trouble, 2.0 * unit);
    brush.context.stroke();
    brush.line(&[(x - arm, y - arm), (x + arm, y + arm)]);
    brush.line(&[(x + arm, y - arm), (x - arm, y + arm)]);
}

fn beside(brush: &Brush, (x, y): (f64, f64), lines: &[String; 2], busy: &mut Busy) {
    let unit = brush.places.unit;
    flights::font(brush, true);
    let width =
        lines.iter().map(|line| flights::measure(brush, line)).fold(0.0, f64::max) + 8.0 * unit;
    let height = 31.0 * unit;
    let rect = |x: f64, y: f64| Rect { x, y: y - height / 2.0, width, height };
    let candidates = [
        rect(x + 13.0 * unit, y),
        rect(x - 13.0 * unit - width, y),
        rect(x + 13.0 * unit, y - height),
        rect(x - 13.0 * unit - width, y - height),
    ];
    let bounds = (brush.places.width, brush.places.height);
    if let Some(place) = busy.settle(&candidates, 0, &mut Sides::default(), bounds) {
        flights::write(brush, place, lines, &brush.palette.trouble);
    }
}
