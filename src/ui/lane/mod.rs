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
}

impl Lane {
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
    let lane = Lane { id: lane, stage: page.run.stages[index(lane)] };
    view! {
        <article
            class=format!("lane {}", key(lane.id))
            data-lane=key(lane.id)
            class:quiet=move || page.run.has_jumped()
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
