//! How fast time runs: a slider on a logarithmic scale.

use leptos::prelude::*;

use crate::view::range::{SPEEDS, next_speed, step_of};

use super::i18n::tr;
use super::state::Page;

/// The next speed of the scale, faster or slower.
pub fn change(page: Page, faster: bool) {
    let now = page.speed.get_untracked();
    let next = next_speed(now, faster);
    if next != now {
        page.speed.set(next);
    }
}

/// The slider, with the speed beside it.
#[component]
pub fn Speed() -> impl IntoView {
    let page = Page::get();
    let choose = move |event| {
        let step = event_target_value(&event).parse().ok();
        if let Some(speed) = step.and_then(|step: usize| SPEEDS.get(step).copied()) {
            page.speed.set(speed);
        }
    };
    let words = move || format!("{}×", page.speed.get());
    view! {
        <span class="speed" title=move || tr!(transport.speed)>
            <input
                type="range"
                min="0"
                max=(SPEEDS.len() - 1).to_string()
                step="1"
                aria-label=move || tr!(transport.speed)
                aria-valuetext=words
                prop:value=move || step_of(page.speed.get()).to_string()
                on:input=choose
            />
            <output class="mono" aria-hidden="true">{words}</output>
        </span>
    }
    .into_any()
}
