//! JSONPath, as in `-o jsonpath`, `--sort-by`, `-o custom-columns`, `--field-selector` and `wait`.
//!
//! Follows client-go `util/jsonpath`: text and `{actions}`, fields, `*`, `..`, indexes, slices,
//! unions, filters with one comparison, `{range}` and `{end}`, quoted text with escapes. `$` and
//! `@` both mean the current value, as there. Bounds: 64 levels, 100,000 values and a megabyte of
//! text for one template. Left out: fields of embedded Go structs.

mod eval;
mod parse;

use crate::api::Value;

pub use eval::go_print;

/// A template taken apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    text: String,
    nodes: Vec<Node>,
}

/// A part of a template: of each `{...}` a list of steps.
#[derive(Clone, Debug, PartialEq)]
enum Node {
    /// Text between actions, or quoted in one.
    Text(String),
    /// A literal in a filter.
    Literal(Value),
    /// What stands between two braces.
    List(Vec<Node>),
    /// `.name`.
    Field(String),
    /// `[start:end:step]`; an index is `start:start+1` and must exist.
    Slice(Slice),
    /// `[1,2]`, `['a','b']`.
    Union(Vec<Node>),
    /// `[?(@.a=="b")]`.
    Filter(Vec<Node>, Operator, Vec<Node>),
    /// `*`.
    Wildcard,
    /// `..`.
    Recursive,
    /// `{range ...}` with what follows up to its `{end}`.
    Range(Vec<Node>, Vec<Node>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Slice {
    start: Option<i64>,
    /// Nothing: to the end.
    end: Option<i64>,
    step: Option<i64>,
    /// Whether it is `[start]`.
    one: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Operator {
    Exists,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Template {
    /// Takes a template apart.
    pub fn parse(text: &str) -> Result<Template, String> {
        let nodes = parse::template(text)?;
        Ok(Template { text: text.into(), nodes })
    }

    /// A single path, with or without braces and the first dot.
    pub fn path(text: &str) -> Result<Template, String> {
        let bare = text.trim();
        let inner = match bare.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
            Some(inner) => inner,
            None => bare,
        };
        if inner.is_empty() || inner.contains(['{', '}']) {
            return Err("unexpected path string, expected a 'name1.name2' or '.name1.name2' or \
                        '{name1.name2}' or '{.name1.name2}'"
                .into());
        }
        let dot = if inner.starts_with(['.', '[', '$', '@']) { "" } else { "." };
        Template::parse(&format!("{{{dot}{inner}}}"))
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The template filled in.
    pub fn fill(&self, value: &Value) -> Result<String, String> {
        eval::fill(&self.nodes, value)
    }

    /// All values that the template's actions lead to.
    pub fn find(&self, value: &Value) -> Result<Vec<Value>, String> {
        eval::find(&self.nodes, value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn sample() -> Value {
        json!({
            "kind": "List",
            "metadata": {"labels": {"app.io/name": "web"}},
            "items": [
                {"metadata": {"name": "a"}, "n": 1, "tags": ["x", "y"], "type": "x"},
                {"metadata": {"name": "b"}, "n": 12, "tags": [], "ok": true},
                {"metadata": {"name": "c"}, "n": 3, "tags": ["z"], "type": "x"},
            ],
        })
    }

    fn filled(template: &str) -> Result<String, String> {
        Template::parse(template)?.fill(&sample())
    }

    #[test]
    fn paths_lead_into_maps_and_lists() {
        let cases = [
            ("kind is {.kind}", "kind is List"),
            ("{$.kind}{@.kind}", "ListList"),
            ("{.items[*].metadata.name}", "a b c"),
            ("{.items[1].n}", "12"),
            ("{.items[-1].metadata.name}", "c"),
            ("{.items[0:2].n}", "1 12"),
            ("{.items[::2].n}", "1 3"),
            ("{.items[0,2].n}", "1 3"),
            ("{.items[0]['metadata','type']}", "{\"name\":\"a\"} x"),
            ("{..name}", "a b c"),
            ("{.metadata.labels.app\\.io/name}", "web"),
            ("{.metadata.labels['app\\.io/name']}", "web"),
            ("{.items[0].tags}", "[\"x\",\"y\"]"),
            ("{.items[?(@.type==\"x\")].n}", "1 3"),
            ("{.items[?(@.n>2)].n}", "12 3"),
            ("{.items[?(@.n!=12)].n}", "1 3"),
            ("{.items[?(@.ok)].n}", "12"),
            ("{.items[?(@.ok==true)].n}", "12"),
            ("{.nothing.here}", ""),
            ("{.items[*]['n']}{\"\\n\"}{'\\t'}", "1 12 3\n\t"),
            ("{range .items[*]}{.metadata.name}={.n}{\"\\n\"}{end}!", "a=1\nb=12\nc=3\n!"),
            ("{range .items[*]}{.n}:{range .tags[*]}<{@}>{end};{end}", "1:<x><y>;12:;3:<z>;"),
            ("{range .items[?(@.type)]}{@.n},{end}", "1,3,"),
        ];
        for (template, wanted) in cases {
            assert_eq!(filled(template).as_deref(), Ok(wanted), "{template}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_template_is_said_in_client_gos_words() {
        let cases = [
            ("{.a", "unclosed action"),
            ("{.items[0}", "unterminated array"),
            ("{.items[?(@.a}", "unterminated filter"),
            ("{\"a}", "unterminated quoted string"),
            ("{range .items[*]}", "unclosed range action"),
            ("{hello}", "unrecognized identifier hello"),
            ("{.items[7].n}", "array index out of bounds: index 7, length 3"),
            ("{.a[b]}", "invalid array index b"),
            ("{end}", "not in range, nothing to end"),
        ];
        for (template, wanted) in cases {
            let error = filled(template).expect_err(template);
            assert!(error.contains(wanted), "{template}: {error}");
        }
    }

    #[test]
    fn a_single_path_needs_no_braces() {
        for path in ["{.items[1].n}", "items[1].n", ".items[1].n", "{items[1].n}"] {
            let found = Template::path(path).and_then(|path| path.find(&sample()));
            assert_eq!(found, Ok(vec![json!(12)]), "{path}");
        }
        assert!(Template::path("{.a}{.b}").is_err() && Template::path("").is_err());
    }

    #[test]
    fn no_template_takes_long_or_deep() {
        let deep = format!("{{{}}}", "[?(@".repeat(200));
        assert!(Template::parse(&deep).is_err());
        let many = format!("{{{}}}", "..".repeat(3000));
        let filled = Template::parse(&many).and_then(|template| template.fill(&sample()));
        assert!(filled.is_err());
        let ranges = "{range .items[*]}".repeat(40) + "{.n}" + &"{end}".repeat(40);
        let filled = Template::parse(&ranges).and_then(|template| template.fill(&sample()));
        assert!(filled.is_ok());
    }
}
