//! What can be done to a loop: to its process, to its next pass, and to the next watch event on its
//! way to it.

use leptos::prelude::*;

use crate::ui::bridge::index;
use crate::ui::i18n::tr;
use crate::ui::state::Tab;
use crate::ui::words;
use crate::view::{LaneId, LoopId};

use super::{Does, Open, choice, item, knobs, lines};

pub fn items(open: Open, id: LoopId) -> AnyView {
    let lane = open.target.with_value(|target| target.lane);
    let stage = open.page.run.stages[index(lane)].get_untracked();
    let found = stage.loops.iter().find(|one| one.id == id).cloned();
    let alive = found.as_ref().is_none_or(|one| one.alive);
    let holds = stage.flights.iter().any(|flight| flight.lane_loop == id && flight.fate.is_held());
    let release = format!("fault release to={}", words::loop_name(id));
    let doubled = found.as_ref().and_then(|one| one.doubled);
    let last = found.as_ref().and_then(|one| one.last.as_ref()).map(|pass| pass.number);
    view! {
        <div class="items">
            {last.map(|number| why(open, lane, number))}
            {process(open, id, alive)}
            {doubled.map(|doubled| leader(open, id, doubled))}
            {next_event(open, id)}
            {holds.then(|| item(open, tr!(menu.release), Does::Runs, release))}
            {next_pass(open, id)}
            {found.map(|found| knobs::items(open, &found))}
        </div>
    }
    .into_any()
}

/// Its process: it dies, starts again, hears nothing for a while, looks at its cache again.
fn process(open: Open, id: LoopId, alive: bool) -> AnyView {
    let kill = alive.then(|| item(open, tr!(menu.kill), Does::Runs, lines::process("kill", id)));
    let again = if alive { tr!(menu.restart_alive) } else { tr!(menu.restart) };
    let cut = format!("{} for=30s", lines::process("cut", id));
    view! {
        <h3>{tr!(menu.process)}</h3>
        {kill}
        {item(open, again, Does::Runs, lines::process("restart", id))}
        {item(open, tr!(menu.pause_watch), Does::Runs, cut)}
        {item(open, tr!(menu.resync), Does::Runs, lines::process("resync", id))}
    }
    .into_any()
}

/// Picks the loop's last pass: the panel tells of it, and its chain is drawn on the stage.
fn why(open: Open, lane: LaneId, number: u64) -> AnyView {
    let press = move |_| {
        open.close();
        open.page.pick(lane, number);
        open.page.tab.set(Tab::Passes);
    };
    view! {
        <button class="item" on:click=press>
            <span>{tr!(menu.why)}</span>
        </button>
    }
    .into_any()
}

/// A second process beside it, or the sleep of the one that leads.
fn leader(open: Open, id: LoopId, doubled: bool) -> AnyView {
    let line = lines::process("leader", id);
    if doubled {
        let line = format!("{line} paused for=20s");
        return item(open, tr!(menu.pause_leader), Does::Runs, line);
    }
    item(open, tr!(menu.second), Does::Runs, format!("{line} replicas=2"))
}

/// The next watch event: which, where, and what becomes of it.
fn next_event(open: Open, id: LoopId) -> AnyView {
    let event = RwSignal::new("DELETED".to_owned());
    let on_wire = RwSignal::new(false);
    let strike = move |how: &'static str, name: &'static str| {
        choice(open, name, move || lines::strike(how, id, &event.get(), on_wire.get()))
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
        {strike("reorder", tr!(menu.reorder_next))}
        {strike("hold", tr!(menu.hold_next))}
    }
    .into_any()
}

/// The next pass: where it dies.
fn next_pass(open: Open, id: LoopId) -> AnyView {
    let point = RwSignal::new("betweenWrites".to_owned());
    let line = move || lines::crash(id, &point.get());
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
        {choice(open, tr!(menu.crash), line)}
    }
    .into_any()
}
