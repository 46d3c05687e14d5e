//! Strict decoding: a tree against the table of fields, in the words of Go's JSON decoder and of
//! Kubernetes' strict field validation (`sigs.k8s.io/json`, apimachinery `pkg/runtime/error.go`).
//! The API server stops at the first value of a wrong type; here all of them are found.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::api::{Quantity, Timestamp, Value};

use super::nearest::nearest;
use super::node::{Content, Entry, Node};
use super::position::Segment;
use super::problem::Hint;
use super::schema::{Field, Fields, Schema, go_struct};

/// Something that does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// The field.
    pub path: Vec<Segment>,
    /// Whether the key is wrong; else the value is.
    pub at_key: bool,
    /// In Go's or Kubernetes' words.
    pub message: String,
    /// What may help; a `QuoteIt` still lacks its word.
    pub hint: Option<Hint>,
}

/// What strict decoding made of a tree.
pub struct Decoded {
    /// The object as the API server would have read it: without nulls and without unknown fields.
    pub value: Value,
    /// What did not fit.
    pub misfits: Vec<Misfit>,
}

/// Decodes `root` as the type `name` of the table.
pub fn decode(schema: &Schema, name: &'static str, root: &Node) -> Decoded {
    let mut decoder = Decoder { schema, path: Vec::new(), names: Vec::new(), misfits: Vec::new() };
    let value = decoder.decode(root, &Field::Named(name), name);
    Decoded {
        value: value.unwrap_or_else(|| Value::Object(Default::default())),
        misfits: decoder.misfits,
    }
}

/// How many misfits are kept.
const MAX_MISFITS: usize = 100;

struct Decoder<'s> {
    schema: &'s Schema,
    /// The path with indexes and map keys.
    path: Vec<Segment>,
    /// The path as Go's decoder prints it: names of struct fields only.
    names: Vec<&'static str>,
    misfits: Vec<Misfit>,
}

impl Decoder<'_> {
    fn decode(&mut self, node: &Node, field: &Field, owner: &'static str) -> Option<Value> {
        if node.is_null() {
            return None;
        }
        match (field, &node.content) {
            (Field::Any, _) => Some(node.to_value()),
            (Field::Named(name), Content::Mapping(entries)) => self.object(entries, name),
            (Field::List(item), Content::Sequence(items)) => Some(self.list(items, item, owner)),
            (Field::Map(inner), Content::Mapping(entries)) => Some(self.map(entries, inner, owner)),
            (_, Content::Scalar(value)) => self.scalar(value, field, owner),
            _ => self.wrong_type(json_type(&node.content), field, owner),
        }
    }

    fn object(&mut self, entries: &[Entry], name: &'static str) -> Option<Value> {
        let fields = self.schema.fields(name)?;
        let mut object = serde_json::Map::new();
        for entry in entries {
            // Go's decoder knows the name of the field, so take the table's copy of it.
            let Some((&key, info)) = fields.get_key_value(entry.key.as_str()) else {
                self.unknown(&entry.key, fields);
                continue;
            };
            self.path.push(Segment::Key(entry.key.clone()));
            self.names.push(key);
            match self.decode(&entry.value, &info.field, name) {
                Some(value) => object.insert(entry.key.clone(), value),
                None => object.remove(key),
            };
            self.names.pop();
            self.path.pop();
        }
        Some(Value::Object(object))
    }

    fn unknown(&mut self, key: &str, fields: &Fields) {
        if self.misfits.len() >= MAX_MISFITS {
            return;
        }
        let mut path = dotted(&self.path);
        if !path.is_empty() {
            path.push('.');
        }
        let near = nearest(key, fields.keys().copied());
        self.path.push(Segment::Key(key.into()));
        self.misfit(
            true,
            format!("strict decoding error: unknown field \"{path}{key}\""),
            near.map(|name| Hint::DidYouMean(name.into())),
        );
        self.path.pop();
    }

    fn list(&mut self, items: &[Node], item: &Field, owner: &'static str) -> Value {
        let mut list = Vec::new();
        for (index, node) in items.iter().enumerate() {
            self.path.push(Segment::Index(index));
            let value = self.decode(node, item, owner);
            self.path.pop();
            list.extend(value.or_else(|| zero(item)));
        }
        Value::Array(list)
    }

    fn map(&mut self, entries: &[Entry], inner: &Field, owner: &'static str) -> Value {
        let mut map = serde_json::Map::new();
        for entry in entries {
            self.path.push(Segment::Key(entry.key.clone()));
            let value = self.decode(&entry.value, inner, owner);
            self.path.pop();
            if let Some(value) = value.or_else(|| zero(inner)) {
                map.insert(entry.key.clone(), value);
            }
        }
        Value::Object(map)
    }

    fn scalar(&mut self, value: &Value, field: &Field, owner: &'static str) -> Option<Value> {
        let fits = match (field, value) {
            (Field::String, Value::String(_)) | (Field::Bool, Value::Bool(_)) => true,
            (Field::Int, Value::Number(n)) => in_range(n.as_i64(), i32::MIN, i32::MAX),
            (Field::Long, Value::Number(n)) => n.is_i64(),
            (Field::IntOrString, Value::String(_)) => true,
            (Field::IntOrString, value) => return self.int_or_string(value),
            (Field::Quantity, value) => return self.quantity(value),
            (Field::Time, value) => return self.time(value),
            (Field::Bytes, Value::String(text)) => return self.bytes(text),
            _ => false,
        };
        if fits {
            return Some(value.clone());
        }
        let words = match value {
            Value::Number(number) if matches!(field, Field::Int | Field::Long) => {
                format!("number {number}")
            }
            _ => json_type(&Content::Scalar(value.clone())).into(),
        };
        self.wrong_type(&words, field, owner)
    }

    fn wrong_type(&mut self, got: &str, field: &Field, owner: &str) -> Option<Value> {
        let hint = match (field, got) {
            (Field::String, "bool" | "number") => Some(Hint::QuoteIt(String::new())),
            (Field::Int | Field::Long | Field::Bool, "string") => {
                Some(Hint::Unquote(String::new()))
            }
            (Field::List(_), _) => Some(Hint::NeedsDash),
            _ => None,
        };
        let container = matches!(got, "object" | "array");
        let message = format!(
            "json: cannot unmarshal {got} into Go struct field {}.{} of type {}",
            go_struct(owner),
            self.names.join("."),
            field.go_type()
        );
        self.misfit(container, message, hint);
        None
    }

    fn int_or_string(&mut self, value: &Value) -> Option<Value> {
        let got = match value {
            Value::Number(n) if in_range(n.as_i64(), i32::MIN, i32::MAX) => {
                return Some(value.clone());
            }
            Value::Number(number) => format!("number {number}"),
            _ => "bool".into(),
        };
        let message = format!("json: cannot unmarshal {got} into Go value of type int32");
        self.misfit(false, message, None);
        None
    }

    fn quantity(&mut self, value: &Value) -> Option<Value> {
        let text = match value {
            Value::String(text) => text.trim().to_string(),
            other => other.to_string(),
        };
        match Quantity::parse(&text) {
            Ok(_) => Some(text.into()),
            Err(error) => {
                self.misfit(false, error.to_string(), None);
                None
            }
        }
    }

    fn time(&mut self, value: &Value) -> Option<Value> {
        let message = match value {
            Value::String(text) if Timestamp::parse(text).is_some() => {
                return Some(value.clone());
            }
            Value::String(text) => format!(
                "parsing time {text:?} as \"2006-01-02T15:04:05Z07:00\": cannot parse {text:?} \
                 as \"2006\""
            ),
            other => {
                let got = json_type(&Content::Scalar(other.clone()));
                format!("json: cannot unmarshal {got} into Go value of type string")
            }
        };
        self.misfit(false, message, None);
        None
    }

    fn bytes(&mut self, text: &str) -> Option<Value> {
        let bare: String = text.chars().filter(|c| !matches!(c, '\r' | '\n')).collect();
        let error = match STANDARD.decode(&bare) {
            Ok(_) => return Some(text.into()),
            Err(error) => error,
        };
        let at = match error {
            base64::DecodeError::InvalidByte(at, _) => at,
            base64::DecodeError::InvalidLastSymbol(at, _) => at,
            _ => bare.len(),
        };
        self.misfit(false, format!("illegal base64 data at input byte {at}"), None);
        None
    }

    fn misfit(&mut self, at_key: bool, message: String, hint: Option<Hint>) {
        if self.misfits.len() < MAX_MISFITS {
            self.misfits.push(Misfit { path: self.path.clone(), at_key, message, hint });
        }
    }
}

fn in_range(number: Option<i64>, min: i32, max: i32) -> bool {
    number.is_some_and(|number| (i64::from(min)..=i64::from(max)).contains(&number))
}

/// What Go makes of null inside a list or a map.
fn zero(field: &Field) -> Option<Value> {
    match field {
        Field::String => Some("".into()),
        Field::Quantity => Some("0".into()),
        Field::Named(_) => Some(Value::Object(Default::default())),
        _ => None,
    }
}

fn json_type(content: &Content) -> &'static str {
    match content {
        Content::Sequence(_) | Content::Scalar(Value::Array(_)) => "array",
        Content::Mapping(_) | Content::Scalar(Value::Object(_)) => "object",
        Content::Scalar(Value::String(_)) => "string",
        Content::Scalar(Value::Number(_)) => "number",
        Content::Scalar(Value::Bool(_)) => "bool",
        Content::Scalar(Value::Null) => "null",
    }
}

/// The path as Kubernetes' strict errors print it.
pub fn dotted(path: &[Segment]) -> String {
    let mut text = String::new();
    for segment in path {
        match segment {
            Segment::Index(index) => text.push_str(&format!("[{index}]")),
            Segment::Key(key) => {
                if !text.is_empty() {
                    text.push('.');
                }
                text.push_str(key);
            }
        }
    }
    text
}
