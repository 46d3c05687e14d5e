//! One lane, in the order in which data goes round: the board, the wires, the loops, the nodes.

mod board;
mod chain;
mod circuit;
mod flights;
mod head;
mod loops;
mod mosaic;
mod nodes;
mod pods;
mod say;
mod tables;

pub use pods::drawing;

use std::sync::Arc;

use leptos::prelude::*;

use crate::view::{LaneId, Stage};

use super::bridge::index;
use super::state::Page;
use super::words;

/// A lane's name in attributes and addresses.
pub fn key(lane: LaneId) -> &'static str {
    match lane {
        LaneId::Edge => "edge",
        LaneId::Level => "level",
    }
}

/// What the parts of a lane are given.
#[derive(Clone, Copy)]
pub struct Lane {
    /// Which.
    pub id: LaneId,
    /// What it shows.
    pub stage: RwSignal<Arc<Stage>>,
    /// How often time has jumped.
    jumps: RwSignal<u64>,
    /// Up to which jump what is shown has been seen.
    settled: RwSignal<u64>,
}

impl Lane {
    /// Whether time has just jumped: what comes and goes now was there, or gone, all along, and
    /// neither grows in nor shrinks away. What is made in such a moment has the class `settled`,
    /// for an animation that is only held back would start when the moment is over.
    pub fn is_quiet(&self) -> bool {
        self.jumps.get_untracked() != self.settled.get_untracked()
    }

    fn has_jumped(&self) -> bool {
        self.jumps.get() != self.settled.get()
    }

    /// A part of the stage, that changes only when it does.
    pub fn part<T>(&self, f: impl Fn(&Stage) -> T + Send + Sync + 'static) -> Memo<T>
    where
        T: PartialEq + Send + Sync + 'static,
    {
        let stage = self.stage;
        Memo::new(move |_| stage.with(|stage| f(stage)))
    }
}

/// A lane.
#[component]
pub fn LaneView(lane: LaneId) -> impl IntoView {
    let page = Page::get();
    let (stage, jumps) = (page.run.stages[index(lane)], page.run.jumps);
    let settled = RwSignal::new(u64::MAX);
    let lane = Lane { id: lane, stage, jumps, settled };
    Effect::new(move || {
        let jump = jumps.get();
        request_animation_frame(move || {
            request_animation_frame(move || {
                settled.try_set(jump);
            });
        });
    });
    view! {
        <article
            class=format!("lane {}", key(lane.id))
            data-lane=key(lane.id)
            class:quiet=move || lane.has_jumped()
            aria-label=move || words::lane(lane.id)
        >
            <head::Head lane=lane/>
            <board::Board lane=lane/>
            <circuit::Circuit lane=lane/>
            <say::Say lane=lane/>
            <nodes::Nodes lane=lane/>
            <tables::Tables lane=lane/>
            <chain::Chain lane=lane/>
        </article>
    }
    .into_any()
}

/// The key `I` on something inspects it. Whether it was that key.
fn inspects(
    page: Page,
    lane: LaneId,
    event: &leptos::ev::KeyboardEvent,
    key: Option<crate::api::ObjectKey>,
) -> bool {
    let plain = !event.ctrl_key() && !event.meta_key() && !event.alt_key();
    let Some(key) = key.filter(|_| plain && event.key().eq_ignore_ascii_case("i")) else {
        return false;
    };
    event.prevent_default();
    page.inspect(lane, key);
    true
}
