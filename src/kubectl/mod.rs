//! kubectl: a line in, requests to the API server and text out.
//!
//! Follows <https://github.com/kubernetes/kubectl> (1.36) in what it asks and in its words. A line
//! runs at one moment of simulated time: nothing waits. What `rollout status`, `wait`, `get -w`,
//! `events -w` and `logs -f` print as time goes on is told by `Following`, which is shown what
//! changes; run alone, they say how things stand. Nothing is read but standard input. Each answer
//! ends with a line end, that of `-o jsonpath` too. Ours are `--limit=N`, and `pod/$(app=web)[0]`
//! for the first pod with that label, since a script cannot know the names of pods to come.

mod apply;
mod change;
mod command;
mod complete;
mod create;
mod delete;
mod describe;
mod diff;
mod drain;
mod duration;
mod edit;
mod errors;
mod events;
mod explain;
mod expose;
mod flags;
mod follow;
mod generators;
mod get;
mod jsonpath;
mod label;
mod logs;
mod manager;
mod nodes;
mod parse;
mod printers;
mod resources;
mod rollout;
mod server_side;
mod set;
mod show;
mod sort;
mod split;
mod taint;
mod top;
mod update;
mod wait;
mod yaml;

use std::sync::Arc;

use manager::Managed;

use crate::api::custom;
use crate::api::{Kind, Object, ObjectKey, Str, Timestamp};
use crate::apiserver::custom::served;
use crate::apiserver::{ApiError, Reason, Request, Response, three_way as merge};
use crate::node::Written;

pub use command::Command;
pub use complete::{Completion, complete, extend};
pub use duration::{age, human_duration, short_human_duration};
pub use errors::UsageError;
pub use follow::Following;
pub use merge::{difference, three_way};
pub use parse::parse;
pub use printers::{Look, Table, table};

/// What a container uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Its name.
    pub container: Str,
    /// Thousandths of a processor.
    pub cpu_milli: i64,
    /// Bytes.
    pub memory: i64,
}

/// The API server, as kubectl sees it at one moment.
pub trait Api {
    /// One object.
    fn get(&self, key: &ObjectKey) -> Option<Arc<Object>>;
    /// All objects of a kind, of one namespace or of all, in the order of their names.
    fn list(&self, kind: Kind, namespace: Option<&str>) -> Vec<Arc<Object>>;
    /// Carries out a request.
    fn request(&mut self, request: Request) -> Response;
    /// Carries out a request under the name of a field manager.
    fn request_as(&mut self, request: Request, manager: &str) -> Response {
        let _ = manager;
        self.request(request)
    }
    /// What a request would answer, without anything being changed.
    fn dry_run(&self, _request: &Request) -> Response {
        Err(ApiError::new(Reason::BadRequest, "this server knows no dry run"))
    }
    /// The same under the name of a field manager, of which server-side apply keeps account.
    fn dry_run_as(&self, request: &Request, manager: &str) -> Response {
        let _ = manager;
        self.dry_run(request)
    }
    /// The time.
    fn now(&self) -> Timestamp;
    /// What a container wrote; nothing if there is no such container.
    fn logs(&self, pod: &ObjectKey, container: &Str) -> Option<Vec<String>>;
    /// What a container wrote, or what its run before wrote; or why that cannot be told, in the
    /// kubelet's words.
    fn read_logs(
        &self,
        pod: &ObjectKey,
        container: &Str,
        previous: bool,
    ) -> Result<Vec<String>, String> {
        let name = &pod.name;
        match (previous, self.logs(pod, container)) {
            (false, Some(lines)) => Ok(lines),
            (false, None) => Err(format!(
                "container {container:?} in pod {name:?} is waiting to start: ContainerCreating"
            )),
            (true, _) => Err(format!(
                "previous terminated container {container:?} in pod {name:?} not found"
            )),
        }
    }
    /// What a run of a container wrote, by its `containerID`, and when.
    fn written(&self, _container_id: &str) -> Option<Written> {
        None
    }
    /// What the containers of a pod use, as the metrics server tells it; nothing where it tells
    /// nothing of the pod. `None` for every pod: there is no metrics server.
    fn usage(&self, _pod: &ObjectKey) -> Option<Vec<Usage>> {
        None
    }
}

/// What a page does with an answer beside showing it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Next {
    /// Nothing.
    #[default]
    Nothing,
    /// Opens this manifest in its editor.
    Edit(String),
}

/// What a line printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// Standard output and standard error, as they would come.
    pub text: String,
    /// Whether kubectl would exit with an error.
    pub error: bool,
    /// What a page does now.
    pub next: Next,
    /// How many YAML documents are in the text.
    pub documents: usize,
}

impl Output {
    /// An answer of this text.
    pub fn new(text: impl Into<String>, error: bool) -> Output {
        Output { text: text.into(), error, ..Output::default() }
    }

    /// Adds a line.
    fn line(&mut self, line: impl AsRef<str>) {
        self.text.push_str(line.as_ref());
        self.text.push('\n');
    }

    /// Adds a line of an error.
    fn fail(&mut self, line: impl AsRef<str>) {
        self.line(line);
        self.error = true;
    }
}

/// Runs a line. `stdin` is what `-f -` reads.
pub fn run(line: &str, stdin: Option<&str>, api: &mut dyn Api) -> Output {
    // As kubectl asks the server which resources it has.
    let kinds = served(api.list(Kind::CustomResourceDefinition, None).iter());
    custom::serving(kinds, || run_line(line, stdin, api))
}

fn run_line(line: &str, stdin: Option<&str>, api: &mut dyn Api) -> Output {
    let mut out = Output::default();
    match parse(line) {
        Err(error) => out.fail(error.to_string()),
        Ok(mut command) => {
            let select = command.select_mut().filter(|select| select.from_text);
            let refused = select.map(|select| resources::from_text(select, stdin));
            let manager = manager::of_line(line);
            execute(&command, stdin, &mut Managed { api, manager }, &mut out);
            refused.into_iter().flatten().for_each(|line| out.fail(line));
        }
    }
    out
}

fn execute(command: &Command, stdin: Option<&str>, api: &mut dyn Api, out: &mut Output) {
    match command {
        Command::Get(select, view) => get::run(select, view, api, out),
        Command::Describe(select) => describe::run(select, api, out),
        Command::Delete(select, options) => delete::run(select, options, stdin, api, out),
        Command::Apply(options) => apply::run(options, stdin, api, out),
        Command::SetLastApplied(options) => apply::set_last_applied(options, stdin, api, out),
        Command::Create(options) => create::from_text(options, stdin, api, out),
        Command::Generate(generated) => create::generated(generated, api, out),
        Command::Replace(options) => create::replace(options, stdin, api, out),
        Command::Diff(options) => diff::run(options, stdin, api, out),
        Command::Edit(select) => edit::run(select, api, out),
        Command::Expose(select, options) => expose::expose(select, options, api, out),
        Command::Autoscale(select, options) => expose::autoscale(select, options, api, out),
        Command::Scale(select, scale) => update::scale(select, scale, api, out),
        Command::Set(select, change, shown) => set::run(select, change, shown, stdin, api, out),
        Command::Patch(select, patch) => update::patch(select, patch, api, out),
        Command::Label(select, change) => label::run(select, change, stdin, api, out),
        Command::Rollout(select, action) => rollout::run(select, action, api, out),
        Command::Cordon(select, on, shown) => nodes::cordon(select, *on, shown, api, out),
        Command::Drain(select, options) => drain::run(select, options, api, out),
        Command::Taint(select, taints) => taint::run(select, taints, api, out),
        Command::Wait(select, wait, timeout) => {
            wait::run(select, wait, timeout.is_zero(), api, out)
        }
        Command::Top(top) => top::run(top, api, out),
        Command::Logs(logs) => logs::run(logs, api, out),
        Command::Events(select, view, types) => events::run(select, view, types, api, out),
        Command::Explain(path, recursive) => explain::run(path, *recursive, out),
        Command::ApiResources(options) => explain::api_resources(options, out),
        Command::ApiVersions => explain::api_versions(out),
        Command::Version => out.line("Client Version: v1.36.0\nServer Version: v1.36.0"),
        Command::Help => out.line(parse::HELP),
        Command::HelpFor(verb) => out.line(parse::help(verb)),
        Command::NotHere(verb) => {
            out.fail(format!("error: kubectl {verb} is not part of this simulation"));
        }
    }
}
