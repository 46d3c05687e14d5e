//! `kubectl describe` (`pkg/describe/describe.go`): what the columns do not show, and the Events.
//! Objects of kinds without a layout of their own are shown as YAML.

mod autoscaler;
mod data;
mod events;
mod network;
mod policy;
pub(super) mod sheet;
pub(super) mod template;
mod workloads;

use std::sync::Arc;

use crate::api::{
    Condition, Deployment, Generic, IntOrString, Kind, Node, Object, Pod, ReplicaSet, Timestamp,
    Value,
};

use super::command::Select;
use super::duration::age;
use super::printers::pod_status;
use super::resources::{find, nothing_found};
use super::rollout::is_template_of;
use super::yaml::yaml;
use super::{Api, Output};

use sheet::{Sheet, long_time};

/// Describes what a line names.
pub fn run(select: &Select, api: &dyn Api, out: &mut Output) {
    let groups = find(select, api);
    let objects = groups.iter().flat_map(|group| &group.objects);
    for (index, object) in objects.clone().enumerate() {
        if index > 0 {
            out.line("\n");
        }
        describe(object, api, out);
    }
    let mut missing = groups.iter().filter_map(|group| group.missing.as_ref()).peekable();
    if missing.peek().is_none() && objects.count() == 0 {
        nothing_found(select, out);
    }
    missing.for_each(|line| out.fail(line));
}

fn describe(object: &Object, api: &dyn Api, out: &mut Output) {
    let mut sheet = Sheet::default();
    match object {
        Object::Pod(inner) => pod(inner, api.now(), &mut sheet),
        Object::ReplicaSet(set) => replica_set(set, api, &mut sheet),
        Object::Deployment(inner) => deployment(inner, api, &mut sheet),
        Object::Node(inner) => node(inner, api, &mut sheet),
        Object::Generic(generic) => return describe_generic(object, generic, api, out),
        _ => as_yaml(object, &mut sheet),
    }
    events::events(object, api, &mut sheet);
    sheet.print(out);
}

/// An object of a kind that has no type of its own.
fn describe_generic(object: &Object, generic: &Generic, api: &dyn Api, out: &mut Output) {
    let mut sheet = Sheet::default();
    let is_known = policy::run(generic, api, out)
        || workloads::run(generic, api, &mut sheet)
        || network::run(generic, api, &mut sheet)
        || data::run(generic, &mut sheet);
    if !is_known {
        as_yaml(object, &mut sheet);
    }
    // Of these kubectl shows none.
    let silent = [Kind::LimitRange, Kind::Namespace, Kind::ResourceQuota, Kind::Secret];
    if !silent.contains(&generic.kind) {
        events::events(object, api, &mut sheet);
    }
    sheet.print(out);
}

fn as_yaml(object: &Object, sheet: &mut Sheet) {
    let meta = object.meta();
    sheet.name(meta);
    if let Some(created) = meta.creation_timestamp {
        sheet.field("CreationTimestamp", long_time(created));
    }
    sheet.marks(meta);
    sheet.controller(meta);
    let mut value = object.to_value();
    if let Some(map) = value.as_object_mut() {
        map.remove("metadata");
    }
    sheet.line(0, yaml(&value).trim_end());
}

fn pod(pod: &Pod, now: Timestamp, sheet: &mut Sheet) {
    let (meta, spec) = (&pod.metadata, &pod.spec);
    sheet.name(meta);
    sheet.field("Priority", spec.priority.unwrap_or(0).to_string());
    for (name, field) in
        [("Priority Class Name", "priorityClassName"), ("Service Account", "serviceAccountName")]
    {
        let text = spec.rest.get(field).and_then(Value::as_str).unwrap_or_default();
        if !text.is_empty() {
            sheet.field(name, text);
        }
    }
    sheet.field(
        "Node",
        match (&spec.node_name, &pod.status.host_ip) {
            (None, _) => "<none>".to_string(),
            (Some(name), ip) => format!("{name}/{}", ip.as_deref().unwrap_or_default()),
        },
    );
    let rest = |field: &str| pod.status.rest.get(field).and_then(Value::as_str);
    if let Some(began) = pod.status.start_time {
        sheet.field("Start Time", long_time(began));
    }
    sheet.marks(meta);
    match meta.deletion_timestamp {
        Some(at) if pod_status(pod) == "Terminating" => {
            let seconds = at.seconds_since(now).max(0);
            sheet.field("Status", format!("Terminating (lasts {seconds}s)"));
            let grace = meta.deletion_grace_period_seconds.unwrap_or(0);
            sheet.field("Termination Grace Period", format!("{grace}s"));
        }
        _ => sheet.field("Status", format!("{:?}", pod.phase())),
    }
    for (field, text) in [("Reason", &pod.status.reason), ("Message", &pod.status.message)] {
        text.iter().for_each(|text| sheet.field(field, text));
    }
    sheet.field("IP", pod.status.pod_ip.as_deref().unwrap_or_default());
    match pod.status.pod_ips.is_empty() {
        true => sheet.field("IPs", "<none>"),
        false => sheet.line(0, "IPs:"),
    }
    pod.status.pod_ips.iter().for_each(|one| sheet.line(1, format!("IP:\t{}", one.ip)));
    sheet.controller(meta);
    if let Some(node) = rest("nominatedNodeName").filter(|node| !node.is_empty()) {
        sheet.field("NominatedNodeName", node);
    }
    let lists = [
        ("Init Containers", &spec.init_containers, &pod.status.init_container_statuses),
        ("Containers", &spec.containers, &pod.status.container_statuses),
    ];
    for (title, containers, statuses) in lists {
        if !containers.is_empty() {
            template::containers(title, containers, Some(statuses), sheet);
        }
    }
    let row = |condition: &Condition| {
        vec![format!("{} ", condition.kind), format!("{:?} ", condition.status)]
    };
    let rows: Vec<Vec<String>> = pod.status.conditions.iter().map(row).collect();
    short_table(&["Type", "Status"], &rows, sheet);
    template::volumes(spec, "", sheet);
    if let Some(class) = &pod.status.qos_class {
        sheet.field("QoS Class", class);
    }
    template::placement(spec, "", sheet);
}

/// Conditions of pods have no line below their heads.
fn short_table(columns: &[&str], rows: &[Vec<String>], sheet: &mut Sheet) {
    if rows.is_empty() {
        return;
    }
    sheet.line(0, "Conditions:");
    sheet.line(1, columns.join("\t"));
    rows.iter().for_each(|row| sheet.line(1, row.join("\t")));
}

fn conditions(conditions: &[Condition], sheet: &mut Sheet) {
    let row = |condition: &Condition| {
        let reason = condition.reason.as_deref().unwrap_or("").to_string();
        vec![format!("{} ", condition.kind), format!("{:?}", condition.status), reason]
    };
    let rows: Vec<Vec<String>> = conditions.iter().map(row).collect();
    sheet.table("Conditions", &["Type", "Status", "Reason"], &rows);
}

fn replica_set(set: &ReplicaSet, api: &dyn Api, sheet: &mut Sheet) {
    let meta = &set.metadata;
    sheet.name(meta);
    sheet.field("Selector", set.spec.selector.format());
    sheet.marks(meta);
    sheet.controller(meta);
    let (now, wanted) = (set.status.replicas, set.spec.replicas());
    sheet.field("Replicas", format!("{now} current / {wanted} desired"));
    sheet.field("Pods Status", workloads::pods_status(&meta.uid, &meta.namespace, api));
    template::template(&set.spec.template, sheet);
    conditions(&set.status.conditions, sheet);
}

fn deployment(deployment: &Deployment, api: &dyn Api, sheet: &mut Sheet) {
    let (meta, spec, status) = (&deployment.metadata, &deployment.spec, &deployment.status);
    sheet.name(meta);
    sheet.field("CreationTimestamp", meta.creation_timestamp.map(long_time).unwrap_or_default());
    sheet.marks(meta);
    sheet.field("Selector", spec.selector.format());
    sheet.field(
        "Replicas",
        format!(
            "{} desired | {} updated | {} total | {} available | {} unavailable",
            spec.replicas(),
            status.updated_replicas,
            status.replicas,
            status.available_replicas,
            status.unavailable_replicas
        ),
    );
    sheet.field("StrategyType", format!("{:?}", spec.strategy.kind.unwrap_or_default()));
    sheet.field("MinReadySeconds", spec.min_ready_seconds.to_string());
    if let Some(update) = &spec.strategy.rolling_update {
        let text = |value: &Option<IntOrString>| match value {
            Some(IntOrString::Int(number)) => number.to_string(),
            Some(IntOrString::String(text)) => text.to_string(),
            None => String::new(),
        };
        let (unavailable, surge) = (text(&update.max_unavailable), text(&update.max_surge));
        let words = format!("{unavailable} max unavailable, {surge} max surge");
        sheet.field("RollingUpdateStrategy", words);
    }
    template::template(&spec.template, sheet);
    conditions(&status.conditions, sheet);
    replica_sets(deployment, api, sheet);
}

/// The old sets that still have pods, and the one of the template.
fn replica_sets(deployment: &Deployment, api: &dyn Api, sheet: &mut Sheet) {
    let meta = &deployment.metadata;
    let sets = api.list(Kind::ReplicaSet, Some(&meta.namespace));
    let own = sets.iter().filter(|set| set.meta().is_controlled_by(&meta.uid));
    let (new, old): (Vec<_>, Vec<_>) = own
        .filter_map(|set| set.as_replica_set())
        .partition(|set| is_template_of(&set.spec.template, deployment));
    let told = |sets: &[&ReplicaSet]| {
        let one = |set: &&ReplicaSet| {
            let (now, wanted) = (set.status.replicas, set.spec.replicas());
            format!("{} ({now}/{wanted} replicas created)", set.metadata.name)
        };
        let all: Vec<String> = sets.iter().map(one).collect();
        if all.is_empty() { "<none>".to_string() } else { all.join(", ") }
    };
    sheet.field("OldReplicaSets", told(&old));
    sheet.field("NewReplicaSet", told(&new));
}

fn node(node: &Node, api: &dyn Api, sheet: &mut Sheet) {
    sheet.name(&node.metadata);
    sheet.marks(&node.metadata);
    let created = node.metadata.creation_timestamp.map(long_time);
    sheet.field("CreationTimestamp", created.unwrap_or_default());
    let taints = node.spec.taints.iter().map(|taint| match &taint.value {
        Some(value) => format!("{}={value}:{:?}", taint.key, taint.effect),
        None => format!("{}:{:?}", taint.key, taint.effect),
    });
    sheet.values("Taints", taints);
    sheet.field("Unschedulable", node.spec.unschedulable.to_string());
    conditions(&node.status.conditions, sheet);
    for (title, list) in
        [("Capacity", &node.status.capacity), ("Allocatable", &node.status.allocatable)]
    {
        sheet.line(0, format!("{title}:"));
        list.iter().for_each(|(name, amount)| sheet.line(1, format!("{name}:\t{amount}")));
    }
    let pods = api.list(Kind::Pod, None);
    let is_here = |pod: &&Arc<Object>| {
        let pod = pod.as_pod().filter(|pod| !pod.is_finished());
        pod.and_then(|pod| pod.spec.node_name.as_deref()) == Some(&*node.metadata.name)
    };
    let pods: Vec<_> = pods.iter().filter(is_here).collect();
    sheet.line(0, format!("Non-terminated Pods:\t({} in total)", pods.len()));
    let dashes = "---------\t----\t---";
    sheet.line(1, format!("Namespace\tName\tAge\n  {dashes}"));
    for pod in pods {
        let meta = pod.meta();
        let old = age(meta.creation_timestamp, api.now());
        sheet.line(1, format!("{}\t{}\t{old}", meta.namespace, meta.name));
    }
}
