//! The messages in flight as a list of buttons, for those who catch them without a pointer. It is
//! out of sight until the focus is in it.

use leptos::prelude::*;

use crate::ui::frame::Frames;
use crate::ui::i18n::tr;
use crate::ui::menu::place_of;
use crate::ui::state::{Page, What};
use crate::ui::words;

use super::Lane;

/// More are not listed: a storm is nothing to be caught one by one.
const LISTED: usize = 12;

#[component]
pub fn FlightList(lane: Lane) -> impl IntoView {
    let page = Page::get();
    let frames = expect_context::<Frames>();
    let flights = lane.part(|stage| {
        let flights = stage.flights.iter().take(LISTED);
        flights.map(|flight| (flight.id, flight.clone())).collect::<Vec<_>>()
    });
    let list = NodeRef::<leptos::html::Ul>::new();
    view! {
        <div class="in-flight">
            <ul
                node_ref=list
                aria-label=move || tr!(flight.list)
                on:keydown=move |event| super::pods::rove(list.get().map(Into::into), &event)
            >
                <For
                    each=move || flights.get().into_iter().enumerate()
                    key=|(_, (id, flight))| (*id, flight.fate as u8)
                    children=move |(index, (id, flight))| {
                        let open = move |event: leptos::ev::MouseEvent| {
                            let (at, by_pointer) = place_of(&event);
                            // Beside the dot itself, if it is drawn.
                            let _ = frames.place(lane.id, id);
                            page.open_menu(lane.id, What::Flight(id), at, by_pointer);
                        };
                        view! {
                            <li>
                                <button tabindex=if index == 0 { "0" } else { "-1" } on:click=open>
                                    {move || words::flight(&flight)}
                                </button>
                            </li>
                        }
                    }
                />
            </ul>
        </div>
    }
    .into_any()
}
