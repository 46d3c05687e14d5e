//! Time: play, pause, step, speed, start again, other dice, undo; and the scrubber over it all.

use leptos::prelude::*;

use crate::kernel::Time;
use crate::view::MarkKind;

use super::bridge::Pace;
use super::format;
use super::i18n::tr;
use super::icon::icon;
use super::scrubber::Scrubber;
use super::speed::Speed;
use super::state::Page;
use super::stretch::Stretch;

/// Play or pause.
pub fn toggle(page: Page) {
    let now = page.run.now();
    let start = page.range.get_untracked().start(now);
    if !page.playing.get_untracked() && start != now {
        page.run.seek(start);
    }
    page.playing.update(|playing| *playing = !*playing);
}

/// One pass on, or back.
pub fn step(page: Page, forward: bool) {
    page.playing.set(false);
    page.run.step(forward);
}

/// To the first moment.
pub fn to_start(page: Page) {
    page.go(crate::kernel::Time::ZERO);
}

/// To the last that was computed.
pub fn to_end(page: Page) {
    page.go(page.run.clock.with_untracked(|clock| clock.end));
}

/// Takes back what was done last.
pub fn undo(page: Page) {
    page.playing.set(false);
    if page.run.undo() {
        page.tell(tr!(action.undone));
    }
}

/// Does it again.
pub fn redo(page: Page) {
    page.playing.set(false);
    if page.run.redo() {
        page.tell(tr!(action.redone));
    }
}

fn roll(page: Page) {
    page.playing.set(false);
    // The one place where chance comes in, and it is written into the link at once.
    let seed = (js_sys::Math::random() * 9999.0).floor() as u64 + 1;
    page.run.reseed(seed);
}

fn button(name: &'static str, label: fn() -> &'static str, press: impl Fn() + 'static) -> AnyView {
    view! {
        <button
            class="icon-only"
            aria-label=move || label()
            title=move || label()
            on:click=move |_| press()
        >
            {icon(name)}
        </button>
    }
    .into_any()
}

/// The bar.
#[component]
pub fn Transport() -> impl IntoView {
    let page = Page::get();
    let embed = page.options.with_value(|options| options.embed);
    let playing = page.playing;
    let play_label = move || if playing.get() { tr!(transport.pause) } else { tr!(transport.play) };
    let time = move || page.run.clock.with(|clock| format::clock(clock.now));
    view! {
        <footer class="transport" aria-label=move || tr!(transport.title) role="region">
            <div class="buttons">
                {button("back", || tr!(transport.back), move || step(page, false))}
                <button
                    class="play"
                    aria-label=play_label
                    title=play_label
                    on:click=move |_| toggle(page)
                >
                    {move || icon(if playing.get() { "pause" } else { "play" })}
                </button>
                {button("forward", || tr!(transport.forward), move || step(page, true))}
                {button(
                    "restart",
                    || tr!(transport.restart),
                    move || {
                        page.playing.set(false);
                        page.run.restart();
                    },
                )}
            </div>
            <time class="now mono">{time}</time>
            <Scrubber/>
            {(!embed).then(|| view! { <Stretch/> }.into_any())}
            <div class="settings">
                <PaceSwitch/>
                <Speed/>
                {(!embed).then(|| view! { <Seed/><UndoRedo/> }.into_any())}
            </div>
        </footer>
    }
    .into_any()
}

#[component]
fn PaceSwitch() -> impl IntoView {
    let page = Page::get();
    let one = move |pace: Pace, label: fn() -> &'static str, title: fn() -> &'static str| {
        view! {
            <button
                aria-pressed=move || (page.pace.get() == pace).to_string()
                title=move || title()
                on:click=move |_| page.pace.set(pace)
            >
                {move || label()}
            </button>
        }
        .into_any()
    };
    view! {
        <div class="segments" role="group" aria-label=move || tr!(transport.pace)>
            {one(Pace::Paced, || tr!(transport.paced), || tr!(transport.paced_why))}
            {one(Pace::Real, || tr!(transport.real), || tr!(transport.real_why))}
        </div>
    }
    .into_any()
}

#[component]
fn Seed() -> impl IntoView {
    let page = Page::get();
    let seed = move || {
        page.run.changed.track();
        page.run.seed().to_string()
    };
    let choose = move |event| match event_target_value(&event).trim().parse() {
        Ok(seed) => {
            page.playing.set(false);
            page.run.reseed(seed);
        }
        Err(_) => page.complain(tr!(transport.bad_seed)),
    };
    view! {
        <span class="seed">
            <label for="seed">{move || tr!(transport.seed)}</label>
            <input
                id="seed"
                class="mono"
                inputmode="numeric"
                autocomplete="off"
                maxlength="20"
                prop:value=seed
                on:change=choose
            />
            {button("dice", || tr!(transport.dice), move || roll(page))}
        </span>
    }
    .into_any()
}

#[component]
fn UndoRedo() -> impl IntoView {
    let page = Page::get();
    let can = Memo::new(move |_| {
        page.run.changed.track();
        page.run.can_undo_redo()
    });
    view! {
        <span class="undo">
            <button
                class="icon-only"
                aria-label=move || tr!(action.undo)
                title=move || tr!(action.undo)
                disabled=move || !can.get().0
                on:click=move |_| undo(page)
            >
                {icon("undo")}
            </button>
            <button
                class="icon-only"
                aria-label=move || tr!(action.redo)
                title=move || tr!(action.redo)
                disabled=move || !can.get().1
                on:click=move |_| redo(page)
            >
                {icon("redo")}
            </button>
        </span>
    }
    .into_any()
}

/// The moments of all marks but passes: what somebody did, faults, differences, changes of a
/// verdict. In no order.
pub fn marked(page: Page) -> Vec<Time> {
    page.run.story.with_untracked(|story| {
        let marks = story.marks.iter().filter(|mark| mark.what != MarkKind::Pass);
        let turns = story.bands.iter().map(|band| band.from);
        marks.map(|mark| mark.at).chain(turns).collect()
    })
}

/// To the next mark, or to the one before.
pub fn to_mark(page: Page, forward: bool) {
    let now = page.run.clock.with_untracked(|clock| clock.now);
    let moments = marked(page);
    let to = match forward {
        true => moments.into_iter().filter(|at| *at > now).min(),
        false => moments.into_iter().filter(|at| *at < now).max(),
    };
    if let Some(to) = to {
        page.go(to);
    }
}
