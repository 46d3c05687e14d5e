//! `create KIND NAME`, `run`, `expose` and `autoscale`: the flags of the generators.

use serde_json::json;

use crate::api::{Kind, ObjectKey, Value};
use crate::kubectl::command::{Autoscale, Command, Expose, Generated};
use crate::kubectl::errors::UsageError;
use crate::kubectl::flags::Flags;
use crate::kubectl::generators::{self, Named};

use super::options::{number32, pairs, shown};
use super::select::{Naming, select};

/// What `create ...` makes, its kind, and whether an error of the server is told as it is.
type Generator = (Kind, fn(&Named<'_>) -> Result<Value, UsageError>);

const GENERATORS: &[(&str, Generator)] = &[
    ("clusterrole", (Kind::ClusterRole, generators::access::role)),
    ("clusterrolebinding", (Kind::ClusterRoleBinding, generators::access::binding)),
    ("configmap", (Kind::ConfigMap, generators::plain::config_map)),
    ("cronjob", (Kind::CronJob, generators::pods::cron_job)),
    ("deployment", (Kind::Deployment, generators::pods::deployment)),
    ("job", (Kind::Job, generators::pods::job)),
    ("namespace", (Kind::Namespace, generators::plain::namespace)),
    ("poddisruptionbudget", (Kind::PodDisruptionBudget, generators::plain::budget)),
    ("priorityclass", (Kind::PriorityClass, generators::plain::priority_class)),
    ("quota", (Kind::ResourceQuota, generators::plain::quota)),
    ("role", (Kind::Role, generators::access::role)),
    ("rolebinding", (Kind::RoleBinding, generators::access::binding)),
    ("secret docker-registry", (Kind::Secret, generators::plain::docker_secret)),
    ("secret generic", (Kind::Secret, generators::plain::secret)),
    ("service clusterip", (Kind::Service, generators::service::service)),
    ("service externalname", (Kind::Service, generators::service::service)),
    ("service loadbalancer", (Kind::Service, generators::service::service)),
    ("service nodeport", (Kind::Service, generators::service::service)),
    ("serviceaccount", (Kind::ServiceAccount, generators::plain::service_account)),
];

/// The name, and the command behind `--`.
fn name_and_command(flags: &Flags) -> Result<(&str, &[String]), UsageError> {
    let split = flags.before_dashes.unwrap_or(flags.words.len());
    let (names, behind) = flags.words.split_at(split.min(flags.words.len()));
    match names {
        [name] => Ok((name, behind)),
        // Without dashes too, for the sake of those who leave them out.
        [name, rest @ ..] if behind.is_empty() && flags.before_dashes.is_none() => Ok((name, rest)),
        names => {
            let count = names.len();
            Err(flags.usage(format!("exactly one NAME is required, got {count}")))
        }
    }
}

pub(super) fn create(what: &str, flags: &Flags) -> Result<Command, UsageError> {
    let Some((_, (kind, make))) = GENERATORS.iter().find(|(name, _)| *name == what) else {
        return Ok(Command::NotHere(format!("create {what}")));
    };
    let (name, command) = name_and_command(flags)?;
    let takes_command = matches!(kind, Kind::Deployment | Kind::Job | Kind::CronJob);
    if !takes_command && !command.is_empty() {
        let count = 1 + command.len();
        return Err(flags.usage(format!("exactly one NAME is required, got {count}")));
    }
    let from = match flags.value("from") {
        None => None,
        Some(from) => Some(cron_job(from, flags)?),
    };
    let named = Named { what, name, command, flags };
    let value = match &from {
        Some(_) => json!({"metadata": {"name": name}}),
        None => make(&named)?,
    };
    let value = in_namespace(value, *kind, flags);
    Ok(Command::Generate(Generated {
        objects: vec![(*kind, value)],
        from,
        plain: matches!(kind, Kind::Namespace),
        shown: shown(flags)?,
    }))
}

/// `--from=cronjob/name`.
fn cron_job(from: &str, flags: &Flags) -> Result<ObjectKey, UsageError> {
    if flags.value("image").is_some() {
        return Err(UsageError::plain("cannot specify --image and --from"));
    }
    let name =
        from.split_once('/').filter(|(kind, _)| Kind::of_argument(kind) == Some(Kind::CronJob));
    let Some((_, name)) = name else {
        let message = format!("from must be an existing cronjob, not {from:?}");
        return Err(UsageError::plain(message));
    };
    Ok(ObjectKey::new(Kind::CronJob, flags.value("namespace").unwrap_or("default"), name))
}

/// The object with the namespace of the line; as kubectl, only if the line names one.
fn in_namespace(mut value: Value, kind: Kind, flags: &Flags) -> Value {
    if let Some(namespace) = flags.value("namespace").filter(|_| kind.info().namespaced) {
        value["metadata"]["namespace"] = namespace.into();
    }
    value
}

pub(super) fn run(flags: &Flags) -> Result<Command, UsageError> {
    let Some((name, command)) = flags.words.split_first() else {
        return Err(flags.usage("NAME is required for run".into()));
    };
    if flags.value("image").is_none() {
        return Err(UsageError::plain("required flag(s) \"image\" not set"));
    }
    let named = Named { what: "run", name, command, flags };
    let mut objects = Vec::new();
    if flags.has("expose") {
        let Some(port) = number32(flags, "port")? else {
            let message = "--port must be set when exposing a service";
            return Err(UsageError::plain(message));
        };
        let value = generators::service::of_pod(name, port, &generators::pods::run_labels(&named));
        objects.push((Kind::Service, in_namespace(value, Kind::Service, flags)));
    }
    let pod = in_namespace(generators::pods::pod(&named)?, Kind::Pod, flags);
    objects.push((Kind::Pod, pod));
    Ok(Command::Generate(Generated { objects, from: None, plain: true, shown: shown(flags)? }))
}

pub(super) fn expose(flags: &Flags) -> Result<Command, UsageError> {
    let text = |name: &str| flags.value(name).map(str::to_string);
    Ok(Command::Expose(
        select(flags, &flags.words, Naming::Needed)?,
        Expose {
            port: number32(flags, "port")?,
            target_port: text("target-port"),
            protocol: text("protocol"),
            name: text("name"),
            kind: text("type"),
            cluster_ip: text("cluster-ip"),
            selector: flags.values("selector").flat_map(pairs).collect(),
            labels: flags.values("labels").flat_map(pairs).collect(),
            shown: shown(flags)?,
        },
    ))
}

pub(super) fn autoscale(flags: &Flags) -> Result<Command, UsageError> {
    let min = number32(flags, "min")?.filter(|&min| min > 0);
    let Some(max) = number32(flags, "max")? else {
        return Err(UsageError::plain("required flag(s) \"max\" not set"));
    };
    if max < 1 {
        let message = format!("--max=MAXPODS is required and must be at least 1, max: {max}");
        return Err(UsageError::plain(message));
    }
    if let Some(min) = min.filter(|&min| min > max) {
        return Err(UsageError::plain(format!(
            "--max=MAXPODS must be larger or equal to --min=MINPODS, max: {max}, min: {min}"
        )));
    }
    let mut targets = Vec::new();
    if let Some(percent) = number32(flags, "cpu-percent")?.filter(|&percent| percent > 0) {
        targets.push(("cpu", json!({"type": "Utilization", "averageUtilization": percent})));
    }
    for resource in ["cpu", "memory"] {
        if let Some(text) = flags.value(resource) {
            targets.push((resource, target(resource, text)?));
        }
    }
    if targets.is_empty() {
        // As kubectl does when nothing is said.
        targets.push(("cpu", json!({"type": "Utilization", "averageUtilization": 80})));
    }
    Ok(Command::Autoscale(
        select(flags, &flags.words, Naming::Needed)?,
        Autoscale {
            min,
            max,
            targets,
            name: flags.value("name").map(str::to_string),
            shown: shown(flags)?,
        },
    ))
}

/// `80%`, or an average value such as `500m`.
fn target(resource: &str, text: &str) -> Result<Value, UsageError> {
    if let Some(percent) = text.strip_suffix('%') {
        let percent: Option<i32> = percent.parse().ok().filter(|&percent| percent > 0);
        return match percent {
            Some(percent) => Ok(json!({"type": "Utilization", "averageUtilization": percent})),
            None => Err(UsageError::plain(format!("invalid {resource} percentage: {text:?}"))),
        };
    }
    match crate::api::Quantity::parse(text) {
        Ok(_) => Ok(json!({"type": "AverageValue", "averageValue": text})),
        Err(error) => Err(UsageError::plain(format!("invalid {resource} value {text:?}: {error}"))),
    }
}
