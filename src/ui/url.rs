//! The address: `?` says how the page looks, `#` is the run. The part after `#` is kept up to date,
//! so that what stands in the address bar can be copied at any time.

use gloo_timers::callback::Timeout;
use leptos::prelude::*;
use wasm_bindgen::JsValue;
use web_sys::UrlSearchParams;

use super::bridge::{LaneId, Link};
use super::i18n::{self, Locale};
use super::state::{Page, Tab, Theme};
use crate::view::range::{self, Range};

/// What the address asks for.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Only the stage, for a frame in another page.
    pub embed: bool,
    /// Large type, for a projector.
    pub present: bool,
    /// Play at once.
    pub play: bool,
    /// The language.
    pub lang: Option<Locale>,
    /// The theme.
    pub theme: Option<Theme>,
    /// A scenario; the part after `#` goes before it.
    pub scenario: Option<String>,
    /// One lane alone.
    pub solo: Option<LaneId>,
    /// How fast.
    pub speed: Option<f64>,
    /// The stretch that is played.
    pub range: Range,
    /// Without the bar of time.
    pub bare: bool,
    /// Which tab of the panel is open; an embed shows the panel only then.
    pub tab: Option<Tab>,
    /// Without the panel.
    pub no_panel: bool,
}

impl Options {
    /// Reads the address. What it does not know it passes over.
    pub fn read() -> Options {
        let search = location().search().unwrap_or_default();
        let Ok(params) = UrlSearchParams::new_with_str(&search) else {
            return Options::default();
        };
        let on = |name| matches!(params.get(name).as_deref(), Some("1" | "true" | ""));
        let off = |name| matches!(params.get(name).as_deref(), Some("0" | "false" | "none"));
        let moment = |name| params.get(name).and_then(|text| range::parse_moment(&text));
        let range = Range { from: moment("from"), to: moment("to"), repeats: on("loop") };
        Options {
            embed: on("embed"),
            present: on("present"),
            play: on("play"),
            lang: params.get("lang").and_then(|tag| i18n::from_tag(&tag)),
            theme: params.get("theme").and_then(|name| theme(&name)),
            scenario: params.get("scenario"),
            solo: match params.get("lanes").as_deref() {
                Some("edge") => Some(LaneId::Edge),
                Some("level") => Some(LaneId::Level),
                _ => None,
            },
            speed: params.get("speed").and_then(|speed| range::parse_speed(&speed)),
            range: range.sane(),
            bare: off("controls"),
            tab: params.get("panel").and_then(|name| super::panel::tab_of(&name)),
            no_panel: off("panel"),
        }
    }
}

/// The theme of that name.
pub fn theme(name: &str) -> Option<Theme> {
    match name {
        "light" => Some(Theme::Light),
        "dark" => Some(Theme::Dark),
        "system" | "auto" => Some(Theme::System),
        _ => None,
    }
}

/// The part after `#`: the run's link.
pub fn fragment() -> String {
    let hash = location().hash().unwrap_or_default();
    hash.trim_start_matches('#').to_owned()
}

/// The link of the run as it is; `None` if it is too long for one.
fn write_fragment(page: Page) -> Option<Link> {
    page.run.link(super::panel::draft::unapplied(page))
}

/// The whole address of the run as it is, and how many other futures found no room in it.
pub fn address(page: Page) -> Option<(String, usize)> {
    let link = write_fragment(page)?;
    let place = location();
    let (origin, path) = (place.origin().ok()?, place.pathname().ok()?);
    Some((format!("{origin}{path}{}#{}", query(page), link.text), link.lost))
}

/// What the address asks for, with the stretch that is played now.
fn query(page: Page) -> String {
    let search = location().search().unwrap_or_default();
    let Ok(params) = UrlSearchParams::new_with_str(&search) else { return search };
    let range = page.range.get_untracked();
    for (name, at) in [("from", range.from), ("to", range.to)] {
        match at {
            Some(at) => params.set(name, &at.as_secs_f64().to_string()),
            None => params.delete(name),
        }
    }
    if range.repeats {
        params.set("loop", "1");
    } else {
        params.delete("loop");
    }
    match String::from(params.to_string()) {
        empty if empty.is_empty() => empty,
        some => format!("?{some}"),
    }
}

const SETTLE_MS: u32 = 400;

/// Keeps the part after `#` up to date, a moment after the last change, and follows a link that is
/// pasted over it.
pub fn keep_in_step(page: Page) {
    let timer = StoredValue::new_local(None::<Timeout>);
    let written = StoredValue::new(String::new());
    Effect::new(move || {
        page.run.done.track();
        page.range.track();
        super::panel::draft::track(page);
        timer.set_value(Some(Timeout::new(SETTLE_MS, move || {
            if let Some(link) = write_fragment(page) {
                let path = location().pathname().unwrap_or_default();
                replace_address(&format!("{path}{}#{}", query(page), link.text));
                written.set_value(link.text);
            }
        })));
    });
    let listener = window_event_listener(leptos::ev::hashchange, move |_| {
        let link = fragment();
        if written.with_value(|written| *written != link) {
            page.playing.set(false);
            super::open_link(page, &link);
        }
    });
    on_cleanup(move || listener.remove());
}

fn replace_address(address: &str) {
    // It fails where history is forbidden, as in some sandboxed frames: then the link is in Share.
    if let Ok(history) = window().history() {
        let _ = history.replace_state_with_url(&JsValue::NULL, "", Some(address));
    }
}
