//! A lane's head: its name and, in words, what it has come to.

use leptos::prelude::*;

use crate::ui::i18n::tr;
use crate::ui::icon::icon;
use crate::ui::state::Page;
use crate::ui::words;
use crate::view::LaneId;

use super::{Lane, key};

#[component]
pub fn Head(lane: Lane) -> impl IntoView {
    let verdict = lane.part(|stage| stage.verdict.clone());
    let totals = lane.part(|stage| stage.totals);
    let manner = move || match lane.id {
        LaneId::Edge => tr!(lane.edge_manner),
        LaneId::Level => tr!(lane.level_manner),
    };
    let others = lane.part(|stage| stage.others.clone());
    let others = move || {
        let others = others.get();
        let each = others
            .iter()
            .map(|(id, manner)| format!("{}: {}", words::loop_name(*id), manner.word()));
        let text = each.collect::<Vec<_>>().join(", ");
        (!text.is_empty()).then(|| view! { <p class="others">{tr!(lane.others, which = text)}</p> })
    };
    let counts = move || {
        let totals = totals.get();
        tr!(lane.totals, passes = totals.passes, writes = totals.writes)
    };
    let evidence = lane.part(words::evidence);
    let evidence = move || evidence.get();
    let page = Page::get();
    let ask = move |_| {
        if let Some(key) = page.run.short_of(lane.id) {
            page.inspect(lane.id, key);
        }
    };
    let stopped = move || {
        let short = verdict.with(|verdict| {
            use crate::view::VerdictView::{Oscillating, Stuck, Waiting};
            matches!(verdict, Stuck { .. } | Waiting { .. } | Oscillating { .. })
        });
        short.then(|| {
            view! { <button class="link where" on:click=ask>{tr!(object.ask)}</button> }
        })
    };
    view! {
        <header class="lane-head">
            <span class="wave">{icon(key(lane.id))}</span>
            <h2>{move || words::lane(lane.id)}</h2>
            <p class="manner">{manner}</p>
            <p class="totals">{counts}</p>
        </header>
        {others}
        <p class="verdict" data-verdict=move || verdict.with(words::verdict_key)>
            <b>{move || verdict.with(words::verdict)}</b>
            " "
            <span>{move || verdict.with(words::verdict_reason)}</span>
        </p>
        <div class="asked">
            <details class="evidence">
                <summary>{move || tr!(evidence.ask)}</summary>
                <p>{evidence}</p>
            </details>
            {stopped}
        </div>
    }
    .into_any()
}
