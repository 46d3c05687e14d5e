//! `kubectl cordon` and `uncordon`.

use crate::api::Object;
use crate::apiserver::{Part, Request};

use serde_json::json;

use super::command::Select;
use super::errors::refused;
use super::resources::printed;
use super::update::each;
use super::{Api, Output};

/// Keeps new pods from nodes, or lets them on again.
pub fn cordon(select: &Select, on: bool, api: &mut dyn Api, out: &mut Output) {
    let word = if on { "cordoned" } else { "uncordoned" };
    each(select, api, out, |object, api, out| {
        let now = match &**object {
            Object::Node(node) => node.spec.unschedulable,
            _ => return Err("error: only nodes can be cordoned".into()),
        };
        if now == on {
            out.line(format!("{} already {word}", printed(object)));
            return Ok(());
        }
        let wanted = if on { json!(true) } else { json!(null) };
        let patch = json!({"spec": {"unschedulable": wanted}});
        let request = Request::Patch(Part::Main, object.key(), patch);
        api.request(request).map_err(|error| refused(&error, None))?;
        out.line(format!("{} {word}", printed(object)));
        Ok(())
    });
}
