//! A YAML document as a tree that still knows where its parts stand in the text.

use crate::api::Value;

/// Bytes of the whole text, from `start` up to but not including `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// A value and where it stands. Numbers, truth values and texts with escapes have no span of their
/// own: they are looked for behind their key.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The value.
    pub content: Content,
    /// Where it stands, if the parser could tell.
    pub span: Option<Span>,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Null, a truth value, a number or text.
    Scalar(Value),
    /// A list.
    Sequence(Vec<Node>),
    /// Keys and values in the order of the text; a key may come twice.
    Mapping(Vec<Entry>),
}

/// A key and its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key, as JSON has it.
    pub key: String,
    /// Where the key stands.
    pub key_span: Option<Span>,
    /// Whether it came from a `<<` merge.
    pub merged: bool,
    /// The value.
    pub value: Node,
}

impl Node {
    /// The null that an empty document is.
    pub const NULL: Node = Node { content: Content::Scalar(Value::Null), span: None };

    /// The entry of `key` that counts: the last one.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        match &self.content {
            Content::Mapping(entries) => entries.iter().rev().find(|entry| entry.key == key),
            _ => None,
        }
    }

    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// The text that this is, if it is text.
    pub fn as_str(&self) -> Option<&str> {
        match &self.content {
            Content::Scalar(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    /// The items, if this is a list.
    pub fn items(&self) -> Option<&[Node]> {
        match &self.content {
            Content::Sequence(items) => Some(items),
            _ => None,
        }
    }

    /// Whether this is null.
    pub fn is_null(&self) -> bool {
        self.content == Content::Scalar(Value::Null)
    }

    /// The same as JSON; of keys given twice the last counts, as for kubectl.
    pub fn to_value(&self) -> Value {
        match &self.content {
            Content::Scalar(value) => value.clone(),
            Content::Sequence(items) => items.iter().map(Node::to_value).collect(),
            Content::Mapping(entries) => {
                let pair = |entry: &Entry| (entry.key.clone(), entry.value.to_value());
                Value::Object(entries.iter().map(pair).collect())
            }
        }
    }

    /// The first place in it that is known.
    pub fn first_span(&self) -> Option<Span> {
        self.span.or_else(|| match &self.content {
            Content::Scalar(_) => None,
            Content::Sequence(items) => items.first()?.first_span(),
            Content::Mapping(entries) => entries.first()?.key_span,
        })
    }
}
