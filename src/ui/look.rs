//! How the page looks: language, theme, type size, motion. What the address does not say is taken
//! from what was chosen before, then from the browser.

use leptos::prelude::*;

use super::dom;
use super::i18n::{self, Locale};
use super::state::{Page, Theme};
use super::url::{Options, theme};

const LANG: &str = "loopscope.lang";
const THEME: &str = "loopscope.theme";

fn remembered(key: &str) -> Option<String> {
    dom::local_storage()?.get_item(key).ok().flatten()
}

fn remember(key: &str, value: &str) {
    // It fails where storage is forbidden; then the choice holds for this visit.
    if let Some(storage) = dom::local_storage() {
        let _ = storage.set_item(key, value);
    }
}

/// The language to begin with.
pub fn first_language(options: &Options) -> Locale {
    let stored = || remembered(LANG).and_then(|tag| i18n::from_tag(&tag));
    let asked = || {
        let languages = window().navigator().languages();
        let tags = languages.iter().filter_map(|tag| tag.as_string());
        tags.filter_map(|tag| i18n::from_tag(&tag)).next()
    };
    let first = options.lang.or_else(stored).or_else(asked);
    first.unwrap_or(Locale::en)
}

/// The theme to begin with.
pub fn first_theme(options: &Options) -> Theme {
    let stored = || remembered(THEME).and_then(|name| theme(&name));
    options.theme.or_else(stored).unwrap_or_default()
}

/// Changes the language.
pub fn speak(locale: Locale) {
    i18n::set_lang(locale);
    remember(LANG, i18n::code(locale));
}

/// Carries the choices to the root element, where the style sheets see them.
pub fn apply(page: Page) {
    page.options.with_value(|options| {
        if options.embed {
            dom::mark("embed", "true");
        }
        if options.present {
            dom::mark("present", "true");
        }
    });
    Effect::new(move || {
        let _ = dom::root().set_attribute("lang", i18n::code(i18n::lang()));
    });
    Effect::new(move |before: Option<Theme>| {
        let theme = page.theme.get();
        match theme {
            Theme::System => dom::unmark("theme"),
            Theme::Light => dom::mark("theme", "light"),
            Theme::Dark => dom::mark("theme", "dark"),
        }
        if before.is_some_and(|before| before != theme) {
            let name = match theme {
                Theme::System => "system",
                Theme::Light => "light",
                Theme::Dark => "dark",
            };
            remember(THEME, name);
        }
        page.redraw.update(|n| *n += 1);
        theme
    });
    dom::on_media("(prefers-color-scheme: dark)", move |_| {
        page.redraw.update(|n| *n += 1);
    });
    dom::on_media("(prefers-reduced-motion: reduce)", move |still| {
        page.still.set(still);
    });
}

/// Whether the system asks for stillness.
pub fn wants_stillness() -> bool {
    dom::media("(prefers-reduced-motion: reduce)")
}
