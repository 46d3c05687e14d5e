//! A set of field paths, as `metadata.managedFields` writes it (`FieldsV1`): a tree whose branches
//! are `f:name` for a field, `k:{"name":"a"}` for an item of a list that is merged by keys and
//! `v:"x"` for an item of a set. Kubernetes: structured-merge-diff `fieldpath`.

use std::collections::BTreeMap;

use super::{Str, Value};

/// How deep a set read from outside may go.
const MAX_DEPTH: u32 = 64;

/// A set of field paths. The default is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSet {
    /// Whether the path that leads here is in the set.
    member: bool,
    children: BTreeMap<Str, FieldSet>,
}

impl FieldSet {
    /// The set of one path, which ends here.
    pub fn here() -> FieldSet {
        FieldSet { member: true, ..FieldSet::default() }
    }

    /// Whether there is no path in it.
    pub fn is_empty(&self) -> bool {
        !self.member && self.children.is_empty()
    }

    /// Whether the path that leads here is in it.
    pub fn is_member(&self) -> bool {
        self.member
    }

    /// Adds the path that leads here.
    pub fn insert_here(&mut self) {
        self.member = true;
    }

    /// The part below a branch.
    pub fn child(&self, branch: &str) -> Option<&FieldSet> {
        self.children.get(branch)
    }

    /// The branches, in order.
    pub fn children(&self) -> impl Iterator<Item = (&Str, &FieldSet)> {
        self.children.iter()
    }

    /// Puts a set below a branch; an empty one leaves no branch.
    pub fn put(&mut self, branch: impl Into<Str>, set: FieldSet) {
        if !set.is_empty() {
            let branch = branch.into();
            let set = match self.children.get(&branch) {
                Some(there) => there.union(&set),
                None => set,
            };
            self.children.insert(branch, set);
        }
    }

    /// Takes a branch out.
    pub fn take(&mut self, branch: &str) -> FieldSet {
        self.children.remove(branch).unwrap_or_default()
    }

    /// What is in either.
    pub fn union(&self, other: &FieldSet) -> FieldSet {
        let mut all = self.clone();
        all.member |= other.member;
        for (branch, set) in &other.children {
            all.put(branch.clone(), set.clone());
        }
        all
    }

    /// What is not in the other one.
    pub fn difference(&self, other: &FieldSet) -> FieldSet {
        self.filtered(other, false)
    }

    /// What is in both.
    pub fn intersection(&self, other: &FieldSet) -> FieldSet {
        self.filtered(other, true)
    }

    fn filtered(&self, other: &FieldSet, if_there: bool) -> FieldSet {
        let nothing = FieldSet::default();
        let mut left =
            FieldSet { member: self.member && other.member == if_there, children: BTreeMap::new() };
        for (branch, set) in &self.children {
            let there = other.children.get(branch).unwrap_or(&nothing);
            left.put(branch.clone(), set.filtered(there, if_there));
        }
        left
    }

    /// Every path, as Kubernetes prints it: `.spec.ports[port=80,protocol="TCP"].name`.
    pub fn paths(&self) -> Vec<String> {
        let mut found = Vec::new();
        self.collect(&mut String::new(), &mut found);
        found
    }

    fn collect(&self, path: &mut String, found: &mut Vec<String>) {
        if self.member {
            found.push(path.clone());
        }
        let end = path.len();
        for (branch, set) in &self.children {
            path.push_str(&printed(branch));
            set.collect(path, found);
            path.truncate(end);
        }
    }

    /// As `fieldsV1`.
    pub fn to_value(&self) -> Value {
        let mut map = serde_json::Map::new();
        if self.member && !self.children.is_empty() {
            map.insert(".".into(), Value::Object(Default::default()));
        }
        for (branch, set) in &self.children {
            map.insert((**branch).into(), set.to_value());
        }
        Value::Object(map)
    }

    /// Reads `fieldsV1`. What is no branch is left out.
    pub fn from_value(value: &Value) -> FieldSet {
        let mut set = FieldSet::default();
        let Value::Object(map) = value else { return set };
        for (branch, below) in map {
            set.put(branch.as_str(), Self::read(below, MAX_DEPTH));
        }
        set.take(".");
        set
    }

    fn read(value: &Value, depth: u32) -> FieldSet {
        let Value::Object(map) = value else { return FieldSet::here() };
        let mut set = FieldSet { member: map.is_empty() || depth == 0, ..FieldSet::default() };
        if depth > 0 {
            for (branch, below) in map {
                match branch.as_str() {
                    "." => set.member = true,
                    branch => set.put(branch, Self::read(below, depth - 1)),
                }
            }
        }
        set
    }
}

/// A branch as a path shows it.
fn printed(branch: &str) -> String {
    let Some((sort, text)) = branch.split_once(':') else {
        return format!(".{branch}");
    };
    match (sort, serde_json::from_str::<Value>(text)) {
        ("k", Ok(Value::Object(keys))) => {
            let keys: Vec<String> =
                keys.iter().map(|(key, value)| format!("{key}={value}")).collect();
            format!("[{}]", keys.join(","))
        }
        ("v", _) => format!("[={text}]"),
        ("i", _) => format!("[{text}]"),
        _ => format!(".{text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn set(value: Value) -> FieldSet {
        FieldSet::from_value(&value)
    }

    #[test]
    fn it_is_read_and_written_as_fields_v1() {
        let value = json!({"f:spec": {
            "f:containers": {"k:{\"name\":\"a\"}": {".": {}, "f:image": {}}},
            "f:finalizers": {"v:\"x\"": {}},
        }});
        assert_eq!(set(value.clone()).to_value(), value);
        assert_eq!(
            set(value).paths(),
            [
                ".spec.containers[name=\"a\"]",
                ".spec.containers[name=\"a\"].image",
                ".spec.finalizers[=\"x\"]",
            ]
        );
    }

    #[test]
    fn sets_are_joined_and_taken_from_each_other_path_by_path() {
        let one = set(json!({"f:a": {".": {}, "f:b": {}}, "f:c": {}}));
        let two = set(json!({"f:a": {"f:b": {}}, "f:d": {}}));
        assert_eq!(one.intersection(&two), set(json!({"f:a": {"f:b": {}}})));
        assert_eq!(one.difference(&two), set(json!({"f:a": {}, "f:c": {}})));
        let all = json!({"f:a": {".": {}, "f:b": {}}, "f:c": {}, "f:d": {}});
        assert_eq!(one.union(&two), set(all));
        assert!(one.difference(&one).is_empty());
    }
}
