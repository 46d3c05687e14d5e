//! The page: Leptos, for the browser only. The one room that may name web crates.
//!
//! `bridge` alone talks to the simulation; `frame` is the one loop that moves time on and draws;
//! `lane` is what stands, `canvas` what moves; everything that can be done is a console line that
//! goes through `Page::act`.

mod announce;
mod app;
mod bridge;
mod canvas;
mod chain;
mod dialogs;
mod dom;
mod follow;
mod format;
mod frame;
mod given_out;
mod header;
mod i18n;
mod icon;
mod keys;
mod lane;
mod look;
mod menu;
mod panel;
mod prepared;
mod scrubber;
mod share;
mod speed;
mod state;
mod stretch;
mod strip;
mod toast;
mod transport;
mod url;
mod words;

use leptos::prelude::*;

use bridge::{Pace, Run};
use state::Page;

/// Takes the page over. Called once, by `main`.
pub fn mount() {
    let options = url::Options::read();
    i18n::set_lang(look::first_language(&options));
    mount_to_body(move || {
        let page = open(options.clone());
        look::apply(page);
        view! { <app::App page=page/> }
    });
    request_animation_frame(|| dom::mark("ready", "true"));
}

/// The run that the address asks for, and the page that shows it.
fn open(options: url::Options) -> Page {
    let link = url::fragment();
    let (mut session, notice) = bridge::session(&link, options.scenario.as_deref());
    if let (Some(from), true) = (options.range.from, link.is_empty()) {
        session.seek(from);
    }
    let page = Page {
        run: Run::new(session),
        playing: RwSignal::new(options.play),
        pace: RwSignal::new(Pace::Paced),
        speed: RwSignal::new(options.speed.unwrap_or(1.0)),
        range: RwSignal::new(options.range),
        solo: RwSignal::new(options.solo),
        still: RwSignal::new(look::wants_stillness()),
        quiet: RwSignal::new(false),
        inspected: RwSignal::new(None),
        menu: RwSignal::new(None),
        dialog: RwSignal::new(None),
        draft: panel::draft::Draft::default(),
        tab: RwSignal::new(options.tab.unwrap_or_default()),
        focus: RwSignal::new(None),
        linked: RwSignal::new(0),
        watched: RwSignal::new(None),
        toast: RwSignal::new(None),
        theme: RwSignal::new(look::first_theme(&options)),
        redraw: RwSignal::new(0),
        options: StoredValue::new(options),
    };
    panel::draft::begin(page);
    if let Some(notice) = notice {
        page.complain(words::notice(&notice));
    }
    page
}

/// Follows a link that was pasted while the page is open.
fn open_link(page: Page, link: &str) {
    let (session, notice) = bridge::session(link, None);
    page.run.replace(session);
    panel::draft::begin(page);
    if let Some(notice) = notice {
        page.complain(words::notice(&notice));
    }
}
