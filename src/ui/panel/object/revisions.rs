//! What became of the object, revision by revision; each leads to its moment, and to its pass.

use leptos::prelude::*;

use crate::ui::bridge::LaneId;
use crate::ui::format;
use crate::ui::i18n::tr;
use crate::ui::state::{Page, Tab};
use crate::view::inspect::{FieldChange, Record, Revision, RevisionKind, Writer};

use super::{show_more, words};

/// Revisions shown before somebody asks for more.
const SHOWN: usize = 8;

/// The list, newest first.
#[component]
pub fn Revisions(lane: LaneId, record: Memo<Option<Record>>) -> impl IntoView {
    let page = Page::get();
    let all = RwSignal::new(false);
    let told = Memo::new(move |_| {
        record.with(|record| record.as_ref().map(|r| r.revisions.clone()).unwrap_or_default())
    });
    let rows = move || {
        let revisions = told.get();
        if revisions.is_empty() {
            return view! { <p class="left-out">{tr!(object.forgotten)}</p> }.into_any();
        }
        let shown = if all.get() { revisions.len() } else { SHOWN };
        let rows = revisions.iter().take(shown).map(|one| row(page, lane, one));
        view! { <ol class="revisions">{rows.collect_view()}</ol> }.into_any()
    };
    let hidden = move || told.with(|revisions| revisions.len().saturating_sub(SHOWN));
    view! {
        <section class="part">
            <h4>{move || tr!(object.revisions)}</h4>
            {rows}
            {show_more(all, hidden)}
        </section>
    }
    .into_any()
}

fn row(page: Page, lane: LaneId, one: &Revision) -> AnyView {
    let at = one.at;
    let pass = match one.writer {
        Writer::Pass { number, .. } => Some(number),
        _ => None,
    };
    let by = words::writer(&one.writer);
    let by_line = matches!(one.writer, Writer::Line { .. });
    let text = match one.kind {
        RevisionKind::Created => Some(tr!(object.was_created)),
        RevisionKind::Removed => Some(tr!(object.was_removed)),
        RevisionKind::Changed if one.changes.is_empty() => Some(tr!(object.nothing_told)),
        RevisionKind::Changed => None,
    };
    let changes = one.changes.iter().map(change).collect_view();
    let more = (one.more > 0).then(|| {
        view! { <li class="left-out">{tr!(object.left_out, n = one.more)}</li> }
    });
    let to_pass = pass.map(|number| {
        let press = move |_| {
            page.pick(lane, number);
            page.tab.set(Tab::Passes);
        };
        view! { <button class="link" on:click=press>{tr!(object.to_pass)}</button> }
    });
    let later = move || page.run.clock.with(|clock| clock.now < at);
    let here = move || page.run.clock.with(|clock| clock.now == at);
    view! {
        <li class:later=later aria-current=move || here().then_some("time")>
            <button class="moment" title=tr!(log.go) on:click=move |_| page.go(at)>
                <time class="mono">{format::clock(at)}</time>
                <span>
                    <span class="mono">{format!("#{}", one.revision)}</span>
                    " "
                    <b class:mono=by_line class:line=by_line>{by}</b>
                    {text.map(|text| format!(" · {text}"))}
                </span>
            </button>
            {to_pass}
            <ul class="changes">{changes} {more}</ul>
        </li>
    }
    .into_any()
}

fn change(change: &FieldChange) -> AnyView {
    let text = |value: &Option<crate::api::Str>| {
        value.as_ref().map_or_else(|| tr!(object.absent).to_owned(), |value| value.to_string())
    };
    view! {
        <li>
            <span class="path">{change.path.to_string()}</span>
            " "
            <del>{text(&change.old)}</del>
            " → "
            <ins>{text(&change.new)}</ins>
        </li>
    }
    .into_any()
}
