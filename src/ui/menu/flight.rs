//! What can be done to a message in flight. Only watch events can be caught: a request's sender
//! waits for its answer and would just ask again.

use leptos::prelude::*;

use crate::ui::i18n::tr;
use crate::ui::words;
use crate::view::{Fate, FlightKind, LaneId};

use super::Open;

pub fn items(open: Open, lane: LaneId, id: u64) -> (String, AnyView) {
    let stage = open.page.run.look(lane);
    let Some(flight) = stage.flights.iter().find(|flight| flight.id == id) else {
        let gone = view! { <p class="why">{tr!(flight.gone)}</p> }.into_any();
        return (tr!(flight.title).to_owned(), gone);
    };
    let title = format!("{} {}", words::flight_kind(flight.what), flight.object.name);
    let about = words::flight(flight);
    if !matches!(flight.what, FlightKind::Watch(_)) {
        let text = tr!(flight.no_catch);
        let body = view! { <p class="why">{about}</p><p class="why">{text}</p> }.into_any();
        return (title, body);
    }
    let items = match flight.fate {
        Fate::Intact => strikes(open, lane, id),
        fate if fate.is_held() => {
            one(open, lane, id, "release", tr!(flight.release), tr!(flight.release_why))
        }
        _ => ().into_any(),
    };
    let body = view! { <p class="why">{about}</p><div class="items">{items}</div> }.into_any();
    (title, body)
}

fn strikes(open: Open, lane: LaneId, id: u64) -> AnyView {
    let one = |how, name, why| one(open, lane, id, how, name, why);
    let before = open.page.run.has_neighbour(lane, id);
    view! {
        {one("drop", tr!(flight.drop_door), tr!(menu.door_why))}
        {one("drop at=wire", tr!(flight.drop_wire), tr!(menu.wire_why))}
        {one("delay by=5s", tr!(flight.delay), tr!(flight.delay_why))}
        {one("duplicate", tr!(flight.duplicate), tr!(flight.duplicate_why))}
        <h3>{tr!(flight.holding)}</h3>
        {one("hold", tr!(flight.hold_door), tr!(flight.hold_door_why))}
        {one("hold at=wire", tr!(flight.hold_wire), tr!(flight.hold_wire_why))}
        <h3>{tr!(flight.order)}</h3>
        {before.then(|| one("before", tr!(flight.before), tr!(flight.before_why)))}
        {one("reorder", tr!(flight.after), tr!(flight.after_why))}
    }
    .into_any()
}

fn one(
    open: Open,
    lane: LaneId,
    id: u64,
    how: &'static str,
    name: &'static str,
    why: &'static str,
) -> AnyView {
    let press = move |_| {
        open.close();
        if !open.page.run.catch(lane, id, how) {
            open.page.complain(tr!(flight.gone));
        }
    };
    view! {
        <button class="item" on:click=press>
            <span>{name}</span>
            <small>{why}</small>
        </button>
    }
    .into_any()
}
