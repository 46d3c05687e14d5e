//! `kubectl taint nodes NAME key=value:Effect key:Effect- key-`.

use serde_json::json;

use crate::api::{Object, Str, Taint, TaintEffect};
use crate::apiserver::Part;

use super::change::{self, Words};
use super::command::{Select, Taints};
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
        _ => Err(format!(
            "error: invalid taint effect: {word}, unsupported taint effect\n\
             See 'kubectl taint -h' for help and examples"
        )),
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
pub fn run(select: &Select, taints: &Taints, api: &mut dyn Api, out: &mut Output) {
    let changes: Result<Vec<Change>, String> =
        taints.changes.iter().map(|text| change(text)).collect();
    let changes = match changes {
        Ok(changes) => changes,
        Err(error) => return out.fail(error),
    };
    each(select, api, out, |object, api, out| {
        change::one(object, Part::Main, &taints.shown, api, out, &mut |object, value, _| {
            let Object::Node(node) = object else {
                return Err("error: only nodes can be tainted".into());
            };
            let after = after(&node.spec.taints, &changes, taints.overwrite, object)?;
            if value.get("spec").is_none() {
                value["spec"] = json!({});
            }
            match (after.is_empty(), value.get_mut("spec").and_then(|spec| spec.as_object_mut())) {
                (true, Some(spec)) => {
                    spec.remove("taints");
                }
                (false, Some(spec)) => {
                    spec.insert("taints".into(), json!(after));
                }
                (_, None) => {}
            }
            let removes = |change: &Change| matches!(change, Change::Remove(..));
            let only_removes = changes.iter().all(removes);
            let mixed = changes.iter().any(removes) && !only_removes;
            Ok(Words::always(match (only_removes, mixed) {
                (true, _) => "untainted",
                (_, true) => "modified",
                _ => "tainted",
            }))
        })
    });
}

/// The taints after the changes. Without `--overwrite` a taint that is there keeps its value.
fn after(
    before: &[Taint],
    changes: &[Change],
    overwrite: bool,
    node: &Object,
) -> Result<Vec<Taint>, String> {
    let mut taints = before.to_vec();
    for change in changes {
        match change {
            Change::Set(taint) => {
                let same = |old: &Taint| old.key == taint.key && old.effect == taint.effect;
                if !overwrite && before.iter().any(same) {
                    return Err(format!(
                        "error: node {} already has {} taint(s) with same effect(s) and \
                         --overwrite is false",
                        printed(node).trim_start_matches("node/"),
                        taint.key
                    ));
                }
                taints.retain(|old| !same(old));
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
    Ok(taints)
}
