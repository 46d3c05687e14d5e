//! The page's languages. Texts stand in `locales/*.json`; `tr!(key)` gives one in the language of
//! the moment, and what calls it inside a reactive closure follows a change of language.

use std::cell::OnceCell;
use std::fmt::{Display, Write};

use leptos::prelude::*;
use leptos::reactive::graph::Observer;

#[allow(deprecated, missing_docs, unused, clippy::all)]
mod generated {
    leptos_i18n::load_locales!();
}

pub use generated::i18n::Locale;

use super::bridge::Text;

/// Nearly everything on the page follows the language. A signal takes a follower off its list in
/// the time that the list is long, so the followers are spread over so many signals.
const SIGNALS: usize = 64;

thread_local! {
    static LANG: OnceCell<[ArcRwSignal<Locale>; SIGNALS]> = const { OnceCell::new() };
}

fn with_signals<T>(f: impl FnOnce(&[ArcRwSignal<Locale>; SIGNALS]) -> T) -> T {
    LANG.with(|cell| f(cell.get_or_init(|| std::array::from_fn(|_| ArcRwSignal::new(Locale::en)))))
}

/// Speaks another language from now on.
pub fn set_lang(locale: Locale) {
    with_signals(|signals| signals.clone()).iter().for_each(|signal| signal.set(locale));
}

/// The language of the moment.
pub fn lang() -> Locale {
    // Whoever asks again asks the same one. Its number is an address, and those are even.
    let number = Observer::get().map_or(0, |observer| observer.0 / 16 % SIGNALS);
    with_signals(|signals| signals[number].clone()).get()
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
