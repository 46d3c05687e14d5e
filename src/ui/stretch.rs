//! Tools beside the scrubber: the stretch between two points A and B that is played again and
//! again, and the other futures of the run.

use leptos::prelude::*;

use crate::view::range::Range;

use super::format;
use super::i18n::tr;
use super::icon::icon;
use super::state::{Dialog, Page};

/// Puts A where the run stands, or takes it away from there.
pub fn set_from(page: Page) {
    let now = page.run.now();
    page.range.update(|range| *range = range.with_from(now));
    tell(page);
}

/// The same with B.
pub fn set_to(page: Page) {
    let now = page.run.now();
    page.range.update(|range| *range = range.with_to(now));
    tell(page);
}

/// Plays the stretch again and again, or once; without B there is nothing to repeat.
pub fn repeat(page: Page) {
    page.range.update(|range| {
        *range = Range { repeats: !range.repeats, ..*range }.sane();
    });
    tell(page);
}

fn clear(page: Page) {
    page.range.set(Range::default());
    tell(page);
}

/// What is set, in words.
pub fn words(range: Range) -> Option<String> {
    if range.is_empty() {
        return None;
    }
    let point = |at: Option<_>| at.map_or_else(|| "…".to_owned(), format::clock);
    let (from, to) = (point(range.from), point(range.to));
    Some(match range.repeats {
        true => tr!(range.repeats, from = from, to = to),
        false => tr!(range.once, from = from, to = to),
    })
}

fn tell(page: Page) {
    let words = words(page.range.get_untracked());
    page.tell(words.unwrap_or_else(|| tr!(range.cleared).to_owned()));
}

/// A, B, again and again, none; and the other futures.
#[component]
pub fn Stretch() -> impl IntoView {
    let page = Page::get();
    let range = page.range;
    let point = move |name: &'static str, label: fn() -> &'static str, set: fn(Page)| {
        let is_set = move || {
            let range = range.get();
            if name == "A" { range.from.is_some() } else { range.to.is_some() }
        };
        view! {
            <button
                class="point-button"
                aria-label=move || label()
                title=move || label()
                aria-pressed=move || is_set().to_string()
                on:click=move |_| set(page)
            >
                {name}
            </button>
        }
        .into_any()
    };
    view! {
        <div class="tools" role="group" aria-label=move || tr!(range.title)>
            {point("A", || tr!(range.set_from), set_from)}
            {point("B", || tr!(range.set_to), set_to)}
            <button
                class="icon-only"
                aria-label=move || tr!(range.repeat)
                title=move || tr!(range.repeat)
                aria-pressed=move || range.get().repeats.to_string()
                disabled=move || range.get().to.is_none()
                on:click=move |_| repeat(page)
            >
                {icon("loop")}
            </button>
            <button
                class="icon-only"
                aria-label=move || tr!(range.clear)
                title=move || tr!(range.clear)
                disabled=move || range.get().is_empty()
                on:click=move |_| clear(page)
            >
                {icon("close")}
            </button>
            {futures_button(page)}
        </div>
    }
    .into_any()
}

fn futures_button(page: Page) -> AnyView {
    let count = Memo::new(move |_| page.run.story.with(|story| story.futures.len()));
    let label = move || tr!(futures.open, n = count.get());
    view! {
        <button
            class="futures-button"
            aria-label=label
            title=label
            aria-haspopup="dialog"
            on:click=move |_| page.dialog.set(Some(Dialog::Futures))
        >
            {icon("fork")}
            <span class="mono">{move || count.get()}</span>
        </button>
    }
    .into_any()
}
