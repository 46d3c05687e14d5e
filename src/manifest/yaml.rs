//! One YAML document in, a tree out.
//!
//! The parser (`yaml_serde`, over libyaml) gives no positions for what it read. But a text that
//! stands in the document as it is, is handed over as a slice *of* the document, so that where it
//! stands follows from its address; and whether a quote stands before it, from the byte there.
//! What is left out: `!!binary`, and custom tags (both are read as if the tag were not there).

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, VecDeque};
use std::fmt;

use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, EnumAccess, IgnoredAny};
use serde::de::{MapAccess, SeqAccess, VariantAccess, Visitor};

use crate::api::Value;

use super::began::began;
use super::guard::MAX_DEPTH;
use super::node::{Content, Entry, Node, Span};
use super::resolve;

/// How many values a document may hold, those that aliases repeat included.
const MAX_VALUES: usize = 300_000;
/// How many bytes of text its values may hold, those that aliases repeat included.
const MAX_VALUE_BYTES: usize = 8 << 20;

/// Why a document could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The byte of the whole text, where the parser can tell.
    pub at: Option<usize>,
    /// In go-yaml's words, without its line number.
    pub message: String,
    /// Whether `yaml:` and a line belong before the words.
    pub with_line: bool,
}

/// A document and what was noticed on the way.
#[derive(Debug)]
pub struct Parsed {
    /// The document.
    pub root: Node,
    /// Numbers that a leading 0 makes octal.
    pub octals: Vec<(Span, i64)>,
}

/// Reads the first YAML document of `text`, which begins at byte `base` of the whole text.
pub fn parse(text: &str, base: usize) -> Result<Parsed, Failure> {
    let reader = Reader {
        text,
        base,
        values: Cell::new(0),
        bytes: Cell::new(0),
        failure: RefCell::new(None),
        octals: RefCell::new(Vec::new()),
    };
    let Some(document) = serde_yaml::Deserializer::from_str(text).next() else {
        return Ok(Parsed { root: Node::NULL, octals: Vec::new() });
    };
    let seed = Seed { reader: &reader, depth: 0 };
    match seed.deserialize(document) {
        Ok(root) => Ok(Parsed { root, octals: reader.octals.into_inner() }),
        Err(error) => {
            let own = reader.failure.into_inner();
            // go-yaml reads the whole document before it looks at any value, so what it cannot read
            // goes first.
            let syntax = own.as_ref().and_then(|_| syntax_error(text));
            match syntax {
                Some(error) => Err(failure(&error, text, base, None)),
                None => Err(failure(&error, text, base, own)),
            }
        }
    }
}

/// The error that makes the text no YAML at all.
fn syntax_error(text: &str) -> Option<serde_yaml::Error> {
    let document = serde_yaml::Deserializer::from_str(text).next()?;
    let error = IgnoredAny::deserialize(document).err()?;
    let limit = error.to_string().contains(" limit exceeded");
    (!limit).then_some(error)
}

/// The parser's error in go-yaml's words.
fn failure(error: &serde_yaml::Error, text: &str, base: usize, own: Option<String>) -> Failure {
    let at = error.location().map(|location| location.index());
    let display = error.to_string();
    let words = display.split(" at line ").next().unwrap_or(&display);
    let words = words.split(", while ").next().unwrap_or(words);
    let (message, with_line) = match own {
        Some(own) => (own, false),
        None if words.contains("recursion limit") => {
            (format!("yaml: exceeded max depth of {MAX_DEPTH}"), false)
        }
        None if words.contains("repetition limit") => {
            ("yaml: document contains excessive aliasing".into(), false)
        }
        None if words.contains("unknown anchor") => {
            let name = at.and_then(|at| text.get(at + 1..)).unwrap_or("");
            let end = name.find(|c: char| !(c.is_alphanumeric() || "-_".contains(c)));
            let name = name.get(..end.unwrap_or(name.len())).unwrap_or("");
            (format!("yaml: unknown anchor '{name}' referenced"), false)
        }
        None => (words.trim_end_matches(" at position 0").to_string(), true),
    };
    let better = first_alias(text, &message)
        .or_else(|| over_indented(text, &message, at?))
        .or_else(|| began(text, &display, at?));
    Failure { at: better.or(at).map(|at| base + at), message, with_line }
}

/// Excessive aliasing has no place of its own; it begins with the first alias.
fn first_alias(text: &str, message: &str) -> Option<usize> {
    if !message.contains("aliasing") {
        return None;
    }
    let stands_free = |at: usize| {
        let before = text.get(..at)?.chars().next_back();
        before.is_none_or(|c| " \t\n[,{".contains(c)).then_some(at)
    };
    text.match_indices('*').find_map(|(at, _)| stands_free(at))
}

/// Lines after one that is indented too far fit nowhere, and libyaml stops at the first of them. If
/// such a line is the only child of its parent, and the lines after it agree with each other, then
/// it is the one to point at.
fn over_indented(text: &str, words: &str, at: usize) -> Option<usize> {
    if !words.starts_with("did not find expected") {
        return None;
    }
    let indent = |line: &str| line.len() - line.trim_start().len();
    let stop = text.get(..at)?.rfind('\n').map_or(0, |newline| newline + 1);
    let mut below = text.get(stop..)?.lines().filter(|line| !line.trim().is_empty());
    let odd = indent(below.next()?);
    let agrees = below.take_while(|line| indent(line) >= odd).any(|line| indent(line) == odd);
    let mut found: Option<(usize, usize)> = None;
    let mut start = stop;
    for line in text.get(..stop)?.split_inclusive('\n').rev() {
        start -= line.len();
        match indent(line) {
            _ if line.trim().is_empty() => {}
            depth if depth > odd => {
                // A second child of the same parent: then the line that libyaml names is the odd
                // one.
                if found.is_some_and(|(_, deeper)| deeper == depth) {
                    return None;
                }
                found = Some((start + depth, depth));
            }
            depth => {
                let child = depth < odd && line.trim_end().ends_with(':');
                return found.filter(|_| child && agrees).map(|(at, _)| at);
            }
        }
    }
    None
}

struct Reader<'t> {
    text: &'t str,
    base: usize,
    values: Cell<usize>,
    bytes: Cell<usize>,
    failure: RefCell<Option<String>>,
    octals: RefCell<Vec<(Span, i64)>>,
}

impl Reader<'_> {
    fn fail<E: de::Error>(&self, message: impl Into<String>) -> E {
        *self.failure.borrow_mut() = Some(message.into());
        E::custom("refused")
    }

    fn charge<E: de::Error>(&self, bytes: usize) -> Result<(), E> {
        self.values.set(self.values.get() + 1);
        self.bytes.set(self.bytes.get() + bytes);
        if self.values.get() > MAX_VALUES || self.bytes.get() > MAX_VALUE_BYTES {
            return Err(self.fail("yaml: document contains excessive aliasing"));
        }
        Ok(())
    }

    /// Where a slice of the text stands in it.
    fn offset_of(&self, slice: &str) -> Option<usize> {
        let offset = (slice.as_ptr() as usize).checked_sub(self.text.as_ptr() as usize)?;
        let inside = self.text.get(offset..offset + slice.len())? == slice;
        inside.then_some(offset)
    }

    /// A text that stands in the document as it is: its span, and whether quotes stand around it.
    fn span_of(&self, slice: &str) -> Option<(Span, bool)> {
        let start = self.offset_of(slice)?;
        let end = start + slice.len();
        let before = self.text.get(..start)?.bytes().next_back();
        let after = self.text.get(end..)?.bytes().next();
        let quoted = matches!(before, Some(b'"' | b'\'')) && before == after;
        let wider = usize::from(quoted);
        let span = Span { start: self.base + start - wider, end: self.base + end + wider };
        Some((span, quoted))
    }

    /// The scalar that a slice of the document is.
    fn scalar(&self, slice: &str) -> (Value, Option<Span>) {
        match self.span_of(slice) {
            Some((span, false)) => {
                if let Some(number) = resolve::octal(slice) {
                    self.octals.borrow_mut().push((span, number));
                }
                let value = resolve::plain_text(slice);
                (value.unwrap_or_else(|| slice.into()), Some(span))
            }
            Some((span, true)) => (slice.into(), Some(span)),
            None => (slice.into(), None),
        }
    }

    fn key<E: de::Error>(&self, key: &Node) -> Result<String, E> {
        match &key.content {
            Content::Scalar(Value::String(text)) => Ok(text.clone()),
            Content::Scalar(Value::Null) => Err(self.fail("unsupported map key of type: <nil>")),
            Content::Scalar(value) => Ok(value.to_string()),
            _ => Err(self.fail(format!("yaml: invalid map key: {}", go_syntax(key)))),
        }
    }
}

/// As Go's `%#v` prints what go-yaml read.
fn go_syntax(node: &Node) -> String {
    match &node.content {
        Content::Scalar(Value::Null) => "interface {}(nil)".into(),
        Content::Scalar(value) => value.to_string(),
        Content::Sequence(items) => {
            let items: Vec<String> = items.iter().map(go_syntax).collect();
            format!("[]interface {{}}{{{}}}", items.join(", "))
        }
        Content::Mapping(entries) => {
            let pair = |entry: &Entry| format!("{:?}:{}", entry.key, go_syntax(&entry.value));
            let pairs: Vec<String> = entries.iter().map(pair).collect();
            format!("map[interface {{}}]interface {{}}{{{}}}", pairs.join(", "))
        }
    }
}

#[derive(Clone, Copy)]
struct Seed<'r, 't> {
    reader: &'r Reader<'t>,
    depth: usize,
}

impl Seed<'_, '_> {
    fn deeper<E: de::Error>(self) -> Result<Self, E> {
        if self.depth >= MAX_DEPTH {
            let message = format!("yaml: exceeded max depth of {MAX_DEPTH}");
            return Err(self.reader.fail(message));
        }
        Ok(Seed { depth: self.depth + 1, ..self })
    }

    fn leaf<E: de::Error>(self, value: impl Into<Value>) -> Result<Node, E> {
        self.reader.charge(0)?;
        Ok(Node { content: Content::Scalar(value.into()), span: None })
    }

    fn float<E: de::Error>(self, number: f64) -> Result<Node, E> {
        match resolve::float(number) {
            Some(value) => self.leaf(value),
            None => {
                let words = if number.is_nan() {
                    "NaN"
                } else if number > 0.0 {
                    "+Inf"
                } else {
                    "-Inf"
                };
                Err(self.reader.fail(format!("json: unsupported value: {words}")))
            }
        }
    }
}

impl<'de> DeserializeSeed<'de> for Seed<'_, '_> {
    type Value = Node;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_, '_> {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_none<E: de::Error>(self) -> Result<Node, E> {
        self.leaf(Value::Null)
    }

    fn visit_unit<E: de::Error>(self) -> Result<Node, E> {
        self.leaf(Value::Null)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Node, E> {
        self.leaf(value)
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Node, E> {
        self.leaf(value)
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Node, E> {
        self.leaf(value)
    }

    fn visit_i128<E: de::Error>(self, value: i128) -> Result<Node, E> {
        self.float(value as f64)
    }

    fn visit_u128<E: de::Error>(self, value: u128) -> Result<Node, E> {
        self.float(value as f64)
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Node, E> {
        self.float(value)
    }

    fn visit_borrowed_str<E: de::Error>(self, slice: &'de str) -> Result<Node, E> {
        self.reader.charge(slice.len())?;
        let (value, span) = self.reader.scalar(slice);
        Ok(Node { content: Content::Scalar(value), span })
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Node, E> {
        self.reader.charge(text.len())?;
        self.leaf(text)
    }

    fn visit_enum<A: EnumAccess<'de>>(self, access: A) -> Result<Node, A::Error> {
        let (_tag, content) = access.variant::<String>()?;
        content.newtype_variant_seed(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Node, A::Error> {
        self.reader.charge(0)?;
        let item = self.deeper()?;
        let mut items = Vec::new();
        while let Some(node) = access.next_element_seed(item)? {
            items.push(node);
        }
        Ok(Node { content: Content::Sequence(items), span: None })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Node, A::Error> {
        self.reader.charge(0)?;
        let inner = self.deeper()?;
        let mut entries = Vec::new();
        let mut merges = Vec::new();
        while let Some(key) = access.next_key_seed(inner)? {
            let name = self.reader.key(&key)?;
            let value = access.next_value_seed(inner)?;
            if name == "<<" {
                merges.push(value);
                continue;
            }
            entries.push(Entry { key: name, key_span: key.span, merged: false, value });
        }
        if !merges.is_empty() {
            self.reader.merge(merges, &mut entries)?;
        }
        Ok(Node { content: Content::Mapping(entries), span: None })
    }
}

impl Reader<'_> {
    /// Adds what `<<` names, where the mapping does not have it itself.
    fn merge<E: de::Error>(&self, sources: Vec<Node>, into: &mut Vec<Entry>) -> Result<(), E> {
        let mut have: BTreeSet<String> = into.iter().map(|entry| entry.key.clone()).collect();
        let mut sources: VecDeque<Node> = sources.into();
        while let Some(source) = sources.pop_front() {
            match source.content {
                Content::Mapping(entries) => {
                    let new = entries.into_iter().filter(|entry| have.insert(entry.key.clone()));
                    into.extend(new.map(|entry| Entry { merged: true, ..entry }));
                }
                Content::Sequence(items) => {
                    items.into_iter().rev().for_each(|item| sources.push_front(item));
                }
                Content::Scalar(_) => {
                    let words = "yaml: map merge requires map or sequence of maps as the value";
                    return Err(self.fail(words));
                }
            }
        }
        Ok(())
    }
}
