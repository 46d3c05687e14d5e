//! The page: Leptos, for the browser only. The one room that may name web crates.

use leptos::prelude::*;

/// Takes the page over. Called once, by `main`.
pub fn mount() {
    mount_to_body(|| view! { <main><h1>"Loopscope"</h1></main> });
    if let Some(root) = document().document_element() {
        // What tests and pictures wait for. It fails on an invalid name only.
        let _ = root.set_attribute("data-ready", "true");
    }
}
