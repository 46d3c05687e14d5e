//! The console: kubectl and fault lines, with their answers. What is clicked appears here too, so
//! that clicking teaches typing.

use leptos::ev::{KeyboardEvent, SubmitEvent};
use leptos::html::{Div, Input};
use leptos::prelude::*;

use crate::ui::bridge::{Entry, LaneId, Lanes, Output};
use crate::ui::i18n::tr;
use crate::ui::state::Page;
use crate::ui::words;

#[component]
pub fn Console() -> impl IntoView {
    let page = Page::get();
    let output = NodeRef::<Div>::new();
    Effect::new(move || {
        page.run.console.track();
        page.tab.track();
        request_animation_frame(move || {
            if let Some(output) = output.get_untracked() {
                output.set_scroll_top(output.scroll_height());
            }
        });
    });
    let entries = move || page.run.console.get();
    view! {
        <div class="console">
            <div
                class="output"
                node_ref=output
                tabindex="0"
                role="log"
                aria-label=move || tr!(console.output)
            >
                <Show when=move || page.run.console.with(Vec::is_empty)>
                    <p class="hint-text">{move || tr!(console.hint)}</p>
                    <pre>{EXAMPLES}</pre>
                </Show>
                <For each=entries key=|entry| entry.id children=|entry| shown(&entry)/>
            </div>
            <Prompt/>
        </div>
    }
    .into_any()
}

const EXAMPLES: &str = "kubectl get pods -o wide
kubectl scale deploy web --replicas=5
kubectl set image deploy/web web=registry.example/web:2
fault kill replicaset
fault drop to=replicaset kind=Pod type=DELETED";

fn shown(entry: &Entry) -> AnyView {
    let answers = entry.answers.iter().map(|(lane, output)| answer(*lane, output));
    view! {
        <div class="entry">
            <p class="line"><span aria-hidden="true">"$ "</span>{entry.line.clone()}</p>
            {answers.collect_view()}
        </div>
    }
    .into_any()
}

fn answer(lane: Option<LaneId>, output: &Output) -> AnyView {
    let name = lane.map(|lane| view! { <span class="lane-name">{words::lane(lane)}</span> });
    let text = output.text.trim_end().to_owned();
    let error = output.error;
    view! {
        <div class="answer">
            {name}
            {(!text.is_empty()).then(|| view! { <pre class:error=error>{text}</pre> })}
        </div>
    }
    .into_any()
}

#[component]
fn Prompt() -> impl IntoView {
    let page = Page::get();
    let line = RwSignal::new(String::new());
    let lanes = RwSignal::new(Lanes::Both);
    // Counted from the newest; 0 is what is being written.
    let back = RwSignal::new(0usize);
    let field = NodeRef::<Input>::new();
    // What may come next, where Tab found more than one thing.
    let offers = RwSignal::new(Vec::<String>::new());
    let complete = move || {
        let text = line.get_untracked();
        // At the end of the line only: elsewhere, and where nothing is known, Tab moves on.
        let caret = field.get_untracked().and_then(|field| field.selection_start().ok().flatten());
        let at_end = caret.is_none_or(|caret| caret as usize == text.encode_utf16().count());
        if text.trim().is_empty() || !at_end {
            return false;
        }
        let Some((longer, names)) = page.run.complete(&text) else {
            return false;
        };
        // A second Tab that adds nothing moves on too, so that nobody is held here.
        let same = longer == text && offers.with_untracked(|offered| *offered == names);
        offers.set(names);
        line.set(longer);
        !same
    };
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        let text = line.get_untracked().trim().to_owned();
        if !text.is_empty() {
            let answers = page.run.act(&text, lanes.get_untracked());
            page.follow(&answers);
            line.set(String::new());
            back.set(0);
            offers.set(Vec::new());
        }
    };
    let recall = move |event: KeyboardEvent| {
        let step: i64 = match event.key().as_str() {
            "Tab" if !event.shift_key() => {
                if complete() {
                    event.prevent_default();
                }
                return;
            }
            "ArrowUp" => 1,
            "ArrowDown" => -1,
            _ => return,
        };
        event.prevent_default();
        let lines: Vec<String> = page
            .run
            .console
            .with_untracked(|entries| entries.iter().map(|entry| entry.line.clone()).collect());
        let to = (back.get_untracked() as i64 + step).clamp(0, lines.len() as i64) as usize;
        back.set(to);
        line.set(if to == 0 { String::new() } else { lines[lines.len() - to].clone() });
    };
    let choose = move |event| {
        lanes.set(match event_target_value(&event).as_str() {
            "edge" => Lanes::Edge,
            "level" => Lanes::Level,
            _ => Lanes::Both,
        });
    };
    let offered = move || offers.with(|names| names.join("  "));
    view! {
        <Show when=move || offers.with(|names| !names.is_empty())>
            <p class="hint-text mono" role="status">{offered}</p>
        </Show>
        <form class="prompt" on:submit=submit>
            <span class="mono" aria-hidden="true">"$"</span>
            <input
                class="mono"
                node_ref=field
                aria-label=move || tr!(console.line)
                placeholder="kubectl …"
                spellcheck="false"
                autocapitalize="off"
                autocomplete="off"
                prop:value=move || line.get()
                on:input=move |event| {
                    line.set(event_target_value(&event));
                    offers.set(Vec::new());
                }
                on:keydown=recall
            />
            <select aria-label=move || tr!(lane.which) on:change=choose>
                <option value="both">{move || tr!(lane.both)}</option>
                <option value="edge">{move || words::lane(LaneId::Edge)}</option>
                <option value="level">{move || words::lane(LaneId::Level)}</option>
            </select>
        </form>
    }
    .into_any()
}
