//! The name under which a line writes (`--field-manager`), which server-side apply keeps account
//! by.

use std::sync::Arc;

use crate::api::{Kind, Object, ObjectKey, Str, Timestamp};
use crate::apiserver::{Request, Response};
use crate::node::Written;

use super::parse::verb_position;
use super::split::split;
use super::{Api, Usage};

/// The field manager of a line: the one that it names, or else its verb's.
pub fn of_line(line: &str) -> String {
    let mut words = split(line).unwrap_or_default();
    if matches!(words.first().map(String::as_str), Some("kubectl" | "k")) {
        words.remove(0);
    }
    let verb = verb_position(&words).map(|at| words.remove(at));
    let mut server_side = false;
    let mut words = words.iter().map(String::as_str);
    while let Some(word) = words.next() {
        if let Some(name) = word.strip_prefix("--field-manager=") {
            return name.into();
        }
        match word {
            "--" => break,
            "--field-manager" => return words.next().unwrap_or("").into(),
            "--server-side" | "--server-side=true" => server_side = true,
            _ => {}
        }
    }
    match verb.as_deref().unwrap_or("") {
        "apply" if server_side => "kubectl".into(),
        "apply" => "kubectl-client-side-apply".into(),
        verb @ ("annotate" | "autoscale" | "create" | "edit" | "expose" | "label" | "patch"
        | "replace" | "rollout" | "run" | "set" | "taint") => format!("kubectl-{verb}"),
        _ => "kubectl".into(),
    }
}

/// The API server, written to under one name.
pub struct Managed<'a> {
    /// The server.
    pub api: &'a mut dyn Api,
    /// The name.
    pub manager: String,
}

impl Api for Managed<'_> {
    fn get(&self, key: &ObjectKey) -> Option<Arc<Object>> {
        self.api.get(key)
    }

    fn list(&self, kind: Kind, namespace: Option<&str>) -> Vec<Arc<Object>> {
        self.api.list(kind, namespace)
    }

    fn request(&mut self, request: Request) -> Response {
        self.api.request_as(request, &self.manager)
    }

    fn request_as(&mut self, request: Request, manager: &str) -> Response {
        self.api.request_as(request, manager)
    }

    fn dry_run(&self, request: &Request) -> Response {
        self.api.dry_run_as(request, &self.manager)
    }

    fn dry_run_as(&self, request: &Request, manager: &str) -> Response {
        self.api.dry_run_as(request, manager)
    }

    fn now(&self) -> Timestamp {
        self.api.now()
    }

    fn read_logs(
        &self,
        pod: &ObjectKey,
        container: &Str,
        previous: bool,
    ) -> Result<Vec<String>, String> {
        self.api.read_logs(pod, container, previous)
    }

    fn written(&self, container_id: &str) -> Option<Written> {
        self.api.written(container_id)
    }

    fn usage(&self, pod: &ObjectKey) -> Option<Vec<Usage>> {
        self.api.usage(pod)
    }

    fn logs(&self, pod: &ObjectKey, container: &Str) -> Option<Vec<String>> {
        self.api.logs(pod, container)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verb_has_its_name_and_a_line_may_give_another() {
        for (line, name) in [
            ("kubectl apply -f -", "kubectl-client-side-apply"),
            ("apply --server-side -f -", "kubectl"),
            ("-n x patch pod a -p {}", "kubectl-patch"),
            ("k scale deploy web --replicas=2", "kubectl"),
            ("apply --server-side --field-manager=ci -f -", "ci"),
            ("label pod a x=y --field-manager me", "me"),
        ] {
            assert_eq!(of_line(line), name, "{line}");
        }
    }
}
