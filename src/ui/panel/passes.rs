//! The passes one by one, and why each came about.

use leptos::prelude::*;

use crate::ui::bridge::{LANES, LaneId};
use crate::ui::format;
use crate::ui::i18n::tr;
use crate::ui::state::{Page, Tab};
use crate::ui::words;
use crate::view::{LoopId, PassFilter, PassRow};

use super::why::Why;

/// Rows shown: so many up to now, and so many of the computed future.
const SHOWN: usize = 90;
const AHEAD: usize = 30;

#[component]
pub fn Passes() -> impl IntoView {
    let page = Page::get();
    let filter = RwSignal::new(PassFilter::default());
    let rows = Memo::new(move |_| {
        // What is not looked at is not built.
        if page.tab.get() != Tab::Passes {
            return Vec::new();
        }
        page.run.changed.track();
        page.run.passes(filter.get(), SHOWN, AHEAD)
    });
    view! {
        <div class="passes">
            <div class="filters">{lanes(filter)} {which_loop(page, filter)} {idle(filter)}</div>
            <Show when=move || rows.with(Vec::is_empty)>
                <p class="hint-text">{move || tr!(passes.none)}</p>
            </Show>
            <ol class="pass-rows" tabindex="-1">
                <For
                    each=move || rows.get().into_iter().rev()
                    key=|row| (row.lane, row.pass.number)
                    children=move |row| one(page, &row)
                />
            </ol>
            <Why/>
        </div>
    }
    .into_any()
}

fn lanes(filter: RwSignal<PassFilter>) -> AnyView {
    let one = move |lane| {
        let choose = move |lane| filter.update(|filter| filter.lane = lane);
        super::lanes::button(lane, move || filter.with(|filter| filter.lane), choose)
    };
    let choices = [None, Some(LANES[0]), Some(LANES[1])].map(one);
    super::lanes::group(choices.collect_view().into_any())
}

/// Those that have a desk in either lane.
fn which_loop(page: Page, filter: RwSignal<PassFilter>) -> AnyView {
    let change = move |event| {
        let name = event_target_value(&event);
        let id = LoopId::ALL.into_iter().find(|id| words::loop_name(*id) == name);
        filter.update(|filter| filter.id = id);
    };
    let drawn = Memo::new(move |_| {
        let stages = page.run.stages.map(|stage| stage.get());
        let drawn = |id: &LoopId| stages.iter().flat_map(|s| &s.loops).any(|one| one.id == *id);
        LoopId::ALL.into_iter().filter(drawn).collect::<Vec<_>>()
    });
    let choices = move || {
        let one = |id| {
            let chosen = filter.with_untracked(|filter| filter.id) == Some(id);
            view! { <option selected=chosen>{words::loop_name(id)}</option> }.into_any()
        };
        drawn.get().into_iter().map(one).collect_view()
    };
    view! {
        <select aria-label=move || tr!(tables.loop_name) on:change=change>
            <option value="">{move || tr!(passes.all_loops)}</option>
            {choices}
        </select>
    }
    .into_any()
}

fn idle(filter: RwSignal<PassFilter>) -> AnyView {
    view! {
        <label class="check">
            <input
                type="checkbox"
                on:change=move |event| {
                    let idle = event_target_checked(&event);
                    filter.update(|filter| filter.idle = idle);
                }
            />
            {move || tr!(passes.idle)}
        </label>
    }
    .into_any()
}

fn one(page: Page, row: &PassRow) -> AnyView {
    let (lane, number, at) = (row.lane, row.pass.number, row.pass.decided);
    let picked = move || page.run.picked.get() == Some((lane, number));
    let go = move |_| {
        page.pick(lane, number);
        page.go(at);
    };
    let (name, pass) = (words::loop_of(row), row.pass.clone());
    view! {
        <li class:later=move || page.run.clock.with(|clock| clock.now < at)>
            <button on:click=go title=move || tr!(log.go) aria-pressed=move || picked().to_string()>
                <time class="mono">{move || format::clock(at)}</time>
                <span>
                    {chip(lane)} " " <b>{name}</b> " " {move || words::pass(&pass)}
                </span>
            </button>
        </li>
    }
    .into_any()
}

/// A lane's name as a small label.
pub fn chip(lane: LaneId) -> AnyView {
    let class = match lane {
        LaneId::Edge => "chip edge",
        LaneId::Level => "chip level",
    };
    view! { <span class=class>{move || words::lane_word(lane)}</span> }.into_any()
}
