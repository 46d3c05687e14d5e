//! What can be done to the API server.

use leptos::prelude::*;

use crate::ui::i18n::tr;

use super::{Does, Open, item};

pub fn items(open: Open) -> AnyView {
    let fault = |what: &str| format!("fault {what}");
    view! {
        <div class="items">
            <h3>{tr!(menu.for_a_while)}</h3>
            {item(open, tr!(menu.slow), Does::Runs, fault("apiserver slow for=30s"))}
            {item(open, tr!(menu.down), Does::Runs, fault("apiserver down for=30s"))}
            {item(open, tr!(menu.throttle), Does::Runs, fault("apiserver throttle for=30s"))}
            <h3>{tr!(menu.its_history)}</h3>
            {item(open, tr!(menu.compact), Does::Runs, fault("compact"))}
            <p class="why">{tr!(menu.compact_why)}</p>
        </div>
    }
    .into_any()
}
