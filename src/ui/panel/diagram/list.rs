//! The same in words: the differing decisions one by one, and all of the diagram as a list, for
//! whoever reads rather than looks.

use leptos::prelude::*;

use crate::ui::format;
use crate::ui::i18n::tr;
use crate::ui::icon::icon;
use crate::ui::panel::passes::chip;
use crate::ui::words;
use crate::view::Divergence;
use crate::view::spacetime::Focus;

use super::{Sheet, say};

/// Rows of the list at most.
const ROWS_MAX: usize = 300;

/// The differing decisions: pressing one shows its moment and what led there.
pub fn differences(sheet: Sheet) -> AnyView {
    let page = sheet.page;
    let all = Memo::new(move |_| page.run.story.with(|story| story.divergences.to_vec()));
    let rows = move || {
        let all = all.get();
        all.iter().enumerate().map(|(place, found)| one(sheet, place, found)).collect_view()
    };
    view! {
        <ol class="differences" aria-label=move || tr!(diagram.differences)>{rows}</ol>
    }
    .into_any()
}

fn one(sheet: Sheet, place: usize, found: &Divergence) -> AnyView {
    let page = sheet.page;
    let (at, pass) = (found.at, found.pass);
    let shown = move || sheet.focus.get() == Focus::Divergence(place);
    let go = move |_| {
        page.focus.set(Some(Focus::Divergence(place)));
        page.go(at);
        sheet.select_pass(pass);
    };
    let echoes = match found.echoes {
        0 => None,
        n => Some(view! { <small>" " {tr!(divergence.echoes, n = n)}</small> }),
    };
    view! {
        <li>
            <button aria-pressed=move || shown().to_string() on:click=go title=tr!(divergence.go)>
                {icon("diamond")}
                <span>
                    <b>{format!("{}.", place + 1)}</b>
                    " "
                    <time class="mono">{format::clock(at)}</time>
                    " "
                    {words::divergence(found)}
                    {echoes}
                </span>
            </button>
        </li>
    }
    .into_any()
}

/// All items in words. What is closed is not built.
pub fn items(sheet: Sheet) -> AnyView {
    let open = RwSignal::new(false);
    let rows = move || {
        if !open.get() {
            return Vec::new();
        }
        let diagram = sheet.diagram.get();
        let shown = diagram.items.iter().take(ROWS_MAX);
        shown
            .map(|item| {
                let (lane, id, at) = (item.lane, item.id, item.from.1);
                let text = say::sentence(&diagram, item);
                let here = move || sheet.chosen.get() == Some((lane, id));
                view! {
                    <li>
                        <button
                            aria-pressed=move || here().to_string()
                            on:click=move |_| sheet.go((lane, id))
                        >
                            <time class="mono">{format::clock(at)}</time>
                            <span>{chip(lane)} " " {text}</span>
                        </button>
                    </li>
                }
                .into_any()
            })
            .collect()
    };
    view! {
        <details class="diagram-list" on:toggle=move |_| open.update(|open| *open = !*open)>
            <summary>{move || tr!(diagram.as_list)}</summary>
            <ol class="pass-rows">{rows}</ol>
        </details>
    }
    .into_any()
}
