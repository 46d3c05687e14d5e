//! The table of fields: which fields an object of a kind may have, and of which type. It was taken
//! from Kubernetes' OpenAPI document (`kubernetes-fields.json` says from which).

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Deserialize;

/// The type of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Field {
    /// Text.
    String,
    /// A whole number of 32 bits.
    Int,
    /// A whole number of 64 bits.
    Long,
    /// A truth value.
    Bool,
    /// A time in RFC 3339.
    Time,
    /// A resource quantity.
    Quantity,
    /// A number, or a percentage as text.
    IntOrString,
    /// Bytes in base64.
    Bytes,
    /// Whatever it is.
    Any,
    /// A list.
    List(Box<Field>),
    /// A map from text.
    Map(Box<Field>),
    /// An object of a type in the table.
    Named(&'static str),
}

/// The fields of a type.
pub type Fields = BTreeMap<&'static str, FieldInfo>;

/// What the table says of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldInfo {
    /// Its type.
    pub field: Field,
    /// Whether it must be there.
    pub required: bool,
}

/// The table.
pub struct Schema {
    kinds: BTreeMap<&'static str, &'static str>,
    types: BTreeMap<&'static str, Fields>,
}

#[derive(Deserialize, Default)]
struct Raw {
    #[serde(borrow)]
    kinds: BTreeMap<&'static str, &'static str>,
    #[serde(borrow)]
    types: BTreeMap<&'static str, BTreeMap<&'static str, &'static str>>,
}

const TEXT: &str = include_str!("kubernetes-fields.json");

/// The table, read when it is first needed.
pub fn schema() -> &'static Schema {
    static SCHEMA: OnceLock<Schema> = OnceLock::new();
    SCHEMA.get_or_init(|| {
        // A unit test reads the file, so that the default never stands in for it.
        let raw: Raw = serde_json::from_str(TEXT).unwrap_or_default();
        let fields = |table: BTreeMap<&'static str, &'static str>| {
            table.into_iter().map(|(name, word)| (name, info(word))).collect()
        };
        let types = raw.types.into_iter().map(|(name, table)| (name, fields(table)));
        Schema { types: types.collect(), kinds: raw.kinds }
    })
}

fn info(word: &'static str) -> FieldInfo {
    let plain = word.strip_suffix('!').unwrap_or(word);
    FieldInfo { field: field(plain), required: plain.len() != word.len() }
}

fn field(word: &'static str) -> Field {
    let inside = |open, close| word.strip_prefix(open)?.strip_suffix(close);
    match word {
        "string" => Field::String,
        "int" => Field::Int,
        "long" => Field::Long,
        "bool" => Field::Bool,
        "time" => Field::Time,
        "quantity" => Field::Quantity,
        "int|string" => Field::IntOrString,
        "bytes|string" => Field::Bytes,
        "{bytes|string}" => Field::Map(Box::new(Field::Bytes)),
        _ if word == "any" || word == "{any}" || word.contains('|') => Field::Any,
        _ => {
            if let Some(item) = inside('[', ']') {
                Field::List(Box::new(field(item)))
            } else if let Some(value) = inside('{', '}') {
                Field::Map(Box::new(field(value)))
            } else {
                Field::Named(word)
            }
        }
    }
}

impl Schema {
    /// The type of the objects that `apiVersion` and `kind` name.
    pub fn type_of(&self, api_version: &str, kind: &str) -> Option<&'static str> {
        self.kinds.get(format!("{api_version} {kind}").as_str()).copied()
    }

    /// The versions in which a kind is served.
    pub fn versions_of(&self, kind: &str) -> impl Iterator<Item = &'static str> {
        let split = self.kinds.keys().filter_map(|key| key.split_once(' '));
        split.filter(move |(_, name)| *name == kind).map(|(version, _)| version)
    }

    /// All kinds.
    pub fn kinds(&self) -> impl Iterator<Item = &'static str> {
        self.kinds.keys().filter_map(|key| Some(key.split_once(' ')?.1))
    }

    /// The fields of a type.
    pub fn fields(&self, name: &str) -> Option<&Fields> {
        self.types.get(name)
    }

    /// The fields that may stand at a path such as `spec.template.spec.containers[0]` of an object:
    /// for completion in an editor, and for `kubectl explain`.
    pub fn fields_at(&self, api_version: &str, kind: &str, path: &str) -> Option<&Fields> {
        let mut at = Field::Named(self.type_of(api_version, kind)?);
        for word in path.split(['.', '[', ']']).filter(|word| !word.is_empty()) {
            at = match at {
                Field::Named(name) => self.fields(name)?.get(word)?.field.clone(),
                Field::List(item) if word.parse::<usize>().is_ok() => *item,
                Field::Map(value) => *value,
                _ => return None,
            };
            // `explain` walks through lists without an index.
            while let Field::List(item) = &at {
                if path.contains('[') {
                    break;
                }
                at = (**item).clone();
            }
        }
        match at {
            Field::Named(name) => self.fields(name),
            _ => None,
        }
    }
}

impl Field {
    /// As Go names the type in its messages.
    pub fn go_type(&self) -> String {
        match self {
            Field::String => "string".into(),
            Field::Int => "int32".into(),
            Field::Long => "int64".into(),
            Field::Bool => "bool".into(),
            Field::Time => "v1.Time".into(),
            Field::Quantity => "resource.Quantity".into(),
            Field::IntOrString => "intstr.IntOrString".into(),
            Field::Bytes => "[]uint8".into(),
            Field::Any => "interface {}".into(),
            Field::List(item) => format!("[]{}", item.go_type()),
            Field::Map(value) if **value == Field::Quantity => "v1.ResourceList".into(),
            Field::Map(value) => format!("map[string]{}", value.go_type()),
            Field::Named(name) => {
                let autoscaling = ["HPA", "HorizontalPodAutoscaler", "Metric"];
                let is_v2 = autoscaling.iter().any(|start| name.starts_with(start))
                    || name.ends_with("MetricSource");
                let version = if is_v2 { "v2" } else { "v1" };
                format!("{version}.{}", go_struct(name))
            }
        }
    }
}

/// As Go names the struct: the table adds a group or version to some names.
pub fn go_struct(name: &str) -> &str {
    let name = name.split('.').next().unwrap_or(name);
    let prefixes = ["ApiextensionsV1", "DiscoveryV1", "RbacV1"];
    let bare = prefixes.iter().find_map(|prefix| name.strip_prefix(prefix));
    bare.unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Kind;

    #[test]
    fn every_kind_and_every_type_that_a_field_names_is_in_the_table() {
        let schema = schema();
        for info in Kind::all() {
            let name = schema.type_of(info.api_version, info.kind);
            assert!(name.is_some_and(|name| schema.fields(name).is_some()), "{}", info.kind);
        }
        fn named(field: &Field) -> Option<&'static str> {
            match field {
                Field::List(inner) | Field::Map(inner) => named(inner),
                Field::Named(name) => Some(name),
                _ => None,
            }
        }
        for fields in schema.types.values() {
            for name in fields.values().filter_map(|info| named(&info.field)) {
                assert!(schema.fields(name).is_some(), "{name}");
            }
        }
    }

    #[test]
    fn the_fields_at_a_path_are_known() {
        let at = |path| schema().fields_at("apps/v1", "Deployment", path);
        let container = at("spec.template.spec.containers[0]").unwrap();
        assert!(container["name"].required && !container["image"].required);
        assert_eq!(at("spec.template.spec.containers"), Some(container));
        assert_eq!(at("spec.replicas"), None);
        assert_eq!(at("spec.nothing"), None);
    }
}
