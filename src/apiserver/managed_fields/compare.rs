//! What was added, changed and removed between two values, and which fields a configuration names.
//! Kubernetes: structured-merge-diff `typed/compare.go`, `typed/tofieldset.go`.

use crate::api::{FieldSet, Value};

use super::schema::{Schema, Shape, field, items};

/// How deep values are looked into; what lies deeper counts as one field.
const MAX_DEPTH: u32 = 100;

/// The difference of two values.
#[derive(Debug, Default)]
pub struct Comparison {
    /// What only the new value has.
    pub added: FieldSet,
    /// What has another value.
    pub modified: FieldSet,
    /// What only the old value has.
    pub removed: FieldSet,
}

/// Compares two values, field by field and item by item.
pub fn compare(schema: &Schema, old: &Value, new: &Value) -> Comparison {
    let mut walk = Walk { schema, path: String::new(), depth: 0 };
    walk.compare(Some(old), Some(new))
}

/// The fields that a configuration names: leaves and list items, no maps.
pub fn fields_of(schema: &Schema, value: &Value) -> FieldSet {
    let mut walk = Walk { schema, path: String::new(), depth: 0 };
    let fields = walk.fields(value);
    // The object itself is nobody's field.
    if fields.is_member() { FieldSet::default() } else { fields }
}

struct Walk<'s> {
    schema: &'s Schema,
    path: String,
    depth: u32,
}

impl Walk<'_> {
    /// Does something one field further down.
    fn below<T>(&mut self, name: &str, act: impl FnOnce(&mut Self) -> T) -> T {
        let end = self.path.len();
        if end > 0 {
            self.path.push('.');
        }
        self.path.push_str(name);
        self.depth += 1;
        let result = act(self);
        self.depth -= 1;
        self.path.truncate(end);
        result
    }

    /// How these two are compared: as what both, or the only one, can be.
    fn shape(&self, old: Option<&Value>, new: Option<&Value>) -> Shape {
        let full = |value: &Value| match value {
            Value::Object(map) => !map.is_empty(),
            Value::Array(list) => !list.is_empty(),
            _ => false,
        };
        let empty = !old.is_some_and(full) && !new.is_some_and(full);
        let list = |value: Option<&Value>| value.is_none_or(|v| v.is_array() || v.is_null());
        let map = |value: Option<&Value>| value.is_none_or(|v| v.is_object() || v.is_null());
        let alike = (list(old) && list(new)) || (map(old) && map(new));
        match new.filter(|new| !new.is_null()).or(old) {
            Some(value) if alike && !empty && self.depth < MAX_DEPTH => {
                self.schema.shape(&self.path, value)
            }
            _ => Shape::Atomic,
        }
    }

    fn compare(&mut self, old: Option<&Value>, new: Option<&Value>) -> Comparison {
        let shape = self.shape(old, new);
        let mut found = match shape {
            Shape::Atomic => return leaf(old, new),
            Shape::Granular => self.compare_maps(old, new),
            shape => match self.compare_lists(shape, old, new) {
                Some(found) => found,
                None => return leaf(old, new),
            },
        };
        match (old, new) {
            (None, Some(_)) => found.added.insert_here(),
            (Some(_), None) => found.removed.insert_here(),
            _ => {}
        }
        found
    }

    fn compare_maps(&mut self, old: Option<&Value>, new: Option<&Value>) -> Comparison {
        let (old, new) = (old.and_then(Value::as_object), new.and_then(Value::as_object));
        let mut found = Comparison::default();
        for (name, value) in new.into_iter().flatten() {
            let before = old.and_then(|old| old.get(name));
            let below = self.below(name, |walk| walk.compare(before, Some(value)));
            found.put(&field(name), below);
        }
        for (name, value) in old.into_iter().flatten() {
            if !new.is_some_and(|new| new.contains_key(name)) {
                let below = self.below(name, |walk| walk.compare(Some(value), None));
                found.put(&field(name), below);
            }
        }
        found
    }

    fn compare_lists(
        &mut self,
        shape: Shape,
        old: Option<&Value>,
        new: Option<&Value>,
    ) -> Option<Comparison> {
        let of =
            |value: Option<&Value>| value.and_then(Value::as_array).cloned().unwrap_or_default();
        let (old, new) = (of(old), of(new));
        let (old, new) = (items(&old, shape)?, items(&new, shape)?);
        let mut found = Comparison::default();
        for (branch, item) in &new {
            let before = old.iter().find(|(other, _)| other == branch).map(|(_, item)| *item);
            found.put(branch, self.compare_items(before, Some(item)));
        }
        for (branch, item) in &old {
            if !new.iter().any(|(other, _)| other == branch) {
                found.put(branch, self.compare_items(Some(item), None));
            }
        }
        Some(found)
    }

    /// The path of an item is that of its list; its own shape has no rule.
    fn compare_items(&mut self, old: Option<&Value>, new: Option<&Value>) -> Comparison {
        let granular = [old, new].into_iter().flatten().all(Value::is_object);
        if !granular || self.depth >= MAX_DEPTH {
            return leaf(old, new);
        }
        let mut found = self.compare_maps(old, new);
        match (old, new) {
            (None, Some(_)) => found.added.insert_here(),
            (Some(_), None) => found.removed.insert_here(),
            _ => {}
        }
        found
    }

    fn fields(&mut self, value: &Value) -> FieldSet {
        let mut fields = FieldSet::default();
        match (self.shape(None, Some(value)), value) {
            (Shape::Granular, Value::Object(map)) => {
                for (name, value) in map {
                    let below = self.below(name, |walk| walk.fields(value));
                    fields.put(field(name), below);
                }
            }
            (shape, Value::Array(list)) => {
                let Some(items) = items(list, shape) else { return FieldSet::here() };
                for (branch, item) in items {
                    let mut below = FieldSet::here();
                    for (name, value) in item.as_object().into_iter().flatten() {
                        let deeper = self.below(name, |walk| walk.fields(value));
                        below.put(field(name), deeper);
                    }
                    fields.put(branch, below);
                }
                if fields.is_empty() {
                    return FieldSet::here();
                }
            }
            _ => return FieldSet::here(),
        }
        fields
    }
}

impl Comparison {
    fn put(&mut self, branch: &str, below: Comparison) {
        self.added.put(branch, below.added);
        self.modified.put(branch, below.modified);
        self.removed.put(branch, below.removed);
    }
}

fn leaf(old: Option<&Value>, new: Option<&Value>) -> Comparison {
    let mut found = Comparison::default();
    match (old, new) {
        (None, Some(_)) => found.added = FieldSet::here(),
        (Some(_), None) => found.removed = FieldSet::here(),
        (old, new) if old != new => found.modified = FieldSet::here(),
        _ => {}
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Kind;
    use serde_json::json;

    #[test]
    fn a_map_that_comes_into_being_is_named_and_one_that_was_there_is_not() {
        let schema = Schema::of(Kind::Deployment);
        let old = json!({"metadata": {}, "spec": {"replicas": 1, "selector": {"a": "b"}}});
        let new = json!({
            "metadata": {"labels": {"app": "web"}},
            "spec": {"replicas": 2, "selector": {"a": "c"}},
        });
        let found = compare(&schema, &old, &new);
        assert_eq!(found.added.paths(), [".metadata.labels", ".metadata.labels.app"]);
        assert_eq!(found.modified.paths(), [".spec.replicas", ".spec.selector"]);
        assert!(found.removed.is_empty());
    }

    #[test]
    fn a_configuration_names_leaves_and_list_items() {
        let schema = Schema::of(Kind::Pod);
        let config = json!({
            "metadata": {"labels": {"app": "web"}},
            "spec": {
                "containers": [{"name": "a", "args": ["x"], "resources": {}}],
                "tolerations": [{"key": "x"}],
            },
        });
        assert_eq!(
            fields_of(&schema, &config).paths(),
            [
                ".metadata.labels.app",
                ".spec.containers[name=\"a\"]",
                ".spec.containers[name=\"a\"].args",
                ".spec.containers[name=\"a\"].name",
                ".spec.containers[name=\"a\"].resources",
                ".spec.tolerations",
            ]
        );
    }
}
