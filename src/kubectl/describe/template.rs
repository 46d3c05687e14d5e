//! Containers, volumes and tolerations of pods and of their templates (`DescribePodTemplate`,
//! `describeContainers`). Left out: devices, fields of env that come from resources, volumes of
//! rare types.

use crate::api::{
    Container, ContainerState, ContainerStatus, PodSpec, PodTemplateSpec, Probe, Toleration, Value,
};

use super::sheet::{Sheet, long_time};

/// A template, one level in.
pub fn template(template: &PodTemplateSpec, sheet: &mut Sheet) {
    let (meta, spec) = (&template.metadata, &template.spec);
    sheet.line(0, "Pod Template:");
    sheet.labels("  Labels", &meta.labels);
    if !meta.annotations.is_empty() {
        sheet.annotations("  Annotations", &meta.annotations);
    }
    let text = |field: &str| spec.rest.get(field).and_then(Value::as_str).unwrap_or_default();
    if !text("serviceAccountName").is_empty() {
        sheet.line(1, format!("Service Account:\t{}", text("serviceAccountName")));
    }
    if !spec.init_containers.is_empty() {
        containers("Init Containers", &spec.init_containers, None, sheet);
    }
    containers("Containers", &spec.containers, None, sheet);
    volumes(spec, "  ", sheet);
    if !text("priorityClassName").is_empty() {
        sheet.line(1, format!("Priority Class Name:\t{}", text("priorityClassName")));
    }
    placement(spec, "  ", sheet);
}

/// Where pods may go.
pub fn placement(spec: &PodSpec, before: &str, sheet: &mut Sheet) {
    sheet.labels(&format!("{before}Node-Selectors"), &spec.node_selector);
    let mut tolerations: Vec<&Toleration> = spec.tolerations.iter().collect();
    tolerations.sort_by_key(|toleration| toleration.key.clone());
    sheet.values(&format!("{before}Tolerations"), tolerations.into_iter().map(toleration));
}

fn toleration(toleration: &Toleration) -> String {
    let mut text = toleration.key.as_deref().unwrap_or("").to_string();
    let value = toleration.value.as_deref().unwrap_or("");
    if !value.is_empty() {
        text += &format!("={value}");
    }
    if let Some(effect) = toleration.effect {
        text += &format!(":{effect:?}");
    }
    if toleration.operator.as_deref() == Some("Exists") && value.is_empty() {
        text += if text.is_empty() { "op=Exists" } else { " op=Exists" };
    }
    match toleration.toleration_seconds {
        Some(seconds) => format!("{text} for {seconds}s"),
        None => text,
    }
}

/// Containers of a template, or, with what is known of them, of a pod.
pub fn containers(
    title: &str,
    containers: &[Container],
    statuses: Option<&[ContainerStatus]>,
    sheet: &mut Sheet,
) {
    let before = if statuses.is_none() { "  " } else { "" };
    sheet.line(0, format!("{before}{title}:"));
    for container in containers {
        let indent = if statuses.is_none() { " " } else { "" };
        sheet.line(1, format!("{indent}{}:", container.name));
        let mut own = statuses.into_iter().flatten();
        let status = own.find(|status| status.name == container.name);
        self::container(container, status, sheet);
    }
}

fn container(container: &Container, status: Option<&ContainerStatus>, sheet: &mut Sheet) {
    let mut line = |name: &str, value: &str| sheet.line(2, format!("{name}:\t{value}"));
    line("Image", container.image.as_deref().unwrap_or(""));
    let ports = items(container.rest.get("ports"));
    for (name, field) in [("Port", "containerPort"), ("Host Port", "hostPort")] {
        let one = |port: &Value| {
            let protocol = port["protocol"].as_str().unwrap_or("TCP");
            format!("{}/{protocol}", port[field].as_i64().unwrap_or(0))
        };
        let list: Vec<String> = ports.iter().map(one).collect();
        match list.as_slice() {
            [] => line(name, "<none>"),
            [one] => line(name, one),
            many => line(&format!("{name}s"), &many.join(", ")),
        }
    }
    for (name, field) in [("Command", "command"), ("Args", "args")] {
        let words = items(container.rest.get(field));
        if !words.is_empty() {
            sheet.line(2, format!("{name}:"));
        }
        words.iter().filter_map(Value::as_str).for_each(|word| sheet.line(3, word));
    }
    if let Some(status) = status {
        state("State", &status.state, sheet);
        if status.last_state != ContainerState::default() {
            state("Last State", &status.last_state, sheet);
        }
        sheet.line(2, format!("Ready:\t{}", if status.ready { "True" } else { "False" }));
        sheet.line(2, format!("Restart Count:\t{}", status.restart_count));
    }
    let resources = &container.resources;
    for (name, list) in [("Limits", &resources.limits), ("Requests", &resources.requests)] {
        if !list.is_empty() {
            sheet.line(2, format!("{name}:"));
        }
        list.iter().for_each(|(name, amount)| sheet.line(3, format!("{name}:\t{amount}")));
    }
    for (name, probe) in [
        ("Liveness", &container.liveness_probe),
        ("Readiness", &container.readiness_probe),
        ("Startup", &container.startup_probe),
    ] {
        if let Some(probe) = probe {
            sheet.line(2, format!("{name}:\t{}", self::probe(probe)));
        }
    }
    environment(container, sheet);
    mounts(container, sheet);
}

fn items(list: Option<&Value>) -> &[Value] {
    list.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn state(title: &str, state: &ContainerState, sheet: &mut Sheet) {
    let mut line = |name: &str, value: &str| sheet.line(2, format!("{name}:\t{value}"));
    if let Some(running) = &state.running {
        line(title, "Running");
        line("  Started", &running.started_at.map(long_time).unwrap_or_default());
    } else if let Some(ended) = &state.terminated {
        line(title, "Terminated");
        for (name, text) in [("  Reason", &ended.reason), ("  Message", &ended.message)] {
            text.iter().for_each(|text| line(name, text));
        }
        line("  Exit Code", &ended.exit_code.to_string());
        line("  Started", &ended.started_at.map(long_time).unwrap_or_default());
        line("  Finished", &ended.finished_at.map(long_time).unwrap_or_default());
    } else {
        line(title, "Waiting");
        let reason = state.waiting.as_ref().and_then(|waiting| waiting.reason.as_deref());
        reason.iter().for_each(|reason| line("  Reason", reason));
    }
}

/// `DescribeProbe`.
fn probe(probe: &Probe) -> String {
    let number = |value: Option<i32>, usual: i32| value.unwrap_or(usual);
    let times = format!(
        "delay={}s timeout={}s period={}s #success={} #failure={}",
        number(probe.initial_delay_seconds, 0),
        number(probe.timeout_seconds, 1),
        number(probe.period_seconds, 10),
        number(probe.success_threshold, 1),
        number(probe.failure_threshold, 3)
    );
    let plain = |value: &Value| match value {
        Value::Null => String::new(),
        value => value.as_str().map_or_else(|| value.to_string(), str::to_string),
    };
    let asked = |name: &str| probe.rest.get(name).filter(|asked| asked.is_object());
    if let Some(http) = asked("httpGet") {
        let scheme = http["scheme"].as_str().unwrap_or("HTTP").to_ascii_lowercase();
        let (host, port, path) = (plain(&http["host"]), plain(&http["port"]), plain(&http["path"]));
        let slash = if path.starts_with('/') || path.is_empty() { "" } else { "/" };
        return format!("http-get {scheme}://{host}:{port}{slash}{path} {times}");
    }
    if let Some(tcp) = asked("tcpSocket") {
        return format!("tcp-socket {}:{} {times}", plain(&tcp["host"]), plain(&tcp["port"]));
    }
    if let Some(exec) = asked("exec") {
        let words: Vec<String> = items(exec.get("command")).iter().map(plain).collect();
        return format!("exec [{}] {times}", words.join(" "));
    }
    match asked("grpc") {
        Some(grpc) => {
            format!("grpc <pod>:{} {} {times}", plain(&grpc["port"]), plain(&grpc["service"]))
        }
        None => format!("unknown {times}"),
    }
}

fn environment(container: &Container, sheet: &mut Sheet) {
    let list = items(container.rest.get("env"));
    if list.is_empty() {
        return sheet.line(2, "Environment:\t<none>");
    }
    sheet.line(2, "Environment:");
    for one in list {
        let name = one["name"].as_str().unwrap_or_default();
        let from = &one["valueFrom"];
        let key = |source: &str, field: &str| from[source][field].as_str().unwrap_or_default();
        let optional = |source: &str| from[source]["optional"] == Value::Bool(true);
        sheet.line(
            3,
            match from {
                _ if from["fieldRef"].is_object() => {
                    let version = from["fieldRef"]["apiVersion"].as_str().unwrap_or("v1");
                    format!("{name}:\t ({version}:{})", key("fieldRef", "fieldPath"))
                }
                _ if from["secretKeyRef"].is_object() => format!(
                    "{name}:\t<set to the key '{}' in secret '{}'>\tOptional: {}",
                    key("secretKeyRef", "key"),
                    key("secretKeyRef", "name"),
                    optional("secretKeyRef")
                ),
                _ if from["configMapKeyRef"].is_object() => format!(
                    "{name}:\t<set to the key '{}' of config map '{}'>\tOptional: {}",
                    key("configMapKeyRef", "key"),
                    key("configMapKeyRef", "name"),
                    optional("configMapKeyRef")
                ),
                _ => format!("{name}:\t{}", one["value"].as_str().unwrap_or_default()),
            },
        );
    }
}

fn mounts(container: &Container, sheet: &mut Sheet) {
    let mut list: Vec<&Value> = items(container.rest.get("volumeMounts")).iter().collect();
    if list.is_empty() {
        return sheet.line(2, "Mounts:\t<none>");
    }
    list.sort_by_key(|mount| mount["mountPath"].as_str().unwrap_or_default());
    sheet.line(2, "Mounts:");
    for mount in list {
        let text = |field: &str| mount[field].as_str().unwrap_or_default();
        let mut how = if mount["readOnly"] == Value::Bool(true) { "ro" } else { "rw" }.to_string();
        if !text("subPath").is_empty() {
            how += &format!(",path={:?}", text("subPath"));
        }
        sheet.line(3, format!("{} from {} ({how})", text("mountPath"), text("name")));
    }
}

/// `describeVolumes`.
pub fn volumes(spec: &PodSpec, before: &str, sheet: &mut Sheet) {
    let list = items(spec.rest.get("volumes"));
    if list.is_empty() {
        return sheet.line(0, format!("{before}Volumes:\t<none>"));
    }
    sheet.line(0, format!("{before}Volumes:"));
    let indent = if before.is_empty() { "" } else { " " };
    for volume in list {
        sheet.line(1, format!("{indent}{}:", volume["name"].as_str().unwrap_or_default()));
        for (name, value) in volume_fields(volume) {
            sheet.line(2, format!("{name}:\t{value}"));
        }
    }
}

fn volume_fields(volume: &Value) -> Vec<(&'static str, String)> {
    let text = |kind: &str, field: &str, none: &str| {
        volume[kind][field].as_str().unwrap_or(none).to_string()
    };
    let flag = |kind: &str, field: &str| (volume[kind][field] == Value::Bool(true)).to_string();
    let is = |kind: &str| volume[kind].is_object();
    let kind = |words: &str| ("Type", words.to_string());
    if is("emptyDir") {
        vec![
            kind("EmptyDir (a temporary directory that shares a pod's lifetime)"),
            ("Medium", text("emptyDir", "medium", "")),
            ("SizeLimit", text("emptyDir", "sizeLimit", "<unset>")),
        ]
    } else if is("configMap") {
        vec![
            kind("ConfigMap (a volume populated by a ConfigMap)"),
            ("Name", text("configMap", "name", "")),
            ("Optional", flag("configMap", "optional")),
        ]
    } else if is("secret") {
        vec![
            kind("Secret (a volume populated by a Secret)"),
            ("SecretName", text("secret", "secretName", "")),
            ("Optional", flag("secret", "optional")),
        ]
    } else if is("persistentVolumeClaim") {
        vec![
            kind(
                "PersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same \
                 namespace)",
            ),
            ("ClaimName", text("persistentVolumeClaim", "claimName", "")),
            ("ReadOnly", flag("persistentVolumeClaim", "readOnly")),
        ]
    } else if is("hostPath") {
        vec![
            kind("HostPath (bare host directory volume)"),
            ("Path", text("hostPath", "path", "")),
            ("HostPathType", text("hostPath", "type", "")),
        ]
    } else {
        vec![kind("<unknown>")]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kubectl::Output;
    use serde_json::json;

    #[test]
    fn a_template_is_described_as_kubectl_does() {
        let value = json!({"metadata": {"labels": {"app": "web", "tier": "front"}}, "spec": {
            "containers": [{
                "name": "web", "image": "nginx:1.25", "ports": [{"containerPort": 80}],
                "resources": {"requests": {"cpu": "500m"}},
                "readinessProbe": {"httpGet": {"path": "/", "port": 80}},
                "env": [{"name": "A", "value": "1"}],
                "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}],
            }],
            "volumes": [{"name": "tmp", "emptyDir": {}}],
            "tolerations": [{"key": "a", "operator": "Exists", "effect": "NoExecute",
                "tolerationSeconds": 30}],
        }});
        let spec: PodTemplateSpec = serde_json::from_value(value).unwrap();
        let (mut sheet, mut out) = (Sheet::default(), Output::default());
        template(&spec, &mut sheet);
        sheet.print(&mut out);
        let wanted = "\
Pod Template:
  Labels:  app=web
           tier=front
  Containers:
   web:
    Image:      nginx:1.25
    Port:       80/TCP
    Host Port:  0/TCP
    Requests:
      cpu:      500m
    Readiness:  http-get http://:80/ delay=0s timeout=1s period=10s #success=1 #failure=3
    Environment:
      A:  1
    Mounts:
      /tmp from tmp (rw)
  Volumes:
   tmp:
    Type:          EmptyDir (a temporary directory that shares a pod's lifetime)
    Medium:
    SizeLimit:     <unset>
  Node-Selectors:  <none>
  Tolerations:     a:NoExecute op=Exists for 30s
";
        assert_eq!(out.text, wanted);
    }
}
