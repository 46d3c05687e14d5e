//! Kubernetes Events, newest first, of one lane at a time.

use leptos::prelude::*;

use crate::ui::bridge::{EventRow, LANES, LaneId};
use crate::ui::format;
use crate::ui::i18n::tr;
use crate::ui::state::{Page, Tab};
use crate::ui::words;

const SHOWN: usize = 60;

#[component]
pub fn Events() -> impl IntoView {
    let page = Page::get();
    let lane = RwSignal::new(LaneId::Level);
    let rows = move || {
        // What is not looked at is not built.
        if page.tab.get() != Tab::Events {
            return None;
        }
        page.run.changed.track();
        let events = page.run.events(lane.get());
        let rows = events.iter().rev().take(SHOWN).map(|event| row(page, event)).collect_view();
        Some(if events.is_empty() {
            view! { <p class="hint-text">{tr!(events.none)}</p> }.into_any()
        } else {
            view! { <ul class="event-rows">{rows}</ul> }.into_any()
        })
    };
    let one = move |which: LaneId| {
        view! {
            <button
                aria-pressed=move || (lane.get() == which).to_string()
                on:click=move |_| lane.set(which)
            >
                {move || words::lane(which)}
            </button>
        }
        .into_any()
    };
    view! {
        <div class="events">
            <div class="segments" role="group" aria-label=move || tr!(lane.which)>
                {LANES.map(one).collect_view()}
            </div>
            <div class="event-list" tabindex="0" role="region" aria-label="Events">{rows}</div>
        </div>
    }
    .into_any()
}

/// A row leads to the moment at which the Event was seen last.
fn row(page: Page, event: &EventRow) -> AnyView {
    let at = event.at;
    let go = move |_| page.go(at);
    let count = (event.count > 1).then(|| format!(" ×{}", event.count));
    view! {
        <li class:warning=event.warning>
            <button class="go" title=tr!(log.go) on:click=go>
                <time class="mono">{format::clock(event.at)}</time>
                <span>
                    <b>{event.reason.to_string()}</b>
                    " "
                    <span class="mono">{event.object.clone()}</span>
                    {count}
                    <br/>
                    {event.message.to_string()}
                </span>
            </button>
        </li>
    }
    .into_any()
}
