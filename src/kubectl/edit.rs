//! `kubectl edit`: the object as a manifest for the page's editor, which applies what becomes of
//! it. What only the server writes is left out, so that the text can be applied again.

use crate::api::Value;

use super::apply::LAST_APPLIED;
use super::command::Select;
use super::resources::{find, nothing_found, printed};
use super::yaml::yaml;
use super::{Api, Next, Output};

/// Hands the objects that a line names to an editor.
pub fn run(select: &Select, api: &dyn Api, out: &mut Output) {
    let mut texts = Vec::new();
    for found in find(select, api) {
        if let Some(missing) = found.missing {
            out.fail(missing);
        }
        for object in found.objects {
            texts.push(yaml(&editable(object.to_value())));
            out.line(format!("{} is for the editor: apply what you change", printed(&object)));
        }
    }
    match texts.is_empty() {
        true if out.error => {}
        true => nothing_found(select, out),
        false => out.next = Next::Edit(texts.join("---\n")),
    }
}

/// The object without what the server gave it.
fn editable(mut value: Value) -> Value {
    const SERVERS: [&str; 6] =
        ["uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink"];
    if let Some(fields) = value.as_object_mut() {
        fields.remove("status");
    }
    let meta = value.get_mut("metadata").and_then(Value::as_object_mut);
    if let Some(meta) = meta {
        meta.retain(|key, _| !SERVERS.contains(&key.as_str()));
        let annotations = meta.get_mut("annotations").and_then(Value::as_object_mut);
        let empty = annotations.is_some_and(|annotations| {
            annotations.remove(LAST_APPLIED);
            annotations.is_empty()
        });
        if empty {
            meta.remove("annotations");
        }
    }
    value
}
