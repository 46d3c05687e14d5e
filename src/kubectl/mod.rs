//! kubectl: a line in, requests to the API server and text out.
//!
//! Follows <https://github.com/kubernetes/kubectl> (1.36) in what it asks and in its words. A line
//! runs at one moment of simulated time: nothing waits (`rollout status` and `-w` say how things
//! stand), and nothing is read but standard input. Ours are `--limit=N`, and `pod/$(app=web)[0]`
//! for the first pod with that label, since a script cannot know the names of pods to come.

mod apply;
mod command;
mod create;
mod delete;
mod describe;
mod duration;
mod errors;
mod explain;
mod flags;
mod get;
mod label;
mod logs;
mod nodes;
mod parse;
mod path;
mod printers;
mod resources;
mod rollout;
mod split;
mod taint;
mod update;

use std::sync::Arc;

use crate::api::{Kind, Object, ObjectKey, Str, Timestamp};
use crate::apiserver::{Request, Response, three_way as merge};

pub use command::Command;
pub use duration::{age, human_duration, short_human_duration};
pub use errors::UsageError;
pub use merge::{difference, three_way};
pub use parse::parse;
pub use printers::{Look, Table, table};

/// The API server, as kubectl sees it at one moment.
pub trait Api {
    /// One object.
    fn get(&self, key: &ObjectKey) -> Option<Arc<Object>>;
    /// All objects of a kind, of one namespace or of all, in the order of their names.
    fn list(&self, kind: Kind, namespace: Option<&str>) -> Vec<Arc<Object>>;
    /// Carries out a request.
    fn request(&mut self, request: Request) -> Response;
    /// The time.
    fn now(&self) -> Timestamp;
    /// What a container wrote; nothing if there is no such container.
    fn logs(&self, pod: &ObjectKey, container: &Str) -> Option<Vec<String>>;
}

/// What a line printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// Standard output and standard error, as they would come.
    pub text: String,
    /// Whether kubectl would exit with an error.
    pub error: bool,
}

impl Output {
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
    let mut out = Output::default();
    match parse(line) {
        Err(error) => out.fail(error.to_string()),
        Ok(command) => execute(&command, stdin, api, &mut out),
    }
    out
}

fn execute(command: &Command, stdin: Option<&str>, api: &mut dyn Api, out: &mut Output) {
    match command {
        Command::Get(select, view) => get::run(select, view, api, out),
        Command::Describe(select) => describe::run(select, api, out),
        Command::Delete(select, options) => delete::run(select, options, stdin, api, out),
        Command::Apply(options) => apply::run(options, stdin, api, out),
        Command::Create(options) => create::from_text(options, stdin, api, out),
        Command::CreateNamed(named) => create::named(named, api, out),
        Command::Replace(options) => create::replace(options, stdin, api, out),
        Command::Scale(select, scale) => update::scale(select, scale, api, out),
        Command::SetImage(select, images) => update::set_image(select, images, api, out),
        Command::Patch(select, patch) => update::patch(select, patch, api, out),
        Command::Label(select, change) => label::run(select, change, api, out),
        Command::Rollout(select, action) => rollout::run(select, action, api, out),
        Command::Cordon(select, on) => nodes::cordon(select, *on, api, out),
        Command::Taint(select, changes) => taint::run(select, changes, api, out),
        Command::Logs(logs) => logs::run(logs, api, out),
        Command::Events(select, view) => get::events(select, view, api, out),
        Command::Explain(path) => explain::run(path, out),
        Command::ApiResources => explain::api_resources(out),
        Command::Version => out.line("Client Version: v1.36.0\nServer Version: v1.36.0"),
        Command::Help => out.line(parse::HELP),
        Command::NotHere(verb) => {
            out.fail(format!("error: kubectl {verb} is not part of this simulation yet"));
        }
    }
}
