//! The scenarios, each with what it shows.

use leptos::prelude::*;

use crate::ui::bridge;
use crate::ui::i18n::{self, tr};
use crate::ui::state::{Dialog, Page};

use super::Sheet;

#[component]
pub fn ScenarioDialog() -> impl IntoView {
    view! { <Sheet which=Dialog::Scenarios title=|| tr!(page.scenarios) content=list/> }
}

fn list() -> AnyView {
    let page = Page::get();
    let now = page.run.scenario.with_untracked(|scenario| scenario.id.to_string());
    let cards = bridge::scenarios().into_iter().map(|scenario| {
        let current = scenario.id == now;
        let choose = move |_| {
            page.playing.set(false);
            page.open_scenario(&scenario.id);
            page.dialog.set(None);
        };
        view! {
            <li>
                <button class="card" aria-current=current.then_some("true") on:click=choose>
                    <b>{i18n::pick(&scenario.title)}</b>
                    <span>{i18n::pick(&scenario.about)}</span>
                </button>
            </li>
        }
        .into_any()
    });
    view! { <ul class="cards">{cards.collect_view()}</ul> }.into_any()
}
