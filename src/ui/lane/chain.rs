//! The chain that led to the picked pass, drawn over its lane: from whoever acted to the board,
//! down the wire to a loop, up again with its request, and so on. Each link is a numbered mark that
//! can be pressed and walked to with the arrow keys.

use std::sync::Arc;

use leptos::html::Ol;
use leptos::prelude::*;
use web_sys::{DomRect, Element};

use crate::ui::chain::{self, Kind, Link};
use crate::ui::dom;
use crate::ui::i18n::tr;
use crate::ui::state::Page;
use crate::ui::words;
use crate::view::LoopId;

use super::Lane;

type Point = (f64, f64);

/// Where a link is drawn: its mark, and the line that leads to it.
#[derive(Clone, Debug, Default, PartialEq)]
struct Drawn {
    mark: Point,
    path: String,
}

#[component]
pub fn Chain(lane: Lane) -> impl IntoView {
    let page = Page::get();
    let all = chain::picked(page);
    let links = Memo::new(move |_| {
        let here = page.run.picked.get().is_some_and(|(of, _)| of == lane.id);
        if here { all.get() } else { Arc::default() }
    });
    let list = NodeRef::<Ol>::new();
    let drawn = RwSignal::new(Vec::<Drawn>::new());
    let measure = move || {
        let Some(list) = list.try_get_untracked().flatten() else { return };
        let places = list.parent_element().and_then(|own| Places::measure(&own));
        let found = links.with_untracked(|links| places.map(|places| places.draw(links)));
        let found = found.unwrap_or_default();
        // Marks that stay where they are keep the focus.
        if drawn.try_with_untracked(|old| *old != found) == Some(true) {
            drawn.set(found);
        }
    };
    let loops = lane.part(|stage| stage.loops.iter().map(|one| one.id).collect::<Vec<_>>());
    Effect::new(move || {
        links.track();
        loops.track();
        page.redraw.track();
        // Once the layout has settled.
        request_animation_frame(measure);
    });
    Effect::new(move || {
        if let Some(lane) = list.get().and_then(|list| list.parent_element()) {
            dom::on_resize(&lane, measure);
        }
    });
    let here = move |index: usize| {
        links.with(|links| links.len()).checked_sub(page.linked.get() + 1) == Some(index)
    };
    let paths = move || {
        let drawn = drawn.get().into_iter().enumerate();
        let path = move |(index, drawn): (usize, Drawn)| {
            view! { <path d=drawn.path class:here=move || here(index)></path> }.into_any()
        };
        drawn.map(path).collect_view()
    };
    let marks = move || {
        let (links, drawn) = (links.get(), drawn.get());
        let both = links.iter().cloned().zip(drawn).enumerate();
        both.map(|(index, (link, drawn))| mark(page, index, &link, drawn.mark, links.len()))
            .collect_view()
    };
    view! {
        <svg class="chain-lines" aria-hidden="true">{paths}</svg>
        <ol
            class="chain-marks"
            node_ref=list
            aria-label=move || tr!(why.chain)
            hidden=move || links.with(|links| links.is_empty())
            on:keydown=move |event| {
                let Some(list) = list.get_untracked() else { return };
                if dom::rove(&list, "button", &event.key()) {
                    event.prevent_default();
                } else if event.key() == "Escape" {
                    page.run.picked.set(None);
                }
            }
        >
            {marks}
        </ol>
    }
    .into_any()
}

/// A numbered mark.
fn mark(page: Page, index: usize, link: &Link, (x, y): Point, of: usize) -> AnyView {
    let back = of - 1 - index;
    let here = move || page.linked.get() == back;
    let class = match link.kind {
        Kind::Did => "did",
        Kind::Watch | Kind::Request => "watch",
        Kind::Queue => "queue",
        Kind::Pass(_) => "pass",
        Kind::Other | Kind::More => "other",
    };
    let (name, link) = (link.name(index + 1), link.clone());
    view! {
        <li style:left=format!("{x:.1}px") style:top=format!("{y:.1}px")>
            <button
                class=class
                class:here=here
                aria-current=move || if here() { "step" } else { "false" }
                tabindex=if back == 0 { "0" } else { "-1" }
                aria-label=name.clone()
                title=name
                on:focus=move |_| page.linked.set(back)
                on:click=move |_| {
                    page.linked.set(back);
                    link.go(page);
                }
            >
                {index + 1}
            </button>
        </li>
    }
    .into_any()
}

/// Where the lane's parts stand, in pixels from its corner.
struct Places {
    own: DomRect,
    lane: Element,
    board: DomRect,
    unit: f64,
}

/// Marks of the same place stand so far apart.
const APART: f64 = 22.0;
/// The wires stand so far from the middle of a column.
const WIRE_ASIDE: f64 = 7.0;

impl Places {
    fn measure(lane: &Element) -> Option<Places> {
        let board = find(lane, ".board")?.get_bounding_client_rect();
        let (own, unit) = (lane.get_bounding_client_rect(), dom::rem() / 16.0);
        (own.width() > 1.0).then(|| Places { own, lane: lane.clone(), board, unit })
    }

    /// A loop's middle, the top of its door and its ring: middle and radius.
    fn of_loop(&self, id: LoopId) -> Option<(f64, f64, f64, f64)> {
        let column = find(&self.lane, &format!("[data-loop='{}']", words::loop_name(id)))?;
        let ring = find(&column, ".ring")?.get_bounding_client_rect();
        let door = find(&column, ".door")?.get_bounding_client_rect();
        let x = ring.left() + ring.width() / 2.0 - self.own.left();
        let top = self.own.top();
        let middle = ring.top() + ring.height() / 2.0 - top;
        Some((x, door.top() - top, middle, ring.width() / 2.0))
    }

    fn draw(&self, links: &[Link]) -> Vec<Drawn> {
        let mut out: Vec<Drawn> = Vec::new();
        let mut at: Option<Point> = None;
        for (index, link) in links.iter().enumerate() {
            let next =
                links.get(index + 1..).unwrap_or_default().iter().find_map(|link| {
                    match link.kind {
                        Kind::Pass(id) => Some(id),
                        _ => None,
                    }
                });
            let (path, end, mark) = self.one(link.kind, next, at, index);
            out.push(Drawn { mark: self.free(mark, &out), path });
            at = end;
        }
        out
    }

    /// The line to a link, where it ends, and where its mark wants to stand.
    fn one(
        &self,
        kind: Kind,
        next: Option<LoopId>,
        from: Option<Point>,
        index: usize,
    ) -> (String, Option<Point>, Point) {
        let left = self.board.left() - self.own.left();
        let (top, foot) = (self.board.top() - self.own.top(), self.board.bottom() - self.own.top());
        let corner = (left, top + 12.0 * self.unit);
        let aside = WIRE_ASIDE * self.unit;
        match kind {
            Kind::Did => (String::new(), Some(corner), corner),
            Kind::Watch => {
                let Some((x, door, ..)) = next.and_then(|id| self.of_loop(id)) else {
                    return (String::new(), None, corner);
                };
                // Each change of columns has a level of its own between the board and the doors.
                let level = foot + (7.0 + 6.0 * (index / 2 % 5) as f64) * self.unit;
                let x = x - aside;
                let path = match from {
                    Some((fx, fy)) => format!("M{fx:.1} {fy:.1}V{level:.1}H{x:.1}V{door:.1}"),
                    None => format!("M{x:.1} {foot:.1}V{door:.1}"),
                };
                let mark = (x, (level + 16.0 * self.unit).min(door));
                (path, Some((x, door)), mark)
            }
            Kind::Pass(id) => {
                let Some((x, door, middle, radius)) = self.of_loop(id) else {
                    return (String::new(), None, corner);
                };
                // Its request leaves from the door up: no line over what the door and queue say.
                let rim = radius * 0.84;
                (String::new(), Some((x + aside, door)), (x - rim, middle - rim))
            }
            Kind::Queue => {
                let place = next.and_then(|id| self.of_loop(id));
                // Beside what the door says.
                let beside = |(x, door, _, radius)| (x - radius * 0.84, door);
                (String::new(), from, place.map_or(corner, beside))
            }
            Kind::Request => {
                let Some((fx, fy)) = from else { return (String::new(), None, corner) };
                let mark = (fx, (foot + fy) / 2.0);
                (format!("M{fx:.1} {fy:.1}V{foot:.1}"), Some((fx, foot)), mark)
            }
            Kind::Other | Kind::More => {
                let place = next.and_then(|id| self.of_loop(id));
                let mark = place.map_or(corner, |(x, _, middle, radius)| {
                    (x - radius * 0.84, middle + radius * 0.84)
                });
                (String::new(), None, mark)
            }
        }
    }

    /// The place itself, or the next free one beside it.
    fn free(&self, (x, y): Point, taken: &[Drawn]) -> Point {
        let apart = APART * self.unit;
        let is_free = |(x, y): Point| {
            taken.iter().all(|other| (other.mark.0 - x).hypot(other.mark.1 - y) >= apart)
        };
        let width = self.own.width();
        let steps = [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (0.0, 2.0), (1.0, 1.0), (2.0, 0.0)];
        let tries = steps.iter().flat_map(|(dx, dy)| {
            [(x + dx * apart, y + dy * apart), (x - dx * apart, y + dy * apart)]
        });
        let inside = |(x, _): &Point| (8.0..width - 8.0).contains(x);
        tries.filter(inside).find(|place| is_free(*place)).unwrap_or((x, y))
    }
}

fn find(parent: &Element, selector: &str) -> Option<Element> {
    parent.query_selector(selector).ok().flatten()
}
