//! An object as rows: each field with its value, its owner by `metadata.managedFields`, and the
//! revision that gave it this value.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::api::{FieldSet, ManagedFieldsEntry, ManagedFieldsOperation, Object, Str};
use crate::apiserver::managed_fields::known;
use crate::kernel::Time;

/// Rows of one side that are told at most.
pub const ROWS_MAX: usize = 400;
/// Characters of a value that are told.
const VALUE_MAX: usize = 160;

/// A row: a field, or a branch under which fields stand.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldRow {
    /// How far it is indented.
    pub depth: u8,
    /// Its name, those of branches with one field only joined: `strategy.type`.
    pub name: Str,
    /// From the top of the object: `spec.template.spec.containers[web].image`.
    pub path: Str,
    /// Its value; none for a branch.
    pub value: Option<Str>,
    /// Who wants it so. Several, if they applied the same value.
    pub owners: Vec<Owner>,
    /// The revision that gave it this value, and when; none if that is not kept any more.
    pub since: Option<(u64, Time)>,
    /// Whether the object's newest revision did.
    pub fresh: bool,
}

/// Whose field it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Owner {
    /// The field manager.
    pub manager: Str,
    /// Whether it came to it by server-side apply.
    pub applies: bool,
}

/// A line of two columns: what is wanted, and what is reported. The first lines pair what belongs
/// together, the others just stand side by side.
pub type Line = (Option<FieldRow>, Option<FieldRow>);

/// Fields of a spec, each with that of the status which answers it.
const PAIRS: &[(&str, &str)] = &[
    ("metadata.generation", "status.observedGeneration"),
    ("spec.replicas", "status.replicas"),
    ("spec.parallelism", "status.active"),
    ("spec.completions", "status.succeeded"),
    ("spec.backoffLimit", "status.failed"),
    ("spec.maxReplicas", "status.desiredReplicas"),
    ("spec.minAvailable", "status.desiredHealthy"),
    ("spec.hard", "status.used"),
];

/// Since when each path has its value.
pub type Since = BTreeMap<String, (u64, Time)>;

/// The lines of an object, and how many rows the bound left out.
pub fn lines(object: &Object, since: &Since) -> (Vec<Line>, usize) {
    let value = object.to_value();
    let entries = known(object);
    let mut walk = Walk { entries: &entries, since, newest: revision_of(object), rows: Vec::new() };
    let Value::Object(map) = &value else { return (Vec::new(), 0) };
    let claims = walk.top();
    for (name, part) in map.iter().filter(|(name, _)| is_wanted(name)) {
        walk.branch(name, part, &claims);
    }
    if let Some(meta) = map.get("metadata") {
        walk.metadata(meta, &claims);
    }
    let wanted = std::mem::take(&mut walk.rows);
    if let Some(status) = map.get("status") {
        walk.branch("status", status, &claims);
    }
    let (wanted, more) = bounded(wanted);
    let (reported, too) = bounded(walk.rows);
    (side_by_side(wanted, reported), more + too)
}

fn revision_of(object: &Object) -> u64 {
    object.meta().resource_version
}

fn is_wanted(section: &str) -> bool {
    !matches!(section, "metadata" | "status" | "apiVersion" | "kind")
}

fn bounded(mut rows: Vec<FieldRow>) -> (Vec<FieldRow>, usize) {
    let more = rows.len().saturating_sub(ROWS_MAX);
    rows.truncate(ROWS_MAX);
    (rows, more)
}

fn side_by_side(mut wanted: Vec<FieldRow>, mut reported: Vec<FieldRow>) -> Vec<Line> {
    let mut lines = Vec::new();
    for (spec, status) in PAIRS {
        let at = |rows: &[FieldRow], path: &str| rows.iter().position(|row| *row.path == *path);
        let (Some(left), Some(right)) = (at(&wanted, spec), at(&reported, status)) else {
            continue;
        };
        // A branch stays with what is under it.
        if wanted[left].value.is_none() || reported[right].value.is_none() {
            continue;
        }
        let pair = [wanted.remove(left), reported.remove(right)].map(standing_alone);
        let [left, right] = pair;
        lines.push((Some(left), Some(right)));
    }
    let (mut left, mut right) = (wanted.into_iter(), reported.into_iter());
    loop {
        match (left.next(), right.next()) {
            (None, None) => return lines,
            line => lines.push(line),
        }
    }
}

/// A row taken out of its branch says where it is from.
fn standing_alone(row: FieldRow) -> FieldRow {
    let name = row.path.split_once('.').map_or(&*row.path, |(_, rest)| rest).into();
    FieldRow { depth: 0, name, ..row }
}

/// What an entry of `managedFields` says of a place in the object.
#[derive(Clone, Copy)]
struct Claim<'a> {
    owner: usize,
    set: Option<&'a FieldSet>,
    /// Whether all below a place is the owner's.
    whole: bool,
}

impl<'a> Claim<'a> {
    fn below(self, found: impl Fn(&'a FieldSet) -> Option<&'a FieldSet>) -> Claim<'a> {
        let set = self.set.and_then(found);
        let whole = self.whole || set.is_some_and(|s| s.is_member() && s.children().count() == 0);
        Claim { set, whole, ..self }
    }

    fn holds(&self) -> bool {
        self.whole || self.set.is_some_and(FieldSet::is_member)
    }
}

struct Walk<'a> {
    entries: &'a [ManagedFieldsEntry],
    since: &'a Since,
    newest: u64,
    rows: Vec<FieldRow>,
}

impl<'a> Walk<'a> {
    fn top(&self) -> Vec<Claim<'a>> {
        let entries = self.entries.iter().enumerate();
        entries.map(|(owner, e)| Claim { owner, set: Some(&e.fields), whole: false }).collect()
    }

    /// The parts of the metadata that somebody wants.
    fn metadata(&mut self, meta: &Value, claims: &[Claim<'a>]) {
        let claims: Vec<_> =
            claims.iter().map(|c| c.below(|set| set.child("f:metadata"))).collect();
        const SHOWN: [&str; 6] = [
            "generation",
            "deletionTimestamp",
            "finalizers",
            "labels",
            "annotations",
            "ownerReferences",
        ];
        for name in SHOWN {
            if let Some(value) = meta.get(name) {
                let claims = into_field(&claims, name);
                let path = format!("metadata.{name}");
                self.place(format!("metadata.{name}"), path, value, 0, claims);
            }
        }
    }

    /// A section of the object; its fields begin at the left.
    fn branch(&mut self, section: &str, value: &Value, claims: &[Claim<'a>]) {
        let claims = into_field(claims, section);
        let Value::Object(map) = value else {
            return self.place(section.into(), section.into(), value, 0, claims);
        };
        for (name, value) in map {
            let path = format!("{section}.{name}");
            self.place(name.clone(), path, value, 0, into_field(&claims, name));
        }
    }

    fn place(
        &mut self,
        name: String,
        path: String,
        value: &Value,
        depth: u8,
        claims: Vec<Claim<'a>>,
    ) {
        let children = self.children(value, &claims);
        if children.is_empty() {
            return self.leaf(name, path, value, depth, &claims);
        }
        // A branch with one child only needs no row of its own.
        let alone = children.len() == 1;
        if !alone {
            self.rows.push(FieldRow {
                depth,
                name: name.as_str().into(),
                path: path.as_str().into(),
                value: None,
                owners: Vec::new(),
                since: None,
                fresh: false,
            });
        }
        for (step, child, claims) in children {
            let path = joined(&path, &step);
            match alone {
                true => self.place(joined(&name, &step), path, child, depth, claims),
                false => self.place(step, path, child, depth.saturating_add(1), claims),
            }
        }
    }

    fn children<'v>(
        &self,
        value: &'v Value,
        claims: &[Claim<'a>],
    ) -> Vec<(String, &'v Value, Vec<Claim<'a>>)> {
        match value {
            Value::Object(map) => {
                let one = |(name, value): (&String, &'v Value)| {
                    (name.clone(), value, into_field(claims, name))
                };
                map.iter().map(one).collect()
            }
            Value::Array(list) => {
                let steps = steps_of(list).into_iter().zip(list);
                steps.map(|(step, item)| (step, item, into_item(claims, item))).collect()
            }
            _ => Vec::new(),
        }
    }

    fn leaf(&mut self, name: String, path: String, value: &Value, depth: u8, claims: &[Claim<'a>]) {
        let holders = claims.iter().filter(|claim| claim.holds());
        let mut owners: Vec<Owner> = holders.map(|c| owner_of(&self.entries[c.owner])).collect();
        owners.sort();
        owners.dedup();
        let since = self.since.get(&path).copied();
        self.rows.push(FieldRow {
            depth,
            name: name.into(),
            path: path.into(),
            value: Some(text_of(value).into()),
            owners,
            since,
            fresh: since.is_some_and(|(revision, _)| revision == self.newest),
        });
    }
}

fn owner_of(entry: &ManagedFieldsEntry) -> Owner {
    let applies = entry.operation == ManagedFieldsOperation::Apply;
    Owner { manager: entry.manager.clone(), applies }
}

fn into_field<'a>(claims: &[Claim<'a>], name: &str) -> Vec<Claim<'a>> {
    let branch = format!("f:{name}");
    claims.iter().map(|claim| claim.below(|set| set.child(&branch))).collect()
}

fn into_item<'a>(claims: &[Claim<'a>], item: &Value) -> Vec<Claim<'a>> {
    let of_item = |set: &'a FieldSet| {
        set.children().find(|(branch, _)| names_item(branch, item)).map(|(_, below)| below)
    };
    claims.iter().map(|claim| claim.below(of_item)).collect()
}

/// Whether a branch of a set, `k:{"name":"a"}` or `v:"x"`, means this item of a list.
fn names_item(branch: &str, item: &Value) -> bool {
    match branch.split_once(':') {
        Some(("k", keys)) => match serde_json::from_str::<Value>(keys) {
            Ok(Value::Object(keys)) => keys.iter().all(|(k, value)| item.get(k) == Some(value)),
            _ => false,
        },
        Some(("v", text)) => serde_json::from_str::<Value>(text).is_ok_and(|value| value == *item),
        _ => false,
    }
}

/// The items of a list by what tells them apart, `[web]`; by their number where nothing does.
fn steps_of(list: &[Value]) -> Vec<String> {
    const NAMES: [&str; 6] = ["name", "type", "key", "ip", "containerPort", "port"];
    for name in NAMES {
        let named: Option<Vec<String>> = list
            .iter()
            .map(|item| item.get(name).map(|value| format!("[{}]", text_of(value))))
            .collect();
        if let Some(named) = named {
            let mut apart = named.clone();
            apart.sort();
            apart.dedup();
            if apart.len() == list.len() {
                return named;
            }
        }
    }
    (0..list.len()).map(|index| format!("[{index}]")).collect()
}

fn joined(path: &str, step: &str) -> String {
    if step.starts_with('[') { format!("{path}{step}") } else { format!("{path}.{step}") }
}

/// A value in one line, cut where it is long.
pub fn text_of(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match text.char_indices().nth(VALUE_MAX) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

/// Every field of an object that is no branch, by its path. What the server counts is left out.
pub fn leaves(object: &Object) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let Value::Object(map) = object.to_value() else { return found };
    for (name, part) in &map {
        match (name.as_str(), part) {
            ("apiVersion" | "kind", _) => {}
            ("metadata", Value::Object(meta)) => {
                let kept = meta.iter().filter(|(name, _)| *name != "resourceVersion");
                kept.for_each(|(name, value)| {
                    collect(format!("metadata.{name}"), value, &mut found)
                });
            }
            (name, part) => collect(name.to_string(), part, &mut found),
        }
    }
    found
}

fn collect(path: String, value: &Value, found: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            map.iter().for_each(|(name, below)| collect(joined(&path, name), below, found));
        }
        Value::Array(list) if !list.is_empty() => {
            let steps = steps_of(list).into_iter().zip(list);
            steps.for_each(|(step, item)| collect(joined(&path, &step), item, found));
        }
        Value::Null => {}
        value => _ = found.insert(path, text_of(value)),
    }
}
