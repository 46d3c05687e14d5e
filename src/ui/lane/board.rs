//! The notice board: the objects in the API server as a tree, with what they want and what there
//! truly is; and what their status says, where that is something else.

use leptos::prelude::*;

use crate::kernel::Time;
use crate::ui::format;
use crate::ui::i18n::tr;
use crate::ui::icon::{icon, sign};
use crate::ui::menu::place_of;
use crate::ui::state::{Page, What};
use crate::view::BoardRow;

use super::Lane;

#[component]
pub fn Board(lane: Lane) -> impl IntoView {
    let page = Page::get();
    let revision = lane.part(|stage| stage.revision);
    let fault = lane.part(|stage| stage.server_fault.clone());
    let rows = lane.part(|stage| {
        let rows = stage.board.iter();
        rows.map(|row| (row.uid.clone(), row.depth)).collect::<Vec<_>>()
    });
    let largest = lane.part(|stage| {
        let sizes = stage.board.iter().map(|row| row.have.max(row.want.unwrap_or(0)));
        sizes.max().unwrap_or(0).max(1)
    });
    let list = NodeRef::<leptos::html::Ul>::new();
    view! {
        <section class="board" aria-label=move || tr!(board.title)>
            <header>
                <h3>
                    <button
                        class="board-open"
                        aria-haspopup="dialog"
                        title=move || tr!(board.open)
                        on:click=move |event| {
                            let (at, by_pointer) = place_of(&event);
                            page.open_menu(lane.id, What::Server, at, by_pointer);
                        }
                    >
                        {move || tr!(board.title)}
                        {icon("chevron")}
                    </button>
                </h3>
                {move || {
                    fault
                        .get()
                        .map(|fault| view! { <b class="server-fault">{fault.to_string()}</b> })
                }}
                <span class="mono">{move || tr!(board.revision, n = revision.get())}</span>
            </header>
            <ul
                class="rows"
                node_ref=list
                on:keydown=move |event| super::pods::rove(list.get().map(Into::into), &event)
            >
                <For
                    each=move || rows.get().into_iter().enumerate()
                    key=|(_, (uid, _))| uid.clone()
                    children=move |(index, (uid, _))| {
                        let found = uid.clone();
                        let row = lane
                            .part(move |stage| {
                                stage.board.iter().find(|row| row.uid == found).cloned()
                            });
                        view! { <Row lane=lane row=row largest=largest first=index == 0/> }
                    }
                />
            </ul>
        </section>
    }
    .into_any()
}

#[component]
fn Row(lane: Lane, row: Memo<Option<BoardRow>>, largest: Memo<i64>, first: bool) -> impl IntoView {
    let page = Page::get();
    let with =
        move |f: fn(&BoardRow) -> String| row.with(|row| row.as_ref().map(f).unwrap_or_default());
    let changed = Memo::new(move |_| {
        row.with(|row| row.as_ref().and_then(|row| row.changed.as_ref().map(|(at, _)| *at)))
    });
    // Two animations of the same look take turns, so that each change flashes anew.
    let flash = Memo::new(move |before: Option<&(Option<Time>, &'static str)>| {
        let at = changed.get();
        match before {
            Some((old, name)) if *old == at => (at, *name),
            _ if at.is_none() || page.run.is_quiet() => (at, ""),
            Some((_, "a")) => (at, "b"),
            _ => (at, "a"),
        }
    });
    let open = move |event: leptos::ev::MouseEvent| {
        if let Some(row) = row.get_untracked() {
            let (at, by_pointer) = place_of(&event);
            page.open_menu(lane.id, What::Object(row.key, row.want), at, by_pointer);
        }
    };
    let press = move |event: leptos::ev::KeyboardEvent| {
        let key = row.with_untracked(|row| row.as_ref().map(|row| row.key.clone()));
        super::inspects(page, lane.id, &event, key);
    };
    view! {
        <li
            class="row"
            data-flash=move || flash.get().1
            data-depth=move || with(|row| row.depth.to_string())
            class:terminating=move || row.with(|row| row.as_ref().is_some_and(|r| r.terminating))
        >
            <button
                class="row-open"
                class:worded=move || row.with(|row| row.as_ref().is_some_and(is_worded))
                aria-haspopup="dialog"
                tabindex=if first { "0" } else { "-1" }
                on:click=open
                on:keydown=press
            >
                <span class="kind" title=move || with(|row| row.key.kind.info().kind.to_owned())>
                    {move || with(kind)}
                </span>
                <span class="name" title=move || with(|row| row.key.name.to_string())>
                    {move || with(|row| format::short(&row.key.name, 22))}
                </span>
                <Meter row=row largest=largest/>
                <Count row=row/>
                <span class="ears-only">{move || with(ending)}</span>
            </button>
        </li>
    }
    .into_any()
}

/// The kind; a long one as kubectl shortens it.
fn kind(row: &BoardRow) -> String {
    let info = row.key.kind.info();
    match info.short.first().filter(|_| info.kind.len() > 12) {
        Some(short) => short.to_ascii_uppercase(),
        None => info.kind.to_owned(),
    }
}

/// A kind that counts no pods tells its state in words.
fn is_worded(row: &BoardRow) -> bool {
    row.simulated && row.words.is_some()
}

fn ending(row: &BoardRow) -> String {
    if row.terminating { "Terminating".to_owned() } else { String::new() }
}

/// The outline is what is wanted; within it, what there is, and darker what is ready.
#[component]
fn Meter(row: Memo<Option<BoardRow>>, largest: Memo<i64>) -> impl IntoView {
    let share = move |n: i64| format!("{:.2}%", n.max(0) as f64 * 100.0 / largest.get() as f64);
    let number = move |f: fn(&BoardRow) -> i64| row.with(|row| row.as_ref().map_or(0, f));
    let counted = move || row.with(|row| row.as_ref().is_some_and(|row| row.want.is_some()));
    view! {
        <span class="meter" class:off=move || !counted() aria-hidden="true">
            <i class="want" style:width=move || share(number(|row| row.want.unwrap_or(0)))></i>
            <i class="have" style:width=move || share(number(|row| row.have))></i>
            <i class="ready" style:width=move || share(number(|row| row.ready))></i>
        </span>
    }
    .into_any()
}

#[component]
fn Count(row: Memo<Option<BoardRow>>) -> impl IntoView {
    let text = move || {
        row.with(|row| {
            let row = row.as_ref()?;
            if !row.simulated {
                return Some(view! { <em>{tr!(board.not_simulated)}</em> }.into_any());
            }
            if let Some((state, wants)) = &row.words {
                let wants = (state != wants).then(|| format!(" → {wants}"));
                let state = state.to_string();
                return Some(
                    view! { <b class="word">{state}</b><small>{wants}</small> }.into_any(),
                );
            }
            let want = row.want?;
            Some(view! { <b>{row.ready}</b><small>{tr!(board.of, n = want)}</small> }.into_any())
        })
    };
    let says = move || {
        row.with(|row| {
            let (replicas, ready) = row.as_ref()?.says?;
            let title = tr!(board.says_title, replicas = replicas, ready = ready);
            Some(view! {
                <span class="says" title=title>
                    {sign("trap", tr!(board.stale))}
                    {tr!(board.says, n = ready)}
                </span>
            })
        })
    };
    view! { <span class="says-place">{says}</span><span class="count">{text}</span> }.into_any()
}
