//! What the drawings mean.

use leptos::prelude::*;

use crate::ui::i18n::tr;
use crate::ui::icon::icon;
use crate::ui::lane::drawing;
use crate::ui::words;
use crate::view::PodLook;

/// The ten looks of a pod.
pub fn pods() -> AnyView {
    let looks = [
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
    let rows = looks
        .map(|look| view! { <li>{drawing(look)}<span>{words::look(look)}</span></li> }.into_any());
    view! { <ul class="legend">{rows.collect_view()}</ul> }.into_any()
}

/// Wires, messages, rings, doors.
pub fn moving() -> AnyView {
    let arrow = view! {
        <svg class="glyph desired" viewBox="0 0 24 24" aria-hidden="true">
            <path d="M12 3 21 19H3z" fill="currentColor"></path>
        </svg>
    }
    .into_any();
    let ring = |class: &str, d: &'static str| drawn(class, "0 0 72 72", d, "9");
    let rows = [
        (dot("M8 12h8M12 8v8"), tr!(legend.added)),
        (dot("M7.5 13.5l3-3 3 3 3-3"), tr!(legend.modified)),
        (dot("M8 12h8"), tr!(legend.deleted)),
        (dot("M9.5 8v8M14.5 8v8"), tr!(legend.held)),
        (arrow, tr!(legend.request)),
        (ring("observed", "M40.46 8.36A28 28 0 0 1 62.17 45.96"), tr!(legend.observe)),
        (ring("desired", "M57.71 53.68A28 28 0 0 1 14.29 53.68"), tr!(legend.compare)),
        (ring("ink", "M9.83 45.96A28 28 0 0 1 31.54 8.36"), tr!(legend.act)),
        (icon("cache"), tr!(legend.cache)),
        (icon("trap"), tr!(legend.trap)),
        (icon("bolt"), tr!(legend.bolt)),
    ];
    let rows =
        rows.map(|(drawing, text)| view! { <li>{drawing}<span>{text}</span></li> }.into_any());
    view! { <ul class="legend wide">{rows.collect_view()}</ul> }.into_any()
}

/// A watch event with its sign.
fn dot(sign: &'static str) -> AnyView {
    view! {
        <svg class="glyph observed" viewBox="0 0 24 24" aria-hidden="true">
            <circle cx="12" cy="12" r="9" fill="currentColor"></circle>
            <path class="on" d=sign fill="none" stroke-width="2.5"></path>
        </svg>
    }
    .into_any()
}

fn drawn(class: &str, view_box: &'static str, d: &'static str, width: &'static str) -> AnyView {
    view! {
        <svg class=format!("glyph {class}") viewBox=view_box aria-hidden="true">
            <circle class="arc" cx="36" cy="36" r="28"></circle>
            <path d=d fill="none" stroke="currentColor" stroke-width=width></path>
        </svg>
    }
    .into_any()
}
