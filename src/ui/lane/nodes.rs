//! The nodes with their places, and the tray of pods that no node has been found for.

use leptos::prelude::*;

use crate::api::{Kind, ObjectKey, Str};
use crate::ui::i18n::tr;
use crate::ui::icon::{icon, sign};
use crate::ui::menu::place_of;
use crate::ui::state::{Page, What};
use crate::view::{NodeView, Stage};

use super::Lane;
use super::mosaic::Mosaic;
use super::pods::{CELLS, Cell, Pods};

/// Places drawn at least, one row of four.
const PLACES: u32 = 4;

/// A node without its pods: what is drawn of it changes less often than they do.
#[derive(Clone, Copy, PartialEq)]
struct Head {
    powered: bool,
    connected: bool,
    ready: bool,
    unschedulable: bool,
    pods: usize,
    /// Places that are in use, and free ones before them.
    used: u32,
}

impl Head {
    fn of(node: &NodeView) -> Head {
        Head {
            powered: node.powered,
            connected: node.connected,
            ready: node.ready,
            unschedulable: node.unschedulable,
            pods: node.pods.len(),
            used: node.pods.last().map_or(0, |pod| pod.place + 1),
        }
    }
}

/// The node of this name.
pub(super) fn find<'a>(stage: &'a Stage, name: &str) -> Option<&'a NodeView> {
    stage.nodes.iter().find(|node| *node.name == *name)
}

#[component]
pub fn Nodes(lane: Lane) -> impl IntoView {
    let names = lane.part(|stage| {
        let names = stage.nodes.iter();
        names.map(|node| node.name.clone()).collect::<Vec<_>>()
    });
    let list = NodeRef::<leptos::html::Div>::new();
    view! {
        <div
            class="machines"
            node_ref=list
            on:keydown=move |event| super::pods::rove(list.get().map(Into::into), &event)
        >
            <Tray lane=lane/>
            <ul class="nodes" aria-label=move || tr!(nodes.title)>
                <For
                    each=move || names.get()
                    key=|name| name.clone()
                    children=move |name| view! { <Machine lane=lane name=name/> }
                />
            </ul>
        </div>
    }
    .into_any()
}

#[component]
fn Machine(lane: Lane, name: Str) -> impl IntoView {
    let page = Page::get();
    let found = name.clone();
    let node = lane.part(move |stage| find(stage, &found).map(Head::of));
    // Rows that were needed once stay: a node does not shrink under the reader's eyes.
    let places = Memo::new(move |before: Option<&u32>| {
        let used = node.get().map_or(0, |node| node.used);
        used.next_multiple_of(4).max(PLACES).max(before.copied().unwrap_or(0))
    });
    let crowded = Memo::new(move |_| places.get() > CELLS);
    let flag = move |f: fn(&Head) -> bool| node.get().as_ref().is_some_and(f);
    let target = name.clone();
    let open = move |event: leptos::ev::MouseEvent| {
        let (at, by_pointer) = place_of(&event);
        page.open_menu(lane.id, What::Node(target.clone()), at, by_pointer);
    };
    let key = ObjectKey::new(Kind::Node, "", name.clone());
    let press = move |event: leptos::ev::KeyboardEvent| {
        super::inspects(page, lane.id, &event, Some(key.clone()));
    };
    let (label, crowd) = (name.clone(), name.clone());
    let found = name.clone();
    let pods = Pods::follow(lane, move |stage| find(stage, &found).map_or(&[], |node| &node.pods));
    let state = move || node.get().as_ref().map(signs);
    view! {
        <li
            class="node"
            data-node=name.to_string()
            class:off=move || flag(|node| !node.powered)
            class:cut=move || flag(|node| !node.connected)
        >
            <button
                class="node-open"
                tabindex="-1"
                aria-haspopup="dialog"
                aria-label=move || format!("{label} {}", spoken(node.get().as_ref()))
                on:click=open
                on:keydown=press
            >
                <span class="mono">{name.to_string()}</span>
                {state}
                {icon("chevron")}
            </button>
            <Show
                when=move || crowded.get()
                fallback=move || view! { <Cells lane=lane pods=pods places=places/> }
            >
                <Mosaic lane=lane name=crowd.clone()/>
            </Show>
        </li>
    }
    .into_any()
}

#[component]
fn Cells(lane: Lane, pods: Pods, places: Memo<u32>) -> impl IntoView {
    view! {
        <div class="cells">
            <For
                each=move || 0..places.get()
                key=|place| *place
                children=move |place| view! { <Cell lane=lane pods=pods place=place/> }
            />
        </div>
    }
    .into_any()
}

/// What is unusual about a node, in small signs.
fn signs(node: &Head) -> AnyView {
    let power = (!node.powered).then(|| sign("power", tr!(nodes.off)));
    let cut = (!node.connected).then(|| sign("cut", tr!(nodes.cut)));
    let cordon = node.unschedulable.then(|| sign("cordon", tr!(nodes.cordoned)));
    let ready = (!node.ready).then(|| view! { <b class="not-ready">"NotReady"</b> });
    view! { <span class="signs">{power}{cut}{cordon}{ready}</span> }.into_any()
}

/// The same for ears.
fn spoken(node: Option<&Head>) -> String {
    let Some(node) = node else {
        return String::new();
    };
    let mut text = tr!(nodes.pods, n = node.pods);
    for (holds, word) in [
        (!node.powered, tr!(nodes.off)),
        (!node.connected, tr!(nodes.cut)),
        (node.unschedulable, tr!(nodes.cordoned)),
        (!node.ready, "NotReady"),
    ] {
        if holds {
            text = format!("{text}, {word}");
        }
    }
    text
}

/// Pods without a node wait here, in one row that is always there.
#[component]
fn Tray(lane: Lane) -> impl IntoView {
    const SHOWN: u32 = 12;
    let pods = Pods::follow(lane, |stage| &stage.tray);
    let waiting = lane.part(|stage| stage.tray.len());
    let places = lane.part(|stage| stage.tray.last().map_or(0, |pod| pod.place + 1).min(SHOWN));
    let more = move || {
        let hidden = waiting.get().saturating_sub(SHOWN as usize);
        (hidden > 0).then(|| format!("+{hidden}"))
    };
    view! {
        <div class="tray" class:empty=move || waiting.get() == 0>
            <span class="tray-label">{move || tr!(nodes.tray)}</span>
            <Show
                when=move || { waiting.get() > 0 }
                fallback=|| view! { <span class="tray-none">{move || tr!(nodes.tray_none)}</span> }
            >
                <Cells lane=lane pods=pods places=places/>
                <small>{more}</small>
            </Show>
        </div>
    }
    .into_any()
}
