//! The console: kubectl and fault lines, with their answers. What is clicked appears here too, so
//! that clicking teaches typing.

use leptos::ev::{KeyboardEvent, SubmitEvent};
use leptos::html::{Div, Input};
use leptos::prelude::*;

use crate::ui::bridge::{Entry, LaneId, Lanes, Output};
use crate::ui::dom;
use crate::ui::follow::Follows;
use crate::ui::i18n::tr;
use crate::ui::share;
use crate::ui::state::{Page, Tab};
use crate::ui::words;
use crate::view::reads_input;

/// So many pixels from its end, the output is scrolled along with what comes.
const NEAR_THE_END: i32 = 160;

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
    Effect::new(move || {
        page.run.printed.track();
        // Whoever reads further up is left there.
        let Some(output) = output.get_untracked() else { return };
        let below = output.scroll_height() - output.scroll_top() - output.client_height();
        if below < NEAR_THE_END {
            request_animation_frame(move || output.set_scroll_top(output.scroll_height()));
        }
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
                <For each=entries key=|entry| entry.id children=move |entry| shown(page, &entry)/>
            </div>
            <Prompt/>
            {copy_button(page)}
        </div>
    }
    .into_any()
}

/// Copies all that stands in the console, as it stands there.
fn copy_button(page: Page) -> AnyView {
    let copy = move |_| {
        let text = page.run.console.with_untracked(|entries| {
            let texts = entries.iter().map(transcript);
            texts.collect::<String>()
        });
        share::copy(page, text, tr!(console.copied), tr!(console.not_copied));
    };
    view! {
        <button
            class="plain-button copy"
            disabled=move || page.run.console.with(Vec::is_empty)
            on:click=copy
        >
            {move || tr!(console.copy)}
        </button>
    }
    .into_any()
}

fn transcript(entry: &Entry) -> String {
    let mut text = format!("$ {}\n", entry.line);
    let mut add = |lane: &Option<LaneId>, said: &str| {
        if let Some(lane) = lane {
            text.push_str(&format!("# {}\n", words::lane_word(*lane)));
        }
        text.push_str(said);
    };
    match &entry.follows {
        Some(follows) => follows.shown.with_untracked(|lanes| {
            lanes.iter().for_each(|(lane, followed)| add(lane, &followed.text));
        }),
        None => entry.answers.iter().for_each(|(lane, output)| add(lane, &output.text)),
    }
    text
}

const EXAMPLES: &str = "kubectl get pods -o wide
kubectl scale deploy web --replicas=5
kubectl set image deploy/web web=registry.example/web:2
fault kill replicaset
fault drop to=replicaset kind=Pod type=DELETED";

/// A line leads to the moment at which it was given.
fn shown(page: Page, entry: &Entry) -> AnyView {
    let at = entry.at;
    let go = move |_| page.go(at);
    let said = match &entry.follows {
        Some(follows) => printed(page, follows.clone()),
        None => {
            let answers = entry.answers.iter().map(|(lane, output)| answer(*lane, output));
            answers.collect_view().into_any()
        }
    };
    view! {
        <div class="entry">
            <p class="line">
                <button class="go" title=move || tr!(log.go) on:click=go>
                    <span aria-hidden="true">"$ "</span>
                    {entry.line.clone()}
                </button>
            </p>
            {said}
            {super::costs::below(page, at, entry.line.clone(), None, Some(Tab::Console))}
        </div>
    }
    .into_any()
}

/// What a line goes on printing, with a mark as long as it does. It is told to nobody as it comes:
/// `announce` tells some of it.
fn printed(page: Page, follows: Follows) -> AnyView {
    let Follows { number, shown } = follows;
    let lanes = shown.clone();
    let lanes = move || {
        lanes.with(|lanes| {
            let each =
                lanes.iter().map(|(lane, followed)| block(*lane, &followed.text, followed.error));
            each.collect_view()
        })
    };
    let is_open =
        Memo::new(move |_| shown.with(|lanes| lanes.iter().any(|(_, followed)| followed.is_open)));
    let stop = move |_| {
        page.run.stop_following(Some(number));
        dom::focus_soon("command-line");
    };
    view! {
        <div aria-live="off">{lanes}</div>
        <Show when=move || is_open.get()>
            <p class="follows">
                <span class="mark" aria-hidden="true"></span>
                {move || tr!(console.follows)}
                <button class="plain-button" on:click=stop>{move || tr!(console.stop)}</button>
            </p>
        </Show>
    }
    .into_any()
}

fn answer(lane: Option<LaneId>, output: &Output) -> AnyView {
    block(lane, &output.text, output.error)
}

fn block(lane: Option<LaneId>, text: &str, error: bool) -> AnyView {
    let name = lane.map(|lane| view! { <span class="lane-name">{words::lane(lane)}</span> });
    let text = text.trim_end().to_owned();
    view! {
        <div class="answer">
            {name}
            {(!text.is_empty()).then(|| view! { <pre tabindex="0" class:error=error>{text}</pre> })}
        </div>
    }
    .into_any()
}

/// The line that is being written.
#[derive(Clone, Copy)]
struct Typing {
    page: Page,
    line: RwSignal<String>,
    lanes: RwSignal<Lanes>,
    /// Counted from the newest; 0 is what is being written.
    back: RwSignal<usize>,
    /// What may come next, where Tab found more than one thing.
    offers: RwSignal<Vec<String>>,
    field: NodeRef<Input>,
}

impl Typing {
    fn new(page: Page) -> Typing {
        Typing {
            page,
            line: RwSignal::new(String::new()),
            lanes: RwSignal::new(Lanes::Both),
            back: RwSignal::new(0),
            offers: RwSignal::new(Vec::new()),
            field: NodeRef::new(),
        }
    }

    fn submit(self) {
        let text = self.line.get_untracked().trim().to_owned();
        if text.is_empty() {
            return;
        }
        // As in a terminal: a line that goes on printing ends before the next one begins.
        self.page.run.stop_following(None);
        // There is one text to be read from: the editor's.
        let stdin = reads_input(&text).then(|| self.page.draft.text.get_untracked());
        let lanes = self.lanes.get_untracked();
        let answers = self.page.run.act_with(&text, stdin.as_deref(), lanes);
        self.line.set(String::new());
        self.back.set(0);
        self.offers.set(Vec::new());
        self.page.follow(&answers);
    }

    /// Completes the line. Whether there was something to complete: else Tab moves on, also when
    /// it is pressed again and adds nothing, so that nobody is held here.
    fn complete(self) -> bool {
        let text = self.line.get_untracked();
        let field = self.field.get_untracked();
        let caret = field.and_then(|field| field.selection_start().ok().flatten());
        let at_end = caret.is_none_or(|caret| caret as usize == text.encode_utf16().count());
        if text.trim().is_empty() || !at_end {
            return false;
        }
        let Some((longer, names)) = self.page.run.complete(&text) else {
            return false;
        };
        let same = longer == text && self.offers.with_untracked(|offered| *offered == names);
        self.offers.set(names);
        self.line.set(longer);
        !same
    }

    /// Goes through the lines that were written before.
    fn recall(self, step: i64) {
        let lines: Vec<String> = self
            .page
            .run
            .console
            .with_untracked(|entries| entries.iter().map(|entry| entry.line.clone()).collect());
        let to = (self.back.get_untracked() as i64 + step).clamp(0, lines.len() as i64) as usize;
        self.back.set(to);
        self.line.set(if to == 0 { String::new() } else { lines[lines.len() - to].clone() });
    }

    /// Ctrl-C, where nothing is selected that it would copy.
    fn breaks_off(self, event: &KeyboardEvent) -> bool {
        let field = self.field.get_untracked();
        let ends = field.map(|field| (field.selection_start().ok(), field.selection_end().ok()));
        let selects = ends.is_some_and(|(from, to)| from != to);
        event.ctrl_key() && !selects && self.page.run.stop_following(None)
    }

    fn press(self, event: KeyboardEvent) {
        let done = match event.key().as_str() {
            "c" => self.breaks_off(&event),
            "Tab" => !event.shift_key() && self.complete(),
            "ArrowUp" => {
                self.recall(1);
                true
            }
            "ArrowDown" => {
                self.recall(-1);
                true
            }
            _ => false,
        };
        if done {
            event.prevent_default();
        }
    }

    fn write(self, text: String) {
        self.line.set(text);
        self.offers.set(Vec::new());
    }
}

#[component]
fn Prompt() -> impl IntoView {
    let typing = Typing::new(Page::get());
    let Typing { line, lanes, offers, field, .. } = typing;
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        typing.submit();
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
                id="command-line"
                node_ref=field
                aria-label=move || tr!(console.line)
                placeholder="kubectl …"
                spellcheck="false"
                autocapitalize="off"
                autocomplete="off"
                prop:value=move || line.get()
                on:input=move |event| typing.write(event_target_value(&event))
                on:keydown=move |event| typing.press(event)
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
