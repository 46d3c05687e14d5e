//! Dialogs over the page. The browser's own `<dialog>` keeps the focus inside, closes on Escape and
//! gives the focus back.

mod differs;
mod futures;
mod help;
mod legend;
mod scenarios;

use leptos::html;
use leptos::prelude::*;

use super::i18n::tr;
use super::icon::icon;
use super::menu::close_outside;
use super::state::{Dialog, Page};

pub use futures::FuturesDialog;
pub use help::HelpDialog;
pub use scenarios::ScenarioDialog;

/// A dialog that is open while `page.dialog` says so. What is in it is made when it opens.
#[component]
fn Sheet(which: Dialog, title: fn() -> &'static str, content: fn() -> AnyView) -> impl IntoView {
    let page = Page::get();
    let dialog = NodeRef::<html::Dialog>::new();
    let open = Memo::new(move |_| page.dialog.get() == Some(which));
    Effect::new(move || {
        let Some(dialog) = dialog.get() else { return };
        match (open.get(), dialog.open()) {
            // It fails only if the dialog is open or not in the page.
            (true, false) => drop(dialog.show_modal()),
            (false, true) => dialog.close(),
            _ => {}
        }
    });
    let close = move |_| {
        if page.dialog.get_untracked() == Some(which) {
            page.dialog.set(None);
        }
    };
    view! {
        <dialog
            class="sheet"
            node_ref=dialog
            aria-label=move || title()
            on:close=close
            on:click=move |event| close_outside(&event, dialog)
        >
            <Show when=move || open.get()>
                <div class="sheet-body">
                    <header>
                        <h2>{move || title()}</h2>
                        <button
                            class="icon-only"
                            aria-label=move || tr!(action.close)
                            on:click=move |_| page.dialog.set(None)
                        >
                            {icon("close")}
                        </button>
                    </header>
                    {content()}
                </div>
            </Show>
        </dialog>
    }
    .into_any()
}
