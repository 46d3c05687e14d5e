//! Text in, objects out. Reading never fails: it returns what it got, and a list of problems, each
//! where it stands and in the words of whoever would refuse it: the YAML parser, kubectl's mapping
//! to resources, the API server's strict decoding, its validation.
//!
//! Follows kubectl's path for `apply -f` (cli-runtime `pkg/resource`, sigs.k8s.io/yaml), with lines
//! counted from the top of the text. Bounds: a megabyte, a hundred levels, 300,000 values, 5,000
//! objects, 100 problems. Left out: client-side schema validation with `--validate=true` of old,
//! `!!binary`. Kinds that users define are those of the cluster that is spoken to
//! (`api::custom::serving`).

mod began;
mod clues;
mod convert;
mod defined;
mod guard;
mod lines;
mod nearest;
mod node;
mod position;
mod problem;
mod reader;
mod resolve;
mod schema;
mod simulated;
mod split;
mod strict;
mod yaml;

use std::sync::Arc;

use crate::api::{Object, Value};

pub use guard::{MAX_BYTES, MAX_DEPTH, Refusal, check as check_bounds};
pub use lines::{Lines, Place};
pub use nearest::nearest;
pub use position::locate;
pub use problem::{Hint, Problem, Severity, Stage};
pub use reader::{MAX_DOCUMENTS, MAX_PROBLEMS};
pub use schema::{Field, FieldInfo, Fields, Schema, schema};

/// What a text holds.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// The objects that could be read, in the order of the text. An object that breaks a rule of
    /// the API server is among them, so that it can be sent and be refused.
    pub documents: Vec<Document>,
    /// What is wrong, or worth knowing, in the order of the text.
    pub problems: Vec<Problem>,
    /// For what did not become an object: what kubectl prints, the text being its standard input.
    pub refusals: Vec<String>,
}

/// An object of a text.
#[derive(Clone, Debug)]
pub struct Document {
    /// The line on which it begins, from 1.
    pub line: u32,
    /// It, with the namespace that kubectl would give it, and without status or defaults.
    pub object: Arc<Object>,
    /// It as it was written.
    pub value: Value,
}

impl Reading {
    /// Whether anything would be refused.
    pub fn has_errors(&self) -> bool {
        self.errors().next().is_some()
    }

    /// The problems for which something would be refused.
    pub fn errors(&self) -> impl Iterator<Item = &Problem> {
        self.problems.iter().filter(|problem| problem.severity == Severity::Error)
    }
}

/// Reads a text.
pub fn read(text: &str) -> Reading {
    reader::read(text)
}

/// Reads one YAML or JSON value that is no object, such as a patch.
pub fn value(text: &str) -> Result<Value, String> {
    guard::check(text).map_err(|refusal| refusal.message)?;
    yaml::parse(text, 0).map(|parsed| parsed.root.to_value()).map_err(|failure| failure.message)
}

/// The line on which a text becomes too long or too deep to be given to a YAML parser, if it does.
pub fn too_deep(text: &str) -> Option<usize> {
    let refusal = guard::check(text.trim_start_matches('\u{feff}')).err()?;
    Some(Lines::new(text).place(refusal.at).line as usize)
}

/// Reads bytes that should be UTF-8. What is not becomes U+FFFD, with a warning, as kubectl does
/// without one.
pub fn read_bytes(bytes: &[u8]) -> Reading {
    let text = String::from_utf8_lossy(bytes);
    let mut reading = read(&text);
    if let Some(valid) = std::str::from_utf8(bytes).err().map(|error| error.valid_up_to()) {
        let place = Lines::new(&text).place(valid);
        reading.problems.push(Problem {
            severity: Severity::Warning,
            stage: Stage::Parse,
            line: place.line,
            column: place.column,
            end_column: place.column + 1,
            path: String::new(),
            message: "invalid UTF-8 is read as U+FFFD".into(),
            hint: Some(Hint::NotUtf8),
        });
    }
    reading
}
