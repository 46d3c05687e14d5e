//! A line into a command.

use crate::api::selector::Selector;
use crate::api::{Kind, Str};
use crate::apiserver::Propagation;
use crate::manifest::nearest;

use super::command::{
    Command, Delete, DryRun, Format, FromText, LabelChange, Logs, Named, Patch, PatchKind,
    RolloutAction, Scale, Select, Target, View, Which,
};
use super::errors::UsageError;
use super::flags::Flags;
use super::split::split;

/// The verbs, and the flags that each has beside the common ones.
const VERBS: &[(&str, &str)] = &[
    ("annotate", "all overwrite list local resource-version="),
    ("api-resources", "namespaced api-group= verbs= sort-by= no-headers"),
    ("apply", "server-side force-conflicts force prune overwrite validate? wait cascade? all \
               grace-period= timeout="),
    ("attach", ""),
    ("auth", ""),
    ("autoscale", "min= max= cpu= memory= cpu-percent= name="),
    ("config", ""),
    ("cordon", ""),
    ("cp", ""),
    ("create", "image= replicas= port= labels= restart= from-literal= save-config validate? edit \
                schedule= hard= min-available= max-unavailable="),
    ("debug", "image= it target="),
    ("delete", "all cascade? force grace-period= ignore-not-found now timeout= wait interactive,i"),
    ("describe", "show-events chunk-size="),
    ("diff", "server-side force-conflicts"),
    ("drain", "ignore-daemonsets delete-emptydir-data force grace-period= timeout= \
               disable-eviction pod-selector= skip-wait-for-delete-timeout= chunk-size="),
    ("edit", ""),
    ("events", "for= types= watch,w no-headers chunk-size="),
    ("exec", "container,c= stdin,i tty,t"),
    ("explain", "recursive api-version="),
    ("expose", "port= target-port= name= type= protocol="),
    ("get", "watch,w watch-only show-labels label-columns,L= sort-by= no-headers show-kind \
             ignore-not-found chunk-size= raw= subresource= show-managed-fields"),
    ("help", ""),
    ("label", "all overwrite list local resource-version="),
    ("logs", "follow,f container,c= previous,p tail= since= since-time= timestamps prefix \
              all-containers all-pods limit-bytes= max-log-requests= ignore-errors"),
    ("patch", "patch,p= type= subresource= local patch-file="),
    ("port-forward", ""),
    ("replace", "force save-config validate? grace-period= cascade? timeout= wait"),
    ("rollout", "revision= to-revision= watch,w timeout="),
    ("run", "image= port= labels= restart= env= command rm stdin,i tty,t attach"),
    ("scale", "replicas= current-replicas= resource-version= timeout= all"),
    ("set", "all local"),
    ("taint", "all overwrite"),
    ("top", "containers no-headers sort-by= sum"),
    ("uncordon", ""),
    ("version", "client short"),
    ("wait", "for= timeout= all"),
];

/// What `kubectl help` prints.
pub const HELP: &str = "\
kubectl controls the Kubernetes cluster manager; here it controls a simulated one.

  create, apply, replace   from YAML on standard input (-f -), or create KIND NAME
  get, describe, logs      look at objects; -o wide|yaml|json|name|jsonpath=...
  delete                   --grace-period=N, --force, --cascade=orphan, --limit=N
  scale, set image, patch, label, annotate
  rollout                  status, history, undo, pause, resume, restart
  cordon, uncordon, taint  for nodes
  events, explain, api-resources, version

--limit=N takes the first N objects; pod/$(app=web)[0] is the first pod with that label.";

/// Reads a line, with or without `kubectl` or `k` before it.
pub fn parse(line: &str) -> Result<Command, UsageError> {
    let mut words = split(line)?;
    if matches!(words.first().map(String::as_str), Some("kubectl" | "k")) {
        words.remove(0);
    }
    // Flags that every verb knows may stand before it.
    let at = verb_position(&words);
    let Some(at) = at else {
        return Ok(Command::Help);
    };
    let verb = words.remove(at);
    if verb.starts_with('-') {
        return Ok(Command::Help);
    }
    let Some((name, list)) = VERBS.iter().find(|(name, _)| *name == verb) else {
        let near = nearest(&verb, VERBS.iter().map(|(name, _)| *name));
        return Err(UsageError {
            message: format!("unknown command {verb:?} for \"kubectl\""),
            suggestion: near.map(str::to_string),
        });
    };
    let flags = Flags::parse(name, list, &words)?;
    if flags.has("help") {
        return Ok(Command::Help);
    }
    command(name, &flags)
}

fn verb_position(words: &[String]) -> Option<usize> {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        match word.as_str() {
            "-n" | "--namespace" | "-l" | "--selector" | "-o" | "--output" | "--context" => at += 2,
            word if word.starts_with("-n") || word.starts_with("--namespace=") => at += 1,
            "-A" | "--all-namespaces" => at += 1,
            _ => return Some(at),
        }
    }
    None
}

fn command(verb: &str, flags: &Flags) -> Result<Command, UsageError> {
    Ok(match verb {
        "get" => Command::Get(select(flags, &flags.words, Naming::AtWill)?, view(flags)?),
        "describe" => Command::Describe(select(flags, &flags.words, Naming::AtWill)?),
        "delete" => delete(flags)?,
        "apply" => Command::Apply(from_text(flags)?),
        "replace" => Command::Replace(from_text(flags)?),
        "create" if flags.value("filename").is_some() => Command::Create(from_text(flags)?),
        "create" => create(flags)?,
        "run" => run(flags)?,
        "scale" => scale(flags)?,
        "set" => set(flags)?,
        "patch" => patch(flags)?,
        "label" => label(flags, false)?,
        "annotate" => label(flags, true)?,
        "rollout" => rollout(flags)?,
        "cordon" => Command::Cordon(nodes(flags, &flags.words)?, true),
        "uncordon" => Command::Cordon(nodes(flags, &flags.words)?, false),
        "taint" => taint(flags)?,
        "logs" => logs(flags)?,
        "events" => {
            let mut view = view(flags)?;
            view.no_headers = flags.has("no-headers");
            let about: Vec<String> = flags.value("for").map(str::to_string).into_iter().collect();
            Command::Events(select(flags, &about, Naming::AtWill)?, view)
        }
        "explain" => match flags.words.as_slice() {
            [path] => Command::Explain(path.clone()),
            _ => {
                let message = "You must specify the type of resource to explain. Use \"kubectl \
                               api-resources\" for a complete list of supported resources.";
                return Err(UsageError::plain(message));
            }
        },
        "api-resources" => Command::ApiResources,
        "version" => Command::Version,
        "help" => Command::Help,
        other => Command::NotHere(other.into()),
    })
}

/// Whether each kind needs a name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Naming {
    /// A kind alone means all of it.
    AtWill,
    /// A kind alone needs `--all` or a selector.
    Needed,
}

fn select(flags: &Flags, words: &[String], naming: Naming) -> Result<Select, UsageError> {
    let selector = match flags.value("selector") {
        Some(text) => Some(Selector::parse(text).map_err(UsageError::plain)?),
        None => None,
    };
    let fields = flags.value("field-selector").map_or(Ok(Vec::new()), fields)?;
    let limit = flags.number("limit")?.map(|limit| usize::try_from(limit).unwrap_or(0));
    let namespace: Str = flags.value("namespace").unwrap_or("default").into();
    let select = Select {
        targets: targets(words)?,
        namespace: (!flags.has("all-namespaces")).then_some(namespace),
        namespace_given: flags.value("namespace").is_some(),
        selector,
        fields,
        limit,
        all: flags.has("all"),
        from_text: filename(flags)?,
    };
    let named = |target: &Target| target.which != Which::All;
    if select.selector.is_some() && select.targets.iter().any(named) {
        return Err(UsageError::plain("name cannot be provided when a selector is specified"));
    }
    if select.all && select.selector.is_some() {
        return Err(UsageError::plain("cannot set --all and --selector at the same time"));
    }
    let free = select.all || select.selector.is_some() || !select.fields.is_empty();
    let nameless = !select.targets.iter().all(named);
    if naming == Naming::Needed && !free && select.limit.is_none() && nameless {
        let message = "resource(s) were provided, but no name was specified";
        return Err(UsageError::plain(message));
    }
    if select.targets.is_empty() && !select.from_text {
        return Err(nothing_named(flags, naming));
    }
    Ok(select)
}

fn nothing_named(flags: &Flags, naming: Naming) -> UsageError {
    match naming {
        Naming::AtWill => flags.see_help(
            "You must specify the type of resource. Use \"kubectl api-resources\" for a complete \
             list of supported resources."
                .into(),
        ),
        Naming::Needed => UsageError::plain(
            "You must provide one or more resources by argument or filename.\nExample resource \
             specifications include:\n   '-f rsrc.yaml'\n   '--filename=rsrc.json'\n   '<resource> \
             <name>'\n   '<resource>'",
        ),
    }
}

fn filename(flags: &Flags) -> Result<bool, UsageError> {
    match flags.value("filename") {
        None => Ok(false),
        Some("-") => Ok(true),
        Some(name) => {
            let message = format!(
                "the path {name:?} does not exist: here a manifest comes from standard input, by -f -"
            );
            Err(UsageError::plain(message))
        }
    }
}

/// `status.phase=Running,spec.nodeName!=node-1`.
fn fields(text: &str) -> Result<Vec<(String, bool, String)>, UsageError> {
    let one = |part: &str| {
        let (path, equal, value) = if let Some((path, value)) = part.split_once("!=") {
            (path, false, value)
        } else {
            let (path, value) = part.split_once('=')?;
            (path, true, value.trim_start_matches('='))
        };
        Some((path.trim().to_string(), equal, value.trim().to_string()))
    };
    let parts = text.split(',').filter(|part| !part.is_empty());
    parts
        .map(|part| {
            let message = || format!("invalid selector: {part:?}; can't understand {part:?}");
            one(part).ok_or_else(|| UsageError::plain(message()))
        })
        .collect()
}

/// The kinds of `all`, in kubectl's order.
const ALL: [Kind; 9] = [
    Kind::Pod,
    Kind::ReplicationController,
    Kind::Service,
    Kind::DaemonSet,
    Kind::Deployment,
    Kind::ReplicaSet,
    Kind::StatefulSet,
    Kind::HorizontalPodAutoscaler,
    Kind::Job,
];

fn kinds(text: &str) -> Result<Vec<Kind>, UsageError> {
    let mut found = Vec::new();
    for word in text.split(',').filter(|word| !word.is_empty()) {
        match Kind::of_argument(word) {
            _ if word == "all" => found.extend(ALL),
            Some(kind) => found.push(kind),
            None => {
                let names = Kind::all().iter().flat_map(|info| {
                    std::iter::once(info.plural).chain(info.short.iter().copied())
                });
                let near = nearest(&word.to_ascii_lowercase(), names);
                return Err(UsageError {
                    message: format!("the server doesn't have a resource type {word:?}"),
                    suggestion: near.map(str::to_string),
                });
            }
        }
    }
    Ok(found)
}

/// `pods x y`, `pods,rs`, `pod/x deploy/y`, `all`.
fn targets(words: &[String]) -> Result<Vec<Target>, UsageError> {
    let slashed = |word: &String| word.split_once('/').is_some_and(|(kind, _)| !kind.is_empty());
    if words.iter().any(slashed) {
        let mut targets = Vec::new();
        for word in words {
            let Some((kind, name)) = word.split_once('/') else {
                return Err(UsageError::plain(
                    "there is no need to specify a resource type as a separate argument when \
                     passing arguments in resource/name form (e.g. 'kubectl get resource/<resource_name>' \
                     instead of 'kubectl get resource resource/<resource_name>'",
                ));
            };
            for kind in kinds(kind)? {
                let which = which(name)?;
                targets.push(Target { kind, which });
            }
        }
        return Ok(targets);
    }
    let Some((first, names)) = words.split_first() else {
        return Ok(Vec::new());
    };
    let mut targets = Vec::new();
    for kind in kinds(first)? {
        if names.is_empty() {
            let which = Which::All;
            targets.push(Target { kind, which });
        }
        for name in names {
            let which = which(name)?;
            targets.push(Target { kind, which });
        }
    }
    Ok(targets)
}

/// A name, or `$(app=web)[0]`.
fn which(name: &str) -> Result<Which, UsageError> {
    let Some(rest) = name.strip_prefix("$(") else {
        if name.is_empty() {
            return Err(UsageError::plain("arguments in resource/name form must have a name"));
        }
        return Ok(Which::Name(name.into()));
    };
    let wrong = || UsageError::plain(format!("{name} is not of the form $(selector)[number]"));
    let (selector, index) = rest.rsplit_once(')').ok_or_else(wrong)?;
    let selector = Selector::parse(selector).map_err(UsageError::plain)?;
    let index = match index {
        "" => 0,
        _ => {
            let digits = index.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
            digits.and_then(|digits| digits.parse().ok()).ok_or_else(wrong)?
        }
    };
    Ok(Which::Chosen(selector, index))
}

fn view(flags: &Flags) -> Result<View, UsageError> {
    let columns = flags.values("label-columns").flat_map(|list| list.split(','));
    Ok(View {
        format: format(flags)?,
        show_labels: flags.has("show-labels"),
        label_columns: columns.map(str::to_string).collect(),
        sort_by: flags.value("sort-by").map(str::to_string),
        no_headers: flags.has("no-headers"),
        ignore_not_found: flags.has("ignore-not-found"),
        show_kind: flags.has("show-kind"),
    })
}

fn format(flags: &Flags) -> Result<Format, UsageError> {
    let Some(text) = flags.value("output") else {
        return Ok(Format::Table);
    };
    Ok(match text.split_once('=').unwrap_or((text, "")) {
        ("", _) => Format::Table,
        ("wide", _) => Format::Wide,
        ("yaml", _) => Format::Yaml,
        ("json", _) => Format::Json,
        ("name", _) => Format::Name,
        ("jsonpath", template) => Format::JsonPath(template.into()),
        (other, _) => {
            let known = ["json", "name", "wide", "yaml"];
            return Err(UsageError {
                message: format!(
                    "unable to match a printer suitable for the output format {other:?}, allowed \
                     formats are: json,jsonpath,name,wide,yaml"
                ),
                suggestion: nearest(other, known).map(|word| format!("-o {word}")),
            });
        }
    })
}

fn dry_run(flags: &Flags) -> Result<DryRun, UsageError> {
    match flags.value("dry-run") {
        None | Some("none" | "false") => Ok(DryRun::No),
        Some("" | "client" | "true") => Ok(DryRun::Client),
        Some("server") => Ok(DryRun::Server),
        Some(other) => Err(UsageError::plain(format!(
            "Invalid dry-run value ({other}). Must be \"none\", \"server\", or \"client\"."
        ))),
    }
}

fn from_text(flags: &Flags) -> Result<FromText, UsageError> {
    if let Some(word) = flags.words.first() {
        return Err(flags.see_help(format!("Unexpected args: [{word}]")));
    }
    if !filename(flags)? {
        return Err(UsageError::plain("must specify one of -f and -k"));
    }
    for flag in ["server-side", "prune"] {
        if flags.has(flag) {
            let message = format!("--{flag} is not part of this simulation yet");
            return Err(UsageError::plain(message));
        }
    }
    Ok(FromText {
        namespace: flags.value("namespace").map(Str::from),
        dry_run: dry_run(flags)?,
        force: flags.has("force"),
        name_only: flags.value("output") == Some("name"),
    })
}

fn delete(flags: &Flags) -> Result<Command, UsageError> {
    let select = select(flags, &flags.words, Naming::Needed)?;
    let force = flags.has("force");
    let mut grace_period = flags.number("grace-period")?.filter(|&seconds| seconds >= 0);
    if flags.has("now") {
        if grace_period.is_some() {
            let message = "--now and --grace-period cannot be specified together";
            return Err(UsageError::plain(message));
        }
        grace_period = Some(1);
    }
    if force && grace_period.is_some_and(|seconds| seconds > 0) {
        let message = "--force and --grace-period greater than 0 cannot be specified together";
        return Err(UsageError::plain(message));
    }
    // Without --force even 0 waits for the kubelet, so that nobody loses data by mistake.
    grace_period = match (force, grace_period) {
        (true, _) => Some(0),
        (false, Some(0)) => Some(1),
        (false, given) => given,
    };
    let cascade = match flags.value("cascade") {
        None => None,
        Some("" | "background" | "true") => Some(Propagation::Background),
        Some("foreground") => Some(Propagation::Foreground),
        Some("orphan" | "false") => Some(Propagation::Orphan),
        Some(other) => {
            let message = format!(
                "invalid cascade value ({other}). Must be \"background\", \"foreground\", or \
                 \"orphan\""
            );
            let known = ["background", "foreground", "orphan"];
            let suggestion = nearest(other, known).map(|word| format!("--cascade={word}"));
            return Err(UsageError { message, suggestion });
        }
    };
    let options = Delete {
        grace_period,
        force,
        cascade,
        ignore_not_found: flags.has("ignore-not-found"),
        name_only: flags.value("output") == Some("name"),
        dry_run: dry_run(flags)?,
    };
    Ok(Command::Delete(select, options))
}

fn number32(flags: &Flags, name: &str) -> Result<Option<i32>, UsageError> {
    let number = flags.number(name)?;
    number
        .map(|number| {
            i32::try_from(number).map_err(|_| {
                flags.see_help(format!(
                    "invalid argument \"{number}\" for \"--{name}\" flag: strconv.ParseInt: \
                     parsing \"{number}\": value out of range"
                ))
            })
        })
        .transpose()
}

/// `key=value` pairs, also several behind commas.
fn pairs(text: &str) -> Vec<(String, String)> {
    let pair = |part: &str| {
        let (key, value) = part.split_once('=')?;
        Some((key.to_string(), value.to_string()))
    };
    text.split(',').filter_map(pair).collect()
}

fn named(flags: &Flags, kind: Kind, name: &str) -> Result<Named, UsageError> {
    Ok(Named {
        kind,
        name: name.into(),
        namespace: flags.value("namespace").unwrap_or("default").into(),
        image: flags.value("image").map(str::to_string),
        replicas: number32(flags, "replicas")?,
        port: number32(flags, "port")?,
        labels: flags.values("labels").flat_map(pairs).collect(),
        restart: flags.value("restart").map(str::to_string),
        literals: flags.values("from-literal").flat_map(pairs).collect(),
        command: Vec::new(),
        dry_run: dry_run(flags)?,
    })
}

fn create(flags: &Flags) -> Result<Command, UsageError> {
    let Some((kind, rest)) = flags.words.split_first() else {
        return Err(UsageError::plain("must specify one of -f and -k"));
    };
    let kind = match kinds(kind)?.as_slice() {
        [kind @ (Kind::Deployment | Kind::Namespace | Kind::ConfigMap | Kind::Job)] => *kind,
        _ => return Ok(Command::NotHere(format!("create {kind}"))),
    };
    let Some((name, command)) = rest.split_first() else {
        return Err(flags.see_help("exactly one NAME is required, got 0".into()));
    };
    let needs_image = matches!(kind, Kind::Deployment | Kind::Job);
    if needs_image && flags.value("image").is_none() {
        return Err(flags.see_help("required flag(s) \"image\" not set".into()));
    }
    let mut named = named(flags, kind, name)?;
    named.command = command.to_vec();
    Ok(Command::CreateNamed(named))
}

fn run(flags: &Flags) -> Result<Command, UsageError> {
    let Some((name, command)) = flags.words.split_first() else {
        return Err(flags.see_help("NAME is required for run".into()));
    };
    if flags.value("image").is_none() {
        return Err(flags.see_help("required flag(s) \"image\" not set".into()));
    }
    let mut named = named(flags, Kind::Pod, name)?;
    named.command = command.to_vec();
    Ok(Command::CreateNamed(named))
}

fn scale(flags: &Flags) -> Result<Command, UsageError> {
    let select = select(flags, &flags.words, Naming::Needed)?;
    let Some(replicas) = number32(flags, "replicas")? else {
        return Err(flags.see_help("required flag(s) \"replicas\" not set".into()));
    };
    if replicas < 0 {
        let message = "The --replicas=COUNT flag is required, and COUNT must be greater than or \
                       equal to 0";
        return Err(UsageError::plain(message));
    }
    let current = number32(flags, "current-replicas")?.filter(|&count| count >= 0);
    Ok(Command::Scale(select, Scale { replicas, current }))
}

fn set(flags: &Flags) -> Result<Command, UsageError> {
    let Some((what, rest)) = flags.words.split_first() else {
        return Err(UsageError::plain("set: what? image, for example"));
    };
    if what != "image" {
        return Ok(Command::NotHere(format!("set {what}")));
    }
    let is_pair = |word: &&String| word.contains('=') && !word.contains("$(");
    let objects: Vec<String> = rest.iter().filter(|word| !is_pair(word)).cloned().collect();
    let pair = |word: &String| {
        let (container, image) = word.split_once('=')?;
        Some((container.to_string(), image.to_string()))
    };
    let images: Vec<_> = rest.iter().filter(is_pair).filter_map(pair).collect();
    if objects.is_empty() && !flags.has("all") {
        let message = "one or more resources must be specified as <resource> <name> or \
                       <resource>/<name>";
        return Err(UsageError::plain(message));
    }
    if images.is_empty() {
        return Err(UsageError::plain("at least one image update is required"));
    }
    if images.len() > 1 && images.iter().any(|(container, _)| container == "*") {
        let message = "all containers are already specified by *, but saw more than one \
                       container_name=container_image pairs";
        return Err(UsageError::plain(message));
    }
    Ok(Command::SetImage(select(flags, &objects, Naming::Needed)?, images))
}

fn patch(flags: &Flags) -> Result<Command, UsageError> {
    let Some(text) = flags.value("patch") else {
        return Err(UsageError::plain("must specify --patch or --patch-file containing the contents of the patch"));
    };
    let kind = match flags.value("type") {
        None | Some("strategic") => PatchKind::Strategic,
        Some("merge") => PatchKind::Merge,
        Some("json") => PatchKind::Json,
        Some(other) => {
            let message =
                format!("--type must be one of [json merge strategic], not {other:?}");
            return Err(UsageError::plain(message));
        }
    };
    let select = select(flags, &flags.words, Naming::Needed)?;
    let text = text.to_string();
    Ok(Command::Patch(select, Patch { text, kind }))
}

/// `kubectl label pods x a=b c-`: resources first, then changes.
fn label(flags: &Flags, annotations: bool) -> Result<Command, UsageError> {
    let is_change = |word: &&String| {
        let chosen = word.contains("$(");
        !chosen && (word.contains('=') || (word.ends_with('-') && word.len() > 1))
    };
    let what = if annotations { "annotation" } else { "label" };
    let first = flags.words.iter().position(|word| is_change(&word));
    let (objects, changes) = flags.words.split_at(first.unwrap_or(flags.words.len()));
    if let Some(word) = changes.iter().find(|word| !is_change(word)) {
        let message = format!("all resources must be specified before {what} changes: {word}");
        return Err(UsageError::plain(message));
    }
    if objects.is_empty() && !flags.has("all") {
        let message = "one or more resources must be specified as <resource> <name> or \
                       <resource>/<name>";
        return Err(UsageError::plain(message));
    }
    if changes.is_empty() && !flags.has("list") {
        return Err(UsageError::plain(format!("at least one {what} update is required")));
    }
    let mut change = LabelChange {
        annotations,
        set: Vec::new(),
        remove: Vec::new(),
        overwrite: flags.has("overwrite"),
        list: flags.has("list"),
    };
    for word in changes {
        match word.split_once('=') {
            Some((key, value)) => change.set.push((key.into(), value.into())),
            None => change.remove.push(word.trim_end_matches('-').into()),
        }
    }
    if change.set.iter().any(|(key, _)| change.remove.contains(key)) {
        let message = format!("can not both modify and remove a {what} in the same command");
        return Err(UsageError::plain(message));
    }
    Ok(Command::Label(select(flags, objects, Naming::Needed)?, change))
}

fn rollout(flags: &Flags) -> Result<Command, UsageError> {
    const ACTIONS: [&str; 6] = ["history", "pause", "restart", "resume", "status", "undo"];
    let Some((word, rest)) = flags.words.split_first() else {
        let message = format!("rollout: what? {}", ACTIONS.join(", "));
        return Err(UsageError::plain(message));
    };
    let revision = flags.number("revision")?.unwrap_or(0);
    let action = match word.as_str() {
        "status" => RolloutAction::Status(revision),
        "history" => RolloutAction::History(revision),
        "undo" => RolloutAction::Undo(flags.number("to-revision")?.unwrap_or(0)),
        "pause" => RolloutAction::Pause,
        "resume" => RolloutAction::Resume,
        "restart" => RolloutAction::Restart,
        other => {
            return Err(UsageError {
                message: format!("unknown command {other:?} for \"kubectl rollout\""),
                suggestion: nearest(other, ACTIONS).map(str::to_string),
            });
        }
    };
    if rest.is_empty() {
        return Err(UsageError::plain("required resource not specified"));
    }
    Ok(Command::Rollout(select(flags, rest, Naming::AtWill)?, action))
}

fn nodes(flags: &Flags, names: &[String]) -> Result<Select, UsageError> {
    let mut words = vec!["nodes".to_string()];
    words.extend(names.iter().map(|name| name.trim_start_matches("node/").to_string()));
    if names.is_empty() && flags.value("selector").is_none() && !flags.has("all") {
        let message = "USAGE: cordon NODE [flags]\nSee 'kubectl cordon -h' for help and examples";
        return Err(UsageError::plain(message));
    }
    select(flags, &words, Naming::Needed)
}

fn taint(flags: &Flags) -> Result<Command, UsageError> {
    let first = flags.words.first().map(String::as_str).unwrap_or("");
    let words = match Kind::of_argument(first) {
        Some(Kind::Node) => flags.words.get(1..).unwrap_or(&[]),
        _ if first.starts_with("node/") => flags.words.as_slice(),
        _ => {
            let message =
                format!("invalid resource type {first}, only node types are supported");
            return Err(UsageError::plain(message));
        }
    };
    let is_change = |word: &&String| word.contains(':') || word.ends_with('-');
    let at = words.iter().position(|word| is_change(&word)).unwrap_or(words.len());
    let (names, changes) = words.split_at(at);
    if changes.is_empty() {
        return Err(UsageError::plain("at least one taint update is required"));
    }
    Ok(Command::Taint(nodes(flags, names)?, changes.to_vec()))
}

fn logs(flags: &Flags) -> Result<Command, UsageError> {
    let mut words = flags.words.clone();
    let mut container = flags.value("container").map(Str::from);
    // `logs web-1 side`: a pod, and one of its containers.
    if let [pod, second] = words.as_slice() {
        if !pod.contains('/') {
            container = container.or(Some(second.as_str().into()));
            words.truncate(1);
        }
    }
    if let Some(first) = words.first_mut() {
        if !first.contains('/') || first.starts_with("$(") {
            *first = format!("pod/{first}");
        }
    } else if flags.value("selector").is_some() {
        words.push("pods".into());
    } else {
        let message = "expected 'logs [-f] [-p] (POD | TYPE/NAME) [-c CONTAINER]'.\nPOD or \
                       TYPE/NAME is a required argument for the logs command";
        return Err(flags.see_help(message.into()));
    }
    let tail = flags.number("tail")?.and_then(|lines| usize::try_from(lines).ok());
    Ok(Command::Logs(Logs {
        select: select(flags, &words, Naming::AtWill)?,
        container,
        all_containers: flags.has("all-containers"),
        previous: flags.has("previous"),
        tail,
        prefix: flags.has("prefix"),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(line: &str) -> String {
        parse(line).expect_err(line).to_string()
    }

    #[test]
    fn kubectl_may_be_left_out_and_aliases_are_known() {
        let command = parse("kubectl get pods").unwrap();
        for line in ["get po", "k get pod", "get Pods"] {
            assert_eq!(parse(line).unwrap(), command, "{line}");
        }
        assert_eq!(parse(""), Ok(Command::Help));
    }

    #[test]
    fn objects_are_named_in_all_of_kubectls_ways() {
        let targets = |line: &str| match parse(line) {
            Ok(Command::Get(select, _)) => select.targets,
            other => panic!("{line}: {other:?}"),
        };
        let named = |kind, name: &str| Target {
            kind,
            which: Which::Name(name.into()),
        };
        assert_eq!(targets("get pod/a deploy/b"), [named(Kind::Pod, "a"), named(Kind::Deployment, "b")]);
        assert_eq!(targets("get pods a b"), [named(Kind::Pod, "a"), named(Kind::Pod, "b")]);
        assert_eq!(targets("get po,rs").len(), 2);
        assert_eq!(targets("get all").len(), ALL.len());
        let chosen = targets("get pod/$(app=web)[2]");
        let selector = Selector::parse("app=web").unwrap();
        assert_eq!(chosen[0].which, Which::Chosen(selector, 2));
    }

    #[test]
    fn what_is_wrong_with_a_line_is_said_with_the_nearest_right_one() {
        assert_eq!(
            refused("gett pods"),
            "error: unknown command \"gett\" for \"kubectl\"\n\nDid you mean this?\n\tget"
        );
        assert!(refused("get pds").contains("doesn't have a resource type \"pds\""));
        assert!(refused("get deploymnets").ends_with("\tdeployments"));
        assert!(refused("scale deploy web --replcias 3").ends_with("\t--replicas"));
        assert!(refused("rollout stat deploy/web").contains("kubectl rollout"));
        assert!(refused("delete pods").contains("no name was specified"));
        assert!(refused("get pod/a -l x=y").contains("when a selector is specified"));
        assert!(refused("scale deploy web").contains("required flag(s) \"replicas\""));
        assert!(refused("apply -f web.yaml").contains("standard input"));
        assert!(refused("get pods -o yml").ends_with("\t-o yaml"));
    }

    #[test]
    fn a_forced_deletion_has_no_grace_and_an_unforced_one_always_some() {
        let grace = |line: &str| match parse(line) {
            Ok(Command::Delete(_, options)) => options.grace_period,
            other => panic!("{line}: {other:?}"),
        };
        assert_eq!(grace("delete pod a"), None);
        assert_eq!(grace("delete pod a --force"), Some(0));
        assert_eq!(grace("delete pod a --grace-period=0"), Some(1));
        assert_eq!(grace("delete pod a --now"), Some(1));
        assert_eq!(grace("delete pod a --grace-period 5"), Some(5));
        assert!(refused("delete pod a --force --grace-period=5").contains("together"));
    }
}
