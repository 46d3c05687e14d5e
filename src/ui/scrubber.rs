//! The whole run in one line: a band for each lane's verdict, marks for what happened, and the
//! moment that is shown, to be dragged.

use leptos::ev::{KeyboardEvent, PointerEvent};
use leptos::html::{Canvas, Div};
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::HtmlDivElement;

use crate::kernel::Time;
use crate::view::range::Range;

use super::canvas::Palette;
use super::canvas::track::{self, Scale, Sheet};
use super::dom;
use super::format;
use super::i18n::tr;
use super::state::Page;
use super::stretch;
use super::transport;

/// Who presses so near to a mark means the mark.
const NEAR_PX: f64 = 6.0;
/// Who moves no more than that still presses.
const STILL_PX: i32 = 4;

/// The scrubber.
#[component]
pub fn Scrubber() -> impl IntoView {
    let page = Page::get();
    let bar = NodeRef::<Div>::new();
    let canvas = NodeRef::<Canvas>::new();
    let scale = Memo::new(move |_| {
        // What is put off stands behind the end of the run.
        let ahead = page.run.story.with(|story| story.marks.last().map(|mark| mark.at));
        let end = page.run.clock.with(|clock| clock.end);
        Scale::of(page.run.place_of(ahead.map_or(end, |ahead| ahead.max(end))))
    });
    paint(page, bar, canvas, scale);
    let share = move || scale.get().share(page.run.clock.with(|clock| clock.shown)) * 100.0;
    let drag = RwSignal::new(Drag::No);
    let drawn = move || Some((page, scale.get_untracked(), bar.get_untracked()?));
    let moment = move |event: &PointerEvent| moment_at(drawn()?, event.client_x());
    let seek_to = move |event: &PointerEvent| {
        let Some(at) = moment(event) else { return };
        match drag.get_untracked() {
            Drag::No => {}
            // A finger does not stand still.
            Drag::Mark(x) if (event.client_x() - x).abs() <= STILL_PX => {}
            Drag::Mark(_) => drag.set(Drag::Moment),
            Drag::Moment => {
                page.go(at);
            }
            Drag::Stretch(from) => page.range.set(Range::between(from, at)),
            Drag::From => page.range.update(|range| *range = range.moved_from(at)),
            Drag::To => page.range.update(|range| *range = range.moved_to(at)),
        }
    };
    let press = move |event: PointerEvent| {
        capture(bar, &event);
        let begun = Drag::begun(&event, moment(&event));
        match drawn().and_then(|bar| mark_near(bar, event.client_x())) {
            Some(mark) if begun == Drag::Moment => {
                drag.set(Drag::Mark(event.client_x()));
                page.go(mark);
            }
            _ => {
                drag.set(begun);
                seek_to(&event);
            }
        }
    };
    view! {
        <div
            class="scrubber"
            node_ref=bar
            role="slider"
            tabindex="0"
            aria-label=move || tr!(transport.scrubber)
            aria-valuemin="0"
            aria-valuemax="100"
            aria-valuenow=move || format!("{:.0}", share())
            title=move || tr!(transport.scrubber_help)
            aria-valuetext=move || spoken(page)
            on:pointerdown=press
            on:pointermove=move |event| seek_to(&event)
            on:pointerup=move |_| drag.set(Drag::No)
            on:pointercancel=move |_| drag.set(Drag::No)
            on:keydown=move |event| keys(page, &event)
        >
            <canvas node_ref=canvas aria-hidden="true"></canvas>
            {stretch(page, scale)}
            <span class="thumb" style:left=move || format!("{:.3}%", share())></span>
        </div>
    }
    .into_any()
}

fn capture(bar: NodeRef<Div>, event: &PointerEvent) {
    if let Some(element) = bar.get_untracked() {
        // Without it the drag ends at the bar's edge, nothing worse.
        let _ = element.set_pointer_capture(event.pointer_id());
    }
}

/// What a pressed pointer moves.
#[derive(Clone, Copy, PartialEq)]
enum Drag {
    No,
    /// The moment that is shown.
    Moment,
    /// Nothing yet: the bar was pressed at a mark, at this place of the screen.
    Mark(i32),
    /// The other end of a stretch that begins there.
    Stretch(Time),
    /// A.
    From,
    /// B.
    To,
}

impl Drag {
    /// By what was pressed: an end of the stretch, or the bar at a moment, with Shift or without.
    fn begun(event: &PointerEvent, at: Option<Time>) -> Drag {
        let target = event.target().and_then(|to| to.dyn_into::<web_sys::Element>().ok());
        let on = |class| target.as_ref().is_some_and(|to| to.class_list().contains(class));
        match at {
            Some(at) if event.shift_key() => Drag::Stretch(at),
            _ if on("from") => Drag::From,
            _ if on("to") => Drag::To,
            _ => Drag::Moment,
        }
    }
}

/// The bar as it is drawn.
type Bar = (Page, Scale, HtmlDivElement);

/// The moment at a place of the screen.
fn moment_at((page, scale, bar): Bar, x: i32) -> Option<Time> {
    let frame = bar.get_bounding_client_rect();
    let share = (f64::from(x) - frame.left()) / frame.width().max(1.0);
    Some(page.run.time_of(scale.shown(share.clamp(0.0, 1.0))))
}

/// The moment of the mark that is nearest to a place of the screen, if one is near enough.
fn mark_near((page, scale, bar): Bar, x: i32) -> Option<Time> {
    let frame = bar.get_bounding_client_rect();
    let away = |at: Time| {
        let place = frame.left() + scale.share(page.run.shown_of(at)) * frame.width();
        (place - f64::from(x)).abs()
    };
    let marks = transport::marked(page).into_iter().map(|at| (away(at), at));
    let near = marks.filter(|(away, _)| *away <= NEAR_PX);
    near.min_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, at)| at)
}

/// The moment, the wait it lies in and the stretch that is played, for ears.
fn spoken(page: Page) -> String {
    let (now, gap) = page.run.clock.with(|clock| (clock.now, clock.gap));
    let wait = gap.map(|gap| tr!(transport.waits, span = format::span(gap)));
    let stretch = stretch::words(page.range.get());
    let parts = [Some(format::clock(now)), wait, stretch];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// A, B and what lies between them.
fn stretch(page: Page, scale: Memo<Scale>) -> AnyView {
    let place = move |at: Time| {
        page.run.clock.track();
        scale.get().share(page.run.shown_of(at)) * 100.0
    };
    let left = move || page.range.get().from.map_or(0.0, place);
    let right = move || page.range.get().to.map_or(100.0, place);
    let point = move |class: &'static str, name: &'static str, at: fn(Range) -> Option<Time>| {
        move || {
            let at = at(page.range.get())?;
            let left = move || format!("{:.3}%", place(at));
            Some(view! { <span class=class style:left=left aria-hidden="true">{name}</span> })
        }
    };
    view! {
        <span
            class="stretch"
            hidden=move || page.range.get().is_empty()
            style:left=move || format!("{:.3}%", left())
            style:width=move || format!("{:.3}%", (right() - left()).max(0.0))
        ></span>
        {point("point from", "A", |range| range.from)}
        {point("point to", "B", |range| range.to)}
    }
    .into_any()
}

/// Paints the line whenever the run, the size or the colours have changed.
fn paint(page: Page, bar: NodeRef<Div>, canvas: NodeRef<Canvas>, scale: Memo<Scale>) {
    // Measured when it changes: to ask at each drawing would lay out the whole page each time.
    let sheet = RwSignal::new(Sheet::default());
    let palette = RwSignal::new(Palette::default());
    Effect::new(move || {
        page.redraw.track();
        palette.set(Palette::read());
    });
    Effect::new(move || {
        if let Some(bar) = bar.get() {
            let measured = bar.clone();
            dom::on_resize(&bar, move || {
                sheet.try_set(Sheet::measure(&measured));
            });
        }
    });
    // Setting a canvas' font works out the style of the whole page, which the frame does anyway.
    let asked = StoredValue::new(false);
    let draw = move || {
        asked.try_set_value(false);
        let Some(Some(canvas)) = canvas.try_get_untracked() else { return };
        let (sheet, scale) = (sheet.get_untracked(), scale.get_untracked());
        let place = |at| page.run.place_of(at);
        page.run.story.with_untracked(|story| {
            palette.with_untracked(|own| track::draw(&canvas, sheet, own, scale, story, place));
        });
    };
    Effect::new(move || {
        page.run.story.track();
        sheet.track();
        palette.track();
        scale.track();
        canvas.track();
        if !asked.get_value() {
            asked.set_value(true);
            request_animation_frame(draw);
        }
    });
}

/// Page keys jump ten passes; the other keys do what they do everywhere.
fn keys(page: Page, event: &KeyboardEvent) {
    let forward = match event.key().as_str() {
        "PageDown" | "ArrowUp" => true,
        "PageUp" | "ArrowDown" => false,
        _ => return,
    };
    event.prevent_default();
    let times = if event.key().starts_with("Page") { 10 } else { 1 };
    page.playing.set(false);
    for _ in 0..times {
        page.run.step(forward);
    }
}
