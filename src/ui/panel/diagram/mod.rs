//! The run as a space-time diagram: a column for each component, time downwards, messages as
//! arrows. It is walked with the arrow keys from cause to effect, and leads the stage to a moment.

mod draw;
mod filters;
mod list;
mod say;

use std::sync::Arc;
use std::time::Duration;

use leptos::ev::{KeyboardEvent, MouseEvent};
use leptos::html::Div;
use leptos::prelude::*;

use crate::ui::dom;
use crate::ui::format;
use crate::ui::i18n::tr;
use crate::ui::state::{Page, Tab};
use crate::ui::words;
use crate::view::LaneId;
use crate::view::spacetime::layout::{Layout, Room};
use crate::view::spacetime::{Ask, Diagram, Focus, Item, ItemId, Step, What};

/// Pixels of a shown millisecond, from far to near.
const SCALES: [f64; 5] = [0.018, 0.035, 0.06, 0.1, 0.17];
/// A column is not narrower, in sixteenths of the type size.
const COLUMN_MIN: f64 = 44.0;
/// Where the page is narrower than this, one lane is drawn at a time.
const NARROW: &str = "(max-width: 34rem)";

/// An item by its lane and identity.
type Which = (LaneId, ItemId);

/// The diagram with all that chooses and lights it.
#[derive(Clone, Copy)]
struct Sheet {
    page: Page,
    focus: Memo<Focus>,
    lane: RwSignal<Option<LaneId>>,
    within: RwSignal<Option<Duration>>,
    idle: RwSignal<bool>,
    every_event: RwSignal<bool>,
    scale: RwSignal<usize>,
    large: RwSignal<bool>,
    narrow: RwSignal<bool>,
    width: RwSignal<f64>,
    diagram: Memo<Arc<Diagram>>,
    layout: Memo<Arc<Layout>>,
    chosen: RwSignal<Option<Which>>,
    hovered: RwSignal<Option<Which>>,
    scroller: NodeRef<Div>,
}

#[component]
pub fn SpaceTime() -> impl IntoView {
    let page = Page::get();
    let sheet = Sheet::new(page);
    Effect::new(move || {
        let large = sheet.large.get() && sheet.is_shown();
        if large { dom::mark("diagram", "large") } else { dom::unmark("diagram") }
    });
    dom::on_media(NARROW, move |narrow| sheet.narrow.set(narrow));
    let empty = move || sheet.diagram.with(|diagram| diagram.items.is_empty());
    let left_out = move || {
        let line = |text: String| view! { <p class="hint-text">{text}</p> }.into_any();
        let (passes, events) =
            sheet.diagram.with(|diagram| (diagram.left_out, diagram.events_left_out));
        let passes = (passes > 0).then(|| line(tr!(diagram.left_out, n = passes)));
        (passes, (events > 0).then(|| line(tr!(diagram.events_left_out, n = events))))
    };
    view! {
        <div class="diagram">
            {filters::filters(sheet)}
            {list::differences(sheet)}
            <Show when=empty>
                <p class="hint-text">{move || tr!(diagram.empty)}</p>
            </Show>
            {drawing(sheet)}
            {said(sheet)}
            {left_out}
            {list::items(sheet)}
        </div>
    }
    .into_any()
}

impl Sheet {
    fn new(page: Page) -> Sheet {
        let lane = RwSignal::new(None);
        let (within, idle) = (RwSignal::new(None), RwSignal::new(false));
        let every_event = RwSignal::new(false);
        let narrow = RwSignal::new(dom::media(NARROW));
        let (scale, width) = (RwSignal::new(2_usize), RwSignal::new(340.0));
        let focus = Memo::new(move |before: Option<&Focus>| {
            // What is not looked at stays as it was.
            let hidden = page.tab.get() != Tab::Diagram;
            before.filter(|_| hidden).cloned().unwrap_or_else(|| wanted(page))
        });
        let diagram = Memo::new(move |_| {
            // What is not looked at is not built.
            if page.tab.get() != Tab::Diagram {
                return Arc::default();
            }
            page.run.story.track();
            let alone = narrow.get().then_some(LaneId::Level);
            let lane = page.run.only.get().or(lane.get()).or(alone);
            let (focus, within) = (focus.get(), within.get());
            let (idle, every_event) = (idle.get(), every_event.get());
            let ask = Ask { focus, lane, within, idle, every_event };
            Arc::new(page.run.diagram(&ask))
        });
        let layout = Memo::new(move |_| {
            page.redraw.track();
            let scale = SCALES.get(scale.get()).copied().unwrap_or(SCALES[2]);
            let room = Room { width: width.get(), column_min: COLUMN_MIN, scale };
            let shown = |at| page.run.shown_of(at);
            diagram.with(|diagram| Arc::new(Layout::of(diagram, room, &shown, &say::label)))
        });
        Sheet {
            page,
            focus,
            lane,
            within,
            idle,
            every_event,
            scale,
            large: RwSignal::new(false),
            narrow,
            width,
            diagram,
            layout,
            chosen: RwSignal::new(None),
            hovered: RwSignal::new(None),
            scroller: NodeRef::new(),
        }
    }

    fn is_shown(&self) -> bool {
        self.page.tab.get() == Tab::Diagram
    }

    fn is_of_pass(&self) -> bool {
        self.focus.with(|focus| matches!(focus, Focus::Pass(..)))
    }

    fn is_windowed(&self) -> bool {
        self.focus.with(|focus| matches!(focus, Focus::Everything | Focus::Object(_)))
    }

    /// The lane that is drawn alone, if one is.
    fn shown_lane(&self) -> Option<LaneId> {
        self.lane.get().or(self.narrow.get().then_some(LaneId::Level))
    }

    fn zoom(&self, by: isize) {
        let next = self.scale.get_untracked().checked_add_signed(by);
        if let Some(next) = next.filter(|next| *next < SCALES.len()) {
            self.scale.set(next);
        }
    }

    fn with_item<T>(
        &self,
        which: Option<Which>,
        f: impl Fn(&Diagram, usize, &Item) -> T,
    ) -> Option<T> {
        let (lane, id) = which?;
        self.diagram.with(|diagram| {
            let at = diagram.find(lane, id)?;
            Some(f(diagram, at, diagram.items.get(at)?))
        })
    }

    /// What is looked at: what is pointed at, else what was chosen.
    fn looked_at(&self) -> Option<Which> {
        self.hovered.get().or(self.chosen.get())
    }

    fn select_pass(&self, (lane, number): (LaneId, u64)) {
        self.select((lane, ItemId::Pass(number)));
        self.page.pick(lane, number);
    }

    /// Chooses an item and brings it into view.
    fn select(&self, which: Which) {
        self.chosen.set(Some(which));
        let place = untrack(|| {
            self.with_item(Some(which), |_, _, item| self.layout.with(|layout| layout.ends(item)))
        });
        let (Some(place), Some(scroller)) = (place, self.scroller.get_untracked()) else { return };
        let unit = dom::rem() / 16.0;
        let (x, y) = ((place.0.0 * unit) as i32, (place.0.1 * unit) as i32);
        let (wide, high) = (scroller.client_width(), scroller.client_height());
        if !(scroller.scroll_top() + 48..scroller.scroll_top() + high - 24).contains(&y) {
            scroller.set_scroll_top(y - high / 2);
        }
        if !(scroller.scroll_left()..scroller.scroll_left() + wide).contains(&x) {
            scroller.set_scroll_left(x - wide / 2);
        }
    }

    /// Leads the stage to an item's moment; a pass, or that of a request, is picked.
    fn go(&self, which: Which) {
        self.select(which);
        let found = untrack(|| {
            self.with_item(Some(which), |_, _, item| {
                let pass = match (&item.what, item.id) {
                    (What::Pass(_, pass), _) => Some(pass.number),
                    (_, ItemId::Request(number, _)) => Some(number),
                    _ => None,
                };
                (item.from.1, pass)
            })
        });
        let Some((at, pass)) = found else { return };
        if let Some(number) = pass {
            self.page.pick(which.0, number);
        }
        self.page.go(at);
    }
}

/// What is to be shown: what somebody chose and the run still has, else the first difference, else
/// everything.
fn wanted(page: Page) -> Focus {
    let differences = page.run.story.with(|story| story.divergences.len());
    match page.focus.get() {
        Some(Focus::Divergence(place)) if place < differences => Focus::Divergence(place),
        Some(Focus::Pass(lane, number)) if page.run.pass(lane, number).is_some() => {
            Focus::Pass(lane, number)
        }
        Some(Focus::Object(key)) if page.run.diagram_objects().contains(&key) => Focus::Object(key),
        Some(Focus::Everything) => Focus::Everything,
        _ if differences > 0 => Focus::Divergence(0),
        _ => Focus::Everything,
    }
}

/// The names of the columns over the drawing, in a box that scrolls both ways.
fn drawing(sheet: Sheet) -> AnyView {
    Effect::new(move || {
        if let Some(scroller) = sheet.scroller.get() {
            let measured = scroller.clone();
            let measure = move || {
                let width = f64::from(measured.client_width()) / (dom::rem() / 16.0);
                if width > 1.0 {
                    sheet.width.try_set(width);
                }
            };
            dom::on_resize(&scroller, measure);
        }
    });
    view! {
        <div
            class="diagram-scroll"
            node_ref=sheet.scroller
            role="application"
            tabindex="0"
            aria-label=move || tr!(diagram.keys)
            hidden=move || sheet.diagram.with(|diagram| diagram.items.is_empty())
            on:keydown=move |event| press(sheet, &event)
        >
            {names(sheet)}
            {picture(sheet)}
        </div>
    }
    .into_any()
}

/// The drawing, and over it what is lit up and where time stands.
fn picture(sheet: Sheet) -> AnyView {
    let page = sheet.page;
    let whole = move || {
        let (diagram, layout) = (sheet.diagram.get(), sheet.layout.get());
        page.run.story.with(|story| draw::whole(&diagram, &layout, &story.divergences))
    };
    let lit = move || {
        let lit = sheet.with_item(sheet.looked_at(), |diagram, at, _| {
            sheet.layout.with(|layout| draw::lit(diagram, layout, at))
        });
        lit.unwrap_or_default()
    };
    let now = Memo::new(move |_| {
        let now = page.run.clock.with(|clock| clock.now);
        sheet.layout.with(|layout| layout.axis.y(now))
    });
    keep_in_view(sheet, now);
    let size = move |f: fn(&Layout) -> f64| sheet.layout.with(|layout| f(layout));
    let rem = move |f: fn(&Layout) -> f64| format!("{:.3}rem", size(f) / 16.0);
    let view_box = move || format!("0 0 {:.1} {:.1}", size(|l| l.width), size(|l| l.height));
    let hover = move |event: web_sys::PointerEvent| {
        let found = under(sheet, &event);
        if sheet.hovered.get_untracked() != found {
            sheet.hovered.set(found);
        }
    };
    view! {
        <svg
            class:dim=move || sheet.looked_at().is_some()
            viewBox=view_box
            style:width=move || rem(|layout| layout.width)
            style:height=move || rem(|layout| layout.height)
            aria-hidden="true"
            on:pointermove=hover
            on:pointerleave=move |_| sheet.hovered.set(None)
            on:click=move |event| under(sheet, &event).into_iter().for_each(|it| sheet.go(it))
        >
            <g class="drawing" inner_html=whole></g>
            <g class="lit" inner_html=lit></g>
            <rect
                class="later"
                y=move || now.get().to_string()
                width=move || size(|layout| layout.width).to_string()
                height=move || (size(|layout| layout.height) - now.get()).max(0.0).to_string()
            ></rect>
            <line
                class="now"
                x2=move || size(|layout| layout.width).to_string()
                y1=move || now.get().to_string()
                y2=move || now.get().to_string()
            ></line>
        </svg>
    }
    .into_any()
}

/// The moment that is shown stays in view while time runs and after a jump.
fn keep_in_view(sheet: Sheet, now: Memo<f64>) {
    Effect::new(move || {
        let y = (now.get() * dom::rem() / 16.0) as i32;
        let (Some(scroller), None) = (sheet.scroller.get(), sheet.hovered.get_untracked()) else {
            return;
        };
        let (top, high) = (scroller.scroll_top(), scroller.client_height());
        if !(top..top + high - 32).contains(&y) {
            scroller.set_scroll_top(y - high / 2);
        }
    });
}

/// Over each column its name, over each lane's columns the lane's.
fn names(sheet: Sheet) -> AnyView {
    let heads = move || {
        let (diagram, layout) = (sheet.diagram.get(), sheet.layout.get());
        // Names side by side need a gap.
        let letters = ((layout.column - 6.0) / 7.3) as usize;
        let mut heads = vec![view! { <span class="unit">"s"</span> }.into_any()];
        for lane in &diagram.lanes {
            let (left, right) = layout.edges(*lane);
            let place =
                |x: f64, wide: f64| format!("left:{:.3}rem;width:{:.3}rem", x / 16.0, wide / 16.0);
            let style = place(left, right - left);
            heads.push(view! { <b style=style>{words::lane_word(*lane)}</b> }.into_any());
            for (column, of) in diagram.columns.iter().enumerate() {
                let x = layout.x(*lane, column) - layout.column / 2.0;
                let name = say::column(of, letters);
                let style = place(x, layout.column);
                heads.push(view! { <span style=style>{name}</span> }.into_any());
            }
        }
        heads
    };
    let width = move || format!("{:.3}rem", sheet.layout.with(|layout| layout.width) / 16.0);
    view! { <div class="diagram-head" style:width=width aria-hidden="true">{heads}</div> }
        .into_any()
}

/// What lies under the pointer.
fn under(sheet: Sheet, event: &MouseEvent) -> Option<Which> {
    use wasm_bindgen::JsCast;
    let target: web_sys::Element = event.current_target()?.dyn_into().ok()?;
    let frame = target.get_bounding_client_rect();
    let unit = dom::rem() / 16.0;
    let x = (f64::from(event.client_x()) - frame.left()) / unit;
    let y = (f64::from(event.client_y()) - frame.top()) / unit;
    let (diagram, layout) = (sheet.diagram.get_untracked(), sheet.layout.get_untracked());
    let item = diagram.items.get(layout.hit(&diagram, x, y)?)?;
    Some((item.lane, item.id))
}

/// The keys: up to the cause, down to the effect, left and right through time, Enter to the moment.
fn press(sheet: Sheet, event: &KeyboardEvent) {
    if event.ctrl_key() || event.meta_key() || event.alt_key() {
        return;
    }
    let diagram = sheet.diagram.get_untracked();
    let here = sheet.chosen.get_untracked().and_then(|(lane, id)| diagram.find(lane, id));
    let step = |step: Step| match here {
        Some(here) => diagram.step(here, step),
        // From nowhere, to what all this led to.
        None => diagram.items.iter().rposition(|item| matches!(item.what, What::Pass(..))),
    };
    let to = match event.key().as_str() {
        "ArrowUp" => step(Step::Cause),
        "ArrowDown" => step(Step::Effect),
        "ArrowLeft" => step(Step::Before),
        "ArrowRight" => step(Step::After),
        "Home" => Some(0),
        "End" => diagram.items.len().checked_sub(1),
        "Enter" => {
            sheet.chosen.get_untracked().into_iter().for_each(|which| sheet.go(which));
            None
        }
        "Escape" => {
            sheet.chosen.set(None);
            None
        }
        "+" | "=" => {
            sheet.zoom(1);
            None
        }
        "-" => {
            sheet.zoom(-1);
            None
        }
        _ => return,
    };
    event.prevent_default();
    sheet.hovered.set(None);
    if let Some(item) = to.and_then(|to| diagram.items.get(to)) {
        sheet.select((item.lane, item.id));
    }
}

/// The sentence of what is looked at.
fn said(sheet: Sheet) -> AnyView {
    let text = move || {
        let told = sheet.with_item(sheet.looked_at(), |diagram, _, item| {
            let lane = words::lane_word(item.lane);
            (format!("{} {lane}", format::clock(item.from.1)), say::sentence(diagram, item))
        });
        match told {
            Some((when, text)) => view! { <b class="mono">{when}</b>" "{text} }.into_any(),
            None => view! { <span class="muted">{tr!(diagram.hint)}</span> }.into_any(),
        }
    };
    view! { <p class="diagram-said" aria-live="polite">{text}</p> }.into_any()
}
