//! The page as a whole: which parts there are and where they stand.

use leptos::prelude::*;

use super::announce::Announcer;
use super::bridge::LANES;
use super::dialogs::{FuturesDialog, HelpDialog, ScenarioDialog};
use super::frame::Frames;
use super::header::Header;
use super::i18n::tr;
use super::lane::LaneView;
use super::menu::Menu;
use super::panel::Panel;
use super::state::Page;
use super::strip::Strip;
use super::toast::Toasts;
use super::transport::Transport;

/// The page.
#[component]
pub fn App(page: Page) -> impl IntoView {
    provide_context(page);
    let frames = Frames::start(page);
    provide_context(frames);
    super::frame::pause_when_hidden(page);
    super::frame::mark_root(page);
    super::keys::listen(page);
    let (embed, bare, panel) = page.options.with_value(|options| {
        let panel = !options.no_panel && (!options.embed || options.tab.is_some());
        (options.embed, options.bare, panel)
    });
    if !embed {
        super::url::keep_in_step(page);
    }
    view! {
        <a class="skip" href="#stage" on:click=skip>{move || tr!(page.skip)}</a>
        <div class="page">
            {(!embed).then(|| view! { <Header/> }.into_any())}
            {(!embed).then(|| view! { <Strip/> }.into_any())}
            <main class="work">
                <section
                    class="lanes"
                    id="stage"
                    tabindex="-1"
                    aria-label=move || tr!(page.stage)
                    data-solo=move || page.alone().map(super::lane::key)
                >
                    {LANES
                        .map(|lane| {
                            view! {
                                <Show when=move || page.shows(lane)>
                                    <LaneView lane=lane/>
                                </Show>
                            }
                        })
                        .collect_view()}
                </section>
                {panel.then(|| view! { <Panel/> }.into_any())}
            </main>
            {(!bare).then(|| view! { <Transport/> }.into_any())}
        </div>
        <Toasts/>
        <Announcer/>
        <Menu/>
        {(!embed).then(|| view! { <ScenarioDialog/><HelpDialog/><FuturesDialog/> }.into_any())}
    }
    .into_any()
}

/// A plain link would write `#stage` into the address, where the run's link stands.
fn skip(event: leptos::ev::MouseEvent) {
    event.prevent_default();
    if let Some(stage) = document().get_element_by_id("stage") {
        use wasm_bindgen::JsCast;
        let _ = stage.unchecked_into::<web_sys::HtmlElement>().focus();
    }
}
