//! What the diagram shows, of which lane, of which stretch of time, and how large.

use std::time::Duration;

use leptos::prelude::*;

use crate::ui::bridge::LANES;
use crate::ui::format;
use crate::ui::i18n::tr;
use crate::ui::panel::lanes;
use crate::ui::words;
use crate::view::spacetime::Focus;

use super::{SCALES, Sheet};

pub fn filters(sheet: Sheet) -> AnyView {
    view! {
        <div class="filters">
            {focus(sheet)} {lanes(sheet)} <Show when=move || sheet.is_windowed()>
                {within(sheet)} {check(sheet.idle, || tr!(passes.idle))}
                {check(sheet.every_event, || tr!(diagram.every_event))}
            </Show>
            <span class="zoom">{zoom(sheet, -1)} {zoom(sheet, 1)} {larger(sheet)}</span>
        </div>
    }
    .into_any()
}

/// All that can be asked for, with the words for it.
fn choices(sheet: Sheet) -> Vec<(Focus, String)> {
    let page = sheet.page;
    let mut all = Vec::new();
    let now = sheet.focus.get();
    page.run.story.with(|story| {
        for (place, found) in story.divergences.iter().enumerate() {
            let at = format::clock(found.at);
            all.push((
                Focus::Divergence(place),
                tr!(diagram.to_difference, n = place + 1, at = at),
            ));
        }
    });
    let picked = page.run.picked.get().map(|(lane, number)| Focus::Pass(lane, number));
    let shown = matches!(now, Focus::Pass(..)).then(|| now.clone());
    let mut passes: Vec<Focus> = shown.into_iter().chain(picked).collect();
    passes.dedup();
    for focus in passes {
        let Focus::Pass(lane, number) = focus else { continue };
        if let Some(row) = page.run.pass(lane, number) {
            let at = format::clock(row.pass.started);
            all.push((focus, tr!(diagram.to_pass, name = words::loop_of(&row), at = at)));
        }
    }
    all.push((Focus::Everything, tr!(diagram.everything).to_owned()));
    let objects = page.run.diagram_objects().into_iter();
    all.extend(objects.map(|key| {
        let text = words::object(&key);
        (Focus::Object(key), text)
    }));
    all
}

fn focus(sheet: Sheet) -> AnyView {
    let all = Memo::new(move |_| if sheet.is_shown() { choices(sheet) } else { Vec::new() });
    let change = move |event| {
        let place: Option<usize> = event_target_value(&event).parse().ok();
        let found = place.and_then(|place| all.with_untracked(|all| all.get(place).cloned()));
        if let Some((focus, _)) = found {
            sheet.page.focus.set(Some(focus));
        }
    };
    let options = move || {
        let now = sheet.focus.get();
        let one = |(place, (focus, text)): (usize, (Focus, String))| {
            view! { <option value=place.to_string() selected=focus == now>{text}</option> }
                .into_any()
        };
        all.get().into_iter().enumerate().map(one).collect_view()
    };
    view! {
        <select class="diagram-focus" aria-label=move || tr!(diagram.focus) on:change=change>
            {options}
        </select>
    }
    .into_any()
}

fn lanes(sheet: Sheet) -> AnyView {
    let one = move |lane| {
        lanes::button(lane, move || sheet.shown_lane(), move |lane| sheet.lane.set(lane))
    };
    let choices = move || {
        let both = (!sheet.narrow.get()).then(|| one(None));
        (both, LANES.map(|lane| one(Some(lane))).collect_view())
    };
    view! {
        <Show when=move || sheet.page.run.only.get().is_none() && !sheet.is_of_pass()>
            {lanes::group(choices.into_any())}
        </Show>
    }
    .into_any()
}

const SPANS: [Option<u64>; 4] = [None, Some(10), Some(60), Some(600)];

fn within(sheet: Sheet) -> AnyView {
    let change = move |event| {
        let secs: Option<u64> = event_target_value(&event).parse().ok();
        sheet.within.set(secs.map(Duration::from_secs));
    };
    let one = move |secs: Option<u64>| {
        let text = match secs {
            None => tr!(diagram.all_time).to_owned(),
            Some(secs) => tr!(diagram.last, span = format::span(Duration::from_secs(secs))),
        };
        let chosen = sheet.within.get_untracked() == secs.map(Duration::from_secs);
        let value = secs.map(|secs| secs.to_string()).unwrap_or_default();
        view! { <option value=value selected=chosen>{text}</option> }.into_any()
    };
    view! {
        <select aria-label=move || tr!(diagram.stretch) on:change=change>
            {move || SPANS.map(one).collect_view()}
        </select>
    }
    .into_any()
}

fn check(chosen: RwSignal<bool>, name: fn() -> &'static str) -> AnyView {
    view! {
        <label class="check">
            <input
                type="checkbox"
                prop:checked=move || chosen.get()
                on:change=move |event| chosen.set(event_target_checked(&event))
            />
            {name}
        </label>
    }
    .into_any()
}

fn zoom(sheet: Sheet, by: isize) -> AnyView {
    let next = move || sheet.scale.get().checked_add_signed(by).filter(|at| *at < SCALES.len());
    let name = move || if by > 0 { tr!(diagram.closer) } else { tr!(diagram.wider) };
    view! {
        <button
            class="plain-button"
            aria-label=name
            title=name
            disabled=move || next().is_none()
            on:click=move |_| sheet.zoom(by)
        >
            {if by > 0 { "+" } else { "−" }}
        </button>
    }
    .into_any()
}

fn larger(sheet: Sheet) -> AnyView {
    view! {
        <button
            class="plain-button"
            aria-pressed=move || sheet.large.get().to_string()
            on:click=move |_| sheet.large.update(|large| *large = !*large)
        >
            {move || tr!(diagram.large)}
        </button>
    }
    .into_any()
}
