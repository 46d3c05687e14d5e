//! YAML with its colours, and the plain field that stands where the editor will be: it looks the
//! same, and can be written in, should the editor never come.

use leptos::prelude::*;
use wasm_bindgen::JsValue;

/// A text with its keys, numbers and comments marked, and line numbers.
pub fn highlighted(text: &str) -> AnyView {
    let lines = text
        .split('\n')
        .map(|line| view! { <span class="line">{colored(line)}"\n"</span> }.into_any());
    view! { <code>{lines.collect_view()}</code> }.into_any()
}

/// Good enough for what the page writes itself: it is a picture of the text, not a parser.
fn colored(line: &str) -> Vec<AnyView> {
    let (line, comment) = match line.find(" #").or(line.starts_with('#').then_some(0)) {
        Some(at) => line.split_at(at),
        None => (line, ""),
    };
    let mut out = Vec::new();
    let body = line.trim_start_matches([' ', '-']);
    out.push(line[..line.len() - body.len()].to_owned().into_any());
    match body.split_once(": ").or_else(|| body.strip_suffix(':').map(|key| (key, ""))) {
        Some((key, value)) if !key.contains(['{', '"']) => {
            let colon = if body.ends_with(':') && value.is_empty() { ":" } else { ": " };
            out.push(view! { <span class="key">{key.to_owned()}</span> }.into_any());
            out.push(colon.into_any());
            out.push(scalar(value));
        }
        _ => out.push(scalar(body)),
    }
    if !comment.is_empty() {
        out.push(view! { <span class="comment">{comment.to_owned()}</span> }.into_any());
    }
    out
}

fn scalar(text: &str) -> AnyView {
    let class = match text.trim() {
        number if is_number(number) => "number",
        "true" | "false" | "null" => "number",
        _ => "",
    };
    view! { <span class=class>{text.to_owned()}</span> }.into_any()
}

/// By the browser's own reader: the tables of ours would be ten kilobytes of the first load.
fn is_number(text: &str) -> bool {
    !text.is_empty() && JsValue::from_str(text).unchecked_into_f64().is_finite()
}
