//! Objects with pods in them.

use serde_json::json;

use super::{Named, map};
use crate::api::Value;
use crate::kubectl::errors::UsageError;
use crate::kubectl::parse::pairs;

/// A container, its name first.
fn container(name: &str, image: &str, named: &Named<'_>) -> Value {
    let mut container = json!({"image": image, "name": name, "resources": {}});
    if !named.command.is_empty() {
        container["command"] = json!(named.command);
    }
    container
}

/// The image's name without path, tag and digest.
fn bare_image(image: &str) -> String {
    let last = image.rsplit('/').next().unwrap_or(image);
    let bare = last.split([':', '@']).next().unwrap_or(last);
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-';
    bare.to_ascii_lowercase().chars().map(|c| if fits(c) { c } else { '-' }).collect()
}

/// `create deployment`.
pub fn deployment(named: &Named<'_>) -> Result<Value, UsageError> {
    named.required("image")?;
    let images = named.list("image");
    if images.len() > 1 && !named.command.is_empty() {
        let message = "cannot specify multiple --image options and command";
        return Err(UsageError::plain(message));
    }
    let mut containers: Vec<Value> =
        images.iter().map(|image| container(&bare_image(image), image, named)).collect();
    if let Some(port) = named.flags.number("port")? {
        for container in &mut containers {
            container["ports"] = json!([{"containerPort": port}]);
        }
    }
    let replicas = named.flags.number("replicas")?.unwrap_or(1);
    if replicas < 0 {
        let message = format!("--replicas must be greater than or equal to 0, not {replicas}");
        return Err(UsageError::plain(message));
    }
    let labels = json!({ "app": named.name });
    Ok(json!({
        "metadata": {"labels": labels, "name": named.name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "strategy": {},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": containers}},
        },
        "status": {},
    }))
}

fn template(named: &Named<'_>, restart: &str) -> Result<Value, UsageError> {
    let image = named.required("image")?;
    let containers = [container(named.name, image, named)];
    let spec = json!({"containers": containers, "restartPolicy": restart});
    Ok(json!({"metadata": {}, "spec": spec}))
}

/// `create job`.
pub fn job(named: &Named<'_>) -> Result<Value, UsageError> {
    if named.flags.value("image").is_none() {
        return Err(UsageError::plain("either --image or --from must be specified"));
    }
    let template = template(named, "Never")?;
    Ok(json!({"metadata": named.metadata(), "spec": {"template": template}, "status": {}}))
}

/// `create cronjob`.
pub fn cron_job(named: &Named<'_>) -> Result<Value, UsageError> {
    let schedule = named.required("schedule")?;
    let restart = named.flags.value("restart").unwrap_or("OnFailure");
    let template = template(named, restart)?;
    Ok(json!({
        "metadata": named.metadata(),
        "spec": {
            "jobTemplate": {"metadata": named.metadata(), "spec": {"template": template}},
            "schedule": schedule,
        },
        "status": {},
    }))
}

/// The labels that `run` gives a pod.
pub fn run_labels(named: &Named<'_>) -> Value {
    let given: Vec<_> = named.flags.values("labels").flat_map(pairs).collect();
    match given.is_empty() {
        true => json!({ "run": named.name }),
        false => map(&given),
    }
}

/// `run`.
pub fn pod(named: &Named<'_>) -> Result<Value, UsageError> {
    let flags = named.flags;
    let restart = flags.value("restart").unwrap_or("Always");
    if !["Always", "OnFailure", "Never"].contains(&restart) {
        return Err(flags.usage(format!("invalid restart policy: {restart}")));
    }
    let image = named.required("image")?;
    let mut container = json!({"image": image, "name": named.name, "resources": {}});
    if !named.command.is_empty() {
        let field = if flags.has("command") { "command" } else { "args" };
        container[field] = json!(named.command);
    }
    if let Some(port) = flags.number("port")? {
        container["ports"] = json!([{"containerPort": port}]);
    }
    let mut env = Vec::new();
    for text in flags.values("env") {
        let Some((name, value)) = text.split_once('=').filter(|(name, _)| !name.is_empty()) else {
            return Err(UsageError::plain(format!("invalid env: {text}")));
        };
        env.push(json!({"name": name, "value": value}));
    }
    if !env.is_empty() {
        container["env"] = json!(env);
    }
    if let Some(policy) = flags.value("image-pull-policy") {
        container["imagePullPolicy"] = policy.into();
    }
    let mut metadata = json!({"labels": run_labels(named), "name": named.name});
    let annotations: Vec<_> = flags.values("annotations").flat_map(pairs).collect();
    if !annotations.is_empty() {
        metadata["annotations"] = map(&annotations);
    }
    let spec =
        json!({"containers": [container], "dnsPolicy": "ClusterFirst", "restartPolicy": restart});
    Ok(json!({"metadata": metadata, "spec": spec, "status": {}}))
}
