//! The whole run in one line: a band for each lane's verdict, marks for what happened, and the
//! moment that is shown, to be dragged.

use leptos::ev::{KeyboardEvent, PointerEvent};
use leptos::html::{Canvas, Div};
use leptos::prelude::*;

use super::canvas::Palette;
use super::canvas::track::{self, Scale};
use super::dom;
use super::format;
use super::i18n::tr;
use super::state::Page;

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
    let share = move || scale.get().share(page.run.clock.with(|clock| clock.shown));
    let drag = RwSignal::new(false);
    let seek_to = move |event: &PointerEvent| {
        let Some(bar) = bar.get_untracked() else { return };
        let frame = bar.get_bounding_client_rect();
        let share = (f64::from(event.client_x()) - frame.left()) / frame.width().max(1.0);
        page.playing.set(false);
        let shown = scale.get_untracked().shown(share.clamp(0.0, 1.0));
        page.run.seek(page.run.time_of(shown));
    };
    let press = move |event: PointerEvent| {
        if let Some(element) = bar.get_untracked() {
            // Without capture the drag ends at the bar's edge, nothing worse.
            let _ = element.set_pointer_capture(event.pointer_id());
        }
        drag.set(true);
        seek_to(&event);
    };
    let follow = move |event: PointerEvent| {
        if drag.get_untracked() {
            seek_to(&event);
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
            aria-valuenow=move || format!("{:.0}", share() * 100.0)
            aria-valuetext=move || page.run.clock.with(|clock| format::clock(clock.now))
            on:pointerdown=press
            on:pointermove=follow
            on:pointerup=move |_| drag.set(false)
            on:pointercancel=move |_| drag.set(false)
            on:keydown=move |event| keys(page, &event)
        >
            <canvas node_ref=canvas aria-hidden="true"></canvas>
            <span class="thumb" style:left=move || format!("{:.3}%", share() * 100.0)></span>
        </div>
    }
    .into_any()
}

/// Paints the line whenever the run, the size or the colours have changed.
fn paint(page: Page, bar: NodeRef<Div>, canvas: NodeRef<Canvas>, scale: Memo<Scale>) {
    let resized = RwSignal::new(0u32);
    let palette = StoredValue::new(Palette::default());
    Effect::new(move || {
        page.redraw.track();
        palette.set_value(Palette::read());
        resized.update(|n| *n += 1);
    });
    Effect::new(move || {
        if let Some(bar) = bar.get() {
            dom::on_resize(&bar, move || {
                resized.try_update(|n| *n += 1);
            });
        }
    });
    Effect::new(move || {
        let story = page.run.story.get();
        resized.track();
        let (Some(canvas), scale) = (canvas.get(), scale.get()) else {
            return;
        };
        let place = |at| page.run.place_of(at);
        palette.with_value(|palette| track::draw(&canvas, palette, scale, &story, place));
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
