//! The menu of a pod, a loop, a node, an object or a message: what can be done to it, in this lane
//! or in both, each with the console line that it stands for.

mod flight;
mod knobs;
pub mod lines;
mod loops;
mod node;
mod object;
mod pod;
mod server;

use leptos::ev::MouseEvent;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::Element;

use crate::api::ObjectKey;

use super::bridge::Lanes;
use super::dom;
use super::i18n::tr;
use super::icon::icon;
use super::state::{Page, Target, What};
use super::words;

/// Where a click happened, and whether it was a pointer's: from the keyboard it counts as beside
/// the button.
pub fn place_of(event: &MouseEvent) -> ((f64, f64), bool) {
    if event.detail() > 0 {
        return ((event.client_x().into(), event.client_y().into()), true);
    }
    let target = event.current_target().or_else(|| event.target());
    let Some(element) = target.and_then(|to| to.dyn_into::<Element>().ok()) else {
        return ((0.0, 0.0), false);
    };
    let frame = element.get_bounding_client_rect();
    ((frame.left() + frame.width() / 2.0, frame.bottom()), false)
}

/// One menu, as it is built for its target.
#[derive(Clone, Copy)]
pub struct Open {
    page: Page,
    /// For both lanes, or only for that of the target.
    both: RwSignal<bool>,
    /// In a while, or now.
    later: RwSignal<bool>,
    target: StoredValue<Target>,
}

impl Open {
    fn lanes(&self) -> Lanes {
        if self.both.get_untracked() {
            Lanes::Both
        } else {
            self.target.with_value(|target| target.lane).into()
        }
    }

    /// The line, with its moment if it is put off.
    fn line(&self, line: &str) -> String {
        if self.later.get() { format!("in 5s {line}") } else { line.to_owned() }
    }

    /// Runs a line as it stands in the menu, and closes it.
    fn run(&self, line: &str) {
        let (line, lanes) = (untrack(|| self.line(line)), self.lanes());
        self.close();
        self.page.act(&line, lanes);
    }

    fn close(&self) {
        self.page.menu.set(None);
    }
}

/// What pressing an item does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Does {
    /// Runs its line.
    Runs,
    /// Runs its line in the console, where the answer is read.
    Shows,
}

/// An item: its name, and the line that it runs.
pub fn item(open: Open, name: &'static str, does: Does, line: String) -> AnyView {
    match does {
        Does::Runs => choice(open, name, move || line.clone()),
        Does::Shows => {
            let run = line.clone();
            let press = move |_| {
                let lanes = open.lanes();
                open.close();
                open.page.show(&run, lanes);
            };
            view! {
                <button class="item" on:click=press>
                    <span>{name}</span>
                    <code>{line}</code>
                </button>
            }
            .into_any()
        }
    }
}

/// An item whose line follows what is chosen beside it.
pub fn choice(
    open: Open,
    name: &'static str,
    line: impl Fn() -> String + Clone + Send + 'static,
) -> AnyView {
    let run = line.clone();
    view! {
        <button class="item" on:click=move |_| open.run(&untrack(&run))>
            <span>{name}</span>
            <code>{move || open.line(&line())}</code>
        </button>
    }
    .into_any()
}

/// The item that opens the Object tab, in the lane of the target.
pub fn inspect(open: Open, key: &ObjectKey) -> AnyView {
    let key = key.clone();
    let press = move |_| {
        let lane = open.target.with_value(|target| target.lane);
        open.close();
        open.page.inspect(lane, key.clone());
    };
    view! {
        <button class="item" on:click=press>
            <span>{tr!(menu.inspect)}</span>
            <kbd>"I"</kbd>
        </button>
    }
    .into_any()
}

/// The menu that is open, if one is.
#[component]
pub fn Menu() -> impl IntoView {
    let page = Page::get();
    let dialog = NodeRef::<html::Dialog>::new();
    let target = StoredValue::new(None::<Target>);
    Effect::new(move || {
        let Some(dialog) = dialog.get() else { return };
        match page.menu.get() {
            Some(now) => {
                place(&dialog, now.at);
                target.set_value(Some(now));
                if !dialog.open() {
                    // It fails only if the dialog is open or not in the page.
                    let _ = dialog.show_modal();
                }
                fit(&dialog);
            }
            None if dialog.open() => dialog.close(),
            None => {}
        }
    });
    let closed = move |_| {
        page.menu.set(None);
        let Some(Some(was)) = target.try_update_value(Option::take) else {
            return;
        };
        if was.by_pointer {
            // A mouse leaves no focus behind: the arrow keys go on stepping through time.
            if let Some(focus) = dom::focused() {
                let _ = focus.blur();
            }
        }
        if was.resume {
            page.playing.set(true);
        }
    };
    let press = move |event: leptos::ev::KeyboardEvent| {
        let Some(dialog) = dialog.get_untracked() else { return };
        if matches!(event.key().as_str(), "ArrowDown" | "ArrowUp")
            && dom::rove_freely(&dialog, "button.item", &event.key())
        {
            event.prevent_default();
        }
    };
    view! {
        <dialog
            class="menu"
            node_ref=dialog
            aria-labelledby="menu-title"
            on:close=closed
            on:click=move |event| close_outside(&event, dialog)
            on:keydown=press
        >
            {move || page.menu.get().map(|target| content(page, target))}
        </dialog>
    }
    .into_any()
}

fn place(dialog: &web_sys::HtmlDialogElement, (x, y): (f64, f64)) {
    let style = web_sys::HtmlElement::style(dialog);
    let _ = style.set_property("left", &format!("{x:.0}px"));
    let _ = style.set_property("top", &format!("{:.0}px", y + 6.0));
}

/// Keeps the menu on the screen.
fn fit(dialog: &web_sys::HtmlDialogElement) {
    let frame = dialog.get_bounding_client_rect();
    let size = |value: Result<wasm_bindgen::JsValue, _>| {
        value.ok().and_then(|value| value.as_f64()).unwrap_or(0.0)
    };
    let (width, height) = (size(window().inner_width()), size(window().inner_height()));
    let left = frame.left().min(width - frame.width() - 8.0).max(8.0);
    let top = frame.top().min(height - frame.height() - 8.0).max(8.0);
    let style = web_sys::HtmlElement::style(dialog);
    let _ = style.set_property("left", &format!("{left:.0}px"));
    let _ = style.set_property("top", &format!("{top:.0}px"));
}

/// A click on the dialog itself, not on what is in it, is a click beside it.
pub fn close_outside(event: &MouseEvent, dialog: NodeRef<html::Dialog>) {
    let Some(dialog) = dialog.get_untracked() else {
        return;
    };
    let on_itself = event.target().is_some_and(|target| target == *dialog.unchecked_ref());
    if on_itself {
        dialog.close();
    }
}

fn content(page: Page, target: Target) -> AnyView {
    let (both, later) = (RwSignal::new(true), RwSignal::new(false));
    let open = Open { page, both, later, target: StoredValue::new(target.clone()) };
    let (title, body) = match &target.what {
        What::Pod(key) => (key.name.to_string(), pod::items(open, key)),
        What::Pods(node) => (node.to_string(), pod::list(open, node)),
        What::Object(key, want) => (words::object(key), object::items(open, key, *want)),
        What::Loop(id) => (words::loop_name(*id).to_owned(), loops::items(open, *id)),
        What::Node(name) => (name.to_string(), node::items(open, name)),
        What::Server => (tr!(board.title).to_owned(), server::items(open)),
        What::Flight(id) => flight::items(open, target.lane, *id),
    };
    let choice = !matches!(target.what, What::Flight(_) | What::Pods(_));
    view! {
        <div class="menu-body">
            <header>
                <h2 class="mono" id="menu-title">{title}</h2>
                <button
                    class="icon-only"
                    aria-label=tr!(action.close)
                    on:click=move |_| open.close()
                >
                    {icon("close")}
                </button>
            </header>
            {choice
                .then(|| {
                    view! {
                        <div class="choices">
                            {lanes_choice(open, target.lane)}
                            {moment_choice(open)}
                        </div>
                    }
                })}
            {body}
        </div>
    }
    .into_any()
}

/// Now, or in a while: then it stands on the timeline and can be taken back.
fn moment_choice(open: Open) -> AnyView {
    let one = move |later: bool, name: &'static str| {
        view! {
            <button
                aria-pressed=move || (open.later.get() == later).to_string()
                on:click=move |_| open.later.set(later)
            >
                {name}
            </button>
        }
        .into_any()
    };
    view! {
        <div class="segments" role="group" aria-label=tr!(menu.when)>
            {one(false, tr!(menu.now))}
            {one(true, tr!(menu.later))}
        </div>
    }
    .into_any()
}

fn lanes_choice(open: Open, lane: crate::view::LaneId) -> AnyView {
    let one = move |both: bool, name: String| {
        view! {
            <button
                aria-pressed=move || (open.both.get() == both).to_string()
                on:click=move |_| open.both.set(both)
            >
                {name}
            </button>
        }
        .into_any()
    };
    view! {
        <div class="segments" role="group" aria-label=tr!(lane.which)>
            {one(true, tr!(lane.both).to_owned())}
            {one(false, tr!(lane.only, name = words::lane(lane)))}
        </div>
    }
    .into_any()
}
