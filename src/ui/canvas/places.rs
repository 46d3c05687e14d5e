//! Where the circuit's parts stand, measured once per layout.

use leptos::prelude::*;
use web_sys::{CanvasRenderingContext2d, Element, HtmlCanvasElement, HtmlElement};

use crate::ui::dom;
use crate::ui::words;
use crate::view::LoopId;

/// The places of one loop, in CSS pixels of the canvas.
#[derive(Clone, Copy, Debug)]
pub struct LoopPlace {
    /// The wire on which watch events fall.
    pub down_x: f64,
    /// The wire on which requests rise.
    pub up_x: f64,
    /// Where the door is.
    pub door_y: f64,
    /// The ring.
    pub ring: (f64, f64),
    /// Its radius, to the middle of the stroke.
    pub radius: f64,
}

/// All places.
#[derive(Clone, Debug)]
pub struct Places {
    /// Of the canvas.
    pub width: f64,
    /// Of the canvas.
    pub height: f64,
    /// A sixteenth of the type size: 1 for ordinary type, 1.6 in presenter mode.
    pub unit: f64,
    loops: Vec<(LoopId, LoopPlace)>,
}

/// Wires stand so far from the middle of their column.
const WIRE_ASIDE: f64 = 7.0;
/// The ring's radius as a share of its drawing's width: `lane::loops` draws 28 of 64.
const RING_SHARE: f64 = 28.0 / 64.0;

impl Places {
    /// Measures, and gives the canvas as many pixels as the screen has.
    pub fn measure(
        circuit: &HtmlElement,
        canvas: &HtmlCanvasElement,
        context: &CanvasRenderingContext2d,
    ) -> Option<Places> {
        let frame = circuit.get_bounding_client_rect();
        let (width, height) = (frame.width(), frame.height());
        if width < 1.0 || height < 1.0 {
            return None;
        }
        let ratio = window().device_pixel_ratio().clamp(1.0, 3.0);
        canvas.set_width((width * ratio).round() as u32);
        canvas.set_height((height * ratio).round() as u32);
        context.set_transform(ratio, 0.0, 0.0, ratio, 0.0, 0.0).ok()?;
        let unit = dom::rem() / 16.0;
        let place = |id: &LoopId| {
            let name = words::loop_name(*id);
            let column = find(circuit, &format!("[data-loop='{name}']"))?;
            let ring = find(&column, ".ring")?.get_bounding_client_rect();
            let door = find(&column, ".door")?.get_bounding_client_rect();
            let x = ring.left() + ring.width() / 2.0 - frame.left();
            let place = LoopPlace {
                down_x: x - WIRE_ASIDE * unit,
                up_x: x + WIRE_ASIDE * unit,
                door_y: door.top() - frame.top(),
                ring: (x, ring.top() + ring.height() / 2.0 - frame.top()),
                radius: ring.width() * RING_SHARE,
            };
            Some((*id, place))
        };
        Some(Places { width, height, unit, loops: LoopId::ALL.iter().filter_map(place).collect() })
    }

    /// Where the wires end.
    pub fn door_y(&self) -> Option<f64> {
        self.loops.first().map(|(_, place)| place.door_y)
    }

    /// Of one loop; nothing if this lane does not draw it.
    pub fn of(&self, id: LoopId) -> Option<&LoopPlace> {
        let found = self.loops.iter().find(|(other, _)| *other == id);
        found.map(|(_, place)| place)
    }
}

fn find(parent: &Element, selector: &str) -> Option<Element> {
    parent.query_selector(selector).ok().flatten()
}
