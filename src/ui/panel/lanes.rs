//! Buttons that choose a lane, or both.

use leptos::prelude::*;

use crate::ui::bridge::LaneId;
use crate::ui::i18n::tr;
use crate::ui::words;

/// One of them: which lane it stands for, which one is chosen now, and how to choose.
pub fn button(
    lane: Option<LaneId>,
    chosen: impl Fn() -> Option<LaneId> + Send + 'static,
    choose: impl Fn(Option<LaneId>) + 'static,
) -> AnyView {
    view! {
        <button
            aria-pressed=move || (chosen() == lane).to_string()
            on:click=move |_| choose(lane)
        >
            {move || lane.map_or_else(|| tr!(lane.both), words::lane_word)}
        </button>
    }
    .into_any()
}

/// Them all.
pub fn group(buttons: AnyView) -> AnyView {
    view! {
        <div class="segments" role="group" aria-label=move || tr!(lane.which)>
            {buttons}
        </div>
    }
    .into_any()
}
