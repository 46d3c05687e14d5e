//! `kubectl taint nodes NAME key=value:Effect key:Effect- key-`.

use serde_json::json;

use crate::api::{Object, Str, Taint, TaintEffect};
use crate::apiserver::{Part, Request};

use super::command::Select;
use super::errors::refused;
use super::resources::printed;
use super::update::each;
use super::{Api, Output};

enum Change {
    Set(Taint),
    Remove(Str, Option<TaintEffect>),
}

fn effect(word: &str) -> Result<TaintEffect, String> {
    match word {
        "NoSchedule" => Ok(TaintEffect::NoSchedule),
        "PreferNoSchedule" => Ok(TaintEffect::PreferNoSchedule),
        "NoExecute" => Ok(TaintEffect::NoExecute),
        _ => Err(format!("error: invalid taint effect: {word}, unsupported taint effect")),
    }
}

fn change(text: &str) -> Result<Change, String> {
    if let Some(text) = text.strip_suffix('-') {
        let (key, word) = text.split_once(':').unwrap_or((text, ""));
        let key = key.split('=').next().unwrap_or(key);
        let effect = if word.is_empty() { None } else { Some(effect(word)?) };
        return Ok(Change::Remove(key.into(), effect));
    }
    let Some((left, word)) = text.rsplit_once(':') else {
        return Err(format!("error: invalid taint spec: {text}"));
    };
    let (key, value) = match left.split_once('=') {
        Some((key, value)) => (key, Some(value.into())),
        None => (left, None),
    };
    Ok(Change::Set(Taint { key: key.into(), value, effect: effect(word)?, time_added: None }))
}

/// Sets and removes taints.
pub fn run(select: &Select, changes: &[String], api: &mut dyn Api, out: &mut Output) {
    let changes: Result<Vec<Change>, String> = changes.iter().map(|text| change(text)).collect();
    let changes = match changes {
        Ok(changes) => changes,
        Err(error) => return out.fail(error),
    };
    each(select, api, out, |object, api, out| {
        let Object::Node(node) = &**object else {
            return Err("error: only nodes can be tainted".into());
        };
        let mut taints = node.spec.taints.clone();
        let mut set = false;
        for change in &changes {
            match change {
                Change::Set(taint) => {
                    set = true;
                    taints.retain(|old| old.key != taint.key || old.effect != taint.effect);
                    taints.push(taint.clone());
                }
                Change::Remove(key, effect) => {
                    let count = taints.len();
                    let goes = |old: &Taint| {
                        old.key == *key && effect.is_none_or(|effect| old.effect == effect)
                    };
                    taints.retain(|old| !goes(old));
                    if taints.len() == count {
                        let words = effect.map_or(String::new(), |e| format!(":{e:?}"));
                        return Err(format!("error: taint \"{key}{words}\" not found"));
                    }
                }
            }
        }
        let wanted = if taints.is_empty() { json!(null) } else { json!(taints) };
        let patch = json!({"spec": {"taints": wanted}});
        let request = Request::Patch(Part::Main, object.key(), patch);
        api.request(request).map_err(|error| refused(&error, None))?;
        out.line(format!("{} {}", printed(object), if set { "tainted" } else { "untainted" }));
        Ok(())
    });
}
