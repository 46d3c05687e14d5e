//! The address: `?` says how the page looks, `#` is the run. The part after `#` is kept up to date,
//! so that what stands in the address bar can be copied at any time.

use gloo_timers::callback::Timeout;
use leptos::prelude::*;
use wasm_bindgen::JsValue;
use web_sys::UrlSearchParams;

use super::bridge::LaneId;
use super::i18n::{self, Locale};
use super::state::{Page, Theme};

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
}

impl Options {
    /// Reads the address. What it does not know it passes over.
    pub fn read() -> Options {
        let search = location().search().unwrap_or_default();
        let Ok(params) = UrlSearchParams::new_with_str(&search) else {
            return Options::default();
        };
        let on = |name| matches!(params.get(name).as_deref(), Some("1" | "true" | ""));
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
            speed: params
                .get("speed")
                .and_then(|speed| speed.parse().ok())
                .filter(|speed| (0.1..=16.0).contains(speed)),
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

/// The part after `#` for the run as it is; `None` if it is too long for a link.
fn write_fragment(page: Page) -> Option<String> {
    page.run.link(super::panel::draft::unapplied(page))
}

/// The whole address of the run as it is.
pub fn address(page: Page) -> Option<String> {
    let fragment = write_fragment(page)?;
    let href = location().href().ok()?;
    let base = href.split('#').next().unwrap_or_default();
    Some(format!("{base}#{fragment}"))
}

const SETTLE_MS: u32 = 400;

/// Keeps the part after `#` up to date, a moment after the last change, and follows a link that is
/// pasted over it.
pub fn keep_in_step(page: Page) {
    let timer = StoredValue::new_local(None::<Timeout>);
    let written = StoredValue::new(String::new());
    Effect::new(move || {
        page.run.done.track();
        super::panel::draft::track(page);
        timer.set_value(Some(Timeout::new(SETTLE_MS, move || {
            if let Some(fragment) = write_fragment(page) {
                let hash = format!("#{fragment}");
                written.set_value(fragment);
                replace_address(&hash);
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

fn replace_address(hash: &str) {
    // It fails where history is forbidden, as in some sandboxed frames: then the link is in Share.
    if let Ok(history) = window().history() {
        let _ = history.replace_state_with_url(&JsValue::NULL, "", Some(hash));
    }
}
