//! The panel beside the lanes: the desired state as YAML, the console, the passes one by one,
//! Kubernetes Events, one object closely, what it all costs, the loops' source; and under them what
//! happened.

mod code;
mod console;
mod costs;
mod diagram;
pub mod diff;
pub mod draft;
mod editor;
mod events;
mod lanes;
mod log;
mod metrics;
mod object;
mod passes;
mod plain;
mod why;
mod yaml;

use leptos::prelude::*;

use super::dom;
use super::i18n::tr;
use super::state::{Page, Tab};

const TABS: [Tab; 8] = [
    Tab::Yaml,
    Tab::Console,
    Tab::Object,
    Tab::Passes,
    Tab::Diagram,
    Tab::Events,
    Tab::Metrics,
    Tab::Code,
];

fn name(tab: Tab) -> &'static str {
    match tab {
        Tab::Yaml => "YAML",
        Tab::Console => tr!(panel.console),
        Tab::Passes => tr!(panel.passes),
        Tab::Diagram => tr!(panel.diagram),
        Tab::Events => "Events",
        Tab::Object => tr!(object.tab),
        Tab::Metrics => tr!(panel.metrics),
        Tab::Code => tr!(panel.code),
    }
}

/// The tab of this name in an address.
pub fn tab_of(name: &str) -> Option<Tab> {
    TABS.into_iter().find(|tab| id(*tab) == name)
}

fn id(tab: Tab) -> &'static str {
    match tab {
        Tab::Yaml => "yaml",
        Tab::Console => "console",
        Tab::Passes => "passes",
        Tab::Diagram => "diagram",
        Tab::Events => "events",
        Tab::Object => "object",
        Tab::Metrics => "metrics",
        Tab::Code => "code",
    }
}

/// The panel.
#[component]
pub fn Panel() -> impl IntoView {
    let page = Page::get();
    let tabs = NodeRef::<leptos::html::Div>::new();
    let rove = move |event: leptos::ev::KeyboardEvent| {
        let Some(tabs) = tabs.get_untracked() else { return };
        if dom::rove(&tabs, "[role=tab]", &event.key()) {
            event.prevent_default();
            if let Some(tab) = dom::focused() {
                tab.click();
            }
        }
    };
    let one = move |tab: Tab| {
        let chosen = move || page.tab.get() == tab;
        view! {
            <button
                role="tab"
                id=format!("tab-{}", id(tab))
                aria-controls=format!("pane-{}", id(tab))
                aria-selected=move || chosen().to_string()
                tabindex=move || if chosen() { "0" } else { "-1" }
                on:click=move |_| page.tab.set(tab)
            >
                {move || name(tab)}
            </button>
        }
        .into_any()
    };
    // What is in a pane is made when it is first shown, and stays.
    let pane = move |tab: Tab, content: fn() -> AnyView| {
        let shown = move || page.tab.get() == tab;
        let made = Memo::new(move |was: Option<&bool>| was.is_some_and(|was| *was) || shown());
        view! {
            <div
                class="pane"
                role="tabpanel"
                id=format!("pane-{}", id(tab))
                aria-labelledby=format!("tab-{}", id(tab))
                hidden=move || !shown()
            >
                {move || made.get().then(content)}
            </div>
        }
        .into_any()
    };
    view! {
        <aside
            class="panel"
            data-tab=move || id(page.tab.get())
            aria-label=move || tr!(panel.title)
        >
            <div class="tabs" role="tablist" node_ref=tabs on:keydown=rove>
                {TABS.map(one).collect_view()}
            </div>
            <div class="panes">
                {pane(Tab::Yaml, || view! { <yaml::Yaml/> }.into_any())}
                {pane(Tab::Console, || view! { <console::Console/> }.into_any())}
                {pane(Tab::Object, || view! { <object::ObjectTab/> }.into_any())}
                {pane(Tab::Passes, || view! { <passes::Passes/> }.into_any())}
                {pane(Tab::Diagram, || view! { <diagram::SpaceTime/> }.into_any())}
                {pane(Tab::Events, || view! { <events::Events/> }.into_any())}
                {pane(Tab::Metrics, || view! { <metrics::Metrics/> }.into_any())}
                {pane(Tab::Code, || view! { <code::Code/> }.into_any())}
            </div>
            <log::Log/>
        </aside>
    }
    .into_any()
}
