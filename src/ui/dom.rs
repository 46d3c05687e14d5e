//! Small things asked of the browser. None of them can fail in a way that matters to the page.

use std::cell::RefCell;
use std::rc::Rc;

use leptos::prelude::*;
use leptos::task::{spawn_local, tick};
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Element, HtmlElement, HtmlScriptElement, ResizeObserver, Storage};

/// How many rounds of effects draw what a signal changes; one brings a pane, the next what is in
/// it.
const DRAWN_AFTER: usize = 3;

/// `<html>`.
pub fn root() -> HtmlElement {
    let element = document().document_element();
    element.and_then(|element| element.dyn_into().ok()).expect("a page has a root element")
}

/// Sets `data-<name>` on the root element: style sheets and tests read these.
pub fn mark(name: &str, value: &str) {
    let name = format!("data-{name}");
    if root().get_attribute(&name).as_deref() != Some(value) {
        let _ = root().set_attribute(&name, value);
    }
}

/// Takes it away.
pub fn unmark(name: &str) {
    let _ = root().remove_attribute(&format!("data-{name}"));
}

/// Fetches a script of the page's own and calls back when it has run, or could not be had.
pub fn load_script(src: &str, ready: impl FnOnce() + 'static, failed: impl FnOnce() + 'static) {
    let (Some(head), Ok(script)) = (document().head(), document().create_element("script")) else {
        return;
    };
    let script: HtmlScriptElement = script.unchecked_into();
    script.set_type("module");
    script.set_src(src);
    script.set_onload(Some(Closure::once_into_js(ready).unchecked_ref()));
    script.set_onerror(Some(Closure::once_into_js(failed).unchecked_ref()));
    let _ = head.append_child(&script);
}

/// Whether a media query holds now.
pub fn media(query: &str) -> bool {
    let list = window().match_media(query).ok().flatten();
    list.is_some_and(|list| list.matches())
}

/// Calls back whenever a media query changes its answer, as long as the page lives.
pub fn on_media(query: &str, mut then: impl FnMut(bool) + 'static) {
    let Some(list) = window().match_media(query).ok().flatten() else {
        return;
    };
    let asked = list.clone();
    let closure = Closure::<dyn FnMut()>::new(move || then(asked.matches()));
    list.set_onchange(Some(closure.as_ref().unchecked_ref()));
    closure.forget();
}

/// Pixels of one rem: type is larger in presenter mode, and the canvas must follow.
pub fn rem() -> f64 {
    let style = window().get_computed_style(&root()).ok().flatten();
    style
        .and_then(|style| style.get_property_value("font-size").ok())
        .map(|size| js_sys::parse_float(&size))
        .filter(|size| size.is_finite())
        .unwrap_or(16.0)
}

/// Storage of this tab; none where cookies are forbidden.
pub fn session_storage() -> Option<Storage> {
    window().session_storage().ok().flatten()
}

/// Storage that stays.
pub fn local_storage() -> Option<Storage> {
    window().local_storage().ok().flatten()
}

/// The element that has the focus.
pub fn focused() -> Option<HtmlElement> {
    document().active_element().and_then(|element| element.dyn_into().ok())
}

/// Gives the focus to an element that what just changed brings, before the next event: whoever
/// types on at once types into it. What takes longer has it with the next frame.
pub fn focus_soon(id: &'static str) {
    spawn_local(async move {
        for _ in 0..DRAWN_AFTER {
            tick().await;
            if focus(id) {
                return;
            }
        }
        request_animation_frame(move || {
            focus(id);
        });
    });
}

fn focus(id: &str) -> bool {
    let found = document().get_element_by_id(id);
    let Some(element) = found.and_then(|found| found.dyn_into::<HtmlElement>().ok()) else {
        return false;
    };
    element.focus().is_ok() && focused().is_some_and(|focused| focused == element)
}

/// All elements inside that a selector finds.
pub fn find_all(parent: &Element, selector: &str) -> Vec<HtmlElement> {
    let Ok(list) = parent.query_selector_all(selector) else {
        return Vec::new();
    };
    (0..list.length()).filter_map(|index| list.get(index)?.dyn_into().ok()).collect()
}

/// Moves the focus through a list with the arrow keys; only one of the list is a tab stop. Returns
/// whether the key was one of its own.
pub fn rove(list: &Element, selector: &str, key: &str) -> bool {
    let all = find_all(list, selector);
    let here = focused().and_then(|focus| all.iter().position(|one| *one == focus));
    let Some(here) = here else { return false };
    let to = match key {
        "ArrowRight" | "ArrowDown" => (here + 1) % all.len(),
        "ArrowLeft" | "ArrowUp" => (here + all.len() - 1) % all.len(),
        "Home" => 0,
        "End" => all.len() - 1,
        _ => return false,
    };
    for (index, one) in all.iter().enumerate() {
        one.set_tab_index(if index == to { 0 } else { -1 });
    }
    let _ = all[to].focus();
    true
}

/// Moves the focus through a list in which everything is a tab stop.
pub fn rove_freely(list: &Element, selector: &str, key: &str) -> bool {
    let all = find_all(list, selector);
    if all.is_empty() {
        return false;
    }
    let here = focused().and_then(|focus| all.iter().position(|one| *one == focus));
    let to = match (key, here) {
        ("ArrowDown", None) => 0,
        ("ArrowDown", Some(here)) => (here + 1) % all.len(),
        ("ArrowUp", None) => all.len() - 1,
        ("ArrowUp", Some(here)) => (here + all.len() - 1) % all.len(),
        _ => return false,
    };
    let _ = all[to].focus();
    true
}

/// Calls back whenever an element has another size, as long as the reactive owner lives.
pub fn on_resize(element: &Element, then: impl FnMut() + 'static) {
    let closure = Closure::<dyn FnMut()>::new(then);
    let Ok(observer) = ResizeObserver::new(closure.as_ref().unchecked_ref()) else {
        return;
    };
    observer.observe(element);
    let kept = StoredValue::new_local(Rc::new(RefCell::new(Some((observer, closure)))));
    on_cleanup(move || {
        if let Some(kept) = kept.try_get_value()
            && let Some((observer, _closure)) = kept.borrow_mut().take()
        {
            observer.disconnect();
        }
    });
}
