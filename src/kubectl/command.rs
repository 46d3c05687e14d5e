//! What a line asks for.

use std::time::Duration;

use crate::api::{Kind, ObjectKey, Str, Timestamp, Value, selector::Selector};
use crate::apiserver::{Part, Propagation};

use super::jsonpath::Template;

/// A line that kubectl understands.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Command {
    Get(Select, View),
    Describe(Select),
    Delete(Select, Delete),
    Apply(FromText),
    SetLastApplied(FromText),
    Create(FromText),
    Generate(Generated),
    Replace(FromText),
    Diff(FromText),
    Edit(Select),
    Expose(Select, Expose),
    Autoscale(Select, Autoscale),
    Scale(Select, Scale),
    Set(Select, Change, Shown),
    Patch(Select, Patch),
    Label(Select, LabelChange),
    Rollout(Select, RolloutAction),
    /// True: cordon; false: uncordon.
    Cordon(Select, bool, Shown),
    Drain(Select, Drain),
    Taint(Select, Taints),
    /// How long it waits; not at all: `--timeout=0`.
    Wait(Select, Wait, Duration),
    Top(Top),
    Logs(Logs),
    Events(Select, View, Vec<String>),
    Explain(String, bool),
    ApiResources(Resources),
    ApiVersions,
    Version,
    Help,
    /// Of a verb that has verbs of its own.
    HelpFor(String),
    /// A verb of kubectl that nothing here carries out.
    NotHere(String),
}

impl Command {
    /// The objects that it names, where they may also come from a text (`-f -`).
    pub fn select_mut(&mut self) -> Option<&mut Select> {
        match self {
            Command::Get(select, _)
            | Command::Describe(select)
            | Command::Edit(select)
            | Command::Expose(select, _)
            | Command::Autoscale(select, _)
            | Command::Scale(select, _)
            | Command::Patch(select, _)
            | Command::Rollout(select, _)
            | Command::Wait(select, ..) => Some(select),
            Command::Label(select, LabelChange { shown, .. }) | Command::Set(select, _, shown) => {
                (!shown.local).then_some(select)
            }
            _ => None,
        }
    }
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
    /// The one of this key, from a text.
    Key(ObjectKey),
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
    /// `-w`.
    pub watch: bool,
    /// `--watch-only`: without what is there already.
    pub watch_only: bool,
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
    /// YAML, managed fields included.
    WholeYaml,
    /// JSON, managed fields included.
    WholeJson,
    /// Kind and name.
    Name,
    /// A template of paths.
    JsonPath(Template),
    /// Columns of one's own: their names and paths.
    Columns(Vec<(String, Template)>),
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
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FromText {
    /// `-n`, if it was given.
    pub namespace: Option<Str>,
    /// `--dry-run`.
    pub dry_run: DryRun,
    /// `--force`.
    pub force: bool,
    /// How the result is shown.
    pub format: Format,
    /// `--server-side`.
    pub server_side: bool,
    /// `--force-conflicts`.
    pub force_conflicts: bool,
    /// `--field-manager`, if it was given.
    pub field_manager: Option<Str>,
    /// For `replace --force`.
    pub grace_period: Option<i64>,
    /// For `replace --force`.
    pub cascade: Option<Propagation>,
    /// `-l`: only these of the text.
    pub selector: Option<Selector>,
    /// `--save-config`: as apply would remember it.
    pub save_config: bool,
}

/// How a verb that writes says what it did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shown {
    /// A sentence, or the object.
    pub format: Format,
    /// `--dry-run`.
    pub dry_run: DryRun,
    /// `--local`: the objects are those of the text, and no server is asked.
    pub local: bool,
}

/// `create KIND NAME` and `run NAME`: the objects that it makes.
#[derive(Clone, Debug, PartialEq)]
pub struct Generated {
    /// The objects with all that kubectl writes, empty fields included.
    pub objects: Vec<(Kind, Value)>,
    /// A Job made from this CronJob.
    pub from: Option<ObjectKey>,
    /// Errors name the kind.
    pub plain: bool,
    /// How it is said.
    pub shown: Shown,
}

/// `expose`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expose {
    /// `--port`.
    pub port: Option<i32>,
    /// `--target-port`.
    pub target_port: Option<String>,
    /// `--protocol`.
    pub protocol: Option<String>,
    /// `--name`.
    pub name: Option<String>,
    /// `--type`.
    pub kind: Option<String>,
    /// `--cluster-ip`.
    pub cluster_ip: Option<String>,
    /// `--selector`.
    pub selector: Vec<(String, String)>,
    /// `--labels`.
    pub labels: Vec<(String, String)>,
    /// How it is said.
    pub shown: Shown,
}

/// `autoscale`.
#[derive(Clone, Debug, PartialEq)]
pub struct Autoscale {
    /// `--min`.
    pub min: Option<i32>,
    /// `--max`.
    pub max: i32,
    /// What is aimed at: resource, and the target's type and value.
    pub targets: Vec<(&'static str, Value)>,
    /// `--name`.
    pub name: Option<String>,
    /// How it is said.
    pub shown: Shown,
}

/// What `set` sets.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// `set image`: container, image.
    Image(Vec<(String, String)>),
    /// `set resources`.
    Resources {
        /// `-c`; `*` means all.
        container: String,
        /// `--limits`.
        limits: Vec<(String, String)>,
        /// `--requests`.
        requests: Vec<(String, String)>,
    },
    /// `set env`.
    Env {
        /// `-c`; `*` means all.
        container: String,
        /// To set.
        set: Vec<(String, String)>,
        /// To remove.
        remove: Vec<String>,
        /// `--list`.
        list: bool,
        /// `--overwrite=false` keeps what is there.
        overwrite: bool,
    },
    /// `set selector`, of a Service.
    Selector(Vec<(String, String)>),
    /// `set serviceaccount`.
    ServiceAccount(String),
}

/// `drain`.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs)]
pub struct Drain {
    pub ignore_daemon_sets: bool,
    pub delete_empty_dir_data: bool,
    pub force: bool,
    pub grace_period: Option<i64>,
    pub pod_selector: Option<Selector>,
    /// `--disable-eviction`: plain deletes.
    pub delete: bool,
    pub dry_run: DryRun,
}

/// `taint`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Taints {
    /// As they stand on the line.
    pub changes: Vec<String>,
    /// `--overwrite`.
    pub overwrite: bool,
    /// How it is said.
    pub shown: Shown,
}

/// `wait --for=...`.
#[derive(Clone, Debug, PartialEq)]
pub enum Wait {
    /// A condition has this status; nothing: True.
    Condition(String, String),
    /// It is there.
    Create,
    /// It is gone.
    Delete,
    /// A field has this value; nothing: any.
    Path(Template, Option<String>),
}

/// `top nodes` and `top pods`.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct Top {
    pub select: Select,
    pub nodes: bool,
    pub containers: bool,
    pub no_headers: bool,
    pub sum: bool,
    /// `cpu` or `memory`.
    pub sort_by: Option<String>,
}

/// `api-resources`.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs)]
pub struct Resources {
    pub namespaced: Option<bool>,
    pub group: Option<String>,
    pub name_only: bool,
    pub wide: bool,
    pub no_headers: bool,
    /// `name` or `kind`.
    pub sort_by: Option<String>,
}

/// `scale`.
#[derive(Clone, Debug, PartialEq)]
pub struct Scale {
    /// `--replicas`.
    pub replicas: i32,
    /// `--current-replicas`.
    pub current: Option<i32>,
    /// How it is said.
    pub shown: Shown,
}

/// `patch`.
#[derive(Clone, Debug, PartialEq)]
pub struct Patch {
    /// The patch, JSON or YAML.
    pub text: String,
    /// How it is merged.
    pub kind: PatchKind,
    /// `--subresource`.
    pub part: Part,
    /// How its outcome is shown, and whether it is carried out.
    pub shown: Shown,
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
#[derive(Clone, Debug, PartialEq)]
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
    /// How it is said.
    pub shown: Shown,
}

/// `rollout`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum RolloutAction {
    /// With a revision; 0: the newest. How long it follows, if it does; 0: as long as it takes.
    Status(i64, Option<Duration>),
    /// With a revision; 0: the list.
    History(i64),
    /// To a revision; 0: the one before.
    Undo(i64, DryRun),
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
    /// `-f`.
    pub follow: bool,
    /// `--limit-bytes`.
    pub limit_bytes: Option<usize>,
    /// `--since` and `--since-time`: what is older is left out.
    pub since: Option<Since>,
    /// `--timestamps`.
    pub timestamps: bool,
}

/// From when on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// So long before now.
    Ago(Duration),
    /// From this time on.
    At(Timestamp),
}
