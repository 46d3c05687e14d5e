//! Under the head: one thing to try, and the first decision in which the lanes differ.

use leptos::prelude::*;

use super::format;
use super::i18n::{self, tr};
use super::icon::icon;
use super::state::{Page, Tab};
use super::words;
use crate::view::Divergence;

/// So long, in shown milliseconds, a difference is the present one.
const LIT_MS: f64 = 1_600.0;

/// The strip. Both halves keep their room, so that nothing moves when a difference is found.
#[component]
pub fn Strip() -> impl IntoView {
    let page = Page::get();
    let hint = move || page.run.scenario.with(|scenario| i18n::pick(&scenario.hint));
    let found = Memo::new(move |_| {
        page.run.story.with(|story| {
            let (first, rest) = story.divergences.split_first()?;
            Some((first.clone(), rest.len()))
        })
    });
    let difference = move || match found.get() {
        Some((first, rest)) => {
            let more = (rest > 0).then(|| more(page, rest));
            (one(page, &first), more).into_any()
        }
        None => view! { <p class="difference-none">{tr!(divergence.none)}</p> }.into_any(),
    };
    view! {
        <div class="strip">
            <p class="hint">
                <b>{move || tr!(page.try_it)}</b>
                " "
                {move || with_code(&hint())}
            </p>
            <div class="difference" class:found=move || found.with(Option::is_some)>
                {difference}
            </div>
        </div>
    }
    .into_any()
}

/// The first difference: pressing it shows its moment. It lights up while that is the present one.
fn one(page: Page, found: &Divergence) -> AnyView {
    let at = found.at;
    let near = move || {
        let shown = page.run.clock.with(|clock| clock.shown);
        (shown - page.run.shown_of(at)).abs() < LIT_MS
    };
    view! {
        <button
            class="difference-go"
            class:lit=near
            title=tr!(divergence.go)
            on:click=move |_| page.go(at)
        >
            {icon("diamond")}
            <span>
                <b>{tr!(divergence.first)}</b>
                " "
                <time class="mono">{format::clock(at)}</time>
                " "
                <span class="difference-text">{words::divergence(found)}</span>
            </span>
        </button>
    }
    .into_any()
}

/// How many more there are: pressing it shows them one by one.
fn more(page: Page, n: usize) -> AnyView {
    view! {
        <button class="difference-more" on:click=move |_| page.tab.set(Tab::Diagram)>
            {tr!(divergence.more, n = n)}
        </button>
    }
    .into_any()
}

/// Text in which `…` marks code, and an arrow a key.
fn with_code(text: &str) -> Vec<AnyView> {
    let parts = text.split('`').enumerate();
    parts
        .map(|(index, part)| {
            if index % 2 == 1 {
                view! { <code>{part.to_owned()}</code> }.into_any()
            } else {
                with_keys(part).into_any()
            }
        })
        .collect()
}

fn with_keys(text: &str) -> Vec<AnyView> {
    let mut out = Vec::new();
    for (index, part) in text.split('→').enumerate() {
        if index > 0 {
            out.push(view! { <kbd>"→"</kbd> }.into_any());
        }
        out.push(part.to_owned().into_any());
    }
    out
}
