//! The page's languages. Texts stand in `locales/*.json`; `tr!(key)` gives one in the language of
//! the moment, and what calls it inside a reactive closure follows a change of language.

use std::cell::OnceCell;
use std::fmt::{Display, Write};

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
    LANG.with(|cell| cell.get_or_init(|| ArcRwSignal::new(Locale::en)).clone())
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
    text.in_language(code(lang())).trim().to_owned()
}

/// A text with its slots filled: `{what}` becomes the value of that name.
pub fn fill(text: &str, values: &[(&str, &dyn Display)]) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let (name, after) = after.split_once('}').unwrap_or((after, ""));
        if let Some((_, value)) = values.iter().find(|(of, _)| *of == name) {
            // Writing to a string does not fail.
            let _ = write!(out, "{value}");
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// `tr!(verdict.stuck)` or `tr!(say.sees, what = 2)`: a text of `locales/*.json`. Slots are filled
/// here and not by the crate, whose code for each text with slots is many times its size.
macro_rules! tr {
    ($($key:ident).+) => {
        leptos_i18n::td_string!($crate::ui::i18n::lang(), $($key).+)
    };
    ($($key:ident).+, $($name:ident = $value:expr),+ $(,)?) => {
        $crate::ui::i18n::fill(
            leptos_i18n::td_string!($crate::ui::i18n::lang(), $($key).+),
            &[$((stringify!($name), &$value)),+],
        )
    };
}
pub(in crate::ui) use tr;
