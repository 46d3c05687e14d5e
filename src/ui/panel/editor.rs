//! The editor's place. At first a plain field over a coloured picture of the text; when it is first
//! entered, CodeMirror is fetched (`editor.js`) and takes the place.

use leptos::ev::KeyboardEvent;
use leptos::html::{Div, Textarea};
use leptos::prelude::*;
use wasm_bindgen::prelude::*;

use crate::ui::bridge::{Problem, Severity};
use crate::ui::dom;
use crate::ui::i18n::tr;
use crate::ui::state::Page;
use crate::ui::words;

use super::plain::highlighted;
use super::yaml::apply;

#[wasm_bindgen]
extern "C" {
    /// What `editor/editor.js` gives back.
    #[derive(Clone)]
    type Api;
    #[wasm_bindgen(method, js_name = setText)]
    fn set_text(this: &Api, text: &str);
    #[wasm_bindgen(method, js_name = setProblems)]
    fn set_problems(this: &Api, problems: &js_sys::Array);
    #[wasm_bindgen(method, js_name = setLabel)]
    fn set_label(this: &Api, label: &str);
    #[wasm_bindgen(method)]
    fn focus(this: &Api, at: u32);

    #[wasm_bindgen(thread_local_v2, js_name = loopscopeEditor)]
    static MODULE: Option<Module>;

    #[derive(Clone)]
    type Module;
    #[wasm_bindgen(method)]
    fn create(
        this: &Module,
        host: &web_sys::HtmlElement,
        text: &str,
        on_change: &js_sys::Function,
        on_apply: &js_sys::Function,
    ) -> Api;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Plain,
    Loading,
    Rich,
}

#[component]
pub fn Editor(problems: RwSignal<Vec<Problem>>) -> impl IntoView {
    let page = Page::get();
    let stage = RwSignal::new(Stage::Plain);
    let host = NodeRef::<Div>::new();
    let field = NodeRef::<Textarea>::new();
    let api = StoredValue::new_local(None::<Api>);
    let enter = move |_| {
        if stage.get_untracked() == Stage::Plain {
            stage.set(Stage::Loading);
            load(page, stage, host, field, api);
        }
    };
    Effect::new(move || {
        let text = page.draft.text.get();
        api.with_value(|api| api.as_ref().inspect(|api| api.set_text(&text)).is_some());
    });
    Effect::new(move || {
        stage.track();
        let label = tr!(yaml.label);
        let list = problems.with(|problems| problems.iter().map(to_js).collect::<js_sys::Array>());
        api.with_value(|api| {
            if let Some(api) = api {
                api.set_label(label);
                api.set_problems(&list);
            }
        });
    });
    let press = move |event: KeyboardEvent| {
        if event.key() == "Enter" && (event.ctrl_key() || event.meta_key()) {
            event.prevent_default();
            apply(page);
        }
    };
    view! {
        <div class="editor-place">
            <div class="editor" node_ref=host hidden=move || stage.get() != Stage::Rich></div>
            <div class="plain" hidden=move || stage.get() == Stage::Rich>
                <pre aria-hidden="true">{move || highlighted(&page.draft.text.get())}</pre>
                <textarea
                    node_ref=field
                    spellcheck="false"
                    autocapitalize="off"
                    autocomplete="off"
                    wrap="off"
                    aria-label=move || tr!(yaml.label)
                    prop:value=move || page.draft.text.get()
                    on:input=move |event| page.draft.text.set(event_target_value(&event))
                    on:focus=enter
                    on:keydown=press
                ></textarea>
            </div>
        </div>
    }
    .into_any()
}

fn to_js(problem: &Problem) -> JsValue {
    let message = match &problem.hint {
        Some(hint) => format!("{}. {}", problem.message, words::hint(hint)),
        None => problem.message.clone(),
    };
    let severity = match problem.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "info",
    };
    js_sys::Array::of5(
        &problem.line.into(),
        &problem.column.into(),
        &problem.end_column.into(),
        &message.into(),
        &severity.into(),
    )
    .into()
}

/// Fetches the editor. If it cannot be had, the plain field stays.
fn load(
    page: Page,
    stage: RwSignal<Stage>,
    host: NodeRef<Div>,
    field: NodeRef<Textarea>,
    api: StoredValue<Option<Api>, LocalStorage>,
) {
    let ready = move || {
        let (Some(host), Some(module)) = (host.get_untracked(), MODULE.with(Clone::clone)) else {
            return;
        };
        let focused = field
            .get_untracked()
            .is_some_and(|field| document().active_element().is_some_and(|now| now == **field));
        let at = field.get_untracked().and_then(|field| field.selection_start().ok().flatten());
        let text = page.draft.text.get_untracked();
        let change = Closure::<dyn FnMut(String)>::new(move |text: String| {
            if page.draft.text.with_untracked(|old| *old != text) {
                page.draft.text.set(text);
            }
        });
        let run = Closure::<dyn FnMut()>::new(move || apply(page));
        let made = module.create(
            &host,
            &text,
            change.as_ref().unchecked_ref(),
            run.as_ref().unchecked_ref(),
        );
        // The editor lives as long as the page.
        change.forget();
        run.forget();
        api.set_value(Some(made.clone()));
        stage.set(Stage::Rich);
        if focused {
            // Not before it is seen: what is hidden takes no focus.
            request_animation_frame(move || made.focus(at.unwrap_or(0)));
        }
    };
    dom::load_script("./editor.js", ready, move || stage.set(Stage::Plain));
}
