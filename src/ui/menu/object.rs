//! What can be done to an object on the board.

use leptos::prelude::*;

use crate::api::ObjectKey;
use crate::ui::i18n::tr;

use super::{Does, Open, inspect, item, lines};

pub fn items(open: Open, key: &ObjectKey, want: Option<i64>) -> AnyView {
    let scale = want.map(|want| {
        view! {
            {item(open, tr!(menu.scale_up), Does::Runs, lines::scale(key, want + 1))}
            {(want > 0)
                .then(|| item(open, tr!(menu.scale_down), Does::Runs, lines::scale(key, want - 1)))}
            <hr/>
        }
    });
    view! {
        <div class="items">
            {scale}
            {inspect(open, key)}
            {item(open, tr!(menu.describe), Does::Shows, lines::describe(key))}
            {item(open, tr!(menu.yaml), Does::Shows, lines::yaml(key))}
            <hr/>
            {item(open, tr!(menu.delete), Does::Runs, lines::delete(key))}
        </div>
    }
    .into_any()
}
