//! Spec beside status, field by field.

use leptos::prelude::*;

use crate::ui::i18n::tr;
use crate::view::inspect::{FieldRow, Line, Owner, Record};

use super::{left_out, show_more, words};

/// Lines shown before somebody asks for more.
const SHOWN: usize = 24;

/// The two columns.
#[component]
pub fn Fields(record: Memo<Option<Record>>) -> impl IntoView {
    let all = RwSignal::new(false);
    let told = Memo::new(move |_| {
        record.with(|record| record.as_ref().map(|r| (r.lines.clone(), r.more)).unwrap_or_default())
    });
    let rows = move || {
        let (lines, _) = told.get();
        let shown = if all.get() { lines.len() } else { SHOWN };
        // An owner is said where another one begins.
        let mut last: [Option<(Vec<Owner>, Option<u64>)>; 2] = [None, None];
        let rows = lines.iter().take(shown).map(|(left, right)| {
            let cells = [(left, 0), (right, 1)].map(|(row, side)| {
                let row = row.as_ref()?;
                let by = (row.owners.clone(), row.since.map(|(revision, _)| revision));
                let said = row.value.is_none() || last[side].as_ref() == Some(&by);
                if row.value.is_some() {
                    last[side] = Some(by);
                }
                Some(cell(row, said))
            });
            let [left, right] = cells;
            view! { <tr><td>{left}</td><td>{right}</td></tr> }.into_any()
        });
        rows.collect_view()
    };
    let hidden = move || told.with(|(lines, _)| lines.len().saturating_sub(SHOWN));
    let has_status = Memo::new(move |_| {
        told.with(|(lines, _): &(Vec<Line>, usize)| lines.iter().any(|line| line.1.is_some()))
    });
    view! {
        <section class="part">
            <h4>{move || tr!(object.fields)}</h4>
            <table class="sheet" class:one=move || !has_status.get()>
                <thead>
                    <tr>
                        <th scope="col">{move || tr!(object.wanted)}</th>
                        <th scope="col">
                            {move || {
                                if has_status.get() {
                                    tr!(object.reported)
                                } else {
                                    tr!(object.no_status)
                                }
                            }}
                        </th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
            {show_more(all, hidden)}
            {move || left_out(told.with(|(_, more)| *more))}
        </section>
    }
    .into_any()
}

fn cell(row: &FieldRow, said: bool) -> AnyView {
    let fresh = row.fresh.then(|| {
        view! { <span class="ears-only">", " {tr!(object.fresh)}</span> }
    });
    let by = row.value.is_some().then(|| {
        let mut parts = vec![tr!(object.owner, owner = words::owners(&row.owners))];
        parts.extend(row.since.map(|(revision, _)| tr!(object.set_in, n = revision)));
        let class = if said { "ears-only" } else { "by" };
        view! { <span class=class>{parts.join(" · ")}</span> }
    });
    view! {
        <div
            class="field"
            class:fresh=row.fresh
            class:branch=row.value.is_none()
            data-depth=row.depth.min(8).to_string()
            title=row.path.to_string()
        >
            <span class="name">{row.name.to_string()}</span>
            " "
            {row.value.clone().map(|value| view! { <code>{value.to_string()}</code> })}
            {fresh}
            " "
            {by}
        </div>
    }
    .into_any()
}
