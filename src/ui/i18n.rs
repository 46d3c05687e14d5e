//! The page's languages. Texts stand in `locales/*.json`; `tr!(key)` gives one in the language of
//! the moment, and what calls it inside a reactive closure follows a change of language.

use std::cell::OnceCell;

use leptos::prelude::*;

#[allow(deprecated, missing_docs, unused, clippy::all)]
mod generated {
    leptos_i18n::load_locales!();
}

pub use generated::i18n::Locale;

use super::bridge::Text;

thread_local! {
    static LANG: OnceCell<ArcRwSignal<Locale>> = const { OnceCell::new() };
}

/// The signal that holds the language.
pub fn lang_signal() -> ArcRwSignal<Locale> {
    LANG.with(|cell| {
        cell.get_or_init(|| ArcRwSignal::new(Locale::en))
            .clone()
    })
}

/// The language of the moment.
pub fn lang() -> Locale {
    lang_signal().get()
}

/// Its name as `lang` attributes have it.
pub fn code(locale: Locale) -> &'static str {
    match locale {
        Locale::en => "en",
        Locale::ko => "ko",
    }
}

/// The language that a tag such as `ko-KR` asks for, if the page speaks it.
pub fn from_tag(tag: &str) -> Option<Locale> {
    match tag.get(..2)?.to_ascii_lowercase().as_str() {
        "en" => Some(Locale::en),
        "ko" => Some(Locale::ko),
        _ => None,
    }
}

/// A scenario's text in the language of the moment.
pub fn pick(text: &Text) -> String {
    match lang() {
        Locale::ko if !text.ko.is_empty() => text.ko.to_string(),
        _ => text.en.to_string(),
    }
}

/// `tr!(verdict.stuck)` or `tr!(say.sees, what = 2)`: a text of `locales/*.json`.
macro_rules! tr {
    ($($key:tt)*) => {
        leptos_i18n::td_string!($crate::ui::i18n::lang(), $($key)*)
    };
}
pub(in crate::ui) use tr;
