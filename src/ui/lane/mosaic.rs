//! A node with very many pods: one small square each, drawn as one path per look. A pod keeps its
//! place here too.

use std::fmt::Write;

use leptos::prelude::*;

use crate::api::Str;
use crate::ui::i18n::tr;
use crate::ui::menu::place_of;
use crate::ui::state::{Page, What};
use crate::ui::words;
use crate::view::{NodeView, PodLook};

use super::Lane;
use super::nodes::find;
use super::pods::look_key;

const LOOKS: [PodLook; 10] = [
    PodLook::Pending,
    PodLook::ContainerCreating,
    PodLook::NotReady,
    PodLook::Ready,
    PodLook::Terminating,
    PodLook::CrashLoopBackOff,
    PodLook::ImagePullBackOff,
    PodLook::Failed,
    PodLook::Succeeded,
    PodLook::Unknown,
];

/// Twice as wide as high, as the node is.
fn columns(places: u32) -> u32 {
    let mut columns = 8;
    while columns * (columns / 2) < places {
        columns += 2;
    }
    columns
}

#[component]
pub fn Mosaic(lane: Lane, name: Str) -> impl IntoView {
    let page = Page::get();
    let found = name.clone();
    let node = lane.part(move |stage| find(stage, &found).cloned());
    let grid = Memo::new(move |before: Option<&u32>| {
        let places = node.with(|node| {
            let pods = node.iter().flat_map(|node| &node.pods);
            pods.map(|pod| pod.place + 1).max().unwrap_or(0)
        });
        columns(places).max(before.copied().unwrap_or(0))
    });
    let path = move |look: PodLook| {
        let columns = grid.get();
        node.with(|node| squares(node.as_ref(), look, columns))
    };
    let size = move || format!("0 0 {} {}", grid.get() * 10, grid.get() * 5);
    let open = move |event: leptos::ev::MouseEvent| {
        let (at, by_pointer) = place_of(&event);
        page.open_menu(lane.id, What::Pods(name.clone()), at, by_pointer);
    };
    let label = move || node.with(|node| node.as_ref().map(summary).unwrap_or_default());
    view! {
        <button
            class="mosaic"
            tabindex="-1"
            aria-haspopup="dialog"
            aria-label=label
            title=label
            on:click=open
        >
            <svg viewBox=size aria-hidden="true">
                {LOOKS
                    .map(|look| {
                        view! { <path data-look=look_key(look) d=move || path(look)></path> }
                    })
                    .collect_view()}
            </svg>
        </button>
        <p class="mosaic-count">{label}</p>
    }
    .into_any()
}

fn squares(node: Option<&NodeView>, look: PodLook, columns: u32) -> String {
    let mut path = String::new();
    let pods = node.iter().flat_map(|node| &node.pods);
    for pod in pods.filter(|pod| pod.state == look) {
        let (x, y) = (pod.place % columns * 10 + 1, pod.place / columns * 10 + 1);
        // Writing to a string does not fail.
        let _ = match look {
            // Not filled, so that it differs without its colour.
            PodLook::Pending | PodLook::Unknown | PodLook::ImagePullBackOff => {
                write!(path, "M{x} {y}h8v8h-8zm2 2v4h4v-4z")
            }
            PodLook::Terminating | PodLook::NotReady | PodLook::ContainerCreating => {
                write!(path, "M{x} {y}h8l-8 8z")
            }
            PodLook::CrashLoopBackOff | PodLook::Failed => {
                write!(path, "M{} {y}l4 4-4 4-4-4z", x + 4)
            }
            PodLook::Ready | PodLook::Succeeded => write!(path, "M{x} {y}h8v8h-8z"),
        };
    }
    path
}

/// "97 pods: 95 ready, 2 Pending".
fn summary(node: &NodeView) -> String {
    let counts = LOOKS.into_iter().filter_map(|look| {
        let count = node.pods.iter().filter(|pod| pod.state == look).count();
        (count > 0).then(|| format!("{count} {}", words::look(look)))
    });
    let counts: Vec<String> = counts.collect();
    format!("{}: {}", tr!(nodes.pods, n = node.pods.len()), counts.join(", "))
}
