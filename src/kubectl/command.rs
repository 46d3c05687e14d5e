//! What a line asks for.

use crate::api::{Kind, Str, selector::Selector};
use crate::apiserver::{Part, Propagation};

/// A line that kubectl understands.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Command {
    Get(Select, View),
    Describe(Select),
    Delete(Select, Delete),
    Apply(FromText),
    Create(FromText),
    CreateNamed(Named),
    Replace(FromText),
    Scale(Select, Scale),
    SetImage(Select, Vec<(String, String)>),
    Patch(Select, Patch),
    Label(Select, LabelChange),
    Rollout(Select, RolloutAction),
    /// True: cordon; false: uncordon.
    Cordon(Select, bool),
    Taint(Select, Vec<String>),
    Logs(Logs),
    Events(Select, View),
    Explain(String),
    ApiResources,
    Version,
    Help,
    /// A verb of kubectl that nothing here carries out.
    NotHere(String),
}

/// Which objects.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Select {
    /// Kinds and names, in the order of the line.
    pub targets: Vec<Target>,
    /// The namespace; nothing means all of them.
    pub namespace: Option<Str>,
    /// Only with these labels.
    pub selector: Option<Selector>,
    /// Only where these fields have these values: path, whether equal, value.
    pub fields: Vec<(String, bool, String)>,
    /// Only the first so many; ours.
    pub limit: Option<usize>,
    /// `--all`: a kind without a name is enough.
    pub all: bool,
    /// Whether the namespace was named on the line.
    pub namespace_given: bool,
    /// `-f -`.
    pub from_text: bool,
}

/// Some objects of a kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// The kind.
    pub kind: Kind,
    /// Which of them.
    pub which: Which,
}

/// Which objects of a kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Which {
    /// All of them.
    All,
    /// The one of this name.
    Name(Str),
    /// Of those with these labels the one of this number, from 0; ours: `pod/$(app=web)[0]`.
    Chosen(Selector, usize),
}

/// How `get` shows what it got.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    /// The form.
    pub format: Format,
    /// A column with all labels.
    pub show_labels: bool,
    /// A column for each of these labels.
    pub label_columns: Vec<String>,
    /// The path of the field to sort by.
    pub sort_by: Option<String>,
    /// No line above the columns.
    pub no_headers: bool,
    /// What is not there is no error.
    pub ignore_not_found: bool,
    /// The kind before the names.
    pub show_kind: bool,
    /// `--show-managed-fields`.
    pub show_managed_fields: bool,
}

/// `-o`.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Format {
    /// A table.
    #[default]
    Table,
    /// A wider one.
    Wide,
    /// YAML.
    Yaml,
    /// JSON.
    Json,
    /// Kind and name.
    Name,
    /// A template of paths.
    JsonPath(String),
}

/// How `delete` deletes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delete {
    /// `--grace-period`.
    pub grace_period: Option<i64>,
    /// `--force`.
    pub force: bool,
    /// `--cascade`.
    pub cascade: Option<Propagation>,
    /// What is not there is no error.
    pub ignore_not_found: bool,
    /// `-o name`.
    pub name_only: bool,
    /// `--dry-run`.
    pub dry_run: DryRun,
}

/// `--dry-run`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DryRun {
    /// It is done.
    #[default]
    No,
    /// It is only said.
    Client,
    /// It is only said, by the server.
    Server,
}

impl DryRun {
    /// What it adds to a sentence.
    pub fn suffix(self) -> &'static str {
        match self {
            DryRun::No => "",
            DryRun::Client => " (dry run)",
            DryRun::Server => " (server dry run)",
        }
    }
}

/// A verb that reads manifests from standard input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FromText {
    /// `-n`, if it was given.
    pub namespace: Option<Str>,
    /// `--dry-run`.
    pub dry_run: DryRun,
    /// `--force`.
    pub force: bool,
    /// How the result is shown.
    pub name_only: bool,
    /// `--server-side`.
    pub server_side: bool,
    /// `--force-conflicts`.
    pub force_conflicts: bool,
    /// `--field-manager`, if it was given.
    pub field_manager: Option<Str>,
}

/// `create KIND NAME` and `run NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The kind.
    pub kind: Kind,
    /// The name.
    pub name: String,
    /// The namespace.
    pub namespace: Str,
    /// `--image`.
    pub image: Option<String>,
    /// `--replicas`.
    pub replicas: Option<i32>,
    /// `--port`.
    pub port: Option<i32>,
    /// `--labels`.
    pub labels: Vec<(String, String)>,
    /// `--restart`.
    pub restart: Option<String>,
    /// `--from-literal`.
    pub literals: Vec<(String, String)>,
    /// The command behind `--`.
    pub command: Vec<String>,
    /// `--dry-run`.
    pub dry_run: DryRun,
}

/// `scale`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    /// `--replicas`.
    pub replicas: i32,
    /// `--current-replicas`.
    pub current: Option<i32>,
}

/// `patch`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    /// The patch, JSON or YAML.
    pub text: String,
    /// How it is merged.
    pub kind: PatchKind,
    /// `--subresource`.
    pub part: Part,
}

/// How a patch is merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum PatchKind {
    Strategic,
    Merge,
    Json,
}

/// `label` and `annotate`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelChange {
    /// Whether annotations are meant.
    pub annotations: bool,
    /// To set.
    pub set: Vec<(String, String)>,
    /// To remove.
    pub remove: Vec<String>,
    /// `--overwrite`.
    pub overwrite: bool,
    /// `--list`.
    pub list: bool,
}

/// `rollout`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum RolloutAction {
    /// With a revision; 0: the newest.
    Status(i64),
    /// With a revision; 0: the list.
    History(i64),
    /// To a revision; 0: the one before.
    Undo(i64),
    Pause,
    Resume,
    Restart,
}

/// `logs`.
#[derive(Clone, Debug, PartialEq)]
pub struct Logs {
    /// Whose.
    pub select: Select,
    /// `-c`.
    pub container: Option<Str>,
    /// `--all-containers`.
    pub all_containers: bool,
    /// `--previous`.
    pub previous: bool,
    /// `--tail`.
    pub tail: Option<usize>,
    /// `--prefix`.
    pub prefix: bool,
}
