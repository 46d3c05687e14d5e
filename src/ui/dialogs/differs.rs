//! What differs from real Kubernetes: said plainly.

use leptos::prelude::*;

use crate::ui::i18n::tr;

/// The list.
pub fn list() -> AnyView {
    let points = [
        tr!(differs.simulated),
        tr!(differs.time),
        tr!(differs.flavours),
        tr!(differs.door),
        tr!(differs.wire),
        tr!(differs.scope),
        tr!(differs.server),
        tr!(differs.kubectl),
        tr!(differs.containers),
        tr!(differs.orders),
        tr!(differs.scheduler),
        tr!(differs.version),
    ];
    let items = points.map(|point| view! { <li>{point}</li> }.into_any());
    view! { <ul class="points">{items.collect_view()}</ul> }.into_any()
}
