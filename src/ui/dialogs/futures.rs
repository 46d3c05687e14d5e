//! The futures that were left for another: where each leaves the run, what was done in it, and what
//! it came to. Any can be shown again.

use leptos::prelude::*;

use crate::ui::format;
use crate::ui::i18n::tr;
use crate::ui::state::{Dialog, Page};
use crate::ui::words;
use crate::view::Future;

use super::Sheet;

/// The dialog; and a notice when a future had to be dropped.
#[component]
pub fn FuturesDialog() -> impl IntoView {
    let page = Page::get();
    let dropped = Memo::new(move |_| page.run.story.with(|story| story.dropped));
    Effect::new(move |before: Option<u32>| {
        let now = dropped.get();
        if before.is_some_and(|before| now > before) {
            page.tell(tr!(futures.dropped));
        }
        now
    });
    view! { <Sheet which=Dialog::Futures title=|| tr!(futures.title) content=content/> }
}

fn content() -> AnyView {
    let page = Page::get();
    let futures = page.run.story.with_untracked(|story| story.futures.clone());
    if futures.is_empty() {
        return view! { <p class="hint-text">{tr!(futures.none)}</p> }.into_any();
    }
    let cards = futures.iter().map(|future| card(page, future));
    view! {
        <p class="hint-text">{tr!(futures.about)}</p>
        <ul class="cards futures">{cards.collect_view()}</ul>
    }
    .into_any()
}

fn card(page: Page, future: &Future) -> AnyView {
    let id = future.id;
    let show = move |_| {
        page.playing.set(false);
        page.dialog.set(None);
        if page.run.show_future(id) {
            page.tell(tr!(futures.shown));
        }
    };
    let lines = future.lines.iter().map(|(at, line)| {
        view! {
            <span class="future-line">
                <time class="mono">{format::clock(*at)}</time>
                " "
                <code>{line.clone()}</code>
            </span>
        }
        .into_any()
    });
    let more = (future.more > 0).then(|| tr!(futures.more, n = future.more));
    let came = future.left.as_ref().map(|left| {
        let lanes = left.outcome.iter().map(|(lane, verdict)| {
            format!("{} {}", words::lane_word(*lane), words::verdict(verdict))
        });
        let came = lanes.collect::<Vec<_>>().join(", ");
        tr!(futures.came, at = format::clock(left.end), what = came)
    });
    view! {
        <li>
            <button class="card" on:click=show>
                <b>{tr!(futures.fork, at = format::clock(future.fork))}</b>
                {lines.collect_view()}
                {more.map(|more| view! { <span>{more}</span> })}
                <small>{came.unwrap_or_else(|| tr!(futures.unseen).to_owned())}</small>
            </button>
        </li>
    }
    .into_any()
}
