//! What can be done to a loop: to its process, to its next pass, and to the next watch event on its
//! way to it.

use leptos::prelude::*;

use crate::ui::bridge::index;
use crate::ui::i18n::tr;
use crate::ui::state::Tab;
use crate::view::{LaneId, LoopId};

use super::{Does, Open, item, lines};

pub fn items(open: Open, id: LoopId) -> AnyView {
    let lane = open.target.with_value(|target| target.lane);
    let stage = open.page.run.stages[index(lane)].get_untracked();
    let alive = stage.loops.iter().find(|one| one.id == id).is_none_or(|one| one.alive);
    let process = if alive {
        item(open, tr!(menu.kill), Does::Runs, lines::process("kill", id))
    } else {
        item(open, tr!(menu.restart), Does::Runs, lines::process("restart", id))
    };
    let last = stage.loops.iter().find(|one| one.id == id).and_then(|one| one.last.as_ref());
    view! {
        <div class="items">
            {last.map(|pass| why(open, lane, pass.number))}
            {process}
            {item(open, tr!(menu.resync), Does::Runs, lines::process("resync", id))}
            <hr/>
            {next_event(open, id)}
            <hr/>
            {next_pass(open, id)}
        </div>
    }
    .into_any()
}

/// Picks the loop's last pass: the panel tells of it, and its chain is drawn on the stage.
fn why(open: Open, lane: LaneId, number: u64) -> AnyView {
    let press = move |_| {
        open.close();
        open.page.run.picked.set(Some((lane, number)));
        open.page.linked.set(0);
        open.page.tab.set(Tab::Passes);
    };
    view! {
        <button class="item" on:click=press>
            <span>{tr!(menu.why)}</span>
        </button>
        <hr/>
    }
    .into_any()
}

/// The next watch event: which, where, and what becomes of it.
fn next_event(open: Open, id: LoopId) -> AnyView {
    let event = RwSignal::new("DELETED".to_owned());
    let on_wire = RwSignal::new(false);
    let line = move |how: &'static str| lines::strike(how, id, &event.get(), on_wire.get());
    let strike = move |how: &'static str, name: &'static str| {
        let press = move |_| {
            let (line, lanes) = (line(how), open.lanes());
            open.close();
            open.page.act(&line, lanes);
        };
        view! {
            <button class="item" on:click=press>
                <span>{name}</span>
                <code>{move || line(how)}</code>
            </button>
        }
        .into_any()
    };
    let place = move |wire: bool, name: &'static str| {
        view! {
            <button
                aria-pressed=move || (on_wire.get() == wire).to_string()
                on:click=move |_| on_wire.set(wire)
            >
                {name}
            </button>
        }
        .into_any()
    };
    let why = move || if on_wire.get() { tr!(menu.wire_why) } else { tr!(menu.door_why) };
    view! {
        <h3>{tr!(menu.next_event)}</h3>
        <div class="choices">
            <select
                aria-label=tr!(menu.event_type)
                prop:value=move || event.get()
                on:change=move |change| event.set(event_target_value(&change))
            >
                <option value="DELETED">"DELETED"</option>
                <option value="ADDED">"ADDED"</option>
                <option value="MODIFIED">"MODIFIED"</option>
                <option value="">{tr!(menu.any_event)}</option>
            </select>
            <div class="segments" role="group" aria-label=tr!(menu.place)>
                {place(false, tr!(menu.at_door))}
                {place(true, tr!(menu.on_wire))}
            </div>
        </div>
        <p class="why">{why}</p>
        {strike("drop", tr!(menu.drop_next))}
        {strike("delay", tr!(menu.delay_next))}
        {strike("duplicate", tr!(menu.duplicate_next))}
    }
    .into_any()
}

/// The next pass: where it dies.
fn next_pass(open: Open, id: LoopId) -> AnyView {
    let point = RwSignal::new("betweenWrites".to_owned());
    let line = move || lines::crash(id, &point.get());
    let press = move |_| {
        let (line, lanes) = (line(), open.lanes());
        open.close();
        open.page.act(&line, lanes);
    };
    view! {
        <h3>{tr!(menu.next_pass)}</h3>
        <div class="choices">
            <select
                aria-label=tr!(menu.point)
                prop:value=move || point.get()
                on:change=move |change| point.set(event_target_value(&change))
            >
                <option value="beforeRead">{tr!(menu.before_read)}</option>
                <option value="beforeWrite">{tr!(menu.before_write)}</option>
                <option value="betweenWrites" selected>{tr!(menu.between_writes)}</option>
                <option value="beforeStatus">{tr!(menu.before_status)}</option>
            </select>
        </div>
        <button class="item" on:click=press>
            <span>{tr!(menu.crash)}</span>
            <code>{line}</code>
        </button>
    }
    .into_any()
}
