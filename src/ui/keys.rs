//! Keys that work everywhere but where a text is being written.

use leptos::ev::KeyboardEvent;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

use super::state::{Dialog, Page, Tab};
use super::{speed, stretch, transport};

/// Listens.
pub fn listen(page: Page) {
    let listener = window_event_listener(leptos::ev::keydown, move |event| {
        if !event.default_prevented() && press(page, &event) {
            event.prevent_default();
        }
    });
    on_cleanup(move || listener.remove());
}

fn press(page: Page, event: &KeyboardEvent) -> bool {
    if page.menu.with_untracked(Option::is_some) || page.dialog.get_untracked().is_some() {
        return false;
    }
    let target = event.target().and_then(|to| to.dyn_into::<HtmlElement>().ok());
    let writing = target.as_ref().is_some_and(is_for_writing);
    if target.as_ref().is_some_and(|to| is_slider_key(to, &event.key())) {
        return false;
    }
    if event.ctrl_key() || event.meta_key() {
        return !writing && undo_or_redo(page, event);
    }
    if writing || event.alt_key() {
        return false;
    }
    // A button answers to Space itself, a list of tabs or pods to the arrows.
    let pressable = target.is_some_and(|to| matches!(&*to.tag_name(), "BUTTON" | "A" | "SUMMARY"));
    match event.key().as_str() {
        " " if !pressable => transport::toggle(page),
        "k" => transport::toggle(page),
        "ArrowLeft" | "," => transport::step(page, false),
        "ArrowRight" | "." => transport::step(page, true),
        "Home" => transport::to_start(page),
        "End" => transport::to_end(page),
        "n" => transport::to_mark(page, true),
        "N" => transport::to_mark(page, false),
        "[" => speed::change(page, false),
        "]" => speed::change(page, true),
        "a" => stretch::set_from(page),
        "b" => stretch::set_to(page),
        "l" => stretch::repeat(page),
        "f" => page.dialog.set(Some(Dialog::Futures)),
        "?" => page.dialog.set(Some(Dialog::Help)),
        "/" => to_console(page),
        "i" | "I" => {
            page.tab.set(Tab::Object);
            super::dom::focus_soon("object-choice");
        }
        _ => return false,
    }
    true
}

/// Shows the console, ready to be written into.
fn to_console(page: Page) {
    page.tab.set(Tab::Console);
    super::dom::focus_soon("command-line");
}

fn is_slider(element: &HtmlElement) -> bool {
    element.get_attribute("type").as_deref() == Some("range")
}

/// A slider keeps the keys that move it.
fn is_slider_key(element: &HtmlElement, key: &str) -> bool {
    let moves =
        key.starts_with("Arrow") || key.starts_with("Page") || matches!(key, "Home" | "End");
    is_slider(element) && moves
}

fn is_for_writing(element: &HtmlElement) -> bool {
    (matches!(&*element.tag_name(), "INPUT" | "TEXTAREA" | "SELECT") && !is_slider(element))
        || element.is_content_editable()
        || element.class_list().contains("editor")
}

fn undo_or_redo(page: Page, event: &KeyboardEvent) -> bool {
    match (event.key().to_ascii_lowercase().as_str(), event.shift_key()) {
        ("z", false) => transport::undo(page),
        ("z", true) | ("y", false) => transport::redo(page),
        _ => return false,
    }
    true
}
