//! `kubectl cordon` and `uncordon`.

use std::sync::Arc;

use crate::api::{Object, Value};
use crate::apiserver::Part;

use super::change::{self, Words};
use super::command::{DryRun, Format, Select, Shown};
use super::resources::printed;
use super::update::each;
use super::{Api, Output};

/// Keeps new pods from nodes, or lets them on again.
pub fn cordon(select: &Select, on: bool, shown: &Shown, api: &mut dyn Api, out: &mut Output) {
    each(select, api, out, |object, api, out| one(object, on, shown.dry_run, api, out));
}

/// The same for one node.
pub fn one(
    object: &Arc<Object>,
    on: bool,
    dry_run: DryRun,
    api: &mut dyn Api,
    out: &mut Output,
) -> Result<(), String> {
    let word = if on { "cordoned" } else { "uncordoned" };
    let now = match &**object {
        Object::Node(node) => node.spec.unschedulable,
        _ => return Err("error: only nodes can be cordoned".into()),
    };
    if now == on {
        out.line(format!("{} already {word}{}", printed(object), dry_run.suffix()));
        return Ok(());
    }
    let shown = Shown { format: Format::Table, dry_run, local: false };
    change::one(object, Part::Main, &shown, api, out, &mut |_, value, _| {
        if let Some(spec) = value.get_mut("spec").and_then(Value::as_object_mut) {
            match on {
                true => spec.insert("unschedulable".into(), true.into()),
                false => spec.remove("unschedulable"),
            };
        } else {
            value["spec"] = serde_json::json!({ "unschedulable": on });
        }
        Ok(Words::always(word))
    })
}
