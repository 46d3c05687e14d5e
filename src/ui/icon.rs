//! Icons, by reference to the sprite in `index.html`.

use leptos::prelude::*;

/// An icon beside a text or inside a labelled button: nothing for ears.
pub fn icon(name: &'static str) -> AnyView {
    view! {
        <svg class="icon" aria-hidden="true">
            <use href=format!("#i-{name}")></use>
        </svg>
    }
    .into_any()
}

/// A small icon that says something by itself.
pub fn sign(name: &'static str, title: impl Into<String>) -> AnyView {
    let title = title.into();
    view! {
        <svg class="icon small" role="img" aria-label=title.clone()>
            <title>{title.clone()}</title>
            <use href=format!("#i-{name}")></use>
        </svg>
    }
    .into_any()
}
