//! Where a field stands in a text.

use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::lines::{Lines, Place};
use super::node::{Content, Entry, Node, Span};
use super::yaml;

/// A step of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Segment {
    /// Into a mapping.
    Key(String),
    /// Into a list.
    Index(usize),
}

/// Takes a path apart: `spec.containers[0].name`, `metadata.labels[app.kubernetes.io/name]`.
pub fn segments(path: &str) -> Vec<Segment> {
    let mut found = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix('[') {
            let (word, behind) = inner.split_once(']').unwrap_or((inner, ""));
            found.push(match word.parse() {
                Ok(index) => Segment::Index(index),
                Err(_) => Segment::Key(word.into()),
            });
            rest = behind;
        } else {
            rest = rest.strip_prefix('.').unwrap_or(rest);
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            let (word, behind) = rest.split_at(end);
            if !word.is_empty() {
                found.push(Segment::Key(word.into()));
            }
            rest = behind;
        }
    }
    found
}

/// Where the value at `path` stands in the first YAML document of `text`; where there is no such
/// field, the deepest field on the way to it.
pub fn locate(text: &str, path: &str) -> Option<Place> {
    let parsed = yaml::parse(text, 0).ok()?;
    let span = Finder::new(text, 0, text.len(), &parsed.root).value(&segments(path))?;
    Some(Lines::new(text).place(span.start))
}

/// Finds fields of one document in the text that it came from.
pub struct Finder<'t> {
    text: &'t str,
    start: usize,
    end: usize,
    root: &'t Node,
}

/// What a path leads to.
struct Found<'t> {
    /// The last mapping entry on the way.
    entry: Option<&'t Entry>,
    /// Whether it is that entry's value itself, and no item of it.
    direct: bool,
    node: &'t Node,
    depth: usize,
}

impl<'t> Finder<'t> {
    /// Finds fields of `root`, which was read from the bytes `start..end` of the whole `text`.
    pub fn new(text: &'t str, start: usize, end: usize, root: &'t Node) -> Finder<'t> {
        Finder { text, start, end, root }
    }

    /// The same, once more.
    pub fn again(&self) -> Finder<'t> {
        Finder { ..*self }
    }

    /// The value at `path`.
    pub fn node(&self, path: &[Segment]) -> Option<&'t Node> {
        let found = self.walk(path);
        (found.depth == path.len()).then_some(found.node)
    }

    /// Where the value at `path` stands: a scalar itself, of a mapping its first key. Where there
    /// is no such field, the key of the deepest one on the way.
    pub fn value(&self, path: &[Segment]) -> Option<Span> {
        let found = self.walk(path);
        if found.depth < path.len() {
            return self.key_of(&found);
        }
        let known = found.node.first_span();
        let entry = found.entry.filter(|_| found.direct);
        known
            .or_else(|| self.behind_key(entry?.key_span?))
            .or_else(|| self.exact(path))
            .or_else(|| self.key_of(&found))
    }

    /// Where the key of the last field of `path` stands, or of the deepest one on the way.
    pub fn key(&self, path: &[Segment]) -> Option<Span> {
        let found = self.walk(path);
        let last_is_index = matches!(path.last(), Some(Segment::Index(_)));
        if last_is_index && found.depth == path.len() {
            return self.value(path);
        }
        self.key_of(&found)
    }

    fn key_of(&self, found: &Found<'_>) -> Option<Span> {
        let key = found.entry.and_then(|entry| entry.key_span);
        let item = found.node.first_span().filter(|_| !found.direct);
        item.or(key).or_else(|| found.node.first_span())
    }

    fn walk(&self, path: &[Segment]) -> Found<'t> {
        let mut found = Found { entry: None, direct: false, node: self.root, depth: 0 };
        for segment in path {
            let key = match segment {
                Segment::Key(key) => key.clone(),
                // A numeric key: `data[8080]`.
                Segment::Index(index) => index.to_string(),
            };
            match (segment, &found.node.content) {
                (Segment::Index(index), Content::Sequence(items)) => {
                    let Some(node) = items.get(*index) else { break };
                    found.node = node;
                    found.direct = false;
                }
                (_, Content::Mapping(_)) => {
                    let Some(entry) = found.node.entry(&key) else { break };
                    found.entry = Some(entry);
                    found.direct = true;
                    found.node = &entry.value;
                }
                _ => break,
            }
            found.depth += 1;
        }
        found
    }

    /// What stands on the line behind a key: the numbers and quoted texts that have no span.
    fn behind_key(&self, key: Span) -> Option<Span> {
        let rest = self.text.get(key.end..)?;
        let line = rest.split(['\n', '\r']).next()?;
        let value = line.trim_start().strip_prefix(':')?.trim_start();
        let start = key.end + (line.len() - value.len());
        let comment = value.find(" #").unwrap_or(value.len());
        let value = value.get(..comment)?.trim_end();
        let end = match value.chars().next()? {
            '#' => return None,
            '"' | '\'' | '|' | '>' => value.len(),
            _ => value.find([',', '}', ']']).unwrap_or(value.len()),
        };
        Some(Span { start, end: start + value.get(..end)?.trim_end().len() })
    }

    /// Reads the document once more, down to the field, and gives up there: the parser says where
    /// it was. Needed for numbers in lists only.
    fn exact(&self, path: &[Segment]) -> Option<Span> {
        let text = self.text.get(self.start..self.end)?;
        let document = serde_yaml::Deserializer::from_str(text).next()?;
        let error = Walk(path).deserialize(document).err()?;
        let start = self.start + error.location()?.index();
        let rest = self.text.get(start..)?;
        let end = rest.find([',', ']', '}', ' ', '\n', '\r']).unwrap_or(rest.len());
        Some(Span { start, end: start + end })
    }
}

/// Walks down a path, and stops with an error at its end.
struct Walk<'p>(&'p [Segment]);

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

macro_rules! stop {
    ($($name:ident $type:ty;)*) => {
        $(fn $name<E: de::Error>(self, _: $type) -> Result<(), E> {
            Err(E::custom("here"))
        })*
    };
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a field")
    }

    stop! {
        visit_bool bool;
        visit_i64 i64;
        visit_u64 u64;
        visit_i128 i128;
        visit_u128 u128;
        visit_f64 f64;
        visit_str &str;
    }

    fn visit_unit<E: de::Error>(self) -> Result<(), E> {
        Err(E::custom("here"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<(), A::Error> {
        let Some((Segment::Index(index), rest)) = self.0.split_first() else {
            return Err(de::Error::custom("here"));
        };
        for _ in 0..*index {
            access.next_element::<IgnoredAny>()?;
        }
        access.next_element_seed(Walk(rest))?;
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<(), A::Error> {
        let Some((Segment::Key(wanted), rest)) = self.0.split_first() else {
            return Err(de::Error::custom("here"));
        };
        while let Some(key) = access.next_key::<String>()? {
            if key == *wanted {
                return access.next_value_seed(Walk(rest));
            }
            access.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
spec:
  template:
    containers:
    - name: web
      args: [-p, 8080]
    - {name: side, image: \"b\"}
  replicas: 3   # three
  labels:
    app.io/name: x
";

    #[test]
    fn a_field_is_found_by_its_path() {
        for (path, line, column) in [
            ("spec.template.containers[0].name", 4, 13),
            ("spec.template.containers[0].args[1]", 5, 18),
            ("spec.template.containers[1].image", 6, 27),
            ("spec.replicas", 7, 13),
            ("spec.labels[app.io/name]", 9, 18),
            ("spec.template", 3, 5),
            ("spec.template.volumes", 2, 3),
            ("status", 1, 1),
        ] {
            assert_eq!(locate(TEXT, path), Some(Place { line, column }), "{path}");
        }
    }

    #[test]
    fn letters_of_several_bytes_before_a_field_do_not_move_it() {
        let text = "a: ü日本\nb: 'é'\nc: [\"ñ\", x]\n";
        assert_eq!(locate(text, "b"), Some(Place { line: 2, column: 4 }));
        assert_eq!(locate(text, "c[1]"), Some(Place { line: 3, column: 10 }));
    }
}
