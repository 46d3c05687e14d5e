//! Server-side apply: who wants which fields of an object, what a write takes from whom, and what
//! goes because its last manager no longer wants it. Kubernetes: structured-merge-diff
//! `merge/update.go`, apimachinery `pkg/util/managedfields`.
//!
//! What it costs: the writes of an object are recorded from the moment a person (kubectl, a
//! deployment tool) first writes it. Of an object that only components ever wrote, as nearly all
//! pods are, nothing is stored; its managers follow from its kind (`record.rs`). The status of a
//! recorded object is noted as a whole while one component alone writes it.
//!
//! Left out: conversion between versions (each kind is served in one), unions, the binding and the
//! ephemeral containers of pods, and the lists and maps of custom kinds, which are owned as wholes.

mod compare;
mod merge;
mod record;
mod schema;

use crate::api::{FieldSet, ManagedFieldsEntry, ManagedFieldsOperation, Str, Timestamp, Value};

pub use compare::{Comparison, compare, fields_of};
pub use record::{LAST_APPLIED, known, manager_of, note_create, note_update, to_value};
pub use schema::{Schema, Shape};

pub(super) use record::adopt;

/// How many entries of updates an object carries; the oldest are then joined (`capManagers`).
const MAX_UPDATE_MANAGERS: usize = 10;

/// Who writes, how, and when.
#[derive(Clone, Debug)]
pub struct Writer {
    /// The name.
    pub manager: Str,
    /// The version in which it writes.
    pub api_version: Str,
    /// `status` or `scale`; empty for the object itself.
    pub subresource: Str,
    /// The time.
    pub now: Option<Timestamp>,
}

/// A field that somebody else wants to have another value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The other's name, and how it came to the field.
    pub manager: ManagedFieldsEntry,
    /// The fields in question.
    pub fields: FieldSet,
}

impl Writer {
    fn entry(&self, operation: ManagedFieldsOperation, fields: FieldSet) -> ManagedFieldsEntry {
        ManagedFieldsEntry {
            manager: self.manager.clone(),
            operation,
            api_version: self.api_version.clone(),
            time: self.now,
            subresource: self.subresource.clone(),
            fields,
            whole_status: false,
        }
    }
}

/// Notes an update from `old` to `new`: what it changed or added is the writer's alone, what it
/// removed is nobody's.
pub fn update(
    schema: &Schema,
    entries: &mut Vec<ManagedFieldsEntry>,
    (old, new): (&Value, &Value),
    writer: &Writer,
) {
    let found = compare(schema, old, new);
    let gained = found.modified.union(&found.added);
    let lost = gained.union(&found.removed);
    if lost.is_empty() {
        return;
    }
    let own = writer.entry(ManagedFieldsOperation::Update, without_meta(gained));
    let mut kept = false;
    for entry in entries.iter_mut() {
        entry.fields = entry.fields.difference(&lost);
        if entry.is_of(&own) {
            entry.fields = entry.fields.union(&own.fields);
            entry.time = own.time;
            kept = true;
        }
    }
    if !kept {
        entries.push(own);
    }
    entries.retain(|entry| entry.whole_status || !entry.fields.is_empty());
    join_oldest(entries);
}

/// Applies `config` to `live`: the object as it then is, its managers in `entries`. With conflicts
/// and without `force` nothing is changed.
pub fn apply(
    schema: &Schema,
    entries: &mut Vec<ManagedFieldsEntry>,
    (live, config): (&Value, &Value),
    writer: &Writer,
    force: bool,
) -> Result<Value, Vec<Conflict>> {
    let named = fields_of(schema, config);
    let own = writer.entry(ManagedFieldsOperation::Apply, without_meta(named.clone()));
    let last = entries.iter().find(|entry| entry.is_of(&own)).cloned();
    let mut others: Vec<ManagedFieldsEntry> =
        entries.iter().filter(|entry| !entry.is_of(&own)).cloned().collect();
    let mut value = merge::merge(schema, live, config);
    if let Some(last) = &last {
        // With the name and what else belongs to nobody, so that no map of theirs goes.
        let all = others.iter().fold(named, |all, entry| all.union(&entry.fields));
        merge::prune(schema, &mut value, &last.fields, &all);
    }
    let found = compare(schema, live, &value);
    let gained = found.modified.union(&found.added);
    let mut conflicts = Vec::new();
    for entry in &mut others {
        let fields = entry.fields.intersection(&gained);
        if !fields.is_empty() {
            conflicts.push(Conflict { manager: entry.clone(), fields });
        }
        entry.fields = entry.fields.difference(&gained.union(&found.removed));
    }
    if !force && !conflicts.is_empty() {
        return Err(conflicts);
    }
    others.retain(|entry| entry.whole_status || !entry.fields.is_empty());
    // A repeated application without effect keeps its time, so that nothing is written.
    let same = last.filter(|last| last.fields == own.fields && last.api_version == own.api_version);
    others.push(same.unwrap_or(own));
    others.retain(|entry| entry.whole_status || !entry.fields.is_empty());
    *entries = others;
    Ok(value)
}

/// What the API server says of conflicts (`NewConflictError`).
pub fn conflict_message(conflicts: &[Conflict]) -> String {
    let printed = |entry: &ManagedFieldsEntry| {
        let mut text = format!("{:?}", &*entry.manager);
        if !entry.subresource.is_empty() {
            text.push_str(&format!(" with subresource {:?}", &*entry.subresource));
        }
        if entry.operation == ManagedFieldsOperation::Update {
            text.push_str(&format!(" using {}", entry.api_version));
        }
        text
    };
    let paths: Vec<Vec<String>> =
        conflicts.iter().map(|conflict| conflict.fields.paths()).collect();
    let count: usize = paths.iter().map(Vec::len).sum();
    if let ([conflict], 1) = (conflicts, count) {
        let path = paths.concat().concat();
        let manager = printed(&conflict.manager);
        return format!("Apply failed with 1 conflict: conflict with {manager}: {path}");
    }
    let mut lines = Vec::new();
    for (conflict, paths) in conflicts.iter().zip(&paths) {
        lines.push(format!("conflicts with {}:", printed(&conflict.manager)));
        lines.extend(paths.iter().map(|path| format!("- {path}")));
    }
    format!("Apply failed with {count} conflicts: {}", lines.join("\n"))
}

/// What the server keeps itself, and what names the object, belongs to nobody.
fn without_meta(mut fields: FieldSet) -> FieldSet {
    for name in ["f:apiVersion", "f:kind"] {
        fields.take(name);
    }
    let mut meta = fields.take("f:metadata");
    for name in [
        "f:name",
        "f:namespace",
        "f:creationTimestamp",
        "f:deletionTimestamp",
        "f:deletionGracePeriodSeconds",
        "f:uid",
        "f:generation",
        "f:managedFields",
        "f:resourceVersion",
        "f:selfLink",
    ] {
        meta.take(name);
    }
    // Without the map itself.
    let mut bare = FieldSet::default();
    for (name, set) in meta.children() {
        bare.put(name.clone(), set.clone());
    }
    fields.put("f:metadata", bare);
    fields
}

fn join_oldest(entries: &mut Vec<ManagedFieldsEntry>) {
    let is_update = |entry: &ManagedFieldsEntry| entry.operation == ManagedFieldsOperation::Update;
    let count = entries.iter().filter(|entry| is_update(entry)).count();
    let joins = |entry: &ManagedFieldsEntry| {
        is_update(entry) && entry.subresource.is_empty() && !entry.whole_status
    };
    if count <= MAX_UPDATE_MANAGERS {
        return;
    }
    entries.sort_by_key(|entry| entry.time);
    let mut ancient: Option<ManagedFieldsEntry> = None;
    let mut left = count - MAX_UPDATE_MANAGERS + 1;
    entries.retain(|entry| {
        if left == 0 || !joins(entry) {
            return true;
        }
        left -= 1;
        let fields = match &ancient {
            Some(joined) => joined.fields.union(&entry.fields),
            None => entry.fields.clone(),
        };
        ancient =
            Some(ManagedFieldsEntry { manager: "ancient-changes".into(), fields, ..entry.clone() });
        false
    });
    entries.extend(ancient);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Kind;
    use serde_json::json;

    fn writer(name: &str) -> Writer {
        let (api_version, subresource) = ("apps/v1".into(), "".into());
        Writer { manager: name.into(), api_version, subresource, now: None }
    }

    #[test]
    fn a_field_that_another_changed_is_refused_and_taken_by_force() {
        let schema = Schema::of(Kind::Deployment);
        let mut entries = Vec::new();
        let config = json!({"spec": {"replicas": 3}});
        let none = json!({"spec": {}});
        let one = apply(&schema, &mut entries, (&none, &config), &writer("a"), false).unwrap();
        let two = json!({"spec": {"replicas": 5}});
        update(&schema, &mut entries, (&one, &two), &writer("b"));
        let refused = apply(&schema, &mut entries, (&two, &config), &writer("a"), false);
        let conflicts = refused.unwrap_err();
        assert_eq!(
            conflict_message(&conflicts),
            "Apply failed with 1 conflict: conflict with \"b\" using apps/v1: .spec.replicas"
        );
        let forced = apply(&schema, &mut entries, (&two, &config), &writer("a"), true);
        assert_eq!(forced, Ok(config));
        let names: Vec<&str> = entries.iter().map(|entry| &*entry.manager).collect();
        assert_eq!(names, ["a"]);
    }

    #[test]
    fn more_than_ten_updaters_are_joined_from_the_oldest_on() {
        let schema = Schema::of(Kind::ConfigMap);
        let (mut entries, mut old) = (Vec::new(), json!({"data": {}}));
        for n in 0..14 {
            let mut new = old.clone();
            new["data"][format!("k{n}")] = json!("x");
            let now = Some(Timestamp(n));
            update(
                &schema,
                &mut entries,
                (&old, &new),
                &Writer { now, ..writer(&format!("m{n}")) },
            );
            old = new;
        }
        assert_eq!(entries.len(), MAX_UPDATE_MANAGERS);
        let ancient = entries.iter().find(|entry| &*entry.manager == "ancient-changes");
        assert_eq!(ancient.map(|entry| entry.fields.paths().len()), Some(5));
    }
}
