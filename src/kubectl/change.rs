//! Changing the objects that a line names: the common way of `label`, `set`, `scale` and others,
//! from the object as it is to the answer.

use std::sync::Arc;

use crate::api::{Object, Value};
use crate::apiserver::{Part, Request};
use crate::manifest;

use super::command::{DryRun, Select, Shown};
use super::errors::refused;
use super::merge::difference;
use super::resources::{find, nothing_found, printed};
use super::show;
use super::{Api, Output};

/// What is said of a change.
pub struct Words {
    /// If it changed something: `labeled`.
    pub changed: String,
    /// If it changed nothing; absent: nothing is said.
    pub same: Option<String>,
}

impl Words {
    /// The same words either way.
    pub fn always(words: &str) -> Words {
        Words { changed: words.into(), same: Some(words.into()) }
    }

    /// Words for a change alone.
    pub fn if_changed(words: &str) -> Words {
        Words { changed: words.into(), same: None }
    }
}

/// What is done to an object: its value is changed, or an error is told.
pub type Edit<'e> = &'e mut dyn FnMut(&Object, &mut Value, &mut Output) -> Result<Words, String>;

/// Changes every object that a line names, or, with `--local`, those of the text.
pub fn run(
    select: &Select,
    shown: &Shown,
    stdin: Option<&str>,
    api: &mut dyn Api,
    out: &mut Output,
    edit: Edit<'_>,
) {
    let mut errors = Vec::new();
    if shown.local {
        let reading = manifest::read(stdin.unwrap_or(""));
        for document in &reading.documents {
            let mut after = document.value.clone();
            match edit(&document.object, &mut after, out) {
                Ok(words) => {
                    let same = after == document.value;
                    let name = printed(&document.object);
                    say(&after, &name, same, &words, shown, out);
                }
                Err(error) => errors.push(error),
            }
        }
        errors.extend(reading.refusals);
        errors.into_iter().for_each(|error| out.fail(error));
        return;
    }
    let mut any = false;
    for found in find(select, api) {
        errors.extend(found.missing);
        for object in found.objects {
            any = true;
            errors.extend(one(&object, Part::Main, shown, api, out, edit).err());
        }
    }
    if !any && errors.is_empty() {
        nothing_found(select, out);
    }
    errors.into_iter().for_each(|error| out.fail(error));
}

/// Changes one object.
pub fn one(
    object: &Arc<Object>,
    part: Part,
    shown: &Shown,
    api: &mut dyn Api,
    out: &mut Output,
    edit: Edit<'_>,
) -> Result<(), String> {
    let before = object.to_value();
    let mut after = before.clone();
    let words = edit(object, &mut after, out)?;
    let name = printed(object);
    let Some(patch) = difference(&before, &after) else {
        say(&before, &name, true, &words, shown, out);
        return Ok(());
    };
    let request = Request::Patch(part, object.key(), patch);
    let answer = match shown.dry_run {
        DryRun::Client => {
            say(&after, &name, false, &words, shown, out);
            return Ok(());
        }
        DryRun::Server => api.dry_run(&request),
        DryRun::No => api.request(request),
    };
    let now = answer.map_err(|error| refused(&error, None))?;
    say(&now.to_value(), &name, *now == **object, &words, shown, out);
    Ok(())
}

/// Says what became of one object.
pub fn say(value: &Value, name: &str, same: bool, words: &Words, shown: &Shown, out: &mut Output) {
    use super::command::Format;
    let words = if same { words.same.as_ref() } else { Some(&words.changed) };
    match (&shown.format, words) {
        (Format::Table | Format::Wide | Format::Name, Some(words)) => {
            show::sentence(name, words, shown, out);
        }
        (Format::Table | Format::Wide | Format::Name, None) => {}
        (format, _) => show::value(value, format, out),
    }
}
