//! `kubectl describe`, in short: what the columns do not show, and the Events.

use crate::api::{
    Condition, Container, ContainerState, ContainerStatus, Deployment, Kind, Node, Object, Pod,
    ReplicaSet, StrMap, Timestamp, Value,
};

use super::command::Select;
use super::describe_policy;
use super::duration::age;
use super::printers::{Look, pairs, pod_status, table};
use super::resources::{find, nothing_found};
use super::yaml::yaml;
use super::{Api, Output};

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

/// Lines of a name, a colon, and a value at the same column.
struct Sheet<'o> {
    out: &'o mut Output,
    width: usize,
}

impl Sheet<'_> {
    fn field(&mut self, name: &str, value: impl AsRef<str>) {
        let name = format!("{name}:");
        self.out.line(format!("{name:<width$}{}", value.as_ref(), width = self.width).trim_end());
    }

    fn map(&mut self, name: &str, map: &StrMap) {
        let mut lines = map.iter().map(|(key, value)| format!("{key}={value}"));
        self.field(name, lines.next().unwrap_or_else(|| "<none>".into()));
        for line in lines {
            self.out.line(format!("{:width$}{line}", "", width = self.width));
        }
    }
}

fn describe(object: &Object, api: &dyn Api, out: &mut Output) {
    if let Object::Generic(generic) = object
        && describe_policy::run(generic, api, out)
    {
        return events(object, api, out);
    }
    let meta = object.meta();
    let mut sheet = Sheet { out, width: 24 };
    sheet.field("Name", &*meta.name);
    if !meta.namespace.is_empty() {
        sheet.field("Namespace", &*meta.namespace);
    }
    if let Some(created) = meta.creation_timestamp {
        sheet.field("CreationTimestamp", created.to_string());
    }
    sheet.map("Labels", &meta.labels);
    // The annotation of apply is left out, as by kubectl.
    let mut annotations = meta.annotations.clone();
    annotations.remove(super::apply::LAST_APPLIED);
    sheet.map("Annotations", &annotations);
    if let Some(owner) = meta.controller() {
        sheet.field("Controlled By", format!("{}/{}", owner.kind, owner.name));
    }
    let now = api.now();
    match object {
        Object::Pod(inner) => pod(inner, now, &mut sheet),
        Object::ReplicaSet(set) => replica_set(set, &mut sheet),
        Object::Deployment(inner) => deployment(inner, &mut sheet),
        Object::Node(inner) => node(inner, api, &mut sheet),
        other => {
            let mut value = other.to_value();
            if let Some(map) = value.as_object_mut() {
                map.remove("metadata");
            }
            sheet.out.text.push_str(&yaml(&value));
        }
    }
    events(object, api, out);
}

fn pod(pod: &Pod, now: Timestamp, sheet: &mut Sheet<'_>) {
    if let Some(priority) = pod.spec.priority {
        sheet.field("Priority", priority.to_string());
    }
    let class = pod.spec.rest.get("priorityClassName").and_then(Value::as_str);
    if let Some(class) = class.filter(|class| !class.is_empty()) {
        sheet.field("Priority Class Name", class);
    }
    sheet.field("Node", pod.spec.node_name.as_deref().unwrap_or("<none>"));
    let status = pod_status(pod);
    match pod.metadata.deletion_timestamp {
        Some(at) if status == "Terminating" => {
            let seconds = at.seconds_since(now).max(0);
            sheet.field("Status", format!("Terminating (lasts {seconds}s)"));
        }
        _ => sheet.field("Status", status),
    }
    for (field, text) in [("Reason", &pod.status.reason), ("Message", &pod.status.message)] {
        if let Some(text) = text {
            sheet.field(field, text);
        }
    }
    if let Some(node) = pod.status.rest.get("nominatedNodeName").and_then(Value::as_str) {
        sheet.field("NominatedNodeName", node);
    }
    let lists = [
        ("Init Containers", &pod.spec.init_containers, &pod.status.init_container_statuses),
        ("Containers", &pod.spec.containers, &pod.status.container_statuses),
    ];
    for (title, containers, statuses) in lists {
        if containers.is_empty() {
            continue;
        }
        sheet.out.line(format!("{title}:"));
        for container in containers {
            let status = statuses.iter().find(|status| status.name == container.name);
            self::container(container, status, sheet.out);
        }
    }
    conditions(&pod.status.conditions, sheet.out);
    let mut tolerations = pod.spec.tolerations.iter().map(|toleration| {
        let key = toleration.key.as_deref().unwrap_or("");
        let effect = toleration.effect.map_or(String::new(), |effect| format!(":{effect:?}"));
        let exists = toleration.operator.as_deref() == Some("Exists");
        let operator = if exists { " op=Exists" } else { "" };
        let seconds = toleration.toleration_seconds;
        let lasts = seconds.map_or(String::new(), |seconds| format!(" for {seconds}s"));
        format!("{key}{effect}{operator}{lasts}")
    });
    sheet.map("Node-Selectors", &pod.spec.node_selector);
    sheet.field("Tolerations", tolerations.next().unwrap_or_else(|| "<none>".into()));
    for line in tolerations {
        sheet.out.line(format!("{:width$}{line}", "", width = sheet.width));
    }
}

fn container(container: &Container, status: Option<&ContainerStatus>, out: &mut Output) {
    out.line(format!("  {}:", container.name));
    let mut line = |name: &str, value: &str| {
        let name = format!("{name}:");
        out.line(format!("    {name:<16}{value}").trim_end());
    };
    line("Image", container.image.as_deref().unwrap_or(""));
    if let Some(status) = status {
        state("State", &status.state, &mut line);
        if status.last_state != ContainerState::default() {
            state("Last State", &status.last_state, &mut line);
        }
        line("Ready", if status.ready { "True" } else { "False" });
        line("Restart Count", &status.restart_count.to_string());
    }
    for (title, list) in
        [("Limits", &container.resources.limits), ("Requests", &container.resources.requests)]
    {
        if !list.is_empty() {
            let list: Vec<String> = list.iter().map(|(k, v)| format!("{k}={v}")).collect();
            line(title, &list.join(", "));
        }
    }
}

fn state(title: &str, state: &ContainerState, line: &mut impl FnMut(&str, &str)) {
    if let Some(running) = &state.running {
        line(title, "Running");
        line("  Started", &running.started_at.map_or(String::new(), |at| at.to_string()));
    } else if let Some(ended) = &state.terminated {
        line(title, "Terminated");
        line("  Reason", ended.reason.as_deref().unwrap_or(""));
        line("  Exit Code", &ended.exit_code.to_string());
    } else {
        line(title, "Waiting");
        let reason = state.waiting.as_ref().and_then(|waiting| waiting.reason.as_deref());
        line("  Reason", reason.unwrap_or(""));
    }
}

fn conditions(conditions: &[Condition], out: &mut Output) {
    if conditions.is_empty() {
        return;
    }
    out.line("Conditions:");
    let mut table = super::Table {
        columns: vec!["  Type".into(), "Status".into(), "Reason".into()],
        rows: Vec::new(),
    };
    for condition in conditions {
        let reason = condition.reason.as_deref().unwrap_or("").to_string();
        let status = format!("{:?}", condition.status);
        table.rows.push(vec![format!("  {}", condition.kind), status, reason]);
    }
    for line in table.text(true).lines() {
        out.line(line.trim_end());
    }
}

fn replica_set(set: &ReplicaSet, sheet: &mut Sheet<'_>) {
    sheet.field("Selector", set.spec.selector.format());
    let (now, wanted) = (set.status.replicas, set.spec.replicas());
    sheet.field("Replicas", format!("{now} current / {wanted} desired"));
    template(&set.spec.template, sheet);
    conditions(&set.status.conditions, sheet.out);
}

fn deployment(deployment: &Deployment, sheet: &mut Sheet<'_>) {
    let (spec, status) = (&deployment.spec, &deployment.status);
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
        let text = |value: &Option<crate::api::IntOrString>| match value {
            Some(crate::api::IntOrString::Int(number)) => number.to_string(),
            Some(crate::api::IntOrString::String(text)) => text.to_string(),
            None => String::new(),
        };
        let (unavailable, surge) = (text(&update.max_unavailable), text(&update.max_surge));
        let words = format!("{unavailable} max unavailable, {surge} max surge");
        sheet.field("RollingUpdateStrategy", words);
    }
    if spec.paused {
        sheet.field("Paused", "true");
    }
    template(&spec.template, sheet);
    conditions(&status.conditions, sheet.out);
}

fn template(template: &crate::api::PodTemplateSpec, sheet: &mut Sheet<'_>) {
    sheet.out.line("Pod Template:");
    let labels = &template.metadata.labels;
    let labels = pairs(labels.iter().map(|(key, value)| (&**key, &**value)));
    sheet.out.line(format!("  Labels:  {labels}"));
    sheet.out.line("  Containers:");
    for container in &template.spec.containers {
        let image = container.image.as_deref().unwrap_or("");
        sheet.out.line(format!("   {}:\n    Image:  {image}", container.name));
    }
}

fn node(node: &Node, api: &dyn Api, sheet: &mut Sheet<'_>) {
    let mut taints = node.spec.taints.iter().map(|taint| match &taint.value {
        Some(value) => format!("{}={value}:{:?}", taint.key, taint.effect),
        None => format!("{}:{:?}", taint.key, taint.effect),
    });
    sheet.field("Taints", taints.next().unwrap_or_else(|| "<none>".into()));
    for line in taints {
        sheet.out.line(format!("{:width$}{line}", "", width = sheet.width));
    }
    sheet.field("Unschedulable", node.spec.unschedulable.to_string());
    conditions(&node.status.conditions, sheet.out);
    for (title, list) in
        [("Capacity", &node.status.capacity), ("Allocatable", &node.status.allocatable)]
    {
        sheet.out.line(format!("{title}:"));
        for (name, amount) in list {
            sheet.out.line(format!("  {name}: {amount}"));
        }
    }
    let pods = api.list(Kind::Pod, None);
    let here = |pod: &&std::sync::Arc<Object>| {
        let node_name = pod.as_pod().and_then(|pod| pod.spec.node_name.as_deref());
        node_name == Some(&*node.metadata.name)
    };
    let pods: Vec<_> = pods.iter().filter(here).collect();
    sheet.out.line(format!("Non-terminated Pods: ({} in total)", pods.len()));
    for pod in pods {
        let meta = pod.meta();
        let old = age(meta.creation_timestamp, api.now());
        sheet.out.line(format!("  {}/{}  {old}", meta.namespace, meta.name));
    }
}

fn events(object: &Object, api: &dyn Api, out: &mut Output) {
    let meta = object.meta();
    let namespace = if meta.namespace.is_empty() { None } else { Some(&*meta.namespace) };
    let mut events = api.list(Kind::Event, namespace);
    events.retain(|event| match &**event {
        Object::Event(event) => {
            let about = &event.involved_object;
            *about.kind == *object.kind().info().kind
                && about.name == meta.name
                && (about.uid.is_empty() || about.uid == meta.uid)
        }
        _ => false,
    });
    events.sort_by_key(|event| event.as_event().and_then(|event| event.last_timestamp));
    if events.is_empty() {
        return out.line("Events:  <none>");
    }
    out.line("Events:");
    for line in table(Kind::Event, &events, api.now(), &Look::default()).text(true).lines() {
        out.line(format!("  {line}"));
    }
}
