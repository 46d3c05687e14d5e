//! The flavour and the knobs of a loop, turned while the run goes on.

use leptos::prelude::*;

use crate::ui::i18n::tr;
use crate::ui::words;
use crate::view::{LoopId, LoopView};

use super::{Open, choice};

/// Knobs that the menu offers, each with a first value; the console has them all.
const OFFERED: [(&str, &str); 8] = [
    ("workers", "1"),
    ("resync", "30s"),
    ("dedup", "false"),
    ("expectations", "false"),
    ("backoffBase", "1s"),
    ("backoffMax", "30s"),
    ("qps", "1"),
    ("burst", "1"),
];

pub fn items(open: Open, view: &LoopView) -> AnyView {
    view! { {flavour(open, view)}{knob(open, view.id)} }.into_any()
}

fn flavour(open: Open, view: &LoopView) -> Option<AnyView> {
    let now = view.manner;
    let others = view.manners.iter().copied().filter(|manner| *manner != now);
    let others: Vec<_> = others.map(|manner| manner.word()).collect();
    let first = (*others.first()?).to_owned();
    let wanted = RwSignal::new(first);
    let name = words::loop_name(view.id);
    let line = move || format!("fault knob {name} flavour={}", wanted.get());
    let options = others.into_iter().map(|word| view! { <option value=word>{word}</option> });
    Some(
        view! {
            <h3>{tr!(menu.flavour, now = now.word())}</h3>
            <div class="choices">
                <select
                    aria-label=tr!(menu.flavour_to)
                    prop:value=move || wanted.get()
                    on:change=move |change| wanted.set(event_target_value(&change))
                >
                    {options.collect_view()}
                </select>
            </div>
            {choice(open, tr!(menu.switch), line)}
            <p class="why">{tr!(menu.switch_why)}</p>
        }
        .into_any(),
    )
}

fn knob(open: Open, id: LoopId) -> AnyView {
    // A kubelet has a worker for every pod.
    let offered =
        OFFERED.into_iter().filter(move |(knob, _)| id != LoopId::Kubelet || *knob != "workers");
    let first = if id == LoopId::Kubelet { OFFERED[1] } else { OFFERED[0] };
    let knob = RwSignal::new(first.0.to_owned());
    let value = RwSignal::new(first.1.to_owned());
    let name = words::loop_name(id);
    let line = move || format!("fault knob {name} {}={}", knob.get(), value.get());
    let choose = move |change| {
        let chosen = event_target_value(&change);
        let known = OFFERED.iter().find(|(knob, _)| *knob == chosen);
        value.set(known.map(|known| known.1.to_owned()).unwrap_or_default());
        knob.set(chosen);
    };
    let options = offered.map(|(knob, _)| view! { <option value=knob>{knob}</option> });
    view! {
        <h3>{tr!(menu.knobs)}</h3>
        <div class="choices">
            <select
                aria-label=tr!(menu.knob)
                prop:value=move || knob.get()
                on:change=choose
            >
                {options.collect_view()}
            </select>
            <input
                class="mono short"
                aria-label=tr!(menu.value)
                spellcheck="false"
                autocomplete="off"
                prop:value=move || value.get()
                on:input=move |event| value.set(event_target_value(&event).trim().to_owned())
            />
        </div>
        {choice(open, tr!(menu.turn), line)}
    }
    .into_any()
}
