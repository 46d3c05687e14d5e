//! `kubectl diff`: what applying a text would change, as a unified diff of YAML.

use crate::api::Value;
use crate::apiserver::{Part, Request};
use crate::manifest::{self, Document};

use super::apply::{in_namespace, merged, with_last_applied};
use super::command::FromText;
use super::errors::refused;
use super::merge::difference;
use super::yaml::yaml;
use super::{Api, Output};

/// Lines around a change.
const CONTEXT: usize = 3;
/// How many lines that differ are compared one by one; longer texts are shown whole.
const MAX_LINES: usize = 2_000;

/// Shows what an apply would change.
pub fn run(options: &FromText, stdin: Option<&str>, api: &mut dyn Api, out: &mut Output) {
    let reading = manifest::read(stdin.unwrap_or(""));
    if reading.documents.is_empty() && reading.refusals.is_empty() {
        return out.fail("error: no objects passed to diff");
    }
    let mut errors = Vec::new();
    for document in reading.documents.iter().filter(|document| options.selects(document)) {
        errors.extend(one(document, options, api, out).err());
    }
    for error in errors.iter().chain(&reading.refusals) {
        out.fail(error);
    }
}

fn one(
    document: &Document,
    options: &FromText,
    api: &mut dyn Api,
    out: &mut Output,
) -> Result<(), String> {
    let object = in_namespace(document, options.namespace.as_ref())?;
    let key = object.key();
    let modified = with_last_applied(object, document);
    let (before, after) = match api.get(&key) {
        None => {
            let created = api.dry_run(&Request::Create(modified.into()));
            (String::new(), text(created.map_err(|e| refused(&e, None))?.to_value()))
        }
        Some(current) => {
            let now = current.to_value();
            let merged = merged(&modified, &current)?;
            let patch = difference(&now, &merged.to_value()).filter(|_| merged != *current);
            let after = match patch {
                None => now.clone(),
                Some(patch) => {
                    let patched = api.dry_run(&Request::Patch(Part::Main, key.clone(), patch));
                    patched.map_err(|error| refused(&error, None))?.to_value()
                }
            };
            (text(now), text(after))
        }
    };
    let kind = key.kind.info();
    let version = kind.api_version.replace('/', ".");
    let name = format!("{version}.{}.{}.{}", kind.kind, key.namespace, key.name);
    out.text.push_str(&unified(&name, &before, &after));
    Ok(())
}

/// The object without what changes with every write.
fn text(mut value: Value) -> String {
    if let Some(meta) = value.get_mut("metadata").and_then(Value::as_object_mut) {
        meta.remove("managedFields");
        meta.remove("resourceVersion");
        let annotations = meta.get_mut("annotations").and_then(Value::as_object_mut);
        if annotations.is_some_and(|annotations| {
            annotations.remove(super::apply::LAST_APPLIED);
            annotations.is_empty()
        }) {
            meta.remove("annotations");
        }
    }
    yaml(&value)
}

/// What became of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Kept,
    Removed,
    Added,
}

/// A unified diff; empty if the texts are the same.
pub fn unified(name: &str, before: &str, after: &str) -> String {
    let old: Vec<&str> = before.lines().collect();
    let new: Vec<&str> = after.lines().collect();
    let lines = compare(&old, &new);
    let changed = |at: usize| lines.get(at).is_some_and(|(fate, _)| *fate != Fate::Kept);
    let mut text = String::new();
    let (mut at, mut from, mut to) = (0, 0, 0);
    while at < lines.len() {
        // A hunk begins a few lines before a change.
        let next = (at..lines.len()).find(|&index| changed(index));
        let Some(next) = next else { break };
        while at < next.saturating_sub(CONTEXT) {
            (at, from, to) = (at + 1, from + 1, to + 1);
        }
        let mut end = next;
        let mut quiet = 0;
        while end < lines.len() && quiet <= 2 * CONTEXT {
            quiet = if changed(end) { 0 } else { quiet + 1 };
            end += 1;
        }
        let end = end - quiet.saturating_sub(CONTEXT);
        let hunk = lines.get(at..end).unwrap_or(&[]);
        let count = |fate| hunk.iter().filter(|(f, _)| *f == Fate::Kept || *f == fate).count();
        let (removed, added) = (count(Fate::Removed), count(Fate::Added));
        if text.is_empty() {
            text = format!("--- LIVE/{name}\n+++ MERGED/{name}\n");
        }
        let range = |start: usize, count: usize| match count {
            0 => format!("{start},0"),
            1 => format!("{}", start + 1),
            count => format!("{},{count}", start + 1),
        };
        text.push_str(&format!("@@ -{} +{} @@\n", range(from, removed), range(to, added)));
        for (fate, line) in hunk {
            let sign = match fate {
                Fate::Kept => ' ',
                Fate::Removed => '-',
                Fate::Added => '+',
            };
            text.push(sign);
            text.push_str(line);
            text.push('\n');
        }
        (at, from, to) = (end, from + removed, to + added);
    }
    text
}

/// The lines of both texts, by the longest common subsequence of what differs.
fn compare<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<(Fate, &'t str)> {
    let same = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (start, old) = old.split_at(same);
    let new = new.get(same..).unwrap_or(&[]);
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    let (old, end) = old.split_at(old.len() - tail);
    let (new, _) = new.split_at(new.len() - tail);
    let mut lines: Vec<(Fate, &str)> = start.iter().map(|line| (Fate::Kept, *line)).collect();
    if old.len() > MAX_LINES || new.len() > MAX_LINES {
        lines.extend(old.iter().map(|line| (Fate::Removed, *line)));
        lines.extend(new.iter().map(|line| (Fate::Added, *line)));
    } else {
        lines.extend(longest_common(old, new));
    }
    lines.extend(end.iter().map(|line| (Fate::Kept, *line)));
    lines
}

fn longest_common<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<(Fate, &'t str)> {
    let width = new.len() + 1;
    // `table[i * width + j]`: how much `old[i..]` and `new[j..]` have in common.
    let mut table = vec![0u16; (old.len() + 1) * width];
    let at = |table: &[u16], i: usize, j: usize| table.get(i * width + j).copied().unwrap_or(0);
    for (i, a) in old.iter().enumerate().rev() {
        for (j, b) in new.iter().enumerate().rev() {
            let best = match a == b {
                true => at(&table, i + 1, j + 1) + 1,
                false => at(&table, i + 1, j).max(at(&table, i, j + 1)),
            };
            if let Some(cell) = table.get_mut(i * width + j) {
                *cell = best;
            }
        }
    }
    let mut lines = Vec::new();
    let (mut i, mut j) = (0, 0);
    loop {
        match (old.get(i), new.get(j)) {
            (None, None) => return lines,
            (Some(a), Some(b)) if a == b => {
                lines.push((Fate::Kept, *a));
                (i, j) = (i + 1, j + 1);
            }
            (Some(a), b) if b.is_none() || at(&table, i + 1, j) >= at(&table, i, j + 1) => {
                lines.push((Fate::Removed, *a));
                i += 1;
            }
            (_, Some(b)) => {
                lines.push((Fate::Added, *b));
                j += 1;
            }
            (Some(a), None) => {
                lines.push((Fate::Removed, *a));
                i += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_stands_between_the_lines_around_it() {
        let before: String = (1..=20).map(|n| format!("{n}\n")).collect();
        let after = before.replace("\n10\n", "\nten\n").replace("\n20\n", "\n20\n21\n");
        let wanted = "--- LIVE/x\n+++ MERGED/x\n@@ -7,7 +7,7 @@\n 7\n 8\n 9\n-10\n+ten\n 11\n 12\n \
                      13\n@@ -18,3 +18,4 @@\n 18\n 19\n 20\n+21\n";
        assert_eq!(unified("x", &before, &after), wanted);
        assert_eq!(unified("x", &before, &before), "");
        assert_eq!(unified("x", "", "a\n"), "--- LIVE/x\n+++ MERGED/x\n@@ -0,0 +1 @@\n+a\n");
    }

    #[test]
    fn lines_that_moved_are_told_as_few_changes() {
        let old = ["a", "b", "c", "d"];
        let new = ["b", "c", "x", "d"];
        let lines = compare(&old, &new);
        let changed = lines.iter().filter(|(fate, _)| *fate != Fate::Kept).count();
        assert_eq!((lines.len(), changed), (5, 2));
    }
}
