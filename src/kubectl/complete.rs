//! What may come next on a line: verbs, flags and their values, kinds, names, namespaces, paths of
//! fields. A pure function of the line and of the objects that are there.

use crate::api::{Kind, Value};
use crate::manifest::{Field, schema};

use super::Api;
use super::flags::{Spec, specs};
use super::parse::{first_word, kinds, verbs};
use super::split::split;
use super::update::pod_spec_pointer;

/// How many completions are offered at most.
const MAX: usize = 200;

/// One way to go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The byte of the line from which on `text` replaces what was typed, up to the cursor.
    pub start: usize,
    /// The text.
    pub text: String,
    /// Whether the word ends here, so that a blank may follow.
    pub ends: bool,
}

/// What may stand at the cursor, given as a byte of the line.
pub fn complete(line: &str, cursor: usize, api: &dyn Api) -> Vec<Completion> {
    let mut cursor = cursor.min(line.len());
    while !line.is_char_boundary(cursor) {
        cursor -= 1;
    }
    let before = line.get(..cursor).unwrap_or("");
    let start = before.rfind(char::is_whitespace).map_or(0, |at| {
        at + before.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8)
    });
    let typed = before.get(start..).unwrap_or("");
    // Within quotes nobody knows where a word begins.
    let Ok(words) = split(before.get(..start).unwrap_or("")) else {
        return Vec::new();
    };
    let mut asked = Asked { api, start, typed, found: Vec::new() };
    asked.line(words);
    asked.found.sort_by(|a, b| a.text.cmp(&b.text));
    asked.found.dedup();
    asked.found.truncate(MAX);
    asked.found
}

/// The line, typed up to the cursor, with as much as all completions agree on.
pub fn extend(before: &str, found: &[Completion]) -> String {
    let Some(first) = found.first() else { return before.into() };
    let mut shared = first.text.as_str();
    for other in found.iter().filter(|other| other.start == first.start) {
        let same = shared.chars().zip(other.text.chars()).take_while(|(a, b)| a == b);
        let length: usize = same.map(|(letter, _)| letter.len_utf8()).sum();
        shared = shared.get(..length).unwrap_or("");
    }
    let blank = if found.len() == 1 && first.ends { " " } else { "" };
    format!("{}{shared}{blank}", before.get(..first.start).unwrap_or(""))
}

struct Asked<'a> {
    api: &'a dyn Api,
    /// Where the part of the word begins that is completed.
    start: usize,
    /// What is typed of that part.
    typed: &'a str,
    found: Vec<Completion>,
}

/// A verb and the words behind it.
struct Told {
    verb: &'static str,
    words: Vec<String>,
    namespace: Option<String>,
}

impl Asked<'_> {
    fn offer(&mut self, text: impl Into<String>, ends: bool) {
        let text = text.into();
        if text.starts_with(self.typed) && self.found.len() < 4 * MAX {
            self.found.push(Completion { start: self.start, text, ends });
        }
    }

    fn offer_all<'t>(&mut self, texts: impl IntoIterator<Item = &'t str>) {
        texts.into_iter().for_each(|text| self.offer(text, true));
    }

    /// Leaves what is typed up to and with the last `mark` alone.
    fn behind(&mut self, mark: char) -> bool {
        let Some(at) = self.typed.rfind(mark) else { return false };
        let behind = at + mark.len_utf8();
        self.start += behind;
        self.typed = self.typed.get(behind..).unwrap_or("");
        true
    }

    fn line(&mut self, mut words: Vec<String>) {
        if words.is_empty() {
            self.offer("kubectl", true);
        }
        if words.first().is_some_and(|word| word == "fault") {
            return;
        }
        if matches!(words.first().map(String::as_str), Some("kubectl" | "k")) {
            words.remove(0);
        }
        let Some(at) = first_word(&words, "@pick @file @show") else {
            let list = specs("@pick @file @show");
            if !self.flag(&list, &words, None) {
                self.offer_all(verbs::below(""));
            }
            return;
        };
        let word = words.remove(at);
        let Some(mut found) = verbs::find(&word) else { return };
        while verbs::below(found.0).next().is_some() {
            let inner = first_word(&words, found.1);
            let Some(at) = inner else {
                let list = specs(found.1);
                if !self.flag(&list, &words, None) {
                    self.offer_all(verbs::below(found.0));
                }
                return;
            };
            let name = format!("{} {}", found.0, words.get(at).map_or("", |word| word));
            let Some(next) = verbs::find(&name) else { return };
            words.remove(at);
            found = next;
        }
        self.verb(found, words);
    }

    fn verb(&mut self, (verb, list): (&'static str, &'static str), words: Vec<String>) {
        let list = specs(list);
        let mut told = Told { verb, words: Vec::new(), namespace: None };
        let mut rest = words.as_slice();
        while let [word, after @ ..] = rest {
            rest = after;
            let (name, value) = match word.split_once('=') {
                Some((name, value)) if word.starts_with('-') => (name, Some(value)),
                _ => (word.as_str(), None),
            };
            let spec = list.iter().find(|spec| spec.is(name));
            match spec.filter(|_| word.starts_with('-')) {
                None if word == "--" => return,
                None if word.starts_with('-') => {}
                None => told.words.push(word.clone()),
                Some(spec) => {
                    let value = match (value, after) {
                        (None, [value, more @ ..]) if spec.takes_value() => {
                            rest = more;
                            Some(value.as_str())
                        }
                        (value, _) => value,
                    };
                    if spec.long == "namespace" {
                        told.namespace = value.map(str::to_string);
                    }
                }
            }
        }
        if !self.flag(&list, &words, Some(&told)) {
            self.positional(&told);
        }
    }

    /// Completes a flag or its value. Whether that is what is asked for.
    fn flag(&mut self, list: &[Spec], words: &[String], told: Option<&Told>) -> bool {
        let last = words.last().filter(|word| word.starts_with('-') && !word.contains('='));
        let waiting = last.and_then(|word| list.iter().find(|spec| spec.is(word)));
        if let Some(spec) = waiting.filter(|spec| spec.takes_value()) {
            self.value(spec.long, told);
            return true;
        }
        if !self.typed.starts_with('-') {
            return false;
        }
        if let Some((name, _)) = self.typed.split_once('=') {
            let spec = list.iter().find(|spec| spec.is(name));
            if let Some(spec) = spec {
                let behind = name.len() + 1;
                self.start += behind;
                self.typed = self.typed.get(behind..).unwrap_or("");
                self.value(spec.long, told);
            }
            return true;
        }
        for spec in list {
            match spec.takes_value() {
                true => self.offer(format!("--{}=", spec.long), false),
                false => self.offer(format!("--{}", spec.long), true),
            }
        }
        true
    }

    fn value(&mut self, flag: &str, told: Option<&Told>) {
        match flag {
            "namespace" => {
                let api = self.api;
                self.offer("default", true);
                for namespace in api.list(Kind::Namespace, None) {
                    self.offer(&*namespace.meta().name, true);
                }
            }
            "output" => {
                self.offer_all(["json", "name", "wide", "yaml"]);
                self.offer("jsonpath=", false);
                self.offer("custom-columns=", false);
            }
            "dry-run" => self.offer_all(["client", "none", "server"]),
            "cascade" => self.offer_all(["background", "foreground", "orphan"]),
            "restart" => self.offer_all(["Always", "Never", "OnFailure"]),
            "filename" => self.offer("-", true),
            "type" => match told.map(|told| told.verb) {
                Some("patch") => self.offer_all(["json", "merge", "strategic"]),
                _ => self.offer_all(["ClusterIP", "LoadBalancer", "NodePort"]),
            },
            "types" => self.offer_all(["Normal", "Warning"]),
            "for" if told.is_some_and(|told| told.verb == "wait") => {
                self.offer_all(["create", "delete"]);
                self.offer("jsonpath=", false);
                for condition in ["Available", "Complete", "Progressing", "Ready"] {
                    self.offer(format!("condition={condition}"), true);
                }
            }
            "for" => {
                let told = Told { verb: "get", words: Vec::new(), namespace: None };
                self.objects(&told);
            }
            "sort-by" if told.is_some_and(|told| told.verb.starts_with("top")) => {
                self.offer_all(["cpu", "memory"]);
            }
            "sort-by" => self.offer_all([".metadata.creationTimestamp", ".metadata.name"]),
            "selector" => self.labels(told),
            "container" => {
                for name in told.map_or(Vec::new(), |told| self.containers(told)) {
                    self.offer(name, true);
                }
            }
            _ => {}
        }
    }

    /// `key=value` of the labels that are there.
    fn labels(&mut self, told: Option<&Told>) {
        let named = told.and_then(|told| told.words.first()).and_then(|word| kinds(word).ok());
        let api = self.api;
        self.behind(',');
        for kind in named.unwrap_or_else(|| vec![Kind::Pod]) {
            for object in api.list(kind, None) {
                for (key, value) in &object.meta().labels {
                    self.offer(format!("{key}={value}"), true);
                }
            }
        }
    }

    fn positional(&mut self, told: &Told) {
        match told.verb {
            "cordon" | "uncordon" | "drain" | "top node" => self.names(Kind::Node, told),
            "taint" if told.words.is_empty() => self.offer_all(["nodes"]),
            "taint" => self.names(Kind::Node, told),
            "top pod" => self.names(Kind::Pod, told),
            "logs" if told.words.is_empty() && !self.typed.contains('/') => {
                self.names(Kind::Pod, told);
            }
            "logs" if told.words.is_empty() => self.objects(told),
            "logs" => {
                for name in self.containers(told) {
                    self.offer(name, true);
                }
            }
            "explain" => self.fields(),
            "apply" | "replace" | "diff" | "run" | "api-resources" | "api-versions" | "version"
            | "events" | "help" | "options" => {}
            verb if verb.starts_with("create") => {}
            "set image" if !told.words.is_empty() => {
                self.objects(told);
                for name in self.containers(told) {
                    self.offer(format!("{name}="), false);
                }
            }
            _ => self.objects(told),
        }
    }

    /// A kind, a kind and a name, or a name of the kind that stands there.
    fn objects(&mut self, told: &Told) {
        if let Some((kind, _)) = self.typed.split_once('/') {
            let kind = Kind::of_argument(kind);
            self.behind('/');
            if let Some(kind) = kind {
                self.names(kind, told);
            }
            return;
        }
        match told.words.first() {
            Some(word) if word.contains('/') => self.kinds(told),
            Some(word) => {
                for kind in kinds(word).unwrap_or_default() {
                    self.names(kind, told);
                }
            }
            None => {
                self.behind(',');
                self.kinds(told);
            }
        }
    }

    fn kinds(&mut self, told: &Told) {
        use Kind::{
            DaemonSet, Deployment, Pod, ReplicaSet, ReplicationController, Service, StatefulSet,
        };
        let some: &[Kind] = match told.verb {
            "rollout pause" | "rollout resume" => &[Deployment],
            verb if verb.starts_with("rollout") => &[DaemonSet, Deployment, StatefulSet],
            "scale" | "autoscale" => &[Deployment, ReplicaSet, ReplicationController, StatefulSet],
            "expose" => &[Deployment, Pod, ReplicaSet, ReplicationController, Service],
            _ => &[],
        };
        if some.is_empty() {
            self.offer_all(Kind::all().iter().map(|info| info.plural));
            if matches!(told.verb, "get" | "delete" | "describe") {
                self.offer("all", true);
            }
        }
        self.offer_all(some.iter().map(|kind| kind.info().plural));
    }

    fn names(&mut self, kind: Kind, told: &Told) {
        let api = self.api;
        let namespace = told.namespace.as_deref().unwrap_or("default");
        let namespace = kind.info().namespaced.then_some(namespace);
        for object in api.list(kind, namespace) {
            let name = &*object.meta().name;
            if !told.words.iter().any(|word| word == name) {
                self.offer(name, true);
            }
        }
    }

    /// The containers of the objects that the words name.
    fn containers(&self, told: &Told) -> Vec<String> {
        let namespace = told.namespace.as_deref().unwrap_or("default");
        let (kind, name) = match told.words.as_slice() {
            [word, ..] if word.contains('/') => match word.split_once('/') {
                Some((kind, name)) => (Kind::of_argument(kind), name),
                None => return Vec::new(),
            },
            [name, ..] if told.verb == "logs" => (Some(Kind::Pod), name.as_str()),
            [kind, name, ..] => (Kind::of_argument(kind), name.as_str()),
            _ => return Vec::new(),
        };
        let Some(kind) = kind else { return Vec::new() };
        let key = crate::api::ObjectKey::new(kind, namespace, name);
        let value = self.api.get(&key).map(|object| object.to_value()).unwrap_or_default();
        let spec = value.pointer(pod_spec_pointer(kind)).cloned().unwrap_or_default();
        let lists = ["initContainers", "containers"].into_iter().filter_map(|list| spec.get(list));
        let items = lists.filter_map(Value::as_array).flatten();
        let names = items.filter_map(|item| item.get("name").and_then(Value::as_str));
        names.map(str::to_string).collect()
    }

    /// `pod.spec.con`: a kind, then the fields at a path.
    fn fields(&mut self) {
        let typed = self.typed;
        let Some((path, _)) = typed.rsplit_once('.') else {
            return self.offer_all(Kind::all().iter().map(|info| info.plural));
        };
        self.behind('.');
        let (word, rest) = path.split_once('.').unwrap_or((path, ""));
        let Some(kind) = Kind::of_argument(word) else { return };
        let info = kind.info();
        let fields = schema().fields_at(info.api_version, info.kind, rest);
        for (name, found) in fields.into_iter().flatten() {
            let mut field = &found.field;
            while let Field::List(inner) = field {
                field = inner;
            }
            self.offer(*name, !matches!(field, Field::Named(_)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(text: &str, ends: bool) -> Completion {
        Completion { start: 4, text: text.into(), ends }
    }

    #[test]
    fn a_line_grows_by_what_all_completions_share() {
        let found = [offered("pods", true), offered("poddisruptionbudgets", true)];
        assert_eq!(extend("get p", &found), "get pod");
        assert_eq!(extend("get pods", &found[..1]), "get pods ");
        assert_eq!(extend("get -", &[offered("--output=", false)]), "get --output=");
        assert_eq!(extend("get x", &[]), "get x");
    }
}
