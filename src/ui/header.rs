//! The page's head: what this is, which scenario, and how the page looks.

use leptos::prelude::*;

use super::bridge::{LANES, LaneId};
use super::i18n::{self, Locale, tr};
use super::icon::icon;
use super::state::{Dialog, Page, Theme};
use super::{look, share};

/// The head.
#[component]
pub fn Header() -> impl IntoView {
    let page = Page::get();
    let title = move || page.run.scenario.with(|scenario| i18n::pick(&scenario.title));
    view! {
        <header class="head">
            <h1 class="brand">
                <svg class="logo" viewBox="0 0 32 32" aria-hidden="true">
                    <use href="#i-logo"></use>
                </svg>
                "Loopscope"
            </h1>
            <span class="tag">{move || tr!(page.simulated)}</span>
            <button
                class="outlined pick"
                aria-haspopup="dialog"
                on:click=move |_| page.dialog.set(Some(Dialog::Scenarios))
            >
                <span class="ears-only">{move || tr!(page.scenario)}": "</span>
                <span class="pick-title">{title}</span>
                {icon("chevron")}
            </button>
            <span class="grow"></span>
            <LaneSwitch/>
            <button class="labelled" on:click=move |_| share::share(page)>
                {icon("share")}
                <span class="label">{move || tr!(action.share)}</span>
            </button>
            <LanguageSwitch/>
            <ThemeButton/>
            <button
                class="icon-only"
                aria-haspopup="dialog"
                aria-label=move || tr!(action.help)
                title=move || tr!(action.help)
                on:click=move |_| page.dialog.set(Some(Dialog::Help))
            >
                {icon("help")}
            </button>
        </header>
    }
    .into_any()
}

/// Both lanes, or one alone.
#[component]
pub fn LaneSwitch() -> impl IntoView {
    let page = Page::get();
    let one = move |lane: Option<LaneId>, name: &'static str| {
        let label = move || match lane {
            None => tr!(lane.both),
            Some(lane) => super::words::lane(lane),
        };
        view! {
            <button
                aria-pressed=move || (page.alone() == lane).to_string()
                disabled=move || page.run.only.get().is_some()
                aria-label=label
                title=label
                on:click=move |_| page.solo.set(lane)
            >
                {icon(name)}
            </button>
        }
        .into_any()
    };
    view! {
        <div class="segments lane-switch" role="group" aria-label=move || tr!(lane.which)>
            {one(None, "both")}
            {one(Some(LANES[0]), "edge")}
            {one(Some(LANES[1]), "level")}
        </div>
    }
    .into_any()
}

#[component]
fn LanguageSwitch() -> impl IntoView {
    let one = |locale: Locale, name: &'static str, title: &'static str| {
        view! {
            <button
                lang=i18n::code(locale)
                title=title
                aria-pressed=move || (i18n::lang() == locale).to_string()
                on:click=move |_| look::speak(locale)
            >
                {name}
            </button>
        }
        .into_any()
    };
    view! {
        <div class="segments" role="group" aria-label=move || tr!(page.language)>
            {one(Locale::en, "EN", "English")}
            {one(Locale::ko, "KO", "한국어")}
        </div>
    }
    .into_any()
}

#[component]
fn ThemeButton() -> impl IntoView {
    let page = Page::get();
    let name = move || match page.theme.get() {
        Theme::System => tr!(theme.system),
        Theme::Light => tr!(theme.light),
        Theme::Dark => tr!(theme.dark),
    };
    let picture = move || match page.theme.get() {
        Theme::System => icon("system"),
        Theme::Light => icon("light"),
        Theme::Dark => icon("dark"),
    };
    let next = move |_| {
        let next = match page.theme.get_untracked() {
            Theme::System => Theme::Light,
            Theme::Light => Theme::Dark,
            Theme::Dark => Theme::System,
        };
        page.theme.set(next);
    };
    view! {
        <button
            class="icon-only"
            aria-label=move || tr!(theme.now, name = name())
            title=move || tr!(theme.now, name = name())
            on:click=next
        >
            {picture}
        </button>
    }
    .into_any()
}
