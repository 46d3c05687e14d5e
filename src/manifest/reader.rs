//! From a text to documents and problems.

use std::sync::Arc;

use crate::api::{Kind, Object, Value};
use crate::apiserver::{OBJECT_LIMIT, defaults, validation};
use crate::controllers::order::object::is_order;

use super::clues;
use super::convert;
use super::defined;
use super::guard;
use super::lines::Lines;
use super::nearest::nearest;
use super::node::{Content, Node, Span};
use super::position::{Finder, Segment, segments};
use super::problem::{Hint, Problem, Severity, Stage};
use super::schema::schema;
use super::simulated::not_simulated;
use super::split::{self, Chunk};
use super::strict::{self, Misfit, dotted};
use super::yaml;
use super::{Document, Reading};

/// How many problems are listed.
pub const MAX_PROBLEMS: usize = 100;
/// How many objects a text may hold.
pub const MAX_DOCUMENTS: usize = 5_000;

pub(super) fn read(text: &str) -> Reading {
    // An editor counts the byte order mark as a character of the first line, so positions keep it.
    let mark = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let body = text.get(mark..).unwrap_or("");
    let mut reader =
        Reader { text, lines: Lines::new(text), reading: Reading::default(), more: false };
    if let Err(refusal) = guard::check(body) {
        reader.refused(mark + refusal.at, refusal.message);
        return reader.reading;
    }
    for (count, mut chunk) in split::documents(body).into_iter().enumerate() {
        chunk.start += mark;
        reader.chunk(&chunk);
        if count.max(reader.reading.documents.len()) >= MAX_DOCUMENTS {
            reader.too_many(&chunk);
            break;
        }
    }
    reader.reading.problems.sort_by_key(|problem| (problem.line, problem.column));
    reader.reading
}

struct Reader<'t> {
    text: &'t str,
    lines: Lines<'t>,
    reading: Reading,
    more: bool,
}

/// One document on its way: the tree, and where to find its parts.
struct Source<'n> {
    root: &'n Node,
    finder: Finder<'n>,
    /// Where in the document the object is: `items[3]` of a List.
    prefix: Vec<Segment>,
    start: usize,
}

impl<'n> Source<'n> {
    fn node(&self) -> &'n Node {
        self.finder.node(&self.prefix).unwrap_or(&Node::NULL)
    }

    fn full(&self, path: &[Segment]) -> Vec<Segment> {
        [self.prefix.as_slice(), path].concat()
    }

    fn value(&self, path: &[Segment]) -> Span {
        self.finder.value(&self.full(path)).unwrap_or(self.beginning())
    }

    fn key(&self, path: &[Segment]) -> Span {
        self.finder.key(&self.full(path)).unwrap_or(self.beginning())
    }

    fn beginning(&self) -> Span {
        self.root.first_span().unwrap_or(Span { start: self.start, end: self.start })
    }
}

impl<'t> Reader<'t> {
    fn chunk(&mut self, chunk: &Chunk<'t>) {
        if let Some(words) = chunk.behind_separator {
            let span =
                Span { start: chunk.start.saturating_sub(1), end: chunk.start.saturating_sub(1) };
            let message = format!("invalid Yaml document separator: {words}");
            self.refuse(format!("error: error parsing STDIN: {message}"));
            self.problem(Severity::Error, Stage::Parse, span, "", message, None);
            return;
        }
        let parsed = match yaml::parse(chunk.text, chunk.start) {
            Ok(parsed) => parsed,
            Err(failure) => return self.unreadable(chunk, failure),
        };
        for (span, number) in parsed.octals {
            let word = self.text.get(span.start..span.end).unwrap_or("");
            let message = format!("{word} is octal: {number}");
            let hint = Some(Hint::Octal(number));
            self.problem(Severity::Warning, Stage::Parse, span, "", message, hint);
        }
        self.duplicates(&parsed.root, &mut Vec::new());
        let source = Source {
            root: &parsed.root,
            finder: Finder::new(
                self.text,
                chunk.start,
                chunk.start + chunk.text.len(),
                &parsed.root,
            ),
            prefix: Vec::new(),
            start: chunk.start,
        };
        self.object(source, 0);
    }

    fn refused(&mut self, at: usize, message: String) {
        self.refuse(format!("error: error parsing STDIN: {message}"));
        let hint = clues::clue(&self.lines, self.text, at).map(|(_, hint)| hint);
        let span = Span { start: at, end: at };
        self.problem(Severity::Error, Stage::Parse, span, "", message, hint);
    }

    /// Notes what kubectl would print.
    fn refuse(&mut self, line: String) {
        if self.reading.refusals.len() < MAX_PROBLEMS {
            self.reading.refusals.push(line);
        }
    }

    fn unreadable(&mut self, chunk: &Chunk<'_>, failure: yaml::Failure) {
        let at = failure.at.unwrap_or(chunk.start).min(self.text.len());
        let clue = clues::clue(&self.lines, chunk.text, at.saturating_sub(chunk.start));
        // The clue's place is the better one: libyaml notices a wrong space only later.
        let clue = clue.map(|(at, hint)| (chunk.start + at, hint));
        let (at, hint) = match clue {
            Some((at, hint)) => (at, Some(hint)),
            None => (at, None),
        };
        let line = self.lines.place(at).line;
        let words = failure.message;
        let message = if failure.with_line {
            format!("error converting YAML to JSON: yaml: line {line}: {words}")
        } else {
            format!("error converting YAML to JSON: {words}")
        };
        let span = Span { start: at, end: at };
        self.refuse(format!("error: error parsing STDIN: {message}"));
        self.problem(Severity::Error, Stage::Parse, span, "", message, hint);
    }

    fn duplicates(&mut self, node: &Node, path: &mut Vec<Segment>) {
        if self.more {
            return;
        }
        match &node.content {
            Content::Scalar(_) => {}
            Content::Sequence(items) => {
                for (index, item) in items.iter().enumerate() {
                    path.push(Segment::Index(index));
                    self.duplicates(item, path);
                    path.pop();
                }
            }
            Content::Mapping(entries) => {
                let mut seen = std::collections::BTreeSet::new();
                for entry in entries {
                    if self.more {
                        return;
                    }
                    path.push(Segment::Key(entry.key.clone()));
                    if !seen.insert(&entry.key) && !entry.merged {
                        let path = dotted(path);
                        let message = format!("duplicate field {path:?}");
                        let span = entry.key_span.unwrap_or(Span { start: 0, end: 0 });
                        let hint = Some(Hint::LastWins);
                        self.problem(Severity::Warning, Stage::Parse, span, &path, message, hint);
                    }
                    self.duplicates(&entry.value, path);
                    path.pop();
                }
            }
        }
    }

    /// One object, or a List of them.
    fn object(&mut self, source: Source<'_>, depth: usize) {
        let node = source.node();
        if node.is_null() {
            return;
        }
        let Content::Mapping(_) = &node.content else {
            let message = "error validating data: invalid object to validate".to_string();
            self.not_validated(&message);
            let span = source.beginning();
            return self.problem(Severity::Error, Stage::Mapping, span, "", message, None);
        };
        let api_version = self.type_word(&source, node, "apiVersion");
        let kind = self.type_word(&source, node, "kind");
        let (Some(api_version), Some(kind)) = (api_version, kind) else {
            return;
        };
        match node.get("items").and_then(Node::items) {
            Some(items) if kind.ends_with("List") && depth < 4 => {
                for index in 0..items.len().min(MAX_DOCUMENTS) {
                    let step = [Segment::Key("items".into()), Segment::Index(index)];
                    let item = Source {
                        prefix: source.full(&step),
                        finder: source.finder.again(),
                        ..source
                    };
                    self.object(item, depth + 1);
                }
            }
            _ => self.single(&source, node, api_version, kind),
        }
    }

    fn type_word<'n>(&mut self, source: &Source<'_>, node: &'n Node, key: &str) -> Option<&'n str> {
        let word = node.get(key);
        if let Some(word) = word.and_then(Node::as_str).filter(|word| !word.is_empty()) {
            return Some(word);
        }
        let message = match word {
            Some(word) if !word.is_null() && word.as_str().is_none() => {
                format!("error validating data: {key} isn't string type")
            }
            _ => format!("error validating data: {key} not set"),
        };
        self.not_validated(&message);
        let span = source.value(&[Segment::Key(key.into())]);
        self.problem(Severity::Error, Stage::Mapping, span, key, message, None);
        None
    }

    fn not_validated(&mut self, message: &str) {
        self.refuse(format!(
            "error: error validating \"STDIN\": {message}; if you choose to ignore these errors, \
             turn validation off with --validate=false"
        ));
    }

    fn single(&mut self, source: &Source<'_>, node: &Node, api_version: &str, kind: &str) {
        let schema = schema();
        let known = schema.type_of(api_version, kind);
        let kept = convert::kind_of(api_version, kind);
        if let Some(defined) = kept.filter(|kept| kept.is_custom()) {
            return self.defined(source, node, api_version, defined);
        }
        let (Some(name), Some(kind_id)) = (known, kept) else {
            return self.no_match(source, api_version, kind);
        };
        let decoded = strict::decode(schema, name, node);
        let failed = !decoded.misfits.is_empty();
        if failed {
            self.undecodable(api_version, kind, &decoded.misfits);
        }
        for misfit in decoded.misfits {
            self.misfit(source, misfit);
        }
        if failed {
            return;
        }
        let mut value = decoded.value;
        convert::to_kept_version(api_version, &mut value);
        let written = node.to_value();
        self.typed(source, kind_id, value, written);
    }

    /// An object of a kind that a user defined.
    fn defined(&mut self, source: &Source<'_>, node: &Node, api_version: &str, kind: Kind) {
        let written = node.to_value();
        let held = defined::check(kind, &written);
        let misfit = |path: &String| Misfit {
            path: segments(path),
            at_key: true,
            message: format!("strict decoding error: unknown field \"{path}\""),
            hint: None,
        };
        let misfits: Vec<Misfit> = held.unknown.iter().map(misfit).collect();
        if !misfits.is_empty() {
            self.undecodable(api_version, kind.info().kind, &misfits);
            misfits.into_iter().for_each(|misfit| self.misfit(source, misfit));
            return;
        }
        for words in held.errors {
            self.invalid(source, words);
        }
        self.typed(source, kind, written.clone(), written);
    }

    /// The API server names the first value of a wrong type, or else all unknown fields. It reads
    /// them in the order of their names, in which kubectl sends them.
    fn undecodable(&mut self, api_version: &str, kind: &str, misfits: &[Misfit]) {
        const STRICT: &str = "strict decoding error: ";
        let mut misfits: Vec<&Misfit> = misfits.iter().collect();
        misfits.sort_by(|one, other| one.path.cmp(&other.path));
        let wrong = misfits.iter().find(|misfit| !misfit.message.starts_with(STRICT));
        let words = match wrong {
            Some(misfit) => misfit.message.clone(),
            None => {
                let fields = misfits.iter().filter_map(|m| m.message.strip_prefix(STRICT));
                format!("{STRICT}{}", fields.collect::<Vec<_>>().join(", "))
            }
        };
        let version = api_version.rsplit('/').next().unwrap_or(api_version);
        self.refuse(format!(
            "Error from server (BadRequest): error when creating \"STDIN\": {kind} in version \
             {version:?} cannot be handled as a {kind}: {words}"
        ));
    }

    fn no_match(&mut self, source: &Source<'_>, api_version: &str, kind: &str) {
        let schema = schema();
        let mut key = "kind";
        let hint = if let Some(version) = schema.versions_of(kind).last() {
            key = "apiVersion";
            Hint::DidYouMean(version.into())
        } else if let Some(near) = nearest(kind, schema.kinds()) {
            Hint::DidYouMean(near.into())
        } else {
            Hint::UnknownKind
        };
        let message = format!(
            "no matches for kind {kind:?} in version {api_version:?}\nensure CRDs are \
                     installed first"
        );
        let meta = |field| {
            let meta = source.node().get("metadata").and_then(|meta| meta.get(field));
            meta.and_then(Node::as_str).unwrap_or("")
        };
        let (name, namespace) = (meta("name"), meta("namespace"));
        self.refuse(format!(
            "error: resource mapping not found for name: {name:?} namespace: {namespace:?} from \
             \"STDIN\": {message}"
        ));
        let span = source.value(&[Segment::Key(key.into())]);
        self.problem(Severity::Error, Stage::Mapping, span, key, message, Some(hint));
    }

    fn misfit(&mut self, source: &Source<'_>, misfit: Misfit) {
        let span =
            if misfit.at_key { source.key(&misfit.path) } else { source.value(&misfit.path) };
        let word = || {
            let word = self.text.get(span.start..span.end).unwrap_or("");
            word.trim_matches(['"', '\'']).to_string()
        };
        let hint = match misfit.hint {
            Some(Hint::QuoteIt(_)) => Some(Hint::QuoteIt(word())),
            Some(Hint::Unquote(_)) => {
                let number = word().parse::<i64>().is_ok() || matches!(&*word(), "true" | "false");
                number.then(|| Hint::Unquote(word()))
            }
            other => other,
        };
        let path = dotted(&misfit.path);
        let message = misfit.message;
        self.problem(Severity::Error, Stage::Decode, span, &path, message, hint);
    }

    fn typed(&mut self, source: &Source<'_>, kind: Kind, mut value: Value, written: Value) {
        let enums = validation::validate_words(kind, &mut value);
        let failed = !enums.is_empty();
        if failed {
            let name = source.node().get("metadata").and_then(|meta| meta.get("name"));
            let name = name.and_then(Node::as_str).unwrap_or("");
            let list = match enums.as_slice() {
                [one] => one.clone(),
                many => format!("\n* {}", many.join("\n* ")),
            };
            self.refuse(format!("The {} {name:?} is invalid: {list}", kind.info().kind));
        }
        for words in enums {
            self.invalid(source, words);
        }
        if failed {
            return;
        }
        // What a manifest says of the status counts for nothing, except for nodes, which only
        // scenarios write by hand, and for defined kinds, whose definition says what it is.
        let keeps_status = kind == Kind::Node || kind.is_custom();
        if let Some(object) = value.as_object_mut().filter(|_| !keeps_status) {
            object.remove("status");
        }
        let mut object = match Object::from_value(kind, value) {
            Ok(object) => object,
            Err(error) => {
                let span = source.beginning();
                let message = error.to_string();
                self.refuse(format!(
                    "Error from server (BadRequest): error when creating \"STDIN\": {message}"
                ));
                return self.problem(Severity::Error, Stage::Decode, span, "", message, None);
            }
        };
        let meta = object.meta_mut();
        if !kind.info().namespaced {
            meta.namespace = "".into();
        } else if meta.namespace.is_empty() {
            meta.namespace = "default".into();
        }
        self.simulated(source, kind, &object);
        let mut whole = object.clone();
        defaults::default_object(&mut whole);
        for words in validation::validate_create(&whole) {
            self.invalid(source, words);
        }
        self.reading.documents.push(Document {
            line: self.lines.place(source.key(&[]).start).line,
            object: Arc::new(object),
            value: written,
        });
    }

    /// A quiet note on what nothing acts on: one for each object at most.
    fn simulated(&mut self, source: &Source<'_>, kind: Kind, object: &Object) {
        let hint = Some(Hint::NotSimulated);
        if kind.info().simulated {
            let value = object.to_value();
            self.too_many_replicas(source, &value);
            if let Some((place, names)) = not_simulated(kind, &value) {
                let span = source.key(&place);
                let message = format!("kept, but not simulated: {names}");
                let path = dotted(&place);
                self.problem(Severity::Note, Stage::Simulation, span, &path, message, hint);
            }
            return;
        }
        if is_order(kind) {
            return;
        }
        let span = source.value(&[Segment::Key("kind".into())]);
        let message = format!("nothing here acts on kind {}", kind.info().kind);
        self.problem(Severity::Note, Stage::Simulation, span, "kind", message, hint);
    }

    /// Right for Kubernetes, and more than fits into a simulation.
    fn too_many_replicas(&mut self, source: &Source<'_>, value: &Value) {
        let replicas = value.pointer("/spec/replicas").and_then(Value::as_u64).unwrap_or(0);
        if replicas <= OBJECT_LIMIT as u64 {
            return;
        }
        let path = ["spec", "replicas"].map(|key| Segment::Key(key.into()));
        let span = source.value(&path);
        let message = format!("{replicas} pods: this simulation carries {OBJECT_LIMIT} objects");
        self.problem(Severity::Warning, Stage::Simulation, span, &dotted(&path), message, None);
    }

    /// A field error: `spec.replicas: Invalid value: -1: must be ...`.
    fn invalid(&mut self, source: &Source<'_>, words: String) {
        let path = words.split(": ").next().unwrap_or("").to_string();
        let steps = segments(&path);
        let span = named_inside(source, &steps, &words)
            .or_else(|| key_of_whole(source, &steps, &words))
            .unwrap_or_else(|| source.value(&steps));
        self.problem(Severity::Error, Stage::Validation, span, &path, words, None);
    }

    fn too_many(&mut self, chunk: &Chunk<'_>) {
        let span = Span { start: chunk.start, end: chunk.start };
        let message = format!("more than {MAX_DOCUMENTS} objects");
        self.refuse(format!("error: {message}"));
        self.problem(Severity::Error, Stage::Simulation, span, "", message, None);
    }

    fn problem(
        &mut self,
        severity: Severity,
        stage: Stage,
        span: Span,
        path: &str,
        message: String,
        hint: Option<Hint>,
    ) {
        if self.more {
            return;
        }
        let full = self.reading.problems.len() + 1 >= MAX_PROBLEMS;
        let (message, hint) = match full {
            false => (message, hint),
            true => ("too many problems".into(), Some(Hint::More)),
        };
        self.more = full;
        let place = self.lines.place(span.start);
        let (start, line) = self.lines.around(span.start);
        let end = span.end.min(start + line.len());
        let end = if end > span.start { end } else { start + line.trim_end().len() };
        let end_column = self.lines.place(end.max(span.start)).column;
        self.reading.problems.push(Problem {
            severity: if full { Severity::Error } else { severity },
            stage,
            line: place.line,
            column: place.column,
            end_column: end_column.max(place.column + 1),
            path: path.into(),
            message,
            hint,
        });
    }
}

/// Where a message names a map as a whole but quotes one key or value of it (`metadata.labels:
/// Invalid value: "a b"`), the place of that one.
fn named_inside(source: &Source<'_>, path: &[Segment], words: &str) -> Option<Span> {
    let (_, rest) = words.split_once("Invalid value: \"")?;
    let (quoted, _) = rest.split_once('"')?;
    let node = source.finder.node(&source.full(path))?;
    let Content::Mapping(entries) = &node.content else {
        return None;
    };
    let same =
        |entry: &&super::node::Entry| entry.key == quoted || entry.value.as_str() == Some(quoted);
    let entry = entries.iter().find(same)?;
    if entry.key == quoted { entry.key_span } else { entry.value.span }
}

/// That a field is not allowed, or lacks something, is told at its key, and not at the first thing
/// in it.
fn key_of_whole(source: &Source<'_>, path: &[Segment], words: &str) -> Option<Span> {
    let whole = words.contains(": Forbidden: ") || words.contains(": Required value");
    let node = source.finder.node(&source.full(path)).filter(|_| whole)?;
    let scalar = matches!(node.content, Content::Scalar(_));
    let is_field = matches!(path.last(), Some(Segment::Key(_)));
    (!scalar && is_field).then(|| source.key(path))
}
