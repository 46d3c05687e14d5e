//! Wires and loops, with the canvas over them on which everything moves, and the hand that catches
//! messages in flight.

use leptos::ev::PointerEvent;
use leptos::html::{Canvas, Div};
use leptos::prelude::*;

use crate::ui::canvas::LaneCanvas;
use crate::ui::dom;
use crate::ui::format;
use crate::ui::frame::Frames;
use crate::ui::i18n::tr;
use crate::ui::state::{Page, What};

use super::Lane;
use super::flights::FlightList;
use super::loops::Loops;

#[component]
pub fn Circuit(lane: Lane) -> impl IntoView {
    let page = Page::get();
    let frames = expect_context::<Frames>();
    let circuit = NodeRef::<Div>::new();
    let canvas = NodeRef::<Canvas>::new();
    Effect::new(move || {
        let (Some(circuit), Some(canvas)) = (circuit.get(), canvas.get()) else {
            return;
        };
        if let Some(own) = LaneCanvas::new(lane.id, canvas, circuit.clone().into()) {
            frames.adopt(own);
        }
        dom::on_resize(&circuit, move || frames.measure());
    });
    let drawn = lane.part(|stage| stage.loops.iter().map(|one| one.id).collect::<Vec<_>>());
    Effect::new(move || {
        drawn.track();
        page.redraw.track();
        request_animation_frame(move || frames.measure());
    });
    let over = RwSignal::new(false);
    let within = move |event: &PointerEvent| {
        let frame = circuit.get_untracked()?.get_bounding_client_rect();
        let x = f64::from(event.client_x()) - frame.left();
        let y = f64::from(event.client_y()) - frame.top();
        frames.hit(lane.id, x, y)
    };
    let gap = move || {
        let gap = page.run.clock.with(|clock| clock.gap)?;
        Some(tr!(time.later, span = format::span(gap)))
    };
    let every = lane.part(|stage| stage.drawn_every);
    let many = move || {
        let n = every.get();
        (n > 1).then(|| view! { <p class="under-way">{tr!(flight.many, n = n)}</p> })
    };
    view! {
        <div
            class="circuit"
            node_ref=circuit
            class:catch=move || over.get()
            on:pointermove=move |event| over.set(within(&event).is_some())
            on:pointerleave=move |_| over.set(false)
            on:pointerup=move |event| {
                if let Some(flight) = within(&event) {
                    let at = (event.client_x().into(), event.client_y().into());
                    page.open_menu(lane.id, What::Flight(flight), at, true);
                }
            }
        >
            <Loops lane=lane/>
            <canvas class="motion" node_ref=canvas aria-hidden="true"></canvas>
            <p class="gap" class:on=move || gap().is_some()>{move || gap().unwrap_or_default()}</p>
            {many}
            <FlightList lane=lane/>
        </div>
    }
    .into_any()
}
